"""What the commands of `aicc` say of a file that is of another kind than they take."""

from pathlib import Path

import pytest

import aicc
from aicc.frontends.errors import ModelError
from aicc.tools.aicc_cli import main

TEXT = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = graph.relu %x : tensor<8xf32> -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "model.aicc"
    aicc.compile(TEXT).save(path)
    return path


@pytest.mark.parametrize("command", ["check", "debug", "schedules", "import", "reduce"])
def test_a_compiled_program_is_no_model(command: str, program: Path, capsys: pytest.CaptureFixture[str]):
    assert main([command, str(program)]) == 1
    expected = f"{program}: is a compiled program, expected a model; run it with 'aicc run' or aicc.load"
    assert capsys.readouterr().err == f"aicc: error: {expected}\n"


def test_compile_takes_no_compiled_program(program: Path):
    for model in (program, str(program), program.read_bytes()):
        with pytest.raises(ModelError, match=r"is a compiled program, expected a model; run it with .*aicc\.load"):
            aicc.compile(model)


def test_textual_ir_is_not_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    assert main(["import", str(path)]) == 1
    assert capsys.readouterr().err == f"aicc: error: {path}: is textual IR already, expected an ONNX model\n"
