"""`graph.if` and `graph.while` as `scf.if` and `scf.while` on tensors; calls of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ArrayAttr, IndexType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.callees import find_callee
from aicc.dialects.graph.control import CallOp, IfOp, WhileOp, YieldOp
from aicc.dialects.graph.defined_sizes import CheckSizesOp, DefineSizeOp, DefinesSymbols
from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, is_tensor, symbols_of
from aicc.dialects.graph.interfaces import OpBuilder
from aicc.dialects.graph.size_bounds import symbol_bounds
from aicc.dialects.graph.unify import symbol_values
from aicc.dialects.tensor_ops import CallOp as TensorCallOp
from aicc.dialects.tensor_ops import CheckSizesOp as TensorCheckSizesOp
from aicc.dialects.tensor_ops import DefineSizeOp as TensorDefineSizeOp
from aicc.dialects.tensor_ops import ExtractOp, SizeOp, ViewOp
from aicc.dialects.tensor_ops.ops import SYMBOLS_ATTRIBUTE, function_symbols
from aicc.lowering.graph_to_tensor_ops_support import Lowered, as_type


def _end_region(region: Region) -> tuple[OpBuilder, list[SSAValue]]:
    """Removes the `graph.yield` of a region; returns what it yielded and where to go on."""
    last = region.block.last_op
    assert isinstance(last, YieldOp)
    b = OpBuilder(InsertPoint.at_end(region.block), last)
    values = list(last.values)
    last.detach()
    last.erase()
    return b, values


def _as_types(b: OpBuilder, values: Sequence[SSAValue], types: Sequence[Attribute], own: set[str]) -> list[SSAValue]:
    """
    The values under these types. Sizes that name symbols in `own`, which have just been defined, are theirs; others are
    only assumed to be.
    """
    found: list[SSAValue] = []
    for value, type in zip(values, types, strict=True):
        dims = dims_of(type)
        if value.type != type and not own.isdisjoint(symbols_of(dims)):
            found.append(b.add(ViewOp(value, dims, anew=True)))
        else:
            found.append(as_type(b, value, type))
    return found


def _define(b: OpBuilder, names: Sequence[str], sizes: Sequence[SSAValue], bounds: Mapping[str, Dim | None]) -> None:
    for name, size in zip(names, sizes, strict=True):
        b.insert(TensorDefineSizeOp(size, name, bounds.get(name)))


def _values_of(b: OpBuilder, sizes: ShapeAttr | None) -> list[SSAValue]:
    return [] if sizes is None else [b.add(SizeOp(size)) for size in sizes.data]


def lower_if(op: IfOp, b: OpBuilder) -> Lowered:
    """The condition is read from its tensor. Symbols are defined in both regions, and behind the op."""
    condition = b.add(ExtractOp(op.condition, []))
    types, names = op.result_types, op.symbol_names
    bounds = _bounds(op) if names else {}
    ways = (op.then_sizes, op.else_sizes)
    regions = [op.detach_region(region) for region in list(op.regions)]
    for region, ends in zip(regions, ways, strict=True):
        inner, values = _end_region(region)
        sizes = _values_of(inner, ends)
        _define(inner, names, sizes, {})
        inner.insert(scf.YieldOp(*_as_types(inner, values, types, set(names)), *sizes))
    new = b.insert(scf.IfOp(condition, [*types, *[IndexType()] * len(names)], regions[0], regions[1]))
    _define(b, names, new.results[len(types) :], bounds)
    return Lowered(new.results[: len(types)], regions)


def _bounds(op: IfOp) -> dict[str, Dim | None]:
    """Of the symbols of an `if`, in terms of what is known before it."""
    inside = {name for inner in op.walk() if isinstance(inner, DefinesSymbols) for name in inner.defined_symbols()}
    known = symbol_bounds(op)
    return {
        name: bound
        for name in op.symbol_names
        if (bound := known[name]) is not None and inside.isdisjoint(symbols_of([bound]))
    }


def lower_while(op: WhileOp, b: OpBuilder) -> Lowered:
    """
    The state goes through the condition region unchanged. Symbols are part of it; they are defined before the loop, at
    the start of both regions, at the end of the body and behind the loop.
    """
    types, names, following = op.result_types, op.symbol_names, op.following
    own = set(names)
    before, after = (op.detach_region(region) for region in list(op.regions))
    first = _values_of(b, op.initial)
    _define(b, names, first, {})
    inputs = _as_types(b, op.inputs, types, own) if names else list(op.inputs)
    inner, (condition,) = _end_region(before)
    _define_carried(before, names)
    read = inner.add(ExtractOp(condition, []))
    inner.insert(scf.ConditionOp(read, *before.block.args))
    inner, values = _end_region(after)
    _define_carried(after, names)
    sizes = _values_of(inner, following)
    _define(inner, names, sizes, {})
    inner.insert(scf.YieldOp(*_as_types(inner, values, types, own), *sizes))
    results = [*types, *[IndexType()] * len(names)]
    new = b.insert(scf.WhileOp([*inputs, *first], results, before, after))
    _define(b, names, new.results[len(types) :], {})
    return Lowered(new.results[: len(types)], [before, after])


def _define_carried(region: Region, names: Sequence[str]) -> None:
    """Gives a region of a loop the sizes as arguments, and defines the symbols at its start."""
    block = region.block
    sizes = [block.insert_arg(IndexType(), len(block.args)) for _ in names]
    definitions = [TensorDefineSizeOp(size, name) for size, name in zip(sizes, names, strict=True)]
    if block.first_op is None:
        block.add_ops(definitions)
    else:
        block.insert_ops_before(definitions, block.first_op)


def lower_call(op: CallOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The callee's symbols get their values from the sizes of the arguments."""
    callee = find_callee(op, op.callee)
    name = op.callee.string_value()
    if not isinstance(callee, FuncOp):
        raise VerifyException(f"'@{name}' is no function of this module")
    formal = callee.function_type
    names = function_symbols(callee) or symbols_of(
        dim for type in formal.inputs.data if is_tensor(type) for dim in dims_of(type)
    )
    if names:
        callee.attributes[SYMBOLS_ATTRIBUTE] = ArrayAttr(StringAttr(name) for name in names)
    found = symbol_values(formal.inputs.data, [dims_of(type) if is_tensor(type) else () for type in op.operand_types])
    if missing := [symbol for symbol in names if symbol not in found]:
        raise VerifyException(f"the sizes of the arguments do not give the value of symbol {missing[0]} of '@{name}'")
    call = TensorCallOp(name, list(op.arguments), op.result_types, [found[symbol] for symbol in names])
    return _inserted(b, call)


def lower_define_size(op: DefineSizeOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The value is read from its tensor."""
    value = b.add(arith.IndexCastOp(b.add(ExtractOp(op.value, [])), IndexType()))
    return _inserted(b, TensorDefineSizeOp(value, op.symbol.data, op.bound, op.message))


def lower_check_sizes(op: CheckSizesOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The same check."""
    return _inserted(b, TensorCheckSizesOp(*op.sizes, op.text.data))


def _inserted(b: OpBuilder, op: Operation) -> Sequence[SSAValue]:
    b.insert(op)
    return list(op.results)
