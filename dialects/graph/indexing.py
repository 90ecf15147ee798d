"""
Gather and scatter: elements at places that are data.

In all of them a negative index counts from the end, and an index that is still out of bounds is moved to the nearest
one in bounds, so that no index reads or writes elsewhere. Indices are i32 or i64.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import int_attr
from aicc.dialects.graph.axes import check_axis, normalized_axis
from aicc.dialects.graph.dims import Dim, dims_of, provably_different, shape_text, tensor_of, tensor_type
from aicc.dialects.graph.dtypes import bit_width
from aicc.dialects.graph.elementwise import Array, widened
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    check_element_type,
    element_kind,
    element_type_of,
)

REDUCTIONS = ("none", "add", "mul", "min", "max")
"""What a scatter does with the element that is there: replaces it, or combines it with the update."""

_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def wrapped(indices: Array, size: int) -> Array:
    """Indices into an axis of this size, with negative ones counted from the end, moved into bounds."""
    indices = indices.astype(np.int64)
    return np.clip(np.where(indices < 0, indices + size, indices), 0, max(size - 1, 0))


def positions(shape: Sequence[int]) -> tuple[Array, ...]:
    """For each axis the position on it, as arrays that broadcast to `shape`."""
    return cast(tuple[Array, ...], np.indices(tuple(shape), sparse=True))


def check_indices(indices: SSAValue) -> None:
    """Raises VerifyException unless the elements are i32 or i64."""
    element = element_type_of(indices)
    if element_kind(element) is not ElementKind.SIGNED or bit_width(element) < 32:
        raise VerifyException(f"indices have element type {element}, expected i32 or i64")


def check_not_empty(dim: Dim, axis: int, indices: Sequence[Dim]) -> None:
    """Raises VerifyException if there are indices into an axis of size 0."""
    if dim == 0 and all(provably_different(size, 0) for size in indices):
        raise VerifyException(f"axis {axis} has size 0, expected an element for the indices to choose")


def equal_size_checks(op: Operation, what: str, a: Sequence[Dim], b: Sequence[Dim]) -> list[Check]:
    """Sizes that are assumed equal and not provably so."""
    return [
        Check(x, y, f"{op.name}: size {x} of axis {axis} of {what} is not {y}")
        for axis, (x, y) in enumerate(zip(a, b, strict=True))
        if x != y
    ]


class IndirectOp(GraphOp, ABC):
    """Base of the gathers and scatters."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.INDIRECT


