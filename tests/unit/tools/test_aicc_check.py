"""`aicc check`: everything that is not supported at once, sizes, memory, arithmetic and kernels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import aicc
from aicc.tools.aicc_cli import main

TEXT = """
func.func @main(%x : tensor<?x20xf32, #graph.dims<N>> {aicc.name = "x"},
                %y : tensor<?x30xf32, #graph.dims<M>> {aicc.name = "y"})
    -> (tensor<?x30xf32, #graph.dims<N>> {aicc.name = "out"}) {
  %w = graph.constant #graph.buffer<"w", "w.safetensors"> : tensor<20x30xf32>
  %m = graph.matmul %x, %w : tensor<?x20xf32, #graph.dims<N>>, tensor<20x30xf32> -> tensor<?x30xf32, #graph.dims<N>>
  %s = graph.softmax %m {axis = 1} : tensor<?x30xf32, #graph.dims<N>> -> tensor<?x30xf32, #graph.dims<N>>
  %r = graph.add %s, %y : tensor<?x30xf32, #graph.dims<N>>, tensor<?x30xf32, #graph.dims<M>>
    -> tensor<?x30xf32, #graph.dims<N>>
  func.return %r : tensor<?x30xf32, #graph.dims<N>>
}
"""


@pytest.fixture
def text_model(tmp_path: Path) -> Path:
    from safetensors.numpy import save_file

    save_file({"w": np.ones((20, 30), np.float32)}, tmp_path / "w.safetensors")
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    return path


def checked(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> dict[str, Any]:
    assert main(["check", *map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_amounts_are_formulas_and_numbers(text_model: Path, capsys: pytest.CaptureFixture[str]):
    found = checked(capsys, text_model, "--size", "N=7", "--size", "M=7")
    assert found["compiles"] and not found["problems"]
    assert found["sizes"] == {"N": 7, "M": 7} or found["sizes"] == {"M": 7, "N": 7}
    assert found["inputs"][0] == {"name": "x", "dtype": "float32", "shape": ["N", 20]}
    assert {s["name"]: s["sources"] for s in found["symbols"]} == {"N": ["'x' dim 0"], "M": ["'y' dim 0"]}
    assert any(relation.startswith(("N == M", "M == N")) for relation in found["relations"])
    memory = found["memory"]
    assert memory["weights"] == 20 * 30 * 4 and memory["packed"] >= 20 * 30 * 4
    assert memory["results"] == {"formula": "120*N", "value": 7 * 30 * 4}
    # A product of 2*20 operations per element, and the softmax and sum on top.
    assert found["flops"]["value"] == sum(kernel["flops"]["value"] for kernel in found["kernels"])
    assert 7 * 30 * 40 < found["flops"]["value"] < 7 * 30 * 60
    assert sum(kernel["calls"] for kernel in found["kernels"]) == len(
        aicc.compile(text_model, profile=True).kernel_calls
    )


def test_the_report_as_text(text_model: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(text_model), "--size", "N=1000"]) == 0
    out = capsys.readouterr().out
    for line in (
        "not supported: nothing",
        "  x: float32[N, 20]",
        "  N: 'x' dim 0",
        "memory: weights 2.4 kB",
        "results 120.0 kB = 120*N",
        "kernels after fusion: ",
    ):
        assert line in out


def onnx_model(path: Path) -> Path:
    """Two nodes of unknown operators, one whose attribute is not supported, one that is fine, one after a bad one."""
    nodes = [
        helper.make_node("NoSuchThing", ["x"], ["a"], name="first"),
        helper.make_node("Foreign", ["x"], ["b"], name="second", domain="org.example"),
        helper.make_node("Relu", ["x"], ["c"], name="third"),
        helper.make_node("Neg", ["a"], ["d"], name="fourth"),
        helper.make_node("Softmax", ["c"], ["e"], name="fifth", axis=7),
        helper.make_node("Sum", ["b", "d", "e"], ["y"], name="last"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("org.example", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, producer_name="a test"), path)
    return path


def test_everything_that_is_not_supported_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = onnx_model(tmp_path / "model.onnx")
    found = checked(capsys, path, status=1)
    assert not found["compiles"]
    assert found["facts"]["opsets"] == {"ai.onnx": 17, "org.example": 3}
    assert [(p["node"], p["operator"], p["opset"]) for p in found["problems"]] == [
        ("first", "NoSuchThing", 17),
        ("second", "org.example::Foreign", 3),
        ("fifth", "Softmax", 17),
    ]
    assert found["problems"][0]["reason"] == "the operator is not supported"
    assert "axis" in found["problems"][2]["reason"]
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "made by a test" in out and "cannot be compiled: 3 nodes, 3 operators" in out
    assert "  node 'second' (org.example::Foreign, opset 3): the operator is not supported" in out


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["--size", "N"], 2, "--size N: expected NAME=VALUE"),
        (["--size", "N=x"], 2, "--size N=x: expected a size of at least 0"),
    ],
)
def test_wrong_usage(
    arguments: list[str], status: int, message: str, text_model: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["check", str(text_model), *arguments]) == status
    assert message in capsys.readouterr().err


def test_files_that_are_no_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"\x08\x07nonsense")
    assert main(["check", str(path)]) == 1
    assert "not an ONNX model, or damaged" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "none.onnx")]) == 1
    assert "none.onnx" in capsys.readouterr().err


def test_a_declared_shape_that_nodes_do_not_give_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    x, y, z = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", ["N", 3]), ("y", [5, 7]), ("z", [4, 3]))
    )
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y, z])), path)
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "declared otherwise:\n  output 'y' is declared [5, 7], but its nodes give [N, 3]\n" in out
