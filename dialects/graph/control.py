"""
Control flow on whole tensors: `if`, `while`, calls. Regions may use values from around them.

All of these have value semantics and are pure: an unused one may be dropped, even one that would not end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AnyTensorTypeConstr, FlatSymbolRefAttr, FunctionType, SymbolRefAttr, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import parse_properties, print_properties
from aicc.dialects.graph.callees import find_callee
from aicc.dialects.graph.dims import dims_of, is_tensor, substitute_type, tensor_type
from aicc.dialects.graph.interfaces import Arrays, ControlOp, Frame, FusionKind, may_be_same_type
from aicc.dialects.graph.unify import symbol_values

_CONDITION = tensor_type([], i1)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """
    Ends a region and passes its results on.

    ```mlir
    graph.yield %a, %b : tensor<4xf32>, tensor<i1>
    ```
    """

    name = "graph.yield"

    values = var_operand_def(AnyTensorTypeConstr)

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue | Operation] = ()):
        super().__init__(operands=[list(values)])


def _yielded(region: Region, what: str) -> Sequence[SSAValue]:
    """
    The values that a region of one block ends with.

    Raises:
        VerifyException: if it does not end with `graph.yield`.
    """
    last = region.block.last_op if len(region.blocks) == 1 else None
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{what} region has {len(region.blocks)} blocks, expected one that ends with graph.yield")
    return last.values


def _check_types(what: str, found: Sequence[Attribute], expected: Sequence[Attribute]) -> None:
    if len(found) != len(expected):
        raise VerifyException(f"{what} are {len(found)}, expected {len(expected)}")
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        if not may_be_same_type(a, b):
            raise VerifyException(f"number {i} of {what} has type {a}, expected {b}")


@irdl_op_definition
class IfOp(ControlOp):
    """
    The values of `then_region` where `condition` holds, else those of `else_region`; only one of them runs.

    - (C1) `condition` is `tensor<i1>`
    - (C2) both regions are one block without arguments that ends with `graph.yield`
    - (C3) both yield the types of the results

    ```mlir
    %r = graph.if %c then {
      graph.yield %a : tensor<4xf32>
    } else {
      graph.yield %b : tensor<4xf32>
    } -> tensor<4xf32>
    ```
    """

    name = "graph.if"

    condition = operand_def(AnyTensorTypeConstr)
    then_region = region_def()
    else_region = region_def()
    outputs = var_result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        condition: SSAValue | Operation,
        then_region: Region,
        else_region: Region,
        result_types: Sequence[Attribute] | None = None,
    ):
        """The results have the types that the first region yields, unless others are given."""
        if result_types is None:
            result_types = [value.type for value in _yielded(then_region, "then")]
        IRDLOperation.__init__(
            self, operands=[condition], regions=[then_region, else_region], result_types=[list(result_types)]
        )

    def infer_types(self) -> Sequence[Attribute]:
        if self.condition.type != _CONDITION:  # C1
            raise VerifyException(f"condition has type {self.condition.type}, expected {_CONDITION}")
        for region, what in ((self.then_region, "then"), (self.else_region, "else")):
            yielded = _yielded(region, what)  # C2
            if region.block.args:
                raise VerifyException(f"{what} region has {len(region.block.args)} arguments, expected none")
            _check_types(f"values of the {what} region", [v.type for v in yielded], self.result_types)  # C3
        then_values, else_values = _yielded(self.then_region, "then"), _yielded(self.else_region, "else")
        return [
            a.type if a.type == b.type else declared
            for a, b, declared in zip(then_values, else_values, self.result_types, strict=True)
        ]

    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        return frame.run_block((self.then_region if operands[0].item() else self.else_region).block, [])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        print_properties(self, printer)
        printer.print_string(" then ")
        printer.print_region(self.then_region, print_empty_block=False)
        printer.print_string(" else ")
        printer.print_region(self.else_region, print_empty_block=False)
        _print_result_types(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        condition = parser.parse_unresolved_operand()
        _, attributes = parse_properties(cls, parser)
        parser.parse_keyword("then")
        then_region = parser.parse_region()
        parser.parse_keyword("else")
        else_region = parser.parse_region()
        types = _parse_result_types(parser)
        op = IfOp(parser.resolve_operand(condition, _CONDITION), then_region, else_region, types)
        op.attributes |= attributes
        return op


def _print_result_types(op: Operation, printer: Printer) -> None:
    if op.results:
        printer.print_string(" -> ")
        printer.print_list(op.results, lambda result: printer.print_attribute(result.type))


def _parse_result_types(parser: Parser) -> Sequence[Attribute]:
    if parser.parse_optional_punctuation("->") is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


@irdl_op_definition
class WhileOp(ControlOp):
    """
    `state = inputs; while condition(state): state = body(state)`; the results are the last state.

    - (C1) both regions are one block that ends with `graph.yield`, with one argument per input, of its type
    - (C2) `condition_region` yields one `tensor<i1>`
    - (C3) `body_region` yields values of the types of the inputs, which are those of the results

    ```mlir
    %r = graph.while %x while {
    ^bb0(%s: tensor<i64>):
      graph.yield %c : tensor<i1>
    } do {
    ^bb0(%s: tensor<i64>):
      graph.yield %t : tensor<i64>
    } : tensor<i64>
    ```
    """

    name = "graph.while"

    inputs = var_operand_def(AnyTensorTypeConstr)
    condition_region = region_def()
    body_region = region_def()
    outputs = var_result_def(AnyTensorTypeConstr)

    def __init__(self, inputs: Sequence[SSAValue | Operation], condition_region: Region, body_region: Region):
        values = [SSAValue.get(value) for value in inputs]
        IRDLOperation.__init__(
            self,
            operands=[values],
            regions=[condition_region, body_region],
            result_types=[[value.type for value in values]],
        )

    def infer_types(self) -> Sequence[Attribute]:
        types = [value.type for value in self.inputs]
        for region, what in ((self.condition_region, "condition"), (self.body_region, "body")):  # C1
            yielded = _yielded(region, what)
            _check_types(f"arguments of the {what} region", [arg.type for arg in region.block.args], types)
            expected = types if region is self.body_region else [_CONDITION]
            _check_types(f"values of the {what} region", [v.type for v in yielded], expected)  # C2, C3
        return types

    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        state = operands
        while frame.run_block(self.condition_region.block, state)[0].item():
            state = frame.run_block(self.body_region.block, state)
        return state

    def print(self, printer: Printer) -> None:
        if self.inputs:
            printer.print_string(" ")
            printer.print_list(self.inputs, printer.print_ssa_value)
        print_properties(self, printer)
        printer.print_string(" while ")
        printer.print_region(self.condition_region)
        printer.print_string(" do ")
        printer.print_region(self.body_region)
        if self.inputs:
            printer.print_string(" : ")
            printer.print_list(self.inputs, lambda value: printer.print_attribute(value.type))

    @classmethod
    def parse(cls, parser: Parser) -> WhileOp:
        start = parser.pos
        inputs = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        _, attributes = parse_properties(cls, parser)
        parser.parse_keyword("while")
        condition_region = parser.parse_region()
        parser.parse_keyword("do")
        body_region = parser.parse_region()
        types: list[Attribute] = []
        if inputs:
            parser.parse_punctuation(":")
            types += parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        op = WhileOp(parser.resolve_operands(inputs or [], types, start), condition_region, body_region)
        op.attributes |= attributes
        return op


class CallSymbolUse(SymbolUserOpInterface):
    """The callee exists, and its types with its symbols replaced are those of the call."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        callee = find_callee(op, op.callee)
        name = op.callee.string_value()
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"'@{name}' is no function of this module")
        formal = callee.function_type
        _check_rank_and_element(f"arguments of the call to @{name}", op.operand_types, formal.inputs.data)
        values = symbol_values(formal.inputs.data, [dims_of(t) if is_tensor(t) else () for t in op.operand_types])
        expected = [substitute_type(type, values) for type in formal.outputs.data]
        _check_types(f"results of the call to @{name}", op.result_types, expected)


