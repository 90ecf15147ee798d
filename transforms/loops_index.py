"""
Index expressions of the `loops` level: bounds of index values, composition of maps with what defines their operands.

Shared by the loop transformations. A transformation writes the new value of an old index as a `loops.apply` and calls
`fold_index_ops`, which moves that expression into the maps of loads, stores and bounds and simplifies them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from aicc.dialects.graph.dims import lower_bound, upper_bound
from aicc.dialects.loops import ApplyOp, ForOp, LoadOp, SizeOp, StoreOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.affine_text import Access, canonical_access
from aicc.dialects.loops.attrs import segment_sizes
from aicc.dialects.tensor_ops.affine import UNBOUNDED, Bounds, Simplifier, simplify_map, substitute

Expression = tuple[AffineExpr, tuple[SSAValue, ...]]
"""An affine expression whose dimension `i` is the value `operands[i]`."""


@dataclass
class IndexBounds:
    """Inclusive bounds of index values, from loop bounds, sizes and symbols; remembers what it found."""

    found: dict[SSAValue, Bounds] = field(default_factory=dict[SSAValue, Bounds])

    def of(self, value: SSAValue) -> Bounds:
        """Bounds of `value`. A loop variable's hold inside its loop."""
        if (known := self.found.get(value)) is None:
            self.found[value] = UNBOUNDED  # ends cycles through malformed IR
            known = self.found[value] = self._compute(value)
        return known

    def of_map(self, affine_map: AffineMap, operands: Sequence[SSAValue], shape: Sequence[int] = ()) -> list[Bounds]:
        """Bounds of each result; the last `len(shape)` dimensions are lanes."""
        simplifier = self.simplifier(operands, shape)
        return [simplifier.bounds(expr) for expr in affine_map.results]

    def simplifier(self, operands: Sequence[SSAValue], shape: Sequence[int] = ()) -> Simplifier:
        """Simplifies expressions over `operands` and then lanes of `shape`."""
        return Simplifier([*(self.of(value) for value in operands), *((0, size - 1) for size in shape)])

    def _compute(self, value: SSAValue) -> Bounds:
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op()
            if isinstance(parent, ForOp) and value is parent.induction:
                return self._of_induction(parent)
            # The index arguments of a function are its symbols: sizes.
            return (0, None) if isinstance(parent, FuncOp) else UNBOUNDED
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as constant):
                return (constant.value.data, constant.value.data)
            case SizeOp() as size:
                return (lower_bound(size.dim), upper_bound(size.dim))
            case ApplyOp() as apply if not lanes_of(apply.result.type):
                return self.of_map(apply.map.data, apply.indices)[0]
            case arith.MinSIOp() as op:
                lows, highs = zip(*(self.of(operand) for operand in op.operands), strict=True)
                known = [high for high in highs if high is not None]
                return (None if None in lows else min(lows), min(known, default=None))
            case _:
                return UNBOUNDED

    def _of_induction(self, loop: ForOp) -> Bounds:
        lows = [low for low, _ in self.of_map(loop.lower_map.data, loop.lower_operands) if low is not None]
        highs = [high for _, high in self.of_map(loop.upper_map.data, loop.upper_operands) if high is not None]
        low, high = max(lows, default=None), min(highs, default=None)
        # A loop that may have no iterations: keep the range non-empty, any value is right where nothing runs.
        return (low, None if high is None else max(high - 1, low if low is not None else high - 1))


def constant_index(value: SSAValue) -> int | None:
    """The number that an index value is known to be."""
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr() as constant):
            return constant.value.data
        case SizeOp() as size if isinstance(size.dim, int):
            return size.dim
        case _:
            return None


def combine(expressions: Iterable[Expression]) -> tuple[list[AffineExpr], tuple[SSAValue, ...]]:
    """The expressions over one common list of operands."""
    order: dict[SSAValue, int] = {}
    results: list[AffineExpr] = []
    for expr, operands in expressions:
        dims: dict[int, AffineExpr] = {
            position: AffineDimExpr(order.setdefault(value, len(order))) for position, value in enumerate(operands)
        }
        results.append(substitute(expr, dims))
    return results, tuple(order)


