"""`aicc debug`: faults planted in the lowering of one node and in passes are found, and named."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from aicc.dialects.graph.arithmetic import AddOp, SubOp
from aicc.dialects.graph.functions import ErfOp, TanhOp
from aicc.dialects.graph.interfaces import OpBuilder
from aicc.tools.aicc_cli import main
from aicc.tools.debug_compare import difference, same_values
from aicc.transforms import memory_packing
from aicc.transforms.graph_simplify import GraphSimplifyPass
from aicc.transforms.loops_simplify import LoopsSimplifyPass
from aicc.transforms.tensor_ops_fuse import TensorOpsFusePass


def save(path: Path, nodes: list[onnx.NodeProto], weights: dict[str, np.ndarray]) -> Path:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 12])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A product, a GELU spelt out, a difference, a softmax."""
    rng = np.random.default_rng(1)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="product"),
        helper.make_node("Add", ["a", "b"], ["c"], name="bias"),
        helper.make_node("Erf", ["c"], ["d"], name="the_erf"),
        helper.make_node("Mul", ["c", "d"], ["e"], name="gate"),
        helper.make_node("MatMul", ["e", "v"], ["f"], name="second product"),
        helper.make_node("Sub", ["f", "x"], ["g"], name="difference"),
        helper.make_node("Softmax", ["g"], ["y"], name="weights", axis=-1),
    ]
    weights = {
        "w": rng.standard_normal((12, 20)).astype(np.float32),
        "b": rng.standard_normal(20).astype(np.float32),
        "v": rng.standard_normal((20, 12)).astype(np.float32),
    }
    return save(tmp_path / "model.onnx", nodes, weights)


