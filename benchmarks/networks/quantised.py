"""Networks in 8 bits: one with its products quantised as it runs, and one with QuantizeLinear and DequantizeLinear."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from benchmarks.builder import F32, Builder
from benchmarks.kernels.integers import quantised, quantised_conv
from benchmarks.networks.bert import encoder_transformer


def encoder_dynamic() -> onnx.ModelProto:
    """The small encoder with each product by a weight as `DynamicQuantizeLinear` and `MatMulInteger`."""
    model = encoder_transformer()
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    quantised_inputs: dict[str, list[str]] = {}
    for node in model.graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None:
            nodes.append(node)
            continue
        x, name = node.input[0], node.output[0]
        if x not in quantised_inputs:
            quantised_inputs[x] = [f"{x}_{part}" for part in ("quantized", "scale", "zero")]
            nodes.append(helper.make_node("DynamicQuantizeLinear", [x], quantised_inputs[x]))
        array = numpy_helper.to_array(weight)
        # Of seven bits, so that engines that add products up in 16 bits are exact.
        scale = float(np.abs(array).max() / 63)
        integers = numpy_helper.from_array(np.rint(array / scale).astype(np.int8), f"{weight.name}_{name}_q")
        factor = numpy_helper.from_array(np.array(scale, np.float32), f"{name}_weight_scale")
        model.graph.initializer.extend([integers, factor])
        q, q_scale, zero = quantised_inputs[x]
        nodes += [
            helper.make_node("MatMulInteger", [q, integers.name, zero], [f"{name}_integer"]),
            helper.make_node("Cast", [f"{name}_integer"], [f"{name}_float"], to=F32),
            helper.make_node("Mul", [q_scale, factor.name], [f"{name}_scale"]),
            helper.make_node("Mul", [f"{name}_float", f"{name}_scale"], [name]),
        ]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    used = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    onnx.checker.check_model(model)
    return model


def convolutions_qdq() -> onnx.ModelProto:
    """Ten 3x3 and 1x1 convolutions with pooling between, all in bytes."""
    build = Builder()
    value, channels = quantised(build, "x", "x", 0.03, 128), 16
    for stage, outputs in enumerate((64, 128, 256)):
        for layer, (out, taps) in enumerate(((outputs, 3), (outputs // 2, 1), (outputs, 3))):
            value = quantised_conv(build, value, f"conv{stage}_{layer}", channels, out, taps)
            channels = out
        value = build.node("MaxPool", f"pool{stage}", value, kernel_shape=[2, 2], strides=[2, 2])
    value = quantised_conv(build, value, "last", channels, 512, 1)
    pooled = build.node("GlobalAveragePool", "average", value)
    return build.model("convolutions", 17, {"x": (F32, (1, 16, 64, 64))}, {"y": (pooled, (1, 512, 1, 1))})
