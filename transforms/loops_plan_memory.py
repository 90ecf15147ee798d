"""
`loops-plan-memory`: every intermediate of `@main` and `@prepare` gets a place in one arena.

Before: func.func @main(%x: ..., %out: ...) {
          %a = loops.alloc : memref<16xf32>
After:  func.func @main(%x: ..., %out: ..., %arena: memref<128xi8> {aicc.arena = "128"}) {
          %o = arith.constant 64 : index
          %a = loops.view %arena[%o] : memref<128xi8> to memref<16xf32>

Offsets are multiples of 64. Two buffers share memory if they are never needed at the same time: a buffer is needed from
the first op of its block that uses it to the last one, as a whole where that op has regions. Sizes that are integers
are packed into one part of the arena. A symbolic size is an integer times an expression that cannot be divided further
(`4*N*S` is 4 times `N*S`); sizes with the same expression share a part of the arena, in which offsets are integers
times that expression. Buffers of `@main`'s inputs and outputs are never in the arena.

A buffer whose size data defines gets the place that it needs at most, where that is known; else it becomes a pooled
buffer (`loops.reserve`), which buffers that are never needed at the same time share; such a one is needed from where it
is asked for on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import gcd

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    i8,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from aicc.dialects.graph.dims import Dim, SymExpr, dim_sum
from aicc.dialects.graph.size_bounds import largest, symbol_bounds
from aicc.dialects.loops.attrs import memref_of, memref_type
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.defined_sizes import ReserveOp
from aicc.dialects.loops.functions import is_kernel
from aicc.dialects.loops.memory import AllocOp, SizeOp, ViewOp
from aicc.transforms import memory_packing
from aicc.transforms.diagnostics import fail
from aicc.transforms.kernel_unit import EntryPointsPass
from aicc.transforms.loops_sizes import buffer_bytes

ARENA = "aicc.arena"
"""Attribute of the argument that is the arena: its bytes, as text of an expression."""


@dataclass(frozen=True)
class Need:
    """A buffer and the positions of the first and last op that need it."""

    alloc: AllocOp
    bytes: Dim
    first: int
    last: int
    bounded: bool = True
    """Whether `bytes` is known when the function is called."""


@dataclass
class Plan:
    """Where each buffer lies, and how large the arena is."""

    bytes: Dim = 0
    offsets: dict[AllocOp, Dim] = field(default_factory=dict[AllocOp, Dim])


def primitive_part(size: Dim) -> tuple[int, Dim]:
    """`(factor, expression)` with `size = factor * expression`, where the latter cannot be divided further."""
    if not isinstance(size, SymExpr):
        return size, 1
    factor = reduce(gcd, (coefficient for _, coefficient in size.terms), 0)
    return factor, size // factor


class _Positions:
    """The order of ops in a function, and the span of each op with its regions."""

    def __init__(self, function: func.FuncOp):
        self.first: dict[Operation, int] = {}
        self.last: dict[Operation, int] = {}
        open_ops: list[Operation] = []
        for position, op in enumerate(function.walk()):
            self.first[op] = position
            while open_ops and not open_ops[-1].is_ancestor(op):
                self.last[open_ops.pop()] = position - 1
            open_ops.append(op)
        for op in open_ops:
            self.last[op] = len(self.first) - 1

    def span(self, op: Operation, block: Block) -> tuple[int, int]:
        """The span of the op in `block` that is or holds `op`."""
        holder = op
        while holder.parent is not block:
            parent = holder.parent_op()
            assert parent is not None, "use outside of the block of the definition"
            holder = parent
        return self.first[holder], self.last[holder]


def needs(function: func.FuncOp) -> list[Need]:
    """
    When each `loops.alloc` of the function is needed; unused ones, and those inside of loops, are left out.

    Raises:
        LocatedPassError: if a buffer is passed on as a value by something else than `loops.view`.
    """
    positions = _Positions(function)
    bounds = symbol_bounds(function)
    found: list[Need] = []
    for alloc in function.walk():
        if not isinstance(alloc, AllocOp) or _in_loop(alloc):
            continue
        block = alloc.parent
        assert block is not None
        spans = [positions.span(user, block) for user in _users(alloc)]
        if spans:
            first, last = min(first for first, _ in spans), max(last for _, last in spans)
            size = buffer_bytes(alloc.result)
            most = largest(size, bounds) if bounds else size
            if most is None:
                # Where a pooled buffer is asked for, what its memory held before is gone.
                first = positions.first[alloc]
            found.append(Need(alloc, size if most is None else most, first, last, bounded=most is not None))
    return found


def _in_loop(op: Operation) -> bool:
    """Whether each iteration of a loop around has a buffer of its own."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ForOp):
        parent = parent.parent_op()
    return parent is not None


