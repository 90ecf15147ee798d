"""Ops that move elements without computing: each result element is one operand element at another index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, DenseArrayBase, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import array_values, int_array, int_attr
from aicc.dialects.graph.axes import check_axis, normalized_axis
from aicc.dialects.graph.dims import (
    Dim,
    ShapeAttr,
    ceildiv,
    dim_max,
    dim_min,
    dim_prod,
    dim_sum,
    dims_of,
    evaluate_dims,
    lower_bound,
    provably_different,
    provably_equal,
    shape_text,
    tensor_of,
    tensor_type,
    upper_bound,
)
from aicc.dialects.graph.interfaces import Arrays, Check, FusionKind, GraphOp, OpBuilder, element_kind, element_type_of


class MovementOp(GraphOp):
    """Base of the ops that are pure index maps."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.MOVEMENT

    def flops(self) -> Dim:
        return 0


@irdl_op_definition
class ReshapeOp(MovementOp):
    """
    The elements of `x` in the same row-major order, in another shape.

    - (C1) both shapes have the same number of elements; where that is not provable it is checked at run time

    ```mlir
    %r = graph.reshape %x {shape = [N, 12]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x12xf32, #graph.dims<N>>
    ```
    """

    name = "graph.reshape"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.VIEW

    x = operand_def(AnyTensorTypeConstr)
    shape = prop_def(ShapeAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, shape: Sequence[Dim]):
        self.build_self([x], {"shape": ShapeAttr(shape)})

    def infer_types(self) -> Sequence[Attribute]:
        dims, shape = dims_of(self.x.type), self.shape.data
        before, after = dim_prod(dims), dim_prod(shape)
        if provably_different(before, after):  # C1
            raise VerifyException(
                f"shape {shape_text(shape)} has {after} elements, but the operand {shape_text(dims)} has {before}"
            )
        return [tensor_type(shape, element_type_of(self.x))]

    def runtime_checks(self) -> Sequence[Check]:
        dims, shape = dims_of(self.x.type), self.shape.data
        before, after = dim_prod(dims), dim_prod(shape)
        if provably_equal(before, after):
            return super().runtime_checks()
        text = f"{self.name}: {shape_text(dims)} and {shape_text(shape)} differ in the number of elements"
        return [Check(before, after, text), *super().runtime_checks()]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        return [operands[0].reshape(evaluate_dims(self.shape.data, symbols))]

    def selects_elements(self) -> bool:
        return True


@irdl_op_definition
class TransposeOp(MovementOp):
    """
    `result[i_p(0), i_p(1), ..] = x[i_0, i_1, ..]` with `p` the `permutation`: axis `k` of the result is axis `p(k)`.

    - (C1) `permutation` holds each of `0 .. rank(x) - 1` once
    """

    name = "graph.transpose"

    x = operand_def(AnyTensorTypeConstr)
    permutation = prop_def(DenseArrayBase)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, permutation: Sequence[int]):
        self.build_self([x], {"permutation": int_array(permutation)})

    @property
    def axis_order(self) -> tuple[int, ...]:
        """`permutation` as numbers."""
        return array_values(self.permutation)

    def infer_types(self) -> Sequence[Attribute]:
        dims, order = dims_of(self.x.type), self.axis_order
        if sorted(order) != list(range(len(dims))):  # C1
            raise VerifyException(f"permutation is {list(order)}, expected each axis of rank {len(dims)} once")
        return [tensor_type([dims[axis] for axis in order], element_type_of(self.x))]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        return [operands[0].transpose(self.axis_order)]

    def selects_elements(self) -> bool:
        return True


