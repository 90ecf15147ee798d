"""
Kernels that move data more than they compute: pooling, elementwise chains, reductions, transposes, concat, gather.

Sizes come in two kinds where it matters: within the caches of a core, and several times larger than any cache.
"""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import onnx

from benchmarks.builder import I64, Builder
from benchmarks.cases import Case
from benchmarks.kernels.graphs import Shape, graph, single


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape))


def pooling_cases() -> Iterator[Case]:
    for op, shape, kernel, stride, pad in (
        ("MaxPool", (1, 64, 112, 112), 3, 2, 1),
        ("MaxPool", (1, 32, 256, 256), 2, 2, 0),
        ("MaxPool", (1, 480, 14, 14), 3, 1, 1),
        ("MaxPool", (16, 64, 112, 112), 3, 2, 1),
        ("AveragePool", (1, 192, 28, 28), 3, 1, 1),
        ("AveragePool", (1, 256, 56, 56), 2, 2, 0),
    ):
        build = single(op, shape, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
        yield Case(f"pool/{op[:3].lower()}{kernel}-s{stride}-{_text(shape)}", build)
    for shape in ((1, 2048, 7, 7), (1, 1280, 7, 7), (1, 96, 112, 112), (16, 256, 56, 56)):
        yield Case(f"pool/global-{_text(shape)}", single("GlobalAveragePool", shape))


def _spelt_out_norm(width: int, b: Builder) -> str:
    centred = b.node("Sub", "sub", "x", b.node("ReduceMean", "mean", "x", axes=[-1]))
    variance = b.node("ReduceMean", "mean_1", b.node("Mul", "square", centred, centred), axes=[-1])
    shifted = b.node("Add", "add", variance, b.constant("epsilon", 1e-5, np.float32))
    unit = b.node("Div", "div", centred, b.node("Sqrt", "sqrt", shifted))
    scaled = b.node("Mul", "mul", unit, b.weight("scale", "scale", (width,)))
    return b.node("Add", "add_1", scaled, b.weight("offset", "offset", (width,)))


def _layer_norm(width: int, b: Builder) -> str:
    scale, offset = b.weight("scale", "scale", (width,)), b.weight("offset", "offset", (width,))
    return b.node("LayerNormalization", "norm", "x", scale, offset, axis=-1, epsilon=1e-5)


def _residual_norm(width: int, b: Builder) -> str:
    x = b.node("Add", "residual", "x", "x1")
    scale, offset = b.weight("scale", "scale", (width,)), b.weight("offset", "offset", (width,))
    return b.node("LayerNormalization", "norm", x, scale, offset, axis=-1, epsilon=1e-5)


def _instance_norm(channels: int, b: Builder) -> str:
    scale, offset = b.weight("scale", "scale", (channels,)), b.weight("offset", "offset", (channels,))
    return b.node("InstanceNormalization", "norm", "x", scale, offset, epsilon=1e-5)


def norm_cases() -> Iterator[Case]:
    for shape, axis in (
        ((12, 128, 128), -1),
        ((12, 197, 197), -1),
        ((1, 1000), -1),
        ((64, 1000, 16), 1),
        ((4096, 4096), -1),
        ((64, 1000, 300), 1),
    ):
        axes = "" if axis == -1 else f"-axis{axis}"
        yield Case(f"softmax/{_text(shape)}{axes}", single("Softmax", shape, axis=axis))
    for shape in ((128, 768), (197, 768), (49, 96), (16384, 1024)):
        inputs = {"x": shape}
        yield Case(f"norm/layer-{_text(shape)}", partial(graph, inputs, partial(_layer_norm, shape[-1])))
        yield Case(f"norm/spelt-out-{_text(shape)}", partial(graph, inputs, partial(_spelt_out_norm, shape[-1])))
    for shape in ((128, 768), (16384, 1024)):
        inputs = {"x": shape, "x1": shape}
        yield Case(f"norm/residual-layer-{_text(shape)}", partial(graph, inputs, partial(_residual_norm, shape[-1])))
    for shape in ((1, 64, 64, 64), (8, 128, 128, 128)):
        yield Case(f"norm/instance-{_text(shape)}", partial(graph, {"x": shape}, partial(_instance_norm, shape[1])))


def _gelu_erf(width: int, b: Builder) -> str:
    x = b.node("Add", "bias", "x", b.weight("offset", "offset", (width,)))
    scaled = b.node("Div", "div", x, b.constant("root", math.sqrt(2.0), np.float32))
    shifted = b.node("Add", "add", b.node("Erf", "erf", scaled), b.constant("one", 1.0, np.float32))
    return b.node("Mul", "mul_1", b.node("Mul", "mul", x, shifted), b.constant("half", 0.5, np.float32))


def _gelu_tanh(width: int, b: Builder) -> str:
    cube = b.node("Mul", "cube", b.node("Mul", "square", "x", "x"), "x")
    inner = b.node("Add", "add", "x", b.node("Mul", "mul", cube, b.constant("c", 0.044715, np.float32)))
    inner = b.node("Mul", "mul_1", inner, b.constant("root", math.sqrt(2 / math.pi), np.float32))
    shifted = b.node("Add", "add_1", b.node("Tanh", "tanh", inner), b.constant("one", 1.0, np.float32))
    return b.node("Mul", "mul_3", b.node("Mul", "mul_2", "x", shifted), b.constant("half", 0.5, np.float32))


def _silu(width: int, b: Builder) -> str:
    return b.node("Mul", "mul", "x", b.node("Sigmoid", "sigmoid", "x"))


def _bias_relu(width: int, b: Builder) -> str:
    return b.node("Relu", "relu", b.node("Add", "bias", "x", b.weight("offset", "offset", (width,))))


def elementwise_cases() -> Iterator[Case]:
    sizes = ((128, 3072), (4096, 4096))
    for name, body in (
        ("gelu-erf", _gelu_erf),
        ("gelu-tanh", _gelu_tanh),
        ("silu", _silu),
        ("bias-relu", _bias_relu),
    ):
        for shape in sizes:
            yield Case(f"elementwise/{name}-{_text(shape)}", partial(graph, {"x": shape}, partial(body, shape[-1])))
    for op in ("Relu", "Exp", "Tanh", "Sigmoid", "Erf", "Log"):
        for shape in sizes:
            yield Case(f"elementwise/{op.lower()}-{_text(shape)}", single(op, shape))
    for shape in sizes:
        yield Case(f"elementwise/add-{_text(shape)}", single("Add", shape, shape))
        yield Case(f"elementwise/add-column-{_text(shape)}", single("Add", shape, (shape[0], 1)))


def _reduction(op: str, axes: list[int], b: Builder) -> str:
    if op == "ReduceSum":
        return b.node(op, "reduce", "x", b.constant("axes", axes, np.int64), keepdims=0)
    return b.node(op, "reduce", "x", axes=axes, keepdims=0)


def reduction_cases() -> Iterator[Case]:
    for shape in ((64, 64, 64), (256, 256, 512)):
        for op in ("ReduceSum", "ReduceMax"):
            for axes in ([0], [1], [2], [0, 1, 2]):
                name = "all" if len(axes) == 3 else f"axis{axes[0]}"
                build = partial(graph, {"x": shape}, partial(_reduction, op, axes))
                yield Case(f"reduce/{op[6:].lower()}-{name}-{_text(shape)}", build)
    for op, axes in (("ReduceMean", [2, 3]), ("ReduceL2", [1])):
        shape = (1, 256, 56, 56)
        build = partial(graph, {"x": shape}, partial(_reduction, op, axes))
        yield Case(f"reduce/{op[6:].lower()}-axes{''.join(map(str, axes))}-{_text(shape)}", build)


def transpose_cases() -> Iterator[Case]:
    for shape, perm in (
        ((512, 512), (1, 0)),
        ((1000, 1000), (1, 0)),
        ((4096, 4096), (1, 0)),
        ((1, 64, 112, 112), (0, 2, 3, 1)),
        ((1, 112, 112, 64), (0, 3, 1, 2)),
        ((1, 3, 224, 224), (0, 2, 3, 1)),
        ((1, 128, 12, 64), (0, 2, 1, 3)),
        ((1, 128, 12, 64), (0, 2, 3, 1)),
        ((64, 64, 64), (2, 1, 0)),
        ((16, 64, 128, 128), (0, 2, 3, 1)),
        ((16, 512, 12, 128), (0, 2, 1, 3)),
        ((256, 256, 256), (2, 1, 0)),
    ):
        yield Case(
            f"transpose/{_text(shape)}-to-{''.join(map(str, perm))}", single("Transpose", shape, perm=list(perm))
        )


def _split(parts: int, axis: int, b: Builder) -> list[str]:
    return b.node_of("Split", "split", parts, "x", axis=axis)


def _shuffle(shape: Shape, groups: int, b: Builder) -> str:
    n, c, *space = shape
    x = b.node("Reshape", "reshape", "x", b.constant("grouped", [n, groups, c // groups, *space], np.int64))
    x = b.node("Transpose", "transpose", x, perm=[0, 2, 1, 3, 4])
    return b.node("Reshape", "reshape_1", x, b.constant("flat", shape, np.int64))


def _pad(b: Builder) -> str:
    return b.node("Pad", "pad", "x", b.constant("pads", [0, 0, 1, 1, 0, 0, 1, 1], np.int64))


def _slice(b: Builder) -> str:
    starts, ends, axes = (b.constant(n, v, np.int64) for n, v in (("s", [8]), ("e", [48]), ("a", [1])))
    return b.node("Slice", "slice", "x", starts, ends, axes)


def movement_cases() -> Iterator[Case]:
    image, large = (1, 64, 56, 56), (16, 64, 112, 112)
    for shape in (image, large):
        for axis in (0, 1, 3):
            yield Case(f"concat/axis{axis}-{_text(shape)}", single("Concat", shape, shape, axis=axis))
    yield Case("concat/axis1-8-1x32x28x28", single("Concat", *[(1, 32, 28, 28)] * 8, axis=1))
    for shape in (image, large):
        yield Case(f"split/axis1-{_text(shape)}", partial(graph, {"x": shape}, partial(_split, 2, 1), 13))
    yield Case(f"shuffle/2-{_text(image)}", partial(graph, {"x": image}, partial(_shuffle, image, 2)))
    yield Case(f"pad/{_text(image)}", partial(graph, {"x": image}, _pad))
    yield Case(f"slice/{_text(image)}", partial(graph, {"x": image}, _slice))


def _gather(table: Shape, indices: Shape, axis: int) -> onnx.ModelProto:
    b = Builder()
    b.weight("table", "linear", table, 1)
    value = b.node("Gather", "gather", "table", "indices", axis=axis)
    metadata = {"vocabulary": str(table[axis])}
    return b.model("gather", 17, {"indices": (I64, indices)}, {"y": (value, None)}, metadata)


def _gather_rows(table: Shape, b: Builder) -> str:
    rng = np.random.default_rng(0)
    return b.node("Gather", "gather", "x", b.initializer("indices", rng.integers(0, table[1], 40)), axis=1)


def gather_cases() -> Iterator[Case]:
    for table, indices in (((30522, 768), (1, 128)), ((30522, 768), (8, 512)), ((100000, 64), (26, 256))):
        rows = math.prod(indices)
        moved = rows * (2 * 4 * table[1] + 8)
        build = partial(_gather, table, indices, 0)
        yield Case(f"gather/rows-{_text(table)}-{_text(indices)}", build, bytes=moved)
    shape = (1, 64, 56, 56)
    moved = 2 * 4 * 40 * 56 * 56
    yield Case(f"gather/axis1-{_text(shape)}", partial(graph, {"x": shape}, partial(_gather_rows, shape)), bytes=moved)


def memory_cases() -> Iterator[Case]:
    """All of this file, in the order of the tables."""
    yield from pooling_cases()
    yield from norm_cases()
    yield from elementwise_cases()
    yield from reduction_cases()
    yield from transpose_cases()
    yield from movement_cases()
    yield from gather_cases()
