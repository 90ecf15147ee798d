"""Loads and stores of n-D vectors: strides, masked tails, fills, symbolic sizes; native against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.llvm.both import check

RNG = np.random.default_rng(0)

ACCESSES = [
    ("8 * l0 + l1", [(64,)]),  # rows next to each other
    ("l0, l1", [(9, 11)]),
    ("l1, l0", [(9, 11)]),  # transposed
    ("l0, 2 * l1", [(5, 20)]),
    ("l0, 3 * l1 + 1", [(5, 30)]),
    ("l0, 4 * l1", [(5, 33)]),
    ("l0, 5 * l1", [(5, 40)]),
    ("l0, 7 - l1", [(5, 8)]),  # backwards
    ("l0, 15 - 2 * l1", [(5, 16)]),
    ("l0, 3", [(5, 4)]),  # one element for all lanes
    ("2, l1", [(3, 8)]),  # one row for all rows
    ("1, 3", [(3, 8)]),
    ("(8 * l0 + l1) floordiv 5, (8 * l0 + l1) mod 5", [(7, 5)]),  # a reshape
    ("l0 + l1, l0", [(12, 4)]),  # a diagonal
    ("l0, l1 floordiv 2", [(4, 4)]),
]


@pytest.mark.parametrize("element", ["f32", "i8", "f64", "i1", "bf16"])
@pytest.mark.parametrize("index, shapes", ACCESSES)
def test_access_of_four_rows_of_eight_lanes(index: str, shapes: list[tuple[int, ...]], element: str):
    shape = "x".join(map(str, shapes[0]))
    text = f"""
func.func @f(%m: memref<{shape}x{element}>, %r: memref<4x8x{element}>) {{
  %v = loops.load %m[{index}] : memref<{shape}x{element}> to vector<4x8x{element}>
  loops.store %v, %r[l0, l1] : vector<4x8x{element}> to memref<4x8x{element}>
  func.return
}}
"""
    data = RNG.integers(0, 2 if element == "i1" else 100, shapes[0]).astype(_numpy(element))
    check(text, data, np.zeros((4, 8), data.dtype))


def _numpy(element: str):
    import ml_dtypes

    named = {"f32": np.float32, "f64": np.float64, "i1": np.bool_, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
    return named.get(element, f"int{element[1:]}")


STORES = [
    ("l0, l1", (9, 11)),
    ("l1, l0", (9, 11)),
    ("l0, 2 * l1", (5, 20)),
    ("l0, 7 - l1", (5, 8)),
    ("(8 * l0 + l1) floordiv 5, (8 * l0 + l1) mod 5", (7, 5)),
]


@pytest.mark.parametrize("lanes", [None, 0, 1, 5, 8])
@pytest.mark.parametrize("index, shape", STORES)
def test_store_writes_its_lanes_alone(index: str, shape: tuple[int, ...], lanes: int | None):
    type_ = f"memref<{shape[0]}x{shape[1]}xf32>"
    mask = "" if lanes is None else " lanes %n"
    text = f"""
func.func @f(%n: index, %r: {type_}, %m: memref<4x8xf32>) {{
  %v = loops.load %m[l0, l1] : memref<4x8xf32> to vector<4x8xf32>
  loops.store %v, %r[{index}]{mask} : vector<4x8xf32> to {type_}
  func.return
}}
"""
    check(text, lanes or 0, np.zeros(shape, np.float32), RNG.normal(size=(4, 8)).astype(np.float32))


@pytest.mark.parametrize("element", ["f32", "i8", "i1", "bf16", "i64"])
@pytest.mark.parametrize("lanes", [0, 1, 3, 7, 8])
@pytest.mark.parametrize("index", ["%i + l0, l1", "%i + l0, 2 * l1", "%i + l0, 0", "l1, %i + l0"])
def test_masked_load_touches_its_lanes_alone(index: str, lanes: int, element: str):
    # The buffer ends with the last lane that may be read.
    width = {"%i + l0, l1": max(lanes, 1), "%i + l0, 2 * l1": max(2 * lanes - 1, 1), "%i + l0, 0": 1}.get(index, 3)
    shape = (max(lanes, 1), 4) if index.startswith("l1") else (4, width)
    type_ = f"memref<?x?x{element}, #loops.dims<a, b>>"
    text = f"""
