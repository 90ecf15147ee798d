"""
The assembly format that all graph ops share.

    graph.name %a, %b bias(%c) {axes = [1, 2], keepdims, alpha = 0.5} : type, type, type -> type, type

Required and variadic operands come first, optional ones as `name(%v)`. Properties and attributes are in one list:
integers and floats without type are i64 and f64, lists of integers are `array<i64>`, lists of sizes `#graph.shape`;
a property that has its default value is left out. The types are those of all operands in order, then of the results.

xDSL's declarative format is not used, as it has no form for lists without types and none for optional operands by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    OptionalDef,
    OptOperandDef,
    OptResultDef,
    VarOperandDef,
    VarResultDef,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from aicc.dialects.graph.dim_parser import parse_dim_attribute
from aicc.dialects.graph.dims import ShapeAttr

OpT = TypeVar("OpT", bound=IRDLOperation)

_SEGMENTS = "operandSegmentSizes"


@cache
def _shape_properties(cls: type[IRDLOperation]) -> frozenset[str]:
    """The properties that are lists of sizes."""
    return frozenset(
        name for name, definition in cls.get_irdl_definition().properties.items() if _is_shape(definition.constr)
    )


def _is_shape(constraint: AttrConstraint) -> bool:
    return isinstance(constraint, BaseAttr) and constraint.attr is ShapeAttr


def print_op(op: IRDLOperation, printer: Printer) -> None:
    """Prints everything after the name of `op`."""
    definition = type(op).get_irdl_definition()
    positional: list[SSAValue] = []
    optional: list[tuple[str, SSAValue]] = []
    for name, operand in definition.operands:
        value = getattr(op, name)
        if isinstance(operand, OptOperandDef):
            if value is not None:
                optional.append((name, value))
        elif isinstance(operand, VarOperandDef):
            positional += value
        else:
            positional.append(value)
    if positional:
        printer.print_string(" ")
        printer.print_list(positional, printer.print_ssa_value)
    for name, value in optional:
        printer.print_string(f" {name}(")
        printer.print_ssa_value(value)
        printer.print_string(")")
    print_properties(op, printer)
    printer.print_string(" : ")
    if op.operands:
        printer.print_list(op.operands, lambda operand: printer.print_attribute(operand.type))
        printer.print_string(" -> ")
    printer.print_list(op.results, lambda result: printer.print_attribute(result.type))


def print_properties(op: IRDLOperation, printer: Printer, *, hidden: Sequence[str] = ()) -> None:
    """Prints ` {name = value, ...}` for properties (but `hidden` ones and defaults) and attributes; nothing if none."""
    definitions = type(op).get_irdl_definition().properties
    entries: list[tuple[str, Attribute]] = []
    for name, definition in definitions.items():
        value = op.properties.get(name)
        if value is None or name == _SEGMENTS or name in hidden:
            continue
        if not isinstance(definition, OptionalDef) and definition.default_value == value:
            continue
        entries.append((name, value))
    entries += op.attributes.items()
    if not entries:
        return
    printer.print_string(" {")
    printer.print_list(entries, lambda entry: _print_entry(printer, *entry))
    printer.print_string("}")


def _print_entry(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_identifier_or_string_literal(name)
    if isinstance(value, UnitAttr):
        return
    printer.print_string(" = ")
    match value:
        case IntegerAttr(type=type, value=number) if type == i64:
            printer.print_string(str(number.data))
        case FloatAttr(type=type, value=number) if type == f64:
            printer.print_float(number.data, f64)
        case DenseArrayBase(elt_type=type) if type == i64:
            printer.print_string(f"[{', '.join(map(str, array_values(value)))}]")
        case ShapeAttr():
            printer.print_string(value.text())
        case _:
            printer.print_attribute(value)


def parse_op(cls: type[OpT], parser: Parser) -> OpT:
    """Reads what `print_op` writes."""
    definition = cls.get_irdl_definition()
    start = parser.pos
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    positional = [] if operands is None else operands
    optional: dict[str, UnresolvedOperand] = {}
    for name, operand in definition.operands:
        if isinstance(operand, OptOperandDef) and parser.parse_optional_keyword(name) is not None:
            with parser.in_parens():
                optional[name] = parser.parse_unresolved_operand()
    properties, attributes = parse_properties(cls, parser)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    operand_types: Sequence[Attribute] = ()
    if positional or optional:
        operand_types = types
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    resolved = iter(parser.resolve_operands([*positional, *optional.values()], operand_types, start))
    required = sum(not isinstance(operand, OptOperandDef | VarOperandDef) for _, operand in definition.operands)
    has_variadic = any(
        isinstance(operand, VarOperandDef) and not isinstance(operand, OptOperandDef)
        for _, operand in definition.operands
    )
    if len(positional) < required or (len(positional) > required and not has_variadic):
        parser.raise_error(f"{cls.name} has {len(positional)} operands, expected {required}", start)
    arguments: list[SSAValue | list[SSAValue] | None] = []
    for name, operand in definition.operands:
        if isinstance(operand, OptOperandDef):
            arguments.append(next(resolved) if name in optional else None)
        elif isinstance(operand, VarOperandDef):
            arguments.append([next(resolved) for _ in range(len(positional) - required)])
        else:
            arguments.append(next(resolved))
    return cls.build(
        operands=arguments,
        result_types=_result_types(cls, parser, types, start),
        properties=properties,
        attributes=attributes,
    )


def _result_types(
    cls: type[IRDLOperation], parser: Parser, types: Sequence[Attribute], start: int
) -> Sequence[Attribute | Sequence[Attribute]]:
    definitions = cls.get_irdl_definition().results
    if len(definitions) == 1 and isinstance(definitions[0][1], VarResultDef | OptResultDef):
        return [types]
    if len(types) != len(definitions):
        parser.raise_error(f"{cls.name} has {len(types)} result types, expected {len(definitions)}", start)
    return types


def parse_properties(cls: type[IRDLOperation], parser: Parser) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Reads `{name = value, ...}`, if it is there; returns properties and attributes."""
    known = cls.get_irdl_definition().properties
    properties: dict[str, Attribute] = {}
    attributes: dict[str, Attribute] = {}

    def entry() -> None:
        start = parser.pos
        name = parser.parse_identifier_or_str_literal()
        if name not in known and "." not in name:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"expected one of {', '.join(known) or 'none'}"
            parser.raise_error(f"{cls.name} has no property '{name}'; {hint}", start)
        target = properties if name in known else attributes
        if name in target:
            parser.raise_error(f"'{name}' is given twice", start)
        if parser.parse_optional_punctuation("=") is None:
            target[name] = UnitAttr()
        elif name in _shape_properties(cls):
            target[name] = _parse_shape(parser)
        else:
            target[name] = _compact(parser.parse_attribute())

    parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, entry)
    return properties, attributes


