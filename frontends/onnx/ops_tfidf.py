"""TfIdfVectorizer on integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, MinOp
from aicc.dialects.graph.comparison import EqOp
from aicc.dialects.graph.dims import Dim
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import SliceOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula

_MOST_DISTANCES = 1024
"""Distances between the items of an n-gram, each of which is looked for by ops of its own."""


def _grams(ctx: NodeContext, length: int) -> np.ndarray:
    """The n-grams of one length in the pool, one a row."""
    pool, starts = ctx.attr_ints("pool_int64s"), ctx.attr_ints("ngram_counts")
    end = starts[length] if length < len(starts) else len(pool)
    part = np.array(pool[starts[length - 1] : end], np.int64)
    if part.size % length:
        ctx.fail(f"{part.size} numbers of pool_int64s are for {length}-grams, expected a multiple of {length}")
    return part.reshape(-1, length)


def _counts(ctx: NodeContext, x: SSAValue, samples: Sequence[Dim], grams: np.ndarray) -> SSAValue | None:
    """How often each n-gram is in each row of `x`, with every distance up to `max_skip_count` between its items."""
    f, (rows, size), (number, length) = Formula(ctx), samples, grams.shape
    if not isinstance(size, int):
        ctx.fail(f"rows have {size} items, expected a constant")
    total: SSAValue | None = None
    # A single item has no distances; of more, the last one is still within the row.
    most = min(ctx.attr_int("max_skip_count") + 1, (size - 1) // (length - 1)) if length > 1 else min(size, 1)
    if most > _MOST_DISTANCES:
        ctx.fail(f"{length}-grams are looked for at {most} distances, expected at most {_MOST_DISTANCES}")
    for distance in range(1, most + 1):
        count = size - distance * (length - 1)
        found: SSAValue | None = None
        for item in range(length):
            part = ctx.emit(SliceOp(x, [0, distance * item], [rows, count], [1, 1]))
            same = f(EqOp, f.reshape(part, (rows, count, 1)), ctx.constant(grams[:, item].reshape(1, 1, number)))
            found = same if found is None else f(AndOp, found, same)
        assert found is not None
        times = ctx.emit(ReduceSumOp(f.cast(found, f32), (1,)))
        total = times if total is None else f(AddOp, total, times)
    return total


def _tfidf(ctx: NodeContext) -> SSAValue:
    """Counts (TF), whether there are any (IDF), or counts (TFIDF) of n-grams; the last two times their weights."""
    f, dims = Formula(ctx), ctx.dims(0)
    if not ctx.has_attr("pool_int64s"):
        ctx.fail("n-grams of strings are not supported")
    if len(dims) not in (1, 2):
        ctx.fail(f"the input has rank {len(dims)}, expected 1 or 2")
    mode, places = ctx.attr_str("mode"), np.array(ctx.attr_ints("ngram_indexes"))
    if mode not in ("TF", "IDF", "TFIDF"):
        ctx.fail(f"mode is '{mode}', expected TF, IDF or TFIDF")
    weights = np.array(ctx.attr_floats("weights", [1.0] * len(places)), np.float32)
    samples: tuple[Dim, Dim] = (1, dims[0]) if len(dims) == 1 else (dims[0], dims[1])
    x = f.reshape(f.cast(ctx.ssa(0), i64), samples)
    width = int(places.max(initial=-1)) + 1
    result: SSAValue | None = None
    first = 0
    # Longer ones than `ngram_counts` has places for are not in the pool.
    for length in range(1, min(ctx.attr_int("max_gram_length"), len(ctx.attr_ints("ngram_counts"))) + 1):
        grams = _grams(ctx, length)
        if len(grams) and length >= ctx.attr_int("min_gram_length"):
            counts = _counts(ctx, x, samples, grams)
            if counts is not None:
                if mode == "IDF":
                    counts = f(MinOp, counts, 1.0)
                at = slice(first, first + len(grams))
                spread = np.zeros((len(grams), width), np.float32)
                spread[np.arange(len(grams)), places[at]] = 1.0 if mode == "TF" else weights[at]
                part = ctx.emit(MatmulOp(counts, ctx.constant(spread)))
                result = part if result is None else f(AddOp, result, part)
        first += len(grams)
    shape = (width,) if len(dims) == 1 else (samples[0], width)
    if result is None:
        return f.expand(ctx.scalar(0.0, f32), shape)
    return f.reshape(result, shape)


HANDLERS: Mapping[str, Handler] = {"TfIdfVectorizer": _tfidf}
