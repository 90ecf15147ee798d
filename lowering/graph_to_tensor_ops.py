"""
`convert-graph-to-tensor-ops`: graph ops to `tensor_ops`, in every function.

Before: %r = graph.add %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
After:  %r = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>, %y as affine_map<(d0) -> (d0)>) over [parallel 4]
            body (%a : f32, %b : f32) { ... arith.addf ... }

Assumes inferred shapes and ops that `graph-decompose` leaves. Guarantees that no op of `graph` is left: what has no
lowering is listed in one error. Each op becomes ops of its own; putting them together is `tensor-ops-fuse`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.interfaces import GraphOp, OpBuilder
from aicc.dialects.tensor_ops import ConstantOp
from aicc.dialects.tensor_ops.interfaces import LowersToTensorOps
from aicc.lowering.graph_to_tensor_ops_support import Lowered
from aicc.lowering.graph_to_tensor_ops_table import LOWERINGS
from aicc.transforms.diagnostics import LocatedPassError, Message, note


@dataclass
class GraphToTensorOps:
    """One run of the conversion."""

    lowerings: Mapping[type[Operation], Any]

    def __post_init__(self) -> None:
        self.left: list[tuple[Operation, str | None]] = []

    def convert(self, root: Operation) -> None:
        """Lowers every op inside `root`, outer ones before those in their regions."""
        pending: list[Region] = list(root.regions)
        while pending:
            region = pending.pop()
            for block in region.blocks:
                op = block.first_op
                while op is not None:
                    following = op.next_op
                    pending += self._convert_op(op)
                    op = following
        self._erase_unused_constants(root)

    def _erase_unused_constants(self, root: Operation) -> None:
        """Known numbers have become part of the bodies."""
        for op in list(root.walk()):
            if isinstance(op, ConstantOp) and op.result.first_use is None:
                op.detach()
                op.erase()

    def _convert_op(self, op: Operation) -> Sequence[Region]:
        """Lowers one op; returns the regions that are still to be visited."""
        try:
            replacement = self._lower(op)
        except VerifyException as error:
            self.left.append((op, str(error)))
            return []
        if replacement is None:
            if op.name.startswith("graph."):
                self.left.append((op, None))
            return list(op.regions)
        values, regions = replacement.values, replacement.regions
        for old, new in zip(op.results, values, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
        return regions

    def _lower(self, op: Operation) -> Lowered | None:
        if isinstance(op, LowersToTensorOps):
            return Lowered(op.lower_to_tensor_ops(OpBuilder.before(op)))
        for cls in type(op).__mro__:
            if (lowering := self.lowerings.get(cls)) is not None:
                found = lowering(op, OpBuilder.before(op))
                return found if isinstance(found, Lowered) else Lowered(found)
        return None

    def check(self, name: str) -> None:
        """
        Reports what was not lowered.

        Raises:
            LocatedPassError: listing the ops with their counts, at the first of them, with the reasons that are known.
        """
        if not self.left:
            return
        counts = Counter(op.name for op, _ in self.left)
        listed = ", ".join(f"{found} (x{count})" if count > 1 else found for found, count in counts.items())
        notes: list[Message] = [note(f"{op.name}: {reason}", op) for op, reason in self.left if reason is not None]
        for op, _ in self.left:
            if isinstance(op, GraphOp) and type(op).decompose is not GraphOp.decompose:
                notes.append(note(f"graph-decompose, before kernels are made, takes {op.name} apart", op))
                break
        raise LocatedPassError(f"{name}: not lowered: {listed}", self.left[0][0].location, tuple(notes))


@dataclass(frozen=True)
class ConvertGraphToTensorOpsPass(ModulePass):
    """Lowers graph ops to structured ops with index maps and scalar bodies."""

    name = "convert-graph-to-tensor-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        conversion = GraphToTensorOps(LOWERINGS)
        conversion.convert(op)
        conversion.check(self.name)
