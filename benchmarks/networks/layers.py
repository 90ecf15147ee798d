"""Layers that several convolutional networks share; batch norms are folded into the convolutions, as in an export."""

import numpy as np

from benchmarks.builder import Builder


class ConvBuilder(Builder):
    """A builder of networks over images (or sequences) in `[batch, channels, space...]`."""

    def conv(
        self,
        path: str,
        x: str,
        inputs: int,
        outputs: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        *,
        role: str = "kernel",
        dilation: int = 1,
        gain: float = 1.0,
    ) -> str:
        """A square 2-D convolution with bias that keeps the size for stride 1; `role` as in `draw`."""
        fan_in = inputs // groups * kernel * kernel
        weight = self.weight(f"{path}.weight", role, (outputs, inputs // groups, kernel, kernel), fan_in, gain)
        bias = self.weight(f"{path}.bias", "offset", (outputs,))
        return self.node(
            "Conv",
            f"{path}/Conv",
            x,
            weight,
            bias,
            dilations=[dilation, dilation],
            group=groups,
            kernel_shape=[kernel, kernel],
            pads=[kernel // 2 * dilation] * 4,
            strides=[stride, stride],
        )

    def relu(self, path: str, x: str) -> str:
        return self.node("Relu", f"{path}/Relu", x)

    def relu6(self, path: str, x: str) -> str:
        low, high = (self.constant(f"{path}/Constant{i}", v, np.float32) for i, v in (("", 0.0), ("_1", 6.0)))
        return self.node("Clip", f"{path}/Clip", x, low, high)

    def silu(self, path: str, x: str) -> str:
        return self.node("Mul", f"{path}/Mul", x, self.node("Sigmoid", f"{path}/Sigmoid", x))

    def hard_swish(self, path: str, x: str) -> str:
        return self.node("HardSwish", f"{path}/HardSwish", x)

    def linear(self, path: str, x: str, inputs: int, outputs: int, gain: float = 1.0) -> str:
        weight = self.weight(f"{path}.weight", "linear", (outputs, inputs), inputs, gain)
        bias = self.weight(f"{path}.bias", "offset", (outputs,))
        return self.node("Gemm", f"{path}/Gemm", x, weight, bias, alpha=1.0, beta=1.0, transB=1)

    def pooled(self, x: str) -> str:
        """`[batch, channels]`: the mean over space."""
        return self.node("Flatten", "/Flatten", self.node("GlobalAveragePool", "/GlobalAveragePool", x), axis=1)