def _users(alloc: AllocOp) -> list[Operation]:
    """The ops that use the buffer, also through views."""
    users: list[Operation] = []
    pending: list[SSAValue] = [alloc.result]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            users.append(user)
            if isinstance(user, ViewOp):
                pending.append(user.result)
            elif any(isinstance(result.type, MemRefType) for result in user.results) or user.has_trait(IsTerminator):
                fail(user, f"'{user.name}' passes on a buffer that is to be planned; expected a copy into another one")
    return users


def plan(buffers: Sequence[Need]) -> Plan:
    """Offsets for buffers; those whose sizes are multiples of one expression share a part of the arena."""
    groups: dict[Dim, list[tuple[Need, int]]] = {}
    for need in buffers:
        factor, expression = primitive_part(need.bytes)
        groups.setdefault(expression, []).append((need, memory_packing.align(factor)))
    result = Plan()
    for expression, members in groups.items():
        packing = memory_packing.pack([memory_packing.Block(size, need.first, need.last) for need, size in members])
        for (need, _), offset in zip(members, packing.offsets, strict=True):
            result.offsets[need.alloc] = result.bytes + offset * expression
        result.bytes = dim_sum([result.bytes, packing.total * expression])
    return result


def compressed(buffers: Sequence[Need]) -> list[Need]:
    """The same buffers with positions counted in those that start or end a need."""
    times = sorted({position for need in buffers for position in (need.first, need.last)})
    index = {position: count for count, position in enumerate(times)}
    return [Need(need.alloc, need.bytes, index[need.first], index[need.last]) for need in buffers]


def reserve(buffers: Sequence[Need]) -> None:
    """Makes pooled buffers of allocations; one whose need ends before that of another begins has the same name."""
    ends: list[int] = []
    for need in sorted(buffers, key=lambda need: need.first):
        free = [number for number, end in enumerate(ends) if end < need.first]
        number = free[0] if free else len(ends)
        ends[number : number + 1] = [need.last]
        alloc = need.alloc
        made = ReserveOp(f"pool {number}", memref_of(alloc.result))
        made.location = alloc.location
        Rewriter.replace_op(alloc, made)


def plan_function(function: func.FuncOp) -> Plan:
    """Replaces the function's allocations by views of an arena, its new last argument, if there are any."""
    found = needs(function)
    reserve([need for need in found if not need.bounded])
    buffers = compressed([need for need in found if need.bounded])
    result = plan(buffers)
    for op in list(function.walk()):
        if isinstance(op, AllocOp) and op not in result.offsets and not op.result.uses:
            op.detach()
            op.erase()
    if not result.offsets:
        return result
    entry = function.body.block
    arena = entry.insert_arg(memref_type([result.bytes], i8), len(entry.args))
    arena.name_hint = "arena"
    add_argument_attributes(function, len(entry.args), {ARENA: StringAttr(str(result.bytes))})
    function.update_function_type()
    offsets = _Offsets(entry)
    for alloc, offset in result.offsets.items():
        view = ViewOp(arena, memref_of(alloc.result), offsets.value(offset))
        view.location = alloc.location
        view.result.name_hint = alloc.result.name_hint
        block = alloc.parent
        assert block is not None
        block.insert_op_before(view, alloc)
        alloc.result.replace_all_uses_with(view.result)
        alloc.detach()
        alloc.erase()
    return result


def add_argument_attributes(function: func.FuncOp, count: int, last: dict[str, Attribute]) -> None:
    """Gives the last of `count` arguments the attributes `last`."""
    given = list(function.arg_attrs.data) if function.arg_attrs is not None else []
    given += [DictionaryAttr({})] * (count - 1 - len(given))
    function.arg_attrs = ArrayAttr([*given, DictionaryAttr(last)])


class _Offsets:
    """Index values of sizes, made once at the start of a block."""

    def __init__(self, entry: Block):
        self.entry = entry
        self.made: dict[Dim, SSAValue] = {}

    def value(self, size: Dim) -> SSAValue:
        if size not in self.made:
            if isinstance(size, SymExpr):
                op: Operation = SizeOp(size)
            else:
                op = arith.ConstantOp(IntegerAttr(size, IndexType()))
            first = self.entry.first_op
            assert first is not None
            self.entry.insert_op_before(op, first)
            self.made[size] = op.results[0]
        return self.made[size]


@dataclass(frozen=True)
class LoopsPlanMemoryPass(EntryPointsPass):
    """Gives every intermediate of `@main` and `@prepare` a place in one arena."""

    name = "loops-plan-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks and not is_kernel(function):
                plan_function(function)
