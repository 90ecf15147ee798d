"""`aicc run` on mains of any number, dtype and rank of arguments and results, and its wrong usage."""

import platform
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aicc.tools.aicc_cli import main

MIXED = """
func.func @main(%a: tensor<bf16> {aicc.name = "a"}, %b: tensor<2x0x3xi1> {aicc.name = "b"},
                %c: tensor<4xui8> {aicc.name = "c"}, %d: tensor<1x2x1x2xf16> {aicc.name = "d"},
                %e: tensor<2xf64> {aicc.name = "e/0"})
    -> (tensor<4xui8>, tensor<bf16>, tensor<2x0x3xi1>, tensor<1x2x1x2xf16>, tensor<2xf64>) {
  %cc = graph.add %c, %c : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %aa = graph.mul %a, %a : tensor<bf16>, tensor<bf16> -> tensor<bf16>
  %bb = graph.not %b : tensor<2x0x3xi1> -> tensor<2x0x3xi1>
  %dd = graph.exp %d : tensor<1x2x1x2xf16> -> tensor<1x2x1x2xf16>
  %ee = graph.neg %e : tensor<2xf64> -> tensor<2xf64>
  func.return %cc, %aa, %bb, %dd, %ee
    : tensor<4xui8>, tensor<bf16>, tensor<2x0x3xi1>, tensor<1x2x1x2xf16>, tensor<2xf64>
}
"""

FOREIGN = "aarch64" if platform.machine() == "x86_64" else "x86-64-v2"


@pytest.mark.parametrize("flag", ["-O0", "-O2", "--interpret"])
def test_any_dtype_and_rank(flag: str, tmp_path: Path):
    model = tmp_path / "mixed.mlir"
    model.write_text(MIXED)
    given = {
        "a": np.array(1.5, ml_dtypes.bfloat16),
        "b": np.zeros((2, 0, 3), np.bool_),
        "c": np.array([1, 100, 128, 255], np.uint8),
        "d": np.array([0, 1, -np.inf, np.nan], np.float16).reshape(1, 2, 1, 2),
        "e/0": np.array([0.0, -3.0]),
    }
    command = ["run", str(model), flag, "--output-dir", str(tmp_path / "out")]
    for i, (name, array) in enumerate(given.items()):
        np.save(tmp_path / f"{i}.npy", array)
        command += ["--input", f"{name}={tmp_path / f'{i}.npy'}"]
    assert main(command) == 0
    found = [np.load(tmp_path / "out" / f"output{i}.npy") for i in range(5)]
    assert np.array_equal(found[0], np.array([2, 200, 0, 254], np.uint8))
    assert found[1].shape == () and float(found[1].view(ml_dtypes.bfloat16)) == 2.25
    assert found[2].shape == (2, 0, 3) and found[2].dtype == np.bool_
    expected = np.exp(given["d"].astype(np.float64)).astype(np.float16)
    np.testing.assert_array_max_ulp(found[3][0, :, 0, :].ravel()[:3], expected.ravel()[:3], maxulp=1)
    assert np.isnan(found[3].ravel()[3])
    assert np.array_equal(found[4], [-0.0, 3.0]) and np.signbit(found[4][0])


