"""
Chains of a contraction, reductions of its result, and a contraction that sums over what was reduced: attention.

    %s = graph.matmul %q, %k             // [.., i, j]
    %t = graph.add %s, %mask             // elementwise, of that shape
    %p = graph.softmax %t {axis = -1}    // reductions over j alone, with what is elementwise between them
    %o = graph.matmul %p, %v             // sums over j

Nothing but the last op reads anything of the others from outside, so they can be one kernel, in which rows `i` are
independent of each other: whatever is as large as `%s` then need not exist for more than some rows at a time. Ops are
known by their kind and their axes only.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from aicc.dialects.graph.axis_roles import HasContractedAxis
from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.interfaces import FusionKind
from aicc.transforms.graph_facts import kind_of, reduction_shape, result_dims

MOST_OPS = 24
"""A chain is not followed any further back than so many ops."""


def contraction_chains(block: Block) -> Iterator[list[Operation]]:
    """The chains that end in ops of the block, each in the order of the block; no two share an op."""
    taken: set[Operation] = set()
    for op in block.ops:
        if not isinstance(op, HasContractedAxis):
            continue
        for number in range(len(op.operands)):
            chain = _chain(op, number, block)
            if chain and taken.isdisjoint(chain):
                taken.update(chain)
                # By where they stand, not by how they were found.
                yield [member for member in _between(chain, op) if member in chain]
                break


def _between(chain: set[Operation], last: Operation) -> list[Operation]:
    """The ops from the first one of the chain on."""
    found: list[Operation] = [last]
    missing = len(chain) - 1
    while missing:
        previous = found[-1].prev_op
        assert previous is not None
        found.append(previous)
        missing -= previous in chain
    return found[::-1]


def _chain(last: HasContractedAxis, number: int, block: Block) -> set[Operation]:
    """The chain that the contraction `last` ends, through one operand; empty if there is none."""
    weights = last.operands[number]
    shape = dims_of(weights.type)
    axis = last.contracted_axis(number) % max(len(shape), 1)
    found: set[Operation] = set()
    first: Operation | None = None
    reductions = 0
    pending: list[SSAValue] = [weights]
    while pending:
        op = pending.pop().owner
        if not isinstance(op, Operation) or op.parent is not block or op in found:
            continue
        match kind_of(op):
            case FusionKind.CONTRACTION if result_dims(op) == shape and first in (None, op):
                first = op
            case FusionKind.REDUCTION:
                reduced = reduction_shape(op)
                if reduced is None or reduced.dims != shape or [at % len(shape) for at in reduced.axes] != [axis]:
                    continue
                reductions += 1
                pending += op.operands
            case FusionKind.ELEMENTWISE if result_dims(op) == shape or _is_reduced(op, shape, axis):
                pending += op.operands
            case _:
                continue
        found.add(op)
        if len(found) > MOST_OPS:
            return set()
    if first is None or not reductions:
        return set()
    chain = {*_users_of(first, found), last}
    inside = all(use.operation in chain for op in chain - {last} for result in op.results for use in result.uses)
    return chain if inside and any(kind_of(op) is FusionKind.REDUCTION for op in chain) else set()


def _is_reduced(op: Operation, shape: tuple[object, ...], axis: int) -> bool:
    """Whether the result of an elementwise op has the shape with the axis reduced away, or to 1."""
    dims = result_dims(op)
    return dims in (shape[:axis] + shape[axis + 1 :], (*shape[:axis], 1, *shape[axis + 1 :]))


def _users_of(first: Operation, found: set[Operation]) -> set[Operation]:
    """`first` and those of `found` that depend on it."""
    users = {first}
    pending = [first]
    while pending:
        for result in pending.pop().results:
            for use in result.uses:
                if use.operation in found and use.operation not in users:
                    users.add(use.operation)
                    pending.append(use.operation)
    return users
