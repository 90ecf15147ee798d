"""
Matrix products and convolutions of integers of 8 or 16 bits, summed up in 32: what quantised models are made of.

Each operand may have a zero point, the integer that stands for 0; it is taken off before anything is multiplied. In
which form a machine multiplies is not said here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.conv import ConvolutionOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, tensor_type
from aicc.dialects.graph.dtypes import bit_width
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    broadcast_checks,
    broadcast_dims,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.operands import dims_of_rank, expect_size

_SEGMENTS = AttrSizedOperandSegments.attribute_name

NARROW_BITS = 16
"""Integers of at most so many bits may be multiplied."""


def _check_operand(what: str, value: SSAValue, zero: SSAValue | None) -> None:
    """
    Checks an operand and its zero point, which broadcasts to it.

    Raises:
        VerifyException: if their types or shapes are not allowed.
    """
    element = element_type_of(value)
    check_element_type(what, element, ElementKind.INTEGER)
    if bit_width(element) > NARROW_BITS:
        raise VerifyException(f"{what} has element type {element}, expected an integer of at most {NARROW_BITS} bits")
    if zero is None:
        return
    if (found := element_type_of(zero)) != element:
        raise VerifyException(f"zero point of {what} has element type {found}, expected {element} like {what}")
    dims, own = dims_of(value.type), dims_of(zero.type)
    if len(own) > len(dims):
        raise VerifyException(f"zero point of {what} has rank {len(own)}, expected at most {len(dims)}")
    for size, whole in zip(own[::-1], dims[::-1], strict=False):
        if size != 1:
            expect_size(f"size of the zero point of {what}", size, whole, f"like {what}")


def _centred(array: np.ndarray[Any, Any], zero: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any]:
    """An operand less its zero point, in a float type that holds all sums of products of such exactly."""
    wide = array.astype(np.float64)
    return wide if zero is None else wide - zero.astype(np.float64)


def _wrapped(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Sums as i32, which wrap."""
    return array.astype(np.int64).astype(np.int32)


class IntegerProductOp(GraphOp):
    """Base: how the optional zero points are found among the operands, which come after the two factors."""

    @property
    def zero_points(self) -> tuple[SSAValue | None, SSAValue | None]:
        """Those of the two factors."""
        raise NotImplementedError

    def with_zero_points(self, zeros: Sequence[SSAValue | None]) -> Self:
        """The same of the factors with other zero points."""
        return self.build(
            operands=[*self.operands[:2], *([] if zero is None else [zero] for zero in zeros)],
            result_types=list(self.result_types),
            properties={name: value for name, value in self.properties.items() if name != _SEGMENTS},
        )

    def split(self, operands: Arrays, zeros: Sequence[SSAValue | None]) -> list[np.ndarray[Any, Any]]:
        """The first two operands without their zero points."""
        rest = iter(operands[2:])
        given = [None if zero is None else next(rest) for zero in zeros]
        return [_centred(array, zero) for array, zero in zip(operands, given, strict=False)]


