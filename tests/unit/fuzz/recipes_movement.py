"""Random nodes that move, choose, make and place elements."""

from __future__ import annotations

from math import prod

import numpy as np
from onnx import helper, numpy_helper

from tests.unit.fuzz.builder import ALL, BOOL, F32, FLOATS, I32, I64, NUMBERS, Builder, Skip, Tensor
from tests.unit.fuzz.recipes_elementwise import Recipe, axes_of
from tests.unit.fuzz.schemas import common


def _factors(g: Builder, total: int) -> list[int]:
    """Sizes whose product is `total`."""
    sizes: list[int] = []
    rest = total
    for _ in range(g.integer(0, 3)):
        options = [n for n in (1, 2, 3, 4, 5, 8, 9, 16, 17) if rest and rest % n == 0]
        size = int(g.choose(options or [1]))  # type: ignore[call-overload]
        sizes.append(size)
        rest //= max(size, 1)
    return [*sizes, rest]


def reshape(g: Builder) -> object:
    x = g.pick(common(ALL, "Reshape", g.opset))
    wanted = _factors(g, x.array.size)
    g.rng.shuffle(wanted)
    for i, size in enumerate(wanted):
        if i < x.rank and x.shape[i] == size and g.chance(0.5):
            wanted[i] = 0
    allow_zero = g.opset >= 14 and g.chance(0.1)
    if allow_zero:
        wanted = list(x.shape[::-1])
    elif 0 not in x.shape and g.chance(0.4):
        wanted[g.integer(0, len(wanted) - 1)] = -1
    return g.add("Reshape", [x, g.integers(wanted)], **({"allowzero": 1} if allow_zero else {}))


def reshape_by_shape(g: Builder) -> object:
    """Sizes that come from the shape of another value, through arithmetic."""
    x = g.pick(least_rank=2)
    (shape,) = g.add("Shape", [x])
    kind = g.integer(0, 2)
    if kind == 0:
        (first,) = g.add("Gather", [shape, g.integers([g.integer(-x.rank, x.rank - 1)])])
        (wanted,) = g.add("Concat", [first, g.integers([-1])], axis=0)
        return g.add("Reshape", [x, wanted])
    if kind == 1:
        (mixed,) = g.add("Gather", [shape, g.integers(list(g.rng.permutation(x.rank)))])
        return g.add("Reshape", [x, mixed])
    y = g.pick([x.dtype], condition=lambda v: v.rank <= x.rank)
    return g.add("Expand", [y, shape])


def flatten(g: Builder) -> object:
    x = g.pick(common(ALL, "Flatten", g.opset))
    low = -x.rank if g.opset >= 11 else 0
    return g.add("Flatten", [x], **({"axis": g.integer(low, x.rank)} if g.chance(0.7) else {}))


def _axes_node(g: Builder, op: str, x: Tensor, axes: list[int] | None) -> object:
    if g.opset < 13:
        return g.add(op, [x], axes=axes)
    return g.add(op, [x, None if axes is None else g.integers(axes)])


def squeeze(g: Builder) -> object:
    x = g.pick(condition=lambda v: 1 in v.shape)
    ones = [i for i, n in enumerate(x.shape) if n == 1]
    axes = [i - x.rank if g.opset >= 11 and g.chance(0.4) else i for i in g.some(ones, 1)]
    return _axes_node(g, "Squeeze", x, None if g.chance(0.2) else axes)


def unsqueeze(g: Builder) -> object:
    x = g.pick(condition=lambda v: v.rank < 5)
    rank = x.rank + g.integer(1, 2)
    axes = g.some(range(rank), rank - x.rank, rank - x.rank)
    return _axes_node(g, "Unsqueeze", x, [a - rank if g.opset >= 11 and g.chance(0.4) else a for a in axes])


def transpose(g: Builder) -> object:
    x = g.pick(least_rank=1)
    order = [int(i) for i in g.rng.permutation(x.rank)]
    return g.add("Transpose", [x], **({"perm": order} if g.chance(0.8) else {}))