class GatheringOp(IndirectOp, ABC):
    """Base of the gathers."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.GATHER


@irdl_op_definition
class GatherOp(GatheringOp):
    """
    `result[a.., i.., b..] = x[a.., indices[i..], b..]`, with `a` the axes of `x` before `axis` and `b` those after it.

    - (C1) `0 <= axis < rank(x)`
    - (C2) `indices` are i32 or i64
    - (C3) the axis is not of size 0, unless there are no indices

    ```mlir
    %r = graph.gather %x, %i {axis = 0} : tensor<30x8xf32>, tensor<2x5xi64> -> tensor<2x5x8xf32>
    ```
    """

    name = "graph.gather"

    x = operand_def(AnyTensorTypeConstr)
    indices = operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, indices: SSAValue | Operation, axis: int = 0):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(x).type)
        self.build_self([x, indices], {"axis": int_attr(axis)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        dims, indices, axis = dims_of(self.x.type), dims_of(self.indices.type), self.axis_value
        element_kind(element_type_of(self.x))
        check_axis(axis, len(dims))  # C1
        check_indices(self.indices)  # C2
        check_not_empty(dims[axis], axis, indices)  # C3
        return [tensor_type([*dims[:axis], *indices, *dims[axis + 1 :]], element_type_of(self.x))]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, indices = operands
        axis = self.axis_value
        if x.shape[axis] == 0 and indices.size:
            shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
            return [np.zeros(shape, x.dtype)]
        return [np.take(x, wrapped(indices, x.shape[axis]), axis)]


@irdl_op_definition
class GatherElementsOp(GatheringOp):
    """
    `result[i.., j, k..] = x[i.., indices[i.., j, k..], k..]` with `j` on `axis`.

    - (C1) `0 <= axis < rank(x)`
    - (C2) `indices` are i32 or i64, of the rank of `x`, and on other axes than `axis` no larger than it
    - (C3) the axis is not of size 0, unless there are no indices
    """

    name = "graph.gather_elements"

    x = operand_def(AnyTensorTypeConstr)
    indices = operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, indices: SSAValue | Operation, axis: int = 0):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(x).type)
        self.build_self([x, indices], {"axis": int_attr(axis)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        dims, indices, axis = dims_of(self.x.type), dims_of(self.indices.type), self.axis_value
        element_kind(element_type_of(self.x))
        check_axis(axis, len(dims))  # C1
        check_indices(self.indices)  # C2
        check_within(dims, indices, axis)
        check_not_empty(dims[axis], axis, indices)  # C3
        return [tensor_type(indices, element_type_of(self.x))]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, indices = operands
        axis = self.axis_value
        if not indices.size or x.shape[axis] == 0:
            return [np.zeros(indices.shape, x.dtype)]
        index = list(positions(indices.shape))
        index[axis] = wrapped(indices, x.shape[axis])
        return [x[tuple(index)]]


def check_within(dims: Sequence[Dim], indices: Sequence[Dim], axis: int) -> None:
    """Raises VerifyException if indices have another rank than the data, or reach past it on an axis but `axis`."""
    if len(indices) != len(dims):
        raise VerifyException(f"indices {shape_text(indices)} have another rank than the operand {shape_text(dims)}")
    for other, (size, dim) in enumerate(zip(indices, dims, strict=True)):
        if other != axis and isinstance(size, int) and isinstance(dim, int) and size > dim:
            raise VerifyException(f"indices have size {size} on axis {other}, expected at most {dim}")


@irdl_op_definition
class GatherNdOp(GatheringOp):
    """
    `result[b.., i.., k..] = x[b.., indices[b.., i.., 0], .., indices[b.., i.., n-1], k..]`, with `b` the first
    `batch_dims` axes and `n` the last size of `indices`.

    - (C1) `indices` are i32 or i64, of rank at least 1 + `batch_dims`
    - (C2) `n` is a constant, and `batch_dims + n <= rank(x)`
    - (C3) the sizes of the first `batch_dims` axes of both are equal
    """

    name = "graph.gather_nd"

    x = operand_def(AnyTensorTypeConstr)
    indices = operand_def(AnyTensorTypeConstr)
    batch_dims = prop_def(IntegerAttr, default_value=int_attr(0))
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, indices: SSAValue | Operation, batch_dims: int = 0):
        self.build_self([x, indices], {"batch_dims": int_attr(batch_dims)})

    @property
    def batch_rank(self) -> int:
        """`batch_dims` as a number."""
        return self.batch_dims.value.data

    def infer_types(self) -> Sequence[Attribute]:
        dims, indices, batch = dims_of(self.x.type), dims_of(self.indices.type), self.batch_rank
        element_kind(element_type_of(self.x))
        check_indices(self.indices)  # C1
        depth = check_nd(dims, indices, batch)  # C2, C3
        return [tensor_type([*indices[:-1], *dims[batch + depth :]], element_type_of(self.x))]

    def runtime_checks(self) -> Sequence[Check]:
        batch = self.batch_rank
        pairs = (dims_of(self.indices.type)[:batch], dims_of(self.x.type)[:batch])
        return [*equal_size_checks(self, "indices", *pairs), *super().runtime_checks()]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, indices = operands
        depth = indices.shape[-1]
        batch = self.batch_rank
        shape = (*indices.shape[:-1], *x.shape[batch + depth :])
        if 0 in shape or 0 in x.shape:
            return [np.zeros(shape, x.dtype)]
        if depth == 0:
            # Each index addresses all that follows the batch axes.
            aligned = x.reshape((*x.shape[:batch], *[1] * (indices.ndim - 1 - batch), *x.shape[batch:]))
            return [np.broadcast_to(aligned, shape)]
        return [np.asarray(x[nd_index(indices, x.shape, batch)])]


def check_nd(dims: Sequence[Dim], indices: Sequence[Dim], batch: int) -> int:
    """
    The number of axes that the last axis of `indices` addresses.

    Raises:
        VerifyException: if it is no constant, or does not fit.
    """
    if not indices:
        raise VerifyException("indices have rank 0, expected at least 1")
    if not 0 <= batch < len(indices):
        raise VerifyException(f"batch_dims is {batch}, expected 0 to {len(indices) - 1} for indices of this rank")
    depth = indices[-1]
    if not isinstance(depth, int):
        raise VerifyException(f"the last size of the indices is {depth}, expected a constant")
    if batch + depth > len(dims):
        raise VerifyException(f"indices address {batch + depth} axes, but the operand has rank {len(dims)}")
    for axis in range(batch):
        if provably_different(dims[axis], indices[axis]):
            raise VerifyException(f"batch axis {axis} has sizes {dims[axis]} and {indices[axis]}, expected equal ones")
    return depth


def nd_index(indices: Array, shape: Sequence[int], batch: int) -> tuple[Array, ...]:
    """numpy's index of the elements (or slices) that `indices` address in an array of this shape."""
    places = [wrapped(indices[..., i], shape[batch + i]) for i in range(indices.shape[-1])]
    return (*positions(indices.shape[:-1])[:batch], *places)


