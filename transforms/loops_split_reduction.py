"""
`loops-split-reduction`: takes a reduction some steps at a time, around the loops over its results.

Before: for %j = 0 to 4096 parallel {                   After, `size=8`: for "k.b" %b = 0 to 100 {
          %s = for "k" %k = 0 to 800 iter_args(%acc = %z) {                %first = %b == 0, %last = %b == 99
            ... load %w[%k, %j] ... }                                      for %j = 0 to 4096 parallel {
          %r = addf %s, %bias                                                %a = select %first, %z, load %o[%j]
          store %r, %o[%j] }                                                 %s = for "k" %k = 0 to 8 iter_args(%a)
                                                                               { ... load %w[8 * %b + %k, %j] ... }
                                                                             %r = addf %s, %bias
                                                                             store select(%last, %r, %s), %o[%j] } }

What a block of steps reads then stays in a cache while all results take it in, or is read in the order of memory: of
`%w`, 8 rows at a time instead of one column after the other. The order of accumulation is the old one, so results are
the same bits. Between blocks the results wait in the memory that they are stored to in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ApplyOp, ForOp, LoadOp, StoreOp, YieldOp
from aicc.dialects.loops.affine_text import canonical_access
from aicc.dialects.loops.attrs import memref_of
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_index import IndexBounds, bound_expressions, combine, fold_index_ops, materialize, set_bounds
from aicc.transforms.loops_legality import check_parallel
from aicc.transforms.loops_nest import StepError, kernels_with, labelled, normalize_loop, perfect_nest

STEP = "split-reduction"


@dataclass(frozen=True)
class _Results:
    """What the innermost parallel loop does with a reduction."""

    loop: ForOp
    store: StoreOp

    @property
    def is_plain(self) -> bool:
        """Whether what is reduced is stored as it is."""
        return self.store.value is self.loop.results[0]


def split_reduction(top: ForOp, loop: ForOp, size: int, mask: bool = False) -> list[ForOp]:
    """
    Runs `loop`, a reduction in the body of the parallel loops perfectly nested in `top`, `size` steps at a time around
    `top`; returns the loop over blocks, and the loop in the place of `top` for a known number of steps left over.

    With `mask`, steps left over make a last, shorter block also where their number is known.

    Raises:
        StepError: if the loops at `top` are not parallel, the reduction is not all that they compute, does not carry
            the one value that they store, or what it reads is what they store.
    """
    nest = perfect_nest(top)
    for outer in nest:
        check_parallel(STEP, outer)
    results = _results_of(nest, loop)
    _check_steps(nest, loop)
    normalize_loop(STEP, loop)
    fold_index_ops([loop])
    trips = loop.trip_count
    block = top.parent
    assert block is not None
    if trips is not None:
        full, rest = divmod(trips, size)
        if full + bool(rest) < 2:
            raise StepError(STEP, loop, f"has {trips} iterations, expected more than the {size} of one block")
    else:
        full, rest = None, 0
    if mask and full is not None and rest:
        full, rest, short = full + 1, 0, True
    else:
        short = full is None
    tail = _clone_before(top, nest, loop, results) if rest else None
    blocks = _wrap(top, loop, results, size, full, short, bool(rest))
    made = [blocks]
    if tail is not None and trips is not None and full is not None:
        tail_top, tail_loop, tail_results = tail
        tail_top.detach()
        block.insert_op_after(tail_top, blocks)
        _shift(tail_loop, AffineConstantExpr(full * size), (), [AffineConstantExpr(rest)], ())
        _start_from_memory(tail_loop, tail_results, None)
        made.append(tail_top)
    fold_index_ops(made)
    return made


def can_split(top: ForOp, loop: ForOp) -> bool:
    """Whether `split_reduction` can be done, whatever the size of a block."""
    nest = perfect_nest(top)
    try:
        for outer in nest:
            check_parallel(STEP, outer)
        _results_of(nest, loop)
        _check_steps(nest, loop)
    except StepError:
        return False
    return len(bound_expressions(loop, upper=True)) == 1


def _results_of(nest: Sequence[ForOp], loop: ForOp) -> _Results:
    body = nest[-1].block
    if loop.parent is not body:
        raise StepError(STEP, loop, f"is not in the body of the parallel loops in '{nest[0].label.data}'")
    if len(loop.inits) != 1:
        raise StepError(STEP, loop, f"carries {len(loop.inits)} values, expected one")
    stores = [op for op in body.ops if isinstance(op, StoreOp)]
    if len(stores) != 1 or any(op.regions and op is not loop for op in body.ops):
        raise StepError(STEP, loop, "is not all that leads to one store in the loops around it")
    store = stores[0]
    memref = memref_of(store.memref)
    if store.inside is not None or memref.element_type != loop.inits[0].type or store.value.type != loop.inits[0].type:
        raise StepError(STEP, loop, "carries another type than is stored, or the store has conditions")
    root = root_of(store.memref)
    for op in nest[0].walk():
        if isinstance(op, LoadOp) and root_of(op.memref) is root:
            raise StepError(STEP, loop, "reads what the loops around it store")
    return _Results(loop, store)


def _check_steps(nest: Sequence[ForOp], loop: ForOp) -> None:
    """The bounds of the reduction come from outside of the nest, and so does what they are computed from."""
    inside = set(map(id, nest[0].walk()))
    for operand in (*loop.lower_operands, *loop.upper_operands):
        owner = operand.owner.parent_op() if isinstance(operand.owner, Block) else operand.owner
        if id(owner) in inside:
            raise StepError(STEP, loop, "its bounds vary in the loops around it")


def _clone_before(top: ForOp, nest: Sequence[ForOp], loop: ForOp, results: _Results) -> tuple[ForOp, ForOp, _Results]:
    """A copy of the nest, in front of it, with its reduction."""
    position = list(nest[-1].block.ops).index(loop)
    place = list(nest[-1].block.ops).index(results.store)
    copy = top.clone()
    block = top.parent
    assert block is not None
    block.insert_op_before(copy, top)
    ops = list(perfect_nest(copy)[-1].block.ops)
    again, store = ops[position], ops[place]
    assert isinstance(again, ForOp) and isinstance(store, StoreOp)
    return copy, again, _Results(again, store)


def _wrap(top: ForOp, loop: ForOp, results: _Results, size: int, count: int | None, short: bool, rest: bool) -> ForOp:
    """Puts the loop over `count` blocks around `top`; the last one is shorter if `short` says so."""
    block = top.parent
    assert block is not None
    (trips, *more), operands = combine(bound_expressions(loop, upper=True))
    if more:
        raise StepError(STEP, loop, f"ends at the minimum of {len(more) + 1} bounds, expected one")
    # One block more than needed where `size` divides the steps: none at all would leave the results unwritten.
    ends: AffineExpr = AffineConstantExpr(count) if count is not None else trips // size + 1
    at = len(operands)
    blocks = ForOp(0, (), AffineMap(at, 0, (ends,)), operands, label=loop.label.data + ".b")
    blocks.location = loop.location
    blocks.induction.name_hint = "block"
    block.insert_op_before(blocks, top)
    top.detach()
    zero = arith.ConstantOp.from_int_and_width(0, IndexType())
    first = arith.CmpiOp(blocks.induction, zero.result, "eq")
    first.result.name_hint = "first"
    blocks.block.add_ops([zero, first, top, YieldOp()])
    within: list[AffineExpr] = [AffineConstantExpr(size)]
    if short:
        within.append(trips + AffineDimExpr(at) * -size)
    _shift(loop, AffineDimExpr(at) * size, (*operands, blocks.induction), within, (*operands, blocks.induction))
    last: SSAValue | None = None
    if not rest and not results.is_plain:
        end = materialize((ends + -1, operands), blocks.block, top)
        compare = arith.CmpiOp(blocks.induction, end, "eq")
        compare.result.name_hint = "last"
        blocks.block.insert_op_before(compare, top)
        last = compare.result
    if not results.is_plain:
        _keep_sums(results, last)
    _start_from_memory(loop, results, first.result)
    return blocks


def _shift(
    loop: ForOp,
    start: AffineExpr,
    start_operands: Sequence[SSAValue],
    ends: Sequence[AffineExpr],
    end_operands: Sequence[SSAValue],
) -> None:
    """Makes a normalised loop run the steps from `start` on, as many as the smallest of `ends`."""
    bounds = IndexBounds()
    simplifier = bounds.simplifier(end_operands)
    exprs = tuple(simplifier.simplify(end) for end in ends)
    upper = canonical_access(AffineMap(len(end_operands), 0, exprs), end_operands)
    set_bounds(loop, (AffineMap.constant_map(0), ()), upper)
    old = start + AffineDimExpr(len(start_operands))
    apply = ApplyOp(AffineMap(len(start_operands) + 1, 0, (old,)), (*start_operands, loop.induction))
    apply.result.name_hint = loop.induction.name_hint
    loop.induction.replace_uses_with_if(apply.result, lambda use: use.operation is not apply)
    head = loop.block.first_op
    assert head is not None
    loop.block.insert_op_before(apply, head)


def _start_from_memory(loop: ForOp, results: _Results, first: SSAValue | None) -> None:
    """Makes the reduction go on from what is stored, except where `first` holds."""
    body = loop.parent
    assert body is not None
    load = LoadOp(results.store.memref, results.store.map.data, list(results.store.indices))
    ops: list[Operation] = [load]
    value: SSAValue = load.result
    if first is not None:
        ops.append(arith.SelectOp(first, loop.inits[0], value))
        value = ops[-1].results[0]
    # What the index of the store is computed from stands before the reduction or is index arithmetic.
    for operand in results.store.indices:
        _move_before(operand, loop)
    for op in ops:
        op.location = results.store.location
    body.insert_ops_before(ops, loop)
    loop.operands[len(loop.operands) - 1] = value


def _move_before(value: SSAValue, loop: ForOp) -> None:
    """Moves index arithmetic that stands after the loop in front of it."""
    op = value.owner
    if not isinstance(op, ApplyOp) or op.parent is not loop.parent or op.is_before_in_block(loop):
        return
    for operand in op.operands:
        _move_before(operand, loop)
    op.detach()
    assert loop.parent is not None
    loop.parent.insert_op_before(op, loop)


def _keep_sums(results: _Results, last: SSAValue | None) -> None:
    """Stores what is reduced so far, and only where `last` holds what comes of it."""
    store = results.store
    body = store.parent
    assert body is not None
    total = results.loop.results[0]
    if last is None:
        store.operands[0] = total
        for op in reversed([op for op in body.ops if op is not store and not op.regions]):
            if op.results and not any(result.uses for result in op.results):
                op.detach()
                op.erase()
        return
    choice = arith.SelectOp(last, store.value, total)
    choice.location = store.location
    body.insert_op_before(choice, store)
    store.operands[0] = choice.result


@dataclass(frozen=True)
class LoopsSplitReductionPass(ModulePass):
    """Takes the reductions that have a label some steps at a time, around the loops over their results."""

    name = "loops-split-reduction"

    label: str
    """Label of the reductions."""

    around: str
    """Label of the parallel loops that a block of steps goes around."""

    size: int
    """Steps per block; at least 1."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PassFailedException(f"{self.name}: size must be at least 1, got {self.size}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.around, self.name):
            for top in labelled(kernel, self.around, self.name):
                for loop in labelled(top, self.label, self.name):
                    split_reduction(top, loop, self.size)
