"""
Loops on several threads.

The body of a `threads` loop becomes a function of a range of iterations and of what it uses from around it. A second
one, which every thread runs, takes chunks off a shared counter until none is left:

    struct { i64 next; i64 chunks; i64 lower; i64 upper; captured... } context;
    aicc_parallel(run, &context, min(threads, chunks))        // or run(&context) for one thread

    run(context):  while ((c = next++) < chunks) body(lower + c * size, min(upper, lower + (c + 1) * size), captured...)

What a chunk covers depends on the extents alone, never on the number of threads, and so do the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from aicc.dialects.llvm import atomics, intrinsics, memory
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.control import ForOp
from aicc.lowering.loops_to_llvm_control import branch, branch_if, loop_body
from aicc.lowering.loops_to_llvm_emit import POINTER, UNKNOWN_ROOT, Buffer, Rows, Scope, byte_size
from aicc.lowering.loops_to_llvm_functions import Function, internal_function
from aicc.lowering.loops_to_llvm_index import Poly, add, constant, constant_value, multiply

MAX_CHUNKS = 1024
"""More chunks than this are not worth the counter's traffic: chunks get larger instead."""

RUNTIME = "aicc_parallel"
_PLAIN: dict[str, Attribute] = {"ordering": IntegerAttr(0, 64)}


def lower_parallel(fn: Function, op: ForOp, lower_block: Callable[[Function, Block], None]) -> None:
    """A `loops.for` with `threads`."""
    lower = fn.extremum(fn.map_values(op.lower_map, op.lower_operands), largest=True)
    upper = fn.extremum(fn.map_values(op.upper_map, op.upper_operands), largest=False)
    step = op.step_value
    trips = fn.floor_divide(add(add(upper, lower, -1), constant(step - 1)), step)
    size = _chunk_size(fn, op, trips)
    chunks = fn.divide(add(add(trips, size), constant(-1)), size)
    captured = _Captured(fn, op)
    name = f"{fn.name}.par{fn.parallel_bodies}"
    fn.parallel_bodies += 1
    body = _body(fn, op, captured, f"{name}.body", lower, upper, lower_block)
    types = [i64, i64, i64, i64, i64, *captured.types]
    run = _run(fn, captured, name, body.sym_name.data, base.LLVMStructType.from_type_list(types))
    fn.outlined += [*captured.outlined, body, run]
    width = fn.index(multiply(size, constant(step)))
    values = [fn.integer(0), fn.index(chunks), fn.index(lower), fn.index(upper), width, *captured.values]
    context = _context(fn, base.LLVMStructType.from_type_list(types), values)
    _start(fn, name, context, fn.index(chunks))