def _parse_shape(parser: Parser) -> Attribute:
    dims = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_dim_attribute(parser))
    return parser.parse_attribute() if dims is None else ShapeAttr(dims)


def _compact(value: Attribute) -> Attribute:
    """A list of i64 as an array of them; anything else as it is."""
    if not isinstance(value, ArrayAttr):
        return value
    numbers: list[int] = []
    for item in cast(ArrayAttr[Attribute], value):
        match item:
            case IntegerAttr(type=type, value=number) if type == i64:
                numbers.append(number.data)
            case _:
                return cast(Attribute, value)
    return int_array(numbers)


def int_array(values: Sequence[int]) -> DenseArrayBase[Any]:
    """A property that is a list of integers."""
    return DenseArrayBase.from_list(i64, list(values))


def array_values(value: Attribute) -> tuple[int, ...]:
    """The integers of a property made by `int_array`."""
    assert isinstance(value, DenseArrayBase)
    return cast(DenseArrayBase[IntegerType], value).get_values()


def int_attr(value: int) -> IntegerAttr[Any]:
    """A property that is one integer."""
    return IntegerAttr(value, i64)


def float_attr(value: float) -> FloatAttr[Any]:
    """A property that is one float, in double precision."""
    return FloatAttr(value, f64)


def flag(value: bool) -> UnitAttr | None:
    """A property that is there or not."""
    return UnitAttr() if value else None


def op_name(op: Operation) -> str:
    """The name of an op without its dialect."""
    return op.name.partition(".")[2]
