"""Pooling over sliding windows and over all of space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, DenseArrayBase, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from aicc.dialects.graph.assembly import array_values, flag, int_array
from aicc.dialects.graph.axis_roles import AxisRole, HasAxisRoles, image_roles
from aicc.dialects.graph.dims import Dim, ShapeAttr, dim_prod, dims_of, evaluate_dims, rank_of, tensor_type
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    OpBuilder,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.operands import dims_of_rank
from aicc.dialects.graph.reductions import ReduceMaxOp, ReduceMeanOp, ReductionOp
from aicc.dialects.graph.wide import accumulator_dtype
from aicc.dialects.graph.windows import WindowAxis, window_axes, windows_of


class PoolOp(GraphOp, HasAxisRoles):
    """
    Base of the ops that reduce each window of `x: [N, C, space..]`; windows are those of `windows.py`.

    - (C1) the element type is of `ELEMENTS`
    - (C2) `rank(x) >= 3`
    - (C3) `kernel`, `strides` and `dilations` have one entry per axis of space, at least 1; `pads` two, at least 0:
      first those before each axis, then those after
    - (C4) the number of windows along each axis is at least 0
    """

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.WINDOW
    ELEMENTS: ClassVar[ElementKind]

    x = operand_def(AnyTensorTypeConstr)
    kernel = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    pads = prop_def(ShapeAttr)
    dilations = prop_def(DenseArrayBase)
    ceil_mode = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        kernel: Sequence[int],
        strides: Sequence[int] | None = None,
        pads: Sequence[Dim] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
        **flags: bool,
    ):
        """Strides and dilations of 1 and no padding where not given; `flags` are properties of one kind of pool."""
        space = len(kernel)
        self.build_self(
            [x],
            {
                "kernel": int_array(kernel),
                "strides": int_array([1] * space if strides is None else strides),
                "pads": ShapeAttr([0] * (2 * space) if pads is None else pads),
                "dilations": int_array([1] * space if dilations is None else dilations),
                "ceil_mode": flag(ceil_mode),
                **{name: flag(value) for name, value in flags.items()},
            },
        )

    def window_axes(self) -> tuple[WindowAxis, ...]:
        """The windows along the axes of space."""
        return self._axes(dims_of(self.x.type)[2:], self.pads.data)

    def _axes(self, sizes: Sequence[Dim], pads: Sequence[Dim]) -> tuple[WindowAxis, ...]:
        ceil_mode = self.ceil_mode is not None
        return window_axes(
            sizes, array_values(self.kernel), array_values(self.strides), pads, array_values(self.dilations), ceil_mode
        )

    def infer_types(self) -> Sequence[Attribute]:
        element = element_type_of(self.x)
        check_element_type("input", element, self.ELEMENTS)  # C1
        x = dims_of_rank("input", self.x, 3)  # C2
        counts = [axis.count() for axis in self.window_axes()]  # C3, C4
        return (tensor_type([*x[:2], *counts], element),)

    def runtime_checks(self) -> Sequence[Check]:
        fits = (axis.check(i + 2) for i, axis in enumerate(self.window_axes()))
        return [*super().runtime_checks(), *filter(None, fits)]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        axes = self._axes(operands[0].shape[2:], evaluate_dims(self.pads.data, symbols))
        return (self.pool(operands[0], axes),)

    @abstractmethod
    def pool(self, x: np.ndarray, axes: Sequence[WindowAxis]) -> np.ndarray:
        """The result for `x`, with windows of known size."""

    def axis_roles(self) -> Sequence[AxisRole]:
        return image_roles(rank_of(self.x.type))

    def flops(self) -> Dim:
        return dim_prod(dims_of(self.result.type)) * dim_prod(array_values(self.kernel))


@irdl_op_definition
class MaxPoolOp(PoolOp):
    """
    The largest element of each window; padding does not take part.

    `result[n, c, o..] = max(x[n, c, o*stride + k*dilation - pad..])` over the taps inside `x`. NaN if one of them is;
    the lowest value of the type (`-inf` for floats) for a window without any.

    ```mlir
    %r = graph.max_pool %x {kernel = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]}
        : tensor<1x3x8x8xf32> -> tensor<1x3x4x4xf32>
    ```
    """

    name = "graph.max_pool"
    ELEMENTS: ClassVar[ElementKind] = ElementKind.NUMBER

    def pool(self, x: np.ndarray, axes: Sequence[WindowAxis]) -> np.ndarray:
        wide = x.astype(accumulator_dtype(x.dtype), copy=False)
        lowest = -np.inf if wide.dtype.kind == "f" else int(np.iinfo(wide.dtype).min)
        taps = windows_of(wide, axes, lowest)
        return taps.max(axis=tuple(range(x.ndim, taps.ndim)), initial=lowest).astype(x.dtype, copy=False)

    def selects_elements(self) -> bool:
        return all(axis.reaches_elements() for axis in self.window_axes())


@irdl_op_definition
class AvgPoolOp(PoolOp):
    """
    The mean of each window.

    `result[n, c, o..] = sum(x[n, c, o*stride + k*dilation - pad..]) / count(o..)` over the taps inside `x`. The count
    is the number of these taps, or with `count_include_pad` of those inside the padded input; taps beyond the padding,
    which `ceil_mode` makes possible, never count. f16 and bf16 are summed up in f32.

    ```mlir
    %r = graph.avg_pool %x {kernel = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]}
        : tensor<1x3x8x8xf32> -> tensor<1x3x4x4xf32>
    ```
    """

    name = "graph.avg_pool"
    ELEMENTS: ClassVar[ElementKind] = ElementKind.FLOAT

    count_include_pad = opt_prop_def(UnitAttr)

    def __init__(
        self,
        x: SSAValue | Operation,
        kernel: Sequence[int],
        strides: Sequence[int] | None = None,
        pads: Sequence[Dim] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ):
        super().__init__(x, kernel, strides, pads, dilations, ceil_mode, count_include_pad=count_include_pad)

    def pool(self, x: np.ndarray, axes: Sequence[WindowAxis]) -> np.ndarray:
        wide = accumulator_dtype(x.dtype)
        taps = windows_of(x.astype(wide, copy=False), axes, 0)
        inner = tuple(range(x.ndim, taps.ndim))
        if self.count_include_pad is None:
            counted = windows_of(np.ones((1, 1, *x.shape[2:]), wide), axes, 0)
        else:
            # Ones over the padded input, and windows over that without padding of its own.
            sizes: list[int] = []
            for size, axis in zip(x.shape[2:], axes, strict=True):
                assert isinstance(axis.low, int) and isinstance(axis.high, int)
                sizes.append(size + axis.low + axis.high)
            unpadded = [replace(axis, size=size, low=0, high=0) for size, axis in zip(sizes, axes, strict=True)]
            counted = windows_of(np.ones((1, 1, *sizes), wide), unpadded, 0)
            counted = counted[(slice(None), slice(None), *map(slice, taps.shape[2 : x.ndim]))]
        with np.errstate(invalid="ignore"):
            return (taps.sum(axis=inner) / counted.sum(axis=inner)).astype(x.dtype, copy=False)


@irdl_op_definition
class SumPoolOp(PoolOp):
    """
    The sum of each window: `result[n, c, o..] = sum(x[n, c, o*stride + k*dilation - pad..])` over the taps inside `x`.

    f16 and bf16 are summed up in f32.

    ```mlir
    %r = graph.sum_pool %x {kernel = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]}
        : tensor<1x3x8x8xf32> -> tensor<1x3x4x4xf32>
    ```
    """

    name = "graph.sum_pool"
    ELEMENTS: ClassVar[ElementKind] = ElementKind.FLOAT

    def pool(self, x: np.ndarray, axes: Sequence[WindowAxis]) -> np.ndarray:
        taps = windows_of(x.astype(accumulator_dtype(x.dtype), copy=False), axes, 0)
        with np.errstate(invalid="ignore", over="ignore"):
            return taps.sum(axis=tuple(range(x.ndim, taps.ndim))).astype(x.dtype, copy=False)


@irdl_op_definition
class ArgMaxPoolOp(PoolOp):
    """
    The place of the first largest element of each window, of the first NaN if there is one; padding does not take part.

    A place counts all elements of `x` before it in row-major order; with `column_major` the axes of space are taken in
    reverse. 0 for a window without elements.

    ```mlir
    %r = graph.arg_max_pool %x {kernel = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]}
        : tensor<1x3x8x8xf32> -> tensor<1x3x4x4xi64>
    ```
    """

    name = "graph.arg_max_pool"
    ELEMENTS: ClassVar[ElementKind] = ElementKind.NUMBER

    column_major = opt_prop_def(UnitAttr)

    def __init__(
        self,
        x: SSAValue | Operation,
        kernel: Sequence[int],
        strides: Sequence[int] | None = None,
        pads: Sequence[Dim] | None = None,
        dilations: Sequence[int] | None = None,
        ceil_mode: bool = False,
        column_major: bool = False,
    ):
        super().__init__(x, kernel, strides, pads, dilations, ceil_mode, column_major=column_major)

    def infer_types(self) -> Sequence[Attribute]:
        (pooled,) = super().infer_types()
        return (tensor_type(dims_of(pooled), i64),)

    def pool(self, x: np.ndarray, axes: Sequence[WindowAxis]) -> np.ndarray:
        wide = x.astype(accumulator_dtype(x.dtype), copy=False)
        lowest = -np.inf if wide.dtype.kind == "f" else int(np.iinfo(wide.dtype).min)
        space = x.shape[2:]
        numbers = np.arange(np.prod(space), dtype=np.int64)
        order = numbers.reshape(space[::-1]).T if self.column_major is not None else numbers.reshape(space)
        places = windows_of(order[None, None], axes, -1)
        taps = windows_of(wide, axes, lowest)
        if taps.size == 0:
            return np.zeros(taps.shape[: x.ndim], np.int64)
        places, taps = (a.reshape(*a.shape[: x.ndim], -1) for a in (places, taps))
        inside = np.broadcast_to(places >= 0, taps.shape)
        # Elements that equal the padding come before it.
        best = np.argmax(taps, -1, keepdims=True)
        first = np.argmax(inside & ((taps == np.take_along_axis(taps, best, -1)) | np.isnan(taps)), -1, keepdims=True)
        chosen: np.ndarray = np.asarray(np.where(np.isnan(np.take_along_axis(taps, best, -1)), best, first), np.int64)
        found = np.take_along_axis(np.broadcast_to(places, taps.shape), chosen, -1)[..., 0]
        planes = np.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(*x.shape[:2], *[1] * len(space))
        return np.where(inside.any(-1), found + planes * np.int64(np.prod(space)), 0)


class GlobalPoolOp(GraphOp, HasAxisRoles):
    """Base of the ops that reduce all of space in `x: [N, C, space..]` to `[N, C, 1..]`; decomposes to a reduction."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.REDUCTION

    x = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation):
        self.build_self([x])

    def infer_types(self) -> Sequence[Attribute]:
        element = element_type_of(self.x)
        check_element_type("input", element, ElementKind.FLOAT)  # C1
        x = dims_of_rank("input", self.x, 2)  # C2
        return (tensor_type([*x[:2], *[1] * (len(x) - 2)], element),)

    @abstractmethod
    def reduction(self) -> ReductionOp:
        """The reduction that the op stands for, not inserted anywhere."""

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        return (b.add(self.reduction()),)

    @property
    def space(self) -> range:
        """The axes of space."""
        return range(2, rank_of(self.x.type))

    def axis_roles(self) -> Sequence[AxisRole]:
        return image_roles(rank_of(self.x.type))

    def flops(self) -> Dim:
        return dim_prod(dims_of(self.x.type))