def concat(g: Builder) -> object:
    x = g.pick(common(ALL, "Concat", g.opset), least_rank=1)
    axis = g.integer(-x.rank if g.opset >= 11 else 0, x.rank - 1)
    parts = [x]
    for _ in range(g.integer(0, 3)):
        shape = list(x.shape)
        shape[axis] = g.size()
        parts.append(g.matching(shape, x.dtype))
    g.rng.shuffle(parts)  # type: ignore[arg-type]
    return g.add("Concat", parts, axis=axis)


def split(g: Builder) -> object:
    x = g.pick(common(ALL, "Split", g.opset), least_rank=1)
    axis = g.integer(-x.rank if g.opset >= 11 else 0, x.rank - 1)
    size = x.shape[axis]
    cuts = sorted(g.integer(0, size) for _ in range(g.integer(0, 3)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]
    unnamed = g.some(range(len(sizes)), 0, len(sizes) - 1) if g.chance(0.3) else []
    given = {"axis": axis} if g.chance(0.9) or axis != 0 else {}
    if g.chance(0.3) and size:
        count = int(g.choose([n for n in (1, 2, 3, 4, 5) if n <= size and (g.opset >= 18 or size % n == 0)]))  # type: ignore[call-overload]
        if g.opset >= 18:
            given["num_outputs"] = count
        return g.add("Split", [x], count, **given)
    if g.opset < 13:
        return g.add("Split", [x], len(sizes), unnamed=unnamed, split=sizes, **given)
    return g.add("Split", [x, g.integers(sizes)], len(sizes), unnamed=unnamed, **given)


def slice_(g: Builder) -> object:
    x = g.pick(common(ALL, "Slice", g.opset), least_rank=1)
    axes = axes_of(g, x.rank) if g.opset >= 10 else g.some(range(x.rank), 1)
    extremes = (-(1 << 63), (1 << 63) - 1, -(1 << 31), (1 << 31) - 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        starts.append(g.integer(-size - 2, size + 2) if g.chance(0.9) else g.choose(extremes))
        ends.append(g.integer(-size - 2, size + 2) if g.chance(0.7) else g.choose(extremes))
        steps.append(g.choose((1, 1, 2, 3, -1, -1, -2, -3)))
    if g.opset < 10:
        return g.add("Slice", [x], starts=starts, ends=ends, axes=axes)
    dtype = I32 if all(-(1 << 31) <= n < 1 << 31 for n in (*starts, *ends)) and g.chance(0.3) else I64
    inputs = [g.integers(starts, dtype), g.integers(ends, dtype), g.integers(axes, dtype)]
    if g.chance(0.6):
        inputs.append(g.integers(steps, dtype))
    return g.add("Slice", [x, *inputs])


def pad(g: Builder) -> object:
    x = g.pick(common(ALL if g.opset >= 13 else NUMBERS, "Pad", g.opset), least_rank=1, condition=lambda v: v.rank < 5)
    mode = str(g.choose(("constant", "constant", "reflect", "edge", *(("wrap",) if g.opset >= 19 else ()))))
    axes = axes_of(g, x.rank) if g.opset >= 18 and g.chance(0.4) else list(range(x.rank))
    low, high = [], []
    for axis in axes:
        size = x.shape[axis]
        most = {"constant": 3, "reflect": max(size - 1, 0), "edge": 3 if size else 0, "wrap": size}[mode]
        for sides in (low, high):
            amount = g.integer(-min(size // 2, 2), most) if mode == "constant" else g.integer(0, min(most, 4))
            sides.append(amount)
    pads = [*low, *high]
    if g.opset < 11:
        given = {"value": float(g.integer(-2, 2))} if mode == "constant" and g.chance(0.5) else {}
        return g.add("Pad", [x], mode=mode, pads=pads, **given)
    value = g.matching((), x.dtype) if mode == "constant" and g.chance(0.5) else None
    inputs = [x, g.integers(pads), value]
    if len(axes) < x.rank or (g.opset >= 18 and g.chance(0.3)):
        inputs.append(g.integers(axes))
    return g.add("Pad", inputs, **({} if mode == "constant" and g.chance(0.5) else {"mode": mode}))


def tile(g: Builder) -> object:
    x = g.pick(common(ALL, "Tile", g.opset))
    return g.add("Tile", [x, g.integers([int(g.rng.choice((0, 1, 1, 2, 3))) for _ in range(x.rank)])])


def expand(g: Builder) -> object:
    x = g.pick(common(ALL, "Expand", g.opset))
    cut = g.integer(0, x.rank)
    shape = [n if n != 1 or g.chance(0.4) else g.size() for n in x.shape[cut:]]
    shape = [1 if g.chance(0.2) else n for n in shape]
    if cut == 0:
        shape = [*(g.size() for _ in range(g.integer(0, 1))), *shape]
    return g.add("Expand", [x, g.integers(shape)])


def trilu(g: Builder) -> object:
    x = g.pick(common(ALL, "Trilu", g.opset), least_rank=2)
    k = g.number(g.integer(-4, 4), I64) if g.chance(0.6) else None
    return g.add("Trilu", [x, k], **({"upper": g.integer(0, 1)} if g.chance(0.7) else {}))


def depth_to_space(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        block = g.integer(1, 3)
        n, c, h, w = g.shape(4, 1)
        shape = (n, c * block * block, h, w) if op == "DepthToSpace" else (n, c, h * block, w * block)
        x = g.matching(shape, g.choose(common(NUMBERS, op, g.opset)))  # type: ignore[arg-type]
        mode = {"mode": g.choose(("DCR", "CRD"))} if op == "DepthToSpace" and g.opset >= 11 and g.chance(0.7) else {}
        return g.add(op, [x], blocksize=block, **mode)

    return recipe


def _indices(g: Builder, shape: tuple[int, ...], size: int, dtype: np.dtype | None = None) -> Tensor:
    """Indices into an axis, negative ones among them."""
    if size == 0 and prod(shape):
        raise Skip("nothing to index")
    low = -size if g.opset >= 11 else 0
    array = np.asarray(g.rng.integers(low, max(size, low + 1), shape))
    array = array.astype(dtype or (I32 if g.chance(0.3) else I64))
    return g.weight(array) if g.chance(0.5) else g.input(array)


def gather(g: Builder) -> object:
    x = g.pick(common(ALL, "Gather", g.opset), least_rank=1)
    axis = g.integer(-x.rank, x.rank - 1)
    indices = _indices(g, g.shape(g.integer(0, 2)), x.shape[axis])
    return g.add("Gather", [x, indices], **({"axis": axis} if g.chance(0.9) or axis else {}))


def gather_elements(g: Builder) -> object:
    x = g.pick(common(ALL, "GatherElements", g.opset), least_rank=1)
    axis = g.integer(-x.rank, x.rank - 1)
    shape = [g.integer(0 if n == 0 else 1, n) if g.chance(0.3) else n for n in x.shape]
    shape[axis] = g.size(1)
    return g.add("GatherElements", [x, _indices(g, tuple(shape), x.shape[axis])], axis=axis)


def _tuples(g: Builder, shape: tuple[int, ...], depth: int, outer: tuple[int, ...]) -> np.ndarray:
    """Index tuples of `depth` entries into the first axes of `shape`."""
    if any(n == 0 for n in shape[:depth]) and prod(outer):
        raise Skip("nothing to index")
    low = [-n if g.opset >= 12 else 0 for n in shape[:depth]]
    return np.stack(
        [g.rng.integers(a, max(n, a + 1), outer) for a, n in zip(low, shape, strict=False)], axis=-1
    ).astype(np.int64)


def gather_nd(g: Builder) -> object:
    x = g.pick(common(ALL, "GatherND", g.opset), least_rank=1)
    batch = g.integer(0, x.rank - 1) if g.opset >= 12 and g.chance(0.3) else 0
    depth = g.integer(1, x.rank - batch)
    outer = (*x.shape[:batch], *g.shape(g.integer(0 if batch == 0 else 1, 2))) if batch else g.shape(g.integer(0, 2))
    array = _tuples(g, x.shape[batch:], depth, outer)
    indices = g.weight(array) if g.chance(0.5) else g.input(array)
    return g.add("GatherND", [x, indices], **({"batch_dims": batch} if batch else {}))


def _reduction_of(g: Builder, op: str, x: Tensor) -> dict[str, object]:
    if g.opset < 16 or g.chance(0.5):
        return {}
    kinds = ("none", "add", "mul", *(("max", "min") if g.opset >= 18 else ()))
    return {"reduction": str(g.choose(kinds))} if x.dtype != BOOL else {}


def scatter_elements(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(common(ALL, op, g.opset), least_rank=1)
        axis = g.integer(-x.rank, x.rank - 1) if op == "ScatterElements" else g.integer(0, x.rank - 1)
        shape = [g.integer(min(1, n), n) for n in x.shape]
        size = x.shape[axis]
        kind = _reduction_of(g, op, x)
        if kind.get("reduction", "none") == "none":
            # One element written twice has no defined value.
            lines = [g.rng.permutation(size)[: shape[axis]] for _ in range(prod(shape) // max(shape[axis], 1))]
            order = [n for i, n in enumerate(shape) if i != axis % x.rank]
            stacked = np.array(lines, np.int64).reshape(*order, shape[axis])
            array = np.moveaxis(stacked, -1, axis % x.rank)
            negative = g.opset >= 11 and g.chance(0.3)
            indices = g.input(np.ascontiguousarray(array - size if negative else array))
        else:
            indices = _indices(g, tuple(shape), size, I64)
        exact = kind.get("reduction", "none") not in ("add", "mul")
        return g.add(op, [x, indices, g.matching(shape, x.dtype)], exact=exact, axis=axis, **kind)

    return recipe


def scatter_nd(g: Builder) -> object:
    x = g.pick(common(ALL, "ScatterND", g.opset), least_rank=1)
    depth = g.integer(1, x.rank)
    outer = g.shape(1)
    kind = _reduction_of(g, "ScatterND", x)
    array = _tuples(g, x.shape, depth, outer)
    if kind.get("reduction", "none") == "none":
        flat = np.unique(np.where(array < 0, array + x.shape[:depth], array), axis=0)
        array = np.ascontiguousarray(flat[g.rng.permutation(len(flat))])
    updates = g.matching((*array.shape[:-1], *x.shape[depth:]), x.dtype)
    exact = kind.get("reduction", "none") not in ("add", "mul")
    return g.add("ScatterND", [x, g.input(array, open_sizes=False), updates], exact=exact, **kind)


def shape(g: Builder) -> object:
    x = g.pick()
    given = {name: g.integer(-x.rank - 1, x.rank + 1) for name in ("start", "end") if g.chance(0.4)}
    return g.add("Shape", [x], **(given if g.opset >= 15 else {}))


def size(g: Builder) -> object:
    return g.add("Size", [g.pick()])


def constant(g: Builder) -> object:
    array = g.content(g.shape(), g.choose(ALL))  # type: ignore[arg-type]
    kind = g.integer(0, 3) if g.opset >= 12 else 0
    if kind == 1:
        return g.add("Constant", [], value_float=1.5)
    if kind == 2:
        return g.add("Constant", [], value_ints=[3, -1, 7])
    return g.add("Constant", [], value=numpy_helper.from_array(array))


def constant_of_shape(g: Builder) -> object:
    shape = g.integers(list(g.shape()))
    if g.chance(0.4):
        (shape,) = g.add("Shape", [g.pick()])
    value = g.content((1,), g.choose(common(ALL, "Identity", 13)))  # type: ignore[arg-type]
    given = {"value": numpy_helper.from_array(value)} if g.chance(0.7) else {}
    return g.add("ConstantOfShape", [shape], **given)


def range_(g: Builder) -> object:
    dtype = g.choose((F32, I32, I64))
    assert isinstance(dtype, np.dtype)
    step = int(g.choose((1, 1, 2, -1, 3, -2)))  # type: ignore[call-overload]
    numbers = (g.integer(-5, 5), g.integer(-5, 12), step)
    if dtype == I64 and g.chance(0.4):
        (limit,) = g.add("Size", [g.pick(condition=lambda v: v.array.size < 100)])
        return g.add("Range", [g.number(0, I64), limit, g.number(1, I64)])
    return g.add("Range", [g.number(n, dtype) for n in numbers], exact=dtype != F32)


def eye_like(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "EyeLike", g.opset), rank=2)
    given = {"dtype": helper.np_dtype_to_tensor_dtype(F32)} if g.chance(0.5) else {}
    return g.add("EyeLike", [x], **given, **({"k": g.integer(-3, 3)} if g.chance(0.6) else {}))


def one_hot(g: Builder) -> object:
    depth = g.integer(1, 6)
    indices = g.input(np.asarray(g.rng.integers(-depth - 1, depth + 1, g.shape(g.integer(0, 2)))).astype(np.int64))
    values = g.weight(g.content((2,), g.choose((F32, I64, I32))))  # type: ignore[arg-type]
    axis = {"axis": g.integer(-indices.rank - 1, indices.rank)} if g.chance(0.7) else {}
    return g.add("OneHot", [indices, g.number(depth, I64), values], **axis)


def resize(g: Builder) -> object:
    x = g.pick(common(FLOATS, "Resize", g.opset), rank=g.choose((3, 4)), least=1)  # type: ignore[arg-type]
    mode = str(g.choose(("nearest", "linear", "cubic")))
    if mode == "cubic" and x.rank != 4:
        raise Skip("cubic is for two axes")
    scales = [1.0, 1.0, *(float(g.choose((0.5, 0.6, 1.0, 1.5, 2.0, 2.0, 3.0))) for _ in x.shape[2:])]  # type: ignore[arg-type]
    given: dict[str, object] = {"mode": mode}
    if g.opset == 10:
        if mode == "cubic":
            raise Skip("opset 10 has no cubic")
        return g.add("Resize", [x, g.weight(np.array(scales, np.float32))], exact=False, **given)
    places = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
    given["coordinate_transformation_mode"] = str(g.choose(places))
    if mode == "nearest":
        given["nearest_mode"] = str(g.choose(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")))
    if mode == "cubic" and g.chance(0.5):
        given |= {"cubic_coeff_a": -0.5, "exclude_outside": g.integer(0, 1)}
    roi = None if g.opset >= 13 else g.weight(np.zeros(0, np.float32))
    if g.chance(0.5):
        return g.add("Resize", [x, roi, g.weight(np.array(scales, np.float32))], exact=False, **given)
    sizes = [*x.shape[:2], *(g.integer(1, 9) for _ in x.shape[2:])]
    none = None if g.opset >= 13 else g.weight(np.zeros(0, np.float32))
    return g.add("Resize", [x, roi, none, g.integers(sizes)], exact=False, **given)


def upsample(g: Builder) -> object:
    x = g.pick(common(FLOATS, "Upsample", g.opset), rank=4, least=1)
    scales = g.weight(np.array([1, 1, g.integer(1, 3), g.integer(1, 3)], np.float32))
    return g.add("Upsample", [x, scales], exact=False, mode=g.choose(("nearest", "linear")))


RECIPES: dict[str, Recipe] = {
    "Concat": concat,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "DepthToSpace": depth_to_space("DepthToSpace"),
    "Expand": expand,
    "EyeLike": eye_like,
    "Flatten": flatten,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "OneHot": one_hot,
    "Pad": pad,
    "Range": range_,
    "Reshape": reshape,
    "Reshape by shape": reshape_by_shape,
    "Resize": resize,
    "Scatter": scatter_elements("Scatter"),
    "ScatterElements": scatter_elements("ScatterElements"),
    "ScatterND": scatter_nd,
    "Shape": shape,
    "Size": size,
    "Slice": slice_,
    "SpaceToDepth": depth_to_space("SpaceToDepth"),
    "Split": split,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": transpose,
    "Trilu": trilu,
    "Unsqueeze": unsqueeze,
    "Upsample": upsample,
}
