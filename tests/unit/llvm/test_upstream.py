"""
What we print is what upstream's `mlir-translate` reads, and its LLVM IR computes the same.

Skipped where the tool is not installed (`make upstream-tools` installs it).
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from aicc.backends.llvm.objects import emit_object
from aicc.backends.llvm.targets import host_target
from aicc.lowering.loops_to_llvm import lower_module
from aicc.lowering.parse import parse_module
from aicc.transforms.loops_expand_math import expand_all
from tests.unit.llvm import test_control, test_memory
from tests.unit.native import load_object

LIT = Path(__file__).parents[2] / "lit"


def find_tool() -> tuple[str, dict[str, str]] | None:
    """The tool and the environment that it needs."""
    if (path := shutil.which("mlir-translate")) is not None:
        return path, dict(os.environ)
    spec = importlib.util.find_spec("mlir")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder, "bin", "mlir-translate")
        if path.exists():
            libraries = Path(folder).parent / "llvm" / "lib"
            return str(path), {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    return None


TOOL = find_tool()
pytestmark = pytest.mark.skipif(TOOL is None, reason="mlir-translate is not installed")


def translate(text: str) -> str:
    """LLVM IR by the upstream tool."""
    assert TOOL is not None
    done = subprocess.run(
        [TOOL[0], "--mlir-to-llvmir"], input=text, env=TOOL[1], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


KERNEL = """
func.func @f(%n: index, %a: memref<?x6xf32, #loops.dims<n>>, %b: memref<6x24xf32>, %o: memref<?x24xf32, #loops.dims<n>>)
    attributes {aicc.symbols = ["n"]} {
  %z = arith.constant dense<0.0> : vector<2x12xf32>
  loops.for "i" %i = 0 to %n step 2 parallel threads {
    loops.for "j" %j = 0 to 24 step 12 {
      %r = loops.for "k" %k = 0 to 6 iter_args(%acc = %z) -> (vector<2x12xf32>) {
        %x = loops.load %a[%i + l0, %k] : memref<?x6xf32, #loops.dims<n>> to vector<2x1xf32>
        %y = loops.load %b[%k, %j + l1] : memref<6x24xf32> to vector<1x12xf32>
        %xs = loops.broadcast %x : vector<2x1xf32> to vector<2x12xf32>
        %ys = loops.broadcast %y : vector<1x12xf32> to vector<2x12xf32>
        %m = arith.mulf %xs, %ys fastmath<contract,reassoc> : vector<2x12xf32>
        %s = arith.addf %acc, %m fastmath<contract,reassoc> : vector<2x12xf32>
        loops.yield %s : vector<2x12xf32>
      }
      %e = math.exp %r : vector<2x12xf32>
      %q = arith.maximumf %e, %z : vector<2x12xf32>
      %count = loops.apply 24 - %j
      loops.store %q, %o[%i + l0, %j + l1] lanes %count : vector<2x12xf32> to memref<?x24xf32, #loops.dims<n>>
    }
  }
  func.return
}
"""


def test_a_kernel_computes_the_same():
    module = parse_module(KERNEL)
    expand_all(module)
    lower_module(module)
    address = load_object(emit_object(translate(str(module)), host_target()), "f")["f"]
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(10, 6)).astype(np.float32), rng.normal(size=(6, 24)).astype(np.float32)
    out = np.zeros((10, 24), np.float32)
    pointers = [array.ctypes.data for array in (a, b, out)]
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.c_int64)(address)
    call(10, *pointers, 2)
    np.testing.assert_allclose(out, np.exp(a @ b), rtol=1e-5)


@pytest.mark.parametrize("name", ["roundtrip.mlir", "emit-llvm.mlir"])
def test_the_dialect(name: str):
    translate(str(parse_module((LIT / "llvm" / name).read_text())))


def test_every_case_of_the_lowering():
    for part in (LIT / "lowering" / "convert-loops-to-llvm.mlir").read_text().split("// -----"):
        module = parse_module(part)
        lower_module(module)
        translate(str(module))


@pytest.mark.parametrize("text", [test_control.BRANCH, test_control.PARALLEL.format(lower=0, step=3, grain="")])
def test_control_flow(text: str):
    module = parse_module(text)
    lower_module(module)
    translate(str(module))


@pytest.mark.parametrize("element", ["f16", "bf16", "f64", "i1", "i8"])
def test_element_types(element: str):
    constant = {"i1": "true", "i8": "3"}.get(element, "0.5")
    fill = constant if element == "i1" else f"{constant} : {element}"
    module = parse_module(f"""
func.func @f(%m: memref<4x40x{element}>, %o: memref<4x8x{element}>, %n: index) {{
  %c = arith.constant dense<{constant}> : vector<4x8x{element}>
  %v = loops.load %m[l0, 3 * l1 + %n] lanes %n fill {fill} : memref<4x40x{element}> to vector<4x8x{element}>
  %b = arith.constant dense<true> : vector<4x8xi1>
  %s = arith.select %b, %v, %c : vector<4x8xi1>, vector<4x8x{element}>
  loops.store %s, %o[l0, l1] : vector<4x8x{element}> to memref<4x8x{element}>
  func.return
}}
""")
    lower_module(module)
    translate(str(module))


def test_strided_accesses():
    assert test_memory.ACCESSES
    for index, shapes in test_memory.ACCESSES:
        shape = "x".join(map(str, shapes[0]))
        module = parse_module(f"""
func.func @f(%m: memref<{shape}xf32>, %r: memref<4x8xf32>) {{
  %v = loops.load %m[{index}] : memref<{shape}xf32> to vector<4x8xf32>
  loops.store %v, %r[l0, l1] : vector<4x8xf32> to memref<4x8xf32>
  func.return
}}
""")
        lower_module(module)
        translate(str(module))
