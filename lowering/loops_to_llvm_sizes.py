"""
Sizes that data defines, and pooled buffers, in `@main`.

Before the values of the symbols that `@main` is called with lies the address of the state of the call
(`aicc.runtime.call_state`), and behind them there is room for those that it defines itself. A size out of range or two
that are not equal end the run through `aicc_stop`, which does not return; the signature lists under `stops` what each
one says. Pooled buffers are numbered; `aicc_reserve` makes them large enough, and `results` of the signature says which
ones hold results.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import IntegerAttr, f64, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.llvm import memory
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.defined_sizes import CheckSizesOp, DefineSizeOp, ExchangeOp, ReservedOp, ReserveOp
from aicc.lowering.loops_to_llvm_control import branch, branch_if
from aicc.lowering.loops_to_llvm_emit import NO_FAST_MATH, POINTER, UNKNOWN_ROOT, Buffer, Scope, byte_size
from aicc.lowering.loops_to_llvm_functions import Function
from aicc.lowering.loops_to_llvm_index import ZERO
from aicc.transforms.diagnostics import location_names

STOP, RESERVE, EXTEND = "aicc_stop", "aicc_reserve", "aicc_extend"
"""
`aicc_stop(state, number, lhs, rhs)`, `aicc_reserve(state, buffer, bytes, bytes as a float) -> ptr`, and `aicc_extend`,
which is called like that and keeps what the buffer holds.
"""

MOST = 1 << 48
"""A size that nothing bounds must not be larger: more cannot be addressed."""

BUFFERS = 68
"""Where in the state of a call the pooled buffers are: an address and a number of bytes each."""


def _word(fn: Function, pointer: SSAValue, place: int) -> SSAValue:
    """The address of a word behind (or before) `pointer`."""
    return fn.address(Buffer(pointer, 0, i64, (), (), None), ZERO, {(): place} if place else ZERO)


def _load(fn: Function, address: SSAValue, type_: Attribute, depth: int = -1) -> SSAValue:
    return fn.emit(memory.LoadOp, (address,), type_, {"ordering": IntegerAttr(0, 64)}, depth)


def _store(fn: Function, value: SSAValue, address: SSAValue) -> None:
    fn.emit(memory.StoreOp, (value, address), None, {"ordering": IntegerAttr(0, 64)})


def _state(fn: Function, op: Operation) -> SSAValue:
    """The address of the state of the call, read once."""
    if fn.sizes is None or fn.name != "main":
        fn.not_lowered(op, "only @main has sizes that data defines")
    assert fn.sizes is not None
    if fn.call_state is None:
        fn.call_state = _load(fn, _word(fn, fn.sizes, -1), POINTER, 0)
    return fn.call_state


def _call(fn: Function, name: str, operands: list[SSAValue], result: Attribute | None = None) -> SSAValue | None:
    fn.state.runtime[name] = ([operand.type for operand in operands], result)
    call = base.CallOp(name, *operands, return_type=result)
    call.location = fn.location
    fn.block.add_op(call)
    return call.results[0] if result is not None else None


def declaration(name: str, operands: list[Attribute], result: Attribute | None) -> base.FuncOp:
    """The declaration of a function of the runtime."""
    type_ = base.LLVMFunctionType(operands, base.LLVMVoidType() if result is None else result)
    return base.FuncOp(name, type_, linkage=base.LinkageAttr("external"))


def _unless(fn: Function, condition: SSAValue, otherwise: Callable[[], None]) -> None:
    """What is done where `condition` does not hold."""
    join, target = Block(), fn.new_block()
    fn.scopes.append(Scope(target))
    otherwise()
    branch(fn, join, ())
    fn.scopes.pop()
    branch_if(fn, condition, (join, ()), (target, ()))
    fn.blocks.append(join)
    fn.scopes[-1].block = join


def _stop_unless(
    fn: Function, op: Operation, condition: SSAValue, values: tuple[SSAValue, SSAValue], texts: dict[str, str]
) -> None:
    number = fn.state.stop({**texts, "nodes": list(location_names(op.location))})

    def stop() -> None:
        _call(fn, STOP, [_state(fn, op), fn.integer(number), *values])

    _unless(fn, condition, stop)


def lower_define_size(fn: Function, op: DefineSizeOp) -> None:
    """`loops.define_size`: a check, and a new value for the symbol."""
    value, symbol = fn.scalar(op.value), op.symbol.data
    bound = op.bound
    limit = fn.integer(MOST) if bound is None else fn.index(fn.dim(bound))
    texts = {"size": symbol, "most": str(MOST if bound is None else bound), "text": op.message or ""}
    # A value below 0 is a very large one without sign.
    _stop_unless(fn, op, fn.compare("ule", value, limit), (value, limit), texts)
    fn.define_symbol(symbol, fn.atom(value, lo=0))
    symbols, defined = fn.state.signature.get("symbols", ()), fn.state.signature.get("defined", ())
    if symbol in defined:
        assert fn.sizes is not None
        _store(fn, value, _word(fn, fn.sizes, len(symbols) + defined.index(symbol)))


def lower_check_sizes(fn: Function, op: CheckSizesOp) -> None:
    """`loops.check_sizes`."""
    lhs, rhs = op.sizes
    values = fn.index(fn.dim(lhs)), fn.index(fn.dim(rhs))
    texts = {"lhs": str(lhs), "rhs": str(rhs), "text": op.text.data}
    _stop_unless(fn, op, fn.compare("eq", *values), values, texts)


def lower_reserve(fn: Function, op: ReserveOp) -> None:
    """`loops.reserve`: the bytes are also told as a float, which does not overflow."""
    type_ = memref_of(op.result)
    result = fn.buffer_at(fn.poison(POINTER), type_, 0)
    size = fn.integer(byte_size(type_.element_type))
    estimate = fn.emit(base.SIToFPOp, (size,), f64)
    for dim in result.dims:
        value = fn.index(dim)
        size = fn.emit(base.MulOp, (size, value), i64, {"overflowFlags": IntegerAttr(0, 32)})
        factor = fn.emit(base.SIToFPOp, (value,), f64)
        estimate = fn.emit(base.FMulOp, (estimate, factor), f64, {"fastmathFlags": NO_FAST_MATH})
    number = fn.integer(fn.state.pooled(op.key.data))
    name = RESERVE if op.keeping is None else EXTEND
    pointer = _call(fn, name, [_state(fn, op), number, size, estimate], POINTER)
    assert pointer is not None
    fn.values[op.result] = fn.buffer_at(pointer, type_, fn.depth, UNKNOWN_ROOT)


def lower_reserved(fn: Function, op: ReservedOp) -> None:
    """`loops.reserved`: the address is read from the state."""
    pointer = _load(fn, _word(fn, _state(fn, op), _place(fn, op.key.data)), POINTER)
    fn.values[op.result] = fn.buffer_at(pointer, memref_of(op.result), fn.depth, UNKNOWN_ROOT)


def lower_exchange(fn: Function, op: ExchangeOp) -> None:
    """`loops.exchange`: addresses and numbers of bytes change places."""
    state = _state(fn, op)
    for word in (0, 1):
        places = [_word(fn, state, _place(fn, key.data) + word) for key in (op.a, op.b)]
        values = [_load(fn, place, i64) for place in places]
        _store(fn, values[0], places[1])
        _store(fn, values[1], places[0])


def _place(fn: Function, key: str) -> int:
    """The place of a pooled buffer in the state."""
    return BUFFERS + 2 * fn.state.pooled(key)


HANDLERS = {
    "loops.check_sizes": lower_check_sizes,
    "loops.define_size": lower_define_size,
    "loops.exchange": lower_exchange,
    "loops.reserve": lower_reserve,
    "loops.reserved": lower_reserved,
}
