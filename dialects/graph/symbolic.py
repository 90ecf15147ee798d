"""
Symbolic sizes: integer polynomials over symbols and over `floordiv`, `mod`, `min` and `max` of such polynomials.

A `Dim` is an `int` or a `SymExpr`; a constant is always an `int`. Expressions are in normal form from construction on,
so two that the normal form can tell equal compare equal. Symbols stand for integers that are at least 0, divisors for
integers that are at least 1 (an expression divided by zero has no meaning, so `N*M // N` is `M`).
`ceildiv(a, b)` is `floordiv(a + b - 1, b)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

FUNCTIONS = ("floordiv", "ceildiv", "mod", "min", "max")
"""Names that a symbol can only have in quotes."""

_MOST_TERMS = 1000
"""Far more than any model needs; a limit to what a few lines of hostile text can ask for."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Atom:
    """A factor of a monomial: a symbol (`args` is empty), or `name` (`floordiv`, `mod`, `min`, `max`) of `args`."""

    name: str
    args: tuple[Dim, ...]
    key: str
    """The text of the atom; it orders the factors and terms."""

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key


Monomial: TypeAlias = tuple[Atom, ...]
"""A product of atoms in order of their keys; the empty product is 1."""


class SymExpr:
    """
    A polynomial with integer coefficients that is not constant.

    `terms` holds (product of atoms, coefficient other than 0), of higher degree first, then by text, so the constant
    comes last.
    """

    __slots__ = ("_text", "terms")

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]):
        """`terms` must be in normal form; use the operators and functions of this module to make expressions."""
        self.terms = terms
        self._text = _text_of(terms, "`")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"SymExpr({self._text})"

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, SymExpr) and self._text == other._text)

    def __add__(self, other: Dim) -> Dim:
        return _from_terms([*self.terms, *_terms(other)])

    def __radd__(self, other: int) -> Dim:
        return self + other

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: int) -> Dim:
        return self * -1 + other

    def __mul__(self, other: Dim) -> Dim:
        return _from_terms(
            (tuple(sorted((*a, *b), key=_atom_key)), m * n) for a, m in self.terms for b, n in _terms(other)
        )

    def __rmul__(self, other: int) -> Dim:
        return self * other

    def __floordiv__(self, other: Dim) -> Dim:
        return floordiv(self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return floordiv(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return mod(self, other)

    def __rmod__(self, other: int) -> Dim:
        return mod(other, self)

    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols in it, sorted."""
        found = set[str]()
        pending: list[Dim] = [self]
        while pending:
            expr = pending.pop()
            if isinstance(expr, SymExpr):
                for monomial, _ in expr.terms:
                    for atom in monomial:
                        if atom.args:
                            pending += atom.args
                        else:
                            found.add(atom.name)
        return tuple(sorted(found))

    def quoted(self, quote: str) -> str:
        """The text with names that are no identifiers between `quote` characters (backquotes in `str`)."""
        return self._text if "`" not in self._text or quote == "`" else _text_of(self.terms, quote)


Dim: TypeAlias = int | SymExpr


def _atom_key(atom: Atom) -> str:
    return atom.key


def _terms(dim: Dim) -> tuple[tuple[Monomial, int], ...]:
    if isinstance(dim, int):
        return (((), dim),) if dim else ()
    return dim.terms


def _term_key(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    return -len(term[0]), [atom.key for atom in term[0]]


def _from_terms(terms: Iterable[tuple[Monomial, int]]) -> Dim:
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
        if len(total) > _MOST_TERMS:
            raise ValueError(f"a size is a sum of more than {_MOST_TERMS} terms")
    kept = [(monomial, coefficient) for monomial, coefficient in total.items() if coefficient]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    kept.sort(key=_term_key)
    return SymExpr(tuple(kept))


def _quoted_name(name: str, quote: str) -> str:
    if _IDENTIFIER.fullmatch(name) is not None and name not in FUNCTIONS:
        return name
    escaped = name.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return f"{quote}{escaped}{quote}"


def _atom_text(atom: Atom, quote: str) -> str:
    if not atom.args:
        return _quoted_name(atom.name, quote)
    args = ",".join(arg.quoted(quote) if isinstance(arg, SymExpr) else str(arg) for arg in atom.args)
    return f"{atom.name}({args})"


def _text_of(terms: Sequence[tuple[Monomial, int]], quote: str) -> str:
    text = ""
    for monomial, coefficient in terms:
        text += "-" if coefficient < 0 else "+" if text else ""
        factors = [_atom_text(atom, quote) for atom in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        text += "*".join(factors)
    return text


def _atom(name: str, args: tuple[Dim, ...]) -> Dim:
    key = _atom_text(Atom(name, args, ""), "`")
    return SymExpr((((Atom(name, args, key),), 1),))


@lru_cache(maxsize=1024)
def sym(name: str) -> SymExpr:
    """
    The symbol `name`.

    Raises:
        ValueError: if the name is empty.
    """
    if not name:
        raise ValueError("the name of a symbol is empty")
    return SymExpr((((Atom(name, (), _quoted_name(name, "`")),), 1),))


def _single_atom(dim: Dim) -> Atom | None:
    if isinstance(dim, SymExpr) and len(dim.terms) == 1:
        monomial, coefficient = dim.terms[0]
        if coefficient == 1 and len(monomial) == 1:
            return monomial[0]
    return None


def _divide_terms(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """
    `(q, r)` with `a == b*q + r`, as much as possible in `q`.

    For an integer `b`, all coefficients of `r` are in `[0, b)`; for any other one, it is long division of polynomials,
    whose quotient is only taken if the coefficients divide exactly.
    """
    if isinstance(b, int):
        quotient = _from_terms((monomial, coefficient // b) for monomial, coefficient in _terms(a))
        return quotient, _from_terms((monomial, coefficient % b) for monomial, coefficient in _terms(a))
    lead, lead_coefficient = b.terms[0]
    quotient: Dim = 0
    remainder: Dim = 0
    rest = a
    for _ in range(64):
        terms = _terms(rest)
        if not terms:
            break
        monomial, coefficient = terms[0]
        factor = _without(monomial, lead)
        if factor is None or coefficient % lead_coefficient:
            moved = _from_terms([terms[0]])
            remainder, rest = remainder + moved, rest - moved
        else:
            part = _from_terms([(factor, coefficient // lead_coefficient)])
            quotient, rest = quotient + part, rest - part * b
    return quotient, remainder + rest


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def floordiv(a: Dim, b: Dim) -> Dim:
    """
    The largest integer that is at most `a / b`, for `b` at least 1.

    Raises:
        ZeroDivisionError: if `b` is an integer less than 1.
    """
    if isinstance(b, int):
        if b < 1:
            raise ZeroDivisionError(f"division of {a} by {b}, expected a divisor of at least 1")
        if isinstance(a, int):
            return a // b
    quotient, remainder = _divide_terms(a, b)
    if isinstance(b, int):
        return quotient + _floordiv_by_int(remainder, b)
    if remainder == 0:
        return quotient
    # A multi-term divisor may split a sum into a quotient that is no simpler; keep the exact one only.
    if len(b.terms) > 1:
        return _atom("floordiv", (a, b))
    low = lower_bound(remainder)
    if low is not None and low >= 0 and provably_at_least(b - remainder, 1):
        return quotient
    return quotient + _atom("floordiv", (remainder, b))


def _floordiv_by_int(a: Dim, b: int) -> Dim:
    if isinstance(a, int):
        return a // b
    low, high = lower_bound(a), upper_bound(a)
    if low is not None and high is not None and low // b == high // b:
        return low // b
    factor = b
    for monomial, coefficient in a.terms:
        if monomial:
            factor = _gcd(factor, coefficient)
    if factor > 1:
        # floor((f*x + c) / (f*d)) == floor((x + floor(c/f)) / d)
        reduced = _from_terms((monomial, coefficient // factor) for monomial, coefficient in a.terms)
        return floordiv(reduced, b // factor)
    if a.terms[0][1] == 1 and len(a.terms[0][0]) == 1 and all(not monomial for monomial, _ in a.terms[1:]):
        inner = a.terms[0][0][0]
        if inner.name == "floordiv" and inner.args and isinstance(inner.args[1], int):
            # floor((floor(x / m) + c) / n) == floor((x + c*m) / (m*n))
            constant = a.terms[1][1] if len(a.terms) > 1 else 0
            return floordiv(inner.args[0] + constant * inner.args[1], inner.args[1] * b)
    return _atom("floordiv", (a, b))


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return abs(a)


def ceildiv(a: Dim, b: Dim) -> Dim:
    """The smallest integer that is at least `a / b`, for `b` at least 1; in normal form a `floordiv`."""
    return floordiv(a + b - 1, b)


def mod(a: Dim, b: Dim) -> Dim:
    """
    `a - b * floordiv(a, b)`, which is in `[0, b)`.

    Raises:
        ZeroDivisionError: if `b` is an integer less than 1.
    """
    if isinstance(b, int) and b < 1:
        raise ZeroDivisionError(f"remainder of {a} by {b}, expected a divisor of at least 1")
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    _, remainder = _divide_terms(a, b) if isinstance(b, int) or len(b.terms) == 1 else (0, a)
    if isinstance(remainder, int) and (remainder == 0 or isinstance(b, int)):
        return remainder
    low = lower_bound(remainder)
    if low is not None and low >= 0 and provably_at_least(b - remainder, 1):
        return remainder
    return _atom("mod", (remainder, b))


def dim_min(a: Dim, b: Dim) -> Dim:
    """The smaller of the two."""
    return _extremum("min", a, b)


def dim_max(a: Dim, b: Dim) -> Dim:
    """The larger of the two."""
    return _extremum("max", a, b)


def _extremum(name: str, a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b) if name == "min" else max(a, b)
    kept: list[Dim] = []
    for candidate in (*_operands_of(name, a), *_operands_of(name, b)):
        if any(_wins(name, other, candidate) for other in kept):
            continue
        kept = [other for other in kept if not _wins(name, candidate, other)]
        kept.append(candidate)
    if len(kept) == 1:
        return kept[0]
    return _atom(name, tuple(sorted(kept, key=str)))


def _operands_of(name: str, dim: Dim) -> tuple[Dim, ...]:
    atom = _single_atom(dim)
    return atom.args if atom is not None and atom.name == name and atom.args else (dim,)


def _wins(name: str, a: Dim, b: Dim) -> bool:
    """Whether `a` makes `b` superfluous in a minimum or maximum."""
    return provably_at_least(b - a if name == "min" else a - b, 0)


def dim_sum(dims: Iterable[Dim]) -> Dim:
    """The sum; 0 of nothing."""
    total: Dim = 0
    for dim in dims:
        total = total + dim
    return total


def dim_prod(dims: Iterable[Dim]) -> Dim:
    """The product; 1 of nothing."""
    product: Dim = 1
    for dim in dims:
        product = product * dim
    return product


_Range: TypeAlias = tuple[int | None, int | None]
"""Smallest and largest value; None is unbounded."""


def lower_bound(dim: Dim) -> int | None:
    """An integer that `dim` is never less than, for any values of the symbols; None if none is known."""
    return dim if isinstance(dim, int) else _range_of(dim)[0]


def upper_bound(dim: Dim) -> int | None:
    """An integer that `dim` is never more than, for any values of the symbols; None if none is known."""
    return dim if isinstance(dim, int) else _range_of(dim)[1]


@lru_cache(maxsize=4096)
def _range_of(dim: Dim) -> _Range:
    if isinstance(dim, int):
        return dim, dim
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in dim.terms:
        term: _Range = (coefficient, coefficient)
        for atom in monomial:
            term = _product_range(term, _atom_range(atom))
        low = None if low is None or term[0] is None else low + term[0]
        high = None if high is None or term[1] is None else high + term[1]
    return low, high


def _product_range(a: _Range, b: _Range) -> _Range:
    """The range of a product; `b` holds no negative values or gives up."""
    if b[0] is None or b[0] < 0:
        return (None, None)
    low = None if a[0] is None else 0 if a[0] == 0 else a[0] * b[0] if a[0] > 0 else _scaled(a[0], b[1])
    high = None if a[1] is None else 0 if a[1] == 0 else a[1] * b[0] if a[1] < 0 else _scaled(a[1], b[1])
    return low, high


def _scaled(value: int, factor: int | None) -> int | None:
    return None if factor is None else value * factor


def _atom_range(atom: Atom) -> _Range:
    if not atom.args:
        return 0, None
    ranges = [_range_of(arg) for arg in atom.args]
    lows = [low for low, _ in ranges if low is not None]
    highs = [high for _, high in ranges if high is not None]
    everywhere = len(ranges)
    match atom.name:
        case "min":
            return min(lows) if len(lows) == everywhere else None, min(highs, default=None)
        case "max":
            return max(lows, default=None), max(highs) if len(highs) == everywhere else None
        case "mod":
            top = ranges[1][1]
            return 0, None if top is None else top - 1
        case _:
            (low, high), divisor = ranges[0], atom.args[1]
            if isinstance(divisor, int):
                return None if low is None else low // divisor, None if high is None else high // divisor
            # A divisor of at least 1 moves the value towards zero.
            return None if low is None else min(low, 0), None if high is None else max(high, 0)


def provably_equal(a: Dim, b: Dim) -> bool:
    """Whether `a == b` for all values of the symbols, as far as the normal form can tell."""
    return a == b


def provably_different(a: Dim, b: Dim) -> bool:
    """Whether `a != b` for all values of the symbols, as far as bounds can tell."""
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    if a == b:
        return False
    low, high = _range_of(a - b)
    return (low is not None and low > 0) or (high is not None and high < 0)


def provably_at_least(a: Dim, bound: int) -> bool:
    """Whether `a >= bound` for all values of the symbols, as far as bounds can tell."""
    low = lower_bound(a)
    return low is not None and low >= bound


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """`dim` with each symbol named in `values` replaced."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, coefficient in dim.terms:
        term: Dim = coefficient
        for atom in monomial:
            term = term * _substitute_atom(atom, values)
        total = total + term
    return total


def _substitute_atom(atom: Atom, values: Mapping[str, Dim]) -> Dim:
    if not atom.args:
        found = values.get(atom.name)
        return sym(atom.name) if found is None else found
    return apply_function(atom.name, [substitute(arg, values) for arg in atom.args])


def apply_function(name: str, args: Sequence[Dim]) -> Dim:
    """`name` (one of `FUNCTIONS`) of `args`."""
    if name in ("min", "max"):
        result = args[0]
        for arg in args[1:]:
            result = _extremum(name, result, arg)
        return result
    functions = {"floordiv": floordiv, "ceildiv": ceildiv, "mod": mod}
    return functions[name](args[0], args[1])


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """
    The value of `dim` where each symbol has the value in `values`.

    Raises:
        KeyError: if a symbol has no value.
        ZeroDivisionError: if a divisor is less than 1.
    """
    if isinstance(dim, int):
        return dim
    total = 0
    for monomial, coefficient in dim.terms:
        term = coefficient
        for atom in monomial:
            term *= _evaluate_atom(atom, values)
        total += term
    return total


def _evaluate_atom(atom: Atom, values: Mapping[str, int]) -> int:
    if not atom.args:
        return values[atom.name]
    args = [evaluate(arg, values) for arg in atom.args]
    result = apply_function(atom.name, args)
    assert isinstance(result, int)
    return result