@irdl_op_definition
class ExpandOp(MovementOp):
    """
    `result[.., i, j, ..] = x[.., i or 0, j or 0, ..]`: repeats axes of size 1, and the whole along new leading axes.

    - (C1) `shape` has at least the rank of `x`
    - (C2) aligned at the last axis, each size of `x` is 1 or that of `shape`
    """

    name = "graph.expand"

    x = operand_def(AnyTensorTypeConstr)
    shape = prop_def(ShapeAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, shape: Sequence[Dim]):
        self.build_self([x], {"shape": ShapeAttr(shape)})

    def infer_types(self) -> Sequence[Attribute]:
        dims, shape = dims_of(self.x.type), self.shape.data
        if len(shape) < len(dims):  # C1
            raise VerifyException(f"shape {shape_text(shape)} has lower rank than the operand {shape_text(dims)}")
        for dim, size in zip(reversed(dims), reversed(shape), strict=False):
            if provably_different(dim, 1) and provably_different(dim, size):  # C2
                raise VerifyException(f"operand of shape {shape_text(dims)} does not expand to {shape_text(shape)}")
        return [tensor_type(shape, element_type_of(self.x))]

    def runtime_checks(self) -> Sequence[Check]:
        pairs = zip(reversed(dims_of(self.x.type)), reversed(self.shape.data), strict=False)
        unproven = [(dim, size) for dim, size in pairs if dim != 1 and dim != size]
        checks = [Check(dim, size, f"{self.name}: size {dim} does not expand to {size}") for dim, size in unproven]
        return [*checks, *super().runtime_checks()]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        return [np.broadcast_to(operands[0], evaluate_dims(self.shape.data, symbols))]


MOST_PARTS = 64
"""Operands of a `graph.concat` that are joined in one sweep."""


@irdl_op_definition
class ConcatOp(MovementOp):
    """
    The operands one after the other along `axis`.

    - (C1) there is at least one operand
    - (C2) all have one element type and one rank
    - (C3) `0 <= axis < rank`
    - (C4) sizes of all other axes are equal

    ```mlir
    %r = graph.concat %a, %b {axis = 1} : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<2x7xf32>
    ```
    """

    name = "graph.concat"

    xs = var_operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, xs: Sequence[SSAValue | Operation], axis: int):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(xs[0]).type) if xs else axis
        self.build_self([list(xs)], {"axis": int_attr(axis)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        if not self.xs:  # C1
            raise VerifyException("concat has no operands, expected at least one")
        element, axis = element_type_of(self.xs[0]), self.axis_value
        element_kind(element)
        shapes = [dims_of(x.type) for x in self.xs]
        result = list(shapes[0])
        check_axis(axis, len(result))  # C3
        for x, dims in zip(self.xs, shapes, strict=True):
            if element_type_of(x) != element or len(dims) != len(result):  # C2
                raise VerifyException(
                    f"operands have types {self.xs[0].type} and {x.type}, expected equal ranks and element types"
                )
            for i, (a, b) in enumerate(zip(result, dims, strict=True)):
                if i != axis and provably_different(a, b):  # C4
                    raise VerifyException(f"sizes {a} and {b} of axis {i} differ, expected equal ones")
                if i != axis and isinstance(b, int):
                    result[i] = b
        result[axis] = dim_sum(dims[axis] for dims in shapes)
        return [tensor_type(result, element)]

    def runtime_checks(self) -> Sequence[Check]:
        result = dims_of(self.infer_types()[0])
        checks = [
            Check(dim, result[i], f"{self.name}: size {dim} of axis {i} is not {result[i]}")
            for x in self.xs
            for i, dim in enumerate(dims_of(x.type))
            if i != self.axis_value and dim != result[i]
        ]
        return [*checks, *super().runtime_checks()]

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue] | None:
        """Of very many parts, neighbours first, so that no kernel has a loop nest for each part."""
        if len(self.xs) <= MOST_PARTS:
            return None
        count = isqrt(len(self.xs) - 1) + 1
        groups = [self.xs[i : i + count] for i in range(0, len(self.xs), count)]
        axis = self.axis_value
        joined = [b.add(ConcatOp(group, axis)) if len(group) > 1 else group[0] for group in groups]
        return [b.add(ConcatOp(joined, axis))]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        return [np.concatenate(operands, self.axis_value)]


@irdl_op_definition
class SplitOp(MovementOp):
    """
    Consecutive parts of `x` along `axis`, one result for each of `sizes`.

    - (C1) `0 <= axis < rank(x)`
    - (C2) there is one result per size, at least one
    - (C3) the sizes add up to that of the axis; where that is not provable it is checked at run time

    ```mlir
    %a, %b = graph.split %x {axis = 0, sizes = [2, 3]} : tensor<5xf32> -> tensor<2xf32>, tensor<3xf32>
    ```
    """

    name = "graph.split"

    x = operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)
    sizes = prop_def(ShapeAttr)
    parts = var_result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, axis: int, sizes: Sequence[Dim]):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(x).type)
        self.build_self([x], {"axis": int_attr(axis), "sizes": ShapeAttr(sizes)}, variadic_results=len(sizes))

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        dims, axis, sizes = dims_of(self.x.type), self.axis_value, self.sizes.data
        check_axis(axis, len(dims))  # C1
        if len(sizes) != len(self.results) or not sizes:  # C2
            raise VerifyException(f"there are {len(self.results)} results for {len(sizes)} sizes, expected one each")
        if provably_different(total := dim_sum(sizes), dims[axis]):  # C3
            raise VerifyException(f"sizes {shape_text(sizes)} add up to {total}, expected {dims[axis]}")
        return [tensor_type([*dims[:axis], size, *dims[axis + 1 :]], element_type_of(self.x)) for size in sizes]

    def runtime_checks(self) -> Sequence[Check]:
        dim, total = dims_of(self.x.type)[self.axis_value], dim_sum(self.sizes.data)
        if provably_equal(dim, total):
            return super().runtime_checks()
        text = f"{self.name}: sizes {shape_text(self.sizes.data)} do not add up to {dim}"
        return [Check(dim, total, text), *super().runtime_checks()]

    def offsets(self) -> list[Dim]:
        """Where each part starts along `axis`."""
        starts: list[Dim] = [0]
        for size in self.sizes.data[:-1]:
            starts.append(starts[-1] + size)
        return starts

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        places = np.cumsum(evaluate_dims(self.sizes.data, symbols))[:-1]
        return np.split(operands[0], [int(place) for place in places], self.axis_value)


