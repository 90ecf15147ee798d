"""
`tensor-ops-fuse`: joins the structured ops of each kernel.

Before: %c = structured (%x, %w) .. reduction .. (convolution)    After: %r = structured (%x, %w) .. reduction ..
        %a = structured (%c, %b) .. add bias ..                              finish (%b, %y) { add bias, relu, add }
        %r = structured (%a, %y) .. relu, add ..

An op without reduction is computed where it is read, or at the end of the op that it reads: never is a reduction
computed twice, nor a costly element more often than it is stored today. Concatenations, scatters, scans and indirect
reads stay what they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.graph.dims import Dim, evaluate, symbols_of
from aicc.dialects.tensor_ops import ConcatOp, ConstantOp, ExtractOp, KernelOp, StructuredOp, ViewOp
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE
from aicc.dialects.tensor_ops.structured import extracts
from aicc.transforms.tensor_ops_editing import erase_if_unused, operands_of, permute_parallel
from aicc.transforms.tensor_ops_inline import (
    append_consumer,
    inline_producer,
    is_index_map,
    positions_of,
    read_through_view,
    reads_identically,
)
from aicc.transforms.tensor_ops_split_dims import absorb_view

TYPICAL_SIZE = 61
"""What an unknown size is taken to be where amounts of work are compared."""

MAX_BODY_OPS = 200
"""A body is not made longer than this."""

FREE_OPS = frozenset({"arith.constant", "tensor_ops.yield", "tensor_ops.index", "tensor_ops.size", "arith.extf"})
MATH_COST = 12
"""Arithmetic ops that one op of `math` costs."""


def amount(dims: tuple[Dim, ...]) -> int:
    """The number of points of a space, with unknown sizes taken as `TYPICAL_SIZE`."""
    values = dict.fromkeys(symbols_of(dims), TYPICAL_SIZE)
    return math.prod(max(evaluate(dim, values), 1) for dim in dims)


def body_cost(op: StructuredOp) -> int:
    """Arithmetic ops per element."""
    cost = 0
    for inner in op.body.block.ops:
        if inner.name not in FREE_OPS:
            cost += MATH_COST if inner.name.startswith("math.") or inner.name == "arith.divf" else 1
    return cost


def body_length(op: StructuredOp) -> int:
    """Ops in all bodies."""
    return sum(len(list(block.ops)) for region in op.regions for block in region.blocks)


@dataclass
class KernelFusion:
    """Fusion within one block of ops."""

    block: Block

    def __post_init__(self) -> None:
        self._order = {op: position for position, op in enumerate(self.block.ops)}

    def run(self) -> None:
        """Joins what may be joined, in the order of the ops."""
        op = self.block.first_op
        while op is not None:
            following = op.next_op
            if isinstance(op, StructuredOp):
                self._fuse_into(op)
            elif isinstance(op, ViewOp):
                self._absorb(op)
            op = following
        self._erase_unused()

    def _erase_unused(self) -> None:
        for op in reversed(list(self.block.ops)):
            if isinstance(op, StructuredOp | ViewOp | ConcatOp | ConstantOp):
                erase_if_unused(op)

    def _absorb(self, view: ViewOp) -> None:
        producer = view.input.owner
        if isinstance(producer, StructuredOp) and producer.parent is self.block and len(producer.res) == 1:
            absorb_view(producer, view)

    # One consumer

    def _fuse_into(self, consumer: StructuredOp) -> None:
        while (position := self._inlinable(consumer)) is not None:
            producer = consumer.operands[position].owner
            inline_producer(consumer, position)
            assert isinstance(producer, Operation)
            erase_if_unused(producer)
        if not consumer.is_reduction:
            self._append(consumer)

    def _inlinable(self, consumer: StructuredOp) -> int | None:
        """The position of an operand to compute in place, if there is one."""
        for position, value in enumerate(consumer.operands):
            producer = value.owner
            if isinstance(producer, ViewOp) and isinstance(producer.input.owner, StructuredOp):
                inner = producer.input.owner
                if self._may_inline(inner, consumer, position, producer.result) and read_through_view(
                    consumer, position
                ):
                    erase_if_unused(producer)
                    return position
            elif isinstance(producer, StructuredOp) and self._may_inline(producer, consumer, position, value):
                return position
        return None

    def _may_inline(self, producer: StructuredOp, consumer: StructuredOp, position: int, read: SSAValue) -> bool:
        if producer.is_reduction or producer.parent is not self.block:
            return False
        inputs, finish = operands_of(consumer)
        operand = (inputs + finish)[position]
        if operand.fill is not None and any(isinstance(op, ExtractOp) for op in producer.body.block.ops):
            return False
        if position >= len(inputs) and any(fill is not None for fill in producer.input_fills):
            return False
        if is_index_map(producer):
            return True
        if body_length(producer) + body_length(consumer) > MAX_BODY_OPS:
            return False
        return self._recomputed(producer, consumer, read) <= 0

    def _recomputed(self, producer: StructuredOp, consumer: StructuredOp, read: SSAValue) -> float:
        """
        Arithmetic ops per stored element that inlining would add, less what storing and loading the element costs.

        Positive: storing is better.
        """
        cost = body_cost(producer)
        terminator = self.block.last_op
        if len(producer.inputs) > 1 and any(use.operation is terminator for r in producer.res for use in r.uses):
            return 1.0
        stored = amount(producer.parallel_dims)
        reads = amount(consumer.dims)
        others = sum(use.operation is not consumer for result in producer.res for use in result.uses)
        if read.owner is not producer:
            others -= 1
        if others == 0:
            if reads <= stored:
                return -1.0
            return cost * (reads / stored - 1) - (STORED_COST if reads <= SMALL_REUSE * stored else 0)
        if consumer.is_reduction and reads > stored:
            return 1.0
        return cost * (reads / stored) - STORED_COST

    # One producer

    def _append(self, consumer: StructuredOp) -> None:
        """Computes `consumer` at the end of the last op that it reads, if that may be."""
        producers = [value.owner for value in consumer.inputs if isinstance(value.owner, StructuredOp)]
        producers = [producer for producer in producers if producer.parent is self.block]
        for producer in sorted(set(producers), key=self._position, reverse=True):
            if self._may_append(producer, consumer):
                keep = [
                    k
                    for k, result in enumerate(producer.res)
                    if any(use.operation is not consumer for use in result.uses)
                ]
                position = self._position(consumer)
                self._order[append_consumer(producer, consumer, keep, consumer)] = position
                return

    def _position(self, op: Operation) -> int:
        return self._order[op]

    def _may_append(self, producer: StructuredOp, consumer: StructuredOp) -> bool:
        values = [value for value in consumer.inputs if value.owner is producer]
        if producer.is_reduction and any(
            operand.fill is not None for operand in operands_of(consumer)[0] if operand.value not in values
        ):
            return False
        if body_length(producer) + body_length(consumer) > MAX_BODY_OPS:
            return False
        if any(extract.tensor.owner is producer for extract in extracts(consumer)):
            return False
        # The joined op stands in the place of the consumer.
        at = self._position(consumer)
        if any(self._user_position(use.operation) < at for result in producer.res for use in result.uses):
            return False
        self._align(producer, consumer)
        return producer.parallel_dims == consumer.parallel_dims and all(
            reads_identically(consumer, value) for value in values
        )

    def _user_position(self, user: Operation) -> int:
        """The place in the block of an op that uses a value, or of the op that holds it."""
        while user.parent is not self.block:
            parent = user.parent_op()
            assert parent is not None
            user = parent
        return self._position(user)

    def _align(self, producer: StructuredOp, consumer: StructuredOp) -> None:
        """Reorders the producer's parallel dimensions as the consumer reads them, if nobody else does."""
        if len(producer.res) != 1 or any(use.operation is not consumer for use in producer.res[0].uses):
            return
        reads = [operand for operand in operands_of(consumer)[0] if operand.value is producer.res[0]]
        orders = {positions_of(operand.map, consumer.dims) for operand in reads}
        if (
            len(orders) != 1
            or (positions := orders.pop()) is None
            or any(operand.fill is not None for operand in reads)
        ):
            return
        if sorted(positions) != list(range(producer.parallel_count)) or len(positions) != consumer.parallel_count:
            return
        # Result axis `a` is read at the consumer's dimension `positions[a]`.
        order = [positions.index(d) for d in range(len(positions))]
        if order == list(range(len(order))):
            return
        if tuple(producer.parallel_dims[old] for old in order) != consumer.parallel_dims:
            return
        permute_parallel(producer, order)
        _read_identity(consumer, producer.res[0])


