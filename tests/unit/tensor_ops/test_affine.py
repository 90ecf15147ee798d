"""Index arithmetic: equal values before and after, and the shapes that fusion relies on."""

import itertools
import random

import pytest
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr, AffineMap

from aicc.dialects.tensor_ops.affine import (
    Simplifier,
    compose,
    dim_positions,
    extent_bounds,
    is_identity,
    linear_form,
    simplify_expr,
    simplify_map,
)

d0, d1, d2 = (AffineExpr.dimension(i) for i in range(3))
s0 = AffineExpr.symbol(0)


@pytest.mark.parametrize(
    "expr, extents, expected",
    [
        ((d0 * 16 + d1) // 16, (4, 16), "d0"),
        ((d0 * 16 + d1) % 16, (4, 16), "d1"),
        ((d0 * 16 + d1) // 16, (4, 17), "(d0 + (d1 floordiv 16))"),
        ((d0 // 16) * 16 + d0 % 16, (64,), "d0"),
        ((d0 // 4) // 4, (64,), "(d0 floordiv 16)"),
        ((d0 % 16) % 4, (64,), "(d0 mod 4)"),
        ((d0 % 16) // 4, (16,), "(d0 floordiv 4)"),
        ((d0 * 8 + d1) // 16, (4, 8), "(d0 floordiv 2)"),
        ((d0 * 8 + d1) % 16, (4, 8), "(d1 + ((d0 mod 2) * 8))"),
        (d1 + d0 + 3 + d1 - d1, (4, 8), "((d0 + d1) + 3)"),
        (d0 * 0 + d1 - d1, (4, 8), "0"),
        (d1, (4, 1), "0"),
        ((d0 * 12 + d1 * 4 + d2) // 12, (5, 3, 4), "d0"),
        ((d0 * 12 + d1 * 4 + d2) % 12 // 4, (5, 3, 4), "d1"),
        (d0.ceil_div(1) + s0 * 2, (4,), "(d0 + (s0 * 2))"),
    ],
)
def test_normal_form(expr: AffineExpr, extents: tuple[int, ...], expected: str):
    assert str(simplify_expr(expr, extent_bounds(extents))) == expected


def random_expr(rng: random.Random, depth: int) -> AffineExpr:
    if depth == 0:
        return rng.choice([d0, d1, d2, s0, AffineConstantExpr(rng.randint(-9, 9))])
    kind = rng.choice(list(AffineBinaryOpKind))
    left = random_expr(rng, depth - 1)
    if kind == AffineBinaryOpKind.Add:
        return AffineBinaryOpExpr(kind, left, random_expr(rng, depth - 1))
    divisor = rng.choice([1, 2, 3, 4, 6, 8, 12]) * (1 if kind != AffineBinaryOpKind.Mul else rng.choice([1, -1]))
    return AffineBinaryOpExpr(kind, left, AffineConstantExpr(divisor))


def test_simplification_keeps_the_value_and_bounds_hold():
    rng = random.Random(7)
    for _ in range(400):
        expr = random_expr(rng, rng.randint(1, 4))
        extents = tuple(rng.choice([1, 2, 5, 8]) for _ in range(3))
        simplifier = Simplifier(extent_bounds(extents))
        simple = simplifier.simplify(expr)
        low, high = simplifier.bounds(expr)
        for point in itertools.product(*(range(e) for e in extents)):
            value = expr.eval(point, (5,))
            assert simple.eval(point, (5,)) == value, f"{expr} became {simple} over {extents}"
            assert low is None or low <= value
            assert high is None or value <= high


def test_composition_with_symbols():
    outer = AffineMap(2, 1, (d1 + s0, d0))
    inner = AffineMap(3, 1, (d0 * 2, d2 + s0))
    composed = simplify_map(compose(outer, inner, [AffineExpr.symbol(1)]))
    assert str(composed) == "(d0, d1, d2)[s0, s1] -> (((d2 + s0) + s1), (d0 * 2))"


def test_linear_form_and_positions():
    form = linear_form(d0 * 3 + s0 * 2 + d1 // 4 - 7)
    assert (form.dim_coefficient(0), form.dim_coefficient(1), form.symbol_coefficient(0)) == (3, 0, 2)
    assert form.constant == -7 and not form.is_pure_linear
    assert dim_positions(AffineMap(3, 0, (d2, d0))) == (2, 0)
    assert dim_positions(AffineMap(3, 0, (d2, d2))) is None
    assert is_identity(AffineMap(3, 0, (d0, d1)), 2)
