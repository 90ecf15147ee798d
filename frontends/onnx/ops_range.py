"""`Range` and matrices made of ranges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, DivOp, MaxOp, MulOp, PowOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, GeOp, LeOp, LtOp
from aicc.dialects.graph.dims import MAX_ELEMENTS, floordiv
from aicc.dialects.graph.dtypes import is_integer, numpy_dtype
from aicc.dialects.graph.functions import CeilOp, FloorOp, LogOp
from aicc.dialects.graph.movement import SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.numbers import Number, Numbers
from aicc.frontends.onnx.values import constant_value

MOST_KNOWN = 1 << 16
"""Elements up to which a range of constants is a constant itself."""


def _range(ctx: NodeContext) -> Result:
    """`start + i * delta` for `0 <= i < ceil((limit - start) / delta)`."""
    names = ("start", "limit", "delta")
    for i, name in enumerate(names):
        ctx.expect_one(i, name)
    if is_integer(ctx.element(0)):
        numbers = Numbers(ctx)
        start, limit, delta = (numbers.of(i, name)[0] for i, name in enumerate(names))
        return _integer_range(ctx, start, limit, delta)
    contents = [ctx.value(i).content for i in range(3)]
    known = [content for content in contents if content is not None and content.dtype != object]
    if len(known) == 3:
        return _known_range(ctx, *known)
    f = Formula(ctx)
    start, limit, delta = (f.cast(f.reshape(ctx.ssa(i), ()), f64) for i in range(3))
    steps = f(MaxOp, f(CeilOp, f(DivOp, f(SubOp, limit, start), delta)), 0.0)
    # No count is below 0: the run ends, as nothing comes to the limit.
    count = f.cast(f(WhereOp, f(EqOp, delta, 0.0), -1.0, steps), i64)
    moved = f(MulOp, f.places(ctx.defined_size(count, "count"), 0, 1, f64), delta)
    return f.cast(f(AddOp, moved, start), ctx.element(0))


def _known_range(ctx: NodeContext, start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> Result:
    """A range of floats that are constants."""
    if not delta:
        ctx.fail("delta is 0")
    exact = [np.float64(value.reshape(()).astype(np.float64)) for value in (start, limit, delta)]
    with np.errstate(all="ignore"):
        steps = np.ceil((exact[1] - exact[0]) / exact[2])
    if not steps <= MAX_ELEMENTS:
        ctx.fail(f"the result has {steps} elements, expected at most {MAX_ELEMENTS}")
    count = int(max(steps, 0.0))
    if count <= MOST_KNOWN:
        values = exact[0] + np.arange(count) * exact[2]
        return constant_value(values.astype(start.dtype), ctx.node.output[0])
    f = Formula(ctx)
    moved = f(MulOp, f.places(count, 0, 1, f64), float(exact[2]))
    return f.cast(f(AddOp, moved, float(exact[0])), ctx.element(0))


def _integer_range(ctx: NodeContext, start: Number, limit: Number, delta: Number) -> Result:
    numbers, f = Numbers(ctx), Formula(ctx)
    if isinstance(delta, int):
        if delta == 0:
            ctx.fail("delta is 0")
        distance = numbers.sub(limit, start) if delta > 0 else numbers.sub(start, limit)
        steps = numbers.ceildiv(distance, abs(delta))
    else:
        # No count is below 0: the run ends, as nothing comes to the limit.
        steps = numbers.ceildiv(numbers.sub(limit, start), delta)
        steps = numbers.select(numbers.equal(delta, 0), -1, numbers.max(steps, 0))
    count = numbers.max(steps, 0) if isinstance(delta, int) else steps
    size = numbers.size(count, "count")
    element = ctx.element(0)
    if isinstance(start, int) and isinstance(delta, int) and isinstance(size, int) and size <= MOST_KNOWN:
        values = start + np.arange(size, dtype=np.int64) * delta
        return constant_value(values.astype(numpy_dtype(element)), ctx.node.output[0])
    result = f.places(size, 0, 1)
    if delta != 1:
        result = f(MulOp, result, numbers.tensor(delta))
    if start != 0:
        result = f(AddOp, result, numbers.tensor(start))
    return f.cast(result, element)


def _mel_weight_matrix(ctx: NodeContext) -> SSAValue:
    """
    A triangle per band (column) over the bins of a spectrum (rows): 0 at the bins of the neighbouring bands, 1 at its
    own. The edges are evenly spaced on the mel scale, `2595 log10(1 + f / 700)`, and rounded down to bins.
    """
    f = Formula(ctx)
    bands, length = ctx.size(0, "num_mel_bins"), ctx.size(1, "dft_length")
    rate, low, high = (f.cast(f.reshape(ctx.ssa(i), ()), f64) for i in (2, 3, 4))
    scale = 2595 / np.log(10)
    first, last = (f(MulOp, f(LogOp, f(AddOp, f(DivOp, x, 700.0), 1.0)), scale) for x in (low, high))
    count = bands + 2
    step = f(DivOp, f(SubOp, last, first), f.size(count, f64))
    mels = f(AddOp, f(MulOp, f.places(count, 1, 2, f64), step), first)
    hertz = f(MulOp, f(SubOp, f(PowOp, ctx.scalar(10.0, f64), f(DivOp, mels, 2595.0)), 1.0), 700.0)
    edges = f(FloorOp, f(DivOp, f(MulOp, hertz, f.size(length + 1, f64)), rate))
    left, middle, right = (ctx.emit(SliceOp(edges, [0, i], [1, bands])) for i in range(3))
    row = f.places(floordiv(length, 2) + 1, 0, 2, f64)
    rising = f(WhereOp, f(EqOp, left, middle), 1.0, f(DivOp, f(SubOp, row, left), f(SubOp, middle, left)))
    rising = f(WhereOp, f(AndOp, f(GeOp, row, left), f(LeOp, row, middle)), rising, 0.0)
    falling = f(DivOp, f(SubOp, right, row), f(SubOp, right, middle))
    result = f(WhereOp, f(AndOp, f(GeOp, row, middle), f(LtOp, row, right)), falling, rising)
    return f.cast(result, ctx.attr_element("output_datatype", 1))


HANDLERS: Mapping[str, Handler] = {"MelWeightMatrix": _mel_weight_matrix, "Range": _range}
