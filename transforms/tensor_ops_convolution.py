"""Structured ops that are two-dimensional convolutions of stride 1, known by their index maps and bodies alone."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, bf16, f16, f32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.tensor_ops import ExtractOp, IndexOp, StructuredOp
from aicc.dialects.tensor_ops.affine import dim_positions, linear_form, used_dims
from aicc.transforms.tensor_ops_layout_rules import is_contraction, may_reassociate


@dataclass(frozen=True)
class WindowAxis:
    """An axis of the image that is read at `result index + dilation * tap + offset`."""

    axis: int
    result: int
    """The parallel dimension."""
    tap: int
    """The reduction dimension."""
    offset: int
    dilation: int = 1


@dataclass(frozen=True)
class Convolution:
    """
    `y[n, r, c, o] = finish(sum over i, s, t of image[n, r + s*dr + .., c + t*dc + .., i] * weight[o, i, s, t])`, with
    the axes of all three tensors in any order.
    """

    op: StructuredOp
    image: int
    """Position of the image among the inputs."""
    weight: int
    row: WindowAxis
    column: WindowAxis
    batch: int
    """Parallel dimension of the batch."""
    out: int
    """Parallel dimension of the result channels."""
    channel: int
    """Reduction dimension of the channels."""

    @property
    def taps(self) -> tuple[int, int]:
        """The two reduction dimensions of the window, of rows and of columns."""
        return self.row.tap, self.column.tap

    @property
    def dilations(self) -> tuple[int, int]:
        """Rows, and columns, from one tap to the next."""
        return self.row.dilation, self.column.dilation


@dataclass(frozen=True)
class Windows:
    """
    A sum of products of an image, 0 around it, and weights, of which each result channel has its own; of any number of
    axes, with channels to sum over or without.
    """

    op: StructuredOp
    image: int
    """Position of the image among the inputs."""
    weight: int
    axes: tuple[WindowAxis, ...]
    """The axes of the image that windows move along."""


def _window_axis(axis: int, expr: AffineExpr, parallel: int) -> WindowAxis | None:
    form = linear_form(expr)
    factors = {atom.position: factor for atom, factor in form.terms.items() if isinstance(atom, AffineDimExpr)}
    if len(form.terms) != 2 or len(factors) != 2:
        return None
    result, tap = sorted(factors)
    if not result < parallel <= tap or factors[result] != 1 or factors[tap] < 1:
        return None
    return WindowAxis(axis, result, tap, form.constant, factors[tap])


def find_convolution(op: Operation) -> Convolution | None:
    """
    The op as a convolution of stride 1 in one group, summed in f32 in any order; `None` if it is none.
    Image and weights may be of f16 or bf16.
    """
    if not isinstance(op, StructuredOp) or (op.parallel_count, len(op.dims)) != (4, 7) or not _is_plain_sum(op):
        return None
    for image, weight in ((0, 1), (1, 0)):
        found = _match(op, image, weight)
        if found is not None:
            return found
    return None


def find_windows(op: Operation) -> Windows | None:
    """
    The op as windows of stride 1, summed in f32 in any order; `None` if it is something else. Image and
    weights may be of f16 or bf16.
    """
    if not isinstance(op, StructuredOp) or not _is_plain_sum(op):
        return None
    for image, weight in ((0, 1), (1, 0)):
        read, own = (used_dims(op.input_maps[position].results) for position in (image, weight))
        if not _surrounded_by_zeros(op, image, weight) or not any(d < op.parallel_count for d in own - read):
            continue
        results = op.input_maps[image].results
        found = [_window_axis(axis, expr, op.parallel_count) for axis, expr in enumerate(results)]
        axes = tuple(axis for axis in found if axis is not None and axis.tap in own)
        if axes:
            return Windows(op, image, weight, axes)
    return None


def _surrounded_by_zeros(op: StructuredOp, image: int, weight: int) -> bool:
    """Whether weights are read inside of their bounds, and what is outside of the image's is 0."""
    fill = op.input_fills[image]
    zero = fill is None or (isinstance(fill, FloatAttr) and not fill.value.data)
    return zero and op.input_fills[weight] is None


def _is_plain_sum(op: StructuredOp) -> bool:
    """Whether the op sums the product of its two inputs in f32, from 0 on and in any order, and has one result."""
    if (len(op.inputs), len(op.res)) != (2, 1):
        return False
    if not is_contraction(op) or not may_reassociate(op):
        return False
    *widened, product, _, _ = op.body.block.ops
    arguments = set(op.body.block.args[:2])
    if not isinstance(product, arith.MulfOp) or {_narrow(value) for value in product.operands} != arguments:
        return False
    if not all(isinstance(inner, arith.ExtFOp) for inner in widened):
        return False
    if any(element_type_of(value) not in (f32, f16, bf16) for value in op.inputs):
        return False
    (init,) = op.inits.data
    if not isinstance(init, FloatAttr) or init.value.data != 0.0 or op.body.block.args[-1].type != f32:
        return False
    finish = op.finish_block
    return finish is None or not any(isinstance(inner, IndexOp | ExtractOp) for inner in finish.ops)


def _narrow(value: SSAValue) -> SSAValue:
    """What a factor is before it is widened."""
    return value.owner.input if isinstance(value.owner, arith.ExtFOp) else value


def _match(op: StructuredOp, image: int, weight: int) -> Convolution | None:
    parallel = op.parallel_count
    if not _surrounded_by_zeros(op, image, weight):
        return None
    results = op.input_maps[image].results
    windows = [w for axis, expr in enumerate(results) if (w := _window_axis(axis, expr, parallel)) is not None]
    if len(results) != 4 or len(windows) != 2:
        return None
    row, column = windows
    rest = {d for axis, expr in enumerate(results) if axis not in (row.axis, column.axis) for d in used_dims([expr])}
    channels = {4, 5, 6} - {row.tap, column.tap}
    if len({row.result, column.result}) != 2 or len(channels) != 1:
        return None
    (channel,) = channels
    read = dim_positions(op.input_maps[weight])
    if read is None or len(read) != 4 or channel not in rest:
        return None
    outs = set(read) - {4, 5, 6}
    if len(outs) != 1 or not {4, 5, 6} <= set(read):
        return None
    (out,) = outs
    batches = {0, 1, 2, 3} - {row.result, column.result, out}
    if len(batches) != 1:
        return None
    (batch,) = batches
    for axis, expr in enumerate(results):
        if axis in (row.axis, column.axis):
            continue
        is_batch = expr == AffineDimExpr(batch) or (expr == AffineConstantExpr(0) and op.dims[batch] == 1)
        if expr != AffineDimExpr(channel) and not is_batch:
            return None
    return Convolution(op, image, weight, row, column, batch, out, channel)
