"""Callees are found by name in the symbol table as it is at the time of the question."""

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from aicc.dialects.graph import callees
from aicc.dialects.graph.callees import find_callee
from aicc.dialects.graph.control import CallOp
from aicc.lowering.parse import parse_module

TEXT = """
func.func private @f(tensor<f32>) -> tensor<f32>
func.func private @g(tensor<f32>) -> tensor<f32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = graph.call @f(%x) : (tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}
"""


def functions(module: ModuleOp) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def test_functions_that_come_go_and_get_other_names():
    module = parse_module(TEXT)
    call = next(op for op in module.walk() if isinstance(op, CallOp))
    f, g = functions(module)["f"], functions(module)["g"]
    assert find_callee(call, call.callee) is f
    f.sym_name, g.sym_name = StringAttr("old"), StringAttr("f")
    assert find_callee(call, call.callee) is g
    g.detach()
    assert find_callee(call, call.callee) is None
    f.sym_name = StringAttr("f")
    assert find_callee(call, call.callee) is f


def test_the_module_is_gone_over_once_for_many_calls(monkeypatch: pytest.MonkeyPatch):
    count = 40
    lines = [f"func.func private @f{i}(tensor<f32>) -> tensor<f32>" for i in range(count)]
    lines += ["func.func @main(%x: tensor<f32>) {"]
    lines += [f"  %y{i} = graph.call @f{i}(%x) : (tensor<f32>) -> tensor<f32>" for i in range(count)]
    module = parse_module("\n".join([*lines, "  func.return", "}"]))
    asked: list[Operation] = []
    name_of = callees.symbol_name

    def counted(op: Operation) -> str | None:
        asked.append(op)
        return name_of(op)

    monkeypatch.setattr(callees, "symbol_name", counted)
    for op in module.walk():
        if isinstance(op, CallOp):
            assert find_callee(op, op.callee) is functions(module)[op.callee.string_value()]
    assert len(asked) < 3 * count