def bound_expressions(loop: ForOp, upper: bool) -> list[Expression]:
    """The values whose maximum (of lower bounds) or minimum (of upper bounds) bounds the loop."""
    bound = loop.upper_map.data if upper else loop.lower_map.data
    access, operands = canonical_access(bound, loop.upper_operands if upper else loop.lower_operands)
    return [(expr, operands) for expr in access.results]


def defining_expression(value: SSAValue) -> Expression | None:
    """What `value` is computed as, where that is an affine expression of other values or a number."""
    if isinstance(value.owner, ApplyOp) and not lanes_of(value.type):
        return value.owner.map.data.results[0], tuple(value.owner.indices)
    if (constant := constant_index(value)) is not None:
        return AffineConstantExpr(constant), ()
    return None


def composed(access: Access, shape: Sequence[int], bounds: IndexBounds) -> Access | None:
    """
    `access` over the values that its operands are computed from, simplified; `None` if it stays as it is.

    The last `len(shape)` dimensions of the map are lanes.
    """
    affine_map, operands = canonical_access(*access, len(shape))
    definitions = [defining_expression(value) for value in operands]
    if not any(definitions):
        # Nothing to substitute, which is so of nearly all accesses each time but the first.
        if all(map(_is_plain, affine_map.results)):
            new = affine_map, operands
        else:
            dim_bounds = (*map(bounds.of, operands), *((0, size - 1) for size in shape))
            simplified, kept = _simplified(affine_map, dim_bounds, len(shape))
            new = simplified, tuple(operands[position] for position in kept)
        return None if new == access else new
    exprs, values = combine(
        (AffineDimExpr(0), (value,)) if expression is None else expression
        for expression, value in zip(definitions, operands, strict=True)
    )
    dims = dict(enumerate(exprs))
    for lane in range(len(shape)):
        dims[len(operands) + lane] = AffineDimExpr(len(values) + lane)
    simplifier = bounds.simplifier(values, shape)
    results = tuple(simplifier.simplify(substitute(expr, dims)) for expr in affine_map.results)
    new = canonical_access(AffineMap(len(values) + len(shape), 0, results), values, len(shape))
    return None if new == (affine_map, operands) == access else new


@lru_cache(maxsize=1 << 14)
def _simplified(affine_map: AffineMap, dim_bounds: tuple[Bounds, ...], lanes: int) -> tuple[AffineMap, tuple[int, ...]]:
    """
    `affine_map` simplified and canonical, and the positions of the operands that it then has.

    Remembered, since the same accesses are asked about after each step of a schedule.
    """
    order: dict[int, int] = {}
    results = simplify_map(affine_map, dim_bounds).results
    operands = affine_map.num_dims - lanes
    for expr in results:
        for part in expr.dfs():
            if type(part) is AffineDimExpr and part.position < operands:
                order.setdefault(part.position, len(order))
    dims: dict[int, AffineExpr] = {old: AffineDimExpr(new) for old, new in order.items()}
    dims |= {operands + lane: AffineDimExpr(len(order) + lane) for lane in range(lanes)}
    renamed = tuple(substitute(expr, dims) for expr in results)
    return AffineMap(len(order) + lanes, 0, renamed), tuple(order)


def _is_plain(expr: AffineExpr) -> bool:
    """Whether there is nothing to simplify in `expr`."""
    return type(expr) is AffineDimExpr or type(expr) is AffineConstantExpr


def _prune(bound: Access, bounds: IndexBounds, upper: bool) -> Access:
    """A bound without the results that another one makes superfluous."""
    affine_map, operands = bound
    if len(affine_map.results) == 1:
        return bound
    simplifier = bounds.simplifier(operands)
    kept: list[AffineExpr] = []
    for position, expr in enumerate(affine_map.results):
        others = [*kept, *affine_map.results[position + 1 :]]
        # Of equal results the last one stays.
        if not any(
            _at_least(simplifier, expr, other) if upper else _at_least(simplifier, other, expr) for other in others
        ):
            kept.append(expr)
    return canonical_access(AffineMap(affine_map.num_dims, 0, tuple(kept)), operands)


