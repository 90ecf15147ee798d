"""Every distinct convolution of four networks, and the kinds that those lack: grouped, dilated, 1-D, transposed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

import onnx
from onnx import helper

from benchmarks.builder import F32, Builder
from benchmarks.cases import Case, Inputs, value_shapes
from benchmarks.models import sample_inputs
from benchmarks.networks.mobile import efficientnet_b0, mobilenet_v2
from benchmarks.networks.resnet import resnet50
from benchmarks.networks.unet import unet


@dataclass(frozen=True)
class Convolution:
    """A convolution of `x` (`[batch, channels, space...]`) with `weight` (ONNX's layout) and a bias."""

    x: tuple[int, ...]
    weight: tuple[int, ...]
    stride: int = 1
    pad: int = 0
    dilation: int = 1
    groups: int = 1
    transposed: bool = False

    @property
    def name(self) -> str:
        """Such as `3x3-64-128-28x28-s2`: taps, channels in and out, size of the input, and what is unusual."""
        channels = (self.x[1], self.weight[1] * self.groups if self.transposed else self.weight[0])
        parts = ["x".join(map(str, self.weight[2:])), *map(str, channels), "x".join(map(str, self.x[2:]))]
        depthwise = self.groups > 1 and self.groups == self.x[1]
        for mark, value in (("s", self.stride), ("d", self.dilation), ("g", 1 if depthwise else self.groups)):
            parts += [f"{mark}{value}"] if value != 1 else []
        parts += ["depthwise"] if depthwise else []
        return "-".join(parts) + (f"-n{self.x[0]}" if self.x[0] != 1 else "")


def convolution(c: Convolution) -> onnx.ModelProto:
    """A graph of the one node."""
    rank = len(c.x) - 2
    b = Builder()
    outputs = c.weight[1] * c.groups if c.transposed else c.weight[0]
    fan_in = c.x[1] // c.groups
    for size in c.weight[2:]:
        fan_in *= size
    weight = b.weight("weight", "linear", c.weight, fan_in)
    x = b.node(
        "ConvTranspose" if c.transposed else "Conv",
        "conv",
        "x",
        weight,
        b.weight("bias", "offset", (outputs,)),
        kernel_shape=c.weight[2:],
        strides=[c.stride] * rank,
        pads=[c.pad] * 2 * rank,
        dilations=[c.dilation] * rank,
        group=c.groups,
    )
    return b.model("convolution", 17, {"x": (F32, c.x)}, {"y": (x, None)})


def convolutions_of(model: onnx.ModelProto, sizes: Mapping[str, int]) -> dict[Convolution, int]:
    """
    The distinct convolutions of a network with square strides, pads and dilations, in the order of its nodes, and how
    many there are of each.
    """
    inputs: Inputs = sample_inputs(model, sizes)
    shapes = value_shapes(model, inputs)
    found: dict[Convolution, int] = {}
    for node in model.graph.node:
        if node.op_type not in ("Conv", "ConvTranspose"):
            continue
        given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        stride, pad, dilation = (
            given.get(name, [plain])[0] for name, plain in (("strides", 1), ("pads", 0), ("dilations", 1))
        )
        x, weight = (tuple(shapes[operand]) for operand in node.input[:2])
        transposed = node.op_type == "ConvTranspose"
        one = Convolution(x, weight, stride, pad, dilation, given.get("group", 1), transposed)
        found[one] = found.get(one, 0) + 1
    return found


NETWORKS = {
    "resnet50": (resnet50, {}),
    "mobilenet_v2": (mobilenet_v2, {"N": 1}),
    "efficientnet_b0": (efficientnet_b0, {"N": 1}),
    "unet": (unet, {}),
}

OTHERS = (
    # ResNeXt-50's groups.
    Convolution((1, 128, 56, 56), (128, 4, 3, 3), pad=1, groups=32),
    Convolution((1, 512, 14, 14), (512, 16, 3, 3), pad=1, groups=32),
    # DeepLab's dilations.
    Convolution((1, 256, 28, 28), (256, 256, 3, 3), pad=2, dilation=2),
    Convolution((1, 256, 28, 28), (256, 256, 3, 3), pad=12, dilation=12),
    # Audio: WaveNet's layers, and the strided first layers of wav2vec 2.0.
    Convolution((1, 64, 16000), (128, 64, 3), pad=4, dilation=4),
    Convolution((1, 1, 16000), (512, 1, 10), stride=5),
    Convolution((1, 512, 3199), (512, 512, 3), stride=2),
    # DCGAN's generator.
    Convolution((1, 256, 16, 16), (256, 128, 4, 4), stride=2, pad=1, transposed=True),
    Convolution((1, 128, 32, 32), (128, 64, 4, 4), stride=2, pad=1, transposed=True),
    # ViT's patches, and a batch.
    Convolution((1, 3, 224, 224), (768, 3, 16, 16), stride=16),
    Convolution((8, 64, 56, 56), (64, 64, 3, 3), pad=1),
)


@cache
def _of_networks() -> dict[str, dict[Convolution, int]]:
    return {network: convolutions_of(build(), sizes) for network, (build, sizes) in NETWORKS.items()}


@cache
def _all() -> dict[str, Convolution]:
    """By name; one that several networks have bears the first one's name."""
    found: dict[Convolution, str] = {}
    for network, convolutions in _of_networks().items():
        for c in convolutions:
            found.setdefault(c, f"conv/{network}/{'transposed-' if c.transposed else ''}{c.name}")
    for c in OTHERS:
        found.setdefault(c, f"conv/other/{'transposed-' if c.transposed else ''}{c.name}")
    return {name: c for c, name in found.items()}


def convolution_cases() -> Iterator[Case]:
    for name, c in _all().items():
        yield Case(name, partial(convolution, c))


def convolution_counts() -> dict[str, dict[str, int]]:
    """By network, the cases of its convolutions, and how many it has of each."""
    names = {c: name for name, c in _all().items()}
    return {
        network: {names[c]: count for c, count in convolutions.items()}
        for network, convolutions in _of_networks().items()
    }
