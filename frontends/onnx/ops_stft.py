"""The short-time Fourier transform, as products with the matrices of the transform, in f64."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import f64
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, ModOp, MulOp, SubOp
from aicc.dialects.graph.dims import Dim, floordiv, shape_text
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.functions import CosOp, SinOp
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ConcatOp, SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula


def fourier_matrices(
    ctx: NodeContext, rows: Dim, columns: Dim, length: Dim, element: Attribute
) -> tuple[SSAValue, SSAValue]:
    """`cos(2 pi n k / length)` and `-sin(2 pi n k / length)` for rows `n` and columns `k`."""
    f = Formula(ctx)
    if isinstance(rows, int) and isinstance(columns, int) and isinstance(length, int):
        turns = np.outer(np.arange(rows), np.arange(columns)) % max(length, 1) / max(length, 1)
        angle, dtype = 2 * np.pi * turns, numpy_dtype(element)
        return ctx.constant(np.cos(angle).astype(dtype)), ctx.constant(-np.sin(angle).astype(dtype))
    product = f(ModOp, f(MulOp, f.places(rows, 0, 2), f.places(columns, 1, 2)), f.size(length))
    turns = f(DivOp, f.cast(product, element), f.size(length, element))
    return f(CosOp, f(MulOp, turns, 2 * math.pi)), f(SinOp, f(MulOp, turns, -2 * math.pi))


def _stft(ctx: NodeContext) -> SSAValue:
    """
    `y[b, f, k] = sum(window[n] * x[b, f * step + n] * exp(-2 pi i n k / length), n)`, with real and imaginary part
    last.
    """
    f, dims = Formula(ctx), ctx.dims(0)
    if len(dims) == 2:  # Allowed for real signals by some exporters.
        dims = (*dims, 1)
    if len(dims) != 3 or dims[2] not in (1, 2):
        ctx.fail(f"the signal has shape {shape_text(dims)}, expected [batch, length, 1 or 2]")
    batch, samples, parts = dims
    step = ctx.size(1, "frame_step")
    length: Dim = samples
    if ctx.has(3):
        length = ctx.size(3, "frame_length")
    elif ctx.has(2):
        if ctx.rank(2) != 1:
            ctx.fail(f"window (input 2) has rank {ctx.rank(2)}, expected 1")
        (length,) = ctx.dims(2)
    if step == 0:
        ctx.fail("frame_step is 0")
    onesided = bool(ctx.attr_int("onesided", 1))
    if onesided and parts == 2:
        ctx.fail("onesided is 1 for a complex signal, expected 0")
    bins = floordiv(length, 2) + 1 if onesided else length
    frames = floordiv(samples - length, step) + 1
    index = f(AddOp, f(MulOp, f.places(frames, 0, 2), f.size(step)), f.places(length, 1, 2))
    framed = ctx.emit(GatherOp(f.reshape(ctx.ssa(0), dims), index, 1))  # [batch, frames, length, parts]
    cosine, sine = fourier_matrices(ctx, length, bins, length, f64)

    def part(number: int) -> SSAValue:
        whole: list[Dim] = [batch, frames, length, 1]
        taken = ctx.emit(SliceOp(framed, [0, 0, 0, number], whole, [1] * 4)) if parts == 2 else framed
        values = f.cast(f.reshape(taken, whole[:3]), f64)
        return f(MulOp, values, f.cast(ctx.ssa(2), f64)) if ctx.has(2) else values

    real = part(0)
    along, across = ctx.emit(MatmulOp(real, cosine)), ctx.emit(MatmulOp(real, sine))
    if parts == 2:
        imaginary = part(1)
        along = f(SubOp, along, ctx.emit(MatmulOp(imaginary, sine)))
        across = f(AddOp, across, ctx.emit(MatmulOp(imaginary, cosine)))
    shape: list[Dim] = [batch, frames, bins, 1]
    results = [f.reshape(f.cast(result, ctx.element(0)), shape) for result in (along, across)]
    return ctx.emit(ConcatOp(results, 3))


HANDLERS: Mapping[str, Handler] = {"STFT": _stft}
