"""Rows wider than a register, of which a condition for all lanes and one for each lane exclude some."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.llvm.both import check

NUMPY = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "f16": np.float16}


@pytest.mark.parametrize("element", ["f32", "f64", "i64", "f16"])
@pytest.mark.parametrize(
    "lanes, size", [(16, 9), (16, 8), (16, 16), (16, 1), (12, 9), (9, 8), (32, 23), (8, 5), (40, 33)]
)
def test_rows_above_and_columns_behind_a_matrix_are_filled(lanes: int, size: int, element: str):
    fill = "7" if element == "i64" else "7.0"
    row, result = f"vector<2x{lanes}x{element}>", f"memref<5x2x{lanes}x{element}>"
    text = f"""
func.func @f(%m: memref<3x{size}x{element}>, %r: {result}) {{
  loops.for "i" %i = 0 to 5 {{
    %v = loops.load %m[%i + l0 - 1, l1 + 1] fill {fill} : {element} : memref<3x{size}x{element}> to {row}
    loops.store %v, %r[%i, l0, l1] : {row} to {result}
  }}
  func.return
}}
"""
    data = np.arange(3 * size).reshape(3, size).astype(NUMPY[element])
    check(text, data, np.zeros((5, 2, lanes), data.dtype))


@pytest.mark.parametrize("active", [0, 1, 7, 8, 9, 15, 16])
def test_rows_of_which_some_lanes_are_active(active: int):
    text = f"""
func.func @f(%m: memref<4x16xf32>, %r: memref<6x16xf32>) {{
  %n = arith.constant {active} : index
  loops.for "i" %i = 0 to 6 {{
    %v = loops.load %m[%i - 1, l0] lanes %n fill 7.0 : f32 : memref<4x16xf32> to vector<16xf32>
    loops.store %v, %r[%i, l0] : vector<16xf32> to memref<6x16xf32>
  }}
  func.return
}}
"""
    check(text, np.arange(64, dtype=np.float32).reshape(4, 16), np.zeros((6, 16), np.float32))
