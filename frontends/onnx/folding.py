"""Constants during import: how a tensor of known content becomes ops, and how ops on constants become one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.graph.buffers import array_to_constant_attr
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import is_tensor, tensor_type
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import ExecutableOp
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.frontends.onnx.context import Handler, NodeContext, Output
from aicc.frontends.onnx.shape_arithmetic import evaluate, result_dtype, sizes_in
from aicc.frontends.onnx.values import NoValue, TensorList, Value, sizes_value

FOLD_ELEMENTS = 4096
"""Constants of up to this many elements are computed during import."""

GROW_ELEMENTS = 64
"""And those of more than this many only if they take no more bytes than what they are made of: bytes stay bytes."""

MOST_REPEATED = 64 << 20
"""Bytes of a constant of one repeated element that are stored; of more, what reads it is told of the one element."""


def content_ops(value: Value, buffer_name: str) -> list[Operation]:
    """Ops whose last result is a tensor of known content."""
    assert value.content is not None
    content = value.content
    if not value.symbolic:
        if content.nbytes > MOST_REPEATED and not any(content.strides):
            one = content[(slice(1),) * content.ndim].reshape(())
            scalar = ConstantOp(array_to_constant_attr(one, buffer_name), tensor_type((), value.type.element_type))
            return [scalar, ExpandOp(scalar, content.shape)]
        return [ConstantOp(array_to_constant_attr(content, buffer_name), value.type)]
    ops: list[Operation] = [SizesOp(sizes_in(value.content))]
    if value.content.ndim != 1:
        ops.append(ReshapeOp(ops[-1], value.content.shape))
    if value.type.element_type != i64:
        ops.append(CastOp(ops[-1], value.type.element_type))
    return ops


def run_handler(handler: Handler, context: NodeContext) -> Sequence[Output]:
    """What a node makes: the result of arithmetic on sizes if it is such, else what its handler makes."""
    present = [value for value in context.inputs if isinstance(value, Value)]
    lists = [value for value in context.inputs if isinstance(value, TensorList | NoValue)]
    if not lists and any(value.symbolic for value in present) and all(value.content is not None for value in present):
        contents = [value.content if isinstance(value, Value) else None for value in context.inputs]
        content = evaluate(context.op_type, context, contents)
        if content is not None:
            dtypes = [numpy_dtype(value.type.element_type) for value in present]
            return [sizes_value(content, result_dtype(context.op_type, context, dtypes), context.node.output[0])]
    made = handler(context)
    return [made] if isinstance(made, SSAValue | Value | TensorList | NoValue) else list(made)


def folded(context: NodeContext, made: Sequence[Output]) -> list[np.ndarray] | None:
    """
    The results of a node as arrays, if all its inputs are small constants; its ops are then removed.

    Raises:
        VerifyException: if an op is not valid.
    """
    ops = context.emitted
    if not ops or not all(isinstance(result, SSAValue) for result in made):
        return None
    for value in context.inputs:
        if value is not None and not (isinstance(value, Value) and _is_small_constant(value)):
            return None
    for op in ops:
        if not isinstance(op, ExecutableOp) or not all(map(_is_small_type, op.result_types)):
            return None
    known: dict[SSAValue, np.ndarray] = {}
    for op in ops:
        for operand in op.operands:
            if operand not in known:
                owner = operand.owner
                if not isinstance(owner, ConstantOp):  # A tensor of sizes that the handler made.
                    return None
                known[operand] = owner.array()
        assert isinstance(op, ExecutableOp)
        op.verify(verify_nested_ops=False)
        known.update(zip(op.results, op.evaluate([known[operand] for operand in op.operands], {}), strict=True))
    results = [known[result] for result in made if isinstance(result, SSAValue)]
    room = sum(_bytes(value.content) for value in context.inputs if isinstance(value, Value))
    if any(result.size > GROW_ELEMENTS for result in results) and sum(map(_bytes, results)) > room:
        return None
    for op in reversed(ops):
        op.detach()
        op.erase()
    return results


def _bytes(array: np.ndarray | None) -> int:
    return 0 if array is None else array.nbytes


def _is_small_constant(value: Value) -> bool:
    return value.content is not None and not value.symbolic and value.content.size <= FOLD_ELEMENTS


def _is_small_type(type: Attribute) -> bool:
    return is_tensor(type) and type.has_static_shape() and type.element_count() <= FOLD_ELEMENTS


def set_name_hint(value: Value) -> None:
    """Gives the SSA value the tensor's name, as far as IR can write it."""
    assert value.ssa is not None
    if value.ssa.name_hint is None:
        name = re.sub(r"[^A-Za-z0-9_]+", "_", value.name).strip("_")
        if name and not name.isdigit():
            value.ssa.name_hint = f"v{name}" if name[0].isdigit() else name
