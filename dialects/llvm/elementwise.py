"""
Lane-by-lane ops on scalars and 1-D vectors that xDSL's `llvm` dialect lacks or restricts to scalars.

Names, operands and syntax are upstream MLIR's, the meaning is that of LLVM's instruction of that name; all are pure.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I1, AnyFloatConstr, IntegerAttr, SignlessIntegerConstraint, VectorType, i1
from xdsl.dialects.llvm import FastMathAttr, FCmpPredicateFlag, GenericCastOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

FLOAT = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
INTEGER = SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
CALL_FORMAT = "`(` operands `)` attr-dict `:` functional-type(operands, results)"


def lane_count(type_: Attribute) -> int | None:
    """Lanes of a 1-D vector type, None for a scalar."""
    return type_.get_shape()[0] if isinstance(type_, VectorType) else None


@irdl_op_definition
class FPToSIOp(GenericCastOp):
    """Float to signed integer, towards zero; poison when the value does not fit."""

    name = "llvm.fptosi"


@irdl_op_definition
class FPToUIOp(GenericCastOp):
    """Float to unsigned integer, towards zero; poison when the value does not fit."""

    name = "llvm.fptoui"


@irdl_op_definition
class UIToFPOp(GenericCastOp):
    """Unsigned integer to float, round to nearest even."""

    name = "llvm.uitofp"


@irdl_op_definition
class AddrSpaceCastOp(GenericCastOp):
    """Pointer to another address space."""

    name = "llvm.addrspacecast"


@irdl_op_definition
class FreezeOp(IRDLOperation):
    """The operand, with undef and poison replaced by one arbitrary fixed value."""

    name = "llvm.freeze"

    T: ClassVar = VarConstraint("T", AnyAttr())

    val = operand_def(T)
    res = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$val attr-dict `:` type($val)"

    def __init__(self, value: SSAValue | Operation):
        super().__init__(operands=[value], result_types=[SSAValue.get(value).type])


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """
    Compares floats, lane by lane; `o` predicates are false and `u` predicates true when an operand is NaN.

    - (C1) the result has the operands' number of lanes
    """

    name = "llvm.fcmp"

    T: ClassVar = VarConstraint("T", FLOAT)

    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(I1 | VectorType[I1])
    predicate = prop_def(IntegerAttr)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        predicate: str | IntegerAttr,
        fast_math: FastMathAttr | None = None,
    ):
        if isinstance(predicate, str):
            predicate = IntegerAttr(FCmpPredicateFlag(predicate).to_int(), 64)
        lanes = lane_count(SSAValue.get(lhs).type)
        super().__init__(
            operands=[lhs, rhs],
            result_types=[i1 if lanes is None else VectorType(i1, [lanes])],
            properties={"predicate": predicate, "fastmathFlags": fast_math or FastMathAttr(None)},
        )

    def verify_(self) -> None:
        if (lanes := lane_count(self.lhs.type)) != lane_count(self.res.type):  # C1
            raise VerifyException(f"result {self.res.type} does not have the operands' {lanes or 'single'} lanes")

    # The predicate stands in quotes before the operands, which the format language cannot say.
    @classmethod
    def parse(cls, parser: Parser) -> FCmpOp:
        predicate = parser.parse_str_literal()
        if predicate not in set(FCmpPredicateFlag):
            parser.raise_error(f"unknown predicate '{predicate}', expected one of {', '.join(FCmpPredicateFlag)}")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        fast_math = attributes.pop("fastmathFlags", None)
        operands = parser.resolve_operands([lhs, rhs], [type_, type_], parser.pos)
        op = cls(operands[0], operands[1], predicate, fast_math if isinstance(fast_math, FastMathAttr) else None)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{FCmpPredicateFlag.from_int(self.predicate.value.data)}" ')
        printer.print_ssa_value(self.lhs)
        printer.print_string(", ")
        printer.print_ssa_value(self.rhs)
        flags = {"fastmathFlags": self.fastmathFlags} if self.fastmathFlags.data else {}
        printer.print_op_attributes(flags | self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class SelectOp(IRDLOperation):
    """
    `condition ? trueValue : falseValue`, for a scalar condition or lane by lane.

    - (C1) a vector condition has as many lanes as the values
    """

    name = "llvm.select"

    T: ClassVar = VarConstraint("T", AnyAttr())

    condition = operand_def(I1 | VectorType[I1])
    trueValue = operand_def(T)
    falseValue = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())
    assembly_format = "$condition `,` $trueValue `,` $falseValue attr-dict `:` type($condition) `,` type($res)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self,
        condition: SSAValue | Operation,
        true_value: SSAValue | Operation,
        false_value: SSAValue | Operation,
        fast_math: FastMathAttr | None = None,
    ):
        super().__init__(
            operands=[condition, true_value, false_value],
            result_types=[SSAValue.get(true_value).type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )

    def verify_(self) -> None:
        lanes = lane_count(self.condition.type)
        if lanes is not None and lanes != lane_count(self.res.type):  # C1
            raise VerifyException(f"condition has {lanes} lanes, the values are of type {self.res.type}")


class FloatIntrinsic(IRDLOperation, ABC):
    """Base of float intrinsics whose operands and result share one type."""

    T: ClassVar = VarConstraint("T", FLOAT)

    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())
    assembly_format = CALL_FORMAT
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, *operands: SSAValue | Operation, fast_math: FastMathAttr | Sequence[FastMathFlag] | None = None):
        flags = fast_math if isinstance(fast_math, FastMathAttr) else FastMathAttr(fast_math)
        super().__init__(
            operands=operands, result_types=[SSAValue.get(operands[0]).type], properties={"fastmathFlags": flags}
        )


class UnaryFloatIntrinsic(FloatIntrinsic, ABC):
    """`f(in)`."""

    in_ = operand_def(FloatIntrinsic.T)
    res = result_def(FloatIntrinsic.T)


class BinaryFloatIntrinsic(FloatIntrinsic, ABC):
    """`f(a, b)`."""

    a = operand_def(FloatIntrinsic.T)
    b = operand_def(FloatIntrinsic.T)
    res = result_def(FloatIntrinsic.T)


class TernaryFloatIntrinsic(FloatIntrinsic, ABC):
    """`f(a, b, c)`."""

    a = operand_def(FloatIntrinsic.T)
    b = operand_def(FloatIntrinsic.T)
    c = operand_def(FloatIntrinsic.T)
    res = result_def(FloatIntrinsic.T)
