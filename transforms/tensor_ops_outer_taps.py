"""
Taps of a convolution that lie in the padding of every window: they add nothing.

Before: structured (%x as (.., d1 + d4 - 1, ..) fill 0, %w as (.., d4, ..)) over [.., 1, .., reduction 3, ..]
After:  structured (%x as (.., d1 + d4, ..) fill 0, %w as (.., d4 + 1, ..)) over [.., 1, .., reduction 1, ..]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.ir.affine import AffineDimExpr, AffineMap

from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of
from aicc.dialects.tensor_ops.affine import substitute
from aicc.transforms.tensor_ops_convolution import WindowAxis, Windows
from aicc.transforms.tensor_ops_editing import operands_of, set_operands


def kept_taps(axis: WindowAxis, taps: int, count: int, size: int) -> range:
    """Of `taps`, those from the first to the last that is inside of `size` elements in one of `count` windows."""
    first = max(0, -((count - 1 + axis.offset) // axis.dilation))
    last = min(taps - 1, (size - 1 - axis.offset) // axis.dilation)
    return range(first, last + 1) if first <= last else range(taps)


def leave_out_taps(windows: Windows, most: Mapping[Dim, int]) -> None:
    """
    Leaves out first and last taps in the padding of every window, where sizes are `most` these numbers.

    Weights must be finite: 0 times them is 0 then.
    """
    for axis in windows.axes:
        _leave_out(windows, axis, most)


def _most(dim: Dim, most: Mapping[Dim, int]) -> int | None:
    return dim if isinstance(dim, int) else most.get(dim)


def _leave_out(windows: Windows, axis: WindowAxis, most: Mapping[Dim, int]) -> None:
    op = windows.op
    count, taps = _most(op.dims[axis.result], most), op.dims[axis.tap]
    size = _most(dims_of(op.inputs[windows.image].type)[axis.axis], most)
    if count is None or size is None or not isinstance(taps, int):
        return
    kept = kept_taps(axis, taps, count, size)
    if len(kept) == taps:
        return
    inputs, finish = operands_of(op)
    extents = list(op.dims)
    extents[axis.tap] = len(kept)
    op.properties["extents"] = ShapeAttr(extents)
    later = {axis.tap: AffineDimExpr(axis.tap) + kept.start}

    def moved(old: AffineMap) -> AffineMap:
        return AffineMap(old.num_dims, old.num_symbols, tuple(substitute(expr, later) for expr in old.results))

    set_operands(op, [replace(one, map=moved(one.map)) for one in inputs], finish, op.symbols.data)
