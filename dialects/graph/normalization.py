"""
Normalisation: batch, layer, group, RMS and local response. All decompose to reductions and elementwise ops.

f16 and bf16 are computed in f32 throughout and rounded once. Variances are those of the population (divided by n).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp, PowOp, SubOp
from aicc.dialects.graph.assembly import float_attr, int_attr
from aicc.dialects.graph.axis_roles import AxisRole, HasAxisRoles, image_roles
from aicc.dialects.graph.constants import scalar_like
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, floordiv, rank_of
from aicc.dialects.graph.functions import RsqrtOp, SqrtOp
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    OpBuilder,
    broadcast_checks,
    element_type_of,
)
from aicc.dialects.graph.movement import ReshapeOp
from aicc.dialects.graph.operands import common_element_type, dims_of_rank, expect_size
from aicc.dialects.graph.pooling import AvgPoolOp
from aicc.dialects.graph.reductions import ReduceMeanOp
from aicc.dialects.graph.wide import accumulator_dtype, converted, widened


class NormOp(GraphOp):
    """Base of the ops that normalise `x` and keep its shape; `scale` and `bias` follow, where an op has them."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.REDUCTION

    x = operand_def(AnyTensorTypeConstr)
    epsilon = prop_def(FloatAttr)
    result = result_def(AnyTensorTypeConstr)

    @property
    def epsilon_value(self) -> float:
        """`epsilon` as a number."""
        return self.epsilon.value.data

    def infer_types(self) -> Sequence[Attribute]:
        names = [name for name, _ in type(self).get_irdl_definition().operands[1:]]
        common_element_type(  # C1
            ElementKind.FLOAT, ("input", self.x), {name: getattr(self, name) for name in names}
        )
        self.check_shapes()
        return (self.x.type,)

    @abstractmethod
    def check_shapes(self) -> None:
        """Raises VerifyException if the operands do not go together."""

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        return (converted(b, self.normalise(b, widened(b, self.x)), element_type_of(self.x)),)

    @abstractmethod
    def normalise(self, b: OpBuilder, x: SSAValue) -> SSAValue:
        """Builds the result from `x` in the type to compute in."""

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        wide = accumulator_dtype(operands[0].dtype)
        given = iter(operand.astype(wide, copy=False) for operand in operands)
        named = [
            next(given) if getattr(self, name) is not None else None
            for name, _ in type(self).get_irdl_definition().operands
        ]
        with np.errstate(all="ignore"):
            return (self.compute(*named).astype(operands[0].dtype, copy=False),)  # pyright: ignore[reportArgumentType]

    @abstractmethod
    def compute(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        """The result from the operands in the type to compute in; optional ones may be None."""

    def flops(self) -> Dim:
        return 8 * dim_prod(dims_of(self.x.type))


def _per_channel(b: OpBuilder, vector: SSAValue, rank: int) -> SSAValue:
    """`[C]` as `[C, 1..]`, which broadcasts along the axes of space of `[N, C, space..]`."""
    return b.add(ReshapeOp(vector, (*dims_of(vector.type), *[1] * (rank - 2)))) if rank > 2 else vector


def _channels(vector: np.ndarray, rank: int) -> np.ndarray:
    return vector.reshape(-1, *[1] * (rank - 2))


def _centred(b: OpBuilder, x: SSAValue, axes: Sequence[int], epsilon: float) -> SSAValue:
    """`(x - mean) / sqrt(variance + epsilon)` along `axes`."""
    centred = b.add(SubOp(x, b.add(ReduceMeanOp(x, axes, keepdims=True))))
    return b.add(MulOp(centred, _inverse_root(b, centred, axes, epsilon)))


def _inverse_root(b: OpBuilder, x: SSAValue, axes: Sequence[int], epsilon: float) -> SSAValue:
    """`1 / sqrt(mean(x^2) + epsilon)` along `axes`, which are kept."""
    variance = b.add(ReduceMeanOp(b.add(MulOp(x, x)), axes, keepdims=True))
    return b.add(RsqrtOp(b.add(AddOp(variance, scalar_like(b, epsilon, variance)))))


def _standardised(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=axes, keepdims=True) + x.dtype.type(epsilon))


