"""Broadcasts, reductions, transposes and n-D constants; native against numpy and the interpreter."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.unit.llvm.both import check

RNG = np.random.default_rng(0)


def dims(shape: tuple[int, ...], element: str, kind: str = "vector") -> str:
    """`vector<2x3xf32>`, or the scalar type for no dimensions."""
    if not shape and kind == "vector":
        return element
    return f"{kind}<{''.join(f'{size}x' for size in shape)}{element}>"


def lanes(shape: tuple[int, ...]) -> str:
    return ", ".join(f"l{axis}" for axis in range(len(shape)))


def apply(body: str, source: tuple[int, ...], target: tuple[int, ...], element: str, data: np.ndarray) -> np.ndarray:
    """`body` makes `%r` of `%v`."""
    text = f"""
func.func @f(%m: {dims(source, element, "memref")}, %o: {dims(target, element, "memref")}) {{
  %v = loops.load %m[{lanes(source)}] : {dims(source, element, "memref")} to {dims(source, element)}
  {body}
  loops.store %r, %o[{lanes(target)}] : {dims(target, element)} to {dims(target, element, "memref")}
  func.return
}}
"""
    return check(text, data, np.zeros(target, data.dtype), exact=False)[1]


@pytest.mark.parametrize(
    "source, target",
    [
        ((6, 1), (6, 8)),
        ((1, 8), (6, 8)),
        ((1, 1), (6, 8)),
        ((), (6, 8)),
        ((), (4,)),
        ((1,), (4,)),
        ((2, 1, 4), (2, 3, 4)),
        ((2, 3, 1), (2, 3, 4)),
        ((6, 1), (6, 1)),
        ((6,), (6, 8)),
        ((6,), (6, 1)),
        ((1,), (1, 4)),
        ((2, 3), (2, 3, 4)),
        ((3,), (3, 2, 4)),
    ],
)
@pytest.mark.parametrize("element", ["f32", "i8", "i1"])
def test_broadcast(source: tuple[int, ...], target: tuple[int, ...], element: str):
    dtype = {"f32": np.float32, "i8": np.int8, "i1": np.bool_}[element]
    data = np.asarray(RNG.integers(0, 2, source)).astype(dtype)
    body = f"%r = loops.broadcast %v : {dims(source, element)} to {dims(target, element)}"
    expected = np.broadcast_to(data.reshape((*source, *(1,) * (len(target) - len(source)))), target)
    np.testing.assert_array_equal(apply(body, source, target, element, data), expected)


REDUCTIONS = {
    "add": np.add,
    "mul": np.multiply,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_reduce(kind: str, axes: tuple[int, ...]):
    shape = (3, 2, 5)
    floats = kind in ("minimumf", "maximumf") or kind in ("add", "mul")
    element = "f32" if floats else "i32"
    data = RNG.normal(size=shape).astype(np.float32) if floats else RNG.integers(-99, 99, shape).astype(np.int32)
    target = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    body = f'%r = loops.reduce "{kind}" %v axes {list(axes)} : {dims(shape, element)} to {dims(target, element)}'
    expected = REDUCTIONS[kind].reduce(data, axis=axes)
    np.testing.assert_allclose(apply(body, shape, target, element, data), expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(2, 16), (4, 16), (4, 4), (8, 8), (4, 2), (2, 4, 8), (3, 8), (4, 1)])
@pytest.mark.parametrize("kind", ["add", "maximumf", "maxsi"])
def test_reduce_lanes_of_rows(kind: str, shape: tuple[int, ...]):
    """Rows are combined with each other's halves where their numbers are powers of two."""
    element = "i32" if kind == "maxsi" else "f32"
    data = RNG.integers(-99, 99, shape).astype(np.int32 if kind == "maxsi" else np.float32)
    if kind == "maximumf":
        data[-1, ..., 0] = np.nan
    target = shape[:-1]
    body = f'%r = loops.reduce "{kind}" %v axes [{len(shape) - 1}] : {dims(shape, element)} to {dims(target, element)}'
    expected = REDUCTIONS[kind].reduce(data, axis=-1)
    np.testing.assert_array_equal(apply(body, shape, target, element, data), expected)


@pytest.mark.parametrize("kind, expected", [("minui", np.minimum), ("maxui", np.maximum)])
@pytest.mark.parametrize("size", [1, 8, 37])
def test_reduce_unsigned(kind: str, expected, size: int):
    data = RNG.integers(0, 256, size).astype(np.uint8)
    body = f'%r = loops.reduce "{kind}" %v axes [0] : vector<{size}xi8> to i8'
    found = apply(body, (size,), (), "i8", data.view(np.int8))
    assert found.view(np.uint8) == expected.reduce(data)


@pytest.mark.parametrize("kind", ["add", "mul", "minsi", "maxsi", "xor"])
@pytest.mark.parametrize("element", ["i8", "i64"])
def test_integer_reductions_wrap(kind: str, element: str):
    dtype = np.dtype(f"int{element[1:]}")
    data = RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 16, dtype=dtype)
    body = f'%r = loops.reduce "{kind}" %v axes [0] : vector<16x{element}> to {element}'
    with np.errstate(over="ignore"):
        assert apply(body, (16,), (), element, data) == REDUCTIONS[kind].reduce(data, dtype=dtype)


