"""
`tensor-ops-materialize-padding`: gives contractions a padded copy of an input that they read out of bounds.

Before: %c = structured (%x as (.., d1 + d4 - 1, ..) fill 0.0, %w as ..) .. sum of products
After:  %p = structured (%x as (.., d1 - 1, ..) fill 0.0) over [.., parallel 58, ..]
        %c = structured (%p as (.., d1 + d4, ..), %w as ..) .. sum of products

The copy is a small part of a contraction's work, and the hot nest is left without a guard. It is part of the kernel; an
elementwise producer of the input is computed into it. Pooling and elementwise ops, whose work is of the size of the
copy, keep their guards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.passes import ModulePass

from aicc.dialects.graph.dims import Dim, dim_max, dims_of, provably_at_least
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.tensor_ops import ExtractOp, StructuredOp, YieldOp
from aicc.dialects.tensor_ops.affine import linear_form
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.transforms.tensor_ops_editing import Operand, erase_if_unused, merge_symbols, operands_of, set_operands
from aicc.transforms.tensor_ops_fuse import kernel_blocks
from aicc.transforms.tensor_ops_inline import inline_producer
from aicc.transforms.tensor_ops_layout_rules import is_contraction


@dataclass(frozen=True)
class Reach:
    """The indices that an operand is read at along one axis."""

    low: Dim
    high: Dim

    def is_inside(self, size: Dim) -> bool:
        """Whether they are certainly in bounds of an axis of this size."""
        return provably_at_least(self.low, 0) and provably_at_least(size - 1 - self.high, 0)


def reach_of(expr: AffineExpr, extents: Sequence[Dim], symbols: Sequence[Dim]) -> Reach | None:
    """The smallest and largest value of an index over a space none of whose extents is 0; `None` if not linear."""
    form = linear_form(expr)
    low: Dim = form.constant
    high: Dim = form.constant
    for atom, factor in form.terms.items():
        if isinstance(atom, AffineSymExpr):
            low, high = low + factor * symbols[atom.position], high + factor * symbols[atom.position]
        elif isinstance(atom, AffineDimExpr):
            last = factor * (extents[atom.position] - 1)
            low, high = (low, high + last) if factor > 0 else (low + last, high)
        else:
            return None
    return Reach(low, high)


Copy = Callable[[StructuredOp, Operand, Sequence[Dim], Sequence[Dim]], SSAValue]
"""What makes a padded copy of an operand of an op, of these sizes and from these indices on, right before the op."""


def materialize_padding(op: StructuredOp, position: int, copy: Copy | None = None) -> None:
    """
    Lets `op` read input `position` from a padded copy made right before it, by `copy` if given.

    Axes whose index is not linear must be in bounds; an input that never leaves its bounds only loses its fill.
    """
    inputs, finish = operands_of(op)
    operand = inputs[position]
    symbols = list(op.symbols.data)
    dims = dims_of(operand.value.type)
    sizes: list[Dim] = []
    starts: list[Dim] = []
    for expr, size in zip(operand.map.results, dims, strict=True):
        reach = reach_of(expr, op.dims, symbols)
        if reach is None or reach.is_inside(size):
            sizes.append(size)
            starts.append(0)
        else:
            sizes.append(_at_least_zero(reach.high - reach.low + 1))
            starts.append(reach.low)
    value = operand.value
    if sizes != list(dims) or any(start != 0 for start in starts):
        value = (copy or padded_copy)(op, operand, sizes, starts)
    moved = tuple(expr + _as_expr(start, symbols) * -1 for expr, start in zip(operand.map.results, starts, strict=True))
    inputs[position] = Operand(value, AffineMap(len(op.dims), len(symbols), moved))
    inputs = [Operand(i.value, AffineMap(len(op.dims), len(symbols), i.map.results), i.fill) for i in inputs]
    finish = [Operand(f.value, AffineMap(len(op.dims), len(symbols), f.map.results)) for f in finish]
    set_operands(op, inputs, finish, symbols)


def _at_least_zero(dim: Dim) -> Dim:
    return dim if provably_at_least(dim, 0) else dim_max(dim, 0)


def _as_expr(dim: Dim, symbols: list[Dim]) -> AffineExpr:
    return AffineConstantExpr(dim) if isinstance(dim, int) else merge_symbols(symbols, [dim])[0]


def padded_copy(op: StructuredOp, operand: Operand, sizes: Sequence[Dim], starts: Sequence[Dim]) -> SSAValue:
    """A copy of the operand right before `op` that starts at `starts`, with its fill where there is no element."""
    symbols: list[Dim] = []
    index = [AffineDimExpr(axis) + _as_expr(start, symbols) for axis, start in enumerate(starts)]
    block = Block(arg_types=[element_scalar(operand.value.type)])
    block.add_op(YieldOp(block.args[0]))
    copy = StructuredOp(
        [operand.value],
        sizes,
        len(sizes),
        [AffineMap(len(sizes), len(symbols), tuple(index))],
        Region(block),
        [element_type_of(operand.value)],
        fills=[operand.fill],
        symbols=symbols,
    )
    parent = op.parent
    assert parent is not None
    parent.insert_op_before(copy, op)
    copy.location = op.location
    copy.res[0].name_hint = operand.value.name_hint
    producer = operand.value.owner
    # The operand itself is still read by `op`, which is about to read the copy instead.
    if isinstance(producer, StructuredOp) and not producer.is_reduction and producer.parent is parent:
        users = {use.operation for result in producer.res for use in result.uses}
        reads_tensors = any(isinstance(inner, ExtractOp) for inner in producer.body.block.ops)
        if users <= {op, copy} and not reads_tensors:
            inline_producer(copy, 0)
    return copy.res[0]


def materialize_in_block(block: Block) -> None:
    """Gives every contraction of a block its padded copies."""
    for op in list(block.ops):
        if isinstance(op, StructuredOp) and 0 not in op.dims and is_contraction(op):
            materialize_all_padding(op)


def materialize_all_padding(op: StructuredOp) -> None:
    """Lets `op` read all inputs that it may read out of bounds from padded copies."""
    for position, fill in enumerate(op.input_fills):
        if fill is not None:
            source = op.inputs[position].owner
            materialize_padding(op, position)
            if isinstance(source, StructuredOp):
                erase_if_unused(source)


@dataclass(frozen=True)
class TensorOpsMaterializePaddingPass(ModulePass):
    """Gives contractions padded copies of inputs that they read out of bounds."""

    name = "tensor-ops-materialize-padding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in list(kernel_blocks(op)):
            materialize_in_block(block)

    def apply_to_kernel(self, function: FuncOp) -> None:
        """The same for one kernel function."""
        materialize_in_block(function.body.blocks[0])
