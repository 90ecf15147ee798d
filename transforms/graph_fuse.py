"""
`graph-fuse`: groups of ops are wrapped into `tensor_ops.kernel`.

Before: %c = graph.conv %x, %w ..             After: %r = tensor_ops.kernel (%0 = %x, %1 = %w, %2 = %y) {
        %s = graph.add %c, %y ..                       %c = graph.conv %0, %1 ..
        %r = graph.relu %s ..                          %s = graph.add %c, %2 ..
                                                       %r = graph.relu %s ..
                                                       tensor_ops.yield %r }

Which ops share a kernel is decided by their `fusion_kind` (see `FusionRules`), never by their names. Views and
constants stay outside, as they cost nothing. With `max-ops=1` each op is a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.interfaces import FusionKind, TypedOp
from aicc.dialects.graph.movement import MOST_PARTS
from aicc.dialects.tensor_ops.body_ops import YieldOp
from aicc.dialects.tensor_ops.ops import KernelOp
from aicc.transforms.graph_chains import contraction_chains
from aicc.transforms.graph_facts import int_list, kind_of, reduction_shape, result_dims
from aicc.transforms.graph_functions import blocks_in, main_functions
from aicc.transforms.graph_groups import Group, Grouping, values_read, values_used_outside
from aicc.transforms.locations import fuse_locations

_ANCHORS = (FusionKind.CONTRACTION, FusionKind.WINDOW)
_UNFUSED = (FusionKind.VIEW, FusionKind.CONSTANT, FusionKind.CONTROL)
_ALONE = (FusionKind.INDIRECT, FusionKind.OPAQUE)


@dataclass(frozen=True)
class GraphFusePass(ModulePass):
    """Wraps groups of ops that are best computed together into kernels."""

    name = "graph-fuse"

    max_ops: int = 64
    """Most ops in one kernel; at least 1."""

    producers: bool = False
    """
    Contractions take in the elementwise ops that only they read, computed into scratch of the kernel or into the padded
    copy of a convolution's input. Off, since DenseNet-121 runs 1.25 times as long with it.
    """

    def __post_init__(self) -> None:
        if self.max_ops < 1:
            raise PassFailedException(f"{self.name}: max-ops must be at least 1, got {self.max_ops}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Makes the kernels of one function."""
        for block in list(blocks_in(func)):
            if not isinstance(block.parent_op(), KernelOp):
                chains = [chain for chain in contraction_chains(block) if len(chain) <= self.max_ops]
                rules = FusionRules(self.max_ops, self.producers, {op: chain for chain in chains for op in chain})
                wrap_groups(block, Grouping(block, rules))


@dataclass(frozen=True)
class FusionRules:
    """
    - A contraction or sliding window takes in elementwise ops that read its result and have its shape, with what these
      read from elsewhere: residual sums, activations. It takes the transposes and expansions that feed it and leave the
      last axis in place, as these are index maps, and elementwise ops that feed it if it is a window, or if
      `producers` asks for it. A contraction also takes a transpose of its result that leaves the last axis in place.
    - Reductions over the same axes of one shape go together, with elementwise ops of that shape or of the reduced one
      between, before and after them: softmax, norms.
    - A chain of contractions around reductions goes together, and with what the last one may take.
    - A gather takes in the movement that makes its indices. Movement that only reads gathers, but for transposes that
      move the last axis, goes with them.
    - Elementwise ops of one shape go together, and with data movement that only they read or that only reads them.
      What is moved in one kernel has at most `MOST_PARTS` parts.
    """

    max_ops: int
    producers: bool = False
    chains: Mapping[Operation, Sequence[Operation]] = field(default_factory=dict[Operation, Sequence[Operation]])
    """The chain (see `graph_chains`) that an op is part of."""

    def required(self, op: Operation) -> Operation | None:
        """The first op of the chain that `op` is part of, unless it is that itself."""
        chain = self.chains.get(op, (op,))
        return None if chain[0] is op else chain[0]

    def is_fusible(self, op: Operation) -> bool:
        """All graph ops but views, constants and control flow."""
        return isinstance(op, TypedOp) and op.fusion_kind not in _UNFUSED and not op.regions

    def preference(self, op: Operation, group: Group) -> int:
        """Contractions first, as their results are not written then; then reductions."""
        kinds = {kind_of(member) for member in group.ops}
        return 2 if kinds & set(_ANCHORS) else 1 if FusionKind.REDUCTION in kinds else 0

    def may_join(self, op: Operation, groups: Sequence[Group]) -> bool:
        """Whether `op` and `groups` may be one kernel."""
        members = [member for group in groups for member in group.ops]
        if len(members) >= self.max_ops or any(kind_of(member) in _ALONE for member in members):
            return False
        # Each operand of a concat is a loop nest.
        if (
            sum(len(member.operands) for member in (op, *members) if kind_of(member) is FusionKind.MOVEMENT)
            > MOST_PARTS
        ):
            return False
        kind = kind_of(op)
        everything = members
        if self.required(op) is not None:
            return kind in _ANCHORS and all(self._may_feed(op, member) for member in groups[-1].ops)
        # What follows a chain sees its last op, and what feeds that one, only.
        hidden = {member for member in members if member in self.chains and self.chains[member][-1] is not member}
        members = [member for member in members if member not in hidden and not _is_only_read_by([member], *hidden)]
        anchors = [member for member in members if kind_of(member) in _ANCHORS]
        reductions = [member for member in members if kind_of(member) is FusionKind.REDUCTION]
        if kind is FusionKind.GATHER:
            return all(kind_of(member) is FusionKind.MOVEMENT for member in members) and _only_tell_places(op, members)
        if any(kind_of(member) is FusionKind.GATHER for member in members) and not _moves_rows(op):
            return False
        if kind in _ANCHORS:
            return not anchors and not reductions and all(self._may_feed(op, member) for member in members)
        if kind is FusionKind.REDUCTION:
            return not anchors and _may_reduce_together(op, members, reductions)
        if kind is FusionKind.MOVEMENT:
            if anchors and (kind_of(anchors[0]) is not FusionKind.CONTRACTION or not _keeps_last_axis(op)):
                return False
            return len(anchors) < 2 and not reductions and _is_only_read_by(everything, op)
        if kind is not FusionKind.ELEMENTWISE:
            return False
        if anchors:
            return len(anchors) == 1 and not reductions and _may_follow_anchor(op, anchors[0], members)
        if reductions:
            return _may_reduce_together(op, members, reductions)
        return _same_shape(op, members)

    def _may_feed(self, anchor: Operation, producer: Operation) -> bool:
        """Whether only `anchor` reads `producer`, and fusing the two is wanted."""
        if len(producer.results) != 1 or not producer.results[0].has_one_use():
            return False
        if kind_of(producer) is FusionKind.ELEMENTWISE:
            return self.producers or kind_of(anchor) is FusionKind.WINDOW
        return _keeps_last_axis(producer)