def _chunk_size(fn: Function, op: ForOp, trips: Poly) -> Poly:
    """Iterations of a chunk: the attribute `grain`, or as many as make at most `MAX_CHUNKS` chunks."""
    grain = op.attributes.get("grain")
    least = grain.value.data if isinstance(grain, IntegerAttr) else 1
    if (count := constant_value(trips)) is not None:
        return constant(max(least, -(-count // MAX_CHUNKS)))
    high = fn.atoms.bounds(trips)[1]
    if high is not None and high <= least * MAX_CHUNKS:
        return constant(least)
    return fn.at_least(fn.floor_divide(add(trips, constant(MAX_CHUNKS - 1)), MAX_CHUNKS), least)


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
        attributes: dict[str, Attribute] = {"llvm.align": IntegerAttr(byte_size(buffer.element), 64)}
        if alone:
            attributes["llvm.noalias"] = UnitAttr()
        place = self._add(buffer.pointer, attributes)

        def bind(inner: Function, args: list[SSAValue]) -> None:
            inner.values[value] = inner.buffer_at(args[place], memref_of(value), 0, buffer.root)

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

    def bind(self, inner: Function, arguments: list[SSAValue]) -> None:
        """Gives the body its values."""
        for step in self._bind:
            step(inner, arguments)


def _used_from_outside(op: ForOp) -> list[SSAValue]:
    """Values that the body of `op` uses and that are defined around it, each once, in order."""
    inside: set[SSAValue] = set(op.block.args)
    used: dict[SSAValue, None] = {}
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
    fn: Function,
    op: ForOp,
    captured: _Captured,
    name: str,
    lower: Poly,
    upper: Poly,
    lower_block: Callable[[Function, Block], None],
) -> base.FuncOp:
    """`body(begin, end, captured...)`: the iterations from `begin` to `end`."""
    types = [i64, i64, *captured.types]
    block = Block(arg_types=types)
    inner = Function(block, name, None, fn.state, fn.defined)
    inner.location = fn.location
    captured.bind(inner, list(block.args[2:]))
    low, high = fn.atoms.bounds(lower)[0], fn.atoms.bounds(upper)[1]
    from math import gcd

    multiple = max(gcd(fn.atoms.multiple_of(lower), op.step_value), 1)
    begin = inner.atom(block.args[0], 0, low, high, multiple)
    end = inner.atom(block.args[1], 0, low, high)
    loop_body(inner, op, begin, end, lambda inner_block: lower_block(inner, inner_block))
    inner.block.add_op(base.ReturnOp())
    captured.outlined += cast(list[base.FuncOp], inner.outlined)
    return internal_function(name, types, [DictionaryAttr({})] * 2 + captured.attributes, inner)


def _field(fn: Function, context: SSAValue, struct: base.LLVMStructType, index: int) -> SSAValue:
    properties: dict[str, Attribute] = {
        "elem_type": struct,
        "noWrapFlags": IntegerAttr(3, 32),
        "rawConstantIndices": DenseArrayBase.from_list(i32, [0, index]),
    }
    return fn.emit(memory.GEPOp, (context,), POINTER, properties)


def _context(fn: Function, struct: base.LLVMStructType, values: list[SSAValue]) -> SSAValue:
    """A struct on the stack with these values; the counter is in a cache line of its own as far as it can be."""
    context = fn.stack(struct, 1)
    for index, value in enumerate(values):
        fn.emit(memory.StoreOp, (value, _field(fn, context, struct, index)), None, _PLAIN)
    return context


def _run(fn: Function, captured: _Captured, name: str, body: str, struct: base.LLVMStructType) -> base.FuncOp:
    """`run(context)`: chunks, until none is left."""
    block = Block(arg_types=[POINTER])
    inner = Function(block, name, None, fn.state, fn.defined)
    inner.location = fn.location
    context = block.args[0]
    count = 5 + len(captured.types)
    fields = [
        inner.emit(memory.LoadOp, (_field(inner, context, struct, index),), struct.types.data[index], _PLAIN)
        for index in range(1, count)
    ]
    chunks, lower, upper, width, *values = fields
    header, work, done = inner.new_block(), inner.new_block(), inner.new_block()
    branch(inner, header, ())
    inner.scopes[0] = Scope(header)
    ordering = {"bin_op": IntegerAttr(atomics.ATOMIC_OPERATIONS.index("add"), 64), "ordering": IntegerAttr(2, 64)}
    chunk = inner.emit(atomics.AtomicRMWOp, (context, inner.integer(1)), i64, ordering)
    branch_if(inner, inner.compare("slt", chunk, chunks), (work, ()), (done, ()))
    inner.scopes[0] = Scope(work)
    flags = {"overflowFlags": IntegerAttr(1, 32)}
    begin = inner.emit(base.MulOp, (chunk, width), i64, flags)
    begin = inner.emit(base.AddOp, (begin, lower), i64, flags)
    end = inner.emit(base.AddOp, (begin, width), i64, flags)
    end = inner.emit(intrinsics.SMinOp, (end, upper), i64)
    inner.block.add_op(base.CallOp(body, begin, end, *values))
    branch(inner, header, (), back=True)
    inner.scopes[0] = Scope(done)
    inner.block.add_op(base.ReturnOp())
    return internal_function(name, [POINTER], [DictionaryAttr({})], inner)


def _start(fn: Function, name: str, context: SSAValue, chunks: SSAValue) -> None:
    """Runs the chunks on several threads, or here when there is one thread or chunk."""
    assert fn.threads is not None
    count = fn.emit(intrinsics.SMinOp, (fn.threads, chunks), i64)
    several, alone, join = fn.new_block(), fn.new_block(), Block()
    branch_if(fn, fn.compare("sgt", count, fn.integer(1)), (several, ()), (alone, ()))
    for block in (several, alone):
        fn.scopes.append(Scope(block))
        if block is several:
            fn.block.add_op(base.CallOp(RUNTIME, fn.global_address(name), context, count))
        else:
            fn.block.add_op(base.CallOp(name, context))
        branch(fn, join, ())
        fn.scopes.pop()
    fn.blocks.append(join)
    fn.scopes[-1].block = join
    fn.state.uses_threads = True


def runtime_declaration() -> base.FuncOp:
    """`aicc_parallel(function, context, count)`, which the runtime provides."""
    type_ = base.LLVMFunctionType([POINTER, POINTER, i64])
    return base.FuncOp(RUNTIME, type_, linkage=base.LinkageAttr("external"))
