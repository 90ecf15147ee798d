"""
`loops-simplify`: canonical form of loops.

- index arithmetic and constants move into maps, which are simplified by the bounds of the loops around them;
- loops that never run disappear, loops that run once become their body;
- loads of values that are at hand (stored or loaded before, in the same iteration) disappear;
- buffers that nothing reads disappear, buffers of which each iteration uses its own part move into the loop, and what
  is computed element by element is written where it was read (`loops_merge_buffers.py`);
- ops without effect whose results are not used disappear.

Before: loops.for "a" %i = 0 to 1 {             After: %x = loops.load %m[%j]
          %x = loops.load %m[%i + %j]
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.ir.affine import AffineConstantExpr
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator, is_side_effect_free

from aicc.dialects.loops.access import LoadOp
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.memory import AllocOp
from aicc.transforms.loops_buffers import erase_unread_buffers, shrink_buffers
from aicc.transforms.loops_forwarding import forward_values
from aicc.transforms.loops_index import IndexBounds, bound_expressions, combine, fold_index_ops, materialize
from aicc.transforms.loops_merge_buffers import merge_buffers

_ROUNDS = 4
"""Most repetitions; each one is linear, and more than two hardly ever find anything."""


def simplify_function(function: FuncOp) -> None:
    """Brings the loops of a function into canonical form."""
    fold_index_ops([function])
    for _ in range(_ROUNDS):
        changes = remove_short_loops(function)
        if changes:
            fold_index_ops([function])
        changes += forward_values(function.body.block)
        changes += erase_unread_buffers(function)
        changes += shrink_buffers(function)
        changes += erase_unused_ops(function)
        if not changes:
            break
    merge_buffers(function)


def remove_short_loops(function: FuncOp) -> int:
    """Removes loops that never run and puts those that run once in place; the number of loops that are gone."""
    bounds = IndexBounds()
    count = 0
    for loop in [op for op in function.walk(reverse=True, region_first=True) if isinstance(op, ForOp)]:
        trips = _short_trip_count(loop, bounds)
        if trips == 0:
            for result, init in zip(loop.results, loop.inits, strict=True):
                result.replace_all_uses_with(init)
            loop.detach()
            loop.erase()
        elif trips == 1:
            _put_in_place(loop)
        count += trips is not None
    return count


def _short_trip_count(loop: ForOp, bounds: IndexBounds) -> int | None:
    """0 or 1, where the loop certainly runs that often."""
    lower, upper = bound_expressions(loop, upper=False), bound_expressions(loop, upper=True)
    exprs, operands = combine([*lower, *upper])
    simplifier = bounds.simplifier(operands)
    spans = [simplifier.bounds(high - low) for low in exprs[: len(lower)] for high in exprs[len(lower) :]]
    # The span of the loop is the smallest of these.
    largest = min((high for _, high in spans if high is not None), default=None)
    if largest is not None and largest <= 0:
        return 0
    smallest = [low for low, _ in spans if low is not None]
    single = len(lower) == 1 and len(smallest) == len(spans) and min(smallest) >= 1
    return 1 if single and largest is not None and largest <= loop.step_value else None


def _put_in_place(loop: ForOp) -> None:
    """Replaces a loop by its body, for the first index."""
    block = loop.parent
    assert block is not None
    ((expr, operands),) = bound_expressions(loop, upper=False)
    if isinstance(expr, AffineConstantExpr):
        constant = arith.ConstantOp(IntegerAttr(expr.value, IndexType()))
        block.insert_op_before(constant, loop)
        start = constant.result
    else:
        start = materialize((expr, operands), block, loop)
    loop.induction.replace_all_uses_with(start)
    for argument, init in zip(loop.iter_args, loop.inits, strict=True):
        argument.replace_all_uses_with(init)
    last = loop.block.last_op
    for op in list(loop.block.ops):
        if op is not last:
            op.detach()
            block.insert_op_before(op, loop)
    for result, value in zip(loop.results, list(loop.yielded), strict=True):
        result.replace_all_uses_with(value)
    loop.detach()
    loop.erase()


def erase_unused_ops(function: FuncOp) -> int:
    """Removes ops that neither write memory nor have a result that is used; the number of those removed."""
    count = 0
    for op in list(function.walk(reverse=True, region_first=True)):
        if op is function or op.has_trait(IsTerminator) or any(result.uses for result in op.results):
            continue
        if _only_computes(op):
            op.detach()
            op.erase()
            count += 1
    return count


def _only_computes(op: Operation) -> bool:
    """Whether an op writes no memory that outlives it."""
    if isinstance(op, ForOp):
        return all(_only_computes(inner) for inner in op.block.ops)
    return is_side_effect_free(op) or isinstance(op, LoadOp | AllocOp)


@dataclass(frozen=True)
class LoopsSimplifyPass(ModulePass):
    """Brings loops into canonical form."""

    name = "loops-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                simplify_function(function)