def _check_rank_and_element(what: str, found: Sequence[Attribute], expected: Sequence[Attribute]) -> None:
    if len(found) != len(expected):
        raise VerifyException(f"{what} are {len(found)}, expected {len(expected)}")
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        same = a == b
        if is_tensor(a) and is_tensor(b):
            same = a.element_type == b.element_type and len(a.shape) == len(b.shape)
        if not same:
            raise VerifyException(f"number {i} of {what} has type {a}, expected {b}")


@irdl_op_definition
class CallOp(ControlOp):
    """
    The results of function `callee`, whose own symbols are found from the sizes of the arguments.

    - (C1) `callee` is a function of the module, with as many arguments and results
    - (C2) the arguments and results have its types, with its symbols replaced by the sizes of the arguments

    ```mlir
    %r = graph.call @f(%x) : (tensor<4x2xf32>) -> tensor<4xf32>
    ```
    """

    name = "graph.call"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTROL

    callee = prop_def(FlatSymbolRefAttr)
    arguments = var_operand_def(AnyTensorTypeConstr)
    outputs = var_result_def(AnyTensorTypeConstr)

    traits = traits_def(CallSymbolUse())

    def __init__(self, callee: str, arguments: Sequence[SSAValue | Operation], result_types: Sequence[Attribute]):
        IRDLOperation.__init__(
            self,
            operands=[list(arguments)],
            properties={"callee": SymbolRefAttr(callee)},
            result_types=[list(result_types)],
        )

    def infer_types(self) -> Sequence[Attribute]:
        # The callee is looked up by the verifier only, as this needs the module around the call.
        return self.result_types

    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        return frame.call(self.callee.string_value(), operands)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee.string_value())
        printer.print_operands(self.arguments)
        print_properties(self, printer, hidden=("callee",))
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(self.operand_types, self.result_types))

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        start = parser.pos
        callee = parser.parse_symbol_name().data
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        _, attributes = parse_properties(cls, parser)
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        op = CallOp(callee, parser.resolve_operands(arguments, type.inputs.data, start), type.outputs.data)
        op.attributes |= attributes
        return op


def single_block(values: Sequence[SSAValue]) -> Region:
    """A region that only yields values from around it."""
    return Region(Block([YieldOp(values)]))


OPS: list[type[Operation]] = [CallOp, IfOp, WhileOp, YieldOp]
