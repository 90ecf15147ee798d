"""The discrete Fourier transform, as a product with its matrix; computed in f64 and rounded once."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp
from aicc.dialects.graph.dims import Dim, dim_min, dims_of, floordiv, shape_text
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ConcatOp, PadOp, SliceOp
from aicc.frontends.onnx.chosen import along_axis
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.ops_stft import fourier_matrices
from aicc.frontends.onnx.sampling import part


def _dft(ctx: NodeContext) -> SSAValue:
    """The axis is an attribute up to opset 19, then an input; the last axis holds real and imaginary parts."""
    rank = ctx.rank(0)
    if rank < 2 or ctx.dims(0)[-1] not in (1, 2):
        ctx.fail(f"the input has shape {shape_text(ctx.dims(0))}, expected [.., 1] or [.., 2]")
    if ctx.version >= 20 and ctx.has(2):
        return along_axis(ctx, 2, rank - 1, lambda axis: _along(ctx, axis))
    axis = ctx.axis(-2 if ctx.version >= 20 else ctx.attr_int("axis", 1), rank)
    if axis == rank - 1:
        ctx.fail(f"axis is {axis}, which holds the parts of complex numbers")
    return _along(ctx, axis)


def _along(ctx: NodeContext, axis: int) -> SSAValue:
    f, dims = Formula(ctx), ctx.dims(0)
    inverse, onesided = bool(ctx.attr_int("inverse", 0)), bool(ctx.attr_int("onesided", 0))
    complex_input = dims[-1] == 2
    if onesided and complex_input != inverse:
        expected = "complex" if inverse else "real"
        ctx.fail(f"onesided is 1 for input of shape {shape_text(dims)}, expected {expected} numbers")
    length: Dim = 2 * (dims[axis] - 1) if onesided and inverse else dims[axis]
    if ctx.has(1):
        length = ctx.size(1, "dft_length")
    half = floordiv(length, 2) + 1
    used = half if onesided and inverse else length
    x = f.cast(_resized(f, ctx.ssa(0), axis, used), f64)
    bins = half if onesided and not inverse else length
    cosine, sine = fourier_matrices(ctx, used, bins, length, f64)
    order = [*(i for i in range(len(dims) - 1) if i != axis), axis]

    def product(number: int, matrix: SSAValue) -> SSAValue:
        return f.ctx.emit(MatmulOp(parts[number], matrix))

    parts = [f.transpose(part(f, x, len(dims) - 1, number), order) for number in range(2 if complex_input else 1)]
    if onesided and inverse:
        # The other half of the bins are these, conjugated; the first and, of an even length, the last have no such.
        place = f.places(used, 0, 1)
        single = f(EqOp, f(MulOp, place, 2), f.size(length))
        weight = f(WhereOp, single, 1.0, f(WhereOp, f(EqOp, place, 0), 1.0, f.size(2, f64)))
        parts = [f(MulOp, values, weight) for values in parts]
        results = [f(AddOp, product(0, cosine), product(1, sine))]
    elif not complex_input:
        results = [product(0, cosine), product(0, sine)]
        if inverse:
            results[1] = f(SubOp, 0, results[1])
    elif inverse:
        results = [
            f(AddOp, product(0, cosine), product(1, sine)),
            f(SubOp, product(1, cosine), product(0, sine)),
        ]
    else:
        results = [
            f(SubOp, product(0, cosine), product(1, sine)),
            f(AddOp, product(0, sine), product(1, cosine)),
        ]
    if inverse:
        results = [f(DivOp, result, f.size(length, f64)) for result in results]
    back = [order.index(i) for i in range(len(dims) - 1)]
    results = [f.transpose(f.cast(result, ctx.element(0)), back) for result in results]
    results = [f.reshape(result, (*dims_of(result.type), 1)) for result in results]
    return results[0] if len(results) == 1 else ctx.emit(ConcatOp(results, len(dims) - 1))


def _resized(f: Formula, x: SSAValue, axis: int, size: Dim) -> SSAValue:
    """`x` cut off or filled with zeros at the end of an axis."""
    dims = list(dims_of(x.type))
    if dims[axis] == size:
        return x
    zeros: list[Dim] = [0] * len(dims)
    kept = dim_min(dims[axis], size)
    if kept != dims[axis]:
        x = f.ctx.emit(SliceOp(x, zeros, [*dims[:axis], kept, *dims[axis + 1 :]], [1] * len(dims)))
    return x if kept == size else f.ctx.emit(PadOp(x, zeros, [*zeros[:axis], size - kept, *zeros[axis + 1 :]]))


HANDLERS: Mapping[str, Handler] = {"DFT": _dft}
