"""Products of quantised integers, as dynamic quantisation and QuantizeLinear/DequantizeLinear spell them."""

from functools import partial

import numpy as np
import onnx

from benchmarks.builder import F32, Builder
from benchmarks.cases import Case

WEIGHT_LIMIT = 64
"""Largest weight: engines that add products up in 16 bits are exact up to it."""

SHAPES = ((1, 256, 1024), (2, 768, 768), (32, 384, 1536), (32, 1536, 384), (128, 768, 3072), (512, 512, 512))
"""`m, k, n` of `[m, k] @ [k, n]`."""

CONVOLUTIONS = ((64, 64, 1, 56), (64, 64, 3, 56), (128, 128, 3, 28), (512, 512, 3, 7), (256, 1024, 1, 14))
"""Channels in, channels out, taps per axis, size of the image."""

OTHER_CONVOLUTIONS = (
    (3, 64, 7, 224, 2, 1),
    (3, 32, 3, 224, 2, 1),
    (128, 128, 3, 56, 2, 1),
    (256, 512, 1, 56, 2, 1),
    (96, 96, 3, 56, 1, 96),
    (144, 144, 3, 56, 2, 144),
    (384, 384, 3, 14, 1, 384),
    (128, 128, 3, 28, 1, 4),
)
"""The same, with strides, and the number of groups."""


def integer_weight(build: Builder, name: str, shape: tuple[int, ...]) -> str:
    """Signed bytes."""
    return build.initializer(name, build.rng.integers(-WEIGHT_LIMIT, WEIGHT_LIMIT + 1, shape).astype(np.int8))


def dynamic_matmul(build: Builder, x: str, weight: str, name: str, scale: float) -> str:
    """`x` quantised by its range, times a weight of bytes: what quantisers make of a `MatMul`."""
    q, q_scale, zero = build.node_of("DynamicQuantizeLinear", f"{name}_quantize", 3, x)
    total = build.node("MatMulInteger", f"{name}_integer", q, weight, zero)
    floats = build.node("Cast", f"{name}_cast", total, to=F32)
    factor = build.node("Mul", f"{name}_scale", q_scale, build.constant(f"{name}_weight_scale", scale, np.float32))
    return build.node("Mul", name, floats, factor)


def quantised(build: Builder, x: str, name: str, scale: float, zero: int) -> str:
    """`x` rounded to a byte and back, as a pair of nodes."""
    how = [build.constant(f"{name}_s", scale, np.float32), build.constant(f"{name}_z", zero, np.uint8)]
    return build.node("DequantizeLinear", f"{name}_d", build.node("QuantizeLinear", f"{name}_q", x, *how), *how)


def quantised_conv(
    build: Builder, x: str, name: str, channels: int, outputs: int, taps: int, stride: int = 1, group: int = 1
) -> str:
    """A convolution with weights of bytes, one scale per result channel, and its rectified result in bytes again."""
    weight = integer_weight(build, f"{name}_w", (outputs, channels // group, taps, taps))
    gain = 1.4 / (WEIGHT_LIMIT * np.sqrt(channels // group * taps * taps))
    scale = build.initializer(f"{name}_ws", build.rng.uniform(gain, 2 * gain, outputs).astype(np.float32))
    zero = build.initializer(f"{name}_wz", np.zeros(outputs, np.int8))
    floats = build.node("DequantizeLinear", f"{name}_wd", weight, scale, zero, axis=0)
    bias = build.weight(f"{name}_b", "linear", (outputs,), outputs)
    windows = {"pads": [taps // 2] * 4, "strides": [stride] * 2}
    result = build.node("Conv", name, x, floats, bias, **windows, group=group)
    return quantised(build, build.node("Relu", f"{name}_relu", result), f"{name}_out", 0.03, 0)


def matmul(m: int, k: int, n: int) -> onnx.ModelProto:
    build = Builder()
    result = dynamic_matmul(build, "a", integer_weight(build, "b", (k, n)), "matmul", 0.01)
    return build.model("matmul", 17, {"a": (F32, (m, k))}, {"c": (result, (m, n))})


def convolution(channels: int, outputs: int, taps: int, size: int, stride: int = 1, group: int = 1) -> onnx.ModelProto:
    build = Builder()
    x = quantised(build, "x", "x", 0.03, 128)
    result = quantised_conv(build, x, "conv", channels, outputs, taps, stride, group)
    shape = (1, outputs, -(-size // stride), -(-size // stride))
    return build.model("conv", 17, {"x": (F32, (1, channels, size, size))}, {"y": (result, shape)})


def integer_cases() -> list[Case]:
    cases = [Case(f"int8/matmul/{'x'.join(map(str, shape))}", partial(matmul, *shape)) for shape in SHAPES]
    for shape in CONVOLUTIONS:
        cases.append(Case(f"int8/conv/{'x'.join(map(str, shape))}", partial(convolution, *shape), tolerance=1e-2))
    for *shape, stride, group in OTHER_CONVOLUTIONS:
        name = f"int8/conv/{'x'.join(map(str, shape))}{f'-s{stride}' * (stride > 1)}{f'-g{group}' * (group > 1)}"
        cases.append(Case(name, partial(convolution, *shape, stride, group), tolerance=1e-2))
    return cases
