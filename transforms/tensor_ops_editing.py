"""
Edits of `tensor_ops.structured` in place: operands, symbols, bodies, order of dimensions.

The functions keep the meaning of the op (or say what changes) and leave it verifiable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, provably_at_least, tensor_type
from aicc.dialects.graph.interfaces import set_type
from aicc.dialects.graph.scalars import scalar_constant
from aicc.dialects.tensor_ops import IndexOp, SizeOp, StructuredOp
from aicc.dialects.tensor_ops.affine import (
    Bounds,
    Simplifier,
    extent_bounds,
    permute_dims,
    simplify_map,
    substitute,
    used_symbols,
)
from aicc.dialects.tensor_ops.scalar_eval import ScalarEvaluator
from aicc.dialects.tensor_ops.structured import element_scalar, segment_sizes


@dataclass(frozen=True)
class Operand:
    """An input or finish input with its index map."""

    value: SSAValue
    map: AffineMap
    fill: Attribute | None = None


def operands_of(op: StructuredOp) -> tuple[list[Operand], list[Operand]]:
    """The inputs and the finish inputs."""
    inputs = [
        Operand(value, affine_map, fill)
        for value, affine_map, fill in zip(op.inputs, op.input_maps, op.input_fills, strict=True)
    ]
    finish = [Operand(value, affine_map) for value, affine_map in zip(op.finish_inputs, op.finish_maps, strict=True)]
    return inputs, finish


def dim_bounds(dims: Sequence[Dim]) -> tuple[Bounds, ...]:
    """Bounds of indices over `dims`."""
    return extent_bounds([dim if isinstance(dim, int) else None for dim in dims])


def set_operands(
    op: StructuredOp, inputs: Sequence[Operand], finish: Sequence[Operand], symbols: Sequence[Dim]
) -> None:
    """Gives `op` new operands, but not its bodies new arguments. Maps are simplified, unused symbols dropped."""
    bounds = dim_bounds(op.dims)
    maps = [simplify_map(operand.map, bounds) for operand in (*inputs, *finish)]
    used = sorted(set[int]().union(*(used_symbols(m.results) for m in maps)))
    renamed: dict[int, AffineExpr] = {old: AffineSymExpr(new) for new, old in enumerate(used)}
    maps = [
        AffineMap(len(op.dims), len(used), tuple(substitute(result, {}, renamed) for result in m.results)) for m in maps
    ]
    op.operands = [operand.value for operand in (*inputs, *finish)]
    op.properties["maps"] = ArrayAttr(AffineMapAttr(m) for m in maps)
    op.properties["fills"] = ArrayAttr(UnitAttr() if i.fill is None else i.fill for i in inputs)
    op.properties["symbols"] = ShapeAttr(symbols[s] for s in used)
    op.properties |= segment_sizes(len(inputs), len(finish))


def merge_symbols(symbols: list[Dim], others: Sequence[Dim]) -> list[AffineExpr]:
    """Adds `others` to `symbols` where they are missing; returns what each of `others` is called there."""
    for dim in others:
        if dim not in symbols:
            symbols.append(dim)
    return [AffineSymExpr(symbols.index(dim)) for dim in others]


class IndexMaterializer:
    """Writes affine expressions over the iteration dimensions as index arithmetic in a body."""

    def __init__(self, builder: Builder, dims: Sequence[Dim], symbols: Sequence[Dim]):
        self._builder = builder
        self._symbols = symbols
        self._simplifier = Simplifier(dim_bounds(dims))
        self._known: dict[AffineExpr, SSAValue] = {}

    def constant(self, value: int) -> SSAValue:
        """An index constant."""
        return self._remember(AffineConstantExpr(value), arith.ConstantOp(IntegerAttr(value, IndexType())))

    def value(self, expr: AffineExpr) -> SSAValue:
        """The value of `expr` at the current point."""
        return self._value(self._simplifier.simplify(expr))

    def size(self, dim: Dim) -> SSAValue:
        """A size as an index."""
        return self.constant(dim) if isinstance(dim, int) else self._builder.insert(SizeOp(dim)).result

    def _remember(self, expr: AffineExpr, op: Operation) -> SSAValue:
        if expr not in self._known:
            self._known[expr] = self._builder.insert(op).results[0]
        return self._known[expr]

    def _value(self, expr: AffineExpr) -> SSAValue:
        if expr in self._known:
            return self._known[expr]
        if isinstance(expr, AffineConstantExpr):
            return self.constant(expr.value)
        if isinstance(expr, AffineDimExpr):
            return self._remember(expr, IndexOp(expr.position))
        if isinstance(expr, AffineSymExpr):
            self._known[expr] = self.size(self._symbols[expr.position])
            return self._known[expr]
        assert isinstance(expr, AffineBinaryOpExpr)
        left, right = self._value(expr.lhs), self._value(expr.rhs)
        low, _ = self._simplifier.bounds(expr.lhs)
        positive = low is not None and low >= 0
        match expr.kind:
            case AffineBinaryOpKind.Add:
                return self._remember(expr, arith.AddiOp(left, right))
            case AffineBinaryOpKind.Mul:
                return self._remember(expr, arith.MuliOp(left, right))
            case AffineBinaryOpKind.FloorDiv:
                return self._remember(expr, (arith.DivUIOp if positive else arith.FloorDivSIOp)(left, right))
            case AffineBinaryOpKind.Mod if positive:
                return self._remember(expr, arith.RemUIOp(left, right))
            case _:
                quotient = self._builder.insert(arith.FloorDivSIOp(left, right)).result
                multiple = self._builder.insert(arith.MuliOp(quotient, right)).result
                return self._remember(expr, arith.SubiOp(left, multiple))


def permute_parallel(op: StructuredOp, order: Sequence[int]) -> None:
    """
    Reorders the parallel dimensions: new dimension `i` is old dimension `order[i]`.

    The results are permuted with them; the caller adapts their users.
    """
    if list(order) == list(range(op.parallel_count)):
        return
    new_position = list(range(len(op.dims)))
    for new, old in enumerate(order):
        new_position[old] = new
    elements = op.element_types
    dims = [op.dims[old] for old in order] + list(op.reduction_dims)
    op.properties["extents"] = ShapeAttr(dims)
    op.properties["maps"] = ArrayAttr(AffineMapAttr(permute_dims(m.data, new_position)) for m in op.maps.data)
    rename_indices(op, new_position)
    for result, element in zip(op.res, elements, strict=True):
        set_type(result, tensor_type(dims[: op.parallel_count], element))


def permute_reduction(op: StructuredOp, order: Sequence[int]) -> None:
    """Reorders the reduction dimensions: new one `i` is old one `order[i]`; changes the order of accumulation only."""
    first = op.parallel_count
    new_position = list(range(len(op.dims)))
    for new, old in enumerate(order):
        new_position[first + old] = first + new
    op.properties["extents"] = ShapeAttr([*op.parallel_dims, *(op.reduction_dims[old] for old in order)])
    op.properties["maps"] = ArrayAttr(AffineMapAttr(permute_dims(m.data, new_position)) for m in op.maps.data)
    rename_indices(op, new_position)


def rename_indices(op: StructuredOp, new_position: Sequence[int]) -> None:
    """Renumbers the dimensions that `tensor_ops.index` names in the bodies of `op`."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if isinstance(inner, IndexOp):
                    inner.properties["dim"] = IntegerAttr(new_position[inner.position], inner.dim.type)


