"""
Float and integer intrinsics that xDSL's `llvm` dialect lacks: `llvm.intr.<name>` is LLVM's `llvm.<name>`.

The doc string of an op gives the result lane by lane; NaN operands give NaN where nothing else is said.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I1, BoolAttr, IntegerAttr, VectorType, i1
from xdsl.dialects.builtin import I32 as I32Type
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from aicc.dialects.llvm.elementwise import (
    CALL_FORMAT,
    FLOAT,
    INTEGER,
    BinaryFloatIntrinsic,
    TernaryFloatIntrinsic,
    UnaryFloatIntrinsic,
    lane_count,
)


@irdl_op_definition
class TruncFOp(UnaryFloatIntrinsic):
    """Towards zero to an integral value."""

    name = "llvm.intr.trunc"


@irdl_op_definition
class RoundOp(UnaryFloatIntrinsic):
    """To the nearest integral value, halves away from zero."""

    name = "llvm.intr.round"


@irdl_op_definition
class RoundEvenOp(UnaryFloatIntrinsic):
    """To the nearest integral value, halves to even."""

    name = "llvm.intr.roundeven"


@irdl_op_definition
class RintOp(UnaryFloatIntrinsic):
    """To an integral value in the current rounding mode."""

    name = "llvm.intr.rint"


@irdl_op_definition
class NearbyintOp(UnaryFloatIntrinsic):
    """To an integral value in the current rounding mode, without the inexact exception."""

    name = "llvm.intr.nearbyint"


@irdl_op_definition
class TanOp(UnaryFloatIntrinsic):
    """Tangent."""

    name = "llvm.intr.tan"


@irdl_op_definition
class ASinOp(UnaryFloatIntrinsic):
    """Arc sine."""

    name = "llvm.intr.asin"


@irdl_op_definition
class ACosOp(UnaryFloatIntrinsic):
    """Arc cosine."""

    name = "llvm.intr.acos"


@irdl_op_definition
class ATanOp(UnaryFloatIntrinsic):
    """Arc tangent."""

    name = "llvm.intr.atan"


@irdl_op_definition
class SinhOp(UnaryFloatIntrinsic):
    """Hyperbolic sine."""

    name = "llvm.intr.sinh"


@irdl_op_definition
class CoshOp(UnaryFloatIntrinsic):
    """Hyperbolic cosine."""

    name = "llvm.intr.cosh"


@irdl_op_definition
class TanhOp(UnaryFloatIntrinsic):
    """Hyperbolic tangent."""

    name = "llvm.intr.tanh"


@irdl_op_definition
class Log10Op(UnaryFloatIntrinsic):
    """Decimal logarithm."""

    name = "llvm.intr.log10"


@irdl_op_definition
class Exp10Op(UnaryFloatIntrinsic):
    """`10**x`."""

    name = "llvm.intr.exp10"


@irdl_op_definition
class MinimumOp(BinaryFloatIntrinsic):
    """The smaller operand; NaN if either is NaN; -0 < +0."""

    name = "llvm.intr.minimum"


@irdl_op_definition
class MaximumOp(BinaryFloatIntrinsic):
    """The larger operand; NaN if either is NaN; -0 < +0."""

    name = "llvm.intr.maximum"


@irdl_op_definition
class ATan2Op(BinaryFloatIntrinsic):
    """Angle of the point (b, a)."""

    name = "llvm.intr.atan2"


@irdl_op_definition
class FMulAddOp(TernaryFloatIntrinsic):
    """`a * b + c`, fused where that is fast."""

    name = "llvm.intr.fmuladd"


class IntegerIntrinsic(IRDLOperation, ABC):
    """Base of integer intrinsics whose operands and result share one type."""

    T: ClassVar = VarConstraint("T", INTEGER)

    traits = traits_def(Pure())
    assembly_format = CALL_FORMAT

    def __init__(self, *operands: SSAValue | Operation):
        super().__init__(operands=operands, result_types=[SSAValue.get(operands[0]).type])


class UnaryIntegerIntrinsic(IntegerIntrinsic, ABC):
    """`f(in)`."""

    in_ = operand_def(IntegerIntrinsic.T)
    res = result_def(IntegerIntrinsic.T)


class BinaryIntegerIntrinsic(IntegerIntrinsic, ABC):
    """`f(a, b)`."""

    a = operand_def(IntegerIntrinsic.T)
    b = operand_def(IntegerIntrinsic.T)
    res = result_def(IntegerIntrinsic.T)


@irdl_op_definition
class CtPopOp(UnaryIntegerIntrinsic):
    """Number of one bits."""

    name = "llvm.intr.ctpop"


@irdl_op_definition
class BSwapOp(UnaryIntegerIntrinsic):
    """Bytes in reverse order."""

    name = "llvm.intr.bswap"


@irdl_op_definition
class BitReverseOp(UnaryIntegerIntrinsic):
    """Bits in reverse order."""

    name = "llvm.intr.bitreverse"


@irdl_op_definition
class SMaxOp(BinaryIntegerIntrinsic):
    """The larger signed operand."""

    name = "llvm.intr.smax"


@irdl_op_definition
class SMinOp(BinaryIntegerIntrinsic):
    """The smaller signed operand."""

    name = "llvm.intr.smin"


@irdl_op_definition
class UMaxOp(BinaryIntegerIntrinsic):
    """The larger unsigned operand."""

    name = "llvm.intr.umax"


@irdl_op_definition
class UMinOp(BinaryIntegerIntrinsic):
    """The smaller unsigned operand."""

    name = "llvm.intr.umin"


@irdl_op_definition
class SAddSatOp(BinaryIntegerIntrinsic):
    """Signed sum, saturated."""

    name = "llvm.intr.sadd.sat"


@irdl_op_definition
class UAddSatOp(BinaryIntegerIntrinsic):
    """Unsigned sum, saturated."""

    name = "llvm.intr.uadd.sat"


@irdl_op_definition
class SSubSatOp(BinaryIntegerIntrinsic):
    """Signed difference, saturated."""

    name = "llvm.intr.ssub.sat"


@irdl_op_definition
class USubSatOp(BinaryIntegerIntrinsic):
    """Unsigned difference, saturated."""

    name = "llvm.intr.usub.sat"


class FlaggedIntegerIntrinsic(IRDLOperation, ABC):
    """Base of integer intrinsics with an immediate i1 flag; upstream has no short syntax for them."""

    T: ClassVar = VarConstraint("T", INTEGER)
    FLAG: ClassVar[str]

    in_ = operand_def(T)
    res = result_def(T)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, *, poison: bool = False):
        super().__init__(
            operands=[operand],
            result_types=[SSAValue.get(operand).type],
            properties={self.FLAG: IntegerAttr.from_bool(poison)},
        )


@irdl_op_definition
class AbsOp(FlaggedIntegerIntrinsic):
    """Absolute value; of the least value, itself (poison when the flag is set)."""

    name = "llvm.intr.abs"
    FLAG: ClassVar[str] = "is_int_min_poison"

    is_int_min_poison = prop_def(BoolAttr)


@irdl_op_definition
class CountLeadingZerosOp(FlaggedIntegerIntrinsic):
    """Number of leading zero bits; of 0, the width (poison when the flag is set)."""

    name = "llvm.intr.ctlz"
    FLAG: ClassVar[str] = "is_zero_poison"

    is_zero_poison = prop_def(BoolAttr)


@irdl_op_definition
class CountTrailingZerosOp(FlaggedIntegerIntrinsic):
    """Number of trailing zero bits; of 0, the width (poison when the flag is set)."""

    name = "llvm.intr.cttz"
    FLAG: ClassVar[str] = "is_zero_poison"

    is_zero_poison = prop_def(BoolAttr)


@irdl_op_definition
class IsFPClassOp(IRDLOperation):
    """Whether the operand is of one of the classes whose bits are set in `bit` (LLVM's `llvm.is.fpclass`)."""

    name = "llvm.intr.is.fpclass"

    in_ = operand_def(FLOAT)
    res = result_def(I1 | VectorType[I1])
    bit = prop_def(IntegerAttr[I32Type])

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, bit: int):
        lanes = lane_count(SSAValue.get(operand).type)
        super().__init__(
            operands=[operand],
            result_types=[i1 if lanes is None else VectorType(i1, [lanes])],
            properties={"bit": IntegerAttr(bit, 32)},
        )
