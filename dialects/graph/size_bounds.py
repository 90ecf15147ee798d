"""How large a size can be whose symbols are defined by data, in terms of sizes that are known before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from xdsl.ir import Operation

from aicc.dialects.graph.defined_sizes import DefinesSymbols
from aicc.dialects.graph.dims import Dim, SymExpr, dim_max, dim_min, dim_prod, dim_sum, floordiv, provably_at_least, sym
from aicc.dialects.graph.symbolic import apply_function

Bounds = Mapping[str, Dim | None]
"""Symbols that data defines, and a size that each of them never exceeds where one is known."""


def symbol_bounds(root: Operation) -> dict[str, Dim | None]:
    """The symbols that ops in `root` define, with bounds in terms of all other symbols where these are known."""
    definers = [op for op in root.walk(region_first=True) if isinstance(op, DefinesSymbols)]
    resolved: dict[str, Dim | None] = {name: None for op in definers for name in op.defined_symbols()}
    defined = set[str]()
    for op in definers:
        for name, bound in op.defined_symbols().items():
            # The symbols in a bound are defined before, or in the regions of the op.
            most = None if bound is None else largest(bound, resolved)
            resolved[name] = most if name not in defined else _larger(resolved[name], most)
            defined.add(name)
    return resolved


def _larger(a: Dim | None, b: Dim | None) -> Dim | None:
    """Of two bounds of a symbol that is defined twice, as in both branches of an `if`."""
    return None if a is None or b is None else dim_max(a, b)


def largest(dim: Dim, bounds: Bounds) -> Dim | None:
    """
    A size that `dim` never exceeds and that names none of the symbols in `bounds`; None if none is found.

    Terms with such symbols are bounded one by one, as all sizes are at least 0.
    """
    if not isinstance(dim, SymExpr) or bounds.keys().isdisjoint(dim.symbols()):
        return dim
    total: list[Dim] = []
    for monomial, coefficient in dim.terms:
        factors = [apply_function(atom.name, atom.args) if atom.args else sym(atom.name) for atom in monomial]
        product = dim_prod([coefficient, *factors])
        if isinstance(product, SymExpr) and not bounds.keys().isdisjoint(product.symbols()):
            if not all(provably_at_least(factor, 0) for factor in factors):
                return None
            product = 0
            if coefficient > 0:
                most = [_largest_atom(atom.name, atom.args, bounds) for atom in monomial]
                known = [size for size in most if size is not None]
                if len(known) != len(most):
                    return None
                product = dim_prod([coefficient, *known])
        total.append(product)
    return dim_sum(total)


def _largest_atom(name: str, args: Sequence[Dim], bounds: Bounds) -> Dim | None:
    if not args:
        return bounds.get(name, sym(name))
    most = [largest(arg, bounds) for arg in args]
    known = [size for size in most if size is not None]
    match name:
        case "min" if known:
            return reduce(dim_min, known)
        case "max" if len(known) == len(most):
            return reduce(dim_max, known)
        case "mod":
            return most[1]
        case "floordiv" if most[0] is not None:
            # A divisor is at least 1.
            return floordiv(most[0], args[1]) if isinstance(args[1], int) else most[0]
        case _:
            return None
