"""Random nodes of the standard that few models have: sampling, spectra, sequences, steps of optimisers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto, helper

from tests.unit.fuzz.builder import ALL, F32, F64, FLOATS, I32, I64, NUMBERS, Builder, Skip, Tensor
from tests.unit.fuzz.recipes_elementwise import Recipe
from tests.unit.fuzz.recipes_nn import image_of, window_of
from tests.unit.fuzz.schemas import common

TRAINING = "ai.onnx.preview.training"


def drawn(g: Builder, shape: Sequence[int], low: float, high: float, dtype: np.dtype = F32) -> Tensor:
    """Ordinary numbers between bounds."""
    array = np.asarray(g.rng.uniform(low, high, shape)).astype(dtype)
    return g.weight(array) if g.chance(0.4) else g.input(array, open_sizes=False)


def whole(g: Builder, shape: Sequence[int], low: int, high: int, dtype: np.dtype = I64) -> Tensor:
    """Integers from `low` to `high`."""
    array = np.asarray(g.rng.integers(low, high + 1, shape)).astype(dtype)
    return g.weight(array) if g.chance(0.4) else g.input(array, open_sizes=False)


def affine_grid(g: Builder) -> object:
    axes = g.integer(2, 3)
    batch = g.integer(1, 2)
    theta = g.matching((batch, axes, axes + 1), F32)
    size = [batch, g.integer(1, 3), *(g.integer(1, 4) for _ in range(axes))]
    return g.add("AffineGrid", [theta, g.integers(size)], exact=False, align_corners=g.integer(0, 1))


def grid_sample(g: Builder) -> object:
    x = image_of(g, "GridSample", (F32, F64))
    if x.rank == 3:
        raise Skip("no axes of space")
    space = [g.integer(1, 4) for _ in x.shape[2:]]
    # Not at the middle between two elements, where rounding decides.
    grid = drawn(g, (x.shape[0], *space, x.rank - 2), -1.4, 1.4)
    words = ("linear", "nearest", "cubic") if g.opset >= 20 else ("bilinear", "nearest", "bicubic")
    mode = str(g.choose(words))
    if mode.endswith("cubic") and x.rank != 4:
        raise Skip("cubic is for two axes")
    border = str(g.choose(("zeros", "border", "reflection")))
    given = {"mode": mode, "padding_mode": border, "align_corners": g.integer(0, 1)}
    return g.add("GridSample", [x, grid], exact=False, **given)


def deform_conv(g: Builder) -> object:
    batch, channels, results = g.integer(1, 2), 2 * g.integer(1, 2), g.integer(1, 3)
    rows, columns, kernel = g.integer(3, 6), g.integer(3, 6), [g.integer(1, 3), g.integer(1, 3)]
    group, stride, pad = g.integer(1, 2), g.integer(1, 2), g.integer(0, 1)
    results *= group
    x = g.matching((batch, channels, rows, columns), F32)
    w = g.fixed((results, channels // group, *kernel), F32)
    places = [(n + 2 * pad - k) // stride + 1 for n, k in zip((rows, columns), kernel, strict=True)]
    if min(places) < 1:
        raise Skip("the kernel fits nowhere")
    offsets = g.integer(1, 2)
    offset = drawn(g, (batch, offsets * 2 * kernel[0] * kernel[1], *places), -1.5, 1.5)
    bias = g.matching((results,), F32) if g.chance(0.5) else None
    mask = drawn(g, (batch, offsets * kernel[0] * kernel[1], *places), 0, 1) if g.chance(0.5) else None
    given = {"group": group, "offset_group": offsets, "strides": [stride] * 2, "pads": [pad] * 4}
    return g.add("DeformConv", [x, w, offset, bias, mask], exact=False, kernel_shape=kernel, **given)


def col2im(g: Builder) -> object:
    image, block = [g.integer(3, 6), g.integer(3, 6)], [g.integer(1, 3), g.integer(1, 3)]
    strides, pads, dilations = [g.integer(1, 2) for _ in "hw"], [g.integer(0, 1)] * 4, [g.integer(1, 2) for _ in "hw"]
    counts = [
        (image[i] + pads[i] + pads[i + 2] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1 for i in range(2)
    ]
    if min(counts) < 1:
        raise Skip("the block fits nowhere")
    x = g.matching((g.integer(1, 2), g.integer(1, 3) * block[0] * block[1], counts[0] * counts[1]), F32)
    given = {"strides": strides, "pads": pads, "dilations": dilations}
    return g.add("Col2Im", [x, g.integers(image), g.integers(block)], exact=False, **given)


def lp_pool(g: Builder) -> object:
    x = image_of(g, "LpPool")
    kernel, given = window_of(g, x.rank - 2, pools=True)
    if g.opset < 18:
        given.pop("dilations", None)
    if g.opset >= 18 and g.chance(0.4):
        given["ceil_mode"] = 1
    return g.add("LpPool", [x], exact=False, kernel_shape=kernel, p=g.integer(1, 3), **given)


def global_lp_pool(g: Builder) -> object:
    return g.add("GlobalLpPool", [image_of(g, "GlobalLpPool")], exact=False, p=g.integer(1, 3))


def max_unpool(g: Builder) -> object:
    """What was pooled, put back."""
    batch, channels, size = g.integer(1, 2), g.integer(1, 3), (2 * g.integer(1, 3), 2 * g.integer(1, 3))
    array = g.rng.permutation(batch * channels * size[0] * size[1]).reshape(batch, channels, *size).astype(np.float32)
    window: dict[str, object] = {"kernel_shape": [2, 2], "strides": [2, 2]}
    pooled, places = g.add("MaxPool", [g.input(array)], 2, **window)
    return g.add("MaxUnpool", [pooled, places, g.integers(array.shape) if g.chance(0.4) else None], **window)


def det(g: Builder) -> object:
    n = g.integer(1, 4)
    return g.add("Det", [drawn(g, (*g.shape(g.integer(0, 1)), n, n), -2, 2)], exact=False)


def cum_prod(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "CumProd", g.opset), least_rank=1)
    given = {name: g.integer(0, 1) for name in ("exclusive", "reverse") if g.chance(0.5)}
    return g.add("CumProd", [x, g.number(g.integer(-x.rank, x.rank - 1), I64)], exact=False, **given)


def bit_cast(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "BitCast", g.opset), exact=True)
    same = [d for d in NUMBERS if d.itemsize == x.dtype.itemsize]
    target = g.choose(same)
    assert isinstance(target, np.dtype)
    return g.add("BitCast", [x], to=helper.np_dtype_to_tensor_dtype(target))


def dft(g: Builder) -> object:
    length, parts = g.integer(1, 9), g.integer(1, 2)
    inverse, onesided = (0, g.integer(0, 1)) if parts == 1 else (g.integer(0, 1), 0)
    dtype = F32 if g.chance(0.7) else F64
    x = drawn(g, (g.integer(1, 2), length, g.integer(1, 3), parts), -1, 1, dtype)
    wanted = g.number(g.integer(1, 10), I64) if g.chance(0.4) else None
    given = {"inverse": inverse, "onesided": onesided}
    if g.opset < 20:
        return g.add("DFT", [x, wanted], exact=False, axis=1, **given)
    return g.add("DFT", [x, wanted, g.number(int(g.choose((1, 1, 2, -2))), I64)], exact=False, **given)  # type: ignore[call-overload]


def stft(g: Builder) -> object:
    frame, step = g.integer(2, 8), g.integer(1, 4)
    x = drawn(g, (g.integer(1, 2), frame + g.integer(0, 12), 1), -1, 1)
    window = drawn(g, (frame,), 0, 1) if g.chance(0.6) else None
    length = g.number(frame, I64) if window is None or g.chance(0.5) else None
    return g.add("STFT", [x, g.number(step, I64), window, length], exact=False, onesided=g.integer(0, 1))


def mel_weights(g: Builder) -> object:
    numbers = [g.number(n, I64) for n in (g.integer(1, 6), g.integer(4, 32), 8000)]
    return g.add("MelWeightMatrix", [*numbers, g.number(0.0, F32), g.number(3500.0, F32)], exact=False)


def reverse_sequence(g: Builder) -> object:
    x = g.pick(common(ALL, "ReverseSequence", g.opset), least_rank=2, least=1)
    batch = g.integer(0, 1)
    lengths = whole(g, (x.shape[batch],), 1, x.shape[1 - batch])
    return g.add("ReverseSequence", [x, lengths], batch_axis=batch, time_axis=1 - batch)


def tensor_scatter(g: Builder) -> object:
    x = g.pick(common(ALL, "TensorScatter", g.opset), least_rank=2, least=1)
    axis = g.integer(1, x.rank - 1)
    shape = list(x.shape)
    shape[axis] = g.integer(1, x.shape[axis])
    mode = str(g.choose(("linear", "circular")))
    most = x.shape[axis] - (shape[axis] if mode == "linear" else 1)
    starts = whole(g, (x.shape[0],), 0, most) if g.chance(0.7) else None
    return g.add("TensorScatter", [x, g.matching(shape, x.dtype), starts], axis=axis, mode=mode)


def unique(g: Builder) -> object:
    x = g.pick(common((F32, I64, I32, np.dtype(np.int8)), "Unique", g.opset), least_rank=1, least=1, exact=True)
    if x.dtype.kind == "f" and np.isnan(x.array).any():
        raise Skip("whether NaN is equal to NaN is left open")
    given = {"axis": g.integer(-x.rank, x.rank - 1)} if g.chance(0.4) else {}
    return g.add("Unique", [x], 4, sorted=g.integer(0, 1), **given)


def non_max_suppression(g: Builder) -> object:
    batch, boxes, classes = g.integer(1, 2), g.integer(0, 7), g.integer(1, 2)
    corners = g.rng.uniform(0, 4, (batch, boxes, 2))
    array = np.concatenate([corners, corners + g.rng.uniform(0.5, 3, corners.shape)], axis=2).astype(np.float32)
    scores = g.rng.permutation(batch * classes * boxes).reshape(batch, classes, boxes).astype(np.float32)
    limits = [
        g.number(g.integer(0, 5), I64),
        g.number(0.1 + 0.17 * g.integer(0, 4), F32),
        g.number(g.integer(0, 9) + 0.5, F32) if g.chance(0.5) else None,
    ]
    given = {"center_point_box": g.integer(0, 1)}
    return g.add("NonMaxSuppression", [g.input(array), g.input(scores), *limits], **given)


def tf_idf(g: Builder) -> object:
    x = whole(g, (g.integer(1, 8),) if g.chance(0.5) else (2, g.integer(1, 8)), 1, 5, I32 if g.chance(0.5) else I64)
    given: dict[str, object] = {"mode": str(g.choose(("TF", "IDF", "TFIDF"))), "max_skip_count": g.integer(0, 2)}
    given |= {"min_gram_length": g.integer(1, 2), "max_gram_length": 2, "ngram_counts": [0, 3]}
    given |= {"ngram_indexes": [int(i) for i in g.rng.permutation(5)], "pool_int64s": [2, 3, 5, 1, 2, 4, 1]}
    if g.chance(0.5):
        given["weights"] = [0.5, 2.0, 1.5, 1.0, 3.0]
    return g.add("TfIdfVectorizer", [x], **given)


def swiglu(g: Builder) -> object:
    x = g.pick(common(FLOATS, "SwiGLU", g.opset), least_rank=1)
    return g.add("SwiGLU", [x, g.matching(x.shape, x.dtype)], exact=False)


# Sequences: nodes that are added together, since what is between them is no tensor.


def _chain(g: Builder, nodes: Sequence[tuple[str, list[str], str, dict[str, object]]], read: list[Tensor]) -> object:
    made = [helper.make_node(op, inputs, [output], **given) for op, inputs, output, given in nodes]
    if not all(g.has(node.op_type) for node in made):
        raise Skip("no sequences yet")
    return g.add_nodes(made, [made[-1].output[0]], read, exact=True)


def _like(g: Builder, x: Tensor, axis: int) -> Tensor:
    shape = list(x.shape)
    shape[axis] = g.size()
    return g.matching(shape, x.dtype)


def joined_sequence(g: Builder) -> object:
    """Tensors put in, taken out, and joined."""
    x = g.pick(common(ALL, "SequenceConstruct", g.opset), least_rank=1)
    axis = g.integer(0, x.rank - 1)
    items = [x, *(_like(g, x, axis) for _ in range(g.integer(0, 2)))]
    one, two, three, last = (g.fresh("s") for _ in range(4))
    place = g.number(g.integer(-len(items), len(items)), I64)
    extra = _like(g, x, axis)
    nodes: list[tuple[str, list[str], str, dict[str, object]]] = [
        ("SequenceConstruct", [item.name for item in items], one, {}),
        ("SequenceInsert", [one, extra.name, place.name], two, {}),
    ]
    read = [*items, extra, place]
    if g.chance(0.5):
        gone = g.number(g.integer(-len(items) - 1, len(items)), I64)
        nodes.append(("SequenceErase", [two, gone.name], three, {}))
        read.append(gone)
    else:
        three = two
    same = all(item.shape == x.shape for item in (*items, extra))
    given: dict[str, object] = {"axis": axis - (x.rank if g.chance(0.3) else 0)}
    if same and g.chance(0.4):
        given = {"axis": g.integer(0, x.rank), "new_axis": 1}
    return _chain(g, [*nodes, ("ConcatFromSequence", [three], last, given)], read)


def split_sequence(g: Builder) -> object:
    """A tensor split, and one of the parts; or how many there are."""
    x = g.pick(common(ALL, "SplitToSequence", g.opset), least_rank=1, least=1)
    axis = g.integer(-x.rank, x.rank - 1)
    size, one, last = x.shape[axis], g.fresh("s"), g.fresh()
    given: dict[str, object] = {"axis": axis}
    read, names = [x], [x.name]
    way = g.integer(0, 2)
    if way == 0:
        given["keepdims"] = g.integer(0, 1)
        count = size
    else:
        cut = g.integer(0, size)
        split = g.integers([cut, size - cut]) if way == 1 else g.number(g.integer(1, size), I64)
        count = 2 if way == 1 else -(-size // int(split.array))
        read.append(split)
        names.append(split.name)
    first = ("SplitToSequence", names, one, given)
    if g.chance(0.2):
        return _chain(g, [first, ("SequenceLength", [one], last, {})], read)
    place = g.number(g.integer(-count, count - 1), I64)
    return _chain(g, [first, ("SequenceAt", [one, place.name], last, {})], [*read, place])


def mapped_sequence(g: Builder) -> object:
    """A graph applied to each tensor of a sequence, with one that all of them are given."""
    x = g.pick((F32, I64), least_rank=1)
    if g.opset < 17:
        raise Skip("no maps yet")
    axis = g.integer(0, x.rank - 1)
    items, more = [x, _like(g, x, axis)], g.new((), x.dtype)
    one, two, last = g.fresh("s"), g.fresh("s"), g.fresh()
    element = helper.np_dtype_to_tensor_dtype(x.dtype)
    infos = [helper.make_tensor_value_info(f"{one}_{name}", element, None) for name in ("item", "more", "result")]
    node = helper.make_node(str(g.choose(("Add", "Mul"))), [infos[0].name, infos[1].name], [infos[2].name])
    body = helper.make_graph([node], "body", infos[:2], infos[2:])
    nodes: list[tuple[str, list[str], str, dict[str, object]]] = [
        ("SequenceConstruct", [item.name for item in items], one, {}),
        ("SequenceMap", [one, more.name], two, {"body": body}),
        ("ConcatFromSequence", [two], last, {"axis": axis}),
    ]
    return _chain(g, nodes, [*items, more])


def empty_sequence(g: Builder) -> object:
    x, one, two, last = g.pick(common(ALL, "SequenceInsert", g.opset)), g.fresh("s"), g.fresh("s"), g.fresh()
    element = {"dtype": helper.np_dtype_to_tensor_dtype(x.dtype)}
    start = ("SequenceEmpty", [], one, element)
    if g.chance(0.3):
        return _chain(g, [start, ("SequenceLength", [one], last, {})], [])
    place = g.number(0, I64)
    nodes = [("SequenceInsert", [one, x.name], two, {}), ("SequenceAt", [two, place.name], last, {})]
    return _chain(g, [start, *nodes], [x, place])  # type: ignore[list-item]


def optional(g: Builder) -> object:
    if g.opset < 18:
        raise Skip("only sequences have been optional so far")
    one, last = g.fresh("o"), g.fresh()
    if g.chance(0.3):
        kind = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        node = helper.make_node("Optional", [], [one], type=kind)
        return g.add_nodes([node, helper.make_node("OptionalHasElement", [one], [last])], [last], [], exact=True)
    x = g.pick(common(ALL, "Optional", g.opset))
    end = str(g.choose(("OptionalGetElement", "OptionalHasElement")))
    return _chain(g, [("Optional", [x.name], one, {}), (end, [one], last, {})], [x])


def optimiser(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        dtype = F32 if g.chance(0.7) else F64
        x = g.matching(g.shape(), dtype)
        gradient = g.matching(x.shape, dtype)
        states = [drawn(g, x.shape, 0, 1, dtype) for _ in range(2 if op == "Adam" else 1)]
        rate, count = g.number(0.1, F32), g.number(g.integer(0, 3), I64)
        given: dict[str, object] = {"norm_coefficient": 0.01}
        if op == "Momentum":
            given |= {"alpha": 0.9, "beta": 1.0, "mode": str(g.choose(("standard", "nesterov")))}
        inputs = [rate, count, x, gradient, *states]
        return g.add(op, inputs, 1 + len(states), exact=False, domain=TRAINING, **given)

    return recipe


RECIPES: dict[str, Recipe] = {
    **{op: optimiser(op) for op in ("Adagrad", "Adam", "Momentum")},
    "AffineGrid": affine_grid,
    "BitCast": bit_cast,
    "Col2Im": col2im,
    "CumProd": cum_prod,
    "DFT": dft,
    "DeformConv": deform_conv,
    "Det": det,
    "GlobalLpPool": global_lp_pool,
    "GridSample": grid_sample,
    "LpPool": lp_pool,
    "MaxUnpool": max_unpool,
    "MelWeightMatrix": mel_weights,
    "NonMaxSuppression": non_max_suppression,
    "Optional": optional,
    "ReverseSequence": reverse_sequence,
    "STFT": stft,
    "Sequence joined": joined_sequence,
    "Sequence mapped": mapped_sequence,
    "Sequence that was empty": empty_sequence,
    "SplitToSequence": split_sequence,
    "SwiGLU": swiglu,
    "TensorScatter": tensor_scatter,
    "TfIdfVectorizer": tf_idf,
    "Unique": unique,
}
