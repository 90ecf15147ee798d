"""Finding the values of symbols from the sizes that stand in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute

from aicc.dialects.graph.dims import Dim, SymExpr, dims_of, floordiv, is_tensor, mod, provably_at_least, substitute


def symbol_values(types: Sequence[Attribute], shapes: Sequence[Sequence[Dim]]) -> dict[str, Dim]:
    """
    The value of each symbol in the tensor `types` for which the types have the given `shapes`.

    A symbol is found where a size is the symbol itself, or a line `a*symbol + b` in it whose equation has an integer
    solution of at least 0. Symbols that cannot be found this way are left out; nothing is checked.
    """
    values: dict[str, Dim] = {}
    unknown: list[tuple[SymExpr, Dim]] = []
    for type, shape in zip(types, shapes, strict=True):
        if is_tensor(type):
            unknown += [(dim, size) for dim, size in zip(dims_of(type), shape, strict=True) if isinstance(dim, SymExpr)]
    while unknown:
        left: list[tuple[SymExpr, Dim]] = []
        for dim, size in unknown:
            rest = substitute(dim, values)
            if isinstance(rest, SymExpr) and not _solve(rest, size, values):
                left.append((rest, size))
        if len(left) == len(unknown):
            break
        unknown = left
    return values


def _solve(dim: SymExpr, size: Dim, values: dict[str, Dim]) -> bool:
    """Solves `dim == size` for the one symbol in `dim`, if it is a line in it."""
    line = _line(dim)
    if line is None:
        return False
    name, factor, constant = line
    distance = size - constant
    if factor < 0:
        factor, distance = -factor, -1 * distance
    if mod(distance, factor) != 0 or not provably_at_least(distance, 0):
        return False
    values[name] = floordiv(distance, factor)
    return True


def _line(dim: SymExpr) -> tuple[str, int, int] | None:
    """`(name, a, b)` for `a*name + b`; None for anything else."""
    (monomial, factor), *rest = dim.terms
    if len(monomial) != 1 or monomial[0].args or len(rest) > 1 or (rest and rest[0][0]):
        return None
    return monomial[0].name, factor, rest[0][1] if rest else 0


def integer_symbol_values(types: Sequence[Attribute], shapes: Sequence[Sequence[int]]) -> Mapping[str, int]:
    """`symbol_values` for shapes of arrays."""
    values = symbol_values(types, shapes)
    return {name: value for name, value in values.items() if isinstance(value, int)}
