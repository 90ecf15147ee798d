"""Pieces of assembly that several ops of `tensor_ops` share: mapped operands, iteration spaces, bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import AffineMapAttr, FloatAttr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from aicc.dialects.graph.dim_parser import parse_dim_attribute
from aicc.dialects.graph.dims import Dim, ShapeAttr


@dataclass(frozen=True)
class MappedOperand:
    """`%x as affine_map<..> fill 0.0 : f32` before the operand's type is known."""

    operand: UnresolvedOperand
    map: AffineMapAttr
    fill: Attribute


def parse_mapped_operands(parser: Parser) -> list[MappedOperand]:
    """Reads `(%x as affine_map<..>, %y as affine_map<..> fill 0.0 : f32)`."""

    def parse_one() -> MappedOperand:
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("as")
        position = parser.pos
        affine_map = parser.parse_attribute()
        if not isinstance(affine_map, AffineMapAttr):
            parser.raise_error(f"found {affine_map}, expected an affine map", position, parser.pos)
        fill: Attribute = UnitAttr()
        if parser.parse_optional_keyword("fill"):
            fill = parse_scalar(parser)
        return MappedOperand(operand, affine_map, fill)

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_one)


def print_mapped_operands(
    printer: Printer, operands: Sequence[SSAValue], maps: Sequence[Attribute], fills: Sequence[Attribute] = ()
) -> None:
    """The inverse of `parse_mapped_operands`."""
    with printer.in_parens():
        for i, (operand, affine_map) in enumerate(zip(operands, maps, strict=True)):
            printer.print_string(", " if i else "")
            printer.print_operand(operand)
            printer.print_string(" as ")
            printer.print_attribute(affine_map)
            if i < len(fills) and not isinstance(fills[i], UnitAttr):
                printer.print_string(" fill ")
                printer.print_attribute(fills[i])


def parse_scalar(parser: Parser) -> Attribute:
    """Reads a number with its type, such as `0.0 : f32`."""
    position = parser.pos
    attribute = parser.parse_attribute()
    if not isinstance(attribute, FloatAttr | IntegerAttr):
        parser.raise_error(f"found {attribute}, expected a number with its type", position, parser.pos)
    return cast(Attribute, attribute)


def parse_scalars(parser: Parser) -> list[Attribute]:
    """Reads `[0.0 : f32, 1 : i64]`."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_scalar(parser))


def print_scalars(printer: Printer, scalars: Sequence[Attribute]) -> None:
    """The inverse of `parse_scalars`."""
    with printer.in_square_brackets():
        printer.print_list(scalars, printer.print_attribute)


def parse_dims(parser: Parser) -> list[Dim]:
    """Reads `[2, N, 2*N+1]`."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_dim_attribute(parser))


def dim_text(dim: Dim) -> str:
    """A size as `parse_dims` reads it."""
    return dim.quoted('"') if not isinstance(dim, int) else str(dim)


def print_dims(printer: Printer, dims: Sequence[Dim]) -> None:
    """The inverse of `parse_dims`."""
    printer.print_string(f"[{', '.join(map(dim_text, dims))}]")


def parse_space(parser: Parser) -> tuple[list[Dim], int]:
    """Reads `[parallel 8, parallel N, reduction 64]`: the extents and the number of parallel ones."""
    num_parallel = 0

    def parse_one() -> Dim:
        nonlocal num_parallel
        if parser.parse_keyword_in(("parallel", "reduction")) == "parallel":
            num_parallel += 1
            kinds.append(True)
        else:
            kinds.append(False)
        return parse_dim_attribute(parser)

    kinds: list[bool] = []
    position = parser.pos
    extents = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_one)
    if kinds != sorted(kinds, reverse=True):
        parser.raise_error("a parallel dimension follows a reduction dimension", position, parser.pos)
    return extents, num_parallel


def print_space(printer: Printer, extents: Sequence[Dim], num_parallel: int) -> None:
    """The inverse of `parse_space`."""
    kinds = ["parallel" if i < num_parallel else "reduction" for i in range(len(extents))]
    parts = [f"{kind} {dim_text(extent)}" for kind, extent in zip(kinds, extents, strict=True)]
    printer.print_string(f"[{', '.join(parts)}]")


def parse_optional_symbols(parser: Parser) -> ShapeAttr:
    """Reads `symbols [N, 2*M]`, or nothing."""
    return ShapeAttr(parse_dims(parser) if parser.parse_optional_keyword("symbols") else [])


def print_optional_symbols(printer: Printer, symbols: ShapeAttr) -> None:
    """The inverse of `parse_optional_symbols`, with a space before."""
    if symbols.data:
        printer.print_string(" symbols ")
        print_dims(printer, symbols.data)


def parse_body(parser: Parser) -> Region:
    """Reads `(%a : f32, %acc : f32) { ... }`."""
    args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
    return parser.parse_region(args)


def print_body(printer: Printer, region: Region) -> None:
    """The inverse of `parse_body`."""
    with printer.in_parens():
        printer.print_list(region.block.args, printer.print_block_argument)
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False)
