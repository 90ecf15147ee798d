"""Ops across the lanes of 1-D vectors that xDSL's `llvm` dialect lacks: extraction, poison and reductions."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloatConstr, SignlessIntegerConstraint, VectorType
from xdsl.dialects.llvm import FastMathAttr
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
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from aicc.dialects.llvm.elementwise import CALL_FORMAT


def vector_element(type_: Attribute) -> Attribute:
    """
    Element type of a vector type.

    Raises:
        VerifyException: if `type_` is no vector type.
    """
    if not isa(type_, VectorType):
        raise VerifyException(f"expected a vector, got {type_}")
    return type_.element_type


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """Lane `position` of a vector; poison when it is not below the number of lanes."""

    name = "llvm.extractelement"

    T: ClassVar = VarConstraint("T", AnyAttr())

    vector = operand_def(VectorType.constr(T))
    position = operand_def(SignlessIntegerConstraint)
    res = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"

    def __init__(self, vector: SSAValue | Operation, position: SSAValue | Operation):
        super().__init__(operands=[vector, position], result_types=[vector_element(SSAValue.get(vector).type)])


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """A poison value: the start of a vector that is built lane by lane."""

    name = "llvm.mlir.poison"

    res = result_def()

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, type_: Attribute):
        super().__init__(result_types=[type_])


class StartedFloatReduction(IRDLOperation, ABC):
    """Base of `start op v[0] op v[1] ...`, in this order unless flags hold `reassoc`; generic syntax, as upstream."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    start_value = operand_def(T)
    input = operand_def(VectorType.constr(T))
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())

    def __init__(
        self,
        start_value: SSAValue | Operation,
        vector: SSAValue | Operation,
        fast_math: FastMathAttr | None = None,
    ):
        super().__init__(
            operands=[start_value, vector],
            result_types=[SSAValue.get(start_value).type],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


@irdl_op_definition
class ReduceFAddOp(StartedFloatReduction):
    """Sum of the lanes and the start value."""

    name = "llvm.intr.vector.reduce.fadd"


@irdl_op_definition
class ReduceFMulOp(StartedFloatReduction):
    """Product of the lanes and the start value."""

    name = "llvm.intr.vector.reduce.fmul"


class FloatReduction(IRDLOperation, ABC):
    """Base of float reductions without a start value."""

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    in_ = operand_def(VectorType.constr(T))
    res = result_def(T)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))

    traits = traits_def(Pure())
    assembly_format = CALL_FORMAT
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, vector: SSAValue | Operation, fast_math: FastMathAttr | None = None):
        super().__init__(
            operands=[vector],
            result_types=[vector_element(SSAValue.get(vector).type)],
            properties={"fastmathFlags": fast_math or FastMathAttr(None)},
        )


class IntegerReduction(IRDLOperation, ABC):
    """Base of integer reductions."""

    T: ClassVar = VarConstraint("T", SignlessIntegerConstraint)

    in_ = operand_def(VectorType.constr(T))
    res = result_def(T)

    traits = traits_def(Pure())
    assembly_format = CALL_FORMAT

    def __init__(self, vector: SSAValue | Operation):
        super().__init__(operands=[vector], result_types=[vector_element(SSAValue.get(vector).type)])


@irdl_op_definition
class ReduceFMaximumOp(FloatReduction):
    """The largest lane; NaN if any is."""

    name = "llvm.intr.vector.reduce.fmaximum"


@irdl_op_definition
class ReduceFMinimumOp(FloatReduction):
    """The smallest lane; NaN if any is."""

    name = "llvm.intr.vector.reduce.fminimum"


@irdl_op_definition
class ReduceFMaxOp(FloatReduction):
    """The largest lane that is not NaN."""

    name = "llvm.intr.vector.reduce.fmax"


@irdl_op_definition
class ReduceFMinOp(FloatReduction):
    """The smallest lane that is not NaN."""

    name = "llvm.intr.vector.reduce.fmin"


@irdl_op_definition
class ReduceAddOp(IntegerReduction):
    """Sum of the lanes, wrapped."""

    name = "llvm.intr.vector.reduce.add"


@irdl_op_definition
class ReduceMulOp(IntegerReduction):
    """Product of the lanes, wrapped."""

    name = "llvm.intr.vector.reduce.mul"


@irdl_op_definition
class ReduceAndOp(IntegerReduction):
    """Bitwise and of the lanes."""

    name = "llvm.intr.vector.reduce.and"


@irdl_op_definition
class ReduceOrOp(IntegerReduction):
    """Bitwise or of the lanes."""

    name = "llvm.intr.vector.reduce.or"


@irdl_op_definition
class ReduceXOrOp(IntegerReduction):
    """Bitwise exclusive or of the lanes."""

    name = "llvm.intr.vector.reduce.xor"


@irdl_op_definition
class ReduceSMaxOp(IntegerReduction):
    """The largest lane, signed."""

    name = "llvm.intr.vector.reduce.smax"


@irdl_op_definition
class ReduceSMinOp(IntegerReduction):
    """The smallest lane, signed."""

    name = "llvm.intr.vector.reduce.smin"


@irdl_op_definition
class ReduceUMaxOp(IntegerReduction):
    """The largest lane, unsigned."""

    name = "llvm.intr.vector.reduce.umax"


@irdl_op_definition
class ReduceUMinOp(IntegerReduction):
    """The smallest lane, unsigned."""

    name = "llvm.intr.vector.reduce.umin"