@irdl_op_definition
class BatchNormOp(NormOp, HasAxisRoles):
    """
    Batch normalisation with given statistics (inference), per channel `c` of `x: [N, C, space..]`:

    `result[n, c, ..] = (x[n, c, ..] - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c]`

    Decomposes to one multiplication and one addition by values per channel that are computed apart, so that they are
    constants if the parameters are.

    - (C1) all operands have one element type, a float
    - (C2) `rank(x) >= 2`
    - (C3) the parameters have shape `[C]`

    ```mlir
    %r = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-05}
        : tensor<1x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32> -> tensor<1x3x8x8xf32>
    ```
    """

    name = "graph.batch_norm"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.ELEMENTWISE

    x = operand_def(AnyTensorTypeConstr)
    scale = operand_def(AnyTensorTypeConstr)
    bias = operand_def(AnyTensorTypeConstr)
    mean = operand_def(AnyTensorTypeConstr)
    variance = operand_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        scale: SSAValue | Operation,
        bias: SSAValue | Operation,
        mean: SSAValue | Operation,
        variance: SSAValue | Operation,
        epsilon: float = 1e-5,
    ):
        self.build_self([x, scale, bias, mean, variance], {"epsilon": float_attr(epsilon)})

    @property
    def _parameters(self) -> Mapping[str, SSAValue]:
        return {"scale": self.scale, "bias": self.bias, "mean": self.mean, "variance": self.variance}

    def check_shapes(self) -> None:
        channels = dims_of_rank("input", self.x, 2)[1]  # C2
        for name, value in self._parameters.items():  # C3
            (size,) = dims_of_rank(name, value, 1, 1)
            expect_size(f"{name}'s size", size, channels, "(channels of the input)")

    def runtime_checks(self) -> Sequence[Check]:
        channels = dims_of(self.x.type)[1]
        sizes = {name: dims_of(value.type)[0] for name, value in self._parameters.items()}
        return [*super().runtime_checks(), *_equal_checks(self, sizes, channels)]

    def normalise(self, b: OpBuilder, x: SSAValue) -> SSAValue:
        scale, bias, mean, variance = (widened(b, value) for value in self._parameters.values())
        shifted = b.add(AddOp(variance, scalar_like(b, self.epsilon_value, variance)))
        factor = b.add(MulOp(scale, b.add(RsqrtOp(shifted))))
        offset = b.add(SubOp(bias, b.add(MulOp(mean, factor))))
        rank = rank_of(x.type)
        product = b.add(MulOp(x, _per_channel(b, factor, rank)))
        return b.add(AddOp(product, _per_channel(b, offset, rank)))

    def compute(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        scale, bias, mean, variance = (_channels(parameter, x.ndim) for parameter in parameters)
        return (x - mean) / np.sqrt(variance + x.dtype.type(self.epsilon_value)) * scale + bias

    def axis_roles(self) -> Sequence[AxisRole]:
        return image_roles(rank_of(self.x.type))


def _equal_checks(op: Operation, sizes: Mapping[str, Dim], expected: Dim) -> list[Check]:
    return [
        Check(size, expected, f"{op.name}: {name} of size {size} for {expected} channels")
        for name, size in sizes.items()
        if size != expected
    ]


class TrailingNormOp(NormOp):
    """
    Base of the ops that normalise over the axes from `axis` on, jointly.

    - (C1) all operands have one element type, a float
    - (C2) `0 <= axis < rank(x)`
    - (C3) `scale` and `bias` broadcast to `x` without changing its shape
    """

    scale = opt_operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that are normalised over."""
        return tuple(range(self.axis.value.data, rank_of(self.x.type)))

    def trailing(self) -> dict[str, SSAValue]:
        """The operands that broadcast to `x`, by name, without those that are not given."""
        names = [name for name, _ in type(self).get_irdl_definition().operands[1:]]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def check_shapes(self) -> None:
        x = dims_of_rank("input", self.x, 1)
        if not 0 <= (axis := self.axis.value.data) < len(x):  # C2
            raise VerifyException(f"axis is {axis}, expected 0 to {len(x) - 1} for rank {len(x)}")
        for name, value in self.trailing().items():  # C3
            for size, whole in zip(dims_of_rank(name, value, 0, len(x))[::-1], x[::-1], strict=False):
                if size != 1:
                    expect_size(f"{name}'s size", size, whole, "like the input")

    def runtime_checks(self) -> Sequence[Check]:
        shapes = [dims_of(value.type) for value in self.trailing().values()]
        return [*super().runtime_checks(), *broadcast_checks(self, shapes, dims_of(self.x.type))]


@irdl_op_definition
class LayerNormOp(TrailingNormOp):
    """
    Layer normalisation over the axes from `axis` on:

    `result = (x - mean) / sqrt(variance + epsilon) * scale + bias`, with mean and variance of each slice.

    ```mlir
    %r = graph.layer_norm %x scale(%s) bias(%b) {axis = 1, epsilon = 1.0e-05}
        : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8xf32>
    ```
    """

    name = "graph.layer_norm"
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    # Declared again for the order of operands: xDSL takes those of a subclass first.
    x = operand_def(AnyTensorTypeConstr)
    scale = opt_operand_def(AnyTensorTypeConstr)
    bias = opt_operand_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        scale: SSAValue | Operation | None = None,
        bias: SSAValue | Operation | None = None,
        axis: int = -1,
        epsilon: float = 1e-5,
    ):
        """A negative `axis` counts from the end."""
        axis += rank_of(SSAValue.get(x).type) if axis < 0 else 0
        self.build_self([x, scale, bias], {"axis": int_attr(axis), "epsilon": float_attr(epsilon)})

    def normalise(self, b: OpBuilder, x: SSAValue) -> SSAValue:
        result = _centred(b, x, self.axes, self.epsilon_value)
        if self.scale is not None:
            result = b.add(MulOp(result, widened(b, self.scale)))
        return result if self.bias is None else b.add(AddOp(result, widened(b, self.bias)))

    def compute(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        scale, bias = parameters
        result = _standardised(x, self.axes, self.epsilon_value)
        result = result * scale if self.scale is not None else result
        return result + bias if self.bias is not None else result


@irdl_op_definition
class RmsNormOp(TrailingNormOp):
    """
    Normalisation by the root mean square over the axes from `axis` on:

    `result = x / sqrt(mean(x^2) + epsilon) * scale`.

    ```mlir
    %r = graph.rms_norm %x scale(%s) {axis = 1, epsilon = 1.0e-05} : tensor<2x8xf32>, tensor<8xf32> -> tensor<2x8xf32>
    ```
    """

    name = "graph.rms_norm"

    x = operand_def(AnyTensorTypeConstr)
    scale = opt_operand_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        scale: SSAValue | Operation | None = None,
        axis: int = -1,
        epsilon: float = 1e-5,
    ):
        """A negative `axis` counts from the end."""
        axis += rank_of(SSAValue.get(x).type) if axis < 0 else 0
        self.build_self([x, scale], {"axis": int_attr(axis), "epsilon": float_attr(epsilon)})

    def normalise(self, b: OpBuilder, x: SSAValue) -> SSAValue:
        result = b.add(MulOp(x, _inverse_root(b, x, self.axes, self.epsilon_value)))
        return result if self.scale is None else b.add(MulOp(result, widened(b, self.scale)))

    def compute(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        square = (x * x).mean(axis=self.axes, keepdims=True)
        result = x / np.sqrt(square + x.dtype.type(self.epsilon_value))
        return result * parameters[0] if self.scale is not None else result


@irdl_op_definition
class GroupNormOp(NormOp, HasAxisRoles):
    """
    Group normalisation of `x: [N, C, space..]`: each of `num_groups` equal groups of channels of each batch entry is
    normalised over its channels and space, then

    `result[n, c, ..] = normalised[n, c, ..] * scale[c] + bias[c]`.

    Without `num_groups` each channel is a group of its own: instance normalisation.

    - (C1) all operands have one element type, a float
    - (C2) `rank(x) >= 2`
    - (C3) `C` is a multiple of `num_groups`, which is at least 1 if it is given
    - (C4) `scale` and `bias` have shape `[C]`

    ```mlir
    %r = graph.group_norm %x scale(%s) bias(%b) {num_groups = 2, epsilon = 1.0e-05}
        : tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x8x4x4xf32>
    ```
    """

    name = "graph.group_norm"
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    x = operand_def(AnyTensorTypeConstr)
    scale = opt_operand_def(AnyTensorTypeConstr)
    bias = opt_operand_def(AnyTensorTypeConstr)
    num_groups = opt_prop_def(IntegerAttr)

    def __init__(
        self,
        x: SSAValue | Operation,
        scale: SSAValue | Operation | None = None,
        bias: SSAValue | Operation | None = None,
        num_groups: int | None = 1,
        epsilon: float = 1e-5,
    ):
        groups = {} if num_groups is None else {"num_groups": int_attr(num_groups)}
        self.build_self([x, scale, bias], {**groups, "epsilon": float_attr(epsilon)})

    @property
    def _parameters(self) -> Mapping[str, SSAValue]:
        both = {"scale": self.scale, "bias": self.bias}
        return {name: value for name, value in both.items() if value is not None}

    @property
    def group_count(self) -> Dim:
        """The number of groups."""
        return dims_of(self.x.type)[1] if self.num_groups is None else self.num_groups.value.data

    def check_shapes(self) -> None:
        channels = dims_of_rank("input", self.x, 2)[1]  # C2
        groups = None if self.num_groups is None else self.num_groups.value.data
        if groups is not None and (groups < 1 or (isinstance(channels, int) and channels % groups != 0)):  # C3
            raise VerifyException(f"num_groups is {groups}, expected a divisor of the {channels} channels")
        for name, value in self._parameters.items():  # C4
            (size,) = dims_of_rank(name, value, 1, 1)
            expect_size(f"{name}'s size", size, channels, "(channels of the input)")

    def runtime_checks(self) -> Sequence[Check]:
        channels = dims_of(self.x.type)[1]
        sizes = {name: dims_of(value.type)[0] for name, value in self._parameters.items()}
        rest, groups = channels % self.group_count, self.group_count
        text = f"{self.name}: {channels} channels in {groups} groups leave {rest} over"
        equal = [] if rest == 0 or channels == groups else [Check(rest, 0, text)]
        return [*super().runtime_checks(), *equal, *_equal_checks(self, sizes, channels)]

    def normalise(self, b: OpBuilder, x: SSAValue) -> SSAValue:
        dims, groups = dims_of(x.type), self.group_count
        if dims[1] == groups or not isinstance(groups, int):
            result = _centred(b, x, range(2, len(dims)), self.epsilon_value)
        else:
            grouped = b.add(ReshapeOp(x, (dims[0], groups, floordiv(dims[1], groups), *dims[2:])))
            result = _centred(b, grouped, range(2, len(dims) + 1), self.epsilon_value)
            result = b.add(ReshapeOp(result, dims))
        if self.scale is not None:
            result = b.add(MulOp(result, _per_channel(b, widened(b, self.scale), len(dims))))
        if self.bias is not None:
            result = b.add(AddOp(result, _per_channel(b, widened(b, self.bias), len(dims))))
        return result

    def compute(self, x: np.ndarray, *parameters: np.ndarray) -> np.ndarray:
        scale, bias = parameters
        groups = x.shape[1] if self.num_groups is None else self.num_groups.value.data
        grouped = x.reshape(x.shape[0], groups, x.shape[1] // max(groups, 1), *x.shape[2:])
        result = _standardised(grouped, tuple(range(2, x.ndim + 1)), self.epsilon_value).reshape(x.shape)
        result = result * _channels(scale, x.ndim) if self.scale is not None else result
        return result + _channels(bias, x.ndim) if self.bias is not None else result

    def axis_roles(self) -> Sequence[AxisRole]:
        return image_roles(rank_of(self.x.type))


@irdl_op_definition
class LrnOp(GraphOp, HasAxisRoles):
    """
    Local response normalisation across channels (Krizhevsky et al. 2012, section 3.3) of `x: [N, C, space..]`:

    `result[n, c, ..] = x[n, c, ..] / (bias + alpha / size * sum(x[n, i, ..]^2))^beta` over the channels
    `c - floor((size-1)/2) <= i <= c + ceil((size-1)/2)` there are.

    Decomposes to an average over windows of channels; its power to square roots where `beta` is a multiple of 1/4.

    - (C1) the element type is a float
    - (C2) `rank(x) >= 2`
    - (C3) `size >= 1`

    ```mlir
    %r = graph.lrn %x {size = 5, alpha = 1.0e-04, beta = 0.75, bias = 1.0} : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32>
    ```
    """

    name = "graph.lrn"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.WINDOW

    x = operand_def(AnyTensorTypeConstr)
    size = prop_def(IntegerAttr)
    alpha = prop_def(FloatAttr)
    beta = prop_def(FloatAttr)
    bias = prop_def(FloatAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0):
        self.build_self(
            [x],
            {
                "size": int_attr(size),
                "alpha": float_attr(alpha),
                "beta": float_attr(beta),
                "bias": float_attr(bias),
            },
        )

    def infer_types(self) -> Sequence[Attribute]:
        common_element_type(ElementKind.FLOAT, ("input", self.x), {})  # C1
        dims_of_rank("input", self.x, 2)  # C2
        if (size := self.size.value.data) < 1:  # C3
            raise VerifyException(f"size is {size}, expected at least 1")
        return (self.x.type,)

    def _reach(self, channels: Dim) -> tuple[int, int]:
        """How many channels before and after one are in its window; none that cannot be there."""
        low = (self.size.value.data - 1) // 2
        high = self.size.value.data - 1 - low
        return (min(low, channels), min(high, channels)) if isinstance(channels, int) else (low, high)

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        x = widened(b, self.x)
        dims = dims_of(x.type)
        # Channels as rows of an image with all of space as columns; from first to last, so that all is one kernel.
        flat = b.add(ReshapeOp(x, (dims[0], 1, dims[1], dim_prod(dims[2:]))))
        low, high = self._reach(dims[1])
        taps = low + 1 + high
        mean = b.add(AvgPoolOp(b.add(MulOp(flat, flat)), (taps, 1), pads=(low, 0, high, 0), count_include_pad=True))
        alpha = self.alpha.value.data * (taps / self.size.value.data)
        scaled = b.add(MulOp(mean, scalar_like(b, alpha, mean)))
        base = b.add(AddOp(scaled, scalar_like(b, self.bias.value.data, mean)))
        divisor = self._power(b, base)
        result = b.add(ReshapeOp(b.add(DivOp(flat, divisor)), dims))
        return (converted(b, result, element_type_of(self.x)),)

    def _power(self, b: OpBuilder, base: SSAValue) -> SSAValue:
        """`base ^ beta`: by square roots where they give it and `base` cannot be negative, in half of the time."""
        beta = self.beta.value.data
        if min(self.alpha.value.data, self.bias.value.data) < 0 or beta not in (0.25, 0.5, 0.75, 1.0):
            return b.add(PowOp(base, scalar_like(b, beta, base)))
        if beta == 1.0:
            return base
        root = b.add(SqrtOp(base))
        if beta == 0.5:
            return root
        second = b.add(SqrtOp(root))
        return second if beta == 0.25 else b.add(MulOp(root, second))

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x = operands[0].astype(accumulator_dtype(operands[0].dtype), copy=False)
        size, channels = self.size.value.data, x.shape[1]
        low, high = self._reach(channels)
        padded = np.pad(x * x, [(0, 0), (low, high), *[(0, 0)] * (x.ndim - 2)])
        total = np.zeros_like(x)
        for i in range(low + 1 + high):
            total += padded[:, i : i + channels]
        scaled = x.dtype.type(self.bias.value.data) + x.dtype.type(self.alpha.value.data / size) * total
        return ((x / scaled ** x.dtype.type(self.beta.value.data)).astype(operands[0].dtype, copy=False),)

    def axis_roles(self) -> Sequence[AxisRole]:
        return image_roles(rank_of(self.x.type))

    def flops(self) -> Dim:
        return (2 * self.size.value.data + 4) * dim_prod(dims_of(self.x.type))


OPS: list[type[GraphOp]] = [BatchNormOp, LayerNormOp, RmsNormOp, GroupNormOp, LrnOp]
