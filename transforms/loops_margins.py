"""
Margins of buffers: what a padded copy adds around a buffer, found in a kernel that makes one, and moved elsewhere.

A kernel makes a padded copy of an argument by one nest, before anything else reads it:

    %p = loops.alloc : memref<9x9x64xf32>
    for %i = 0 to 9 { for %j = 0 to 9 { for %c = 0 to 64 { %p[%i, %j, %c] = %x[%i - 1, %j - 1, %c] fill 0.0 } } }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from aicc.dialects.graph.dims import Dim
from aicc.dialects.loops import AllocOp, ForOp, LoadOp, SizeOp, StoreOp, ViewOp, YieldOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.attrs import AnyMemRef, LoopKind, memref_dims, memref_of, memref_type
from aicc.dialects.tensor_ops.affine import linear_form, substitute
from aicc.transforms.loops_collapse import extent_of
from aicc.transforms.loops_nest import perfect_nest


@dataclass(frozen=True)
class Margin:
    """Elements that stand before and after a buffer along each dimension, and their value."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    fill: Attribute

    def join(self, other: Margin) -> Margin | None:
        """The smallest margin that holds both; `None` if their values differ."""
        # Attributes of 0.0 and -0.0 are equal to Python.
        if str(self.fill) != str(other.fill):
            return None
        return Margin(tuple(map(max, self.low, other.low)), tuple(map(max, self.high, other.high)), self.fill)

    def around(self, type: AnyMemRef) -> AnyMemRef:
        """The type of a buffer with this margin."""
        dims = [low + dim + high for dim, low, high in zip(memref_dims(type), self.low, self.high, strict=True)]
        return memref_type(dims, type.element_type)


@dataclass(frozen=True)
class PaddedCopy:
    """A nest that fills a local buffer with an argument and a margin around it."""

    nest: ForOp
    copy: AllocOp
    margin: Margin


def find_padded_copy(argument: BlockArgument) -> PaddedCopy | None:
    """The padded copy that is all that a kernel uses the argument for; `None` if there is no such."""
    uses = [use.operation for use in argument.uses]
    if len(uses) != 1 or not isinstance(load := uses[0], LoadOp) or load.fill is None or lanes_of(load.result.type):
        return None
    top: Operation = load
    while (parent := top.parent_op()) is not None and not isinstance(parent, FuncOp):
        top = parent
    if not isinstance(top, ForOp):
        return None
    nest = perfect_nest(top)
    body = list(nest[-1].block.ops)
    if len(body) != 3 or body[0] is not load or not isinstance(store := body[1], StoreOp):
        return None
    copy = store.memref.owner
    if store.value is not load.result or not isinstance(copy, AllocOp) or copy.parent is not top.parent:
        return None
    margin = _margin(load, store, nest)
    if margin is None or not all(use.operation is store or _is_read(use.operation, margin) for use in copy.result.uses):
        return None
    return PaddedCopy(top, copy, margin)


def _is_read(op: Operation, margin: Margin) -> bool:
    """Whether a use of the copy is a load, or a view that is only read, of other elements along the last axis."""
    if not isinstance(op, ViewOp):
        return _is_plain_load(op)
    before, after = memref_dims(memref_of(op.source)), memref_dims(memref_of(op.result))
    packs = op.offset is None and before[:-1] == after[:-1] and margin.low[-1] == margin.high[-1] == 0
    return packs and all(_is_plain_load(use.operation) for use in op.result.uses)


def _is_plain_load(op: Operation) -> bool:
    return isinstance(op, LoadOp) and op.fill is None and not lanes_of(op.result.type)


def _margin(load: LoadOp, store: StoreOp, nest: Sequence[ForOp]) -> Margin | None:
    """The margin, if the loops walk all of the copy and read each element's counterpart."""
    extents: dict[SSAValue, Dim | None] = {loop.induction: extent_of(loop) for loop in nest if not loop.inits}
    dims, copied = memref_dims(memref_of(load.memref)), memref_dims(memref_of(store.memref))
    if len(extents) != len(nest) or len(dims) != len(copied):
        return None
    low: list[int] = []
    high: list[int] = []
    walked: list[SSAValue] = []
    for read, written, dim, whole in zip(load.map.data.results, store.map.data.results, dims, copied, strict=True):
        offset = 0
        match written:
            case AffineDimExpr(position=position):
                variable = store.indices[position]
                index = AffineDimExpr(list(load.indices).index(variable)) if variable in load.indices else None
                if extents.get(variable) != whole or index is None:
                    return None
                walked.append(variable)
                if read != index:
                    shift = read + index * -1
                    offset = _constant(shift)
                    if offset is None:
                        return None
            case AffineConstantExpr(value=0) if read == written and whole == 1:
                pass
            case _:
                return None
        rest = whole - dim + offset
        if offset > 0 or not isinstance(rest, int) or rest < 0:
            return None
        low.append(-offset)
        high.append(rest)
    if len(set(walked)) != len(walked) or len(walked) != len(nest) or load.fill is None:
        return None
    return Margin(tuple(low), tuple(high), load.fill)


def _constant(expr: AffineExpr) -> int | None:
    """The value of an expression that is the same for all indices."""
    form = linear_form(expr)
    return None if form.terms else form.constant