STORED_COST = 4
"""Arithmetic ops that storing an element and loading it again costs."""

SMALL_REUSE = 4
"""How often an element may be read for its recomputation to be weighed against storing it."""


def _read_identity(consumer: StructuredOp, value: SSAValue) -> None:
    """Lets `consumer` read `value`, whose dimensions were just put in the consumer's order, at its own index."""
    from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
    from xdsl.ir.affine import AffineDimExpr, AffineMap

    rank = consumer.parallel_count
    same = AffineMap(rank, len(consumer.symbols.data), tuple(AffineDimExpr(d) for d in range(rank)))
    consumer.properties["maps"] = ArrayAttr(
        AffineMapAttr(same) if operand is value else old
        for operand, old in zip(consumer.operands, consumer.maps.data, strict=True)
    )


def kernel_blocks(module: Operation) -> Iterator[Block]:
    """The bodies of kernel functions and of kernel regions."""
    for op in module.walk():
        if isinstance(op, FuncOp) and KERNEL_ATTRIBUTE in op.attributes and op.body.blocks:
            yield op.body.blocks[0]
        elif isinstance(op, KernelOp):
            yield op.body.block


@dataclass(frozen=True)
class TensorOpsFusePass(ModulePass):
    """Joins the structured ops of each kernel."""

    name = "tensor-ops-fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in list(kernel_blocks(op)):
            KernelFusion(block).run()

    def apply_to_kernel(self, function: FuncOp) -> None:
        """Joins the structured ops of one kernel function."""
        KernelFusion(function.body.blocks[0]).run()
