"""
Affine maps with their operands as people write them: `%i * 16 + l0, %k - 1`.

A map applied to operands is printed by putting each operand's name in the place of its dimension; lanes of a vector
access are `l0, l1, ...`. That form exists only for a canonical pair of map and operands (`canonical_access`); any
other pair falls back to `affine_map<...>(%a, %b)[%s]`, so that every verified op survives printing and parsing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TypeVar, cast

from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

Access = tuple[AffineMap, tuple[SSAValue, ...]]
"""A map and its operands: dimensions but the lanes first, then symbols."""

OperandT = TypeVar("OperandT", bound=Hashable)

_LANE_BASE = 1 << 20
"""Dimension that stands for lane 0 while the number of operands is not yet known."""


def canonical_access(affine_map: AffineMap, operands: Sequence[SSAValue], lanes: int = 0) -> Access:
    """
    The same function with a dimension per distinct operand in use, in order of appearance, then the lanes; no symbols.

    `affine_map` has `len(operands) + lanes` inputs: dimensions of operands, `lanes` lane dimensions, then symbols.
    """
    if len(set(map(id, operands))) == len(operands):
        new, kept = _canonical_map(affine_map, lanes)
        return new, tuple([operands[position] for position in kept])
    return _canonical(affine_map, operands, lanes)


@lru_cache(maxsize=1 << 14)
def _canonical_map(affine_map: AffineMap, lanes: int) -> tuple[AffineMap, tuple[int, ...]]:
    """
    The canonical map of distinct operands, and the positions of those in use.

    Remembered, since each step of a schedule asks about the same maps again.
    """
    return _canonical(affine_map, range(affine_map.num_dims - lanes + affine_map.num_symbols), lanes)


def _canonical(
    affine_map: AffineMap, operands: Sequence[OperandT], lanes: int
) -> tuple[AffineMap, tuple[OperandT, ...]]:
    num_leading = affine_map.num_dims - lanes
    order: dict[OperandT, int] = {}

    def rename(expr: AffineExpr) -> AffineExpr:
        # Not by patterns: affine expressions are an abstract class, for which `isinstance` is slow.
        kind = type(expr)
        if kind is AffineDimExpr:
            position = cast(AffineDimExpr, expr).position
            if position >= num_leading:
                return AffineDimExpr(_LANE_BASE + position - num_leading)
            return AffineDimExpr(order.setdefault(operands[position], len(order)))
        if kind is AffineSymExpr:
            position = cast(AffineSymExpr, expr).position
            return AffineDimExpr(order.setdefault(operands[num_leading + position], len(order)))
        if kind is AffineBinaryOpExpr:
            binary = cast(AffineBinaryOpExpr, expr)
            left = rename(binary.lhs)
            return AffineExpr.binary(binary.kind, left, rename(binary.rhs))
        return expr

    results = [rename(expr) for expr in affine_map.results]
    return _with_lanes(results, len(order), lanes), tuple(order)


def _with_lanes(results: Sequence[AffineExpr], num_operands: int, lanes: int) -> AffineMap:
    """The map of `results` with the placeholder lanes moved behind the operands."""
    if not lanes:
        return AffineMap(num_operands, 0, tuple(results))

    def place(expr: AffineExpr) -> AffineExpr:
        match expr:
            case AffineDimExpr(position=position) if position >= _LANE_BASE:
                return AffineDimExpr(num_operands + position - _LANE_BASE)
            case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
                return AffineBinaryOpExpr(kind, place(lhs), place(rhs))
            case _:
                return expr

    return AffineMap(num_operands + lanes, 0, tuple(place(expr) for expr in results))


def map_affine(expr: AffineExpr, leaf: Callable[[AffineExpr], AffineExpr]) -> AffineExpr:
    """`expr` with `leaf` applied to its dimensions, symbols and constants."""
    if isinstance(expr, AffineBinaryOpExpr):
        return AffineExpr.binary(expr.kind, map_affine(expr.lhs, leaf), map_affine(expr.rhs, leaf))
    return leaf(expr)


def expression_text(expr: AffineExpr, dims: Sequence[str], symbols: Sequence[str] = (), precedence: int = 0) -> str:
    """`expr` with names for its dimensions and symbols, in as few parentheses as parse back to the same tree."""
    match expr:
        case AffineDimExpr(position=position):
            return dims[position]
        case AffineSymExpr(position=position):
            return symbols[position]
        case AffineConstantExpr(value=value):
            return str(value)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            if isinstance(rhs, AffineConstantExpr) and _is_negative_product(lhs):
                # `5 - x`: an integer goes to the right when it is parsed.
                text = f"{rhs} {_signed_term(lhs, dims, symbols)}"
            else:
                text = f"{expression_text(lhs, dims, symbols, 10)} {_signed_term(rhs, dims, symbols)}"
            return f"({text})" if precedence > 10 else text
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left = expression_text(lhs, dims, symbols, 20)
            text = f"{left} {kind.get_token()} {expression_text(rhs, dims, symbols, 21)}"
            return f"({text})" if precedence > 20 else text
        case _:
            raise ValueError(f"no text for the affine expression {expr}")


def _is_negative_product(expr: AffineExpr) -> bool:
    match expr:
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, rhs=AffineConstantExpr(value=value)):
            return value < 0
        case _:
            return False


def _signed_term(expr: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> str:
    """The right side of a sum with its sign."""
    match expr:
        case AffineConstantExpr(value=value) if value < 0:
            return f"- {-value}"
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)) if value < 0:
            return f"- {expression_text(lhs if value == -1 else lhs * -value, dims, symbols, 11)}"
        case _:
            return f"+ {expression_text(expr, dims, symbols, 11)}"


def is_canonical(affine_map: AffineMap, operands: Sequence[SSAValue], lanes: int = 0) -> bool:
    """Whether the pair is what `canonical_access` makes of it."""
    return (affine_map, tuple(operands)) == canonical_access(affine_map, operands, lanes)


def print_access(printer: Printer, affine_map: AffineMap, operands: Sequence[SSAValue], lanes: int = 0) -> None:
    """Prints the results of the map over the operands' names, separated by commas."""
    if not is_canonical(affine_map, operands, lanes):
        printer.print_attribute(AffineMapAttr(affine_map))
        split = affine_map.num_dims - lanes
        with printer.in_parens():
            printer.print_list(operands[:split], printer.print_operand)
        if affine_map.num_symbols:
            with printer.in_square_brackets():
                printer.print_list(operands[split:], printer.print_operand)
        return
    marks = [f"\0{index}\0" for index in range(len(operands))] + [f"l{lane}" for lane in range(lanes)]
    for position, expr in enumerate(affine_map.results):
        if position:
            printer.print_string(", ")
        for part, piece in enumerate(expression_text(expr, marks).split("\0")):
            if part % 2:
                printer.print_operand(operands[int(piece)])
            else:
                printer.print_string(piece)


