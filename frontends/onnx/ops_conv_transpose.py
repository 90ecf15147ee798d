"""
Transposed convolution as a convolution of the input with zeros put between its elements.

With `s` the stride, `result[m, o..] = sum(x[c, i..] * w[c, m, k..])` over `o = i*s + k*dilation - pad`, so with
`u[j] = x[j / s]` where `s` divides `j` and 0 elsewhere, it is the convolution of `u`, padded by
`(kernel-1)*dilation - pad`, with the filters mirrored and their channels exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import Dim, dims_of, floordiv, shape_text
from aicc.dialects.graph.movement import PadOp, ReshapeOp, SliceOp, TransposeOp
from aicc.frontends.onnx.context import Handler, NodeContext


def _conv_transpose(ctx: NodeContext) -> SSAValue:
    sizes, weight = ctx.dims(0)[2:], ctx.dims(1)
    rank, kernel, groups = len(sizes), weight[2:], ctx.attr_int("group", 1)
    if rank < 1 or len(weight) != rank + 2 or not all(isinstance(size, int) for size in weight):
        ctx.fail(f"input {shape_text(ctx.dims(0))} and weight {shape_text(weight)} do not go together")
    strides = ctx.attr_ints("strides", (1,) * rank)
    dilations = ctx.attr_ints("dilations", (1,) * rank)
    extra = ctx.attr_ints("output_padding", (0,) * rank)
    if not len(strides) == len(dilations) == len(extra) == rank or min(*strides, *dilations) < 1 or groups < 1:
        ctx.fail(f"strides, dilations, output_padding or group do not fit {rank} axes of space")
    spans = [(taps - 1) * dilation for taps, dilation in zip(kernel, dilations, strict=True)]
    whole = [
        stride * (size - 1) + more + span + 1
        for size, stride, more, span in zip(sizes, strides, extra, spans, strict=True)
    ]
    low, high = _pads(ctx, whole, [size * stride for size, stride in zip(sizes, strides, strict=True)])
    x = _spread(ctx, ctx.ssa(0), strides)
    x = ctx.emit(
        PadOp(
            x,
            [0, 0, *(span - pad for span, pad in zip(spans, low, strict=True))],
            # Spreading has left stride - 1 zeros after the last element.
            [
                0,
                0,
                *(
                    span - pad + more - (stride - 1)
                    for span, pad, more, stride in zip(spans, high, extra, strides, strict=True)
                ),
            ],
        )
    )
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
    if isinstance(inputs, int) and inputs % groups:
        ctx.fail(f"{inputs} input channels are no multiple of group {groups}")
    rank = len(kernel)
    per_group = floordiv(inputs, groups)
    grouped = ctx.emit(ReshapeOp(weight, (groups, per_group, outputs, *kernel)))
    swapped = ctx.emit(TransposeOp(grouped, (0, 2, 1, *range(3, 3 + rank))))
    merged = ctx.emit(ReshapeOp(swapped, (outputs * groups, per_group, *kernel)))
    starts = [0, 0, *(size - 1 for size in kernel)]
    return ctx.emit(SliceOp(merged, starts, dims_of(merged.type), [1, 1, *[-1] * rank]))


HANDLERS: Mapping[str, Handler] = {"ConvTranspose": _conv_transpose}
"""The one operator of this file by name."""
