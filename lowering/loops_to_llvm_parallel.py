"""
Loops on several threads.

The iterations of a `threads` loop, and of the loops perfectly nested in it as far as its attribute `nested` says, are
counted as one sequence. They become a function of a range of that sequence and of what they use from around them,
which the runtime calls for parts of it, through a second function that takes what is used out of a struct:

    struct { captured... } context;
    if (total > 0) if (threads < 2) body(0, total, captured...)
                   else aicc_parallel(run, &context, total, grain, least, threads);
    run(context, begin, end):  body(begin, end, captured...)

Small programs are a few calls of that kind: on one thread none of them computes grains, nor at which iteration of which
loop a part begins, and where sizes are small there is often no full tile to do.

Iterations of a loop that is to run `within` those in it are counted there, so that these run once for a part.

A part is a multiple of `grain` iterations, which are work enough to be worth a thread: a number, or computed from
sizes. With fewer than `least` iterations per thread the loop stays on one thread, and loops in it are shared out.
Iterations are independent: results do not depend on who runs what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import cast

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, IntegerType, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.llvm import memory
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.threads import grain_of, least_of, runs_within, spread_loops, work_of
from aicc.lowering.loops_to_llvm_control import either, lower_for, order_stores, run_loop
from aicc.lowering.loops_to_llvm_emit import POINTER, UNKNOWN_ROOT, Buffer, Rows, byte_size
from aicc.lowering.loops_to_llvm_functions import Function, internal_function
from aicc.lowering.loops_to_llvm_index import Poly, add, constant, constant_value, multiply, total

RUNTIME = "aicc_parallel"
_INSIDE = IntegerAttr(3, 32)
"""The address stays inside of what the pointer points to."""
_PLAIN: dict[str, Attribute] = {"ordering": IntegerAttr(0, 64)}

LowerOp = Callable[[Function, Operation], None]


def lower_parallel(fn: Function, op: ForOp, lower_op: LowerOp) -> None:
    """A `loops.for` with `threads`."""
    levels = spread_loops(op)
    counts = [_trips(fn, level, _lower_bound(fn, level)) for level in levels]
    trips = _product(counts)
    captured = _Captured(fn, op)
    name = f"{fn.name}.par{fn.parallel_bodies}"
    fn.parallel_bodies += 1
    body = _body(fn, levels, captured, f"{name}.body", trips, lower_op)
    run = _run(fn, captured, name)
    fn.outlined += [*captured.outlined, body, run]
    assert fn.threads is not None
    count, threads = fn.index(trips), fn.threads

    def alone() -> Sequence[SSAValue]:
        fn.block.add_op(base.CallOp(f"{name}.body", fn.integer(0), count, *captured.values))
        return ()

    def shared() -> Sequence[SSAValue]:
        context = fn.stack(captured.struct, 1)
        for index, value in enumerate(captured.values):
            fn.emit(memory.StoreOp, (value, _field(fn, context, captured.struct, index)), None, _PLAIN)
        numbers = (_grain(fn, op, trips), fn.integer(least_of(op)))
        arguments = (fn.global_address(name), context, count, *numbers, threads)
        fn.block.add_op(base.CallOp(RUNTIME, *arguments))
        return ()

    def some() -> Sequence[SSAValue]:
        either(fn, fn.compare("slt", threads, fn.integer(2)), (alone, shared))
        return ()

    least, _ = fn.atoms.bounds(trips)
    if least is not None and least > 0:
        some()
    else:
        either(fn, fn.compare("sgt", count, fn.integer(0)), (some, None))
    fn.state.uses_threads = True


def _grain(fn: Function, op: ForOp, trips: Poly) -> SSAValue:
    """The iterations that are worth a thread."""
    if (worth := work_of(op)) is None:
        return fn.integer(grain_of(op))
    work, part = worth
    size = fn.dim(work)
    nearest = fn.divide(add(multiply(trips, constant(2 * part)), size), multiply(size, constant(2)), here=True)
    return fn.index(fn.at_least(nearest, 1))


def _lower_bound(fn: Function, op: ForOp) -> Poly:
    return fn.extremum(fn.map_values(op.lower_map, op.lower_operands), largest=True)


def _trips(fn: Function, op: ForOp, lower: Poly) -> Poly:
    """How often the loop runs."""
    upper = fn.extremum(fn.map_values(op.upper_map, op.upper_operands), largest=False)
    step = op.step_value
    return fn.at_least(fn.floor_divide(add(add(upper, lower, -1), constant(step - 1)), step), 0)


def _product(polys: Sequence[Poly]) -> Poly:
    result = constant(1)
    for poly in polys:
        result = multiply(result, poly)
    return result


class _Captured:
    """What the body uses from around it: as values here, as arguments there."""

    def __init__(self, fn: Function, op: ForOp) -> None:
        self.values: list[SSAValue] = []
        self.types: list[Attribute] = []
        self.attributes: list[DictionaryAttr] = []
        self.outlined: list[base.FuncOp] = []
        self._bind: list[Callable[[Function, list[SSAValue]], None]] = []
        roots: dict[object, int] = {}
        used = _used_from_outside(op)
        for value in used:
            lowered = fn.values[value]
            if isinstance(lowered, Buffer):
                roots[lowered.root] = roots.get(lowered.root, 0) + 1
        if least_of(op) and fn.threads is not None:
            place = self._add(fn.threads, {})
            self._bind.append(lambda inner, args: setattr(inner, "threads", args[place]))
        for name, symbol in fn.symbols.items():
            self._index(fn, symbol, lambda inner, poly, name=name: inner.symbols.__setitem__(name, poly))
        for value in used:
            lowered = fn.values[value]
            if isinstance(lowered, Buffer):
                self._buffer(value, lowered, roots[lowered.root] == 1 and UNKNOWN_ROOT not in roots)
            elif isinstance(lowered, Rows):
                self._rows(value, lowered)
            else:
                self._index(fn, lowered, lambda inner, poly, value=value: inner.values.__setitem__(value, poly))

    def _add(self, value: SSAValue, attributes: dict[str, Attribute]) -> int:
        self.values.append(value)
        self.types.append(value.type)
        self.attributes.append(DictionaryAttr(attributes))
        return len(self.values) - 1

    def _index(self, fn: Function, poly: Poly, bind: Callable[[Function, Poly], None]) -> None:
        if constant_value(poly) is not None:
            self._bind.append(lambda inner, _: bind(inner, poly))
            return
        low, high = fn.atoms.bounds(poly)
        multiple = max(fn.atoms.multiple_of(poly), 1)
        place = self._add(fn.index(poly), {})
        self._bind.append(lambda inner, args: bind(inner, inner.atom(args[place], 0, low, high, multiple)))

    def _buffer(self, value: SSAValue, buffer: Buffer, alone: bool) -> None:
        attributes: dict[str, Attribute] = {"llvm.align": IntegerAttr(buffer.align or byte_size(buffer.element), 64)}
        if alone:
            attributes["llvm.noalias"] = UnitAttr()
        place = self._add(buffer.pointer, attributes)

        def bind(inner: Function, args: list[SSAValue]) -> None:
            made = inner.buffer_at(args[place], memref_of(value), 0, buffer.root)
            inner.values[value] = replace(made, align=buffer.align)

        self._bind.append(bind)

    def _rows(self, value: SSAValue, rows: Rows) -> None:
        owners = [row.owner for row in rows.rows]
        constants = [owner for owner in owners if isinstance(owner, base.ConstantOp)]
        if len(constants) == len(owners):

            def bind(inner: Function, _: list[SSAValue]) -> None:
                made = [inner.constant(owner.value, owner.result.type) for owner in constants]
                inner.values[value] = Rows(rows.shape, made)

            self._bind.append(bind)
            return
        places = [self._add(row, {}) for row in rows.rows]
        self._bind.append(
            lambda inner, args: inner.values.__setitem__(value, Rows(rows.shape, [args[place] for place in places]))
        )

    @cached_property
    def struct(self) -> base.LLVMStructType:
        """The type of the context."""
        return base.LLVMStructType.from_type_list(self.types)

    def bind(self, inner: Function, arguments: list[SSAValue]) -> None:
        """Gives the body its values."""
        for step in self._bind:
            step(inner, arguments)


def _used_from_outside(op: ForOp) -> list[SSAValue]:
    """Values that `op` uses and that are defined around it, each once, in order."""
    inside: set[SSAValue] = set(op.block.args)
    used: dict[SSAValue, None] = dict.fromkeys(op.operands)
    for inner in op.body.walk():
        for operand in inner.operands:
            if operand not in inside:
                used[operand] = None
        inside.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.args)
    return [value for value in used if value not in inside]


def _body(
    fn: Function, levels: Sequence[ForOp], captured: _Captured, name: str, trips: Poly, lower_op: LowerOp
) -> base.FuncOp:
    """`body(begin, end, captured...)`: the iterations from number `begin` to number `end`."""
    types = [i64, i64, *captured.types]
    block = Block(arg_types=types)
    inner = Function(block, name, None, fn.state, fn.defined)
    inner.location = fn.location
    captured.bind(inner, list(block.args[2:]))
    high = fn.atoms.bounds(trips)[1]
    begin = inner.atom(block.args[0], 0, 0, None if high is None else max(high - 1, 0))
    end = inner.atom(block.args[1], 0, 0, high)
    _iterate(inner, levels, begin, end, lower_op)
    order_stores(inner)
    inner.block.add_op(base.ReturnOp())
    captured.outlined += cast(list[base.FuncOp], inner.outlined)
    return internal_function(name, types, [DictionaryAttr({})] * 2 + captured.attributes, inner)


def _iterate(fn: Function, levels: Sequence[ForOp], begin: Poly, end: Poly, lower_op: LowerOp) -> None:
    """
    The iterations `begin <= c < end` of nested loops, counted together.

    For each iteration `i` of the outermost loop, with `n` iterations of those inside it: the part of
    `begin - i * n <= c' < end - i * n` that is in `0 <= c' < n`.
    """
    loop, *rest = levels
    step = constant(loop.step_value)
    lower = _lower_bound(fn, loop)
    counts = [_trips(fn, level, _lower_bound(fn, level)) for level in rest]
    inside = _product(counts)
    first, last = _range_of(fn, _trips(fn, loop, lower), inside, begin, end) if rest else (begin, end)

    bounds = [total([lower, multiply(number, step)]) for number in (first, last)]
    if not rest and runs_within(loop):
        _iterate_within(fn, loop, bounds, lower_op)
        return

    def body() -> Sequence[SSAValue]:
        for op in loop.block.ops:
            if rest and op is rest[0]:
                number = fn.floor_divide(add(fn.poly(loop.induction), lower, -1), loop.step_value)
                start = multiply(number, inside)
                low = fn.at_least(add(begin, start, -1), 0)
                high = fn.extremum([add(end, start, -1), inside], largest=False)
                _iterate(fn, rest, low, high, lower_op)
            else:
                lower_op(fn, op)
        return ()

    run_loop(fn, bounds[0], bounds[1], step, loop.induction, (), (), (), body)


def _range_of(fn: Function, trips: Poly, inside: Poly, begin: Poly, end: Poly) -> tuple[Poly, Poly]:
    """
    Which of the `trips` iterations of `inside` each have any from number `begin` to number `end`. No division tells
    that all have all.
    """

    def all_of_them() -> Sequence[SSAValue]:
        return fn.integer(0), fn.index(trips)

    def some() -> Sequence[SSAValue]:
        behind = add(end, add(inside, constant(-1)))
        return fn.index(fn.divide(begin, inside, here=True)), fn.index(fn.divide(behind, inside, here=True))

    if constant_value(inside) is not None:
        return fn.divide(begin, inside), fn.divide(add(end, add(inside, constant(-1))), inside)
    left_out = add(multiply(trips, inside), add(begin, end, -1))
    none = fn.compare("eq", fn.index(left_out), fn.integer(0))
    high = fn.atoms.bounds(trips)[1]
    found = either(fn, none, (all_of_them, some), (i64, i64))
    return fn.atom(found[0], lo=0, hi=high), fn.atom(found[1], lo=0, hi=high)


def _iterate_within(fn: Function, loop: ForOp, bounds: Sequence[Poly], lower_op: LowerOp) -> None:
    """Iterations of `loop` from one of the `bounds` to the other, within the loops in its body."""
    varying = _of_iterations(loop)
    before: list[Operation] = []
    for op in loop.block.ops:
        if isinstance(op, ForOp):
            lower_for(fn, op, partial(_iterate_in_block, fn, loop, bounds, tuple(before), lower_op))
        elif op in varying:
            before.append(op)
        else:
            lower_op(fn, op)


def _iterate_in_block(
    fn: Function, loop: ForOp, bounds: Sequence[Poly], before: Sequence[Operation], lower_op: LowerOp, block: Block
) -> None:
    """Iterations of `loop` as `before` and the ops of a block in it do them."""

    def body() -> Sequence[SSAValue]:
        for op in (*before, *block.ops):
            lower_op(fn, op)
        return ()

    run_loop(fn, bounds[0], bounds[1], constant(loop.step_value), loop.induction, (), (), (), body)


def _of_iterations(loop: ForOp) -> set[Operation]:
    """Ops in the body that depend on the iteration."""
    varying: set[SSAValue] = {loop.induction}
    found: set[Operation] = set()
    for op in loop.block.ops:
        if any(operand in varying for operand in op.operands):
            found.add(op)
            varying.update(op.results)
    return found


@cache
def _field_index(index: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i32, [0, index])


def _field(fn: Function, context: SSAValue, struct: base.LLVMStructType, index: int) -> SSAValue:
    properties: dict[str, Attribute] = {
        "elem_type": struct,
        "noWrapFlags": _INSIDE,
        "rawConstantIndices": _field_index(index),
    }
    return fn.emit(memory.GEPOp, (context,), POINTER, properties)


def _run(fn: Function, captured: _Captured, name: str) -> base.FuncOp:
    """`run(context, begin, end)`: the body with what is in the context."""
    block = Block(arg_types=[POINTER, i64, i64])
    inner = Function(block, name, None, fn.state, fn.defined)
    inner.location = fn.location
    context, begin, end = block.args
    values = [
        inner.emit(memory.LoadOp, (_field(inner, context, captured.struct, index),), type_, _PLAIN)
        for index, type_ in enumerate(captured.types)
    ]
    inner.block.add_op(base.CallOp(f"{name}.body", begin, end, *values))
    inner.block.add_op(base.ReturnOp())
    return internal_function(name, [POINTER, i64, i64], [DictionaryAttr({})] * 3, inner)


def runtime_declaration() -> base.FuncOp:
    """`aicc_parallel(function, context, total, grain, least, threads)`, which the runtime provides."""
    type_ = base.LLVMFunctionType([POINTER, POINTER, i64, i64, i64, i64])
    return base.FuncOp(RUNTIME, type_, linkage=base.LinkageAttr("external"))