def _retype(kernel: FuncOp, argument: BlockArgument, type: AnyMemRef) -> BlockArgument:
    """Gives an argument of the kernel another type; returns the new argument."""
    block = argument.block
    new = block.insert_arg(type, argument.index)
    new.name_hint, new.location = argument.name_hint, argument.location
    argument.replace_all_uses_with(new)
    block.erase_arg(argument)
    kernel.update_function_type()
    return new


def _shift(op: LoadOp | StoreOp, offsets: Sequence[int]) -> None:
    """Moves what a load or store accesses."""
    old = op.map.data
    results = tuple(expr + by if by else expr for expr, by in zip(old.results, offsets, strict=True))
    op.map = AffineMapAttr(AffineMap(old.num_dims, old.num_symbols, results))


def read_in_place(kernel: FuncOp, argument: BlockArgument, found: PaddedCopy, margin: Margin) -> None:
    """Makes the kernel take the argument with a margin, at least that of the copy of its own, which disappears."""
    found.nest.detach()
    found.nest.erase()
    new = _retype(kernel, argument, margin.around(memref_of(argument)))
    offsets = [whole - own for whole, own in zip(margin.low, found.margin.low, strict=True)]
    for use in list(found.copy.result.uses):
        op = use.operation
        if isinstance(op, LoadOp):
            _shift(op, offsets)
            continue
        assert isinstance(op, ViewOp)
        packed = memref_of(op.result)
        dims = [*memref_dims(memref_of(new))[:-1], memref_dims(packed)[-1]]
        view = ViewOp(new, memref_type(dims, packed.element_type))
        view.location, view.result.name_hint = op.location, op.result.name_hint
        assert op.parent is not None
        op.parent.insert_op_before(view, op)
        for inner in list(op.result.uses):
            assert isinstance(inner.operation, LoadOp)
            _shift(inner.operation, offsets)
        op.result.replace_all_uses_with(view.result)
        op.detach()
        op.erase()
    found.copy.result.replace_all_uses_with(new)
    found.copy.detach()
    found.copy.erase()


def is_only_stored(argument: BlockArgument) -> bool:
    """Whether all that happens to the buffer is that scalars are stored to it."""
    return all(
        isinstance(use.operation, StoreOp)
        and use.operation.memref is argument
        and not lanes_of(use.operation.value.type)
        for use in argument.uses
    )


def write_with_margin(kernel: FuncOp, argument: BlockArgument, margin: Margin) -> None:
    """Makes the kernel store to a buffer with a margin, and fill the margin."""
    dims = memref_dims(memref_of(argument))
    new = _retype(kernel, argument, margin.around(memref_of(argument)))
    for use in list(new.uses):
        store = use.operation
        assert isinstance(store, StoreOp)
        _shift(store, margin.low)
    block = kernel.body.block
    start, last = block.first_op, block.last_op
    assert start is not None and last is not None
    value = arith.ConstantOp(cast("Any", margin.fill))
    ops: list[Operation] = [value]
    for axis in range(len(dims)):
        for first, count in _sides(dims, margin, axis):
            ops += _slab(new, margin, axis, first, count, value.result)
    for op in ops:
        op.location = kernel.location
        # Numbers and sizes stand before all nests.
        block.insert_op_before(op, last if isinstance(op, ForOp) else start)


def _sides(dims: Sequence[Dim], margin: Margin, axis: int) -> list[tuple[AffineExpr | Dim, int]]:
    """Per nest to write: the position along the axis, over its own loop's variable or from where on, and how many."""
    low, high, dim = margin.low[axis], margin.high[axis], dims[axis]
    index = AffineDimExpr(0)
    if low == high and low and isinstance(dim, int):
        # Both sides by one nest.
        return [(index * (dim + 1) if low == 1 else index + (index // low) * dim, 2 * low)]
    return [(first, count) for first, count in ((0, low), (low + dim, high)) if count]


def _slab(
    memref: SSAValue, margin: Margin, axis: int, first: AffineExpr | Dim, count: int, value: SSAValue
) -> list[Operation]:
    """A nest that fills one side, or both, along an axis; along axes before it, the margin is filled already."""
    ops: list[Operation] = []

    def size(dim: Dim) -> int | SSAValue:
        if isinstance(dim, int):
            return dim
        op = SizeOp(dim)
        ops.append(op)
        return op.result

    dims = memref_dims(memref_of(memref))
    loops: list[ForOp] = []
    results: list[AffineExpr] = []
    operands: list[SSAValue] = []
    label = f"margin{axis}_{'0' if first == 0 else '1'}"
    for position, dim in enumerate(dims):
        inner = position < axis and (margin.low[position] or margin.high[position])
        extent = count if position == axis else dim - margin.low[position] - margin.high[position] if inner else dim
        loop = ForOp(0, (), size(extent), (), kind=LoopKind.PARALLEL, label=f"{label}_d{position}")
        variable = AffineDimExpr(len(operands))
        loops.append(loop)
        operands.append(loop.induction)
        if position != axis:
            results.append(variable + margin.low[position] if inner else variable)
        elif isinstance(first, AffineExpr):
            results.append(substitute(first, {0: variable}))
        elif isinstance(first, int):
            results.append(variable + first)
        else:
            start = size(first)
            assert isinstance(start, SSAValue)
            operands.append(start)
            results.append(variable + AffineDimExpr(len(operands) - 1))
    store: Operation = StoreOp(value, memref, AffineMap(len(operands), 0, tuple(results)), operands)
    for loop in reversed(loops):
        loop.block.add_ops([store, YieldOp()])
        store = loop
    return [*ops, loops[0]]