def erase_if_unused(op: Operation) -> bool:
    """Erases a pure op whose results have no uses; says whether it did."""
    if any(result.first_use is not None for result in op.results):
        return False
    op.detach()
    op.erase()
    return True


def simplify_body(block: Block) -> None:
    """Computes ops on constants (exact ones: no `math`), removes repeated and unused ops of a scalar body."""
    seen: dict[tuple[object, ...], Operation] = {}
    for op in list(block.ops):
        if len(op.results) != 1 or op.regions:
            continue
        op = _folded(op)
        key = (op.name, tuple(op.operands), tuple(sorted(op.properties.items())), op.results[0].type)
        if (other := seen.setdefault(key, op)) is not op:
            op.results[0].replace_all_uses_with(other.results[0])
    for op in reversed(list(block.ops)):
        if len(op.results) == 1 and op.results[0].first_use is None:
            op.detach()
            op.erase()


def _folded(op: Operation) -> Operation:
    """A constant in the place of `op` if its operands are constants, else `op` itself."""
    constants = [operand.owner for operand in op.operands]
    if not constants or not op.name.startswith("arith.") or op.name == "arith.bitcast":
        return op
    if not all(isinstance(constant, arith.ConstantOp) for constant in constants):
        return op
    evaluator = ScalarEvaluator((), _no_tensors, {})
    evaluator.run_only([*(c for c in constants if isinstance(c, Operation)), op])
    type = op.results[0].type
    constant = arith.ConstantOp(scalar_constant(evaluator.values[op.results[0]].item(), type))
    block = op.parent
    assert block is not None
    block.insert_op_before(constant, op)
    op.results[0].replace_all_uses_with(constant.result)
    op.detach()
    op.erase()
    return constant


def _no_tensors(value: SSAValue) -> Any:
    raise AssertionError(f"{value} is no scalar")


def clean(op: StructuredOp) -> None:
    """Simplifies the bodies of `op`, joins equal operands, drops unused ones and fills that are not needed."""
    blocks = [op.body.block] + ([] if op.finish_block is None else [op.finish_block])
    for block in blocks:
        simplify_body(block)
    inputs, finish = operands_of(op)
    symbols = list(op.symbols.data)
    inputs = [Operand(i.value, i.map) if i.fill is not None and stays_inside(i, op.dims) else i for i in inputs]
    inputs = _join(op.body.block, inputs, 0)
    if op.finish_block is not None:
        finish = _join(op.finish_block, finish, len(op.inits.data))
    set_operands(op, inputs, finish, symbols)


def stays_inside(operand: Operand, extents: Sequence[Dim]) -> bool:
    """Whether the operand is certainly read in bounds, over iteration dimensions of these extents."""
    sizes = dims_of(operand.value.type)
    return all(index_stays_inside(r, size, extents) for r, size in zip(operand.map.results, sizes, strict=True))


def index_stays_inside(index: AffineExpr, size: Dim, extents: Sequence[Dim]) -> bool:
    """Whether an index is certainly in `[0, size)`, over iteration dimensions of these extents."""
    if isinstance(index, AffineDimExpr) and extents[index.position] == size:
        return True
    low, high = Simplifier(dim_bounds(extents)).bounds(index)
    return low is not None and low >= 0 and high is not None and provably_at_least(size, high + 1)


def _join(block: Block, operands: Sequence[Operand], offset: int) -> list[Operand]:
    """Removes the block arguments of repeated or unused operands; returns the operands that stay."""
    kept: dict[Operand, SSAValue] = {}
    args = list(block.args)
    for i, operand in enumerate(operands):
        arg = args[offset + i]
        if arg.first_use is None:
            block.erase_arg(arg)
        elif operand in kept:
            arg.replace_all_uses_with(kept[operand])
            block.erase_arg(arg)
        else:
            kept[operand] = arg
    return list(kept)


def add_argument(block: Block, operand: Operand, position: int) -> SSAValue:
    """Inserts a block argument for an element of `operand`."""
    return block.insert_arg(element_scalar(operand.value.type), position)
