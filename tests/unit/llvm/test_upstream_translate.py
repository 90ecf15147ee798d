"""
The LLVM dialect that the pipelines make is LLVM's own: `mlir-translate --mlir-to-llvmir` takes it, llvmlite the result.

Skipped where the tool is neither in this environment (`make upstream-tools`) nor on the path.
"""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from aicc.source import load_module
from aicc.tools.driver_api import run_pipeline

SITE_PACKAGES = Path(sysconfig.get_paths()["purelib"])
INSTALLED = SITE_PACKAGES / "mlir" / "bin" / "mlir-translate"
TOOL = str(INSTALLED) if INSTALLED.exists() else shutil.which("mlir-translate")

pytestmark = pytest.mark.skipif(TOOL is None, reason="mlir-translate is not installed; `make upstream-tools` does")

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"


def program(arguments: str, body: str, result: str) -> str:
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  func.return %r : {result}\n}}\n"


NX8 = "tensor<?x8x{}, #graph.dims<N>>"
PROGRAMS: dict[str, str | Path] = {
    "digits": DIGITS,
    "softmax_f32": program(
        f"%x : {NX8.format('f32')}",
        f"  %r = graph.softmax %x {{axis = 1}} : {NX8.format('f32')} -> {NX8.format('f32')}",
        NX8.format("f32"),
    ),
    **{
        f"functions_{element}": program(
            f"%x : {NX8.format(element)}",
            "\n".join(
                f"  %{new} = graph.{name} %{old} : {NX8.format(element)} -> {NX8.format(element)}"
                for old, name, new in (("x", "exp", "a"), ("a", "tanh", "b"), ("b", "erf", "c"), ("c", "sqrt", "r"))
            ),
            NX8.format(element),
        )
        for element in ("f64", "f32", "f16", "bf16")
    },
    "integers": program(
        "%x : tensor<17xi64>, %y : tensor<17xi64>",
        "  %d = graph.div %x, %y : tensor<17xi64>, tensor<17xi64> -> tensor<17xi64>\n"
        "  %s = graph.shift_left %d, %y : tensor<17xi64>, tensor<17xi64> -> tensor<17xi64>\n"
        "  %c = graph.lt %s, %x : tensor<17xi64>, tensor<17xi64> -> tensor<17xi1>\n"
        "  %r = graph.where %c, %s, %y : tensor<17xi1>, tensor<17xi64>, tensor<17xi64> -> tensor<17xi64>",
        "tensor<17xi64>",
    ),
    "gather": program(
        "%x : tensor<9x5xf32>, %i : tensor<?xi64, #graph.dims<N>>",
        "  %r = graph.gather %x, %i {axis = 0} : tensor<9x5xf32>, tensor<?xi64, #graph.dims<N>> "
        "-> tensor<?x5xf32, #graph.dims<N>>",
        "tensor<?x5xf32, #graph.dims<N>>",
    ),
}


def translated(module: str) -> str:
    """The LLVM IR that `mlir-translate` makes of a module's text."""
    libraries = str(SITE_PACKAGES / "llvm" / "lib")
    environment = os.environ | {"LD_LIBRARY_PATH": os.pathsep.join((libraries, os.environ.get("LD_LIBRARY_PATH", "")))}
    done = subprocess.run(
        [str(TOOL), "--mlir-to-llvmir"], input=module, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("pipeline", ["O0", "O2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_mlir_translate_accepts_what_the_pipelines_make(name: str, pipeline: str):
    module = load_module(PROGRAMS[name])
    run_pipeline(module, pipeline)
    parsed = llvm.parse_assembly(translated(str(module)))
    parsed.verify()
    assert "main" in {function.name for function in parsed.functions}
