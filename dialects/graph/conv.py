"""
Convolution. It is not decomposed; `graph` knows no layouts, so the axes are always batch, channel, space.

`ConvolutionOp` is what convolutions of any element types share; that of quantised integers is in `integer_products`.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import array_values, int_array, int_attr
from aicc.dialects.graph.axis_roles import AxisRole, HasAxisRoles, image_roles
from aicc.dialects.graph.dims import (
    Dim,
    ShapeAttr,
    dim_prod,
    dims_of,
    evaluate_dims,
    floordiv,
    rank_of,
    tensor_type,
)
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
)
from aicc.dialects.graph.operands import common_element_type, dims_of_rank, expect_size
from aicc.dialects.graph.wide import accumulator_dtype
from aicc.dialects.graph.windows import WindowAxis, window_axes, windows_of


class ConvolutionOp(GraphOp, HasAxisRoles, ABC):
    """
    Base of convolutions of an input `[N, C, space..]`, their first operand, with a weight `[M, C / groups, kernel..]`,
    their second one.
    """

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTRACTION

    strides = prop_def(DenseArrayBase)
    pads = prop_def(ShapeAttr)
    dilations = prop_def(DenseArrayBase)
    groups = prop_def(IntegerAttr, default_value=int_attr(1))

    def build_convolution(
        self,
        operands: Sequence[SSAValue | Operation | None],
        strides: Sequence[int] | None,
        pads: Sequence[Dim] | None,
        dilations: Sequence[int] | None,
        groups: int,
    ) -> None:
        """For constructors: strides and dilations of 1 and no padding where not given."""
        first = operands[0]
        assert first is not None
        space = rank_of(SSAValue.get(first).type) - 2
        self.build_self(
            operands,
            {
                "strides": int_array([1] * space if strides is None else strides),
                "pads": ShapeAttr([0] * (2 * space) if pads is None else pads),
                "dilations": int_array([1] * space if dilations is None else dilations),
                "groups": int_attr(groups),
            },
        )

    @property
    def group_count(self) -> int:
        """`groups` as a number."""
        return self.groups.value.data

    def window_axes(self) -> tuple[WindowAxis, ...]:
        """The windows along the axes of space."""
        return window_axes(
            dims_of(self.operands[0].type)[2:],
            dims_of(self.operands[1].type)[2:],
            array_values(self.strides),
            self.pads.data,
            array_values(self.dilations),
        )

    def result_dims(self) -> list[Dim]:
        """
        The sizes of the result.

        Raises:
            VerifyException: if those of the operands do not go together.
        """
        x = dims_of_rank("input", self.operands[0], 3)
        weight = dims_of_rank("weight", self.operands[1], len(x), len(x))
        groups = self.group_count
        if groups < 1:
            raise VerifyException(f"groups is {groups}, expected at least 1")
        for what, size in (("input channels", x[1]), ("output channels", weight[0])):
            if isinstance(size, int) and size % groups:
                raise VerifyException(f"{what} are {size}, expected a multiple of groups {groups}")
        # Those of a group are the weight's where that knows them; a run-time check compares.
        for what, size, known in (("input channels", x[1], weight[1]), ("output channels", weight[0], weight[0])):
            if groups > 1 and not isinstance(size, int) and not isinstance(known, int):
                raise VerifyException(f"{what} are {size}, expected a known number for {groups} groups")
        expect_size("weight's second size", weight[1], floordiv(x[1], groups), "(input channels / groups)")
        return [x[0], weight[0], *(axis.count() for axis in self.window_axes())]

    def runtime_checks(self) -> Sequence[Check]:
        x, weight = dims_of(self.operands[0].type), dims_of(self.operands[1].type)
        checks = [*super().runtime_checks()]
        checks += filter(None, (axis.check(i + 2) for i, axis in enumerate(self.window_axes())))
        channels = weight[1] * self.group_count
        if channels != x[1]:
            checks.append(
                Check(x[1], channels, f"{self.name}: input channels {x[1]} do not match the weight's {channels}")
            )
        return checks

    def convolve(self, x: np.ndarray, weight: np.ndarray, symbols: Mapping[str, int]) -> np.ndarray:
        """The convolution of two arrays of one dtype, computed in that."""
        groups, rank = self.group_count, x.ndim - 2
        axes = window_axes(
            x.shape[2:],
            weight.shape[2:],
            array_values(self.strides),
            evaluate_dims(self.pads.data, symbols),
            array_values(self.dilations),
        )
        taps = windows_of(x, axes, 0)
        counts, kernel = taps.shape[2 : 2 + rank], taps.shape[2 + rank :]
        # As matrix products, one per group: [N*windows, C/G*taps] x [C/G*taps, M/G].
        batch, outputs, depth = x.shape[0], weight.shape[0] // groups, math.prod(weight.shape[1:])
        taps = np.moveaxis(taps.reshape(batch, groups, weight.shape[1], *counts, *kernel), 1, 0)
        rows = np.moveaxis(taps, 2, rank + 2).reshape(groups, batch * math.prod(counts), depth)
        columns = weight.reshape(groups, outputs, depth)
        product = np.matmul(rows, columns.transpose(0, 2, 1)).reshape(groups, batch, *counts, outputs)
        return np.moveaxis(product, (0, -1), (1, 2)).reshape(batch, weight.shape[0], *counts)

    def axis_roles(self) -> Sequence[AxisRole]:
        return image_roles(rank_of(self.operands[0].type))

    def flops(self) -> Dim:
        return 2 * dim_prod(dims_of(self.results[0].type)) * dim_prod(dims_of(self.operands[1].type)[1:])


@irdl_op_definition
class ConvOp(ConvolutionOp):
    """
    Convolution (cross-correlation, as the standards call it) of images `x: [N, C, space..]`:

    `result[n, m, o..] = bias[m] + sum(x[n, c + g*C/G, o*stride + k*dilation - pad..] * weight[m, c, k..])` over
    `0 <= c < C/G` and all taps `k`, where `G` is `groups`, `g = floor(m / (M/G))`, and `x` is 0 outside its bounds.

    Integers wrap; f16 and bf16 are summed up in f32 and rounded once. The number of windows is that of `windows.py`.

    - (C1) all operands have one element type, a number
    - (C2) `rank(x) == rank(weight) >= 3`, `rank(bias) == 1`
    - (C3) `C` and `M` are multiples of `groups`, which is at least 1
    - (C4) `dims(weight) == [M, C / groups, kernel..]`, `dims(bias) == [M]`
    - (C5) `strides` and `dilations` have one entry per axis of space, at least 1; `pads` two, at least 0: first those
      before each axis, then those after
    - (C6) the number of windows along each axis is at least 0

    ```mlir
    %r = graph.conv %x, %w bias(%b) {strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]}
        : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32> -> tensor<1x4x4x4xf32>
    ```
    """

    name = "graph.conv"

    x = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    bias = opt_operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        weight: SSAValue | Operation,
        bias: SSAValue | Operation | None = None,
        strides: Sequence[int] | None = None,
        pads: Sequence[Dim] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
    ):
        """Strides and dilations of 1 and no padding where not given."""
        self.build_convolution([x, weight, bias], strides, pads, dilations, groups)

    def infer_types(self) -> Sequence[Attribute]:
        element = common_element_type(  # C1
            ElementKind.NUMBER, ("input", self.x), {"weight": self.weight, "bias": self.bias}
        )
        dims = self.result_dims()  # C2 .. C6
        if self.bias is not None:
            (bias,) = dims_of_rank("bias", self.bias, 1, 1)
            expect_size("bias's size", bias, dims[1], "(output channels)")
        return (tensor_type(dims, element),)

    def runtime_checks(self) -> Sequence[Check]:
        checks = [*super().runtime_checks()]
        outputs = dims_of(self.weight.type)[0]
        if self.bias is not None and (size := dims_of(self.bias.type)[0]) != outputs:
            checks.append(Check(size, outputs, f"{self.name}: bias of {size} for {outputs} output channels"))
        return checks

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, weight = operands[:2]
        wide = accumulator_dtype(x.dtype)
        result = self.convolve(x.astype(wide, copy=False), weight.astype(wide, copy=False), symbols)
        if self.bias is not None:
            result = result + operands[2].astype(wide, copy=False).reshape(-1, *[1] * (x.ndim - 2))
        return (result.astype(x.dtype, copy=False),)


OPS: list[type[GraphOp]] = [ConvOp]
