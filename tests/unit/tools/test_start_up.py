"""What must not be imported for a quick answer, and that plain `xdsl-opt` lives beside us."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.dialects import get_all_dialects
from xdsl.transforms import get_all_passes

import aicc
from aicc.tools import aicc_cli
from aicc.tools.universe import AICC_UNIVERSE

HEAVY = ("xdsl", "numpy", "llvmlite", "onnx")
SCRIPT = """
import contextlib, io, json, sys
from aicc.tools.aicc_opt import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    with contextlib.suppress(SystemExit):
        main(json.loads(sys.argv[1]))
print(json.dumps([name for name in sys.modules if "." not in name]))
"""


def loaded(*arguments: str) -> list[str]:
    """The top-level modules loaded after `aicc-opt` ran with `arguments`."""
    command = [sys.executable, "-c", SCRIPT, json.dumps(arguments)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("flag", ["--version", "--help", "-h", "--emit=nothing"])
def test_quick_answers_import_nothing_heavy(flag: str):
    assert not set(HEAVY) & set(loaded(flag))


def test_an_empty_module_imports_no_numeric_library(tmp_path: Path):
    path = tmp_path / "empty.mlir"
    path.write_text("")
    assert not {"numpy", "llvmlite", "onnx"} & set(loaded(str(path), "--canonicalize"))


def xdsl_opt(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).parent / "xdsl-opt"
    return subprocess.run([tool, *arguments], input=text, capture_output=True, text=True)


def test_xdsl_opt_works_beside_us():
    done = xdsl_opt("-p", "canonicalize", text="func.func @f() {\n  func.return\n}\n")
    assert done.returncode == 0, done.stderr
    assert "func.func @f()" in done.stdout


def test_xdsl_opt_sees_our_passes_and_dialects():
    help_text = xdsl_opt("--help").stdout
    missing = [name for name in AICC_UNIVERSE.all_passes if name not in help_text.replace("\n", "").replace(" ", "")]
    assert not missing
    assert {"graph", "tensor_ops", "loops", "schedule"} <= set(AICC_UNIVERSE.all_dialects)


def test_our_names_are_not_xdsls():
    assert not set(AICC_UNIVERSE.all_dialects) & set(get_all_dialects())
    assert not set(AICC_UNIVERSE.all_passes) & set(get_all_passes())


@pytest.mark.parametrize("name", sorted(AICC_UNIVERSE.all_dialects))
def test_dialect_is_what_its_name_says(name: str):
    assert AICC_UNIVERSE.all_dialects[name]().name == name


@pytest.mark.parametrize("name", sorted(AICC_UNIVERSE.all_passes))
def test_pass_is_what_its_name_says(name: str):
    assert AICC_UNIVERSE.all_passes[name]().name == name


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]):
    assert aicc_cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"aicc {aicc.__version__}\n"
    assert "__version__" in dir(aicc)