def test_no_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = tmp_path / "none.mlir"
    model.write_text(
        "func.func @main() -> tensor<2xi64> {\n"
        "  %c = graph.constant dense<[7, -7]> : tensor<2xi64>\n  func.return %c : tensor<2xi64>\n}\n"
    )
    for flag in ("-O0", "-O2", "--interpret"):
        assert main(["run", str(model), flag]) == 0
        assert capsys.readouterr().out == "output0: int64[2]\n[ 7 -7]\n"


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["--input", "z=random"], 2, "the model has no input 'z' (its inputs: 'a', 'b', 'c', 'd', 'e/0')"),
        (["--input", "a"], 2, "--input a: expected NAME=VALUE"),
        (["--input", "a=random", "--input", "a=random"], 2, "'a' is given twice"),
        (["--size", "N=-1"], 2, "--size N=-1: expected a size of at least 0"),
        (["--size", "N=1"], 2, "the model has no symbol 'N' (its symbols: none)"),
        (["--input", "a=/nonexistent.npy"], 1, "'/nonexistent.npy'"),
        (["--threads", "0"], 2, "threads is 0, expected at least 1"),
        (["--target", "pdp11"], 2, "pdp11"),
        (["--target", FOREIGN], 2, f"code for '{FOREIGN}' cannot run here: this machine is no "),
    ],
)
def test_wrong_usage(
    arguments: list[str], status: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    model = tmp_path / "mixed.mlir"
    model.write_text(MIXED)
    assert main(["run", str(model), *arguments]) == status
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error and error.count("error:") == 1


def test_arrays_larger_than_the_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "large.mlir"
    kind = "tensor<?x1099511627776xf64, #graph.dims<N>>"
    path.write_text(f"func.func @main(%x : {kind}) -> {kind} {{\n  func.return %x : {kind}\n}}\n")
    assert main(["run", str(path), "--size", "N=30000"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("aicc: error: not enough memory") and error.count("\n") == 1


def test_broken_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name, content, message in [
        ("a.onnx", b"not a model", "a.onnx"),
        ("b.mlir", b"func.func @main() {\n  graph.nope\n}\n", "b.mlir:2:3: error: unknown op 'graph.nope'"),
        ("c.mlir", b"func.func @other() {\n  func.return\n}\n", "no function @main"),
        ("d.mlir", b"\xff\xfe\x00", "d.mlir"),
        ("e.mlir", b"", "no function @main"),
        ("f.mlir", b"func.func private @main(tensor<3xf32>) -> tensor<3xf32>\n", "@main is only declared"),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        for flag in ("-O2", "--interpret"):
            assert main(["run", str(path), flag]) == 1
            error = capsys.readouterr().err
            assert message in error and "Traceback" not in error and "internal" not in error, error


def test_a_saved_model_without_times_is_refused_before_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model, saved = tmp_path / "mixed.mlir", tmp_path / "mixed.aicc"
    model.write_text(MIXED)
    for flags, status in (([], 2), (["--profile"], 0)):
        assert main(["compile", str(model), "-o", str(saved), *flags]) == 0
        capsys.readouterr()
        assert main(["run", str(saved), "--profile"]) == status
        out, error = capsys.readouterr()
        assert bool(out) == (status == 0)
        assert ("'aicc compile --profile'" in error) == (status == 2)


SIZED = """func.func @main(%x: tensor<?x2xf32, #graph.dims<2*N + 1>> {aicc.name = "x"},
                %y: tensor<?xf32, #graph.dims<N>> {aicc.name = "y"},
                %z: tensor<?xf32, #graph.dims<M>> {aicc.name = "z"})
    -> (tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>>) {
  func.return %y, %z : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>>
}
"""


@pytest.mark.parametrize("command", [["run"], ["run", "--interpret"], ["debug"]])
def test_random_inputs_have_the_sizes_that_given_ones_tell(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    model, x = tmp_path / "sized.mlir", tmp_path / "x.npy"
    model.write_text(SIZED)
    np.save(x, np.zeros((9, 2), np.float32))
    common = [command[0], str(model), *command[1:], "--input", f"x={x}", "--size", "M=3"]
    assert main(common) == 0
    found = capsys.readouterr().out
    assert command == ["debug"] or ("float32[4]" in found and "float32[3]" in found)
    assert main([*common, "--size", "N=4"]) == 0
    assert main([*common, "--size", "N=5"]) == 2
    assert "--size N=5: N is 4 from the array given for 'x', whose dim 0 is 9" in capsys.readouterr().err


def test_two_arrays_that_contradict_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = tmp_path / "sized.mlir"
    model.write_text(SIZED)
    np.save(tmp_path / "x.npy", np.zeros((9, 2), np.float32))
    np.save(tmp_path / "y.npy", np.zeros(5, np.float32))
    given = [f"--input={name}={tmp_path / name}.npy" for name in "xy"]
    assert main(["run", str(model), *given]) == 1
    assert "'y' dim 0 is 5, but N is 4 from 'x' dim 0" in capsys.readouterr().err
