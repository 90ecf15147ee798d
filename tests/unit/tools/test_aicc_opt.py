"""The tool from its command line, where lit cannot reach: warnings of passes, weights, kinds of input."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from aicc.dialects.graph.buffers import Buffer, BufferAttr, save_buffers
from aicc.lowering.context import registry
from aicc.lowering.parse import parse_module
from aicc.tools.aicc_opt import main
from aicc.transforms.diagnostics import remark, warn


@dataclass(frozen=True)
class GrumblePass(ModulePass):
    """Warns about each function."""

    name = "grumble"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            warn(func, "not my taste")
            remark(func, "seen better")


@pytest.fixture
def grumble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry().passes, "grumble", lambda: GrumblePass)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], str]:
    def write_text(text: str) -> str:
        path = tmp_path / "input.mlir"
        path.write_text(text)
        return str(path)

    return write_text


Write = Callable[[str], str]


@pytest.mark.usefixtures("grumble")
def test_warnings_are_printed_and_are_no_failure(write: Write, capsys: pytest.CaptureFixture[str]):
    assert main([write("func.func private @f()"), "--grumble"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("input.mlir:1:1: warning: not my taste")
    assert lines[3].endswith("input.mlir:1:1: remark: seen better")


@pytest.mark.usefixtures("grumble")
@pytest.mark.parametrize(
    "comments, status",
    [
        (("warning@+2 {{not my}}", "remark@+1 {{better}}"), 0),
        (("warning@+1 {{not my}}",), 1),
        (("error@+2 {{not my}}", "remark@+1 {{better}}"), 1),
        ((), 1),
    ],
)
def test_warnings_can_be_expected(comments: tuple[str, ...], status: int, write: Write):
    text = "".join(f"// expected-{comment}\n" for comment in comments)
    assert main([write(text + "func.func private @f()"), "--grumble", "--verify-diagnostics"]) == status


WEIGHTS = """\
func.func @main() -> tensor<100xf32> {
  %w = graph.constant #graph.buffer<"w", "w.safetensors"> : tensor<100xf32>
  func.return %w : tensor<100xf32>
}
"""


@pytest.fixture
def model(write: Write, tmp_path: Path) -> str:
    """A model with its weights beside it."""
    dense = ", ".join(str(float(number)) for number in range(100))
    text = f'%w = "graph.constant"() <{{value = dense<[{dense}]> : tensor<100xf32>}}> : () -> tensor<100xf32>'
    module = parse_module(text)
    (op,) = module.ops
    op.properties["value"] = BufferAttr(Buffer("w", np.arange(100, dtype=np.float32)))
    save_buffers(module, tmp_path / "w.safetensors")
    return write(WEIGHTS)


def test_inline_constants(model: str, capsys: pytest.CaptureFixture[str]):
    assert main([model, "--inline-constants", "--elide-large-constants"]) == 0
    assert "dense_resource<__elided__> : tensor<100xf32>" in capsys.readouterr().out
    assert main([model, "--inline-constants"]) == 0
    text = capsys.readouterr().out
    assert "#graph.buffer" not in text
    assert "9.800000e+01, 9.900000e+01]> : tensor<100xf32>" in text


def test_output_in_another_folder_takes_its_weights_along(model: str, tmp_path: Path):
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "model.mlir"
    assert main([model, "-o", str(output)]) == 0
    assert '#graph.buffer<"w", "model.safetensors">' in output.read_text()
    assert main([str(output), "--inline-constants", "-o", str(tmp_path / "inline.mlir")]) == 0


def test_missing_weights_are_a_diagnostic(write: Write, capsys: pytest.CaptureFixture[str]):
    assert main([write(WEIGHTS), "--inline-constants"]) == 1
    assert "w.safetensors" in capsys.readouterr().err


def test_a_failed_run_leaves_the_output_alone(write: Write, tmp_path: Path):
    output = tmp_path / "output.mlir"
    output.write_text("old")
    assert main([write("mystery.op"), "-o", str(output)]) == 1
    assert output.read_text() == "old"


def test_output_that_cannot_be_written(write: Write, capsys: pytest.CaptureFixture[str]):
    assert main([write(""), "-o", "/nowhere/output.mlir"]) == 1
    assert capsys.readouterr().err == "aicc-opt: cannot write '/nowhere/output.mlir': No such file or directory\n"


def test_text_is_read_whatever_the_extension(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "model.onnx"
    path.write_text("func.func private @f()")
    assert main([str(path)]) == 0
    path.write_bytes(b"\x08\x07\x12\x04test\xff")
    assert main([str(path)]) == 1
    assert "'aicc import' makes textual IR from an ONNX model" in capsys.readouterr().err


@pytest.mark.parametrize("depth", [100, 100_000])
def test_deep_nesting_never_crashes(depth: int, write: Write):
    assert main([write("module {" * depth + "}" * depth)]) in (0, 1)
