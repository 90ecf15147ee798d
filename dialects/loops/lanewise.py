"""
The `arith` dialect with comparisons, selections and casts that also take vectors, as MLIR's does.

xDSL 0.75 defines those for scalars only. Each class here is a subclass of xDSL's of the same op name, so code that
looks for xDSL's finds these too; `lanewise_class` gives the class to build an op on vectors with.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, container_of, i1
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    IRDLOperation,
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

from aicc.dialects.loops.access import lanes_of, scalar_of, vector_of

_FLOATS = container_of(AnyFloat)
_INTEGERS = container_of(IntegerType)
_INDEX_LIKE = container_of(AnyOf.get(IntegerType, IndexType))
_ANY_TRUTH = container_of(IntegerType)
_NO_FLAGS = FastMathFlagsAttr("none")


def truth_type(type: Attribute) -> Attribute:
    """What a comparison of values of `type` gives: `i1`, one per lane."""
    return vector_of(i1, lanes_of(type))


def _check_lanes(op: Operation) -> None:
    source, result = op.operands[0].type, op.results[0].type
    if lanes_of(source) != lanes_of(result):
        raise VerifyException(f"{source} and {result} differ in shape")


def _check_width(op: Operation, wider: bool) -> None:
    _check_lanes(op)
    source, result = op.operands[0].type, op.results[0].type
    old = cast("IntegerType[Any]", scalar_of(source))
    new = cast("IntegerType[Any]", scalar_of(result))
    if new.width.data == old.width.data or (new.width.data > old.width.data) != wider:
        raise VerifyException(f"{result} is not {'wider' if wider else 'narrower'} than {source}")


def _check_comparison(op: Operation) -> None:
    left, right = op.operands[0].type, op.operands[1].type
    if left != right or op.results[0].type != truth_type(left):
        raise VerifyException(f"compares {left} with {right} into {op.results[0].type}, expected {truth_type(left)}")


@irdl_op_definition
class CmpiOp(arith.CmpiOp):
    """Compares integers or indices, lane by lane."""

    name = "arith.cmpi"
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(_INDEX_LIKE)
    rhs = operand_def(_INDEX_LIKE)
    result = result_def(_ANY_TRUTH)

    def __init__(self, operand1: Operation | SSAValue, operand2: Operation | SSAValue, arg: int | str):
        scalar = arith.CMPI_COMPARISON_OPERATIONS.index(arg) if isinstance(arg, str) else arg
        lhs = SSAValue.get(operand1)
        IRDLOperation.__init__(
            self,
            operands=[lhs, operand2],
            result_types=[truth_type(lhs.type)],
            properties={"predicate": IntegerAttr(scalar, 64)},
        )

    def verify_(self) -> None:
        _check_comparison(self)


@irdl_op_definition
class CmpfOp(arith.CmpfOp):
    """Compares floats, lane by lane."""

    name = "arith.cmpf"
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(_FLOATS)
    rhs = operand_def(_FLOATS)
    fastmath = prop_def(FastMathFlagsAttr, default_value=_NO_FLAGS)
    result = result_def(_ANY_TRUTH)

    def __init__(
        self,
        operand1: SSAValue | Operation,
        operand2: SSAValue | Operation,
        arg: int | str,
        fastmath: FastMathFlagsAttr = _NO_FLAGS,
    ):
        scalar = arith.CMPF_COMPARISON_OPERATIONS.index(arg) if isinstance(arg, str) else arg
        lhs = SSAValue.get(operand1)
        IRDLOperation.__init__(
            self,
            operands=[lhs, operand2],
            result_types=[truth_type(lhs.type)],
            properties={"predicate": IntegerAttr(scalar, 64), "fastmath": fastmath},
        )

    def verify_(self) -> None:
        _check_comparison(self)


@irdl_op_definition
class SelectOp(arith.SelectOp):
    """`lhs` where `cond` holds, else `rhs`; one condition for all, or one per lane."""

    name = "arith.select"
    assembly_format = None
    T: ClassVar = VarConstraint("T", AnyAttr())
    cond = operand_def(_ANY_TRUTH)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    def verify_(self) -> None:
        if self.cond.type not in (i1, truth_type(self.result.type)):
            raise VerifyException(f"selects {self.result.type} by {self.cond.type}, expected i1, one or one per lane")

    # By hand, because the type of the condition is written only where it is a vector.

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = parser.resolve_operands(names, [types[0] if len(types) > 1 else i1, types[-1], types[-1]], pos)
        return cls.create(operands=operands, result_types=[types[-1]], attributes=attributes)


@irdl_op_definition
class IndexCastOp(arith.IndexCastOp):
    """Between indices and integers, lane by lane."""

    name = "arith.index_cast"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_INDEX_LIKE)
    result = result_def(_INDEX_LIKE)

    def verify_(self) -> None:
        _check_lanes(self)
        source, result = scalar_of(self.input.type), scalar_of(self.result.type)
        if isinstance(source, IndexType) == isinstance(result, IndexType):
            raise VerifyException(f"casts {self.input.type} to {self.result.type}, expected indices on one side")


@irdl_op_definition
class FPToSIOp(arith.FPToSIOp):
    """Floats to signed integers, lane by lane."""

    name = "arith.fptosi"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_FLOATS)
    result = result_def(_INTEGERS)

    def verify_(self) -> None:
        _check_lanes(self)


@irdl_op_definition
class FPToUIOp(arith.FPToUIOp):
    """Floats to unsigned integers, lane by lane."""

    name = "arith.fptoui"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_FLOATS)
    result = result_def(_INTEGERS)

    def verify_(self) -> None:
        _check_lanes(self)


@irdl_op_definition
class SIToFPOp(arith.SIToFPOp):
    """Signed integers to floats, lane by lane."""

    name = "arith.sitofp"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_INTEGERS)
    result = result_def(_FLOATS)

    def verify_(self) -> None:
        _check_lanes(self)


@irdl_op_definition
class UIToFPOp(arith.UIToFPOp):
    """Unsigned integers to floats, lane by lane."""

    name = "arith.uitofp"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_INTEGERS)
    result = result_def(_FLOATS)

    def verify_(self) -> None:
        _check_lanes(self)


@irdl_op_definition
class TruncIOp(arith.TruncIOp):
    """The low bits of integers, lane by lane."""

    name = "arith.trunci"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_INTEGERS)
    result = result_def(_INTEGERS)

    def verify_(self) -> None:
        _check_width(self, wider=False)


@irdl_op_definition
class ExtSIOp(arith.ExtSIOp):
    """Integers with their sign repeated in the new bits, lane by lane."""

    name = "arith.extsi"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_INTEGERS)
    result = result_def(_INTEGERS)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        _check_width(self, wider=True)


@irdl_op_definition
class ExtUIOp(arith.ExtUIOp):
    """Integers with zeros in the new bits, lane by lane."""

    name = "arith.extui"
    assembly_format = None  # xDSL's printing and parsing are inherited
    input = operand_def(_INTEGERS)
    result = result_def(_INTEGERS)

    def verify_(self) -> None:
        _check_width(self, wider=True)


_CLASSES: tuple[type[Operation], ...] = (
    CmpfOp,
    CmpiOp,
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    FPToUIOp,
    IndexCastOp,
    SIToFPOp,
    SelectOp,
    TruncIOp,
    UIToFPOp,
)
_BY_NAME: dict[str, type[Operation]] = {cls.name: cls for cls in _CLASSES}

Arith = Dialect(
    "arith",
    [_BY_NAME.get(cls.name, cls) for cls in arith.Arith.operations],
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)


def lanewise_class(cls: type[Operation]) -> type[Operation]:
    """The class to build an op of `cls` on vectors with: itself where xDSL's takes vectors."""
    return _BY_NAME.get(cls.name, cls)
