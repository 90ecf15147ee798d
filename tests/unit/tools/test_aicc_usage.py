"""The commands of `aicc` say the same of the same mistake, with the same status."""

from pathlib import Path

import numpy as np
import pytest

import aicc
from aicc.tools.aicc_cli import main
from aicc.tools.aicc_opt import main as opt_main

MODEL = """
func.func @main(%x : tensor<?x2xf32, #graph.dims<N>> {aicc.name = "x"}) -> tensor<?x2xf32, #graph.dims<N>> {
  %r = graph.relu %x : tensor<?x2xf32, #graph.dims<N>> -> tensor<?x2xf32, #graph.dims<N>>
  func.return %r : tensor<?x2xf32, #graph.dims<N>>
}
"""

COMPILING = ("run", "check", "debug", "schedules", "compile")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mlir"
    path.write_text(MODEL)
    return path


def said(capsys: pytest.CaptureFixture[str], command: str, model: Path, *arguments: str) -> tuple[int, str]:
    """The status of a command, and the one line of its error."""
    output = ["-o", str(model.with_suffix(".out"))] if command == "compile" else []
    status = main([command, str(model), *output, *arguments])
    error = capsys.readouterr().err
    assert error.startswith("aicc: error: ") and error.count("\n") == 1, error
    return status, error.removeprefix("aicc: error: ").strip()


@pytest.mark.parametrize(
    ("flag", "commands"),
    [("--shape", COMPILING), ("--hint", ("run", "compile")), ("--size", ("run", "check", "debug"))],
)
def test_a_symbol_that_there_is_not(
    flag: str, commands: tuple[str, ...], model: Path, capsys: pytest.CaptureFixture[str]
):
    wanted = (2, "the model has no symbol 'NN'; did you mean 'N'? (its symbols: 'N')")
    assert {said(capsys, command, model, flag, "NN=3") for command in commands} == {wanted}


def test_a_symbol_of_an_onnx_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "model.onnx"
    value = onnx.helper.make_tensor_value_info("x", 1, ["N"])
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "g", [value], [value])), path)
    wanted = (2, "the model has no symbol 'M' (its symbols: 'N')")
    assert {said(capsys, "run", path, flag, "M=3") for flag in ("--shape", "--hint", "--size")} == {wanted}


def test_a_file_that_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "none.mlir"
    for command in (*COMPILING, "reduce"):
        assert said(capsys, command, path) == (1, f"No such file or directory: '{path}'"), command
    assert opt_main([str(path)]) == 1
    assert capsys.readouterr().err == f"aicc-opt: cannot read '{path}': No such file or directory\n"


def test_a_machine_that_there_is_not(model: Path, capsys: pytest.CaptureFixture[str]):
    for command in COMPILING:
        status, error = said(capsys, command, model, "--target", "pdp11")
        assert status == 2 and error.startswith("unknown target 'pdp11'; expected one of host, "), command


def test_schedules_that_cannot_be_read(model: Path, capsys: pytest.CaptureFixture[str]):
    for command in ("run", "check", "debug", "compile"):
        found = said(capsys, command, model, "--schedules", "none.mlir")
        assert found == (1, "cannot read the schedules in 'none.mlir': No such file or directory"), command


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--shape", "N=2", "--hint", "N=3"], "hints: 'N' is fixed at 2 by shapes"),
        (["--hint", ",".join(["N=1", *map(str, range(2, 20))])], "hints ask for 19 combinations"),
        (["--threads", "0"], "threads is 0, expected at least 1"),
        (["-O", "0", "--schedules", "none.mlir"], "schedules are given, but opt_level is 0, expected 2"),
    ],
)
def test_flags_that_make_no_sense(arguments: list[str], wanted: str, model: Path, capsys: pytest.CaptureFixture[str]):
    status, error = said(capsys, "run", model, *arguments)
    assert status == 2 and error.startswith(wanted)


def test_an_input_that_is_no_array(model: Path, capsys: pytest.CaptureFixture[str]):
    for command in ("run", "debug"):
        found = said(capsys, command, model, "--input", f"x={model}")
        assert found == (1, f"--input x: {model} is no .npy file of numbers")


def test_a_saved_program_is_known_by_what_is_in_it(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "program"
    aicc.compile(model).save(path)
    np.save(tmp_path / "x.npy", np.array([[-1, 2]], np.float32))
    assert main(["run", str(path), "--input", f"x={tmp_path / 'x.npy'}"]) == 0
    assert capsys.readouterr().out == "output0: float32[1, 2]\n[[0. 2.]]\n"
    other = tmp_path / "model.aicc"
    other.write_text("no program")
    status, error = said(capsys, "run", other)
    assert status == 1 and "not an ONNX model" in error


def test_of_one_thing_there_is_no_plural(model: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["check", str(model)]) == 0
    assert "\n1 node, 1 operator: graph.relu\n" in capsys.readouterr().out
    compiled = aicc.compile(model)
    with pytest.raises(aicc.InputError, match="got 2 arrays for 1 input: 'x'"):
        compiled(np.ones((1, 2), np.float32), np.ones((1, 2), np.float32))
