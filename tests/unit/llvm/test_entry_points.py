"""`@main` and `@prepare` called through their pointer table by the runtime."""

from __future__ import annotations

import json

import numpy as np
import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr

from aicc.backends.llvm.objects import emit_object
from aicc.backends.llvm.targets import host_target
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.lowering.loops_to_llvm import lower_module
from aicc.lowering.parse import parse_module
from aicc.objects import runtime_objects
from aicc.runtime.compiled import CompiledProgram
from aicc.runtime.model import Model
from aicc.runtime.signature import parse_signature

MODULE = """
#d = #loops.dims<n>
func.func private @add(%n: index, %a: memref<?xf32, #d>, %w: memref<4xf32>, %o: memref<?xf32, #d>)
    attributes {aicc.kernel, aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to %n parallel threads {
    %x = loops.load %a[%i] : memref<?xf32, #d> to f32
    %y = loops.load %w[%i mod 4] : memref<4xf32> to f32
    %z = arith.addf %x, %y : f32
    loops.store %z, %o[%i] : f32 to memref<?xf32, #d>
  }
  func.return
}
func.func private @double(%w: memref<4xf32>, %t: memref<4xf32>, %o: memref<4xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %v = loops.load %w[l0] : memref<4xf32> to vector<4xf32>
  %d = arith.addf %v, %v : vector<4xf32>
  loops.store %d, %t[l0] : vector<4xf32> to memref<4xf32>
  loops.copy %t to %o : memref<4xf32> to memref<4xf32>
  func.return
}
func.func @prepare() {
  %w = loops.constant #graph.buffer<"w"> : memref<4xf32>
  %t = loops.alloc : memref<4xf32>
  %p = loops.prepared "w2" : memref<4xf32>
  func.call @double(%w, %t, %p) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func @main(%n: index, %x: memref<?xf32, #d>, %flag: memref<i1>, %o: memref<?xf32, #d>,
                %arena: memref<?xi8, #loops.dims<max(4*n, 1)>> {aicc.arena})
    attributes {aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  %t = loops.view %arena[%zero] : memref<?xi8, #loops.dims<max(4*n, 1)>> to memref<?xf32, #d>
  %p = loops.prepared "w2" : memref<4xf32>
  %c = loops.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : memref<4xf32>
  %f = loops.load %flag[] : memref<i1> to i1
  func.call @add(%n, %x, %p, %t) : (index, memref<?xf32, #d>, memref<4xf32>, memref<?xf32, #d>) -> ()
  scf.if %f {
    func.call @add(%n, %t, %c, %o) : (index, memref<?xf32, #d>, memref<4xf32>, memref<?xf32, #d>) -> ()
  } else {
    loops.copy %t to %o : memref<?xf32, #d> to memref<?xf32, #d>
  }
  func.return
}
"""


def lowered() -> ModuleOp:
    module = parse_module(MODULE)
    lower_module(module)
    return module


def signature_text(module: ModuleOp) -> str:
    [main] = [op for op in module.ops if isinstance(op, llvm.FuncOp) and op.sym_name.data == "main"]
    text = main.attributes["aicc.signature"]
    assert isinstance(text, StringAttr)
    return text.data


def test_the_signature_lists_the_buffers():
    signature = json.loads(signature_text(lowered()))
    assert signature["symbols"] == ["n"]
    assert [entry["name"] for entry in signature["inputs"]] == ["input0", "input1"]
    assert [entry["dtype"] for entry in signature["inputs"]] == ["float32", "bool"]
    kinds = sorted(entry["kind"] for entry in signature["buffers"])
    assert kinds == ["arena", "input", "input", "output", "prepared", "weight"]
    [arena] = [entry for entry in signature["buffers"] if entry["kind"] == "arena"]
    assert arena["bytes"].startswith("max(") and "16" in arena["bytes"]
    [prepared] = [entry for entry in signature["buffers"] if entry["kind"] == "prepared"]
    assert prepared == {"kind": "prepared", "name": "w2", "bytes": "16"}


@pytest.mark.parametrize("threads", [1, 2])
def test_the_runtime_calls_them(threads: int):
    module = lowered()
    image = emit_object(module_to_llvm_text(module), host_target())
    weights = {"w": np.array([10, 20, 30, 40], np.float32)}
    signature = parse_signature(signature_text(module))
    images = [image, *(own.image for own in runtime_objects(signature, host_target()))]
    program = CompiledProgram(signature, images, weights, has_prepare=True)
    model = Model(program, threads=threads)
    for n in (1, 5, 100):
        x = np.arange(n, dtype=np.float32)
        base = x + 2 * np.resize(weights["w"], n)
        for flag in (False, True):
            [out] = model(x, np.array(flag))
            np.testing.assert_array_equal(out, base + (np.resize([1, 2, 3, 4], n) if flag else 0))
