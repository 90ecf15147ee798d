"""
Loops and branches as blocks.

A loop is tested at its end; a test in front is left out where an iteration is certain. Loops of one iteration, and
those of kind `unroll` with a known number of iterations, leave no loop behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import gcd
from typing import cast

from xdsl.dialects import cf, func, scf
from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from aicc.dialects.llvm import atomics, control
from aicc.dialects.llvm.attrs import loop_annotation
from aicc.dialects.loops.attrs import LoopKind
from aicc.dialects.loops.control import ForOp
from aicc.lowering.loops_to_llvm_emit import Scope
from aicc.lowering.loops_to_llvm_index import Poly, add, constant, constant_value
from aicc.lowering.loops_to_llvm_values import FunctionLowering

MAX_UNROLLED = 64
"""Loops of kind `unroll` with more iterations stay loops."""

_LOOP = loop_annotation()
_NO_SIGNED_WRAP: dict[str, Attribute] = {"overflowFlags": IntegerAttr(1, 32)}


def branch(fn: FunctionLowering, target: Block, operands: Sequence[SSAValue], back: bool = False) -> None:
    """Ends the block at hand by a jump; `back` closes a loop."""
    attributes: dict[str, Attribute] = {"loop_annotation": _LOOP} if back else {}
    op = base.BrOp.create(operands=operands, successors=[target], attributes=attributes, location=fn.location)
    fn.block.add_op(op)


@cache
def _segments(yes: int, no: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i32, [1, yes, no])


def branch_if(
    fn: FunctionLowering,
    condition: SSAValue,
    yes: tuple[Block, Sequence[SSAValue]],
    no: tuple[Block, Sequence[SSAValue]],
    back: bool = False,
) -> None:
    """Ends the block at hand by a conditional jump."""
    sizes = _segments(len(yes[1]), len(no[1]))
    op = control.CondBrOp.create(
        operands=[condition, *yes[1], *no[1]],
        successors=[yes[0], no[0]],
        properties={"operandSegmentSizes": sizes},
        attributes={"loop_annotation": _LOOP} if back else {},
        location=fn.location,
    )
    fn.block.add_op(op)


def run_loop(
    fn: FunctionLowering,
    lower: Poly,
    upper: Poly,
    step: Poly,
    induction: SSAValue,
    carried: Sequence[SSAValue],
    inits: Sequence[SSAValue],
    results: Sequence[SSAValue],
    body: Callable[[], Sequence[SSAValue]],
    unroll: bool = False,
) -> None:
    """
    A counted loop; `body` lowers the iteration and gives what it yields.

    `induction` and `carried` are the block arguments that the body reads.
    """
    low, high = fn.atoms.bounds(add(upper, lower, -1))
    distance = constant_value(step)
    if high is not None and high <= 0:
        _alias(fn, results, inits)
        return
    trips = constant_value(add(upper, lower, -1))
    count = -(-trips // distance) if trips is not None and distance is not None else None
    if distance is not None and low is not None and low > 0 and high is not None and high <= distance:
        count = 1
    if count is not None and (count == 1 or (unroll and count <= MAX_UNROLLED)):
        current: Sequence[SSAValue] = inits
        for trip in range(count):
            _alias(fn, carried, current)
            fn.values[induction] = add(lower, constant(trip * (distance or 0)))
            current = body()
        _alias(fn, results, current)
        return
    start, stop, stride = fn.index(lower), fn.index(upper), fn.index(step)
    first = fn.flatten(inits)
    header = fn.new_block([i64, *(value.type for value in first)])
    exit_ = Block(arg_types=[value.type for value in first])
    fn.scopes.append(Scope(header))
    fn.values[induction] = fn.atom(header.args[0], *_induction_facts(fn, lower, upper, distance))
    fn.take(carried, header.args[1:])
    last = fn.flatten(body())
    counter = fn.emit(base.AddOp, (header.args[0], stride), i64, _NO_SIGNED_WRAP)
    more = fn.compare("slt", counter, stop)
    branch_if(fn, more, (header, [counter, *last]), (exit_, last), back=True)
    fn.scopes.pop()
    if low is not None and low > 0:
        branch(fn, header, [start, *first])
    else:
        enter = fn.compare("slt", start, stop)
        branch_if(fn, enter, (header, [start, *first]), (exit_, first))
    fn.blocks.append(exit_)
    fn.scopes[-1].block = exit_
    fn.take(results, exit_.args)


def _induction_facts(
    fn: FunctionLowering, lower: Poly, upper: Poly, step: int | None
) -> tuple[int, int | None, int | None, int]:
    """Depth, bounds and divisor of an induction variable."""
    low = fn.atoms.bounds(lower)[0]
    high = fn.atoms.bounds(upper)[1]
    high = None if high is None else high - 1
    multiple = gcd(fn.atoms.multiple_of(lower), step) if step is not None else 1
    if high is not None and multiple > 1:
        high -= high % multiple
    return fn.depth, low, high, max(multiple, 1)


def _alias(fn: FunctionLowering, values: Sequence[SSAValue], same: Sequence[SSAValue]) -> None:
    """`values` are what `same` are."""
    found = [fn.values[value] for value in same]
    for value, lowered in zip(values, found, strict=True):
        fn.values[value] = lowered


def lower_for(fn: FunctionLowering, op: ForOp, lower_block: Callable[[Block], None]) -> None:
    """`loops.for` on one thread."""
    lower = fn.extremum(fn.map_values(op.lower_map, op.lower_operands), largest=True)
    upper = fn.extremum(fn.map_values(op.upper_map, op.upper_operands), largest=False)
    loop_body(fn, op, lower, upper, lower_block)


def loop_body(fn: FunctionLowering, op: ForOp, lower: Poly, upper: Poly, lower_block: Callable[[Block], None]) -> None:
    """The iterations of `op` from `lower` to `upper`."""

    def body() -> Sequence[SSAValue]:
        lower_block(op.block)
        return op.yielded

    unroll = op.kind.data == LoopKind.UNROLL
    step = constant(op.step_value)
    run_loop(fn, lower, upper, step, op.induction, op.iter_args, op.inits, op.res, body, unroll)


def lower_scf_for(fn: FunctionLowering, op: scf.ForOp, lower_block: Callable[[Block], None]) -> None:
    """`scf.for`."""
    block = op.body.block

    def body() -> Sequence[SSAValue]:
        lower_block(block)
        assert block.last_op is not None
        return block.last_op.operands

    bounds = [fn.poly(value) for value in (op.lb, op.ub, op.step)]
    run_loop(fn, bounds[0], bounds[1], bounds[2], block.args[0], block.args[1:], op.iter_args, op.res, body)


def either(
    fn: FunctionLowering,
    condition: SSAValue,
    makers: Sequence[Callable[[], Sequence[SSAValue]] | None],
    types: Sequence[Attribute] = (),
) -> Sequence[SSAValue]:
    """What the first maker makes where a condition holds, else the second one; each in its own block, or in none."""
    join = Block(arg_types=types)
    targets = [join if make is None else fn.new_block() for make in makers]
    for make, target in zip(makers, targets, strict=True):
        if make is not None:
            fn.scopes.append(Scope(target))
            branch(fn, join, make())
            fn.scopes.pop()
    branch_if(fn, condition, (targets[0], ()), (targets[1], ()))
    fn.blocks.append(join)
    fn.scopes[-1].block = join
    return join.args


def lower_if(fn: FunctionLowering, op: scf.IfOp, lower_block: Callable[[Block], None]) -> None:
    """`scf.if`."""

    def make(block: Block) -> Sequence[SSAValue]:
        lower_block(block)
        assert block.last_op is not None
        return fn.flatten(block.last_op.operands)

    types = [type_ for result in op.results for type_ in fn.flat_types(result.type)]
    makers = [partial(make, region.blocks[0]) if region.blocks else None for region in op.regions]
    fn.take(op.results, either(fn, fn.scalar(op.cond), makers, types))


def lower_while(fn: FunctionLowering, op: scf.WhileOp, lower_block: Callable[[Block], None]) -> None:
    """`scf.while`: the condition's block, the body's block, and back."""
    first = fn.flatten(op.arguments)
    before, after = op.before_region.block, op.after_region.block
    test = fn.new_block([value.type for value in first])
    types = [type_ for argument in after.args for type_ in fn.flat_types(argument.type)]
    again, exit_ = fn.new_block(types), Block(arg_types=types)
    fn.scopes.append(Scope(test))
    fn.take(before.args, test.args)
    lower_block(before)
    condition = cast(scf.ConditionOp, before.last_op)
    handed = fn.flatten(condition.args)
    branch_if(fn, fn.scalar(condition.condition), (again, handed), (exit_, handed))
    fn.scopes.pop()
    fn.scopes.append(Scope(again))
    fn.take(after.args, again.args)
    lower_block(after)
    assert after.last_op is not None
    branch(fn, test, fn.flatten(after.last_op.operands), back=True)
    fn.scopes.pop()
    branch(fn, test, first)
    fn.blocks.append(exit_)
    fn.scopes[-1].block = exit_
    fn.take(op.results, exit_.args)


def lower_blocks(fn: FunctionLowering, blocks: Sequence[Block], lower_block: Callable[[Block], None]) -> None:
    """The blocks of a function joined by `cf`; what one computes is not reused in another: it may not dominate it."""
    made = [fn.blocks[0], *(fn.new_block(_argument_types(fn, block)) for block in blocks[1:])]
    targets = dict(zip(blocks, made, strict=True))
    fn.targets = targets
    for block in blocks:
        if block is not blocks[0]:
            fn.scopes[0] = Scope(targets[block])
            fn.take(block.args, targets[block].args)
        lower_block(block)


def _argument_types(fn: FunctionLowering, block: Block) -> list[Attribute]:
    return [type_ for argument in block.args for type_ in fn.flat_types(argument.type)]


def lower_branch(fn: FunctionLowering, op: cf.BranchOp) -> None:
    """`cf.br`."""
    branch(fn, fn.targets[op.successor], fn.flatten(op.arguments))


def lower_cond_branch(fn: FunctionLowering, op: cf.ConditionalBranchOp) -> None:
    """`cf.cond_br`."""
    yes = (fn.targets[op.then_block], fn.flatten(op.then_arguments))
    no = (fn.targets[op.else_block], fn.flatten(op.else_arguments))
    branch_if(fn, fn.scalar(op.cond), yes, no)


def order_stores(fn: FunctionLowering) -> None:
    """Before a return: what the function wrote past the caches is seen before anything that is done after it."""
    if fn.bypasses:
        fn.block.add_op(atomics.FenceOp("seq_cst"))


def lower_return(fn: FunctionLowering, op: func.ReturnOp) -> None:
    """`func.return` of at most one scalar."""
    values = fn.flatten(op.arguments)
    if len(values) > 1:
        fn.not_lowered(op, f"{len(values)} results, expected at most one scalar; write to a memref argument instead")
    order_stores(fn)
    fn.block.add_op(base.ReturnOp.create(operands=values, location=fn.location))