func.func @f(%a: index, %b: index, %n: index, %i: index, %m: {type_}, %r: memref<2x8x{element}>)
    attributes {{aicc.symbols = ["a", "b"]}} {{
  %v = loops.load %m[{index}] lanes %n : {type_} to vector<2x8x{element}>
  loops.store %v, %r[l0, l1] : vector<2x8x{element}> to memref<2x8x{element}>
  func.return
}}
"""
    data = RNG.integers(0, 2 if element == "i1" else 100, shape).astype(_numpy(element))
    check(text, *shape, lanes, 1, data, np.zeros((2, 8), data.dtype))


@pytest.mark.parametrize("element", ["f32", "i8", "f16"])
@pytest.mark.parametrize("start", [-9, -3, -1, 0, 2, 4, 9])
@pytest.mark.parametrize("step", [1, 2, 3, 4, -1, -2, 0])
@pytest.mark.parametrize("lanes", ["", " lanes %n"])
def test_fill_stands_for_what_lies_outside(element: str, start: int, step: int, lanes: str):
    type_ = f"memref<?x?x{element}, #loops.dims<a, b>>"
    fill = f"{7 if element[0] == 'i' else '-1.5'} : {element}"
    text = f"""
func.func @f(%a: index, %b: index, %n: index, %i: index, %m: {type_}, %r: memref<4x8x{element}>)
    attributes {{aicc.symbols = ["a", "b"]}} {{
  %v = loops.load %m[%i + l0, %i + {step} * l1 + 1]{lanes} fill {fill} : {type_} to vector<4x8x{element}>
  loops.store %v, %r[l0, l1] : vector<4x8x{element}> to memref<4x8x{element}>
  func.return
}}
"""
    data = RNG.integers(0, 100, (5, 6)).astype(_numpy(element))
    check(text, 5, 6, 5, start, data, np.zeros((4, 8), data.dtype))


@pytest.mark.parametrize("size", [0, 1, 5])
def test_padded_window_of_a_small_or_empty_buffer(size: int):
    text = """
