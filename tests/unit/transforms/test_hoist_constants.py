"""How much of what is computed from constants may move to `@prepare`."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from aicc.dialects.loops.call import CallOp
from aicc.lowering.context import make_context
from aicc.transforms import loops_hoist_constants
from aicc.transforms.loops_hoist_constants import LoopsHoistConstantsPass

MODULE = """
func.func private @k(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}
func.func private @last(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}
func.func private @use(%x: memref<4xf32>, %y: memref<4xf32>, %out: memref<4xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}
func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %w = loops.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
  %a = loops.alloc : memref<4xf32>
  %b = loops.alloc : memref<4xf32>
  %c = loops.alloc : memref<4xf32>
  loops.call @k(%w, %a) : memref<4xf32>, memref<4xf32>
  loops.call @k(%a, %b) : memref<4xf32>, memref<4xf32>
  loops.call @last(%w, %c) : memref<4xf32>, memref<4xf32>
  loops.call @use(FIRST, %c, %out) : memref<4xf32>, memref<4xf32>, memref<4xf32>
  func.return
}
"""


@pytest.mark.parametrize(("read", "moved"), [("%b", True), ("%a", False)])
def test_what_only_moved_calls_read_is_not_counted(monkeypatch: pytest.MonkeyPatch, read: str, moved: bool) -> None:
    """Two buffers may be kept: that of the first call is gone after the second one, unless main reads it."""
    monkeypatch.setattr(loops_hoist_constants, "MOST_BYTES", 0)
    monkeypatch.setattr(loops_hoist_constants, "MOST_TIMES_WEIGHTS", 2)
    context = make_context()
    module = Parser(context, MODULE.replace("FIRST", read)).parse_module()
    LoopsHoistConstantsPass().apply(context, module)
    (main,) = (op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    left = [op.callee_name for op in main.walk() if isinstance(op, CallOp)]
    assert left == (["use"] if moved else ["last", "use"])
