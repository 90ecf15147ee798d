"""
`graph-inline-calls`: the bodies of called functions take the place of `graph.call`.

Before: %r = graph.call @f(%x) : (tensor<4x2xf32>) -> tensor<4xf32>      with @f over tensor<?x2xf32, #graph.dims<N>>
After:  the ops of @f, with 4 for N

The levels below know calls of kernels only. Functions that nothing calls any more and that are private are removed.
Recursion is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.graph.control import CallOp
from aicc.dialects.graph.dims import Dim, dims_of, is_tensor
from aicc.dialects.graph.unify import symbol_values
from aicc.transforms.diagnostics import fail
from aicc.transforms.graph_functions import functions, return_op
from aicc.transforms.locations import fuse_locations
from aicc.transforms.symbols import SymbolSubstitution


@dataclass(frozen=True)
class GraphInlineCallsPass(ModulePass):
    """Puts the bodies of called functions in the place of their calls."""

    name = "graph-inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        by_name = {function.sym_name.data: function for function in functions(op)}
        finished = set[str]()
        called = set[str]()
        for name in by_name:
            _inline_into(name, by_name, finished, called)
        for name in called:
            function = by_name[name]
            if function.sym_visibility is not None and function.sym_visibility.data == "private":
                function.detach()
                function.erase()


def _inline_into(name: str, by_name: Mapping[str, FuncOp], finished: set[str], called: set[str]) -> None:
    """Inlines all calls in function `name`, in callees before their callers."""
    entered = list[str]()
    pending = [(name, False)]
    while pending:
        current, callees_done = pending.pop()
        if current in finished:
            continue
        calls = [op for op in by_name[current].walk() if isinstance(op, CallOp)]
        if callees_done:
            for call in calls:
                inline_call(call, by_name[call.callee.string_value()])
            finished.add(current)
            entered.remove(current)
            continue
        entered.append(current)
        pending.append((current, True))
        for call in calls:
            callee = call.callee.string_value()
            if callee not in by_name:
                fail(call, f"'graph.call' op calls @{callee}, which has no body in this module")
            if callee in entered:
                fail(call, f"'graph.call' op calls @{callee}, which calls itself; recursion cannot be inlined")
            called.add(callee)
            pending.append((callee, False))


def inline_call(call: CallOp, callee: FuncOp) -> None:
    """Puts a copy of the body of `callee` in the place of `call`, with sizes of the arguments for its symbols."""
    types = callee.function_type.inputs.data
    shapes = [dims_of(operand.type) if is_tensor(operand.type) else () for operand in call.arguments]
    values: Mapping[str, Dim] = symbol_values(types, shapes)
    substitution = SymbolSubstitution(values)
    mapping: dict[SSAValue, SSAValue] = dict(zip(callee.body.block.args, call.arguments, strict=True))
    block = call.parent_block()
    assert block is not None
    last = return_op(callee)
    for op in callee.body.block.ops:
        if op is last:
            break
        copy = op.clone(value_mapper=mapping)
        substitution.apply(copy)
        _set_call_location(copy, op, call)
        block.insert_op_before(copy, call)
    results = [mapping.get(value, value) for value in last.arguments]
    for result, value in zip(call.results, results, strict=True):
        result.replace_all_uses_with(value)
    call.detach()
    call.erase()


def _set_call_location(copy: Operation, original: Operation, call: CallOp) -> None:
    for new, old in zip(copy.walk(), original.walk(), strict=True):
        new.location = fuse_locations([old.location, call.location])
