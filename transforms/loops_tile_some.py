"""
`loops-tile-some`: as many full tiles as sizes say, at most, and a loop over all that is left over.

Before: for %i = 0 to %n { body(%i) }

After, `size=4 most=n*min(1,floordiv(192,max(1,s)))`:
    %t = size min(n floordiv 4, n*min(1,floordiv(192,max(1,s))))
    for "i.o" %o = 0 to %t { for "i.i" %k = 0 to 4 { body(4*%o + %k) } }
    for "i.t" %i = 4*%t to %n { body(%i) }

So a kernel has two ways to go through a loop, and sizes decide between them when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.graph.dims import Dim, SymExpr, dim_max, dim_min, floordiv
from aicc.dialects.loops import ApplyOp, ForOp, SizeOp, YieldOp
from aicc.dialects.loops.affine_text import canonical_access
from aicc.transforms.loops_collapse import extent_of
from aicc.transforms.loops_index import bound_expressions, combine, fold_index_ops, set_bounds
from aicc.transforms.loops_nest import StepError, insert_early, kernels_with, labelled, normalize_loop

STEP = "tile_some"


def tile_some(loop: ForOp, size: int, most: Dim) -> tuple[ForOp, ForOp, ForOp]:
    """
    Splits `loop` into a loop over at most `most` tiles, one within a tile of `size` iterations, and one over the rest.

    Raises:
        StepError: if the loop carries values or its number of iterations is not a size.
    """
    if loop.inits:
        raise StepError(STEP, loop, "carries a value")
    normalize_loop(STEP, loop)
    extent = extent_of(loop)
    if extent is None:
        raise StepError(STEP, loop, "its number of iterations is not a symbolic dimension")
    count = dim_min(floordiv(extent, size), dim_max(most, 0))
    label = loop.label.data
    tiles: int | SSAValue
    if isinstance(count, SymExpr):
        sized = SizeOp(count)
        insert_early(sized, None, loop)
        tiles = sized.result
        start = canonical_access(AffineMap(1, 0, (AffineDimExpr(0) * size,)), (tiles,))
    else:
        tiles = count
        start = AffineMap.constant_map(count * size), ()
    outer, inner = (_loop(loop, end, suffix) for end, suffix in ((tiles, ".o"), (size, ".i")))
    outer.block.add_ops([inner, YieldOp()])
    index = ApplyOp(AffineMap(2, 0, (AffineDimExpr(0) * size + AffineDimExpr(1),)), [outer.induction, inner.induction])
    index.result.name_hint = loop.induction.name_hint
    inner.block.add_op(index)
    mapping: dict[SSAValue, SSAValue] = {loop.induction: index.result}
    for op in loop.block.ops:
        inner.block.add_op(op.clone(mapping))
    block = loop.parent
    assert block is not None
    block.insert_op_before(outer, loop)
    ends, operands = combine(bound_expressions(loop, upper=True))
    set_bounds(loop, start, canonical_access(AffineMap(len(operands), 0, tuple(ends)), operands))
    loop.label = StringAttr(label + ".t")
    fold_index_ops([outer, loop])
    return outer, inner, loop


def _loop(old: ForOp, end: int | SSAValue, suffix: str) -> ForOp:
    new = ForOp(0, (), end, (), 1, None, (), old.kind.data, old.label.data + suffix)
    new.location = old.location
    new.induction.name_hint = old.induction.name_hint
    return new


@dataclass(frozen=True)
class LoopsTileSomePass(ModulePass):
    """Tiles some iterations of the loops that have a label, as many as sizes say, in all kernels."""

    name = "loops-tile-some"

    label: str
    """Label of the loops."""

    size: int
    """Iterations per tile; at least 1."""

    most: str
    """How many tiles there are at most, as an expression of sizes."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PassFailedException(f"{self.name}: size must be at least 1, got {self.size}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            most = parse_dim(self.most)
        except ValueError as error:
            raise PassFailedException(f"{self.name}: most: {error}") from error
        for kernel in kernels_with(op, self.label, self.name):
            for loop in labelled(kernel, self.label, self.name):
                tile_some(loop, self.size, most)
