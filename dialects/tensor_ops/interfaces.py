"""What ops outside of `tensor_ops` implement to take part in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.interfaces import OpBuilder


class LowersToTensorOps(Operation, ABC):
    """An op of the graph level that says itself what it is in `tensor_ops`."""

    @abstractmethod
    def lower_to_tensor_ops(self, b: OpBuilder) -> Sequence[SSAValue]:
        """
        Inserts the ops that replace this one with `b`, and returns the values for its results, in order.

        Raises:
            VerifyException: if this form of the op has no lowering; the message says why.
        """
