"""Networks of depthwise convolutions: MobileNet-v2, MobileNet-v3-large and EfficientNet-B0."""

from collections.abc import Callable

import onnx

from benchmarks.builder import F32
from benchmarks.networks.layers import ConvBuilder


def mobilenet_v2(batch: int | str = "N", size: int = 224, classes: int = 1000, seed: int = 0) -> onnx.ModelProto:
    """
    MobileNet-v2 (Sandler et al. 2018, table 2) as exported for evaluation: batch norms folded into the convolutions.

    Input `input`: `[batch, 3, size, size]` f32, result `output`: `[batch, classes]` logits.
    """
    b = ConvBuilder(seed)

    def clipped(path: str, x: str, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> str:
        return b.relu6(path, b.conv(path, x, inputs, outputs, kernel, stride, groups))

    x, channels, index = clipped("/features/features.0", "input", 3, 32, 3, 2), 32, 1
    for expansion, width, repeats, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for repeat in range(repeats):
            path, hidden = f"/features/features.{index}", channels * expansion
            stride = first_stride if repeat == 0 else 1
            y = x
            if expansion != 1:
                y = clipped(f"{path}/conv/conv.0", y, channels, hidden, 1)
            y = clipped(f"{path}/conv/conv.1", y, hidden, hidden, 3, stride, hidden)
            y = b.conv(f"{path}/conv/conv.2", y, hidden, width, 1, role="linear")
            x = b.node("Add", f"{path}/Add", x, y) if stride == 1 and channels == width else y
            channels, index = width, index + 1
    x = b.pooled(clipped(f"/features/features.{index}", x, channels, 1280, 1))
    x = b.linear("/classifier/classifier.1", x, 1280, classes)
    return b.model("main_graph", 13, {"input": (F32, (batch, 3, size, size))}, {"output": (x, (batch, classes))})


Act = Callable[[str, str], str]


def _squeeze(b: ConvBuilder, path: str, x: str, channels: int, inner: int, act: Act, gate: str) -> str:
    """Squeeze and excitation (Hu et al. 2018): `x` times one factor per image and channel."""
    s = b.node("GlobalAveragePool", f"{path}/avgpool/GlobalAveragePool", x)
    s = act(f"{path}/activation", b.conv(f"{path}/fc1", s, channels, inner, 1, role="linear"))
    s = b.conv(f"{path}/fc2", s, inner, channels, 1, role="linear")
    # `hard_sigmoid(x)` of torch is `max(0, min(1, x / 6 + 1 / 2))`.
    attributes = {"alpha": 1 / 6} if gate == "HardSigmoid" else {}
    return b.node("Mul", f"{path}/Mul", b.node(gate, f"{path}/scale/{gate}", s, **attributes), x)


def mobilenet_v3(batch: int | str = "N", size: int = 224, classes: int = 1000, seed: int = 0) -> onnx.ModelProto:
    """MobileNet-v3-large (Howard et al. 2019, table 1); inputs and results as MobileNet-v2's."""
    b = ConvBuilder(seed)
    x, channels = b.hard_swish("/features/0", b.conv("/features/0", "input", 3, 16, 3, 2)), 16
    for index, (kernel, hidden, width, squeeze, hard, stride) in enumerate(
        (
            (3, 16, 16, False, False, 1),
            (3, 64, 24, False, False, 2),
            (3, 72, 24, False, False, 1),
            (5, 72, 40, True, False, 2),
            (5, 120, 40, True, False, 1),
            (5, 120, 40, True, False, 1),
            (3, 240, 80, False, True, 2),
            (3, 200, 80, False, True, 1),
            (3, 184, 80, False, True, 1),
            (3, 184, 80, False, True, 1),
            (3, 480, 112, True, True, 1),
            (3, 672, 112, True, True, 1),
            (5, 672, 160, True, True, 2),
            (5, 960, 160, True, True, 1),
            (5, 960, 160, True, True, 1),
        ),
        1,
    ):
        path, act = f"/features/features.{index}/block", b.hard_swish if hard else b.relu
        y = x
        if hidden != channels:
            y = act(f"{path}/block.0", b.conv(f"{path}/block.0", y, channels, hidden, 1))
        y = act(f"{path}/block.1", b.conv(f"{path}/block.1", y, hidden, hidden, kernel, stride, hidden))
        if squeeze:
            inner = (hidden // 4 + 4) // 8 * 8
            y = _squeeze(b, f"{path}/block.2", y, hidden, inner, b.relu, "HardSigmoid")
        y = b.conv(f"{path}/block.3", y, hidden, width, 1, role="linear")
        x = b.node("Add", f"{path}/Add", y, x) if stride == 1 and channels == width else y
        channels = width
    x = b.pooled(b.hard_swish("/features/16", b.conv("/features/16", x, channels, 960, 1)))
    x = b.hard_swish("/classifier/1", b.linear("/classifier/0", x, 960, 1280))
    x = b.linear("/classifier/3", x, 1280, classes)
    return b.model("main_graph", 17, {"input": (F32, (batch, 3, size, size))}, {"output": (x, (batch, classes))})


def efficientnet_b0(batch: int | str = "N", size: int = 224, classes: int = 1000, seed: int = 0) -> onnx.ModelProto:
    """EfficientNet-B0 (Tan and Le 2019, table 1); inputs and results as MobileNet-v2's."""
    b = ConvBuilder(seed)
    x, channels = b.silu("/features/0", b.conv("/features/0", "input", 3, 32, 3, 2)), 32
    for stage, (expansion, width, repeats, first_stride, kernel) in enumerate(
        (
            (1, 16, 1, 1, 3),
            (6, 24, 2, 2, 3),
            (6, 40, 2, 2, 5),
            (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5),
            (6, 192, 4, 2, 5),
            (6, 320, 1, 1, 3),
        ),
        1,
    ):
        for repeat in range(repeats):
            path, hidden = f"/features/features.{stage}/{repeat}/block", channels * expansion
            stride = first_stride if repeat == 0 else 1
            y = x
            if expansion != 1:
                y = b.silu(f"{path}/block.0", b.conv(f"{path}/block.0", y, channels, hidden, 1))
            y = b.silu(f"{path}/block.1", b.conv(f"{path}/block.1", y, hidden, hidden, kernel, stride, hidden))
            y = _squeeze(b, f"{path}/block.2", y, hidden, channels // 4, b.silu, "Sigmoid")
            # The gates are near 1/2.
            y = b.conv(f"{path}/block.3", y, hidden, width, 1, role="linear", gain=1.4)
            x = b.node("Add", f"{path}/Add", y, x) if stride == 1 and channels == width else y
            channels = width
    x = b.pooled(b.silu("/features/8", b.conv("/features/8", x, channels, 1280, 1)))
    x = b.linear("/classifier/1", x, 1280, classes)
    return b.model("main_graph", 17, {"input": (F32, (batch, 3, size, size))}, {"output": (x, (batch, classes))})