class ScatterOp(IndirectOp, ABC):
    """
    Base of the scatters: `x` with updates written, one after the other in row-major order of the indices.

    - (C1) `indices` are i32 or i64
    - (C2) `updates` has the element type of `x`
    - (C3) `reduction` is one of `none`, `add`, `mul`, `min`, `max`; all but `none` need numbers
    """

    x = operand_def(AnyTensorTypeConstr)
    indices = operand_def(AnyTensorTypeConstr)
    updates = operand_def(AnyTensorTypeConstr)
    reduction = prop_def(StringAttr, default_value=StringAttr("none"))
    result = result_def(AnyTensorTypeConstr)

    def check_scatter(self) -> None:
        """Raises VerifyException if C1, C2 or C3 does not hold."""
        check_indices(self.indices)  # C1
        element = element_type_of(self.x)
        element_kind(element)
        if (found := element_type_of(self.updates)) != element:  # C2
            raise VerifyException(f"updates have element type {found}, expected {element}")
        if self.reduction.data not in REDUCTIONS:  # C3
            raise VerifyException(f'reduction is "{self.reduction.data}", expected one of {", ".join(REDUCTIONS)}')
        if self.reduction.data != "none":
            check_element_type("input", element, ElementKind.NUMBER)

    def scatter(self, x: Array, index: tuple[Array, ...], updates: Array) -> Array:
        """`x` with `updates` written or combined at `index`, in order."""
        reduction = self.reduction.data
        with np.errstate(all="ignore"):
            if reduction == "none":
                result = x.copy()
                flat_index: Sequence[Array] = np.broadcast_arrays(*index) if index else []
                if flat_index and _has_duplicates(flat_index, x.shape):
                    _write_in_order(result, flat_index, updates)
                else:
                    result[index] = updates
                return result
            wide = widened(x).copy()
            combine: Any = _COMBINE[reduction]
            combine.at(wide, index, widened(updates))
            return wide.astype(x.dtype, copy=False)


def _has_duplicates(index: Sequence[Array], shape: Sequence[int]) -> bool:
    places = np.ravel_multi_index([i.reshape(-1) for i in index], tuple(shape[: len(index)]))
    return np.unique(places).size != places.size


def _write_in_order(result: Array, index: Sequence[Array], updates: Array) -> None:
    """Assignment through repeated indices; numpy does not say which of them is last."""
    count = index[0].size
    flat = [i.reshape(-1) for i in index]
    slices = updates.reshape((count, *updates.shape[index[0].ndim :]))
    for k in range(count):
        result[tuple(int(i[k]) for i in flat)] = slices[k]