@irdl_op_definition
class GlobalAvgPoolOp(GlobalPoolOp):
    """
    The mean over space: `result[n, c, 0..] = mean(x[n, c, ..])`; NaN if space is empty.

    - (C1) the element type is a float
    - (C2) `rank(x) >= 2`

    ```mlir
    %r = graph.global_avg_pool %x : tensor<1x3x8x8xf32> -> tensor<1x3x1x1xf32>
    ```
    """

    name = "graph.global_avg_pool"

    def reduction(self) -> ReductionOp:
        return ReduceMeanOp(self.x, self.space, keepdims=True)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x = operands[0]
        wide = x.astype(accumulator_dtype(x.dtype), copy=False)
        with np.errstate(invalid="ignore", divide="ignore"):
            total = wide.sum(axis=tuple(self.space), keepdims=True)
            return ((total / np.array(np.prod(x.shape[2:]), wide.dtype)).astype(x.dtype, copy=False),)


@irdl_op_definition
class GlobalMaxPoolOp(GlobalPoolOp):
    """
    The largest element over space: `result[n, c, 0..] = max(x[n, c, ..])`; NaN if one is, `-inf` if space is empty.

    - (C1) the element type is a float
    - (C2) `rank(x) >= 2`

    ```mlir
    %r = graph.global_max_pool %x : tensor<1x3x8x8xf32> -> tensor<1x3x1x1xf32>
    ```
    """

    name = "graph.global_max_pool"

    def reduction(self) -> ReductionOp:
        return ReduceMaxOp(self.x, self.space, keepdims=True)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x = operands[0]
        wide = x.astype(accumulator_dtype(x.dtype), copy=False)
        return (wide.max(axis=tuple(self.space), keepdims=True, initial=-np.inf).astype(x.dtype, copy=False),)


OPS: list[type[GraphOp]] = [MaxPoolOp, AvgPoolOp, SumPoolOp, ArgMaxPoolOp, GlobalAvgPoolOp, GlobalMaxPoolOp]