func.func @f(%n: index, %m: memref<?xf32, #loops.dims<n>>, %r: memref<?xf32, #loops.dims<n+2>>)
    attributes {aicc.symbols = ["n"]} {
  loops.for "i" %i = 0 to %n + 2 {
    %x = loops.load %m[%i - 1] fill 0.5 : f32 : memref<?xf32, #loops.dims<n>> to f32
    loops.store %x, %r[%i] : f32 to memref<?xf32, #loops.dims<n+2>>
  }
  func.return
}
"""
    check(text, size, RNG.normal(size=size).astype(np.float32), np.zeros(size + 2, np.float32))


def test_fill_of_lanes_one_by_one():
    # The lanes of a reshaped row are not evenly spaced, and some lie outside.
    text = """
func.func @f(%m: memref<3x5xi32>, %r: memref<2x8xi32>) {
  %v = loops.load %m[(8 * l0 + l1) floordiv 4 - 1, (8 * l0 + l1) mod 4 + 2] fill -9 : i32
      : memref<3x5xi32> to vector<2x8xi32>
  loops.store %v, %r[l0, l1] : vector<2x8xi32> to memref<2x8xi32>
  func.return
}
"""
    check(text, np.arange(15, dtype=np.int32).reshape(3, 5), np.zeros((2, 8), np.int32))


@pytest.mark.parametrize("n", [0, 1, 7, 16, 37])
def test_masked_tail_of_a_loop(n: int):
    text = """
func.func @f(%n: index, %a: memref<?xf32, #loops.dims<n>>, %r: memref<?xf32, #loops.dims<n>>)
    attributes {aicc.symbols = ["n"]} {
  loops.for "i" %i = 0 to %n floordiv 16 {
    %v = loops.load %a[16 * %i + l0] : memref<?xf32, #loops.dims<n>> to vector<16xf32>
    %w = arith.addf %v, %v : vector<16xf32>
    loops.store %w, %r[16 * %i + l0] : vector<16xf32> to memref<?xf32, #loops.dims<n>>
  }
  loops.for "t" %i = %n floordiv 16 to %n ceildiv 16 {
    %k = loops.apply %n - 16 * %i
    %v = loops.load %a[16 * %i + l0] lanes %k : memref<?xf32, #loops.dims<n>> to vector<16xf32>
    %w = arith.addf %v, %v : vector<16xf32>
    loops.store %w, %r[16 * %i + l0] lanes %k : vector<16xf32> to memref<?xf32, #loops.dims<n>>
  }
  func.return
}
"""
    check(text, n, RNG.normal(size=n).astype(np.float32), np.zeros(n, np.float32))


def test_symbolic_strides_and_rank_four():
    text = """
func.func @f(%a: index, %b: index, %m: memref<?x?x?x4xf32, #loops.dims<a, b, 2*a+1>>,
             %r: memref<?x?x?x4xf32, #loops.dims<2*a+1, b, a>>) attributes {aicc.symbols = ["a", "b"]} {
  %n = loops.size #graph.shape<2*a+1>
  loops.for "i" %i = 0 to %a {
    loops.for "j" %j = 0 to %b {
      loops.for "k" %k = 0 to %n {
        %v = loops.load %m[%i, %j, %k, l0] : memref<?x?x?x4xf32, #loops.dims<a, b, 2*a+1>> to vector<4xf32>
        loops.store %v, %r[%k, %j, %i, l0] : vector<4xf32> to memref<?x?x?x4xf32, #loops.dims<2*a+1, b, a>>
      }
    }
  }
  func.return
}
"""
    for a, b in [(0, 3), (3, 0), (1, 1), (3, 2)]:
        data = RNG.normal(size=(a, b, 2 * a + 1, 4)).astype(np.float32)
        [_, result] = check(text, a, b, data, np.zeros((2 * a + 1, b, a, 4), np.float32))
        np.testing.assert_array_equal(result, data.transpose(2, 1, 0, 3))


def test_packed_panels_need_no_division():
    # A loop step that the panel width divides makes the division of the panel number exact.
    text = """
func.func @f(%m: memref<3x5x8xf32>, %r: memref<24x5xf32>) {
  loops.for "i" %i = 0 to 24 step 4 {
    loops.for "k" %k = 0 to 5 {
      %v = loops.load %m[(%i + l0) floordiv 8, %k, (%i + l0) mod 8] : memref<3x5x8xf32> to vector<4xf32>
      loops.store %v, %r[%i + l0, %k] : vector<4xf32> to memref<24x5xf32>
    }
  }
  func.return
}
"""
    data = RNG.normal(size=(3, 5, 8)).astype(np.float32)
    [_, result] = check(text, data, np.zeros((24, 5), np.float32))
    np.testing.assert_array_equal(result, data.transpose(0, 2, 1).reshape(24, 5))


def test_floor_and_modulo_of_negative_indices():
    text = """
func.func @f(%n: index, %d: index, %r: memref<20x5xindex>) {
  loops.for "i" %i = 0 to 20 {
    %x = loops.apply %i + %n
    %a = loops.apply %x floordiv 3
    %b = loops.apply %x ceildiv 4
    %c = loops.apply %x mod 8
    %e = loops.apply (%x * 2 + 1) floordiv 8
    %g = loops.apply (%x + %d * 6) mod 3
    loops.store %a, %r[%i, 0] : index to memref<20x5xindex>
    loops.store %b, %r[%i, 1] : index to memref<20x5xindex>
    loops.store %c, %r[%i, 2] : index to memref<20x5xindex>
    loops.store %e, %r[%i, 3] : index to memref<20x5xindex>
    loops.store %g, %r[%i, 4] : index to memref<20x5xindex>
  }
  func.return
}
"""
    [result] = check(text, -10, 2, np.zeros((20, 5), np.int64))
    x = np.arange(-10, 10)
    np.testing.assert_array_equal(result, np.stack([x // 3, -(-x // 4), x % 8, (2 * x + 1) // 8, (x + 12) % 3], 1))


def test_sizes_with_every_function():
    text = """
func.func @f(%a: index, %b: index, %r: memref<5xindex>) attributes {aicc.symbols = ["a", "b"]} {
  %0 = loops.size #graph.shape<floordiv(a, b)>
  %1 = loops.size #graph.shape<mod(a, b)>
  %2 = loops.size #graph.shape<min(a, 2*b)>
  %3 = loops.size #graph.shape<max(a, 3)>
  %4 = loops.size #graph.shape<ceildiv(a*b, 4)+1>
  loops.store %0, %r[0] : index to memref<5xindex>
  loops.store %1, %r[1] : index to memref<5xindex>
  loops.store %2, %r[2] : index to memref<5xindex>
  loops.store %3, %r[3] : index to memref<5xindex>
  loops.store %4, %r[4] : index to memref<5xindex>
  func.return
}
"""
    for a, b in [(7, 2), (0, 3), (5, 5), (100, 7)]:
        [result] = check(text, a, b, np.zeros(5, np.int64))
        np.testing.assert_array_equal(result, [a // b, a % b, min(a, 2 * b), max(a, 3), -(-a * b // 4) + 1])


def test_views_and_copies():
    text = """
func.func @f(%m: memref<4x6xf32>, %r: memref<30xf32>, %o: index) {
  %a = loops.view %m : memref<4x6xf32> to memref<3x8xf32>
  %b = loops.view %r[%o] : memref<30xf32> to memref<3x8xf32>
  loops.copy %a to %b : memref<3x8xf32> to memref<3x8xf32>
  %x = loops.load %a[1, 2] : memref<3x8xf32> to f32
  loops.store %x, %r[0] : f32 to memref<30xf32>
  func.return
}
"""
    data = RNG.normal(size=(4, 6)).astype(np.float32)
    [_, result] = check(text, data, np.zeros(30, np.float32), 16)
    np.testing.assert_array_equal(result[4:28], data.ravel())
    assert result[0] == data.ravel()[10]


def test_scratch_on_the_stack():
    text = """
func.func @f(%m: memref<4x8xf32>, %r: memref<8x4xf32>) {
  loops.for "t" %t = 0 to 2 {
    %s = loops.alloc : memref<4x4xf32>
    %v = loops.load %m[l0, 4 * %t + l1] : memref<4x8xf32> to vector<4x4xf32>
    loops.store %v, %s[l1, l0] : vector<4x4xf32> to memref<4x4xf32>
    loops.copy %s to %s : memref<4x4xf32> to memref<4x4xf32>
    %w = loops.load %s[l0, l1] : memref<4x4xf32> to vector<4x4xf32>
    loops.store %w, %r[4 * %t + l0, l1] : vector<4x4xf32> to memref<8x4xf32>
  }
  func.return
}
"""
    data = RNG.normal(size=(4, 8)).astype(np.float32)
    [_, result] = check(text, data, np.zeros((8, 4), np.float32))
    np.testing.assert_array_equal(result, data.T)


@pytest.mark.parametrize(
    "element, values",
    [
        ("f32", "1.5, -2.0, 3.0"),
        ("i8", "1, -2, 3"),
        ("i1", "true, false, true"),
        ("f16", "1.5, -2.0, 3.0"),
        ("i64", "5, 6, 7"),
    ],
)
def test_dense_constants(element: str, values: str):
    text = f"""
func.func @f(%r: memref<2x3x{element}>) {{
  %c = loops.constant dense<[[{values}], [{values}]]> : tensor<2x3x{element}> : memref<2x3x{element}>
  %s = loops.constant dense<{values.split(",")[0]}> : tensor<2x3x{element}> : memref<2x3x{element}>
  %v = loops.load %c[0, l0] : memref<2x3x{element}> to vector<3x{element}>
  %w = loops.load %s[1, l0] : memref<2x3x{element}> to vector<3x{element}>
  loops.store %v, %r[0, l0] : vector<3x{element}> to memref<2x3x{element}>
  loops.store %w, %r[1, l0] : vector<3x{element}> to memref<2x3x{element}>
  func.return
}}
"""
    check(text, np.zeros((2, 3), _numpy(element)))
