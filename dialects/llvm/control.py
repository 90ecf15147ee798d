"""Control flow that xDSL's `llvm` dialect lacks: `switch`, and `cond_br` with branch weights."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import I1, DenseArrayBase, DenseIntElementsAttr, IntegerType, VectorType, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


def _parse_successor(parser: Parser) -> tuple[Block, list[SSAValue]]:
    """`^block` or `^block(%a, %b : type, type)`."""
    block = parser.parse_successor()
    if parser.parse_optional_punctuation("(") is None:
        return block, []
    operands = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return block, list(parser.resolve_operands(operands, types, parser.pos))


def _print_successor(printer: Printer, block: Block, operands: Sequence[SSAValue]) -> None:
    printer.print_block_name(block)
    if operands:
        printer.print_string("(")
        printer.print_list(operands, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list(operands, lambda value: printer.print_attribute(value.type))
        printer.print_string(")")


@irdl_op_definition
class CondBrOp(IRDLOperation):
    """
    Branches to the first block if `condition`, else to the second, handing each its operands.

    ```mlir
    llvm.cond_br %c weights([99, 1]), ^a(%x : i64), ^b
    ```
    """

    name = "llvm.cond_br"

    condition = operand_def(I1)
    trueDestOperands = var_operand_def()
    falseDestOperands = var_operand_def()
    branch_weights = opt_prop_def(DenseArrayBase.constr(i32))
    trueDest = successor_def()
    falseDest = successor_def()

    traits = traits_def(IsTerminator())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        condition: SSAValue | Operation,
        true_block: Block,
        true_operands: Sequence[SSAValue | Operation],
        false_block: Block,
        false_operands: Sequence[SSAValue | Operation],
        weights: Sequence[int] | None = None,
    ):
        super().__init__(
            operands=[condition, true_operands, false_operands],
            successors=[true_block, false_block],
            properties={"branch_weights": DenseArrayBase.from_list(i32, weights) if weights else None},
        )

    # Weights in brackets after the condition are beyond the format language.
    @classmethod
    def parse(cls, parser: Parser) -> CondBrOp:
        condition = parser.resolve_operand(parser.parse_unresolved_operand(), IntegerType(1))
        weights: list[int] | None = None
        if parser.parse_optional_keyword("weights") is not None:
            parser.parse_punctuation("(")
            weights = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, parser.parse_integer)
            parser.parse_punctuation(")")
        parser.parse_punctuation(",")
        true_block, true_operands = _parse_successor(parser)
        parser.parse_punctuation(",")
        false_block, false_operands = _parse_successor(parser)
        op = cls(condition, true_block, true_operands, false_block, false_operands, weights)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        if self.branch_weights is not None:
            printer.print_string(f" weights([{', '.join(map(str, self.branch_weights.get_values()))}])")
        printer.print_string(", ")
        _print_successor(printer, self.trueDest, self.trueDestOperands)
        printer.print_string(", ")
        _print_successor(printer, self.falseDest, self.falseDestOperands)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """
    Branches to the block whose case value equals `value`, else to the default block.

    - (C1) one case value, and one segment of operands, per case block

    ```mlir
    llvm.switch %v : i64, ^default(%x : f32) [1: ^a, 2: ^b(%x : f32)]
    ```
    """

    name = "llvm.switch"

    value = operand_def(IntegerType)
    defaultOperands = var_operand_def()
    caseOperands = var_operand_def()
    case_values = opt_prop_def(DenseIntElementsAttr)
    case_operand_segments = prop_def(DenseArrayBase.constr(i32))
    defaultDestination = successor_def()
    caseDestinations = var_successor_def()

    traits = traits_def(IsTerminator())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        value: SSAValue,
        default: tuple[Block, Sequence[SSAValue]],
        cases: Sequence[tuple[int, Block, Sequence[SSAValue]]] = (),
    ):
        value_type = value.type
        assert isa(value_type, IntegerType)
        values = DenseIntElementsAttr.from_list(VectorType(value_type, [len(cases)]), [case[0] for case in cases])
        super().__init__(
            operands=[value, default[1], [operand for case in cases for operand in case[2]]],
            successors=[default[0], [case[1] for case in cases]],
            properties={
                "case_values": values if cases else None,
                "case_operand_segments": DenseArrayBase.from_list(i32, [len(case[2]) for case in cases]),
            },
        )

    def cases(self) -> list[tuple[int, Block, list[SSAValue]]]:
        """Value, block and operands of each case."""
        values = () if self.case_values is None else self.case_values.get_values()
        operands = iter(self.caseOperands)
        return [
            (int(value), block, [next(operands) for _ in range(count)])
            for value, block, count in zip(
                values, self.caseDestinations, self.case_operand_segments.get_values(), strict=True
            )
        ]

    def verify_(self) -> None:
        values = 0 if self.case_values is None else len(self.case_values)
        segments = self.case_operand_segments.get_values()
        if not values == len(segments) == len(self.caseDestinations):  # C1
            raise VerifyException(
                f"{len(self.caseDestinations)} case blocks, but {values} values and {len(segments)} operand segments"
            )
        if sum(segments) != len(self.caseOperands):  # C1
            raise VerifyException(f"operand segments add up to {sum(segments)}, got {len(self.caseOperands)} operands")

    # A list of cases with operands is beyond the format language.
    @classmethod
    def parse(cls, parser: Parser) -> SwitchOp:
        name: UnresolvedOperand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(name, parser.parse_type())
        parser.parse_punctuation(",")
        default = _parse_successor(parser)

        def case() -> tuple[int, Block, list[SSAValue]]:
            number = parser.parse_integer()
            parser.parse_punctuation(":")
            return number, *_parse_successor(parser)

        cases = parser.parse_optional_comma_separated_list(Parser.Delimiter.SQUARE, case) or []
        op = cls(value, default, cases)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", ")
        _print_successor(printer, self.defaultDestination, self.defaultOperands)
        printer.print_string(" [")
        for index, (value, block, operands) in enumerate(self.cases()):
            printer.print_string(f"{', ' if index else ''}{value}: ")
            _print_successor(printer, block, operands)
        printer.print_string("]")
        printer.print_op_attributes(self.attributes)
