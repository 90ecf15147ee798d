"""What the axes of an image-like tensor stand for, for passes that choose layouts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum, auto

from xdsl.ir import Operation


class AxisRole(Enum):
    """The meaning of one axis."""

    BATCH = auto()
    CHANNEL = auto()
    SPACE = auto()


class HasAxisRoles(Operation, ABC):
    """An op whose first operand and first result have axes of known roles, the same for both."""

    @abstractmethod
    def axis_roles(self) -> Sequence[AxisRole]:
        """One role per axis."""


class HasContractedAxis(Operation, ABC):
    """An op that sums products of its operands along one axis of each."""

    @abstractmethod
    def contracted_axis(self, number: int) -> int:
        """The axis of an operand that is summed over, negative ones counted from the end."""


def image_roles(rank: int) -> tuple[AxisRole, ...]:
    """`[batch, channel, space..]`."""
    return (AxisRole.BATCH, AxisRole.CHANNEL, *[AxisRole.SPACE] * (rank - 2))
