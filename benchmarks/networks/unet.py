"""A U-Net (Ronneberger et al. 2015) for segmentation, with padded convolutions."""

import onnx

from benchmarks.builder import F32
from benchmarks.networks.layers import ConvBuilder


def unet(
    batch: int | str = 1, size: int = 256, width: int = 32, depth: int = 4, classes: int = 2, seed: int = 0
) -> onnx.ModelProto:
    """
    Input `input` `[batch, 3, size, size]`, result `output` `[batch, classes, size, size]`; `2^depth` divides `size`.
    """
    b = ConvBuilder(seed)

    def pair(path: str, x: str, inputs: int, outputs: int) -> str:
        x = b.relu(f"{path}/relu", b.conv(f"{path}/conv1", x, inputs, outputs, 3))
        return b.relu(f"{path}/relu_1", b.conv(f"{path}/conv2", x, outputs, outputs, 3))

    x, channels, kept = pair("/down0", "input", 3, width), width, list[str]()
    for level in range(1, depth + 1):
        kept.append(x)
        x = b.node("MaxPool", f"/pool{level}/MaxPool", x, ceil_mode=0, kernel_shape=[2, 2], strides=[2, 2])
        x, channels = pair(f"/down{level}", x, channels, 2 * channels), 2 * channels
    for level in reversed(range(depth)):
        path, half = f"/up{level}", channels // 2
        weight = b.weight(f"{path}.weight", "linear", (channels, half, 2, 2), channels, 1.4)
        bias = b.weight(f"{path}.bias", "offset", (half,))
        x = b.node(
            "ConvTranspose",
            f"{path}/ConvTranspose",
            x,
            weight,
            bias,
            dilations=[1, 1],
            group=1,
            kernel_shape=[2, 2],
            pads=[0, 0, 0, 0],
            strides=[2, 2],
        )
        x = b.node("Concat", f"{path}/Concat", kept[level], x, axis=1)
        x, channels = pair(f"{path}/conv", x, channels, half), half
    x = b.conv("/head", x, channels, classes, 1, role="linear")
    shape = (batch, classes, size, size)
    return b.model("main_graph", 17, {"input": (F32, (batch, 3, size, size))}, {"output": (x, shape)})
