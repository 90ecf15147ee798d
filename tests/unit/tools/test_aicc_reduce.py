"""`aicc reduce`: faults that are planted in one operator, found again in the smallest model that has it."""

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from aicc.dialects.graph import ops
from aicc.lowering.graph_to_tensor_ops import ConvertGraphToTensorOpsPass
from aicc.tools.aicc_cli import main
from aicc.tools.reduce import Reducer, chunks
from tests.unit.frontends.onnx.helper import model

NODES = [
    helper.make_node("Add", ["x", "w"], ["a"], "add"),
    helper.make_node("MatMul", ["a", "m"], ["b"], "matmul"),
    helper.make_node("Tanh", ["b"], ["c"], "tanh"),
    helper.make_node("Softmax", ["c"], ["d"], "softmax", axis=0),
    helper.make_node("Transpose", ["d"], ["e"], "transpose", perm=[1, 0]),
    helper.make_node("Relu", ["e"], ["y"], "relu"),
    helper.make_node("Neg", ["a"], ["z"], "neg"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal(6).astype(np.float32), "m": rng.standard_normal((6, 5)).astype(np.float32)}
    file = tmp_path / "model.onnx"
    onnx.save(model(NODES, {"x": (np.float32, ["N", 6])}, ["y", "z"], weights=weights), file)
    return file


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def reduced(path: Path, *options: str) -> Path:
    output = path.with_name(f"smaller{path.suffix}")
    assert main(["reduce", str(path), "-o", str(output), "--size", "N=3", *options]) == 0
    return output


def test_a_difference(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    meaning = ops.TanhOp.evaluate
    off = np.float32(0.9)
    monkeypatch.setattr(ops.TanhOp, "evaluate", lambda self, x, sizes: [y * off for y in meaning(self, x, sizes)])
    output = reduced(path, "-O", "0")
    assert operators(output) == ["Tanh"]
    (value,) = onnx.load(output).graph.input
    assert [dim.dim_value for dim in value.type.tensor_type.shape.dim] == [1, 1]
    assert "difference: output 0 differs" in capsys.readouterr().out


@pytest.mark.parametrize("how", ["abort", "assert"])
def test_a_crash(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], how: str):
    apply = ConvertGraphToTensorOpsPass.apply

    def planted(self, ctx, module):
        if any(op.name == "graph.softmax" for op in module.walk()):
            if how == "abort":
                os.abort()
            raise AssertionError("planted")
        apply(self, ctx, module)

    monkeypatch.setattr(ConvertGraphToTensorOpsPass, "apply", planted)
    assert operators(reduced(path, "--check", "crash")) == ["Softmax"]
    assert ("SIGABRT" if how == "abort" else "AssertionError: planted") in capsys.readouterr().out


def test_a_diagnostic(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    branch = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("NoSuch", ["n"], ["t"])],
        "b",
        [],
        [helper.make_empty_tensor_value_info("t")],
    )
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["r"], keepdims=0),
        helper.make_node("Cast", ["r"], ["c"], to=9),
        helper.make_node("If", ["c"], ["i"], then_branch=branch, else_branch=branch),
        helper.make_node("Exp", ["i"], ["y"]),
    ]
    path = tmp_path / "model.onnx"
    onnx.save(model(nodes, {"x": (np.float32, [2, 3])}, ["y"]), path)
    assert operators(reduced(path, "--check", "diagnostic")) == ["NoSuch"]
    assert (
        "diagnostic: the model: node 't' (NoSuch, opset 17): the operator is not supported" in capsys.readouterr().out
    )


def test_a_command_decides(path: Path):
    assert operators(reduced(path, "--command", "grep -q Transpose {}")) == ["Transpose"]


def test_nothing_to_keep(path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["reduce", str(path), "--command", "grep -q NoSuchThing"]) == 1
    assert "the command does not end with status 0 for the whole model" in capsys.readouterr().err
    assert main(["reduce", str(path), "-O", "0"]) == 1
    assert "does not show what is to be kept: nothing is wrong with it" in capsys.readouterr().err


IR = """
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.neg %x : tensor<2xf32> -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func @main(%x: tensor<4x6xf32> {aicc.name = "x"}, %y: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %0 = graph.add %x, %y : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x6xf32>
  %1 = graph.tanh %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  %2 = graph.transpose %1 {permutation = [1, 0]} : tensor<4x6xf32> -> tensor<6x4xf32>
  %3 = graph.exp %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return %3, %2 : tensor<4x6xf32>, tensor<6x4xf32>
}
"""


def test_ir_with_a_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    apply = ConvertGraphToTensorOpsPass.apply

    def planted(self, ctx, module):
        assert not any(op.name == "graph.transpose" for op in module.walk()), "planted"
        apply(self, ctx, module)

    monkeypatch.setattr(ConvertGraphToTensorOpsPass, "apply", planted)
    path = tmp_path / "model.mlir"
    path.write_text(IR)
    text = reduced(path, "--pipeline", "graph-infer-shapes,convert-graph-to-tensor-ops").read_text()
    assert "graph.transpose" in text and "graph.add" not in text and "graph.exp" not in text and "@other" not in text


def test_pipelines_are_for_ir(path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["reduce", str(path), "--pipeline", "cse"]) == 2
    assert "passes run on textual IR, expected a .mlir file" in capsys.readouterr().err


def test_reducer_finds_the_elements_that_matter():
    def fewer(items: tuple[int, ...]):
        for part in chunks(len(items)):
            yield items[: part.start] + items[part.stop :]

    reducer = Reducer(lambda items: {3, 17} <= set(items), [fewer], lambda items: str(items).encode(), 60)
    assert reducer.reduce(tuple(range(40))) == (3, 17)
    assert reducer.tried < 80


def test_chunks_cover_everything():
    for count in range(1, 20):
        parts = list(chunks(count))
        assert parts[0] == range(count) and all(0 <= p.start < p.stop <= count for p in parts)
        assert {range(i, i + 1) for i in range(count)} <= set(parts)
    assert list(chunks(0)) == []
