"""
`loops-profile`: `@main` notes how long each of its kernel calls takes.

Before: func.func @main(...) {                    After: func.func @main(..., %profile: memref<1x4xi64> {aicc.profile})
          loops.call @k(...)                               attributes {aicc.profile = [["k", "conv1"]]} {
                                                           %t0 = func.call @aicc_clock() : () -> i64
                                                           loops.call @k(...)
                                                           %t1 = func.call @aicc_clock() : () -> i64
                                                           ... %profile[0, ...] is updated

Row `i` belongs to call `i` in program order: how often it ran, nanoseconds in all, nanoseconds of the shortest run (the
caller sets it to the largest number before), and the clock when the last run began. `aicc.profile` lists the calls: the
kernel, then the names of the source model's nodes. `@aicc_clock`, nanoseconds of a steady clock, is the runtime's.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.loops.access import LoadOp, StoreOp
from aicc.dialects.loops.attrs import memref_type
from aicc.dialects.loops.call import CallOp
from aicc.dialects.loops.functions import find_function
from aicc.transforms.diagnostics import location_names
from aicc.transforms.loops_plan_memory import add_argument_attributes

PROFILE = "aicc.profile"
CLOCK = "aicc_clock"
RUNS, TOTAL, SHORTEST, LAST = range(4)
"""Columns of a row."""


def profile_function(main: func.FuncOp) -> int:
    """Puts clocks around the kernel calls of `main`; how many there are. Without any, nothing changes."""
    calls = [op for op in main.walk() if isinstance(op, CallOp)]
    if not calls:
        return 0
    entry = main.body.block
    profile = entry.insert_arg(memref_type([len(calls), 4], i64), len(entry.args))
    profile.name_hint = "profile"
    add_argument_attributes(main, len(entry.args), {PROFILE: UnitAttr()})
    main.update_function_type()
    rows: list[ArrayAttr[StringAttr]] = []
    for row, call in enumerate(calls):
        _time(call, profile, row)
        names = (call.callee_name, *location_names(call.location))
        rows.append(ArrayAttr([StringAttr(name) for name in names]))
    main.attributes[PROFILE] = ArrayAttr(rows)
    return len(calls)


def _time(call: CallOp, profile: SSAValue, row: int) -> None:
    block = call.parent
    assert block is not None
    start = func.CallOp(CLOCK, [], [i64])
    block.insert_op_before(start, call)
    end = func.CallOp(CLOCK, [], [i64])
    elapsed = arith.SubiOp(end.results[0], start.results[0])
    one = arith.ConstantOp(IntegerAttr(1, i64))
    runs, total, shortest = (LoadOp.at(profile, [row, column]) for column in (RUNS, TOTAL, SHORTEST))
    new: list[arith.AddiOp | arith.MinSIOp] = [
        arith.AddiOp(runs.result, one.result),
        arith.AddiOp(total.result, elapsed.result),
        arith.MinSIOp(shortest.result, elapsed.result),
    ]
    values: list[SSAValue] = [*(op.result for op in new), start.results[0]]
    stores = [StoreOp.at(value, profile, [row, column]) for column, value in enumerate(values)]
    ops: list[Operation] = [end, elapsed, one, runs, total, shortest, *new, *stores]
    for op in (start, *ops):
        op.location = call.location
    block.insert_ops_after(ops, call)


@dataclass(frozen=True)
class LoopsProfilePass(ModulePass):
    """Makes `@main` note how long each of its kernel calls takes."""

    name = "loops-profile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        main = find_function(op, "main")
        if main is None or not main.body.blocks or not profile_function(main):
            return
        if find_function(op, CLOCK) is None:
            op.body.block.insert_op_before(func.FuncOp.external(CLOCK, [], [i64]), main)
