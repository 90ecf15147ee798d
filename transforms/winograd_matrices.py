"""
Winograd's minimal algorithms F(m, 3): the matrices, and how a transform is computed in few operations.

F(m, 3) gives `m` outputs `y[i] = sum_k d[i + k] * g[k]` of a filter with 3 taps from `n = m + 2` products:

    y = A^T [(G g) * (B^T d)]

It is Toom-Cook interpolation, transposed: with points `p_0 .. p_(n-2)` and infinity, `N_j = prod_(k != j) (p_j - p_k)`,

    A^T[i][j] = p_j^i               A^T[m-1][n-1] = 1
    G[j][k]   = p_j^k / N_j         G[n-1][2]     = 1
    B^T[j]    = coefficients of prod_(k != j) (x - p_k), and of prod_k (x - p_k) in the last row.

(Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast Algorithms for Convolutional Neural
Networks, 2015, nest it in two dimensions: Y = A^T [(G g G^T) * (B^T d B)] A.) All of it is exact in rational numbers.

The points decide the error. For F(4, 3) they are 0, +-5/8, +-3/2: all numbers in A^T and B^T are then exact in binary,
and rounding errors under half of those with the common points 0, +-1, +-2 (Barabasz, Anderson, Soodhalter and Gregg,
Error Analysis and Improving the Accuracy of Winograd Convolution, 2018, say why points should be near 1 and their
reciprocals). F(2, 3) has 0, +-1; F(3, 3), in between in cost and error, +-3/8, +-5/4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Generic, TypeVar

TAPS = 3

POINTS: dict[int, tuple[Fraction, ...]] = {
    2: (Fraction(0), Fraction(1), Fraction(-1)),
    3: (Fraction(3, 8), Fraction(-3, 8), Fraction(5, 4), Fraction(-5, 4)),
    4: (Fraction(0), Fraction(5, 8), Fraction(-5, 8), Fraction(3, 2), Fraction(-3, 2)),
}
"""Finite interpolation points per number of outputs; pairs of opposite ones follow each other."""

Matrix = tuple[tuple[Fraction, ...], ...]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Winograd:
    """The matrices of F(m, 3)."""

    outputs: int
    output: Matrix
    """A^T, `m` rows."""

    weight: Matrix
    """G, `n` rows."""

    input: Matrix
    """B^T, `n` rows."""

    @property
    def size(self) -> int:
        """The number of inputs and of products, `n`."""
        return self.outputs + TAPS - 1

    @property
    def error_factor(self) -> Fraction:
        """
        How much larger than the largest |input| times the sum of |weights| the numbers inside can become: the largest
        absolute row sum of |A^T| |G| |B^T|, squared for two dimensions.
        """
        rows = [
            sum(
                (abs(a) * sum(map(abs, g)) * sum(map(abs, b)))
                for a, g, b in zip(row, self.weight, self.input, strict=True)
            )
            for row in self.output
        ]
        return Fraction(max(rows)) ** 2

    @property
    def noise(self) -> float:
        """
        How products that are each disturbed in proportion to their size disturb the results of one dimension: their
        variance, on average, for operands of variance 1. That of direct summation is `TAPS`.
        """
        sizes = [
            sum(g * g for g in weights) * sum(b * b for b in inputs)
            for weights, inputs in zip(self.weight, self.input, strict=True)
        ]
        sums = [sum(a * a * size for a, size in zip(row, sizes, strict=True)) for row in self.output]
        return float(Fraction(sum(sums)) / len(sums))


@cache
def winograd(outputs: int) -> Winograd:
    """
    F(outputs, 3).

    Raises:
        KeyError: if there are no points for so many outputs.
    """
    points = POINTS[outputs]
    last = len(points)

    def product_without(skipped: int | None) -> list[Fraction]:
        coefficients = [Fraction(1)]
        for k, point in enumerate(points):
            if k != skipped:
                shifted = [Fraction(0), *coefficients]
                coefficients = [s - point * c for s, c in zip(shifted, [*coefficients, Fraction(0)], strict=True)]
        return coefficients + [Fraction(0)] * (last + 1 - len(coefficients))

    norms = [Fraction(1)] * last
    for j, point in enumerate(points):
        for k, other in enumerate(points):
            if k != j:
                norms[j] *= point - other
    at_infinity = [Fraction(int(i == outputs - 1)) for i in range(outputs)]
    output = tuple((*(point**i for point in points), at_infinity[i]) for i in range(outputs))
    weight = [tuple(point**k / norms[j] for k in range(TAPS)) for j, point in enumerate(points)]
    weight.append(tuple(Fraction(int(k == TAPS - 1)) for k in range(TAPS)))
    rows = [tuple(product_without(j)) for j in range(last)] + [tuple(product_without(None))]
    return Winograd(outputs, output, tuple(weight), tuple(rows))


class Linear(Generic[Value]):
    """
    Computes `matrix * vector` on values of any kind, by additions and multiplications by numbers that it is given.

    `scaled(x, c)` is `c * x` and `plus(x, y, c)` is `x + c * y`, which is one operation where products are fused; `c`
    is never 0. Rows that are mirror images (the same but for the signs of every other term, as opposite points make
    them) share their even and odd parts; so do columns.
    """

    def __init__(self, scaled: Callable[[Value, Fraction], Value], plus: Callable[[Value, Value, Fraction], Value]):
        self._scaled = scaled
        self._plus = plus

    def combine(self, terms: Sequence[tuple[Fraction, Value]]) -> Value:
        """The sum of `coefficient * value`; there is a coefficient that is not 0."""
        terms = [term for term in terms if term[0]]
        first = next((k for k, (c, _) in enumerate(terms) if c == 1), 0)
        factor, value = terms[first]
        total = value if factor == 1 else self._scaled(value, factor)
        for k, (factor, value) in enumerate(terms):
            if k != first:
                total = self._plus(total, value, factor)
        return total

    def rows(self, matrix: Matrix, vector: Sequence[Value]) -> list[Value]:
        """`matrix * vector` where pairs of rows are mirror images: B^T and G."""
        result: list[Value] = []
        while len(result) < len(matrix):
            row = matrix[len(result)]
            following = matrix[len(result) + 1] if len(result) + 1 < len(matrix) else ()
            parity = _mirrored(row, following)
            if parity is None:
                result.append(self.combine(list(zip(row, vector, strict=True))))
                continue
            terms = list(zip(row, vector, strict=True))
            same = self.combine(terms[parity::2])
            # The odd part has its last coefficient taken out, so that one more product is fused.
            other = [term for term in terms[1 - parity :: 2] if term[0]]
            scale = other[-1][0]
            odd = self.combine([(c / scale, value) for c, value in other])
            result += [self._plus(same, odd, scale), self._plus(same, odd, -scale)]
        return result

    def columns(self, matrix: Matrix, vector: Sequence[Value]) -> list[Value]:
        """`matrix * vector` where pairs of columns are mirror images: A^T."""
        columns = list(zip(*matrix, strict=True))
        parts: list[tuple[tuple[Fraction, ...], Value]] = []
        position = 0
        while position < len(columns):
            column = columns[position]
            following = columns[position + 1] if position + 1 < len(columns) else ()
            parity = _mirrored(column, following)
            if parity is None:
                parts.append((column, vector[position]))
                position += 1
                continue
            one, other = vector[position], vector[position + 1]
            kept = [c if k % 2 == parity else Fraction(0) for k, c in enumerate(column)]
            rest = [c if k % 2 != parity else Fraction(0) for k, c in enumerate(column)]
            parts.append((tuple(kept), self._plus(one, other, Fraction(1))))
            parts.append((tuple(rest), self._plus(one, other, Fraction(-1))))
            position += 2
        return [self.combine([(column[i], value) for column, value in parts]) for i in range(len(matrix))]


def _mirrored(row: Sequence[Fraction], other: Sequence[Fraction]) -> int | None:
    """The parity of the positions where two rows are equal, if they are opposite at all others; `None` otherwise."""
    if len(row) != len(other):
        return None
    for parity in (0, 1):
        signs = [1 if k % 2 == parity else -1 for k in range(len(row))]
        if all(a == sign * b for a, b, sign in zip(row, other, signs, strict=True)) and any(row[1 - parity :: 2]):
            return parity
    return None
