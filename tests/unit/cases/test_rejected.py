"""Models and arrays that must be refused, each in one clear error: where, what was found, what was expected."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import aicc
from aicc.frontends.errors import ModelError
from aicc.runtime.errors import InputError
from tests.unit.cases.case import I64, LEVELS, array, node
from tests.unit.frontends.onnx.helper import Shape, model

X: dict[str, tuple[type, Shape]] = {"x": (np.float32, [1])}


def with_weight(tensor: TensorProto, op: str = "Add") -> onnx.ModelProto:
    made = model([node(op, "x w")], {"x": (np.float32, [4])}, ["y"])
    made.graph.initializer.append(tensor)
    return made


def outside(location: str) -> Callable[[], onnx.ModelProto]:
    tensor = TensorProto(name="w", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return lambda: with_weight(tensor)


def reshaped(wanted: Sequence[int], shape: Sequence[int], **attributes: int) -> Callable[[], onnx.ModelProto]:
    inputs = {"x": (np.float32, list(shape))}
    return lambda: model([node("Reshape", "x s", **attributes)], inputs, ["y"], 14, {"s": array(wanted, I64)})


def nodes(*made: onnx.NodeProto, **weights: np.ndarray) -> Callable[[], onnx.ModelProto]:
    return lambda: model(made, X, ["y"], weights=weights)


def unknown() -> onnx.ModelProto:
    made = [
        node("Frobnicate", "x", "a", domain="ai.unknown", name="first"),
        node("Relu", "a", "b"),
        node("Zorp", "b", "c", domain="ai.unknown", name="second"),
        node("Frobnicate", "c", domain="ai.unknown", name="third"),
    ]
    return model(made, X, ["y"], domains={"ai.unknown": 1})


REJECTED = {
    "a cycle of two": (nodes(node("Add", "x y", "a"), node("Relu", "a")), ["cycle", "'a'", "'y'"]),
    "a cycle of one": (nodes(node("Add", "x y")), ["cycle", "'y'"]),
    "a cycle beside the result": (nodes(node("Relu", "x"), node("Relu", "b", "a"), node("Relu", "a", "b")), ["cycle"]),
    "a name of nothing": (nodes(node("Add", "x nowhere")), ["'nowhere'", "node 'y' (Add"]),
    "an output of nothing": (lambda: model([node("Relu", "x", "a")], X, ["y"]), ["'y'"]),
    "one result of two nodes": (nodes(node("Relu", "x"), node("Abs", "x")), ["'y'"]),
    "no operand": (nodes(node("Relu", "")), ["node 'y' (Relu", "input 0 ('X') is missing"]),
    "one operand of two": (nodes(node("Add", "x")), ["node 'y' (Add", "input 1 ('B') is missing"]),
    "an empty operand": (nodes(node("MatMul", "- x")), ["node 'y' (MatMul", "input 0 ('A') is missing"]),
    "operands too many": (nodes(node("Relu", "x x")), ["node 'y' (Relu", "2 inputs, expected at most 1"]),
    "an absolute path": (outside("/etc/hostname"), ["'w'", "'/etc/hostname'", "folder"]),
    "a path upwards": (outside("../weights"), ["'w'", "'../weights'", "folder"]),
    "a path there and back": (outside("a/../../weights"), ["'w'", "folder"]),
    "a link": (outside("link"), ["'w'", "'link'", "folder"]),
    "a file that is not there": (outside("nothing"), ["'w'", "'nothing'"]),
    "0 and -1": (reshaped([0, -1], [0, 3], allowzero=1), ["node 'y' (Reshape", "[0, -1]", "-1 cannot be inferred"]),
    "two of -1": (reshaped([-1, -1], [2, 3]), ["node 'y' (Reshape", "[-1, -1]"]),
    "a size of -2": (reshaped([-2, 3], [2, 3]), ["node 'y' (Reshape", "-2"]),
    "sizes that do not divide": (reshaped([4, -1], [2, 3]), ["node 'y' (Reshape", "[2, 3]", "4"]),
    "another number of elements": (reshaped([2, 2], [2, 3]), ["node 'y' (Reshape", "6", "4"]),
    "0 past the rank": (reshaped([2, 3, 0], [2, 3]), ["node 'y' (Reshape", "place 2", "rank 2"]),
    "7 bytes of 16": (
        lambda: with_weight(TensorProto(name="w", data_type=1, dims=[4], raw_data=bytes(7))),
        ["'w'", "7 bytes", "16"],
    ),
    "17 bytes of 16": (
        lambda: with_weight(TensorProto(name="w", data_type=1, dims=[4], raw_data=bytes(17))),
        ["'w'", "17 bytes", "16"],
    ),
    "3 elements of 4": (
        lambda: with_weight(TensorProto(name="w", data_type=1, dims=[4], float_data=[1, 2, 3])),
        ["'w'", "3 elements", "4"],
    ),
    "a negative size": (lambda: with_weight(TensorProto(name="w", data_type=1, dims=[-4])), ["'w'", "-4"]),
    "a size past all memory": (
        lambda: with_weight(TensorProto(name="w", data_type=1, dims=[1 << 40, 1 << 40], raw_data=bytes(8))),
        ["'w'", "8 bytes"],
    ),
    "a weight of another type": (
        lambda: with_weight(TensorProto(name="w", data_type=TensorProto.INT32, dims=[4], raw_data=bytes(16))),
        ["node 'y' (Add", "f32", "i32"],
    ),
    "operators of no one": (
        unknown,
        ["'first' (ai.unknown::Frobnicate", "'second' (ai.unknown::Zorp", "'third' (ai.unknown::Frobnicate"],
    ),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", REJECTED)
def test_models_are_refused(name: str, level: int, tmp_path: Path):
    make, words = REJECTED[name]
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "weights").write_bytes(bytes(16))
    (folder / "link").symlink_to(tmp_path / "weights")
    path = folder / "model.onnx"
    path.write_bytes(make().SerializeToString())
    with pytest.raises(ModelError) as caught:
        aicc.compile(path, opt_level=level)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert [word for word in words if word not in text] == []
    assert "internal fault" not in text and "Traceback" not in text


FEEDS = {
    "another type": ({"x": array([1, 2], np.float64)}, ["'x'", "float64", "float32"]),
    "integers": ({"x": array([1, 2], I64)}, ["'x'", "int64", "float32"]),
    "another rank": ({"x": array([[1, 2]])}, ["'x'", "[1, 2]", "[2]"]),
    "another size": ({"x": array([1, 2, 3])}, ["'x'", "[3]", "[2]"]),
    "another name": ({"z": array([1, 2])}, ["'z'", "'x'"]),
    "nothing": ({}, ["'x'"]),
    "too many": ({"x": array([1, 2]), "z": array([1, 2])}, ["'z'"]),
    "words": ({"x": np.array(["a", "b"])}, ["'x'", "float32"]),
    "objects": ({"x": np.array([None, 1], object)}, ["'x'", "float32"]),
}


@pytest.mark.parametrize("level", LEVELS)
def test_arrays_are_refused(level: int):
    compiled = aicc.compile(model([node("Relu", "x")], {"x": (np.float32, [2])}, ["y"]), opt_level=level)
    for name, (feeds, words) in FEEDS.items():
        with pytest.raises(InputError) as caught:
            compiled.run(feeds)
        text = str(caught.value)
        assert [word for word in words if word not in text] == [], f"{name}: {text}"
    assert compiled.run({"x": array([-1, 2])})["y"].tolist() == [0, 2]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_a_whole_number_divided_by_zero_is_0(dtype: type, constant: bool, level: int):
    """As the operator's meaning says; nothing dies, and other elements are right. What is left is 0 too."""
    a, b = array([7, 7, 0, 7], dtype), array([0, 2, 0, 0], dtype)
    given = {"a": (dtype, [4])} if constant else {"a": (dtype, [4]), "b": (dtype, [4])}
    made = [node("Div", "a b"), node("Mod", "a b", "m")]
    compiled = aicc.compile(model(made, given, ["y", "m"], 14, {"b": b} if constant else {}), opt_level=level)
    found = compiled.run({"a": a} if constant else {"a": a, "b": b})
    assert found["y"].tolist() == [0, 3, 0, 0]
    assert found["m"].tolist() == [0, 1, 0, 0]
