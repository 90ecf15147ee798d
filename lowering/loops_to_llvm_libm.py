"""
`math` ops that become calls of the mathematical library, lane by lane.

These are the functions on f64 and those on f32 that `loops-expand-math` leaves; f16 and bf16 go through f32. The
library's functions are within about one unit of the last place (glibc) and handle all special values.
"""

from __future__ import annotations

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import UnitAttr, f32
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.loops.access import scalar_of
from aicc.lowering.loops_to_llvm_arith import from_f32, is_small_float, to_f32
from aicc.lowering.loops_to_llvm_emit import lanes_in
from aicc.lowering.loops_to_llvm_functions import Function

LIBRARY_FUNCTIONS: dict[str, str] = {
    f"math.{name}": "pow" if name == "powf" else name
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "exp", "exp2"),
        *("expm1", "log", "log10", "log1p", "log2", "powf", "sin", "sinh", "tan", "tanh"),
    )
}
"""Op name -> name of the library's f64 function; that on f32 ends in `f`."""


def lower_library_call(fn: Function, op: Operation) -> None:
    """One call for each lane."""
    element = scalar_of(op.results[0].type)
    short = is_small_float(element)
    kind: Attribute = f32 if short else element
    name = LIBRARY_FUNCTIONS[op.name] + ("f" if kind == f32 else "")
    fn.state.declare(name, [kind] * len(op.operands), kind)
    result: list[SSAValue] = []
    for row in zip(*(fn.rows(operand).rows for operand in op.operands), strict=True):
        wide = [to_f32(fn, value, element) for value in row] if short else list(row)
        lanes = [_call(fn, name, [fn.lane(value, lane) for value in wide], kind) for lane in range(lanes_in(wide[0]))]
        joined = fn.row_of(lanes)
        result.append(from_f32(fn, joined, element) if short else joined)
    fn.set(op.results[0], result)


def _call(fn: Function, name: str, operands: list[SSAValue], type_: Attribute) -> SSAValue:
    op = base.CallOp(name, *operands, return_type=type_)
    op.location = fn.location
    fn.block.add_op(op)
    return op.results[0]


def declaration(name: str, operands: list[Attribute], result: Attribute) -> base.FuncOp:
    """The declaration of a library function; it does not unwind."""
    return base.FuncOp(
        name,
        base.LLVMFunctionType(operands, result),
        linkage=base.LinkageAttr("external"),
        other_props={"no_unwind": UnitAttr()},
        extra_attrs={"will_return": UnitAttr()},
    )
