"""`aicc.onnx_backend` speaks the ONNX backend protocol: to callers, and to the standard's own test suite."""

import unittest

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend.base import Backend
from onnx.backend.test import BackendTest

import aicc.onnx_backend as backend
from aicc.frontends.errors import ModelError
from aicc.runtime.errors import InputError

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.array([10, 20, 30], np.float32)


def model(*nodes: onnx.NodeProto, outputs: tuple[str, ...] = ("z",)) -> onnx.ModelProto:
    """Of `x` (f32, 2x3) and `y` (f32, 3)."""
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3)),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, (3,)),
    ]
    graph = helper.make_graph(list(nodes), "g", infos, [onnx.ValueInfoProto(name=name) for name in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


ADD = helper.make_node("Add", ["x", "y"], ["z"])
MUL = helper.make_node("Mul", ["x", "y"], ["1/w"])


def test_results_come_by_position_and_by_name():
    prepared = backend.prepare(model(ADD, MUL, outputs=("z", "1/w")), threads=1)
    results = prepared.run([X, Y])
    assert isinstance(results, tuple) and len(results) == 2
    np.testing.assert_array_equal(results[0], X + Y)
    np.testing.assert_array_equal(results["1/w"], X * Y)
    np.testing.assert_array_equal(prepared.run({"y": Y, "x": X})[1], X * Y)
    np.testing.assert_array_equal(backend.run_model(model(ADD), (X, Y)).z, X + Y)


def test_one_array_is_the_input_of_a_model_with_one():
    (result,) = backend.run_node(helper.make_node("Neg", ["x"], ["y"]), [X])
    np.testing.assert_array_equal(result, -X)
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3))],
        [onnx.ValueInfoProto(name="y")],
    )
    np.testing.assert_array_equal(backend.run_model(helper.make_model(graph), X)[0], -X)


def test_wrong_number_of_inputs():
    with pytest.raises(InputError, match=r"got 1 array for 2 inputs: 'x', 'y'"):
        backend.run_model(model(ADD), [X])
    with pytest.raises(InputError, match=r"got 1 array for 2 inputs: 'x', 'y'"):
        backend.run_node(ADD, [X])


def test_a_node_alone_in_an_older_operator_set():
    node = helper.make_node("Softmax", ["x"], ["y"], axis=0)
    (coerced,) = backend.run_node(node, [X], opset_version=12)
    np.testing.assert_allclose(coerced, np.exp(X) / np.exp(X).sum(), rtol=1e-5)
    (per_column,) = backend.run_node(node, [X], opset_version=13)
    np.testing.assert_allclose(per_column, np.exp(X) / np.exp(X).sum(axis=0), rtol=1e-5)


def test_an_invalid_node_is_refused():
    with pytest.raises(onnx.checker.ValidationError):
        backend.run_node(helper.make_node("Add", ["x"], ["z"]), [X])


def test_devices():
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    with pytest.raises(ValueError, match="device is 'CUDA:0', expected 'CPU'"):
        backend.prepare(model(ADD), "CUDA:0")


def test_what_is_compatible():
    unknown = model(helper.make_node("NoSuchOperator", ["x"], ["z"]))
    assert backend.is_compatible(model(ADD))
    assert not backend.is_compatible(model(ADD), "CUDA")
    assert not backend.is_compatible(unknown)
    with pytest.raises(ModelError, match="NoSuchOperator"):
        backend.prepare(unknown)


def test_it_is_a_backend():
    assert issubclass(backend.AiccBackend, Backend)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_standards_suite_runs_as_it_is():
    suite = BackendTest(backend, __name__).include(r"^test_(abs|matmul_2d|softmax_axis_0|Linear|sign_model)_cpu$")
    result = unittest.TestResult()
    suite.test_suite.run(result)
    assert [text for _, text in (*result.errors, *result.failures)] == []
    assert result.testsRun - len(result.skipped) == 5
