"""`graph.if` and `graph.while` as `scf.if` and `scf.while` on tensors; calls of functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ArrayAttr, IndexType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.callees import find_callee
from aicc.dialects.graph.control import CallOp, IfOp, WhileOp, YieldOp
from aicc.dialects.graph.defined_sizes import CheckSizesOp, DefineSizeOp
from aicc.dialects.graph.dims import dims_of, is_tensor, symbols_of
from aicc.dialects.graph.interfaces import OpBuilder
from aicc.dialects.graph.unify import symbol_values
from aicc.dialects.tensor_ops import CallOp as TensorCallOp
from aicc.dialects.tensor_ops import CheckSizesOp as TensorCheckSizesOp
from aicc.dialects.tensor_ops import DefineSizeOp as TensorDefineSizeOp
from aicc.dialects.tensor_ops import ExtractOp
from aicc.dialects.tensor_ops.ops import SYMBOLS_ATTRIBUTE, function_symbols
from aicc.lowering.graph_to_tensor_ops_support import Lowered, as_type


def _end_region(region: Region, types: Sequence[Attribute] | None) -> tuple[OpBuilder, list[SSAValue]]:
    """Removes the `graph.yield` of a region; returns what it yielded (under `types`, if given) and where to go on."""
    last = region.block.last_op
    assert isinstance(last, YieldOp)
    b = OpBuilder(InsertPoint.at_end(region.block), last)
    values = list(last.values)
    last.detach()
    last.erase()
    if types is not None:
        values = [as_type(b, value, type) for value, type in zip(values, types, strict=True)]
    return b, values


def lower_if(op: IfOp, b: OpBuilder) -> Lowered:
    """The condition is read from its tensor."""
    condition = b.add(ExtractOp(op.condition, []))
    types = op.result_types
    regions = [op.detach_region(region) for region in list(op.regions)]
    for region in regions:
        inner, values = _end_region(region, types)
        inner.insert(scf.YieldOp(*values))
    new = b.insert(scf.IfOp(condition, types, regions[0], regions[1]))
    return Lowered(new.results, regions)


def lower_while(op: WhileOp, b: OpBuilder) -> Lowered:
    """The state goes through the condition region unchanged."""
    types = op.result_types
    before, after = (op.detach_region(region) for region in list(op.regions))
    inner, (condition,) = _end_region(before, None)
    read = inner.add(ExtractOp(condition, []))
    inner.insert(scf.ConditionOp(read, *before.block.args))
    inner, values = _end_region(after, types)
    inner.insert(scf.YieldOp(*values))
    new = b.insert(scf.WhileOp(op.inputs, types, before, after))
    return Lowered(new.results, [before, after])


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
