"""
`loops-profile`: `@main` notes how long each of its kernel calls takes.

Before: func.func @main(...) {                    After: func.func @main(..., %profile: memref<1x6xi64> {aicc.profile})
          loops.call @k(...)                               attributes {aicc.profile = [{kernel = "k", ...}]} {
                                                           %t0 = func.call @aicc_clock() : () -> i64
                                                           loops.call @k(...)
                                                           %t1 = func.call @aicc_clock() : () -> i64
                                                           ... %profile[0, ...] is updated

Row `i` belongs to call `i` in program order: how often it ran, nanoseconds in all, nanoseconds of the shortest run (the
caller sets it to the largest number before), the clock when the last run began, and, for calls whose sizes `@main`
itself gives values to, bytes and operations of all runs. `aicc.profile` lists the calls: `kernel`, the names of the
source model's `nodes`, `bytes` of the buffers that it is given, and what `loops-note-work` noted of the kernel, `flops`
and `schedule`; `counted` stands where bytes and operations are in the row. `@aicc_clock`, nanoseconds of a steady
clock, is the runtime's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.graph.dims import Dim, dim_sum, substitute, symbols_of
from aicc.dialects.loops.access import LoadOp, StoreOp
from aicc.dialects.loops.attrs import memref_type
from aicc.dialects.loops.call import CallOp, size_of_value
from aicc.dialects.loops.functions import num_outputs, num_scratch, symbol_names
from aicc.dialects.loops.memory import SizeOp
from aicc.dialects.tensor_ops.ops import VERSION_ATTRIBUTE
from aicc.transforms.diagnostics import location_names
from aicc.transforms.kernel_unit import EntryPointsPass
from aicc.transforms.loops_note_work import FLOPS, SCHEDULE
from aicc.transforms.loops_plan_memory import add_argument_attributes
from aicc.transforms.loops_sizes import buffer_bytes

PROFILE = "aicc.profile"
CLOCK = "aicc_clock"
RUNS, TOTAL, SHORTEST, LAST, BYTES, FLOPS_DONE = range(6)
"""Columns of a row."""


def profile_function(main: func.FuncOp, functions: Mapping[str, func.FuncOp]) -> int:
    """Puts clocks around the kernel calls of `main`; how many there are. Without any, nothing changes."""
    calls = [op for op in main.walk() if isinstance(op, CallOp)]
    if not calls:
        return 0
    entry = main.body.block
    profile = entry.insert_arg(memref_type([len(calls), FLOPS_DONE + 1], i64), len(entry.args))
    profile.name_hint = "profile"
    add_argument_attributes(main, len(entry.args), {PROFILE: UnitAttr()})
    main.update_function_type()
    rows: list[DictionaryAttr] = []
    known = set(symbol_names(main))
    for row, call in enumerate(calls):
        work = work_of(call, functions[call.callee_name])
        counted = not known.issuperset(symbols_of([size for size in work if size is not None]))
        _time(call, profile, row, work if counted else ())
        rows.append(describe(call, functions[call.callee_name], work, counted))
    main.attributes[PROFILE] = ArrayAttr(rows)
    return len(calls)


def work_of(call: CallOp, callee: func.FuncOp) -> tuple[Dim, Dim | None]:
    """Bytes of the buffers of a call, and operations on floats where they are known, over the symbols of the caller."""
    scratch = len(call.arguments) - num_outputs(callee) - num_scratch(callee)
    buffers = [
        value
        for position, value in enumerate(call.arguments)
        if isinstance(value.type, MemRefType) and not scratch <= position < scratch + num_scratch(callee)
    ]
    size = dim_sum([buffer_bytes(value) for value in buffers])
    if not isinstance(noted := callee.attributes.get(FLOPS), StringAttr):
        return size, None
    flops = parse_dim(noted.data)
    values = dict(zip(symbol_names(callee), map(size_of_value, call.arguments), strict=False))
    if any(values.get(name) is None for name in symbols_of([flops])):
        return size, None
    return size, substitute(flops, {name: value for name, value in values.items() if value is not None})


def describe(call: CallOp, callee: func.FuncOp, work: tuple[Dim, Dim | None], counted: bool) -> DictionaryAttr:
    """What a profile tells of a call besides its time."""
    size, flops = work
    entries: dict[str, Attribute] = {
        "kernel": StringAttr(call.callee_name),
        "nodes": ArrayAttr([StringAttr(name) for name in location_names(call.location)]),
        "bytes": StringAttr(str(size)),
    }
    if flops is not None:
        entries["flops"] = StringAttr(str(flops))
    if (schedule := callee.attributes.get(SCHEDULE)) is not None:
        entries["schedule"] = schedule
    if counted:
        entries["counted"] = UnitAttr()
    if VERSION_ATTRIBUTE in call.attributes:
        entries["version"] = UnitAttr()
    return DictionaryAttr(entries)


def _time(call: CallOp, profile: SSAValue, row: int, work: Sequence[Dim | None]) -> None:
    """Puts clocks around a call; bytes and operations `work` are added up where they are given."""
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
    for column, amount in zip((BYTES, FLOPS_DONE), work, strict=False):
        if amount is not None:
            size = SizeOp(amount)
            more = arith.IndexCastOp(size.result, i64)
            before = LoadOp.at(profile, [row, column])
            after = arith.AddiOp(before.result, more.result)
            ops += [size, more, before, after, StoreOp.at(after.result, profile, [row, column])]
    for op in (start, *ops):
        op.location = call.location
    block.insert_ops_after(ops, call)


@dataclass(frozen=True)
class LoopsProfilePass(EntryPointsPass):
    """Makes `@main` note how long each of its kernel calls takes."""

    name = "loops-profile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, func.FuncOp)}
        main = functions.get("main")
        if main is None or not main.body.blocks or not profile_function(main, functions):
            return
        if CLOCK not in functions:
            op.body.block.insert_op_before(func.FuncOp.external(CLOCK, [], [i64]), main)