def _keeps_last_axis(op: Operation) -> bool:
    """Whether a movement op is an index map that leaves the last axis in place, so that it is still read in order."""
    axes = int_list(op, "permutation")
    return bool(axes) and axes[-1] == len(axes) - 1


def _moves_rows(op: Operation) -> bool:
    """Whether an op moves elements and those along the last axis stay beside each other."""
    moves = kind_of(op) is FusionKind.MOVEMENT
    return moves and (int_list(op, "permutation") is None or _keeps_last_axis(op))


def _only_tell_places(gather: Operation, members: Sequence[Operation]) -> bool:
    """Whether `members` make nothing but the places at which `gather` reads."""
    return _is_only_read_by(members, gather) and not any(gather.operands[0].owner is member for member in members)


def _may_follow_anchor(op: Operation, anchor: Operation, members: Sequence[Operation]) -> bool:
    """Elementwise ops of the shape of the anchor's result; those of other groups that come along must have it too."""
    shape = result_dims(anchor)
    return (
        result_dims(op) == shape
        and all(result_dims(member) == shape for member in members if kind_of(member) is FusionKind.ELEMENTWISE)
        and not any(kind_of(member) is FusionKind.MOVEMENT and not _feeds(member, anchor) for member in members)
    )


def _feeds(op: Operation, user: Operation) -> bool:
    return all(use.operation is user for result in op.results for use in result.uses)


def _may_reduce_together(op: Operation, members: Sequence[Operation], reductions: Sequence[Operation]) -> bool:
    """Whether all are reductions over the same axes of one shape, or elementwise of that shape or the reduced one."""
    found = [op, *reductions] if kind_of(op) is FusionKind.REDUCTION else reductions
    shapes = [reduction_shape(reduction) for reduction in found]
    first = shapes[0]
    if first is None or any(shape != first for shape in shapes):
        return False
    allowed = {first.dims, *first.reduced}
    others = [member for member in (*members, op) if kind_of(member) is not FusionKind.REDUCTION]
    return all(kind_of(other) is FusionKind.ELEMENTWISE and result_dims(other) in allowed for other in others)


def _is_only_read_by(members: Sequence[Operation], *readers: Operation) -> bool:
    """Whether nothing but `readers` reads what `members` make, so that it need not be stored."""
    inside = {*members, *readers}
    return all(use.operation in inside for member in members for result in member.results for use in result.uses)


def _same_shape(op: Operation, members: Sequence[Operation]) -> bool:
    """
    Whether an elementwise op has the shape of the group: of each elementwise op in it that is not followed by movement,
    and of the movement that it reads.
    """
    shape = result_dims(op)
    inside = {*members, op}
    for member in members:
        for result in member.results:
            uses = [use.operation for use in result.uses]
            moved = bool(uses) and all(use in inside and kind_of(use) is FusionKind.MOVEMENT for use in uses)
            if not moved and dims_of(result.type) != shape:
                return False
    return True


def wrap_groups(block: Block, grouping: Grouping) -> None:
    """Puts each group of fusible ops in the block into a kernel, in an order in which values are defined before use."""
    groups = grouping.groups_in_order()
    for op in list(block.ops):
        op.detach()
    for group in groups:
        block.add_ops([make_kernel(group.ops)] if group.fusible else group.ops)


def make_kernel(ops: Sequence[Operation]) -> KernelOp:
    """A kernel that holds `ops`, which must be detached; results that are used elsewhere are results of the kernel."""
    inputs = values_read(ops)
    outputs = values_used_outside(ops)
    body = Block(arg_types=[value.type for value in inputs])
    kernel = KernelOp(inputs, [value.type for value in outputs], Region(body))
    inside = set(ops)
    arguments = dict(zip(inputs, body.args, strict=True))
    for value, argument in arguments.items():
        argument.name_hint = value.name_hint
    # By the ops and not by the uses of the inputs, of which there may be many elsewhere.
    for op in ops:
        op.operands = [arguments.get(operand, operand) for operand in op.operands]
    for value, result in zip(outputs, kernel.results, strict=True):
        result.name_hint = value.name_hint
        value.replace_uses_with_if(result, lambda use: use.operation not in inside)
    body.add_ops(ops)
    last = YieldOp(*outputs)
    body.add_op(last)
    kernel.location = last.location = fuse_locations([op.location for op in ops])
    return kernel