def _at_least(simplifier: Simplifier, larger: AffineExpr, smaller: AffineExpr) -> bool:
    low, _ = simplifier.bounds(larger + smaller * -1)
    return low is not None and low >= 0


def set_operands(op: Operation, operands: Sequence[SSAValue], segments: Sequence[int]) -> None:
    """Replaces all operands of an op whose segments are kept in a property."""
    op.operands = operands
    op.properties["operandSegmentSizes"] = segment_sizes(*segments)


def set_bounds(loop: ForOp, lower: Access, upper: Access) -> None:
    """Gives `loop` new bounds."""
    inits = tuple(loop.inits)
    loop.lower_map, loop.upper_map = AffineMapAttr(lower[0]), AffineMapAttr(upper[0])
    set_operands(loop, (*lower[1], *upper[1], *inits), (len(lower[1]), len(upper[1]), len(inits)))


def fold_index_ops(roots: Iterable[Operation], bounds: IndexBounds | None = None) -> None:
    """
    Moves scalar `loops.apply` and constants into the maps that use them, simplifies these, drops what is then unused.

    Goes over the ops in and under `roots` once, in program order.
    """
    bounds = bounds or IndexBounds()
    applies: list[ApplyOp] = []
    for root in roots:
        for op in root.walk():
            if (fold := _FOLDERS.get(type(op))) is not None:
                fold(op, bounds)
                if type(op) is ApplyOp:
                    applies.append(op)
    for apply in reversed(applies):
        access = apply.map.data.results[0]
        if isinstance(access, AffineDimExpr) and not lanes_of(apply.result.type):
            apply.result.replace_all_uses_with(apply.indices[0])
        if not apply.result.uses:
            apply.detach()
            apply.erase()


def _fold_loop(op: ForOp, bounds: IndexBounds) -> None:
    lower: Access = (op.lower_map.data, tuple(op.lower_operands))
    upper: Access = (op.upper_map.data, tuple(op.upper_operands))
    new_lower, new_upper = composed(lower, (), bounds), composed(upper, (), bounds)
    if new_lower is not None or new_upper is not None:
        set_bounds(op, _prune(new_lower or lower, bounds, upper=False), _prune(new_upper or upper, bounds, upper=True))


def _fold_load(op: LoadOp, bounds: IndexBounds) -> None:
    new = composed((op.map.data, tuple(op.indices)), lanes_of(op.result.type), bounds)
    if new is not None:
        lanes = () if op.lanes is None else (op.lanes,)
        op.map = AffineMapAttr(new[0])
        set_operands(op, (op.memref, *new[1], *lanes), (1, len(new[1]), len(lanes)))


def _fold_store(op: StoreOp, bounds: IndexBounds) -> None:
    new = composed((op.map.data, tuple(op.indices)), lanes_of(op.value.type), bounds)
    if new is not None:
        lanes = () if op.lanes is None else (op.lanes,)
        op.map = AffineMapAttr(new[0])
        set_operands(op, (op.value, op.memref, *new[1], *lanes), (1, 1, len(new[1]), len(lanes)))


def _fold_apply(op: ApplyOp, bounds: IndexBounds) -> None:
    new = composed((op.map.data, tuple(op.indices)), lanes_of(op.result.type), bounds)
    if new is not None:
        op.map = AffineMapAttr(new[0])
        op.operands = new[1]


# By class: ops are an abstract class, for which `isinstance` is slow, and most are none of these.
_FOLDERS: dict[type[Operation], Callable[[Operation, IndexBounds], None]] = {
    ApplyOp: _fold_apply,
    ForOp: _fold_loop,
    LoadOp: _fold_load,
    StoreOp: _fold_store,
}  # pyright: ignore[reportAssignmentType]


def materialize(expression: Expression, block: Block, before: Operation | None = None) -> SSAValue:
    """The value of `expression` at the start of `block`, or before an op of it."""
    apply = ApplyOp(AffineMap(len(expression[1]), 0, (expression[0],)), expression[1])
    first = before or block.first_op
    if first is None:
        block.add_op(apply)
    else:
        block.insert_op_before(apply, first)
    return apply.result
