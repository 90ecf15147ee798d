"""The loops interpreter against plain Python and numpy."""

import numpy as np
import pytest
from xdsl.utils.exceptions import InterpretationError

from aicc.dialects.loops.interpreter import Interpreter
from aicc.lowering.parse import parse_module
from aicc.transforms.verify import verify


def interpreter(text: str) -> Interpreter:
    module = parse_module(text)
    verify(module)
    return Interpreter(module)


ROW_SUMS = """
func.func @rows(%s0: index, %in: memref<?x16xf32, #loops.dims<s0>>, %out: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.symbols = ["s0"]} {
  loops.for "i" %i = 0 to %s0 parallel {
    %z = arith.constant 0.0 : f32
    %r = loops.for "k" %k = 1 to min(16, %i + 9) step 3 iter_args(%acc = %z) -> (f32) {
      %v = loops.load %in[%i, %k] : memref<?x16xf32, #loops.dims<s0>> to f32
      %a = arith.addf %acc, %v : f32
      loops.yield %a : f32
    }
    loops.store %r, %out[%i] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  func.return
}
"""


@pytest.mark.parametrize("rows", [0, 1, 12])
def test_nest_with_carried_value(rows: int):
    x = np.arange(rows * 16, dtype=np.float32).reshape(rows, 16)
    out = np.empty(rows, np.float32)
    interpreter(ROW_SUMS).call("rows", rows, x, out)
    expected = [sum(x[i, k] for k in range(1, min(16, i + 9), 3)) for i in range(rows)]
    np.testing.assert_array_equal(out, np.array(expected, np.float32))


def test_dimensions_of_arguments_are_checked():
    with pytest.raises(InterpretationError, match="argument 1 of @rows"):
        interpreter(ROW_SUMS).call("rows", 3, np.zeros((2, 16), np.float32), np.zeros(3, np.float32))


VECTORS = """
func.func @vectors(%n: index, %in: memref<5x7xi32>, %out: memref<7x5xi32>, %sums: memref<4xi32>) {
  %v = loops.load %in[l0 + 2, l1 * 2 - 1] lanes %n fill -1 : i32 : memref<5x7xi32> to vector<4x5xi32>
  %t = loops.transpose %v permutation [1, 0] : vector<4x5xi32> to vector<5x4xi32>
  loops.store %t, %out[l0, l1 + 1] : vector<5x4xi32> to memref<7x5xi32>
  %r = loops.reduce "maxsi" %v axes [1] : vector<4x5xi32> to vector<4xi32>
  loops.store %r, %sums[l0] : vector<4xi32> to memref<4xi32>
  func.return
}
"""


@pytest.mark.parametrize("lanes", [0, 2, 5])
def test_vectors_with_mask_and_fill(lanes: int):
    x = np.arange(35, dtype=np.int32).reshape(5, 7)
    out = np.zeros((7, 5), np.int32)
    sums = np.zeros(4, np.int32)
    interpreter(VECTORS).call("vectors", lanes, x, out, sums)
    expected = np.full((4, 5), -1)
    for i in range(4):
        for j in range(lanes):
            if i + 2 < 5 and 0 <= 2 * j - 1 < 7:
                expected[i, j] = x[i + 2, 2 * j - 1]
    np.testing.assert_array_equal(out[:5, 1:], expected.T)
    np.testing.assert_array_equal(sums, expected.max(axis=1))


MAIN = """
func.func private @double(%x: memref<4xf32>, %y: memref<4xf32>) attributes {aicc.kernel} {
  loops.for "i" %i = 0 to 4 {
    %v = loops.load %x[%i] : memref<4xf32> to f32
    %w = arith.addf %v, %v : f32
    loops.store %w, %y[%i] : f32 to memref<4xf32>
  }
  func.return
}
func.func @main(%x: memref<4xf32>, %limit: memref<f32>, %y: memref<4xf32>) {
  %a = loops.alloc : memref<64xi8>
  %o = arith.constant 16 : index
  %b = loops.view %a[%o] : memref<64xi8> to memref<4xf32>
  loops.copy %x to %b : memref<4xf32> to memref<4xf32>
  %l = loops.load %limit[] : memref<f32> to f32
  %r = scf.while (%c = %b) : (memref<4xf32>) -> memref<4xf32> {
    %v = loops.load %c[0] : memref<4xf32> to f32
    %go = arith.cmpf olt, %v, %l : f32
    scf.condition(%go) %c : memref<4xf32>
  } do {
  ^bb0(%c: memref<4xf32>):
    func.call @double(%c, %c) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %c : memref<4xf32>
  }
  loops.copy %r to %y : memref<4xf32> to memref<4xf32>
  func.return
}
"""


def test_calls_views_and_while():
    x = np.array([1, 2, 3, 4], np.float32)
    out = np.zeros(4, np.float32)
    interpreter(MAIN).call("main", x, np.array(10, np.float32), out)
    np.testing.assert_array_equal(out, x * 16)


OUTSIDE = """
func.func @f(%m: memref<4xf32>, %i: index) {
  %v = loops.load %m[%i - 1] : memref<4xf32> to f32
  func.return
}
"""


@pytest.mark.parametrize("index, fine", [(0, False), (1, True), (4, True), (5, False)])
def test_access_outside_is_an_error(index: int, fine: bool):
    run = interpreter(OUTSIDE)
    if fine:
        run.call("f", np.zeros(4, np.float32), index)
    else:
        with pytest.raises(InterpretationError, match="reads element"):
            run.call("f", np.zeros(4, np.float32), index)
