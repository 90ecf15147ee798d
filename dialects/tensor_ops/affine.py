"""
Index arithmetic on xDSL's affine expressions: bounds, a normal form, composition of maps.

Everything here is exact on integers. An expression is put in normal form as a sum of atoms with integer coefficients
and a constant; an atom is a dimension, a symbol, or a `floordiv`/`mod` of a sum by a positive constant. With bounds for
the dimensions, divisions disappear where they can: `(16*a + b) floordiv 16 = a` when `0 <= b < 16`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

Bounds = tuple[int | None, int | None]
"""Smallest and largest value, both inclusive; `None` where there is no known bound."""

UNBOUNDED: Bounds = (None, None)
ZERO = AffineConstantExpr(0)


@dataclass(frozen=True)
class LinearForm:
    """`sum(coefficient * atom) + constant`; no atom is a sum, a constant or a product, and no coefficient is 0."""

    terms: Mapping[AffineExpr, int]
    constant: int

    def dim_coefficient(self, position: int) -> int:
        """The factor of dimension `position` outside of any division."""
        return self.terms.get(AffineDimExpr(position), 0)

    def symbol_coefficient(self, position: int) -> int:
        """The factor of symbol `position` outside of any division."""
        return self.terms.get(AffineSymExpr(position), 0)

    @property
    def is_pure_linear(self) -> bool:
        """No division, remainder or product of unknowns is left."""
        return not any(isinstance(atom, AffineBinaryOpExpr) for atom in self.terms)


def _atom_key(atom: AffineExpr) -> tuple[int, int, str]:
    if type(atom) is AffineDimExpr:
        return (0, atom.position, "")
    if type(atom) is AffineSymExpr:
        return (2, atom.position, "")
    return (1, 0, str(atom))


def from_linear(form: LinearForm) -> AffineExpr:
    """The expression of a linear form: dimensions, divisions, symbols, then the constant."""
    result: AffineExpr | None = None
    for atom in sorted(form.terms, key=_atom_key):
        factor = form.terms[atom]
        term = atom if factor == 1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, atom, AffineConstantExpr(factor))
        result = term if result is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, term)
    if result is None:
        return AffineConstantExpr(form.constant)
    if form.constant:
        return AffineBinaryOpExpr(AffineBinaryOpKind.Add, result, AffineConstantExpr(form.constant))
    return result


def _scale(bounds: Bounds, factor: int) -> Bounds:
    low, high = bounds
    if factor < 0:
        low, high = high, low
    return (None if low is None else low * factor, None if high is None else high * factor)


def _add(a: Bounds, b: Bounds) -> Bounds:
    return (
        None if a[0] is None or b[0] is None else a[0] + b[0],
        None if a[1] is None or b[1] is None else a[1] + b[1],
    )


class Simplifier:
    """
    Normal form and bounds of expressions, given inclusive bounds of the dimensions and symbols they are over.

    Nothing is assumed about those without bounds: a symbol can stand for `N - 1` and be negative.
    """

    def __init__(self, dim_bounds: Sequence[Bounds] = (), symbol_bounds: Sequence[Bounds] = ()):
        self._dims = dim_bounds
        self._symbols = symbol_bounds

    # Bounds

    def bounds(self, expr: AffineExpr) -> Bounds:
        """Inclusive bounds of the value of `expr`; not always the tightest."""
        return self.form_bounds(self.linear(expr))

    def form_bounds(self, form: LinearForm) -> Bounds:
        """Inclusive bounds of a linear form."""
        total: Bounds = (form.constant, form.constant)
        for atom, factor in form.terms.items():
            total = _add(total, _scale(self._atom_bounds(atom), factor))
        return total

    def _atom_bounds(self, atom: AffineExpr) -> Bounds:
        if isinstance(atom, AffineDimExpr):
            return self._dims[atom.position] if atom.position < len(self._dims) else UNBOUNDED
        if isinstance(atom, AffineSymExpr):
            return self._symbols[atom.position] if atom.position < len(self._symbols) else UNBOUNDED
        if isinstance(atom, AffineBinaryOpExpr) and isinstance(atom.rhs, AffineConstantExpr):
            divisor = atom.rhs.value
            low, high = self.bounds(atom.lhs)
            if atom.kind == AffineBinaryOpKind.Mod and divisor > 0:
                return (0, divisor - 1 if high is None or low is None or low < 0 else min(high, divisor - 1))
            if atom.kind == AffineBinaryOpKind.FloorDiv and divisor > 0:
                return (None if low is None else low // divisor, None if high is None else high // divisor)
        return UNBOUNDED

    # Normal form

    def linear(self, expr: AffineExpr) -> LinearForm:
        """The normal form of `expr`."""
        # By `type`, here and below: affine expressions are an abstract class, for which `isinstance` is slow.
        if type(expr) is AffineConstantExpr:
            return LinearForm({}, expr.value)
        if type(expr) is not AffineBinaryOpExpr:
            return LinearForm({expr: 1}, 0)
        left = self.linear(expr.lhs)
        right = self.linear(expr.rhs)
        if expr.kind == AffineBinaryOpKind.Add:
            return self._sum(((left, 1), (right, 1)))
        if expr.kind == AffineBinaryOpKind.Mul:
            if not left.terms:
                left, right = right, left
            if right.terms:
                return LinearForm({AffineBinaryOpExpr(expr.kind, from_linear(left), from_linear(right)): 1}, 0)
            return self._sum(((left, right.constant),))
        if right.terms or right.constant <= 0:
            return LinearForm({AffineBinaryOpExpr(expr.kind, from_linear(left), from_linear(right)): 1}, 0)
        if expr.kind == AffineBinaryOpKind.FloorDiv:
            return self._floordiv(left, right.constant)
        if expr.kind == AffineBinaryOpKind.Mod:
            return self._mod(left, right.constant)
        return self._sum(((self._floordiv(self._sum(((left, -1),)), right.constant), -1),))

    def _sum(self, parts: Iterable[tuple[LinearForm, int]]) -> LinearForm:
        terms: dict[AffineExpr, int] = {}
        constant = 0
        for form, factor in parts:
            constant += form.constant * factor
            for atom, coefficient in form.terms.items():
                terms[atom] = terms.get(atom, 0) + coefficient * factor
        form = LinearForm({atom: value for atom, value in terms.items() if value}, constant)
        return self._join_divisions(form)

    def _join_divisions(self, form: LinearForm) -> LinearForm:
        """`c * (x floordiv c) + x mod c = x`, also when both are scaled by one factor."""
        for atom, factor in form.terms.items():
            if type(atom) is not AffineBinaryOpExpr or atom.kind != AffineBinaryOpKind.Mod:
                continue
            if type(atom.rhs) is not AffineConstantExpr:
                continue
            quotient = self._floordiv(self.linear(atom.lhs), atom.rhs.value)
            if len(quotient.terms) != 1 or quotient.constant:
                continue
            ((other, scale),) = quotient.terms.items()
            if scale == 1 and form.terms.get(other, 0) == factor * atom.rhs.value:
                rest = {a: c for a, c in form.terms.items() if a not in (atom, other)}
                return self._sum(((LinearForm(rest, form.constant), 1), (self.linear(atom.lhs), factor)))
        return form

    def _split(self, form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm]:
        """`form = divisor * quotient + rest`, with what is provably a multiple of `divisor` in the quotient."""
        quotient = {atom: factor // divisor for atom, factor in form.terms.items() if factor % divisor == 0}
        rest = {atom: factor for atom, factor in form.terms.items() if factor % divisor}
        return LinearForm(quotient, form.constant // divisor), LinearForm(rest, form.constant % divisor)

    def _scaled_part(self, form: LinearForm, divisor: int) -> tuple[int, LinearForm, LinearForm] | None:
        """`(g, x, y)` with `form = g*x + y`, `0 <= y < g`, and `g > 1` a divisor of `divisor`, if any."""
        for factor in sorted({gcd(divisor, value) for value in form.terms.values()}, reverse=True):
            if factor == 1:
                break
            multiple, remainder = self._split(form, factor)
            low, high = self.form_bounds(remainder)
            if low is not None and high is not None and low >= 0 and high < factor:
                return factor, multiple, remainder
        return None

    def _floordiv(self, form: LinearForm, divisor: int) -> LinearForm:
        if divisor == 1:
            return form
        quotient, rest = self._split(form, divisor)
        low, high = self.form_bounds(rest)
        if low is not None and high is not None and low // divisor == high // divisor:
            return self._sum(((quotient, 1), (LinearForm({}, low // divisor), 1)))
        # (g*x + y) floordiv (g*d) = x floordiv d, for 0 <= y < g
        if (scaled := self._scaled_part(rest, divisor)) is not None:
            factor, multiple, _ = scaled
            return self._sum(((quotient, 1), (self._floordiv(multiple, divisor // factor), 1)))
        if len(rest.terms) == 1 and not rest.constant:
            ((atom, factor),) = rest.terms.items()
            if factor == 1 and isinstance(atom, AffineBinaryOpExpr) and isinstance(atom.rhs, AffineConstantExpr):
                inner = self.linear(atom.lhs)
                if atom.kind == AffineBinaryOpKind.FloorDiv:
                    return self._sum(((quotient, 1), (self._floordiv(inner, atom.rhs.value * divisor), 1)))
                if atom.kind == AffineBinaryOpKind.Mod and atom.rhs.value % divisor == 0:
                    part = self._mod(self._floordiv(inner, divisor), atom.rhs.value // divisor)
                    return self._sum(((quotient, 1), (part, 1)))
        atom = AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, from_linear(rest), AffineConstantExpr(divisor))
        return self._sum(((quotient, 1), (LinearForm({atom: 1}, 0), 1)))

    def _mod(self, form: LinearForm, divisor: int) -> LinearForm:
        if divisor == 1:
            return LinearForm({}, 0)
        _, rest = self._split(form, divisor)
        low, high = self.form_bounds(rest)
        if low is not None and high is not None and low // divisor == high // divisor:
            return self._sum(((rest, 1), (LinearForm({}, -divisor * (low // divisor)), 1)))
        if len(rest.terms) == 1 and not rest.constant:
            ((atom, factor),) = rest.terms.items()
            if factor == 1 and isinstance(atom, AffineBinaryOpExpr) and isinstance(atom.rhs, AffineConstantExpr):
                nested = atom.kind == AffineBinaryOpKind.Mod and atom.rhs.value % divisor == 0
                if nested:
                    return self._mod(self.linear(atom.lhs), divisor)
        # (g*x + y) mod (g*d) = g * (x mod d) + y, for 0 <= y < g
        if (scaled := self._scaled_part(rest, divisor)) is not None:
            factor, multiple, remainder = scaled
            return self._sum(((self._mod(multiple, divisor // factor), factor), (remainder, 1)))
        atom = AffineBinaryOpExpr(AffineBinaryOpKind.Mod, from_linear(rest), AffineConstantExpr(divisor))
        return LinearForm({atom: 1}, 0)

    def simplify(self, expr: AffineExpr) -> AffineExpr:
        """An equal expression in normal form."""
        if type(expr) is AffineConstantExpr:
            return expr
        if type(expr) is not AffineBinaryOpExpr:
            bounds = self._atom_bounds(expr)
            return AffineConstantExpr(bounds[0]) if bounds[0] is not None and bounds[0] == bounds[1] else expr
        form = self.linear(expr)
        fixed = {a: self._atom_bounds(a) for a in form.terms}
        constant = form.constant
        terms: dict[AffineExpr, int] = {}
        for atom, factor in form.terms.items():
            low, high = fixed[atom]
            if low is not None and low == high:
                constant += factor * low
            else:
                terms[atom] = factor
        return from_linear(LinearForm(terms, constant))


def extent_bounds(extents: Sequence[int | None]) -> tuple[Bounds, ...]:
    """Bounds of indices that run over `extents`; `None` for an extent that is not a known number."""
    return tuple((0, None) if extent is None else (0, max(extent - 1, 0)) for extent in extents)


def linear_form(
    expr: AffineExpr, dim_bounds: Sequence[Bounds] = (), symbol_bounds: Sequence[Bounds] = ()
) -> LinearForm:
    """The normal form of `expr` as coefficients of its atoms."""
    return Simplifier(dim_bounds, symbol_bounds).linear(expr)


def simplify_expr(
    expr: AffineExpr, dim_bounds: Sequence[Bounds] = (), symbol_bounds: Sequence[Bounds] = ()
) -> AffineExpr:
    """An equal expression in normal form."""
    return Simplifier(dim_bounds, symbol_bounds).simplify(expr)


def simplify_map(
    affine_map: AffineMap, dim_bounds: Sequence[Bounds] = (), symbol_bounds: Sequence[Bounds] = ()
) -> AffineMap:
    """`affine_map` with every result in normal form."""
    simplifier = Simplifier(dim_bounds, symbol_bounds)
    results = tuple(simplifier.simplify(result) for result in affine_map.results)
    return AffineMap(affine_map.num_dims, affine_map.num_symbols, results)


def substitute(
    expr: AffineExpr, dims: Mapping[int, AffineExpr], symbols: Mapping[int, AffineExpr] | None = None
) -> AffineExpr:
    """`expr` with some dimensions and symbols replaced; the others stay."""
    symbols = symbols or {}
    if type(expr) is AffineDimExpr:
        return dims.get(expr.position, expr)
    if type(expr) is AffineSymExpr:
        return symbols.get(expr.position, expr)
    if type(expr) is AffineBinaryOpExpr:
        return AffineBinaryOpExpr(expr.kind, substitute(expr.lhs, dims, symbols), substitute(expr.rhs, dims, symbols))
    return expr


def compose(outer: AffineMap, inner: AffineMap, outer_symbols: Sequence[AffineExpr]) -> AffineMap:
    """
    `outer(inner(...))`: the dimensions of `outer` are the results of `inner`.

    `outer_symbols` says what the symbols of `outer` are among the symbols of the result, which are those of `inner`
    and any that `outer_symbols` mentions beyond them.
    """
    dims = dict(enumerate(inner.results))
    symbols = dict(enumerate(outer_symbols))
    results = tuple(substitute(result, dims, symbols) for result in outer.results)
    top = max((s.position + 1 for e in outer_symbols for s in e.dfs() if isinstance(s, AffineSymExpr)), default=0)
    top = max([top, inner.num_symbols])
    return AffineMap(inner.num_dims, top, results)


def used_symbols(exprs: Iterable[AffineExpr]) -> set[int]:
    """Positions of the symbols that occur in `exprs`."""
    return {part.position for expr in exprs for part in expr.dfs() if isinstance(part, AffineSymExpr)}


def used_dims(exprs: Iterable[AffineExpr]) -> set[int]:
    """Positions of the dimensions that occur in `exprs`."""
    return {part.position for expr in exprs for part in expr.dfs() if isinstance(part, AffineDimExpr)}


def dim_positions(affine_map: AffineMap) -> tuple[int, ...] | None:
    """For a map whose results are distinct dimensions: their positions; `None` for any other map."""
    positions: list[int] = []
    for result in affine_map.results:
        if not isinstance(result, AffineDimExpr) or result.position in positions:
            return None
        positions.append(result.position)
    return tuple(positions)


def is_identity(affine_map: AffineMap, rank: int) -> bool:
    """The results are the first `rank` dimensions in order."""
    return dim_positions(affine_map) == tuple(range(rank))


def with_domain(affine_map: AffineMap, num_dims: int, num_symbols: int) -> AffineMap:
    """The same results over a larger number of dimensions and symbols."""
    return AffineMap(num_dims, num_symbols, affine_map.results)


def permute_dims(affine_map: AffineMap, new_position: Sequence[int]) -> AffineMap:
    """`affine_map` with dimension `i` renamed to `new_position[i]`."""
    dims: dict[int, AffineExpr] = {old: AffineDimExpr(new) for old, new in enumerate(new_position)}
    results = tuple(substitute(result, dims) for result in affine_map.results)
    return AffineMap(affine_map.num_dims, affine_map.num_symbols, results)
