"""
`arith.fptosi` and `arith.fptoui` on scalars and n-D vectors: towards zero, saturating, NaN gives 0.

LLVM's intrinsics for that are taken apart into scalars on most machines; vectors are clamped before a plain conversion
instead, as far as there is one for them.
"""

from __future__ import annotations

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import IntegerType, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.llvm import elementwise
from aicc.dialects.loops.access import scalar_of
from aicc.lowering.loops_to_llvm_arith import (
    FAST,
    Handler,
    call_intrinsic,
    fcmp,
    is_small_float,
    mangled,
    rowwise,
    to_f32,
)
from aicc.lowering.loops_to_llvm_emit import element_in, integer_width, lanes_in, register_type, row_type
from aicc.lowering.loops_to_llvm_values import FunctionLowering


def _float_to_int(signed: bool) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        source, target = scalar_of(op.operands[0].type), register_type(scalar_of(op.results[0].type))
        value = to_f32(fn, row[0], source) if is_small_float(source) else row[0]
        lanes, width = lanes_in(value), integer_width(target)
        if lanes > 1 and width < 32:
            return _clamped(fn, value, width, signed)
        if lanes > 1 and width == 32 and signed:
            return _whole_range(fn, value) if element_in(value) == f32 else _clamped(fn, value, width, signed)
        result = row_type(target, lanes)
        name = f"llvm.fpto{'si' if signed else 'ui'}.sat.{mangled(result)}.{mangled(value.type)}"
        return call_intrinsic(fn, name, [value], result)

    return rowwise(compute)


def _select(fn: FunctionLowering, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    return fn.emit(elementwise.SelectOp, (condition, a, b), a.type, FAST)


def _between(fn: FunctionLowering, value: SSAValue, low: float, high: float) -> SSAValue:
    """`value` or the nearer limit; the lower one for NaN."""
    raised = fn.emit(base.VectorFMaxOp, (value, fn.float(low, value.type)), value.type, FAST)
    return fn.emit(base.VectorFMinOp, (raised, fn.float(high, value.type)), value.type, FAST)


def _clamped(fn: FunctionLowering, value: SSAValue, width: int, signed: bool) -> SSAValue:
    """A conversion to integers whose limits the float type holds, by way of i32."""
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    if signed:
        # NaN becomes the lower limit otherwise.
        value = _select(fn, fcmp(fn, "uno", value, value), fn.float(0.0, value.type), value)
    lanes = lanes_in(value)
    wide = fn.emit(elementwise.FPToSIOp, (_between(fn, value, low, high),), row_type(i32, lanes))
    return wide if width == 32 else fn.emit(base.TruncOp, (wide,), row_type(IntegerType(width), lanes))


def _whole_range(fn: FunctionLowering, value: SSAValue) -> SSAValue:
    """f32 to i32, whose largest value is no f32: the next smaller one, and a selection above it."""
    result: Attribute = row_type(i32, lanes_in(value))
    number = fn.emit(elementwise.FPToSIOp, (_between(fn, value, -(2.0**31), 2.0**31 - 2.0**7),), result)
    above = fcmp(fn, "oge", value, fn.float(2.0**31, value.type))
    number = _select(fn, above, fn.integer((1 << 31) - 1, result), number)
    return _select(fn, fcmp(fn, "uno", value, value), fn.integer(0, result), number)


HANDLERS: dict[str, Handler] = {
    "arith.fptosi": _float_to_int(signed=True),
    "arith.fptoui": _float_to_int(signed=False),
}
"""Op name -> what lowers it."""
