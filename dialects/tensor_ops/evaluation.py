"""
The numpy meaning of `tensor_ops.structured`, over boxes of the iteration space that bound the memory used.

Three ways to reduce, by what the body's accumulator does: a product that is summed goes through `np.matmul`; any other
associative op (`acc' = op(acc, f(inputs))`) through its ufunc's `reduce`; everything else is folded one reduction
point at a time over all parallel points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.ir.affine.affine_expr import AffineBinaryOpExpr, AffineBinaryOpKind, AffineSymExpr

from aicc.dialects.tensor_ops.affine import used_dims
from aicc.dialects.tensor_ops.body_ops import IndexOp, YieldOp
from aicc.dialects.tensor_ops.scalar_eval import Array, ScalarEvaluator, scalar_array, to_body_storage
from aicc.dialects.tensor_ops.scalar_tables import unsigned

MAX_POINTS = 1 << 22
"""Most points of the iteration space that are evaluated at once."""

MAX_FACTOR_ELEMENTS = 1 << 25
"""Most elements of a factor or of the result of a contraction that are held at once."""

Box = tuple[tuple[int, int], ...]
"""Half-open range of each iteration dimension."""


def eval_expr(expr: AffineExpr, dims: Sequence[Array], symbols: Sequence[int]) -> Array:
    """An affine expression over index arrays."""
    if isinstance(expr, AffineDimExpr):
        return dims[expr.position]
    if isinstance(expr, AffineConstantExpr):
        return np.array(expr.value, np.int64)
    if isinstance(expr, AffineSymExpr):
        return np.array(symbols[expr.position], np.int64)
    assert isinstance(expr, AffineBinaryOpExpr)
    left, right = eval_expr(expr.lhs, dims, symbols), eval_expr(expr.rhs, dims, symbols)
    match expr.kind:
        case AffineBinaryOpKind.Add:
            return left + right
        case AffineBinaryOpKind.Mul:
            return left * right
        case AffineBinaryOpKind.FloorDiv:
            return left // right
        case AffineBinaryOpKind.Mod:
            return left % right
        case AffineBinaryOpKind.CeilDiv:
            return -(-left // right)


def index_arrays(box: Box) -> list[Array]:
    """One index array per dimension, of size 1 along all others."""
    rank = len(box)
    return [
        np.arange(low, high, dtype=np.int64).reshape([-1 if k == i else 1 for k in range(rank)])
        for i, (low, high) in enumerate(box)
    ]


@dataclass(frozen=True)
class Source:
    """An array and how it is read."""

    array: Array
    map: AffineMap
    fill: Attribute | None

    def read(self, indices: Sequence[Array], symbols: Sequence[int]) -> Array:
        """The elements at the given points, in the storage of bodies."""
        where = [eval_expr(result, indices, symbols) for result in self.map.results]
        array = to_body_storage(self.array)
        if self.fill is None:
            rank = max((index.ndim for index in indices), default=0)
            return np.asarray(array[tuple(where)]) if where else array.reshape([1] * rank)
        inside: Array = np.array(True)
        for index, size in zip(where, array.shape, strict=True):
            inside = inside & (index >= 0) & (index < size)
        fill = scalar_array(self.fill)
        if array.size == 0:
            return np.broadcast_to(fill, np.broadcast_shapes(*(w.shape for w in where)))
        clipped = tuple(np.clip(index, 0, size - 1) for index, size in zip(where, array.shape, strict=True))
        return np.where(inside, array[clipped], fill)


@dataclass(frozen=True)
class Combination:
    """An accumulator that is updated by an associative op: `acc' = ufunc(acc, contribution)`."""

    ufunc: np.ufunc
    contribution: SSAValue
    bits: bool
    """The ufunc works on the unsigned view of the values."""


_COMBINATIONS: dict[str, tuple[np.ufunc, bool]] = {
    arith.AddfOp.name: (np.add, False),
    arith.MulfOp.name: (np.multiply, False),
    arith.MaximumfOp.name: (np.maximum, False),
    arith.MinimumfOp.name: (np.minimum, False),
    arith.MaxnumfOp.name: (np.fmax, False),
    arith.MinnumfOp.name: (np.fmin, False),
    arith.AddiOp.name: (np.add, False),
    arith.MuliOp.name: (np.multiply, False),
    arith.MaxSIOp.name: (np.maximum, False),
    arith.MinSIOp.name: (np.minimum, False),
    arith.MaxUIOp.name: (np.maximum, True),
    arith.MinUIOp.name: (np.minimum, True),
    arith.AndIOp.name: (np.bitwise_and, False),
    arith.OrIOp.name: (np.bitwise_or, False),
    arith.XOrIOp.name: (np.bitwise_xor, False),
}
_BOOL_COMBINATIONS: dict[str, np.ufunc] = {
    arith.AndIOp.name: np.logical_and,
    arith.OrIOp.name: np.logical_or,
    arith.XOrIOp.name: np.logical_xor,
}


def combinations(body: Block, num_inputs: int) -> list[Combination] | None:
    """How each accumulator is combined, or `None` if one of them depends on the order of the points."""
    accumulators = body.args[num_inputs:]
    dependent: set[SSAValue] = set(accumulators)
    for op in body.ops:
        if any(operand in dependent for operand in op.operands):
            dependent.update(op.results)
    terminator = body.last_op
    assert isinstance(terminator, YieldOp)
    found: list[Combination] = []
    for accumulator, value in zip(accumulators, terminator.values, strict=True):
        op = value.owner
        if not isinstance(op, Operation) or accumulator not in op.operands or len(op.operands) != 2:
            return None
        if not accumulator.has_one_use() or not value.has_one_use():
            return None
        other = op.operands[1] if op.operands[0] is accumulator else op.operands[0]
        is_bool = str(value.type) == "i1"
        ufunc, bits = _COMBINATIONS.get(op.name, (None, False))
        if is_bool:
            ufunc, bits = _BOOL_COMBINATIONS.get(op.name), False
        if ufunc is None or other in dependent or str(value.type) in ("f16", "bf16"):
            return None
        found.append(Combination(ufunc, other, bits))
    return found


@dataclass(frozen=True)
class StructuredEvaluation:
    """One `tensor_ops.structured` with numbers in the place of symbols."""

    extents: tuple[int, ...]
    num_parallel: int
    symbols: tuple[int, ...]
    inputs: tuple[Source, ...]
    finish_inputs: tuple[Source, ...]
    inits: tuple[Attribute, ...]
    body: Block
    finish: Block | None
    result_dtypes: tuple[np.dtype[Any], ...]
    captured: Callable[[SSAValue], Array]
    named_symbols: Mapping[str, int]

    def run(self) -> list[Array]:
        """The results, in the storage of tensors."""
        shape = self.extents[: self.num_parallel]
        results = [np.empty(shape, dtype) for dtype in self.result_dtypes]
        combined = combinations(self.body, len(self.inputs)) if self.inits else None
        factors = self._factors(combined)
        for box in self._parallel_boxes(factors):
            where = tuple(slice(low, high) for low, high in box)
            if not self.inits:
                values = self._evaluator(index_arrays(box)).run(self.body, self._read(self.inputs, index_arrays(box)))
            else:
                values = self._finish(box, self._reduce(box, combined, factors))
            for result, value in zip(results, values, strict=True):
                value = unsigned(value) if result.dtype.kind == "u" else value
                result[where] = np.broadcast_to(value, result[where].shape)
        return results

    # Splitting the space

    def _parallel_boxes(self, factors: tuple[SSAValue, SSAValue] | None) -> Iterator[Box]:
        extents = self.extents[: self.num_parallel]
        if 0 in extents:
            return
        tile = list(extents)
        if factors is not None:
            dims = [self._dims_of(factor) for factor in factors] + [set(range(self.num_parallel))]
            while True:
                sizes = [*tile, *self.extents[self.num_parallel :]]
                largest = max(dims, key=lambda used: math.prod(sizes[d] for d in used))
                if math.prod(sizes[d] for d in largest) <= MAX_FACTOR_ELEMENTS:
                    break
                split = max((d for d in largest if d < self.num_parallel), key=lambda d: tile[d], default=None)
                if split is None or tile[split] == 1:
                    break
                tile[split] = -(-tile[split] // 2)
        else:
            limit = max(MAX_POINTS // max(math.prod(self.extents[self.num_parallel :]), 1), 1)
            inner = 1
            for d in reversed(range(len(tile))):
                tile[d] = min(tile[d], max(limit // inner, 1))
                inner *= tile[d]
        yield from _boxes(extents, tile)

    def _reduction_boxes(self, parallel: Box) -> Iterator[Box]:
        extents = self.extents[self.num_parallel :]
        if 0 in extents:
            return
        limit = max(MAX_POINTS // max(math.prod(high - low for low, high in parallel), 1), 1)
        tile: list[int] = []
        for extent in reversed(extents):
            tile.insert(0, min(extent, max(limit // math.prod(tile), 1)))
        yield from _boxes(extents, tile)

    # Pieces of the computation

    def _evaluator(self, indices: Sequence[Array]) -> ScalarEvaluator:
        return ScalarEvaluator(indices, self.captured, self.named_symbols)

    def _read(self, sources: Sequence[Source], indices: Sequence[Array]) -> list[Array]:
        return [source.read(indices, self.symbols) for source in sources]

    def _finish(self, box: Box, accumulators: list[Array]) -> list[Array]:
        if self.finish is None:
            return accumulators
        indices = index_arrays(box)
        # Maps of finish inputs do not use the reduction dimensions.
        extra = [np.array(0, np.int64)] * (len(self.extents) - self.num_parallel)
        arrays = [np.broadcast_to(a, tuple(high - low for low, high in box)) for a in accumulators]
        return self._evaluator(indices).run(self.finish, arrays + self._read(self.finish_inputs, [*indices, *extra]))

    def _reduce(
        self, box: Box, combined: list[Combination] | None, factors: tuple[SSAValue, SSAValue] | None
    ) -> list[Array]:
        shape = tuple(high - low for low, high in box)
        accumulators = [np.broadcast_to(scalar_array(init), shape) for init in self.inits]
        if combined is None:
            return self._fold(box, accumulators)
        reduction = self.extents[self.num_parallel :]
        boxes = self._reduction_boxes(box)
        if factors is not None:
            boxes = iter([] if 0 in reduction else [tuple((0, extent) for extent in reduction)])
        for inner in boxes:
            full = box + inner
            indices = index_arrays(full)
            evaluator = self._evaluator(indices)
            evaluator.values.update(zip(self.body.args, self._read(self.inputs, indices), strict=False))
            accumulators = self._accumulate(full, evaluator, accumulators, combined, factors)
        return accumulators

    def _accumulate(
        self,
        box: Box,
        evaluator: ScalarEvaluator,
        accumulators: Sequence[Array],
        combined: Sequence[Combination],
        factors: tuple[SSAValue, SSAValue] | None,
    ) -> list[Array]:
        needed = list(factors) if factors is not None else [c.contribution for c in combined]
        evaluator.run_only(_slice_of(self.body, needed))
        full = tuple(high - low for low, high in box)
        with np.errstate(all="ignore"):
            if factors is not None:
                product = contract(evaluator.values[factors[0]], evaluator.values[factors[1]], full, self.num_parallel)
                return [accumulators[0] + product]
            axes = tuple(range(self.num_parallel, len(full)))
            result: list[Array] = []
            for accumulator, combination in zip(accumulators, combined, strict=True):
                values = np.broadcast_to(evaluator.values[combination.contribution], full)
                dtype = values.dtype
                if combination.bits:
                    values, accumulator = unsigned(np.ascontiguousarray(values)), unsigned(accumulator.copy())
                partial = _reduce_axes(combination.ufunc, values, axes)
                result.append(np.asarray(combination.ufunc(accumulator, partial)).view(dtype))
            return result

    def _fold(self, box: Box, accumulators: list[Array]) -> list[Array]:
        indices = index_arrays(box)
        for point in itertools.product(*(range(extent) for extent in self.extents[self.num_parallel :])):
            dims = [*indices, *(np.array(p, np.int64) for p in point)]
            accumulators = self._evaluator(dims).run(self.body, self._read(self.inputs, dims) + accumulators)
        return accumulators

    # Contractions

    def _factors(self, combined: list[Combination] | None) -> tuple[SSAValue, SSAValue] | None:
        """The two factors of a body that sums a product, if that is all it does."""
        if combined is None or len(combined) != 1 or combined[0].ufunc is not np.add:
            return None
        product = combined[0].contribution.owner
        if not isinstance(product, arith.MulfOp | arith.MuliOp):
            return None
        return product.operands[0], product.operands[1]

    def _dims_of(self, value: SSAValue) -> set[int]:
        """The iteration dimensions over which a value of the body can vary."""
        dims: set[int] = set()
        for op in _slice_of(self.body, [value]):
            if isinstance(op, IndexOp):
                dims.add(op.position)
            for operand in op.operands:
                dims |= self._argument_dims(operand)
        return dims | self._argument_dims(value)

    def _argument_dims(self, value: SSAValue) -> set[int]:
        args = self.body.args
        for source, arg in zip(self.inputs, args, strict=False):
            if arg is value:
                return used_dims(source.map.results)
        return set()


def _reduce_axes(ufunc: np.ufunc, values: Array, axes: tuple[int, ...]) -> Array:
    """`ufunc.reduce` over the last axes, in the dtype of the values."""
    if not axes:
        return values
    flat = values.reshape((*values.shape[: axes[0]], -1))
    if values.dtype.kind == "b":
        return ufunc.reduce(flat, axis=-1)
    if ufunc in (np.add, np.multiply):
        return ufunc.reduce(flat, axis=-1, dtype=values.dtype)
    return ufunc.reduce(flat, axis=-1)


def _slice_of(body: Block, values: Sequence[SSAValue]) -> list[Operation]:
    """The ops of the body that `values` depend on, in order."""
    needed: set[SSAValue] = set(values)
    ops: list[Operation] = []
    for op in reversed(list(body.ops)):
        if any(result in needed for result in op.results):
            needed.update(op.operands)
            ops.append(op)
    return ops[::-1]


def _boxes(extents: Sequence[int], tile: Sequence[int]) -> Iterator[Box]:
    ranges = [[(low, min(low + t, e)) for low in range(0, e, t)] for e, t in zip(extents, tile, strict=True)]
    yield from itertools.product(*ranges)


def contract(a: Array, b: Array, full: tuple[int, ...], num_parallel: int) -> Array:
    """
    `sum over the last axes of a * b`, where both broadcast to the shape `full`; by one batched matrix product.

    An axis over which neither factor varies is made to vary in the first one.
    """
    a, b = (x.reshape((1,) * (len(full) - x.ndim) + x.shape) for x in (a, b))
    fixed = [full[d] if a.shape[d] == 1 and b.shape[d] == 1 else a.shape[d] for d in range(len(full))]
    a = np.broadcast_to(a, fixed)
    reduction = range(num_parallel, len(full))
    only_a = tuple(d for d in reduction if b.shape[d] == 1 and a.shape[d] != 1)
    only_b = tuple(d for d in reduction if a.shape[d] == 1 and b.shape[d] != 1)
    a = a.sum(axis=only_a, keepdims=True, dtype=a.dtype)
    b = b.sum(axis=only_b, keepdims=True, dtype=b.dtype)
    batch = [d for d in range(num_parallel) if a.shape[d] != 1 and b.shape[d] != 1]
    rows = [d for d in range(num_parallel) if b.shape[d] == 1]
    columns = [d for d in range(num_parallel) if a.shape[d] == 1 and b.shape[d] != 1]
    inner = list(reduction)

    def sizes(dims: Sequence[int], x: Array) -> tuple[int, ...]:
        return tuple(x.shape[d] for d in dims)

    def drop(x: Array, dims: Sequence[int]) -> Array:
        return x.reshape([x.shape[d] for d in range(x.ndim) if d not in dims])

    left = drop(np.transpose(a, batch + rows + inner + columns), range(len(full) - len(columns), len(full)))
    right = drop(np.transpose(b, batch + inner + columns + rows), range(len(full) - len(rows), len(full)))
    depth = math.prod(sizes(inner, a))
    count = math.prod(sizes(batch, a))
    product = np.matmul(
        left.reshape(count, math.prod(sizes(rows, a)), depth),
        right.reshape(count, depth, math.prod(sizes(columns, b))),
    )
    order = batch + rows + columns
    product = product.reshape(sizes(batch, a) + sizes(rows, a) + sizes(columns, b))
    return np.transpose(product, [order.index(d) for d in range(num_parallel)])


def fill_of(attribute: Attribute) -> Attribute | None:
    """The fill of one input: `None` when it is always read in bounds."""
    return None if isinstance(attribute, UnitAttr) else attribute
