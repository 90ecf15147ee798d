"""
The plain loop nest of one op of `tensor_ops`: parallel loops outermost, then reduction loops that carry the
accumulators, then the finishing ops and the store.

Constants and sizes stand at the start of the function, so that nests are perfect as far as the op allows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from aicc.dialects.graph.dims import Dim, SymExpr, lower_bound, sym
from aicc.dialects.loops.access import ApplyOp, LoadOp
from aicc.dialects.loops.attrs import LoopKind, memref_dims, memref_of
from aicc.dialects.loops.call import size_of_value
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.memory import SizeOp
from aicc.dialects.tensor_ops.affine import Simplifier, extent_bounds
from aicc.dialects.tensor_ops.body_ops import ExtractOp, IndexOp
from aicc.dialects.tensor_ops.body_ops import SizeOp as TensorSizeOp
from aicc.dialects.tensor_ops.body_ops import YieldOp as TensorYieldOp


class Emitter:
    """
    Appends ops to one function: a current block, and values that are made once at its start.

    `symbols` are the values of the function's symbols.
    """

    def __init__(self, entry: Block, symbols: Mapping[str, SSAValue]):
        self.entry = entry
        self.block = entry
        self.symbols = {sym(name): value for name, value in symbols.items()}
        self._like: Operation | None = None
        self._last_header: Operation | None = None
        self._constants: dict[tuple[Attribute, str], SSAValue] = {}
        self._sizes: dict[Dim, SSAValue] = {}
        self._nests = 0

    def next_label(self) -> str:
        """`s0`, `s1`, ...: the first part of the labels of the next nest's loops."""
        self._nests += 1
        return f"s{self._nests - 1}"

    @contextmanager
    def located(self, op: Operation) -> Generator[None, None, None]:
        """Ops made inside get the location of `op`."""
        before, self._like = self._like, op
        try:
            yield
        finally:
            self._like = before

    @contextmanager
    def into(self, block: Block) -> Generator[None, None, None]:
        """Ops made inside go to the end of `block`."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    def add(self, op: Operation) -> Operation:
        """Appends `op`."""
        if self._like is not None:
            op.location = self._like.location
        self.block.add_op(op)
        return op

    def value(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Appends `op` and returns its one result."""
        self.add(op)
        if hint is not None:
            op.results[0].name_hint = hint
        return op.results[0]

    def _header(self, op: Operation) -> SSAValue:
        """Puts `op` at the start of the function, after the earlier ones there."""
        if self._like is not None:
            op.location = self._like.location
        if self._last_header is not None:
            self.entry.insert_op_after(op, self._last_header)
        elif self.entry.first_op is not None:
            self.entry.insert_op_before(op, self.entry.first_op)
        else:
            self.entry.add_op(op)
        self._last_header = op
        return op.results[0]

    def constant(self, value: Attribute) -> SSAValue:
        """A scalar constant."""
        # The text too, because the attributes of 0.0 and -0.0 are equal.
        key = (value, str(value))
        if key not in self._constants:
            constant = arith.ConstantOp(value)  # pyright: ignore[reportArgumentType]
            self._constants[key] = self._header(constant)
        return self._constants[key]

    def index(self, value: int) -> SSAValue:
        """An index constant."""
        return self.constant(IntegerAttr(value, IndexType()))

    def size(self, dim: Dim) -> SSAValue:
        """The value of a size."""
        if not isinstance(dim, SymExpr):
            return self.index(dim)
        if (symbol := self.symbols.get(dim)) is not None:
            return symbol
        if not self.is_known(dim):
            # Data defines a part of it, further up in the block.
            return self.value(SizeOp(dim))
        if dim not in self._sizes:
            self._sizes[dim] = self._header(SizeOp(dim))
        return self._sizes[dim]

    def is_known(self, dim: Dim) -> bool:
        """Whether a size is known when the function starts."""
        return not isinstance(dim, SymExpr) or all(sym(name) in self.symbols for name in dim.symbols())

    def bound(self, dim: Dim) -> int | SSAValue:
        """A size as a loop bound."""
        return self.size(dim) if isinstance(dim, SymExpr) else dim

    @contextmanager
    def loops(
        self, dims: Sequence[Dim], label: str, parallel: bool = True, first: int = 0
    ) -> Generator[list[SSAValue], None, None]:
        """One loop within the other, labelled `<label>_d<k>` from `k = first` on; gives the induction variables."""
        opened: list[ForOp] = []
        before = self.block
        kind = LoopKind.PARALLEL if parallel else LoopKind.SEQUENTIAL
        for position, dim in enumerate(dims, first):
            loop = ForOp(0, (), self.bound(dim), (), kind=kind, label=f"{label}_d{position}")
            loop.induction.name_hint = f"d{position}"
            self.add(loop)
            self.block = loop.block
            opened.append(loop)
        yield [loop.induction for loop in opened]
        for loop in reversed(opened):
            self.block = loop.block
            self.add(YieldOp())
        self.block = before

    def reduce(
        self,
        dims: Sequence[Dim],
        label: str,
        first: int,
        inits: Sequence[SSAValue],
        body: Callable[[list[SSAValue], list[SSAValue]], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        """
        Sequential loops that carry accumulators from `inits` on; `body(indices, accumulators)` makes the next ones.
        """
        opened: list[ForOp] = []
        before, carried = self.block, list[SSAValue](inits)
        for position, dim in enumerate(dims, first):
            loop = ForOp(0, (), self.bound(dim), (), iter_args=carried, label=f"{label}_d{position}")
            loop.induction.name_hint = f"d{position}"
            for argument in loop.iter_args:
                argument.name_hint = "acc"
            self.add(loop)
            self.block, carried = loop.block, list[SSAValue](loop.iter_args)
            opened.append(loop)
        results = list[SSAValue](body([loop.induction for loop in opened], carried))
        for loop in reversed(opened):
            self.block = loop.block
            self.add(YieldOp(*results))
            results = list[SSAValue](loop.results)
        self.block = before
        return results


_AFFINE = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.DivUIOp, arith.RemUIOp)
"""What index arithmetic in bodies is made of, as far as it can be affine."""


def _zero(type: Attribute) -> Attribute:
    if isinstance(type, AnyFloat):
        return FloatAttr(0.0, type)
    return IntegerAttr(0, cast("IntegerType[Any]", type))


class BodyEmitter:
    """
    Copies scalar bodies into the current block.

    `indices` are the values of the iteration dimensions, `extents` their sizes; `memrefs` finds the buffer of a tensor
    that is read with `tensor_ops.extract`.
    """

    def __init__(
        self,
        emitter: Emitter,
        extents: Sequence[Dim],
        memrefs: Callable[[SSAValue], SSAValue],
    ):
        self.emitter = emitter
        self.extents = extents
        self.memrefs = memrefs
        self.indices: list[SSAValue] = []
        self._bounds = extent_bounds([extent if isinstance(extent, int) else None for extent in extents])

    def access(self, affine_map: AffineMap, symbols: Sequence[Dim]) -> tuple[AffineMap, list[SSAValue]]:
        """An index map of a structured op over the loops' indices and the sizes that its symbols stand for."""
        operands = list(self.indices)
        # Loops that are not open here have no value; the map does not use them.
        dims: list[AffineExpr] = [
            AffineDimExpr(position) if position < len(operands) else AffineConstantExpr(0)
            for position in range(affine_map.num_dims)
        ]
        replaced: list[AffineExpr] = []
        for symbol in symbols:
            if isinstance(symbol, SymExpr):
                replaced.append(AffineDimExpr(len(operands)))
                operands.append(self.emitter.size(symbol))
            else:
                replaced.append(AffineConstantExpr(symbol))
        results = tuple(expr.replace_dims_and_symbols(dims, replaced) for expr in affine_map.results)
        return AffineMap(len(operands), 0, results), operands

    def load(self, tensor: SSAValue, affine_map: AffineMap, symbols: Sequence[Dim], fill: Attribute | None) -> SSAValue:
        """The element of an input at the current point."""
        memref = self.memrefs(tensor)
        if fill is not None and self.within(affine_map, memref_dims(memref_of(memref))):
            fill = None
        return self.emitter.value(LoadOp(memref, *self.access(affine_map, symbols), fill=fill))

    def within(self, affine_map: AffineMap, dims: Sequence[Dim]) -> bool:
        """Whether the map provably stays inside `dims` over the whole iteration space."""
        simplifier = Simplifier(self._bounds)
        for expr, dim in zip(affine_map.results, dims, strict=True):
            low, high = simplifier.bounds(expr)
            if low is None or low < 0:
                return False
            if isinstance(dim, SymExpr):
                if not isinstance(expr, AffineDimExpr) or self.extents[expr.position] != dim:
                    return False
            elif high is None or high >= dim:
                return False
        return True

    def _expression(self, index: SSAValue) -> AffineExpr | None:
        """An index as an affine expression of the iteration indices, where it is computed from these and numbers."""
        if index in self.indices:
            return AffineDimExpr(self.indices.index(index))
        if isinstance(constant := size_of_value(index), int):
            return AffineConstantExpr(constant)
        owner = index.owner
        if not isinstance(owner, _AFFINE):
            return None
        left, right = map(self._expression, owner.operands)
        if left is None or right is None:
            return None
        match owner:
            case arith.AddiOp():
                return left + right
            case arith.SubiOp():
                return left - right
            case arith.MuliOp() if isinstance(right, AffineConstantExpr):
                return left * right
            case arith.DivUIOp() | arith.RemUIOp() if isinstance(right, AffineConstantExpr) and right.value > 0:
                low, _ = Simplifier(self._bounds).bounds(left)
                if low is None or low < 0:
                    return None
                return left // right if isinstance(owner, arith.DivUIOp) else left % right
            case _:
                return None

    def run(self, block: Block, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        """The values that the block yields for `arguments`."""
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if isinstance(op, TensorYieldOp):
                return [values[value] for value in op.values]
            self._copy(op, values)
        raise ValueError("body without tensor_ops.yield")

    def run_lazily(
        self, block: Block, argument: Callable[[SSAValue], SSAValue], made: Callable[[SSAValue, SSAValue], None]
    ) -> None:
        """
        Copies the ops of a block; `argument` makes each of its arguments before its first use, and `made` is told each
        value of the block, arguments included, as soon as it is there.
        """
        values: dict[SSAValue, SSAValue] = {}
        for op in block.ops:
            for operand in op.operands:
                if operand not in values:
                    values[operand] = argument(operand)
                    made(operand, values[operand])
            if not isinstance(op, TensorYieldOp):
                self._copy(op, values)
                for result in op.results:
                    made(result, values[result])

    def _copy(self, op: Operation, values: dict[SSAValue, SSAValue]) -> None:
        """Adds what an op of a body becomes, and what its results are to `values`."""
        match op:
            case IndexOp():
                values[op.result] = self.indices[op.position]
            case TensorSizeOp():
                values[op.result] = self.emitter.size(op.size)
            case arith.ConstantOp():
                values[op.result] = self.emitter.constant(op.value)
            case ExtractOp():
                indices = [values[index] for index in op.indices]
                values[op.result] = self._extract(op, indices)
            case _:
                copy = op.clone(values)
                self.emitter.add(copy)
                values.update(zip(op.results, copy.results, strict=True))

    def _extract(self, op: ExtractOp, indices: Sequence[SSAValue]) -> SSAValue:
        memref, emitter = self.memrefs(op.tensor), self.emitter
        dims = memref_dims(memref_of(memref))
        clamped = self.clamp(indices, dims)
        value = emitter.value(LoadOp.at(memref, clamped))
        for index, place, dim in zip(indices, clamped, dims, strict=True):
            # No place is one of an axis without elements.
            if place is not index and (lower_bound(dim) or 0) < 1:
                some = emitter.value(arith.CmpiOp(emitter.size(dim), emitter.index(0), "sgt"))
                value = emitter.value(arith.SelectOp(some, value, emitter.constant(_zero(value.type))))
        return value

    def clamp(self, indices: Sequence[SSAValue], dims: Sequence[Dim]) -> list[SSAValue]:
        """
        Each index moved into `0 .. dim - 1`, where it is not computed from iteration indices and lies there anyway: it
        then stays an affine expression of these.
        """
        return [self._clamp(index, dim) for index, dim in zip(indices, dims, strict=True)]

    def _clamp(self, index: SSAValue, dim: Dim) -> SSAValue:
        emitter = self.emitter
        if (expr := self._expression(index)) is not None:
            affine_map = AffineMap(len(self.indices), 0, (expr,))
            if self.within(affine_map, [dim]):
                plain = index in self.indices or isinstance(expr, AffineConstantExpr)
                return index if plain else emitter.value(ApplyOp(affine_map, self.indices))
        low = emitter.value(arith.MinSIOp(index, emitter.size(dim - 1)))
        return emitter.value(arith.MaxSIOp(low, emitter.index(0)))
