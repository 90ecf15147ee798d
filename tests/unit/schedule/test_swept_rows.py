"""Rows in scratch, results past the caches, the next row fetched: the same values, also at the end of the buffers."""

from pathlib import Path

import numpy as np
import pytest

import aicc

MODEL = """
func.func @main(%x: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %r = graph.softmax %x {{axis = 1}} : tensor<{rows}x{columns}xf32> -> tensor<{rows}x{columns}xf32>
  func.return %r : tensor<{rows}x{columns}xf32>
}}
"""

SCHEDULE = """
transform.named_sequence @softmax_0_schedule(%k: !transform.any_op) {{
  %a = schedule.loop %k {{label = "s0_d0"}}
  %b = schedule.loop %k {{label = "s1_d0"}}
  %ab = schedule.fuse %a, %b
  %c = schedule.loop %k {{label = "s2_d0"}}
  %abc = schedule.fuse %ab, %c
  %d = schedule.loop %k {{label = "s3_d0"}}
  %rows = schedule.fuse %abc, %d
  schedule.privatize %rows {{argument = 1 : i64}}
  schedule.parallelize %rows
  %e = schedule.loop %k {{label = "s1_d1"}}
  %eo, %ei, %et = schedule.tile %e {{sizes = array<i64: 16>}}
  schedule.vectorize %ei
  %q = schedule.loop %k {{label = "s3_d1"}}
  %qo, %qi, %qt = schedule.tile %q {{sizes = array<i64: 32>}}
  schedule.vectorize %qi
  schedule.bypass_caches %k {{argument = 1 : i64}}
  schedule.read_ahead %k {{argument = 0 : i64, elements = {columns} : i64}}
  transform.yield
}}
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("columns", [2, 64, 100, 257])
def test_rows(columns: int, threads: int, tmp_path: Path):
    rows = 37
    schedule = tmp_path / "schedule.mlir"
    schedule.write_text(SCHEDULE.format(columns=columns))
    text = MODEL.format(rows=rows, columns=columns)
    model = aicc.compile(text, threads=threads, cache=False, schedules=str(schedule))
    x = np.random.default_rng(0).standard_normal((rows, columns), np.float32) * 5
    x[3, 0], x[4, -1], x[5], x[6, 0] = np.nan, np.inf, -np.inf, -np.inf
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        powers = np.exp(wide - wide.max(1, keepdims=True))
        expected = powers / powers.sum(1, keepdims=True)
    (result,) = model(x)
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-7)


def test_nan_in_each_position():
    """The maximum leaves NaN out, in whatever lane or rest of a row: its row is NaN all the same, and no other."""
    columns = 75
    x = np.tile(np.linspace(-100, 100, columns, dtype=np.float32), (columns + 1, 1))
    np.fill_diagonal(x, np.nan)
    (result,) = aicc.compile(MODEL.format(rows=columns + 1, columns=columns), cache=False)(x)
    assert np.isnan(result[:-1]).all()
    np.testing.assert_allclose(result[-1].sum(), 1, rtol=1e-6)


def test_small_powers():
    """Of differences down to -200: 0 from where they are no normal numbers on, also for -inf, else close."""
    x = np.concatenate([np.linspace(-200, 0, 4001, dtype=np.float32), np.array([-np.inf, -3e38], np.float32)])[None]
    (result,) = aicc.compile(MODEL.format(rows=1, columns=x.size), cache=False)(x)
    powers = np.exp(x.astype(np.float64))
    expected = powers / powers.sum()
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1.2e-38)
    assert (result[x < -104] == 0).all()