def parse_access(parser: Parser, lanes: Callable[[], int] | None = None, single: bool = False) -> Callable[[], Access]:
    """
    Parses what `print_access` prints, up to a token that cannot go on with it; with `single`, one expression.

    The number of lanes depends on a type that comes later in the text, so the access is given out by the function
    returned, which asks `lanes` for it.
    """
    count = lanes or (lambda: 0)
    if parser.parse_optional_keyword("affine_map") is not None:
        return _parse_explicit(parser)
    operands: dict[SSAValue, int] = {}
    results: list[AffineExpr] = []
    # An empty list of indices ends at once: rank 0.
    if (first := _parse_optional_sum(parser, operands)) is not None:
        results.append(first)
        while not single and parser.parse_optional_punctuation(",") is not None:
            results.append(_parse_sum(parser, operands))
    pos = parser.pos

    def finish() -> Access:
        number = count()
        last = max((max(result.used_dims(), default=0) for result in results), default=0) - _LANE_BASE
        if last >= number:
            parser.raise_error(f"lane l{last} does not exist: the value has {number} vector dimensions", pos)
        return _with_lanes(results, len(operands), number), tuple(operands)

    return finish


def _parse_explicit(parser: Parser) -> Callable[[], Access]:
    with parser.in_angle_brackets():
        affine_map = parser.parse_affine_map()

    def parse_index() -> SSAValue:
        return parser.parse_operand(IndexType())

    operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_index)
    operands += parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parse_index) or []
    return lambda: (affine_map, tuple(operands))


def _parse_sum(parser: Parser, operands: dict[SSAValue, int]) -> AffineExpr:
    if (expr := _parse_optional_sum(parser, operands)) is None:
        parser.raise_error("expected an index expression: a value, an integer, a lane such as l0, or parentheses")
    return expr


def _parse_optional_sum(parser: Parser, operands: dict[SSAValue, int]) -> AffineExpr | None:
    if (expr := _parse_optional_product(parser, operands)) is None:
        return None
    while True:
        if parser.parse_optional_punctuation("+") is not None:
            expr = expr + _parse_product(parser, operands)
        elif parser.parse_optional_punctuation("-") is not None:
            expr = expr - _parse_product(parser, operands)
        else:
            return expr


def _parse_product(parser: Parser, operands: dict[SSAValue, int]) -> AffineExpr:
    if (expr := _parse_optional_product(parser, operands)) is None:
        parser.raise_error("expected an index expression: a value, an integer, a lane such as l0, or parentheses")
    return expr


def _parse_optional_product(parser: Parser, operands: dict[SSAValue, int]) -> AffineExpr | None:
    if (expr := _parse_optional_primary(parser, operands)) is None:
        return None
    while True:
        if parser.parse_optional_punctuation("*") is not None:
            expr = _times(parser, expr, _parse_primary(parser, operands))
        elif (word := parser.parse_optional_keyword_in(("floordiv", "ceildiv", "mod"))) is not None:
            divisor = parser.parse_integer(allow_boolean=False)
            if divisor <= 0:
                parser.raise_error(f"'{word}' by {divisor}; expected a positive integer")
            match word:
                case "floordiv":
                    expr = expr // divisor
                case "ceildiv":
                    expr = expr.ceil_div(divisor)
                case _:
                    expr = expr % divisor
        else:
            return expr


def _times(parser: Parser, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    if not isinstance(lhs, AffineConstantExpr) and not isinstance(rhs, AffineConstantExpr):
        parser.raise_error("product of two values; one factor must be an integer")
    return lhs * rhs


def _parse_primary(parser: Parser, operands: dict[SSAValue, int]) -> AffineExpr:
    if (expr := _parse_optional_primary(parser, operands)) is None:
        parser.raise_error("expected a value, an integer, a lane such as l0, or parentheses")
    return expr


def _parse_optional_primary(parser: Parser, operands: dict[SSAValue, int]) -> AffineExpr | None:
    if (operand := parser.parse_optional_operand(IndexType())) is not None:
        return AffineDimExpr(operands.setdefault(operand, len(operands)))
    if parser.parse_optional_punctuation("(") is not None:
        expr = _parse_sum(parser, operands)
        parser.parse_punctuation(")")
        return expr
    if parser.parse_optional_punctuation("-") is not None:
        return -_parse_primary(parser, operands)
    if (value := parser.parse_optional_integer(allow_boolean=False)) is not None:
        return AffineConstantExpr(value)
    for lane in range(8):
        if parser.parse_optional_keyword(f"l{lane}") is not None:
            return AffineDimExpr(_LANE_BASE + lane)
    return None