@pytest.mark.parametrize("place", range(8))
@pytest.mark.parametrize("kind", ["minimumf", "maximumf", "add"])
def test_reductions_propagate_nan(kind: str, place: int):
    data = RNG.normal(size=8).astype(np.float32)
    data[place] = np.nan
    body = f'%r = loops.reduce "{kind}" %v axes [0] : vector<8xf32> to f32'
    assert np.isnan(apply(body, (8,), (), "f32", data))


@pytest.mark.parametrize("element, dtype", [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_short_floats_are_summed_in_f32(element: str, dtype: type):
    data = np.full(64, 1 + 2.0**-7).astype(dtype)
    text = f"""
func.func @f(%m: memref<64x{element}>, %o: memref<1x{element}>) {{
  %v = loops.load %m[l0] : memref<64x{element}> to vector<64x{element}>
  %r = loops.reduce "add" %v axes [0] : vector<64x{element}> to {element}
  loops.store %r, %o[0] : {element} to memref<1x{element}>
  func.return
}}
"""
    from tests.unit.native import native

    result = np.zeros(1, dtype)
    native(text, "f")(data, result)
    assert result[0] == np.float32(64.5).astype(dtype)


@pytest.mark.parametrize(
    "shape, permutation",
    [
        ((4, 4), [1, 0]),
        ((8, 8), [1, 0]),
        ((16, 16), [1, 0]),
        ((4, 8), [1, 0]),
        ((3, 5), [1, 0]),
        ((2, 3, 4), [1, 0, 2]),
        ((2, 3, 4), [2, 0, 1]),
        ((1, 4), [1, 0]),
        ((4, 1), [1, 0]),
    ],
)
def test_transpose(shape: tuple[int, ...], permutation: list[int]):
    data = RNG.normal(size=shape).astype(np.float32)
    target = tuple(shape[axis] for axis in permutation)
    body = f"%r = loops.transpose %v permutation {permutation} : {dims(shape, 'f32')} to {dims(target, 'f32')}"
    np.testing.assert_array_equal(apply(body, shape, target, "f32", data), data.transpose(permutation))


@pytest.mark.parametrize("element", ["f32", "bf16", "i8", "i1", "f16"])
def test_constants_of_all_shapes(element: str):
    one, two = ("true", "false") if element == "i1" else ("3", "-4") if element[0] == "i" else ("1.5", "-0.25")
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i1": np.bool_, "f16": np.float16}[element]
    text = f"""
func.func @f(%o: memref<3x2x{element}>) {{
  %a = arith.constant dense<{one}> : vector<1x2x{element}>
  %b = arith.constant dense<[[{one}, {two}]]> : vector<1x2x{element}>
  %c = arith.constant dense<[[{one}], [{two}]]> : vector<2x1x{element}>
  loops.store %a, %o[l0, l1] : vector<1x2x{element}> to memref<3x2x{element}>
  loops.store %b, %o[l0 + 1, l1] : vector<1x2x{element}> to memref<3x2x{element}>
  loops.store %c, %o[2, l0] : vector<2x1x{element}> to memref<3x2x{element}>
  func.return
}}
"""
    from tests.unit.native import native

    found = np.zeros((3, 2), dtype)
    native(text, "f")(found)
    x, y = (True, False) if element == "i1" else (3, -4) if element[0] == "i" else (1.5, -0.25)
    np.testing.assert_array_equal(found, np.array([[x, x], [x, y], [x, y]]).astype(dtype))


def test_zeros_of_both_signs_are_told_apart():
    text = """
func.func @f(%o: memref<4xf32>) {
  %a = arith.constant 0.0 : f32
  %b = arith.constant -0.0 : f32
  %c = arith.constant dense<0.0> : vector<1xf32>
  %d = arith.constant dense<-0.0> : vector<1xf32>
  loops.store %a, %o[0] : f32 to memref<4xf32>
  loops.store %b, %o[1] : f32 to memref<4xf32>
  loops.store %c, %o[l0 + 2] : vector<1xf32> to memref<4xf32>
  loops.store %d, %o[l0 + 3] : vector<1xf32> to memref<4xf32>
  func.return
}
"""
    [found] = check(text, np.ones(4, np.float32))
    assert np.signbit(found).tolist() == [False, True, False, True]


def test_indices_per_lane():
    text = """
func.func @f(%n: index, %o: memref<3x2x8xindex>) {
  %a = loops.apply %n * 2 - l1 + 10 * l0 : vector<2x8xindex>
  %b = loops.apply (%n + 8 * l0 + l1) floordiv 3 : vector<2x8xindex>
  %c = loops.apply %n : vector<2x8xindex>
  loops.store %a, %o[0, l0, l1] : vector<2x8xindex> to memref<3x2x8xindex>
  loops.store %b, %o[1, l0, l1] : vector<2x8xindex> to memref<3x2x8xindex>
  loops.store %c, %o[2, l0, l1] : vector<2x8xindex> to memref<3x2x8xindex>
  func.return
}
"""
    check(text, -5, np.zeros((3, 2, 8), np.int64))