def debugged(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> dict[str, Any]:
    assert main(["debug", *map(str, arguments), "--json", "--traceback"]) == status
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_right_model(level: str, model: Path, capsys: pytest.CaptureFixture[str]):
    found = debugged(capsys, model, level, "--size", "N=5")
    assert found["right"] and found["first_wrong"] is None and found["blame"] is None and not found["made"]
    assert sum(node["share"] for node in found["nodes"]) == pytest.approx(1)
    named = {name for node in found["nodes"] for name in node["nodes"]}
    assert named >= {"product", "bias", "the_erf", "gate", "second product", "difference", "weights"}
    assert all(node["total"]["error"] < 1e-5 for node in found["nodes"])
    assert main(["debug", str(model), level, "--size", "N=5"]) == 0
    out = capsys.readouterr().out
    assert "output y: error " in out and "right" in out and "own error" in out


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_fault_in_the_lowering_of_one_node(
    level: str, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    # The node stands in the middle of a fused kernel, and its numpy meaning is right.
    monkeypatch.setattr(ErfOp, "scalar", lambda self, b, x: b.add(x, x))
    found = debugged(capsys, model, level, "--size", "N=5", status=1)
    assert not found["right"]
    assert found["first_wrong"]["nodes"] == ["the_erf"] and found["first_wrong"]["own"]["error"] > 0.01
    assert found["blame"]["passes"] == ["convert-graph-to-tensor-ops"]
    assert main(["debug", str(model), level, "--size", "N=5"]) == 1
    out = capsys.readouterr().out
    assert "WRONG" in out and "first node past the bound: the_erf (graph.erf)" in out
    assert "pass at fault: convert-graph-to-tensor-ops" in out


def test_a_fault_in_a_pass_on_graphs(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    honest = GraphSimplifyPass.apply

    def adds(self: GraphSimplifyPass, ctx: Context, op: ModuleOp) -> None:
        honest(self, ctx, op)
        for inner in list(op.walk()):
            if isinstance(inner, SubOp):
                new = OpBuilder.before(inner).add(AddOp(*inner.operands))
                inner.results[0].replace_all_uses_with(new)
                inner.detach()
                inner.erase()

    monkeypatch.setattr(GraphSimplifyPass, "apply", adds)
    found = debugged(capsys, model, "--size", "N=5", status=1)
    assert found["blame"]["passes"] == ["graph-simplify"] and found["blame"]["nodes"] == ["difference"]
    assert found["blame"]["error"] > 0.01


def plus_for_minus(op: ModuleOp) -> None:
    for inner in list(op.walk()):
        if isinstance(inner, arith.SubfOp) and inner.parent is not None:
            new = arith.AddfOp(inner.lhs, inner.rhs)
            inner.parent.insert_op_before(new, inner)
            inner.result.replace_all_uses_with(new.result)
            inner.detach()
            inner.erase()


@pytest.mark.parametrize(
    "faulty, name", [(TensorOpsFusePass, "tensor-ops-fuse"), (LoopsSimplifyPass, "loops-simplify")]
)
def test_a_fault_in_a_pass_below(
    faulty: Any, name: str, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    honest = faulty.apply

    def adds(self: Any, ctx: Context, op: ModuleOp) -> None:
        honest(self, ctx, op)
        plus_for_minus(op)

    monkeypatch.setattr(faulty, "apply", adds)
    found = debugged(capsys, model, "--size", "N=5", status=1)
    assert found["blame"]["passes"] == [name]
    # No op by itself has a wrong meaning: the kernel is named by all its nodes, or by those with a difference in it.
    assert {"difference", "weights"} & set(found["first_wrong"]["nodes"])


def test_a_fault_below_where_a_result_is_a_transposed_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    nodes = [
        helper.make_node("Softmax", ["x"], ["a"], name="weights", axis=-1),
        helper.make_node("MatMul", ["a", "w"], ["b"], name="product"),
        helper.make_node("Softmax", ["b"], ["c"], name="again", axis=-1),
        helper.make_node("Transpose", ["c"], ["y"], name="turn"),
    ]
    weights = {"w": np.random.default_rng(0).standard_normal((12, 12)).astype(np.float32)}
    honest = memory_packing.pack
    monkeypatch.setattr(
        memory_packing, "pack", lambda blocks: replace(honest(blocks), offsets=tuple(0 for _ in blocks))
    )
    found = debugged(capsys, save(tmp_path / "model.onnx", nodes, weights), "-O0", "--size", "N=5", status=1)
    assert found["blame"]["passes"] == ["loops-plan-memory"]


def looping(path: Path) -> Path:
    """`x = tanh(x @ w)`, three times."""
    inside = [
        helper.make_node("MatMul", ["a", "w"], ["p"], name="product"),
        helper.make_node("Tanh", ["p"], ["t"], name="squash"),
        helper.make_node("Identity", ["going"], ["go on"]),
    ]
    infos = [helper.make_value_info(name, onnx.TypeProto()) for name in ("i", "going", "a", "go on", "t")]
    body = helper.make_graph(inside, "body", infos[:3], infos[3:])
    rng = np.random.default_rng(2)
    weights = {"w": rng.standard_normal((12, 12)).astype(np.float32), "n": np.array(3)}
    return save(path, [helper.make_node("Loop", ["n", "", "x"], ["y"], "loop", body=body)], weights)


def test_a_fault_in_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    path = looping(tmp_path / "model.onnx")
    assert debugged(capsys, path, "--size", "N=5")["right"]
    monkeypatch.setattr(TanhOp, "scalar", lambda self, b, x: b.add(x, x))
    found = debugged(capsys, path, "--size", "N=5", status=1)
    assert found["blame"]["passes"] == ["convert-graph-to-tensor-ops"]
    assert found["first_wrong"]["nodes"] == ["squash"] and found["first_wrong"]["ops"] == ["graph.tanh"]


def test_who_makes_nan_and_infinity(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["a"], name="square"),
        helper.make_node("Sub", ["a", "big"], ["b"], name="shift"),
        helper.make_node("Sqrt", ["b"], ["c"], name="the root"),
        helper.make_node("Add", ["c", "x"], ["d"], name="passes on"),
        helper.make_node("Relu", ["d"], ["y"], name="also"),
    ]
    path = save(tmp_path / "model.onnx", nodes, {"big": np.float32(4)})
    array = np.full((2, 12), 3, np.float32)
    array[1, 7] = 1
    np.save(tmp_path / "x.npy", array)
    command = ["debug", str(path), "--input", f"x={tmp_path / 'x.npy'}", "--check-nan"]
    assert main(command) == 1
    assert capsys.readouterr().out == "first: the root (graph.sqrt) makes NaN at [1, 7] of -3\n"
    np.save(tmp_path / "x.npy", np.full((2, 12), 1e30, np.float32))
    assert main(command) == 1
    out = capsys.readouterr().out
    assert out.startswith("first: square (graph.mul) makes infinity at [0, 0] of 1e+30, 1e+30\n")
    np.save(tmp_path / "x.npy", np.full((2, 12), 3, np.float32))
    assert main(command) == 0
    assert "no node makes a NaN or infinity" in capsys.readouterr().out


def test_who_makes_nan_in_a_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`x = sqrt(x - 1)` from 1 on: 0, then NaN."""
    inside = [
        helper.make_node("Sub", ["a", "one"], ["d"], name="less"),
        helper.make_node("Sqrt", ["d"], ["t"], name="the root"),
        helper.make_node("Identity", ["going"], ["go on"]),
    ]
    infos = [helper.make_value_info(name, onnx.TypeProto()) for name in ("i", "going", "a", "go on", "t")]
    loop = helper.make_node(
        "Loop", ["n", "", "x"], ["y"], "loop", body=helper.make_graph(inside, "b", infos[:3], infos[3:])
    )
    path = save(tmp_path / "model.onnx", [loop], {"one": np.float32(1), "n": np.array(3)})
    np.save(tmp_path / "x.npy", np.ones((1, 12), np.float32))
    assert main(["debug", str(path), "--input", f"x={tmp_path / 'x.npy'}", "--check-nan"]) == 1
    assert capsys.readouterr().out == "first: the root (graph.sqrt) makes NaN at [0, 0] of -1\n"


def test_nan_in_compiled_code_only(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(ErfOp, "scalar", lambda self, b, x: b.sqrt(b.sub(x, b.mul(x, b.const(3.0, x.type)))))
    assert main(["debug", str(model), "--size", "N=5", "--check-nan"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("first: the_erf (") and "its numpy meaning does not" in out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--bound", "0"], "--bound 0.0: expected a number above 0"),
        (["--input", "z=random"], "the model has no input 'z' (its inputs: 'x')"),
        (["--size", "K=2"], "the model has no symbol 'K' (its symbols: 'N')"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, model: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["debug", str(model), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    text = """func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
      %y = graph.tanh %x : tensor<4xf32> -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }"""
    for arguments, told in (
        (["debug", "-"], "right"),
        (["schedules", "-"], "schedule.vectorize"),
        (["compile", "-", "-o", str(tmp_path / "m.aicc")], "1 compiled"),
    ):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        assert main(arguments) == 0
        assert told in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["debug", "-"]) == 2
    assert "nothing on standard input, expected textual IR" in capsys.readouterr().err


def test_ir_without_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "low.mlir"
    path.write_text("llvm.func @f() {\n  llvm.return\n}\n")
    assert main(["debug", str(path)]) == 1
    assert "IR of the level llvm has no numpy meaning" in capsys.readouterr().err


def test_differences():
    expected = np.array([1.0, -4.0, np.inf, np.nan], np.float32)
    assert difference(expected, expected.copy()).error == 0
    found = expected.copy()
    found[0] = 1.5
    apart = difference(found, expected)
    assert (apart.error, apart.place, apart.found, apart.expected) == (0.125, (0,), 1.5, 1.0)
    assert difference(np.array([np.nan]), np.array([1.0])).error == np.inf
    assert difference(np.array([3, 5]), np.array([4, 5]), steps=1).error == 0
    assert difference(np.zeros(3), np.zeros(4)).error == np.inf
    assert difference(np.zeros((0, 2)), np.zeros((0, 2))).error == 0
    matrix = np.arange(6.0).reshape(2, 3)
    assert same_values(matrix.T, matrix, 1e-6) and not same_values(matrix.T + 1, matrix, 1e-6)
