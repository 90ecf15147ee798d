"""
Control flow on whole tensors: `if`, `while`, calls. Regions may use values from around them.

All of these have value semantics and are pure: an unused one may be dropped, even one that would not end, unless others
name sizes that it defines.

`if` and `while` may define symbols (`symbols`): sizes of what they give that depend on the way that was taken.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    ArrayAttr,
    FlatSymbolRefAttr,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
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
from aicc.dialects.graph.defined_sizes import DefinesSymbols, SizeEffect
from aicc.dialects.graph.dims import (
    Dim,
    ShapeAttr,
    dim_max,
    dims_of,
    evaluate_dims,
    is_tensor,
    substitute_type,
    sym,
    symbols_of,
    tensor_type,
)
from aicc.dialects.graph.interfaces import Arrays, ControlOp, Frame, FusionKind, may_be_same_type, set_type
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


def _check_symbols(names: Sequence[str], **sizes: ShapeAttr | None) -> None:
    """
    Checks that there are as many sizes as symbols, each of which has a name of its own.

    Raises:
        VerifyException: if not.
    """
    if len(set(names)) != len(names) or "" in names:
        raise VerifyException(f"symbols are {', '.join(map(repr, names))}, expected different names")
    for what, given in sizes.items():
        if (count := 0 if given is None else len(given.data)) != len(names):
            raise VerifyException(f"{what} has {count} sizes for {len(names)} symbols")


class _SymbolsOp(ControlOp, DefinesSymbols, ABC):
    """A control op that may define symbols."""

    symbols = opt_prop_def(ArrayAttr[StringAttr])

    traits = traits_def(SizeEffect())

    @property
    def symbol_names(self) -> tuple[str, ...]:
        """`symbols` as strings."""
        return () if self.symbols is None else tuple(name.data for name in self.symbols)

    def define(self, frame: Frame, sizes: ShapeAttr | None) -> None:
        """Gives all symbols the values of `sizes` at once."""
        if sizes is not None:
            values = evaluate_dims(sizes.data, frame.symbols)
            for name, value in zip(self.symbol_names, values, strict=True):
                frame.define_symbol(self, name, value, None)


def _names_attr(names: Sequence[str]) -> Attribute | None:
    return ArrayAttr([StringAttr(name) for name in names]) if names else None


def _sizes_attr(sizes: Sequence[Dim]) -> Attribute | None:
    return ShapeAttr(sizes) if sizes else None


@irdl_op_definition
class IfOp(_SymbolsOp):
    """
    The values of `then_region` where `condition` holds, else those of `else_region`; only one of them runs.

    `symbols[i]`, which sizes of the results may name, is `then_sizes[i]` as it is at the end of the first region, or
    `else_sizes[i]` at the end of the second.

    - (C1) `condition` is `tensor<i1>`
    - (C2) both regions are one block without arguments that ends with `graph.yield`
    - (C3) both yield the types of the results, with those sizes for the symbols
    - (C4) `symbols` are different names, `then_sizes` and `else_sizes` as many sizes

    ```mlir
    %r = graph.if %c then {
      graph.yield %a : tensor<4xf32>
    } else {
      graph.yield %b : tensor<4xf32>
    } -> tensor<4xf32>
    ```
    """

    name = "graph.if"
    ENDS: ClassVar[bool] = True

    condition = operand_def(AnyTensorTypeConstr)
    then_sizes = opt_prop_def(ShapeAttr)
    else_sizes = opt_prop_def(ShapeAttr)
    then_region = region_def()
    else_region = region_def()
    outputs = var_result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        condition: SSAValue | Operation,
        then_region: Region,
        else_region: Region,
        result_types: Sequence[Attribute] | None = None,
        symbols: Sequence[tuple[str, Dim, Dim]] = (),
    ):
        """
        The results have the types that the first region yields, unless others are given; `symbols` are names with
        their sizes in the two regions.
        """
        if result_types is None:
            result_types = [value.type for value in _yielded(then_region, "then")]
        IRDLOperation.__init__(
            self,
            operands=[condition],
            regions=[then_region, else_region],
            result_types=[list(result_types)],
            properties={
                "symbols": _names_attr([name for name, _, _ in symbols]),
                "then_sizes": _sizes_attr([size for _, size, _ in symbols]),
                "else_sizes": _sizes_attr([size for _, _, size in symbols]),
            },
        )

    @staticmethod
    def joined(
        condition: SSAValue | Operation, then_region: Region, else_region: Region, fresh: Callable[[], str]
    ) -> IfOp:
        """
        An `if` whose results have the sizes that both regions yield; one that differs, or that may, is a symbol with
        the name `fresh()`.
        """
        symbols: dict[tuple[Dim, Dim], str] = {}
        types: list[Attribute] = []
        yielded = zip(_yielded(then_region, "then"), _yielded(else_region, "else"), strict=True)
        for a, b in yielded:
            if not is_tensor(a.type) or not is_tensor(b.type) or len(a.type.shape) != len(b.type.shape):
                types.append(a.type)
                continue
            dims: list[Dim] = []
            for pair in zip(dims_of(a.type), dims_of(b.type), strict=True):
                if pair[0] != pair[1] and pair not in symbols:
                    symbols[pair] = fresh()
                dims.append(pair[0] if pair[0] == pair[1] else sym(symbols[pair]))
            types.append(tensor_type(dims, a.type.element_type))
        named = [(name, *pair) for pair, name in symbols.items()]
        return IfOp(condition, then_region, else_region, types, named)

    def defined_symbols(self) -> Mapping[str, Dim | None]:
        if self.then_sizes is None or self.else_sizes is None:
            return {}
        most = map(dim_max, self.then_sizes.data, self.else_sizes.data)
        return dict(zip(self.symbol_names, most, strict=True))

    def infer_types(self) -> Sequence[Attribute]:
        if self.condition.type != _CONDITION:  # C1
            raise VerifyException(f"condition has type {self.condition.type}, expected {_CONDITION}")
        names = self.symbol_names
        _check_symbols(names, then_sizes=self.then_sizes, else_sizes=self.else_sizes)  # C4
        ways = ((self.then_region, "then", self.then_sizes), (self.else_region, "else", self.else_sizes))
        for region, what, sizes in ways:
            yielded = _yielded(region, what)  # C2
            if region.block.args:
                raise VerifyException(f"{what} region has {len(region.block.args)} arguments, expected none")
            expected = _with_sizes(self.result_types, names, sizes)
            _check_types(f"values of the {what} region", [v.type for v in yielded], expected)  # C3
        then_values, else_values = _yielded(self.then_region, "then"), _yielded(self.else_region, "else")
        return [
            a.type if a.type == b.type and set(names).isdisjoint(_symbols_in(declared)) else declared
            for a, b, declared in zip(then_values, else_values, self.result_types, strict=True)
        ]

    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        taken = bool(operands[0].item())
        results = frame.run_block((self.then_region if taken else self.else_region).block, [])
        self.define(frame, self.then_sizes if taken else self.else_sizes)
        return results

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
        properties, attributes = parse_properties(cls, parser)
        parser.parse_keyword("then")
        then_region = parser.parse_region()
        parser.parse_keyword("else")
        else_region = parser.parse_region()
        types = _parse_result_types(parser)
        op = IfOp(parser.resolve_operand(condition, _CONDITION), then_region, else_region, types)
        op.properties |= properties
        op.attributes |= attributes
        return op


def _with_sizes(types: Sequence[Attribute], names: Sequence[str], sizes: ShapeAttr | None) -> Sequence[Attribute]:
    """`types` with sizes in the place of symbols."""
    if sizes is None:
        return types
    values = dict(zip(names, sizes.data, strict=True))
    return [substitute_type(type, values) for type in types]


def _symbols_in(type: Attribute) -> tuple[str, ...]:
    return symbols_of(dims_of(type)) if is_tensor(type) else ()


def _print_result_types(op: Operation, printer: Printer) -> None:
    if op.results:
        printer.print_string(" -> ")
        printer.print_list(op.results, lambda result: printer.print_attribute(result.type))


def _parse_result_types(parser: Parser) -> Sequence[Attribute]:
    if parser.parse_optional_punctuation("->") is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


@irdl_op_definition
class WhileOp(_SymbolsOp):
    """
    `state = inputs; while condition(state): state = body(state)`; the results are the last state.

    `symbols[i]`, which sizes of the state may name, is `initial[i]` at first and becomes `following[i]` at the end of
    each run of the body; it has its last value behind the loop.

    - (C1) both regions are one block that ends with `graph.yield`, with one argument per input; of its type, with
      `initial` sizes for the symbols
    - (C2) `condition_region` yields one `tensor<i1>`
    - (C3) `body_region` yields values of the types of the state with `following` sizes for the symbols; the results
      have the types of the state
    - (C4) `symbols` are different names, `initial` and `following` as many sizes

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
    initial = opt_prop_def(ShapeAttr)
    following = opt_prop_def(ShapeAttr)
    condition_region = region_def()
    body_region = region_def()
    outputs = var_result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        condition_region: Region,
        body_region: Region,
        symbols: Sequence[tuple[str, Dim, Dim]] = (),
    ):
        """`symbols` are names with their first sizes and those at the end of the body."""
        values = [SSAValue.get(value) for value in inputs]
        state = body_region.block.args if symbols else values
        IRDLOperation.__init__(
            self,
            operands=[values],
            regions=[condition_region, body_region],
            result_types=[[value.type for value in state]],
            properties={
                "symbols": _names_attr([name for name, _, _ in symbols]),
                "initial": _sizes_attr([size for _, size, _ in symbols]),
                "following": _sizes_attr([size for _, _, size in symbols]),
            },
        )

    def defined_symbols(self) -> Mapping[str, Dim | None]:
        return dict.fromkeys(self.symbol_names)

    def infer_types(self) -> Sequence[Attribute]:
        names, initial = self.symbol_names, self.initial
        _check_symbols(names, initial=initial, following=self.following)  # C4
        types: Sequence[Attribute] = [value.type for value in self.inputs]
        if initial is not None and len(self.body_region.blocks) == 1:
            state = self.body_region.block.arg_types
            _check_types("inputs", types, _with_sizes(state, names, initial))  # C1
            types = state
        for region, what in ((self.condition_region, "condition"), (self.body_region, "body")):  # C1
            yielded = _yielded(region, what)
            _check_types(f"arguments of the {what} region", [arg.type for arg in region.block.args], types)
            in_body = region is self.body_region
            expected = _with_sizes(types, names, self.following) if in_body else [_CONDITION]
            _check_types(f"values of the {what} region", [v.type for v in yielded], expected)  # C2, C3
        return types

    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        state = operands
        self.define(frame, self.initial)
        while frame.run_block(self.condition_region.block, state)[0].item():
            state = frame.run_block(self.body_region.block, state)
            self.define(frame, self.following)
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
        properties, attributes = parse_properties(cls, parser)
        parser.parse_keyword("while")
        condition_region = parser.parse_region()
        parser.parse_keyword("do")
        body_region = parser.parse_region()
        types: list[Attribute] = []
        if inputs:
            parser.parse_punctuation(":")
            types += parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        op = WhileOp(parser.resolve_operands(inputs or [], types, start), condition_region, body_region)
        if "symbols" in properties:
            # The sizes of the results are those of the state, and the types that are written those of the inputs.
            for result, argument in zip(op.results, body_region.block.args, strict=False):
                set_type(result, argument.type)
        op.properties |= properties
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
