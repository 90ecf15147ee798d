"""
Transposed convolution as a convolution.

With `s` the stride, `result[m, o..] = sum(x[c, i..] * w[c, m, k..])` over `o = i*s + k*dilation - pad`.

Without dilation the results of one phase `r = (o + pad) mod s` use the taps `k = t*s + r` alone: they are a convolution
of `x` with `ceil(kernel / s)` taps, `result[m, q*s + r - pad] = sum(x[c, q - t] * w[c, m, t*s + r])`. All phases are
channels of one convolution, which are then moved to space.

With dilation, `u[j] = x[j / s]` where `s` divides `j` and 0 elsewhere is convolved: padded by
`(kernel-1)*dilation - pad`, with the filters mirrored and their channels exchanged.

The zeros beside the input and behind the taps take part in the sums: NaN where they meet an infinity or NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import Dim, dims_of, floordiv, shape_text
from aicc.dialects.graph.movement import ExpandOp, PadOp, ReshapeOp, SliceOp, TransposeOp
from aicc.frontends.onnx.context import Handler, NodeContext


@dataclass(frozen=True)
class _Axis:
    """One axis of space: its size and what the node says of it."""

    size: Dim
    kernel: int
    stride: int
    dilation: int
    extra: int
    low: Dim
    high: Dim

    @property
    def span(self) -> int:
        """How far the last tap is from the first."""
        return (self.kernel - 1) * self.dilation

    @property
    def result(self) -> Dim:
        """The size of the result."""
        return _whole(self.size, self.stride, self.extra, self.span) - self.low - self.high

    @property
    def taps(self) -> int:
        """The most taps of one phase."""
        return -(-self.kernel // self.stride)


def _whole(size: Dim, stride: int, extra: int, span: int) -> Dim:
    """The size of a result without padding."""
    return stride * (size - 1) + extra + span + 1


def _conv_transpose(ctx: NodeContext) -> SSAValue:
    sizes, weight = ctx.dims(0)[2:], ctx.dims(1)
    rank, groups = len(sizes), ctx.attr_int("group", 1)
    kernel = [size for size in weight[2:] if isinstance(size, int)]
    if rank < 1 or len(weight) != rank + 2 or not all(isinstance(size, int) for size in weight):
        ctx.fail(f"input {shape_text(ctx.dims(0))} and weight {shape_text(weight)} do not go together")
    strides = ctx.attr_ints("strides", (1,) * rank)
    dilations = ctx.attr_ints("dilations", (1,) * rank)
    extra = ctx.attr_ints("output_padding", (0,) * rank)
    if not len(strides) == len(dilations) == len(extra) == rank or min(*strides, *dilations) < 1 or groups < 1:
        ctx.fail(f"strides, dilations, output_padding or group do not fit {rank} axes of space")
    spans = [(taps - 1) * dilation for taps, dilation in zip(kernel, dilations, strict=True)]
    whole = [_whole(*axis) for axis in zip(sizes, strides, extra, spans, strict=True)]
    low, high = _pads(ctx, whole, [size * stride for size, stride in zip(sizes, strides, strict=True)])
    axes = [_Axis(*axis) for axis in zip(sizes, kernel, strides, dilations, extra, low, high, strict=True)]
    if isinstance(weight[0], int) and weight[0] % groups:
        ctx.fail(f"{weight[0]} input channels are no multiple of group {groups}")
    if any(axis.stride > 1 for axis in axes) and all(_has_phases(axis) for axis in axes):
        return _by_phases(ctx, axes, groups)
    return _by_zeros(ctx, axes, groups)


def _has_phases(axis: _Axis) -> bool:
    """Whether the axis can be computed phase by phase."""
    known = isinstance(axis.low, int) and isinstance(axis.high, int) and axis.low >= 0
    return axis.stride == 1 or (known and axis.dilation == 1)


def _by_phases(ctx: NodeContext, axes: Sequence[_Axis], groups: int) -> SSAValue:
    """`[N, C, H, W]` to `[N, phases*M, Q, P]` by a convolution, and that to `[N, M, Q*s, P*s]`, of which parts stay."""
    low: list[Dim] = [0, 0]
    high: list[Dim] = [0, 0]
    for axis in axes:
        if axis.stride == 1:
            low.append(axis.span - axis.low)
            high.append(axis.span - axis.high + axis.extra)
        else:
            # Result `o` comes from `q = (o + pad) // stride`: the first and the last of these.
            low.append(axis.taps - 1 - floordiv(axis.low, axis.stride))
            high.append(floordiv(axis.kernel + axis.extra - axis.high - 1, axis.stride))
    x = ctx.emit(PadOp(ctx.ssa(0), low, high))
    phases = [axis.stride for axis in axes if axis.stride > 1]
    bias = ctx.optional(2)
    if bias is not None:
        per_group = floordiv(dims_of(bias.type)[0], groups)
        apart = ctx.emit(ReshapeOp(bias, (groups, 1, per_group)))
        repeated = ctx.emit(ExpandOp(apart, (groups, prod(phases), per_group)))
        bias = ctx.emit(ReshapeOp(repeated, (groups * prod(phases) * per_group,)))
    dilations = [axis.dilation if axis.stride == 1 else 1 for axis in axes]
    result = ctx.emit(ConvOp(x, _phase_weights(ctx, axes, groups), bias, dilations=dilations, groups=groups))
    result = _channels_to_space(ctx, result, axes, groups)
    starts = [0, 0, *(axis.low % axis.stride if axis.stride > 1 else 0 for axis in axes)]
    return ctx.emit(SliceOp(result, starts, (*dims_of(result.type)[:2], *(axis.result for axis in axes))))


def _phase_weights(ctx: NodeContext, axes: Sequence[_Axis], groups: int) -> SSAValue:
    """`[C, M/G, taps..]` as `[G * phases * M/G, C/G, taps of a phase..]`, the taps in reverse order."""
    weight = ctx.ssa(1)
    inputs, outputs = dims_of(weight.type)[:2]
    per_group = floordiv(inputs, groups)
    missing = [axis.taps * axis.stride - axis.kernel for axis in axes]
    weight = ctx.emit(PadOp(weight, [0] * (2 + len(axes)), [0, 0, *missing]))
    split = [part for axis in axes for part in (axis.taps, axis.stride)]
    weight = ctx.emit(ReshapeOp(weight, (groups, per_group, outputs, *split)))
    starts = [0, 0, 0, *(start for axis in axes for start in (axis.taps - 1, 0))]
    weight = ctx.emit(SliceOp(weight, starts, dims_of(weight.type), [1, 1, 1, *[-1, 1] * len(axes)]))
    taps, phases = range(3, 3 + 2 * len(axes), 2), range(4, 4 + 2 * len(axes), 2)
    weight = ctx.emit(TransposeOp(weight, (0, *phases, 2, 1, *taps)))
    channels = groups * prod(axis.stride for axis in axes) * outputs
    return ctx.emit(ReshapeOp(weight, (channels, per_group, *(axis.taps for axis in axes))))


def _channels_to_space(ctx: NodeContext, x: SSAValue, axes: Sequence[_Axis], groups: int) -> SSAValue:
    """`[N, G * phases * M/G, Q..]` as `[N, M, Q*s..]`."""
    batch, channels, *sizes = dims_of(x.type)
    phases = [axis.stride for axis in axes if axis.stride > 1]
    per_group = floordiv(channels, groups * prod(phases))
    split = ctx.emit(ReshapeOp(x, (batch, groups, *phases, per_group, *sizes)))
    first_phase, first_size = 2, 3 + len(phases)
    order = [0, 1, 2 + len(phases)]
    for position, axis in enumerate(axes):
        order.append(first_size + position)
        if axis.stride > 1:
            order.append(first_phase)
            first_phase += 1
    moved = ctx.emit(TransposeOp(split, order))
    merged = [size * axis.stride for size, axis in zip(sizes, axes, strict=True)]
    return ctx.emit(ReshapeOp(moved, (batch, groups * per_group, *merged)))


def _by_zeros(ctx: NodeContext, axes: Sequence[_Axis], groups: int) -> SSAValue:
    """A convolution of the input with zeros put between its elements."""
    x = _spread(ctx, ctx.ssa(0), [axis.stride for axis in axes])
    low = [axis.span - axis.low for axis in axes]
    # Spreading has left stride - 1 zeros after the last element.
    high = [axis.span - axis.high + axis.extra - (axis.stride - 1) for axis in axes]
    x = ctx.emit(PadOp(x, [0, 0, *low], [0, 0, *high]))
    dilations = [axis.dilation for axis in axes]
    return ctx.emit(ConvOp(x, _mirrored(ctx, ctx.ssa(1), groups), ctx.optional(2), dilations=dilations, groups=groups))


def _pads(ctx: NodeContext, whole: Sequence[Dim], same: Sequence[Dim]) -> tuple[Sequence[Dim], Sequence[Dim]]:
    """What is cut off before and after each axis of a result that has the sizes `whole` without padding."""
    rank, mode = len(whole), ctx.attr_str("auto_pad", "NOTSET")
    if mode not in ("", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        ctx.fail(f"auto_pad is '{mode}', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    if ctx.has_attr("output_shape"):
        wanted: Sequence[Dim] = ctx.attr_ints("output_shape")[-rank:]
    elif mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = same
    else:
        pads = ctx.attr_ints("pads", (0,) * (2 * rank)) if mode != "VALID" else (0,) * (2 * rank)
        if len(pads) != 2 * rank:
            ctx.fail(f"pads has {len(pads)} entries, expected {2 * rank}")
        return pads[:rank], pads[rank:]
    if len(wanted) != rank:
        ctx.fail(f"output_shape has {len(wanted)} entries, expected {rank}")
    total = [size - target for size, target in zip(whole, wanted, strict=True)]
    half = [floordiv(size, 2) for size in total]
    rest = [size - part for size, part in zip(total, half, strict=True)]
    return (half, rest) if mode == "SAME_UPPER" else (rest, half)


def _spread(ctx: NodeContext, x: SSAValue, strides: Sequence[int]) -> SSAValue:
    """`[N, C, H*s, W*s]` with the elements of `x` at multiples of the strides and zeros elsewhere."""
    if all(stride == 1 for stride in strides):
        return x
    batch, channels, *sizes = dims_of(x.type)
    split: list[Dim] = [batch, channels]
    high: list[Dim] = [0, 0]
    for size, stride in zip(sizes, strides, strict=True):
        split += [size, 1]
        high += [0, stride - 1]
    padded = ctx.emit(PadOp(ctx.emit(ReshapeOp(x, split)), [0] * len(split), high))
    merged = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    return ctx.emit(ReshapeOp(padded, (batch, channels, *merged)))


def _mirrored(ctx: NodeContext, weight: SSAValue, groups: int) -> SSAValue:
    """`[C, M/G, taps..]` as `[M, C/G, taps..]` with the taps in reverse order."""
    inputs, outputs, *kernel = dims_of(weight.type)
    rank = len(kernel)
    per_group = floordiv(inputs, groups)
    grouped = ctx.emit(ReshapeOp(weight, (groups, per_group, outputs, *kernel)))
    swapped = ctx.emit(TransposeOp(grouped, (0, 2, 1, *range(3, 3 + rank))))
    merged = ctx.emit(ReshapeOp(swapped, (outputs * groups, per_group, *kernel)))
    starts = [0, 0, *(size - 1 for size in kernel)]
    return ctx.emit(SliceOp(merged, starts, dims_of(merged.type), [1, 1, *[-1] * rank]))


HANDLERS: Mapping[str, Handler] = {"ConvTranspose": _conv_transpose}
"""The one operator of this file by name."""
