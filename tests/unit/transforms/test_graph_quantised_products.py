"""Models with QuantizeLinear and DequantizeLinear around their operators: integer products, within the stated bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import aicc

Array = np.ndarray[Any, Any]
ROUNDING = 2.0**-24


class Network:
    """An ONNX graph that is built node by node."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def constant(self, array: Array) -> str:
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def dequantized(self, q: str, scale: Array, zero: Array, axis: int = 1) -> str:
        return self.node("DequantizeLinear", q, self.constant(scale), self.constant(zero), axis=axis)

    def model(self, result: str, shape: list[object], element: int = 2) -> onnx.ModelProto:
        x = helper.make_tensor_value_info("x", element, shape)
        y = helper.make_tensor_value_info(result, 1, None)
        graph = helper.make_graph(self.nodes, "g", [x], [y], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def dequantized(q: Array, scale: Array, zero: Array) -> Array:
    return (q.astype(np.float64) - zero) * np.asarray(scale, np.float64)


def has_integer_products(model: onnx.ModelProto) -> bool:
    from aicc.frontends.onnx import import_onnx
    from aicc.lowering.context import make_context
    from aicc.transforms.graph_infer_shapes import GraphInferShapesPass
    from aicc.transforms.graph_quantised_products import GraphQuantisedProductsPass

    module, context = import_onnx(model), make_context()
    GraphInferShapesPass().apply(context, module)
    GraphQuantisedProductsPass().apply(context, module)
    return "_integer" in str(module)


@pytest.mark.parametrize(("op", "per_column"), [("MatMul", False), ("MatMul", True), ("Gemm", True)])
def test_matrix_products(op: str, per_column: bool) -> None:
    rng = np.random.default_rng(per_column)
    depth, columns = 90, 70
    x, w = rng.integers(0, 256, (13, depth)).astype(np.uint8), rng.integers(-128, 128, (depth, columns)).astype(np.int8)
    shape = (columns,) if per_column else ()
    w_scale, w_zero = rng.uniform(0.01, 0.02, shape).astype(np.float32), rng.integers(-9, 9, shape).astype(np.int8)
    net = Network()
    a = net.dequantized("x", np.float32(0.05), np.uint8(99))
    b = net.dequantized(net.constant(w.T if op == "Gemm" else w), w_scale, w_zero, 0 if op == "Gemm" else 1)
    bias = rng.normal(0, 1, columns).astype(np.float32)
    if op == "Gemm":
        result = net.node("Gemm", a, b, net.constant(bias), transB=1)
    else:
        result = net.node("Add", net.node("MatMul", a, b), net.constant(bias))
    model = net.model(result, ["N", depth])
    assert has_integer_products(model)
    left, right = dequantized(x, np.float32(0.05), np.array(99)), dequantized(w, w_scale, w_zero.astype(np.int64))
    bound = (4 * np.abs(left @ right) + 2 * np.abs(left @ right + bias)) * ROUNDING
    (found,) = aicc.compile(model, threads=1).run({"x": x}).values()
    assert (np.abs(found - (left @ right + bias)) <= bound).all()
    (plain,) = aicc.compile(model, opt_level=0, threads=1).run({"x": x}).values()
    assert (np.abs(found - plain) <= (depth + 6) * ROUNDING * (np.abs(left) @ np.abs(right) + np.abs(bias))).all()


def test_convolution_and_what_follows_it() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (2, 8, 9, 9)).astype(np.uint8)
    w, scale = rng.integers(-128, 128, (64, 8, 3, 3)).astype(np.int8), rng.uniform(0.001, 0.002, 64).astype(np.float32)
    bias = rng.normal(0, 1, 64).astype(np.float32)
    net = Network()
    image = net.dequantized("x", np.float32(0.05), np.uint8(128))
    weights = net.dequantized(net.constant(w), scale, np.zeros(64, np.int8), 0)
    y = net.node("Relu", net.node("Conv", image, weights, net.constant(bias), pads=[1, 1, 1, 1]))
    q = net.node("QuantizeLinear", y, net.constant(np.float32(0.03)), net.constant(np.uint8(0)))
    result = net.dequantized(q, np.float32(0.03), np.uint8(0))
    model = net.model(result, ["N", 8, 9, 9])
    assert has_integer_products(model)
    padded = np.pad(dequantized(x, np.float32(0.05), np.array(128)), ((0, 0), (0, 0), (1, 1), (1, 1)))
    total = np.zeros((2, 64, 9, 9))
    for i in range(3):
        for j in range(3):
            taps = dequantized(w[:, :, i, j], scale[:, None], np.array(0))
            total += np.einsum("nchw,mc->nmhw", padded[:, :, i : i + 9, j : j + 9], taps)
    wanted = np.maximum(total + bias.reshape(-1, 1, 1), 0)
    (found,) = aicc.compile(model, threads=1).run({"x": x}).values()
    steps = np.abs(found / np.float32(0.03) - np.clip(np.rint(wanted / np.float32(0.03)), 0, 255))
    assert steps.max() < 1.5
    assert (steps > 0.5).mean() < 1e-3


def test_small_weights_stay_bytes() -> None:
    net = Network()
    left = net.dequantized("x", np.float32(0.5), np.uint8(3))
    right = net.dequantized(net.constant(np.ones((20, 10), np.int8)), np.float32(0.25), np.int8(0))
    assert has_integer_products(net.model(net.node("MatMul", left, right), ["N", 20]))


def test_a_float_operand_is_left_alone() -> None:
    net = Network()
    a = net.dequantized("x", np.float32(0.05), np.uint8(99))
    result = net.node("MatMul", a, net.constant(np.ones((90, 70), np.float32)))
    assert not has_integer_products(net.model(result, ["N", 90]))


@pytest.mark.parametrize("element", [np.uint8, np.int8])
def test_pooling_between_convolutions_is_of_bytes(element: type[np.integer[Any]]) -> None:
    rng = np.random.default_rng(5)
    limits = np.iinfo(element)
    x = rng.integers(limits.min, limits.max + 1, (1, 8, 9, 9)).astype(element)
    w = rng.integers(-128, 128, (16, 8, 1, 1)).astype(np.int8)
    scale, zero = np.float32(0.05), element(3)
    net = Network()
    pooled = net.node("MaxPool", net.dequantized("x", scale, zero), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    again = net.node("QuantizeLinear", pooled, net.constant(scale), net.constant(zero))
    weights = net.dequantized(net.constant(w), np.full(16, 0.01, np.float32), np.zeros(16, np.int8), 0)
    result = net.node("Conv", net.dequantized(again, scale, zero), weights)
    model = net.model(result, [1, 8, 9, 9], element=2 if element is np.uint8 else 3)
    assert has_integer_products(model)
    wide = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=limits.min)
    taps = [wide[:, :, i : i + 9 : 2, j : j + 9 : 2] for i in range(3) for j in range(3)]
    image = dequantized(np.max(taps, axis=0), scale, np.array(zero, np.int64))
    wanted = np.einsum("nchw,mc->nmhw", image, w[:, :, 0, 0] * np.float64(np.float32(0.01)))
    for level in (0, 2):
        (found,) = aicc.compile(model, opt_level=level, threads=1).run({"x": x}).values()
        assert np.abs(found - wanted).max() <= 14 * ROUNDING * 8 * 13 * 1.28
