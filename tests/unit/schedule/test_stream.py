"""Products with few rows: the matrix is read once, in the order of memory, and never packed."""

import numpy as np
import pytest

import aicc


def product(rows: int, steps: int, columns: int) -> str:
    a, b, c = f"tensor<{rows}x{steps}xf32>", f"tensor<{steps}x{columns}xf32>", f"tensor<{rows}x{columns}xf32>"
    return f"""
func.func @main(%a: {a}, %b: {b}, %bias: tensor<{columns}xf32>) -> {c} {{
  %m = graph.matmul %a, %b : {a}, {b} -> {c}
  %s = graph.add %m, %bias : {c}, tensor<{columns}xf32> -> {c}
  %r = graph.relu %s : {c} -> {c}
  func.return %r : {c}
}}
"""


@pytest.mark.parametrize("rows", [1, 3, 4])
@pytest.mark.parametrize(("steps", "columns"), [(211, 517), (24, 1024), (97, 20011)])
def test_rows_of_a_large_matrix(rows: int, steps: int, columns: int):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((rows, steps), dtype=np.float32)
    b = rng.standard_normal((steps, columns), dtype=np.float32)
    bias = rng.standard_normal(columns, dtype=np.float32)
    model = aicc.compile(product(rows, steps, columns), threads=1, cache=False)
    (found,) = model(a, b, bias)
    expected = np.maximum(a.astype(np.float64) @ b + bias, 0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * steps**0.5)
    (other,) = model.with_threads(2)(a, b, bias)
    assert np.array_equal(found, other)


@pytest.mark.parametrize("shape", [(80, 200, 700), (33, 131, 2048)])
def test_sums_of_rows_that_no_cache_holds(shape: tuple[int, int, int]):
    source, target = "x".join(map(str, shape)), f"{shape[0]}x{shape[2]}"
    model = aicc.compile(
        f"""
        func.func @main(%x: tensor<{source}xf32>) -> tensor<{target}xf32> {{
          %s = graph.reduce_sum %x {{axes = [1]}} : tensor<{source}xf32> -> tensor<{target}xf32>
          func.return %s : tensor<{target}xf32>
        }}
        """,
        threads=1,
        cache=False,
    )
    x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    (found,) = model(x)
    np.testing.assert_allclose(found, x.sum(1, dtype=np.float64), rtol=0, atol=1e-4)
    (other,) = model.with_threads(2)(x)
    assert np.array_equal(found, other)