@irdl_op_definition
class ScatterElementsOp(ScatterOp):
    """
    `x` with `x[i.., indices[i.., j, k..], k..] = updates[i.., j, k..]`, with `j` on `axis`, in row-major order.

    - (C1) to (C3) as for all scatters
    - (C4) `0 <= axis < rank(x)`; `indices` has the rank of `x` and on other axes is no larger
    - (C5) `updates` has the shape of `indices`
    """

    name = "graph.scatter_elements"

    axis = prop_def(IntegerAttr)

    def __init__(
        self,
        x: SSAValue | Operation,
        indices: SSAValue | Operation,
        updates: SSAValue | Operation,
        axis: int = 0,
        *,
        reduction: str = "none",
    ):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(x).type)
        self.build_self([x, indices, updates], {"axis": int_attr(axis), "reduction": StringAttr(reduction)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        self.check_scatter()
        dims, indices, axis = dims_of(self.x.type), dims_of(self.indices.type), self.axis_value
        check_axis(axis, len(dims))  # C4
        check_within(dims, indices, axis)
        check_not_empty(dims[axis], axis, indices)
        updates = dims_of(self.updates.type)
        if len(updates) != len(indices) or any(map(provably_different, updates, indices)):  # C5
            raise VerifyException(f"updates have shape {shape_text(updates)}, expected {shape_text(indices)}")
        return [self.x.type]

    def runtime_checks(self) -> Sequence[Check]:
        pair = (dims_of(self.updates.type), dims_of(self.indices.type))
        return [*equal_size_checks(self, "updates", *pair), *super().runtime_checks()]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, indices, updates = operands
        if not indices.size or 0 in x.shape:
            return [x]
        index = list(positions(indices.shape))
        index[self.axis_value] = wrapped(indices, x.shape[self.axis_value])
        return [self.scatter(x, tuple(index), updates)]


@irdl_op_definition
class ScatterNdOp(ScatterOp):
    """
    `x` with `x[indices[i.., 0], .., indices[i.., n-1], k..] = updates[i.., k..]`, in row-major order of `i`.

    - (C1) to (C3) as for all scatters
    - (C4) `indices` has rank at least 1; its last size `n` is a constant, at most `rank(x)`
    - (C5) `updates` has shape `shape(indices)[:-1] + shape(x)[n:]`
    """

    name = "graph.scatter_nd"

    def __init__(
        self,
        x: SSAValue | Operation,
        indices: SSAValue | Operation,
        updates: SSAValue | Operation,
        *,
        reduction: str = "none",
    ):
        self.build_self([x, indices, updates], {"reduction": StringAttr(reduction)})

    def _update_dims(self) -> list[Dim]:
        dims, indices = dims_of(self.x.type), dims_of(self.indices.type)
        return [*indices[:-1], *dims[check_nd(dims, indices, 0) :]]

    def infer_types(self) -> Sequence[Attribute]:
        self.check_scatter()
        expected = self._update_dims()  # C4
        updates = dims_of(self.updates.type)
        if len(updates) != len(expected) or any(map(provably_different, updates, expected)):  # C5
            raise VerifyException(f"updates have shape {shape_text(updates)}, expected {shape_text(expected)}")
        return [tensor_of(self.x.type)]

    def runtime_checks(self) -> Sequence[Check]:
        checks = equal_size_checks(self, "updates", dims_of(self.updates.type), self._update_dims())
        return [*checks, *super().runtime_checks()]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, indices, updates = operands
        if not updates.size or 0 in x.shape:
            return [x]
        if indices.shape[-1] == 0:
            # Each update is for the whole of x.
            whole = updates.reshape((-1, *x.shape))
            place = np.zeros(len(whole), np.int64)
            return [self.scatter(x[None], (place,), whole)[0]]
        return [self.scatter(x, nd_index(indices, x.shape, 0), updates)]


OPS: list[type[GraphOp]] = [GatherElementsOp, GatherNdOp, GatherOp, ScatterElementsOp, ScatterNdOp]
