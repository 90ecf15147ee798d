"""Contractions in one kernel with the elementwise ops that feed them compute the same numbers."""

import numpy as np
import pytest

import aicc
from aicc.dialects.tensor_ops.ops import KernelOp
from aicc.tools.driver_api import parse_module, run_pipeline

TEXT = """
func.func @main(%x: tensor<1x8x9x9xf32>, %y: tensor<1x8x9x9xf32>, %k: tensor<16x8x3x3xf32>,
                %a: tensor<5x64xf32>, %w: tensor<64x33xf32>) -> (tensor<1x16x9x9xf32>, tensor<5x33xf32>) {
  %s = graph.add %x, %y : tensor<1x8x9x9xf32>, tensor<1x8x9x9xf32> -> tensor<1x8x9x9xf32>
  %c = graph.conv %s, %k {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}
      : tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32> -> tensor<1x16x9x9xf32>
  %t = graph.tanh %a : tensor<5x64xf32> -> tensor<5x64xf32>
  %v = graph.neg %w : tensor<64x33xf32> -> tensor<64x33xf32>
  %m = graph.matmul %t, %v : tensor<5x64xf32>, tensor<64x33xf32> -> tensor<5x33xf32>
  func.return %c, %m : tensor<1x16x9x9xf32>, tensor<5x33xf32>
}
"""


@pytest.mark.parametrize("opt_level", [0, 2])
def test_numbers(opt_level: int):
    module = parse_module(TEXT)
    run_pipeline(module, "graph-fuse{producers=true}")
    assert sum(isinstance(op, KernelOp) for op in module.walk()) == 2
    rng = np.random.default_rng(0)
    shapes = [(1, 8, 9, 9), (1, 8, 9, 9), (16, 8, 3, 3), (5, 64), (64, 33)]
    x, y, k, a, w = arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
    padded = np.pad((x + y)[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    conv = np.einsum("chwrs,ocrs->ohw", windows, k)[None]
    results = aicc.compile(module, opt_level=opt_level)(*arrays)
    # Sums of 72 and 64 products of values near 1.
    np.testing.assert_allclose(results[0], conv, atol=2e-5)
    np.testing.assert_allclose(results[1], np.tanh(a) @ -w, atol=2e-5)
