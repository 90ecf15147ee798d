"""Ops of the graph level in f64: what a kernel should give, with no rounding of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    FloatAttr,
    ModuleOp,
    f64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import dims_of, is_tensor, tensor_type
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.interfaces import ElementKind, GraphOp, element_kind, element_type_of, set_type
from aicc.dialects.tensor_ops.ops import KernelOp

_NARROWER = (Float32Type, Float16Type, BFloat16Type)


def _wide_type(type: Attribute) -> Attribute:
    if is_tensor(type) and isinstance(type.element_type, _NARROWER):
        return tensor_type(dims_of(type), f64)
    return type


def _wide_attribute(attribute: Attribute) -> Attribute:
    match attribute:
        case FloatAttr() if isinstance(attribute.type, _NARROWER):
            return FloatAttr(attribute.value.data, f64)
        case ArrayAttr():
            return ArrayAttr(map(_wide_attribute, attribute.data))
        case _:
            return f64 if isinstance(attribute, _NARROWER) else attribute


def _is_float(value_type: Attribute) -> bool:
    return is_tensor(value_type) and element_kind(value_type.element_type) is ElementKind.FLOAT


def is_discontinuous(op: Operation) -> bool:
    """
    Whether small changes of its operands can change a result by a whole step: floats that become integers or booleans,
    or are rounded. Its meaning in f64 is no judge of a run in f32.
    """
    takes = any(_is_float(operand.type) for operand in op.operands)
    gives_other = any(not _is_float(result.type) for result in op.results)
    return takes and (gives_other or (isinstance(op, GraphOp) and not op.CONTINUOUS))


def wide_function(kernel: KernelOp) -> FuncOp | None:
    """
    The kernel as a function on f64, if all in it is of the graph level and continuous.

    A cast to a narrower float rounds in the model's own terms, so a kernel that has one is left as it is.
    """
    for op in kernel.body.block.ops:
        if op.regions or is_discontinuous(op):
            return None
        floats = {element_type_of(v) for v in (*op.operands, *op.results) if _is_float(v.type)}
        if len(floats) > 1 or (isinstance(op, CastOp) and floats):
            return None
    region = kernel.body.clone()
    block = region.block
    for argument in block.args:
        set_type(argument, _wide_type(argument.type))
    for op in list(block.ops):
        if isinstance(op, ConstantOp) and _is_float(op.results[0].type):
            array = op.array().astype(np.float64)
            new = ConstantOp.from_array(array, "wide")
            block.insert_op_before(new, op)
            op.results[0].replace_all_uses_with(new.results[0])
            op.detach()
            op.erase()
            continue
        for result in op.results:
            set_type(result, _wide_type(result.type))
        for name, attribute in op.properties.items():
            op.properties[name] = _wide_attribute(attribute)
    types = ([argument.type for argument in block.args], [_wide_type(result.type) for result in kernel.results])
    return FuncOp("wide", types, region)


def wide_results(
    function: FuncOp, kernel: Operation, operands: Sequence[np.ndarray], symbols: Mapping[str, int]
) -> list[np.ndarray] | None:
    """What the kernel gives when all floats are f64; None where some op's meaning does not go with that."""
    given = [
        array.astype(numpy_dtype(type.element_type)) if is_tensor(type) else array
        for array, type in zip(operands, function.function_type.inputs.data, strict=True)
    ]
    try:
        return evaluate_function(function, given, ModuleOp([]), symbols=symbols)
    except (VerifyException, ValueError, TypeError):
        return None
