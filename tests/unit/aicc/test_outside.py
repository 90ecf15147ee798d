"""Compilations in a process of their own: the same models, errors and warnings, and no compiler in this process."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.unit.weighted import INDICES, weighted

ROOT = Path(__file__).parents[3]

HEAD = """
import sys, numpy as np, aicc
import aicc.outside as outside
"""

TEXT = """
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = graph.add %x, %x : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}
"""


def in_process(program: str, folder: Path) -> list[str]:
    """What `program` prints, line by line."""
    variables = {**os.environ, "AICC_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", HEAD + program]
    done = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


FORMS = {
    "path": "{path!r}",
    "bytes": "open({path!r}, 'rb').read()",
    "proto": "__import__('onnx').load({path!r})",
}


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_models_are_compiled_without_a_compiler_here(tmp_path: Path, form: str, cache: bool):
    path = tmp_path / "model.onnx"
    expected = weighted(path)
    given = FORMS[form].format(path=str(path))
    printed = in_process(
        f"model = aicc.compile({given}, cache={cache})\n"
        f"print(model(np.array({INDICES.tolist()}))[0].tolist())\n"
        "print('xdsl' in sys.modules)\n",
        tmp_path,
    )
    assert np.allclose(np.array(eval(printed[0])), expected, rtol=1e-5)
    assert printed[1] == "False"


def test_weights_in_other_files_and_text(tmp_path: Path):
    path = tmp_path / "model.onnx"
    expected = weighted(path, external=True)
    (tmp_path / "add.mlir").write_text(TEXT)
    printed = in_process(
        f"print(aicc.compile({str(path)!r})(np.array({INDICES.tolist()}))[0].tolist())\n"
        f"print(aicc.compile({TEXT!r})(np.arange(5, dtype=np.float32))[0].tolist())\n"
        f"print(aicc.compile({str(tmp_path / 'add.mlir')!r})(np.arange(5, dtype=np.float32))[0].tolist())\n"
        "print('xdsl' in sys.modules)\n",
        tmp_path,
    )
    assert np.allclose(np.array(eval(printed[0])), expected, rtol=1e-5)
    assert printed[1:] == ["[0.0, 2.0, 4.0, 6.0, 8.0]"] * 2 + ["False"]


def test_errors_are_those_of_a_compilation_here(tmp_path: Path):
    bad = TEXT.replace("graph.add", "graph.ad")
    printed = in_process(
        f"try:\n  aicc.compile({bad!r})\n"
        "except Exception as error: print(type(error).__name__, 'graph.ad' in str(error))\n"
        "try:\n  aicc.compile(b'no model')\nexcept Exception as error: print(type(error).__name__)\n"
        "try:\n  aicc.compile('missing.onnx')\nexcept Exception as error: print(type(error).__name__)\n"
        "try:\n  aicc.compile(3)\nexcept Exception as error: print(type(error).__name__)\n",
        tmp_path,
    )
    assert printed == ["CompileError True", "CompileError", "FileNotFoundError", "TypeError"]


@pytest.mark.parametrize(
    "fault", ["sys.executable = ''", "sys.executable = '/bin/false'", "outside._START = 'import sys; sys.exit(3)'"]
)
def test_without_another_process_the_model_is_compiled_here(tmp_path: Path, fault: str):
    printed = in_process(
        f"{fault}\nprint(aicc.compile({TEXT!r})(np.ones(5, np.float32))[0].tolist())\nprint('xdsl' in sys.modules)",
        tmp_path,
    )
    assert printed == ["[2.0, 2.0, 2.0, 2.0, 2.0]", "True"]


def test_a_process_that_is_killed_is_an_error(tmp_path: Path):
    printed = in_process(
        "outside._START = 'import os; os.kill(os.getpid(), 9)'\n"
        f"try:\n  aicc.compile({TEXT!r})\nexcept outside.CompilerEnded as error: print(error)",
        tmp_path,
    )
    assert printed == ["the process that compiled the model was ended by signal 9, as for want of memory"]


def test_nothing_is_left_open(tmp_path: Path):
    printed = in_process(
        "import os\nfrom aicc.model_cache import settle\n"
        f"aicc.compile({TEXT!r})\nsettle()\n"
        "count = len(os.listdir('/proc/self/fd'))\n"
        f"aicc.compile({TEXT!r} + ' ')\nsettle()\n"
        "print(len(os.listdir('/proc/self/fd')) - count)\n"
        "try:\n  os.wait()\nexcept ChildProcessError: print('alone')\n",
        tmp_path,
    )
    assert printed == ["0", "alone"]