_FAR = 2**31 - 1
"""A bound of a slice from here on means 'to the end', as models write it."""


def slice_bounds(dim: Dim, start: Dim, end: Dim, step: int) -> tuple[Dim, Dim]:
    """
    `(first, count)` of the indices that Python's `start:end:step` selects on an axis of size `dim`.

    Negative bounds count from the end. A symbolic bound that may be of either sign is taken as not negative.

    Raises:
        VerifyException: if `step` is 0.
    """
    if step == 0:
        raise VerifyException("step is 0, expected another number")
    low, high = (0, dim) if step > 0 else (-1, dim - 1)
    first, last = _clamped(start, dim, low, high), _clamped(end, dim, low, high)
    distance = last - first if step > 0 else first - last
    count = dim_max(0, ceildiv(distance, abs(step)))
    # An empty slice may start anywhere; 0 keeps the index in bounds.
    return (0 if count == 0 else first), count


def _clamped(bound: Dim, dim: Dim, low: Dim, high: Dim) -> Dim:
    if isinstance(bound, int):
        if bound >= _FAR:
            return high
        if bound <= -_FAR:
            return low
    top = upper_bound(bound)
    if top is not None and (top < 0 or (top == 0 and bound != 0)):
        bound = bound + dim
    return dim_max(low, dim_min(bound, high))


