"""
`poly-even-to-square`: a polynomial without odd powers is one of half the degree in the square.

Before: %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, -0.5, 0.0, 0.25>}
After:  %s = graph.mul %x, %x
        %r = poly.horner %s {coefficients = array<f64: 1.0, -0.5, 0.25>}

Results may differ in the last bits, and `x * x` may overflow where a tiny leading coefficient kept the original finite:
so this is a pass to ask for, not a canonicalisation. A polynomial with an odd power, or of degree below `min-degree`,
is left as it is.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.arithmetic import MulOp
from aicc.transforms.locations import located_walker
from aicc_poly.ops import HornerOp


@dataclass(frozen=True)
class EvenToSquarePattern(RewritePattern):
    """`horner(x; c0, 0, c2, 0, ...)` becomes `horner(x * x; c0, c2, ...)`."""

    min_degree: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: HornerOp, rewriter: PatternRewriter, /) -> None:
        coefficients = op.coefficient_values()
        if len(coefficients) - 1 < self.min_degree or any(coefficients[1::2]):
            return
        square = MulOp(op.input, op.input)
        square.results[0].name_hint = "square"
        rewriter.replace(op, (square, HornerOp(square.results[0], coefficients[::2])))


@dataclass(frozen=True)
class PolyEvenToSquarePass(ModulePass):
    """Evaluates polynomials without odd powers in the square of their input."""

    name = "poly-even-to-square"
    min_degree: int = 4
    """Least degree to rewrite; at least 2, where one product is traded for another."""

    def __post_init__(self) -> None:
        if self.min_degree < 2:
            raise PassFailedException(f"{self.name}: min-degree must be at least 2, got {self.min_degree}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        located_walker(EvenToSquarePattern(self.min_degree)).rewrite_module(op)
