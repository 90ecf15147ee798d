"""
Index arithmetic as polynomials, so that addresses come out with what is loop-invariant taken out of the loops.

An index is a polynomial with integer coefficients over atoms: values computed at run time, each known by its number.
An atom has the depth of the loop that it changes in, and what is known of its value: bounds and a divisor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from xdsl.ir import SSAValue

Monomial: TypeAlias = tuple[int, ...]
"""Numbers of the atoms that are multiplied, ascending; `()` is 1."""

Poly: TypeAlias = Mapping[Monomial, int]
"""Monomial -> coefficient other than 0."""

Interval: TypeAlias = tuple[int | None, int | None]
"""Inclusive bounds; None is unbounded."""

LANE_DEPTH = 1 << 20
"""Depth of the atoms that stand for the position within an n-D vector; they have no value at run time."""

ZERO: Poly = {}


@dataclass(slots=True)
class Atom:
    """A run-time value in index arithmetic."""

    value: SSAValue | None
    depth: int
    lo: int | None = None
    hi: int | None = None
    multiple: int = 1
    """The value is a multiple of this."""


def constant(value: int) -> Poly:
    """The polynomial of one number."""
    return {(): value} if value else ZERO


def constant_value(poly: Poly) -> int | None:
    """The number that `poly` is, or None if it has atoms."""
    if not poly:
        return 0
    return poly[()] if len(poly) == 1 and () in poly else None


def add(a: Poly, b: Poly, factor: int = 1) -> Poly:
    """`a + factor * b`."""
    if not b or not factor:
        return a
    result = dict(a)
    for monomial, coefficient in b.items():
        total = result.get(monomial, 0) + factor * coefficient
        if total:
            result[monomial] = total
        else:
            del result[monomial]
    return result


def multiply(a: Poly, b: Poly) -> Poly:
    """`a * b`."""
    result: dict[Monomial, int] = {}
    for left, m in a.items():
        for right, n in b.items():
            monomial = tuple(sorted(left + right)) if left and right else left or right
            total = result.get(monomial, 0) + m * n
            if total:
                result[monomial] = total
            else:
                result.pop(monomial, None)
    return result


class Atoms:
    """The atoms of one function, by number."""

    def __init__(self) -> None:
        self.items: list[Atom] = []

    def new(self, atom: Atom) -> Poly:
        """The polynomial that is this atom."""
        self.items.append(atom)
        return {(len(self.items) - 1,): 1}

    def depth(self, monomial: Monomial) -> int:
        """The depth at which the product can be computed."""
        return max((self.items[number].depth for number in monomial), default=0)

    def poly_depth(self, poly: Poly) -> int:
        """The depth at which the polynomial can be computed."""
        return max(map(self.depth, poly), default=0)

    def bounds(self, poly: Poly) -> Interval:
        """Inclusive bounds of the value."""
        lo: int | None = 0
        hi: int | None = 0
        for monomial, coefficient in poly.items():
            low, high = self._monomial_bounds(monomial)
            if coefficient < 0:
                low, high = high, low
            lo = None if lo is None or low is None else lo + coefficient * low
            hi = None if hi is None or high is None else hi + coefficient * high
        return lo, hi

    def _monomial_bounds(self, monomial: Monomial) -> Interval:
        if len(monomial) == 1:
            atom = self.items[monomial[0]]
            return atom.lo, atom.hi
        lo, hi = 1, 1
        for number in monomial:
            atom = self.items[number]
            if atom.lo is None or atom.lo < 0:
                return None, None
            lo, hi = lo * atom.lo, None if hi is None or atom.hi is None else hi * atom.hi
        return lo, hi

    def within(self, poly: Poly, lo: int, hi: int) -> bool:
        """Whether the value is known to lie in `[lo, hi]`."""
        low, high = self.bounds(poly)
        return low is not None and high is not None and lo <= low and high <= hi

    def divisor(self, monomial: Monomial, coefficient: int) -> int:
        """A number that divides `coefficient * monomial`."""
        for number in monomial:
            coefficient *= self.items[number].multiple
        return abs(coefficient)

    def multiple_of(self, poly: Poly) -> int:
        """The largest number known to divide the value; 0 for the value 0."""
        result = 0
        for monomial, coefficient in poly.items():
            result = gcd(result, self.divisor(monomial, coefficient))
        return result

    def split(self, poly: Poly, divisor: int) -> tuple[Poly, Poly, Poly]:
        """
        `poly = divisor * quotient + exact + rest`, where `divisor` divides `exact`, though not its coefficients, and
        the constant of `rest` lies in `[0, divisor)`.
        """
        quotient: dict[Monomial, int] = {}
        exact: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for monomial, coefficient in poly.items():
            if monomial == ():
                whole, part = divmod(coefficient, divisor)
                if whole:
                    quotient[monomial] = whole
                if part:
                    rest[monomial] = part
            elif coefficient % divisor == 0:
                quotient[monomial] = coefficient // divisor
            elif self.divisor(monomial, coefficient) % divisor == 0:
                exact[monomial] = coefficient
            else:
                rest[monomial] = coefficient
        return quotient, exact, rest


def total(polys: Iterable[Poly]) -> Poly:
    """The sum."""
    result: Poly = ZERO
    for poly in polys:
        result = add(result, poly)
    return result
