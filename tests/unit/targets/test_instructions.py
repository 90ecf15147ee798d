"""Code for machines other than this one: kernels of each kind become objects, of the instructions the machine has."""

from __future__ import annotations

import re

import pytest

from aicc.backends.llvm.objects import emit_assembly, emit_object
from aicc.backends.llvm.targets import target_by_name
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.lowering.context import make_context, registry
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.tools.driver_api import parse_module

MODEL = """
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %i: tensor<64x64xui8>, %j: tensor<64x64xi8>,
    %h: tensor<64x64xbf16>, %g: tensor<64x64xbf16>, %c: tensor<1x16x12x12xf32>, %k: tensor<32x16x3x3xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xi32>, tensor<64x64xbf16>, tensor<1x32x10x10xf32>, tensor<64x64xf32>,
        tensor<64x64xf32>) {
  %p = graph.matmul %x, %w : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %f = graph.relu %p : tensor<64x64xf32> -> tensor<64x64xf32>
  %n = graph.matmul_integer %i, %j : tensor<64x64xui8>, tensor<64x64xi8> -> tensor<64x64xi32>
  %b = graph.matmul %h, %g : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
  %y = graph.conv %c, %k {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]}
      : tensor<1x16x12x12xf32>, tensor<32x16x3x3xf32> -> tensor<1x32x10x10xf32>
  %s = graph.softmax %x {axis = 1 : i64} : tensor<64x64xf32> -> tensor<64x64xf32>
  %t = graph.transpose %w {permutation = [1, 0]} : tensor<64x64xf32> -> tensor<64x64xf32>
  func.return %f, %n, %b, %y, %s, %t
      : tensor<64x64xf32>, tensor<64x64xi32>, tensor<64x64xbf16>, tensor<1x32x10x10xf32>, tensor<64x64xf32>,
        tensor<64x64xf32>
}
"""


X86_TRANSPOSE = r"v(unpck[lh]ps|perm\w+|shufps)\s"
ARM_TRANSPOSE = r"zip[12]\s"

INSTRUCTIONS: dict[str, dict[str, str]] = {
    "x86-64-v3": {
        "matmul_relu_0": r"vfmadd\w+ps.*ymm",
        "matmul_integer_0": r"vpmaddwd.*ymm",
        "matmul_0": r"vfmadd\w+ps.*ymm",
        "conv_0": r"vfmadd\w+ps.*ymm",
        "softmax_0": r"vmaxps.*ymm[^@]*vfmadd\w+ps.*ymm",
        "transpose_0": X86_TRANSPOSE,
    },
    "x86-64-v4": {
        "matmul_relu_0": r"vfmadd\w+ps.*zmm",
        "matmul_integer_0": r"vpmaddwd.*zmm",
        "matmul_0": r"vfmadd\w+ps.*zmm",
        "conv_0": r"vfmadd\w+ps.*zmm",
        "softmax_0": r"vmaxps.*zmm[^@]*vfmadd\w+ps.*zmm",
        "transpose_0": X86_TRANSPOSE,
    },
    "cascadelake": {"matmul_integer_0": r"vpdpbusd.*zmm", "matmul_0": r"vfmadd\w+ps.*zmm"},
    "znver4": {
        "matmul_relu_0": r"vfmadd\w+ps.*zmm",
        "matmul_integer_0": r"vpdpbusd.*zmm",
        "matmul_0": r"vdpbf16ps.*zmm",
        "conv_0": r"vfmadd\w+ps.*zmm",
    },
    "aarch64": {
        "matmul_relu_0": r"fmla\s.*\.4s",
        "matmul_integer_0": r"ml[as]l?2?\s|mul\s.*\.4s",
        "matmul_0": r"fmla\s.*\.4s",
        "conv_0": r"fmla\s.*\.4s",
        "softmax_0": r"fmaxnm\s.*\.4s[^@]*fmla\s.*\.4s",
        "transpose_0": ARM_TRANSPOSE,
    },
    "neoverse-n1": {"matmul_integer_0": r"sdot\s.*\.16b", "matmul_0": r"fmla\s.*\.4s"},
}
"""Per target and kernel: what its code must have."""

BEYOND = {
    "x86-64-v3": r"zmm",
    "x86-64-v4": r"vpdpbusd|vdpbf16ps",
    "cascadelake": r"vdpbf16ps",
    "znver4": r"vpmaddwd",
    "aarch64": r"[su]dot\s",
    "neoverse-n1": r"bfdot\s",
}
"""Per target: what its code must not have, since the machine lacks it or has better."""


def kernels(assembly: str) -> dict[str, str]:
    """The code of each kernel by name, with what its threads run."""
    _, *parts = re.split(r"^(\w[\w.]*):.*$", assembly, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for label, body in zip(parts[::2], parts[1::2], strict=True):
        kernel = label.partition(".")[0]
        found[kernel] = found.get(kernel, "") + body
    return found


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_kernels_have_the_instructions_of_the_target(name: str) -> None:
    target = target_by_name(name)
    module = parse_module(MODEL)
    context = make_context()
    for step in pipeline_steps("O2", PipelineOptions(target=name)):
        registry().passes[step.name]()(**step.options).apply(context, module)
    text = module_to_llvm_text(module)
    assert emit_object(text, target).startswith(b"\x7fELF")
    code = kernels(emit_assembly(text, target))
    assert [kernel for kernel, wanted in INSTRUCTIONS[name].items() if not re.search(wanted, code[kernel])] == []
    assert [kernel for kernel, body in code.items() if re.search(BEYOND[name], body)] == []
    # Exponentials are computed in vectors, and bf16 is rounded by no library.
    assert not re.search(r"\bexpf?\b|__truncsfbf2|__extendbfsf2", "".join(code.values()))
