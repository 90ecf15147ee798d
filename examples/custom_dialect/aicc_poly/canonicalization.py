"""What `canonicalize` does to the `poly` dialect: exact rewrites only."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from aicc_poly.ops import HornerOp


class DropLeadingZeros(RewritePattern):
    """`horner(x; c0, ..., ck, 0, ..., 0)` becomes `horner(x; c0, ..., ck)`: exact, as the meaning starts at `ck`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: HornerOp, rewriter: PatternRewriter, /) -> None:
        coefficients = op.coefficient_values()
        if len(op.coefficients) > len(coefficients):
            rewriter.replace(op, HornerOp(op.input, coefficients))