@irdl_op_definition
class SliceOp(MovementOp):
    """
    `result[i, ..] = x[starts[0] + steps[0] * i, ..]` for `i` in `[0, sizes[0])`, and so on for all axes.

    - (C1) `starts`, `sizes` and `steps` have one entry per axis
    - (C2) no step is 0
    - (C3) all indices are in bounds, as far as bounds on the sizes can tell

    ```mlir
    %r = graph.slice %x {starts = [4, 0], sizes = [2, 3], steps = [-2, 1]} : tensor<5x3xf32> -> tensor<2x3xf32>
    ```
    """

    name = "graph.slice"

    x = operand_def(AnyTensorTypeConstr)
    starts = prop_def(ShapeAttr)
    sizes = prop_def(ShapeAttr)
    steps = prop_def(DenseArrayBase)
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self, x: SSAValue | Operation, starts: Sequence[Dim], sizes: Sequence[Dim], steps: Sequence[int] | None = None
    ):
        """`starts` and `sizes` for all axes; `from_bounds` takes Python's bounds. Steps are 1 by default."""
        steps = [1] * len(starts) if steps is None else steps
        self.build_self([x], {"starts": ShapeAttr(starts), "sizes": ShapeAttr(sizes), "steps": int_array(steps)})

    @staticmethod
    def from_bounds(
        x: SSAValue | Operation, starts: Sequence[Dim], ends: Sequence[Dim], steps: Sequence[int] | None = None
    ) -> SliceOp:
        """`x[starts[0]:ends[0]:steps[0], ..]` with the rules of Python, for all axes."""
        dims = dims_of(SSAValue.get(x).type)
        steps = [1] * len(dims) if steps is None else steps
        if not len(dims) == len(starts) == len(ends) == len(steps):
            raise VerifyException(f"slice has {len(starts)} starts, {len(ends)} ends, expected {len(dims)}")
        bounds = [slice_bounds(*bound) for bound in zip(dims, starts, ends, steps, strict=True)]
        return SliceOp(x, [first for first, _ in bounds], [count for _, count in bounds], steps)

    @property
    def step_list(self) -> tuple[int, ...]:
        """`steps` as numbers."""
        return array_values(self.steps)

    def infer_types(self) -> Sequence[Attribute]:
        dims, steps = dims_of(self.x.type), self.step_list
        starts, sizes = self.starts.data, self.sizes.data
        if not len(dims) == len(starts) == len(sizes) == len(steps):  # C1
            raise VerifyException(
                f"there are {len(starts)} starts, {len(sizes)} sizes, {len(steps)} steps, expected {len(dims)} of each"
            )
        for axis, (dim, start, size, step) in enumerate(zip(dims, starts, sizes, steps, strict=True)):
            if step == 0:  # C2
                raise VerifyException(f"step of axis {axis} is 0, expected another number")
            if size == 0:
                continue
            last = start + step * (size - 1)
            if isinstance(start, int) and start < 0:  # C3
                raise VerifyException(f"start of axis {axis} is {start}, expected at least 0")
            for index in (start, last):
                if isinstance(size, int) and (_provably_negative(index) or _provably_negative(dim - 1 - index)):
                    raise VerifyException(f"index {index} of axis {axis} is out of bounds, the size is {dim}")
        return [tensor_type(sizes, element_type_of(self.x))]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x = operands[0]
        starts, sizes = evaluate_dims(self.starts.data, symbols), evaluate_dims(self.sizes.data, symbols)
        index = [
            _python_slice(start, size, step) for start, size, step in zip(starts, sizes, self.step_list, strict=True)
        ]
        return [x[tuple(index)]]

    def selects_elements(self) -> bool:
        return True


def _provably_negative(dim: Dim) -> bool:
    top = upper_bound(dim)
    return top is not None and top < 0


def _python_slice(start: int, size: int, step: int) -> slice:
    if size == 0:
        return slice(0, 0)
    end = start + step * size
    return slice(start, None if end < 0 else end, step)


