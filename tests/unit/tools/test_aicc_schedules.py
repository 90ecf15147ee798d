"""`aicc schedules` and what takes its output: `aicc run --schedules` and `aicc.compile(..., schedules=)`."""

import re
from pathlib import Path

import numpy as np
import pytest

import aicc
from aicc.tools.aicc_cli import main

MODEL = """
func.func @main(%a: tensor<20x24xf32> {aicc.name = "a"}, %b: tensor<24x40xf32> {aicc.name = "b"}) -> tensor<20x40xf32> {
  %m = graph.matmul %a, %b : tensor<20x24xf32>, tensor<24x40xf32> -> tensor<20x40xf32> loc("node/7")
  func.return %m : tensor<20x40xf32>
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.mlir"
    path.write_text(MODEL)
    return path


def test_schedules_come_back(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "schedules.mlir"
    assert main(["schedules", str(model), "-o", str(file), "--target", "x86-64-v3"]) == 0
    text = file.read_text()
    assert text.startswith("// @matmul_0, called once\n//   for node/7\ntransform.named_sequence @matmul_0_schedule(")
    assert "schedule.vectorize" in text
    edited = re.sub(r"sizes = array<i64: \d+, \d+>", "sizes = array<i64: 5, 8>", text)
    assert edited != text
    file.write_text(edited)
    a, b = (np.random.default_rng(0).standard_normal(shape).astype(np.float32) for shape in ((20, 24), (24, 40)))
    (found,) = aicc.compile(model, schedules=file, cache=False)(a, b)
    np.testing.assert_allclose(found, a @ b, rtol=1e-4, atol=1e-5)
    assert main(["run", str(model), "--schedules", str(file), "--no-cache"]) == 0
    assert "float32[20, 40]" in capsys.readouterr().out


def test_a_step_that_cannot_be_done_is_told(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "schedules.mlir"
    file.write_text(
        "transform.named_sequence @matmul_0_schedule(%k: !transform.any_op) {\n"
        '  %r = schedule.loop %k {label = "s9"}\n  transform.yield\n}\n'
    )
    assert main(["run", str(model), "--schedules", str(file), "--no-cache"]) == 1
    assert f"{file}:2:8: error: no loop is labelled 's9'; there are s0_d0" in capsys.readouterr().err


def test_text_that_is_no_schedule_is_told(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "schedules.mlir"
    file.write_text(
        "transform.named_sequence @matmul_0_schedule(%k: !transform.any_op) {\n"
        '  %r = schedule.loop %k {label = "s0_d0"}\n'
        "  schedule.parallelize %r {part = 5 : i64, work = #graph.shape<s0**2>}\n"
        "  transform.yield\n}\n"
    )
    with pytest.raises(aicc.CompileError, match="expected a size") as caught:
        aicc.compile(model, schedules=file, cache=False)
    assert (caught.value.file, caught.value.line) == (str(file), 3)
    assert main(["run", str(model), "--schedules", str(file), "--no-cache"]) == 1
    told = capsys.readouterr().err
    assert f"{file}:3:" in told and "fault" not in told


def test_schedules_need_the_optimising_level(model: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="schedules are given, but opt_level is 0, expected 2"):
        aicc.compile(model, schedules=tmp_path / "none.mlir", opt_level=0)


def test_ir_without_schedules_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "low.mlir"
    path.write_text("llvm.func @f() {\n  llvm.return\n}\n")
    assert main(["schedules", str(path)]) == 1
    assert "IR of the level llvm has no schedules" in capsys.readouterr().err
