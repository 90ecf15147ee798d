"""ResNet-18 and ResNet-50 (He et al. 2016, table 1; the stride stands at the 3x3 convolution, as in torchvision)."""

import onnx

from benchmarks.builder import F32
from benchmarks.networks.layers import ConvBuilder

WIDTHS = (64, 128, 256, 512)


def _stem(b: ConvBuilder) -> str:
    x = b.relu("/relu", b.conv("/conv1", "input", 3, 64, 7, 2))
    return b.node("MaxPool", "/maxpool/MaxPool", x, ceil_mode=0, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])


def _finish(b: ConvBuilder, x: str, channels: int, batch: int | str, size: int, classes: int) -> onnx.ModelProto:
    x = b.linear("/fc", b.pooled(x), channels, classes)
    return b.model("main_graph", 17, {"input": (F32, (batch, 3, size, size))}, {"output": (x, (batch, classes))})


def _joined(b: ConvBuilder, path: str, x: str, y: str, inputs: int, outputs: int, stride: int) -> str:
    """The end of a block: the branch `y` added to `x`, which is projected when its shape differs."""
    if stride != 1 or inputs != outputs:
        x = b.conv(f"{path}/downsample/downsample.0", x, inputs, outputs, 1, stride, role="linear")
    return b.relu(f"{path}/relu_out", b.node("Add", f"{path}/Add", y, x))


def resnet18(batch: int | str = 1, size: int = 224, classes: int = 1000, seed: int = 0) -> onnx.ModelProto:
    """ResNet-18; input `input` `[batch, 3, size, size]`, result `output` `[batch, classes]`."""
    b = ConvBuilder(seed)
    x, channels = _stem(b), 64
    for stage, width in enumerate(WIDTHS):
        for block in range(2):
            path, stride = f"/layer{stage + 1}/layer{stage + 1}.{block}", 2 if stage and not block else 1
            y = b.relu(f"{path}/relu", b.conv(f"{path}/conv1", x, channels, width, 3, stride))
            y = b.conv(f"{path}/conv2", y, width, width, 3, role="linear", gain=0.5)
            x, channels = _joined(b, path, x, y, channels, width, stride), width
    return _finish(b, x, channels, batch, size, classes)


def resnet50(batch: int | str = 1, size: int = 224, classes: int = 1000, seed: int = 0) -> onnx.ModelProto:
    """ResNet-50; input `input` `[batch, 3, size, size]`, result `output` `[batch, classes]`."""
    b = ConvBuilder(seed)
    x, channels = _stem(b), 64
    for stage, (width, blocks) in enumerate(zip(WIDTHS, (3, 4, 6, 3), strict=True)):
        for block in range(blocks):
            path, stride = f"/layer{stage + 1}/layer{stage + 1}.{block}", 2 if stage and not block else 1
            y = b.relu(f"{path}/relu", b.conv(f"{path}/conv1", x, channels, width, 1))
            y = b.relu(f"{path}/relu_1", b.conv(f"{path}/conv2", y, width, width, 3, stride))
            y = b.conv(f"{path}/conv3", y, width, 4 * width, 1, role="linear", gain=0.5)
            x, channels = _joined(b, path, x, y, channels, 4 * width, stride), 4 * width
    return _finish(b, x, channels, batch, size, classes)