@irdl_op_definition
class MatmulIntegerOp(IntegerProductOp):
    """
    `result[.., i, j] = sum((lhs[.., i, k] - lhs_zero) * (rhs[.., k, j] - rhs_zero), k)` in i32, which wraps.

    The axes before the last two broadcast as in numpy. A zero point is for the whole operand, or broadcasts to it: one
    per row `[M, 1]` of the left operand, per column `[N]` of the right one.

    - (C1) operands are integers of at most 16 bits, each of a type of its own, which its zero point has too
    - (C2) both have rank 2 or more
    - (C3) the size that is summed over is the same in both
    - (C4) the axes before the last two broadcast
    - (C5) a zero point broadcasts to its operand without changing its shape

    ```mlir
    %r = graph.matmul_integer %a, %b lhs_zero(%z) : tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8> -> tensor<2x4xi32>
    ```
    """

    name = "graph.matmul_integer"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTRACTION

    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    lhs_zero = opt_operand_def(AnyTensorTypeConstr)
    rhs_zero = opt_operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        lhs_zero: SSAValue | Operation | None = None,
        rhs_zero: SSAValue | Operation | None = None,
    ):
        self.build_self([lhs, rhs, lhs_zero, rhs_zero])

    def infer_types(self) -> Sequence[Attribute]:
        lhs = dims_of_rank("left operand", self.lhs, 2)  # C2
        rhs = dims_of_rank("right operand", self.rhs, 2)
        _check_operand("left operand", self.lhs, self.lhs_zero)  # C1, C5
        _check_operand("right operand", self.rhs, self.rhs_zero)
        expect_size("number of rows of the right operand", rhs[-2], lhs[-1], "like the columns of the left")  # C3
        batch = broadcast_dims([lhs[:-2], rhs[:-2]])  # C4
        return (tensor_type([*batch, lhs[-2], rhs[-1]], i32),)

    def runtime_checks(self) -> Sequence[Check]:
        lhs, rhs = dims_of(self.lhs.type), dims_of(self.rhs.type)
        checks = [*super().runtime_checks()]
        if lhs[-1] != rhs[-2]:
            checks.append(Check(lhs[-1], rhs[-2], f"{self.name}: {lhs[-1]} columns do not match {rhs[-2]} rows"))
        checks += broadcast_checks(self, [lhs[:-2], rhs[:-2]], dims_of(self.result.type)[:-2])
        for operand, zero in ((self.lhs, self.lhs_zero), (self.rhs, self.rhs_zero)):
            checks += [] if zero is None else broadcast_checks(self, [dims_of(zero.type)], dims_of(operand.type))
        return checks

    @property
    def zero_points(self) -> tuple[SSAValue | None, SSAValue | None]:
        return self.lhs_zero, self.rhs_zero

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        lhs, rhs = self.split(operands, self.zero_points)
        return (_wrapped(np.matmul(lhs, rhs)),)

    def flops(self) -> Dim:
        return 2 * dim_prod(dims_of(self.result.type)) * dims_of(self.lhs.type)[-1]


@irdl_op_definition
class ConvIntegerOp(ConvolutionOp, IntegerProductOp):
    """
    Convolution of `x - x_zero` with `weight - weight_zero` as `graph.conv` computes it, in i32, which wraps.

    What is outside the bounds of `x` counts as its zero point. A zero point is for the whole operand, or broadcasts to
    it: one per result channel `[M, 1, 1..]` of the weight.

    - (C1) operands are integers of at most 16 bits, each of a type of its own, which its zero point has too
    - (C2) a zero point broadcasts to its operand without changing its shape
    - (C3) shapes and properties are those of `graph.conv`

    ```mlir
    %r = graph.conv_integer %x, %w x_zero(%z) {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}
        : tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8> -> tensor<1x4x8x8xi32>
    ```
    """

    name = "graph.conv_integer"

    x = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    x_zero = opt_operand_def(AnyTensorTypeConstr)
    weight_zero = opt_operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        x: SSAValue | Operation,
        weight: SSAValue | Operation,
        x_zero: SSAValue | Operation | None = None,
        weight_zero: SSAValue | Operation | None = None,
        strides: Sequence[int] | None = None,
        pads: Sequence[Dim] | None = None,
        dilations: Sequence[int] | None = None,
        groups: int = 1,
    ):
        """Strides and dilations of 1 and no padding where not given."""
        self.build_convolution([x, weight, x_zero, weight_zero], strides, pads, dilations, groups)

    def infer_types(self) -> Sequence[Attribute]:
        dims = self.result_dims()  # C3
        _check_operand("input", self.x, self.x_zero)  # C1, C2
        _check_operand("weight", self.weight, self.weight_zero)
        return (tensor_type(dims, i32),)

    def runtime_checks(self) -> Sequence[Check]:
        checks = [*super().runtime_checks()]
        for operand, zero in ((self.x, self.x_zero), (self.weight, self.weight_zero)):
            checks += [] if zero is None else broadcast_checks(self, [dims_of(zero.type)], dims_of(operand.type))
        return checks

    @property
    def zero_points(self) -> tuple[SSAValue | None, SSAValue | None]:
        return self.x_zero, self.weight_zero

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, weight = self.split(operands, self.zero_points)
        return (_wrapped(self.convolve(x, weight, symbols)),)


OPS: list[type[GraphOp]] = [MatmulIntegerOp, ConvIntegerOp]
