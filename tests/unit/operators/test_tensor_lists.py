"""Sequences and optionals: lists of the importer, of which no run has one."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import aicc
from aicc import onnx_backend
from aicc.frontends.errors import ModelError
from aicc.runtime.errors import InputError
from tests.unit.operators.helper import check, model

F32, I64 = np.float32, np.int64
A, B, C = (np.arange(size, dtype=F32) + 10 * size for size in (2, 3, 4))


def run(nodes: list[onnx.NodeProto], outputs: list[str], weights: dict[str, Any] | None = None, **inputs: Any) -> list:
    """The outputs of the compiled model, which must be those of the numpy meaning."""
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    constants = {name: np.asarray(value) for name, value in (weights or {}).items()}
    # Sizes are open but for lists of numbers.
    types = {
        name: (array.dtype, [size if array.dtype == I64 else f"{name}{i}" for i, size in enumerate(array.shape)])
        for name, array in arrays.items()
    }
    proto = model(nodes, types, outputs, 24, constants)
    found = list(aicc.compile(proto, threads=1).run(arrays).values())
    check(proto, arrays, found, levels=[0])
    return found


def same(found: list[np.ndarray], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for array, wanted in zip(found, expected, strict=True):
        assert array.dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(array, wanted)


CONSTRUCT = make_node("SequenceConstruct", ["a", "b"], ["s"])


def test_making_and_reading():
    nodes = [
        CONSTRUCT,
        make_node("SequenceInsert", ["s", "c"], ["last"]),
        make_node("SequenceInsert", ["s", "c", "zero"], ["first"]),
        make_node("SequenceInsert", ["s", "c", "minus"], ["middle"]),
        make_node("SequenceErase", ["first"], ["short"]),
        make_node("SequenceErase", ["last", "zero"], ["end"]),
        make_node("SequenceLength", ["last"], ["n"]),
        make_node("SequenceAt", ["first", "zero"], ["x"]),
        make_node("SequenceAt", ["middle", "minus"], ["y"]),
        make_node("SequenceEmpty", [], ["none"]),
        make_node("SequenceLength", ["none"], ["m"]),
    ]
    found = run(nodes, ["last", "middle", "short", "end", "n", "x", "y", "m"], {"zero": 0, "minus": -1}, a=A, b=B, c=C)
    same(found, [A, B, C, A, C, B, C, A, B, C, np.array(3), C, B, np.array(0)])


def test_names_of_the_tensors_of_an_output():
    proto = model([CONSTRUCT], {"a": (F32, [2]), "b": (F32, [3])}, ["s"])
    assert list(aicc.compile(proto).run({"a": A, "b": B})) == ["s[0]", "s[1]"]


@pytest.mark.parametrize(
    ("axis", "new_axis", "wanted"),
    [(0, 0, [1, 2, 3, 4]), (0, 1, [[1, 2], [3, 4]]), (-1, 1, [[1, 3], [2, 4]]), (1, 1, [[1, 3], [2, 4]])],
)
def test_joining(axis: int, new_axis: int, wanted: Any):
    nodes = [CONSTRUCT, make_node("ConcatFromSequence", ["s"], ["y"], axis=axis, new_axis=new_axis)]
    same(run(nodes, ["y"], a=np.array([1, 2], F32), b=np.array([3, 4], F32)), [np.array(wanted, F32)])


def split(x: np.ndarray, *given: Any, **attributes: Any) -> list[np.ndarray]:
    weights = {"split": given[0]} if given else {}
    node = make_node("SplitToSequence", ["x", *weights], ["s"], **attributes)
    proto = model([node], {"x": (x.dtype, x.shape)}, ["s"], 24, {k: np.array(v) for k, v in weights.items()})
    return list(aicc.compile(proto, opt_level=0).run({"x": x}).values())


def test_splitting():
    x = np.arange(10, dtype=F32).reshape(2, 5)
    same(split(x, axis=1), np.split(x, 5, 1))
    same(split(x, axis=-1, keepdims=0), [x[:, i] for i in range(5)])
    same(split(x, 2, axis=1, keepdims=0), [x[:, :2], x[:, 2:4], x[:, 4:]])
    same(split(x, [1, 0, 4], axis=1), [x[:, :1], x[:, :0], x[:, 1:]])
    same(split(x), [x[:1], x[1:]])
    for given, text in (([1, 3], "adds up to 4, expected the size 5"), (0, "split .input 1. is 0")):
        with pytest.raises(ModelError, match=text):
            split(x, given, axis=1)
    nodes = [make_node("SplitToSequence", ["x", "n"], ["s"], axis=1), make_node("SequenceAt", ["s", "one"], ["y"])]
    same(run(nodes, ["y"], {"one": 1}, x=x, n=[2, 3]), [x[:, 2:]])
    with pytest.raises(InputError, match=r"split adds up to s_split.*, and axis 1 has size x1"):
        run(nodes, ["y"], {"one": 1}, x=x, n=[2, 2])
    with pytest.raises(ModelError, match="the number of parts of axis 1 of size x1 is only known at run time"):
        run([make_node("SplitToSequence", ["x"], ["s"], axis=1)], ["s"], x=x)


def test_position_that_data_tells():
    nodes = [
        make_node("SequenceConstruct", ["a", "a2"], ["s"]),
        make_node("Add", ["a", "a"], ["a2"]),
        make_node("SequenceAt", ["s", "i"], ["y"]),
    ]
    for place, wanted in ((0, A), (1, 2 * A), (-1, 2 * A), (-2, A)):
        same(run(nodes, ["y"], a=A, i=place), [wanted])
    for place in (2, -3):
        with pytest.raises(InputError, match="position of node 'y' is"):
            run(nodes, ["y"], a=A, i=place)
    with pytest.raises(ModelError, match=r"the tensors are of unlike shapes \(\[a0\], \[b0\]\)"):
        run([CONSTRUCT, nodes[2]], ["y"], a=A, b=B, i=0)


def graph(nodes: list[onnx.NodeProto], inputs: list[str], outputs: list[str]) -> onnx.GraphProto:
    """A body; nothing is said of its types."""
    infos = [[helper.make_value_info(name, onnx.TypeProto()) for name in names] for names in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *infos)


def test_mapping():
    body = graph([make_node("Add", ["p", "q"], ["r"]), make_node("Shape", ["p"], ["n"])], ["p", "q"], ["r", "n"])
    nodes = [CONSTRUCT, make_node("SequenceMap", ["s", "t"], ["y", "z"], body=body)]
    same(run(nodes, ["y", "z"], a=A, b=B, t=F32(5)), [A + 5, B + 5, np.array([2]), np.array([3])])
    same(run([CONSTRUCT, make_node("SequenceMap", ["s", "s"], ["y", "z"], body=body)], ["y"], a=A, b=B), [2 * A, 2 * B])
    other = make_node("SequenceConstruct", ["a"], ["t"])
    with pytest.raises(ModelError, match="input 1 has 1 tensors, expected 2 as input 0"):
        run([CONSTRUCT, other, make_node("SequenceMap", ["s", "t"], ["y"], body=body)], ["y"], a=A, b=B)


def test_loops_are_unrolled():
    """Each iteration sees a sequence of another length."""
    inner = [
        make_node("SequenceInsert", ["s", "x"], ["next"]),
        make_node("Add", ["x", "x"], ["twice"]),
        make_node("SequenceLength", ["s"], ["n"]),
        make_node("Identity", ["going"], ["go"]),
    ]
    body = graph(inner, ["i", "going", "s", "x"], ["go", "next", "twice", "n"])
    nodes = [
        make_node("SequenceEmpty", [], ["none"]),
        make_node("Loop", ["k", "", "none", "a"], ["s", "x", "ns"], body=body),
    ]
    same(run(nodes, ["s", "x", "ns"], {"k": 3}, a=A), [A, 2 * A, 4 * A, 8 * A, np.array([0, 1, 2])])
    with pytest.raises(ModelError, match="the number of its iterations is only known at run time"):
        run(nodes, ["s"], a=A, k=3)
    with pytest.raises(ModelError, match="through 5000 iterations, expected at most 1024"):
        run(nodes, ["s"], {"k": 5000}, a=A)


def test_branches_give_sequences():
    def branch(*names: str) -> onnx.GraphProto:
        return graph([make_node("SequenceConstruct", list(names), ["r"])], [], ["r"])

    nodes = [make_node("If", ["c"], ["y"], then_branch=branch("a", "b"), else_branch=branch("b", "a"))]
    same(run(nodes, ["y"], a=A, b=B, c=True), [A, B])
    same(run(nodes, ["y"], a=A, b=B, c=False), [B, A])
    nodes = [make_node("If", ["c"], ["y"], then_branch=branch("a", "b"), else_branch=branch("a"))]
    same(run(nodes, ["y"], {"c": False}, a=A, b=B), [A])
    with pytest.raises(ModelError, match="give a sequence of 2 tensors and a sequence of 1 tensors, expected the same"):
        run(nodes, ["y"], a=A, b=B, c=True)


def test_optionals():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2]))
    nodes = [
        make_node("Optional", ["a"], ["some"]),
        make_node("Optional", [], ["none"], type=kind),
        make_node("OptionalGetElement", ["some"], ["y"]),
        *(make_node("OptionalHasElement", [name], [f"has_{name}"]) for name in ("some", "none", "a")),
        make_node("OptionalHasElement", [], ["has_"]),
    ]
    found = run(nodes, ["y", "has_some", "has_none", "has_a", "has_"], a=A)
    same(found, [A, np.array(True), np.array(False), np.array(True), np.array(False)])
    with pytest.raises(ModelError, match="the optional has no element"):
        run([nodes[1], make_node("OptionalGetElement", ["none"], ["y"])], ["y"])


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        (
            [CONSTRUCT, make_node("Relu", ["s"], ["y"])],
            r"input 0 \('X'\) is a sequence of 2 tensors, expected a tensor",
        ),
        ([make_node("SequenceLength", ["a"], ["y"])], "is a tensor, expected a sequence"),
        ([CONSTRUCT, make_node("SequenceAt", ["s", "two"], ["y"])], "position 2 is out of range for 2 tensors"),
        ([CONSTRUCT, make_node("SequenceInsert", ["s", "a", "i"], ["y"])], "is computed at run time"),
        (
            [make_node("SequenceEmpty", [], ["s"]), make_node("SequenceErase", ["s"], ["y"])],
            "the sequence has no tensors",
        ),
    ],
)
def test_diagnostics(nodes: list[onnx.NodeProto], text: str):
    with pytest.raises(ModelError, match=text):
        run(nodes, ["y"], {"two": 2}, a=A, b=B, i=1)


def with_list_input(
    nodes: list[onnx.NodeProto], kinds: dict[str, onnx.TypeProto], outputs: list[str]
) -> onnx.ModelProto:
    infos = [helper.make_value_info(name, kind) for name, kind in kinds.items()]
    sequence = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    results = [helper.make_value_info(name, sequence) for name in outputs]
    return helper.make_model(helper.make_graph(nodes, "g", infos, results), opset_imports=[helper.make_opsetid("", 24)])


def test_backend_takes_sequences():
    """The number of tensors is part of what is compiled."""
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N"])
    kinds = {"s": helper.make_sequence_type_proto(tensor), "a": tensor}
    proto = with_list_input([make_node("SequenceInsert", ["s", "a"], ["y"])], kinds, ["y"])
    prepared = onnx_backend.prepare(proto)
    for items in ([B, C], [], [A, A, A], [B, C]):
        (found,) = prepared.run([items, A])
        same(found, [*items, A])
    with pytest.raises(InputError, match="got 1 array for 2 inputs: 's', 'a'"):
        prepared.run([[A]])
    with pytest.raises(InputError, match="missing input 'a'"):
        prepared.run({"s": [A]})
    with pytest.raises(ModelError, match="input 's' has a sequence, expected a tensor"):
        aicc.compile(proto)


def test_backend_takes_optionals():
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N"])
    kinds = {"o": helper.make_optional_type_proto(tensor)}
    proto = with_list_input([make_node("OptionalHasElement", ["o"], ["y"])], kinds, [])
    proto.graph.output.append(helper.make_tensor_value_info("y", TensorProto.BOOL, []))
    prepared = onnx_backend.prepare(proto)
    assert [bool(prepared.run([value])[0]) for value in (A, None, B)] == [True, False, True]
