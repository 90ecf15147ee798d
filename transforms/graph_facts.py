"""What passes over graphs ask of an op before they look at anything else: its kind, its sizes, what it reduces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Operation

from aicc.dialects.graph.assembly import array_values
from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.interfaces import FusionKind, TypedOp


def kind_of(op: Operation) -> FusionKind:
    """The kind of an op; `OPAQUE` for those that say none."""
    return op.fusion_kind if isinstance(op, TypedOp) else FusionKind.OPAQUE


def result_dims(op: Operation) -> tuple[Dim, ...]:
    """The sizes of the first result."""
    return dims_of(op.results[0].type)


def int_list(op: Operation, name: str) -> tuple[int, ...] | None:
    """A property that is a list of integers; `None` if the op has none of that name."""
    value = op.properties.get(name)
    return array_values(cast(Attribute, value)) if isinstance(value, DenseArrayBase) else None


@dataclass(frozen=True)
class ReductionShape:
    """What a reduction runs over."""

    dims: tuple[Dim, ...]
    axes: tuple[int, ...]

    @property
    def reduced(self) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
        """The sizes of its result without and with the reduced axes."""
        kept = tuple(dim for axis, dim in enumerate(self.dims) if axis not in self.axes)
        ones = tuple(1 if axis in self.axes else dim for axis, dim in enumerate(self.dims))
        return kept, ones


def reduction_shape(op: Operation) -> ReductionShape | None:
    """What a `REDUCTION` op runs over, from its property `axes` or `axis`; None if it has neither."""
    dims = dims_of(op.operands[0].type)
    if (axes := int_list(op, "axes")) is not None:
        return ReductionShape(dims, axes)
    match op.properties.get("axis"):
        case IntegerAttr(value=value):
            return ReductionShape(dims, (value.data,))
        case _:
            return None
