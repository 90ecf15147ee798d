"""What `aicc.compile` raises: one class for the content of models, with the place; others for wrong arguments."""

import pickle
from pathlib import Path
from typing import Any

import onnx.helper
import pytest
from xdsl.utils.exceptions import ParseError, VerifyException

import aicc
from aicc.frontends.errors import ModelError
from aicc.tools.aicc_cli import main

WRONG_TYPE = """func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {
  %y = graph.relu %x : tensor<2xf32> -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
"""
NO_SUCH_OP = WRONG_TYPE.replace("relu", "relo")
SIZED = """func.func @main(%x: tensor<?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>> {
  func.return %x : tensor<?xf32, #graph.dims<N>>
}
"""


def _of_unknown_operator() -> bytes:
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])
    node = onnx.helper.make_node("NoSuchOperator", ["x"], ["y"], name="odd")
    graph = onnx.helper.make_graph([node], "graph", [x], [y])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]).SerializeToString()


@pytest.mark.parametrize(
    ("text", "kind", "said", "caret"),
    [
        (WRONG_TYPE, VerifyException, "'graph.relu' op result has type tensor<3xf32>, but tensor<2xf32>", "^"),
        (NO_SUCH_OP, ParseError, "unknown op 'graph.relo'; did you mean 'graph.relu'?", "^~~~~~~~~~"),
    ],
)
@pytest.mark.parametrize("cached", [True, False])
def test_the_place_and_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, kind: type, said: str, caret: str, cached: bool
):
    path = tmp_path / "model.mlir"
    path.write_text(text)
    with pytest.raises(aicc.CompileError) as caught:
        aicc.compile(path, cache=cached)
    first, line, below = str(caught.value).splitlines()
    assert first.startswith(f"{path}:2:8: error: {said}")
    assert line == text.splitlines()[1] and below == " " * 7 + caret
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 2, 8)
    assert isinstance(caught.value, kind)
    assert main(["run", str(path)]) == 1
    assert capsys.readouterr().err == f"{caught.value}\n"


def test_the_line_of_a_model_that_is_text():
    with pytest.raises(aicc.CompileError) as caught:
        aicc.compile(WRONG_TYPE)
    assert str(caught.value).startswith("<string>:2:8: error: ")
    assert str(caught.value).splitlines()[1] == WRONG_TYPE.splitlines()[1]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is aicc.CompileError and str(copy) == str(caught.value) and copy.line == 2


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (b"abc", "not an ONNX model, or damaged"),
        (_of_unknown_operator(), r"node 'odd' \(NoSuchOperator, opset 17\)"),
        ("llvm.func @other() {\n  llvm.return\n}\n", "no function @main"),
        ("\n", "no function @main"),
    ],
)
def test_content_that_has_no_place_in_a_file(model: Any, said: str):
    with pytest.raises(aicc.CompileError, match=said) as caught:
        aicc.compile(model)
    assert isinstance(caught.value, ModelError) == isinstance(model, bytes)


def test_all_that_an_importer_lists_is_kept():
    with pytest.raises(ModelError) as caught:
        aicc.compile(_of_unknown_operator())
    assert [problem.node for problem in caught.value.problems] == ["odd"]


@pytest.mark.parametrize("name", ["none.onnx", "none.mlir"])
def test_a_file_that_is_missing(tmp_path: Path, name: str):
    with pytest.raises(FileNotFoundError, match=name):
        aicc.compile(tmp_path / name)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "pdp11"}, "unknown target 'pdp11'"),
        ({"threads": 0}, "threads is 0"),
        ({"shapes": {"M": 1}}, "the model has no symbol 'M'"),
        ({"hints": {"M": 1}}, "the model has no symbol 'M'"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        aicc.compile(SIZED, **options)


def test_what_is_no_model():
    with pytest.raises(TypeError, match="cannot compile a float"):
        aicc.compile(1.5)
