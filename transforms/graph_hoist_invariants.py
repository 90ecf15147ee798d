"""
`graph-hoist-invariants`: what is the same in each iteration of a loop is computed before it.

Before: %r = graph.while %x while { .. } do {     After: %e = graph.exp %w
        ^bb0(%s: ..):                                    %r = graph.while %x while { .. } do {
          %e = graph.exp %w                              ^bb0(%s: ..):
          %n = graph.add %s, %e                            %n = graph.add %s, %e
          graph.yield %n } : ..                            graph.yield %n } : ..

A loop may have no iteration, so only what can do no harm then is moved: ops that are pure and end, whose sizes are no
less than 0, and which assume nothing of sizes but what is checked before the loop. What names sizes that the loop gives
values to stays, as do the ops in branches, which may not be taken. Elementwise ops and data movement that make more
bytes of what they read stay if all that read them do.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from aicc.dialects.graph.control import WhileOp
from aicc.dialects.graph.defined_sizes import CheckSizesOp, DefinesSymbols
from aicc.dialects.graph.dims import Dim, dim_prod, dim_sum, dims_of, is_tensor, provably_at_least
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import ControlOp, FusionKind, TypedOp, element_type_of
from aicc.transforms.graph_facts import kind_of
from aicc.transforms.graph_functions import main_functions
from aicc.transforms.graph_groups import values_read
from aicc.transforms.graph_infer_shapes import checks_of
from aicc.transforms.symbols import symbols_in_attribute

_COMPUTED_WHERE_READ = (FusionKind.ELEMENTWISE, FusionKind.MOVEMENT)
"""Kinds that cost little where the result is read."""

FREE_BYTES = 1024
"""Results up to this size cost nothing to keep."""

Facts = frozenset[tuple[Dim, Dim]]
"""Pairs of sizes that are known to be equal."""


@dataclass(frozen=True)
class GraphHoistInvariantsPass(ModulePass):
    """Moves what is the same in each iteration out of loops."""

    name = "graph-hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Moves ops of one function, inner loops first: what leaves one may leave the next."""
        checked = _checked_before_loops(func)
        for loop in [op for op in func.walk(region_first=True) if isinstance(op, WhileOp)]:
            facts = checked[loop]
            changing = _defined_in(loop)
            for region in loop.regions:
                for op in _invariants(region.block, changing, facts):
                    op.detach()
                    block = loop.parent
                    assert block is not None
                    block.insert_op_before(op, loop)


def _checked_before_loops(func: FuncOp) -> dict[WhileOp, Facts]:
    """For each loop in `func` the sizes that are checked to be equal before it starts."""
    found: dict[WhileOp, Facts] = {}
    at_start = frozenset(pair for a, b in checks_of(func) for pair in ((a, b), (b, a)))
    waiting = [(func.body.block, at_start)]
    while waiting:
        block, facts = waiting.pop()
        for op in block.ops:
            if isinstance(op, CheckSizesOp):
                a, b = op.sizes
                facts |= {(a, b), (b, a)}
            elif isinstance(op, WhileOp):
                found[op] = facts
            waiting += [(inner, facts) for region in op.regions for inner in region.blocks]
    return found


def _defined_in(op: Operation) -> set[str]:
    """The symbols that `op` and what is in its regions give values to."""
    return {name for inner in op.walk() if isinstance(inner, DefinesSymbols) for name in inner.defined_symbols()}


def _invariants(block: Block, changing: set[str], facts: Facts) -> list[Operation]:
    """The ops of a block that are to be computed before the loop around it, in order."""
    found: dict[Operation, None] = {}

    def is_known(value: SSAValue) -> bool:
        owner = value.owner
        inside = owner is block or (isinstance(owner, Operation) and block.find_ancestor_op_in_block(owner) is not None)
        return not inside or owner in found

    for op in block.ops:
        if may_run_early(op, changing, facts) and all(map(is_known, values_read([op]))):
            found[op] = None
    for op in reversed(list(found)):
        users = {block.find_ancestor_op_in_block(use.operation) for result in op.results for use in result.uses}
        if _grows(op) and users.isdisjoint(found):
            del found[op]
    return list(found)


def may_run_early(op: Operation, changing: set[str], facts: Facts) -> bool:
    """
    Whether nothing but time is lost where `op` runs and its results are not needed; `changing` are symbols that have no
    value yet.
    """
    if not isinstance(op, TypedOp) or not op.has_trait(Pure):
        return False
    for inner in op.walk():
        if isinstance(inner, ControlOp) and not inner.ENDS:
            return False
        if isinstance(inner, DefinesSymbols) and inner.defined_symbols():
            return False
        if isinstance(inner, TypedOp):
            if any((check.lhs, check.rhs) not in facts for check in inner.runtime_checks()):
                return False
        elif not inner.has_trait(Pure):
            return False
        named: dict[str, None] = {}
        for attribute in (*inner.result_types, *inner.properties.values()):
            symbols_in_attribute(attribute, named)
        if not changing.isdisjoint(named):
            return False
        sizes = [dim for type in inner.result_types if is_tensor(type) for dim in dims_of(type)]
        if not all(provably_at_least(size, 0) for size in sizes):
            return False
    return True


def _grows(op: Operation) -> bool:
    """Whether an op that costs little where its result is read makes more bytes than it reads, or may do so."""
    if kind_of(op) not in _COMPUTED_WHERE_READ:
        return False
    read = dim_sum(_bytes(value) for value in dict.fromkeys(op.operands))
    made = dim_sum(map(_bytes, op.results))
    if isinstance(made, int) and made <= FREE_BYTES:
        return False
    return not provably_at_least(dim_sum([read, -1 * made]), 0)


def _bytes(value: SSAValue) -> Dim:
    return dim_prod([*dims_of(value.type), numpy_dtype(element_type_of(value)).itemsize])