@irdl_op_definition
class PadOp(MovementOp):
    """
    `result[i] = x[i - low]` where that is inside `x`; outside it is `value` (0 by default) for mode `constant`, the
    nearest element for `edge`, and the element mirrored at the edge (which is not repeated) for `reflect`. A negative
    `low` or `high` cuts off instead.

    - (C1) `low` and `high` have one entry per axis
    - (C2) `mode` is one of the three; `value` goes with `constant` only, has rank 0 and the element type of `x`
    - (C3) for `reflect` padding is less than the size, for `edge` the size is not 0; where that is not provable it is
      checked at run time
    """

    name = "graph.pad"

    x = operand_def(AnyTensorTypeConstr)
    value = opt_operand_def(AnyTensorTypeConstr)
    low = prop_def(ShapeAttr)
    high = prop_def(ShapeAttr)
    mode = prop_def(StringAttr, default_value=StringAttr("constant"))
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        low: Sequence[Dim],
        high: Sequence[Dim],
        *,
        value: SSAValue | Operation | None = None,
        mode: str = "constant",
    ):
        self.build_self([x, value], {"low": ShapeAttr(low), "high": ShapeAttr(high), "mode": StringAttr(mode)})

    def infer_types(self) -> Sequence[Attribute]:
        dims, element = dims_of(self.x.type), element_type_of(self.x)
        low, high, mode = self.low.data, self.high.data, self.mode.data
        if not len(dims) == len(low) == len(high):  # C1
            raise VerifyException(f"there are {len(low)} low and {len(high)} high pads, expected {len(dims)} of each")
        if mode not in ("constant", "edge", "reflect"):  # C2
            raise VerifyException(f'mode is "{mode}", expected "constant", "edge" or "reflect"')
        if self.value is not None:
            if mode != "constant":
                raise VerifyException(f'mode "{mode}" takes no value')
            if tensor_of(self.value.type) != tensor_type([], element):
                raise VerifyException(f"value has type {self.value.type}, expected {tensor_type([], element)}")
        result: list[Dim] = []
        for axis, (dim, before, after) in enumerate(zip(dims, low, high, strict=True)):
            size = before + dim + after
            if _provably_negative(size):
                raise VerifyException(f"axis {axis} of size {dim} padded by {before} and {after} has size {size}")
            if mode == "edge" and dim == 0 and (lower_bound(size) or 0) > 0:  # C3
                raise VerifyException(f"axis {axis} has size 0, expected an element to repeat")
            if mode == "reflect" and any(_provably_negative(dim - 1 - pad) for pad in (before, after)):
                raise VerifyException(f"axis {axis} of size {dim} cannot be mirrored for {before} and {after} elements")
            result.append(size)
        return [tensor_type(result, element)]

    def runtime_checks(self) -> Sequence[Check]:
        checks, mode = [*super().runtime_checks()], self.mode.data
        if mode == "constant":
            return checks
        for axis, (dim, low, high) in enumerate(zip(dims_of(self.x.type), self.low.data, self.high.data, strict=True)):
            for pad in (low, high):
                least = pad + 1 if mode == "reflect" else dim_min(pad, 1)  # C3
                if (limit := dim_max(dim, least)) != dim and pad != 0:
                    what = f"mirrored for {pad} elements" if mode == "reflect" else "continued"
                    checks.append(Check(limit, dim, f"{self.name}: axis {axis} of size {dim} cannot be {what}"))
        return checks

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue] | None:
        """One axis after the other: what is repeated or mirrored, beside the tensor. Not where pads may cut off."""
        least = [lower_bound(pad) for pad in (*self.low.data, *self.high.data)]
        if self.mode.data == "constant" or any(pad is None or pad < 0 for pad in least):
            return None
        value = self.x
        for axis, (low, high) in enumerate(zip(self.low.data, self.high.data, strict=True)):
            last = dims_of(self.x.type)[axis] - 1
            parts = [value]
            # Of no element there is no margin, nor of one a mirrored one: (C3) says that the padding is 0 then.
            empty = last == (0 if self.mode.data == "reflect" else -1)
            if low != 0 and not empty:
                parts.insert(0, self._margin(b, value, axis, low, 0, low))
            if high != 0 and not empty:
                parts.append(self._margin(b, value, axis, high, last, last - 1))
            if len(parts) > 1:
                value = b.add(ConcatOp(parts, axis))
        return [value]

    def _margin(self, b: OpBuilder, x: SSAValue, axis: int, count: Dim, edge: Dim, mirrored: Dim) -> SSAValue:
        """`count` elements along `axis`: the one at `edge`, or those from `mirrored` on backwards."""
        starts, sizes, steps = [cast(Dim, 0)] * len(dims_of(x.type)), list(dims_of(x.type)), [1] * len(dims_of(x.type))
        if self.mode.data == "reflect":
            starts[axis], sizes[axis], steps[axis] = mirrored, count, -1
            return b.add(SliceOp(x, starts, sizes, steps))
        starts[axis], sizes[axis] = edge, 1
        one = b.add(SliceOp(x, starts, sizes, steps))
        sizes[axis] = count
        return b.add(ExpandOp(one, sizes))

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x = operands[0]
        low, high = evaluate_dims(self.low.data, symbols), evaluate_dims(self.high.data, symbols)
        widths = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
        if not widths:
            return [x]
        if self.mode.data == "constant":
            padded = np.pad(x, widths, constant_values=operands[1].item() if self.value is not None else 0)
        else:
            padded = np.pad(x, widths, cast(Any, self.mode.data))
        # Cutting comes last, as elements that are cut off may be mirrored before.
        kept = [slice(max(-a, 0), size - max(-b, 0)) for a, b, size in zip(low, high, padded.shape, strict=True)]
        return [padded[tuple(kept)]]


OPS: list[type[GraphOp]] = [ConcatOp, ExpandOp, PadOp, ReshapeOp, SliceOp, SplitOp, TransposeOp]
