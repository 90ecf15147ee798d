"""Random nodes whose results have sizes that data tells: choices of elements, ranges, shapes that are inputs."""

from __future__ import annotations

import numpy as np
from onnx import helper

from tests.unit.fuzz.builder import ALL, BOOL, F32, I32, I64, NUMBERS, Builder, Skip, Tensor
from tests.unit.fuzz.recipes_elementwise import Recipe
from tests.unit.fuzz.schemas import common

SMALL = 40
"""Elements at most of what is repeated."""


def _told(g: Builder, values: list[int], dtype: np.dtype = I64) -> Tensor:
    """Integers that are known when the model runs only; now and then a constant, or the result of a node."""
    array = np.array(values, dtype)
    if g.chance(0.1):
        return g.weight(array)
    told = g.input(array, open_sizes=False)
    if g.chance(0.3):
        (told,) = g.add("Identity", [told])
    return told


def nonzero(g: Builder) -> object:
    x = g.pick(common(ALL, "NonZero", g.opset), exact=True, least_rank=1)
    found = g.add("NonZero", [x])
    if g.chance(0.5) and found[0].array.size:
        (places,) = g.add("Transpose", found, perm=[1, 0])
        if g.opset >= 11 and g.chance(0.7):
            return g.add("GatherND", [x, places])
    return found


def compress(g: Builder) -> object:
    x = g.pick(least_rank=1)
    if g.chance(0.3):
        count = x.array.size
        axis = {}
    else:
        place = g.integer(0, x.rank - 1)
        count, axis = x.shape[place], {"axis": place - (x.rank if g.opset >= 11 and g.chance(0.3) else 0)}
    # A shorter list of conditions drops what is behind it.
    flags = g.new((max(0, count - g.integer(0, 1) * g.integer(0, 2)),), BOOL)
    return g.add("Compress", [x, flags], **axis)


def range_told(g: Builder) -> object:
    dtype = g.choose((F32, I32, I64))
    assert isinstance(dtype, np.dtype)
    step = int(g.choose((1, 1, 2, -1, 3, -2)))  # type: ignore[call-overload]
    numbers = [g.input(np.array(n, dtype)) for n in (g.integer(-5, 5), g.integer(-5, 12), step)]
    return g.add("Range", numbers, exact=dtype != F32)


def top_k_told(g: Builder) -> object:
    if g.opset < 10:
        raise Skip("k is an attribute")
    x = g.pick(common(NUMBERS, "TopK", g.opset), least_rank=1, least=1, exact=True)
    axis = g.integer(0, x.rank - 1)
    k = _told(g, [g.integer(0, x.shape[axis])])
    more = {"largest": g.integer(0, 1), "sorted": 1} if g.opset >= 11 else {}
    return g.add("TopK", [x, k], outputs=2, axis=axis, **more)


def slice_told(g: Builder) -> object:
    if g.opset < 10:
        raise Skip("bounds are attributes")
    x = g.pick(least_rank=1)
    axes = g.some(range(x.rank), 1, 2)
    starts, ends = ([g.integer(-4, 6) for _ in axes] for _ in range(2))
    steps = [int(g.choose((1, 1, 2, -1, -2))) for _ in axes]  # type: ignore[call-overload]
    given = [x, _told(g, starts), _told(g, ends), g.integers(axes)]
    return g.add("Slice", [*given, g.integers(steps)] if g.chance(0.5) else given)


def expand_told(g: Builder) -> object:
    x = g.pick(condition=lambda v: v.array.size <= SMALL)
    shape = [n if n != 1 or g.chance(0.4) else g.integer(0, 4) for n in x.shape]
    return g.add("Expand", [x, _told(g, [*([g.integer(1, 3)] if g.chance(0.3) else []), *shape])])


def reshape_told(g: Builder) -> object:
    x = g.pick(condition=lambda v: v.array.size > 0)
    first = next(n for n in (4, 3, 2, 1) if x.array.size % n == 0)
    return g.add("Reshape", [x, _told(g, [first, x.array.size // first if g.chance(0.5) else -1])])


def constant_of_shape_told(g: Builder) -> object:
    value = helper.make_tensor("value", helper.np_dtype_to_tensor_dtype(F32), [1], [1.5])
    return g.add("ConstantOfShape", [_told(g, [g.integer(0, 4) for _ in range(g.integer(1, 3))])], value=value)


def tile_told(g: Builder) -> object:
    x = g.pick(common(ALL, "Tile", g.opset), least_rank=1, condition=lambda v: v.array.size <= SMALL)
    return g.add("Tile", [x, _told(g, [g.integer(0, 3) for _ in x.shape])])


def pad_told(g: Builder) -> object:
    if g.opset < 11:
        raise Skip("pads are an attribute")
    x = g.pick(common(NUMBERS, "Pad", g.opset), least_rank=1)
    return g.add("Pad", [x, _told(g, [g.integer(0, 2) for _ in range(2 * x.rank)])])


RECIPES: dict[str, Recipe] = {
    "NonZero": nonzero,
    "Compress": compress,
    "Range of inputs": range_told,
    "TopK of an input": top_k_told,
    "Slice of inputs": slice_told,
    "Expand by an input": expand_told,
    "Reshape by an input": reshape_told,
    "ConstantOfShape of an input": constant_of_shape_told,
    "Tile by an input": tile_told,
    "Pad by an input": pad_told,
}
