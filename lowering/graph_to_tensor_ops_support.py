"""
What the lowerings of single graph ops share: making `tensor_ops.structured` from expressions and scalar functions.

A lowering names the iteration dimensions, says for each input which element a point reads, and gives the body as a
function that builds scalars. Dimensions of a reduction whose extent is 1 are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.buffers import attribute_array
from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.dtypes import as_bits, numpy_dtype, signless
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant
from aicc.dialects.tensor_ops import IndexOp, SizeOp, StructuredOp, YieldOp
from aicc.dialects.tensor_ops.affine import extent_bounds, simplify_map, substitute
from aicc.dialects.tensor_ops.structured import element_scalar, number_type
from aicc.transforms.tensor_ops_editing import simplify_body

ScalarFunction = Callable[[ScalarBuilder, Sequence[SSAValue]], Sequence[SSAValue]]
"""Builds scalars from the arguments of a body; returns what the body yields."""

REASSOCIATE = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
"""Flags of the combining op of a float reduction."""

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
"""Flags of the product and the sum of a contraction."""


@dataclass(frozen=True)
class Read:
    """An input of a structured op: at each point the element `index`; `fill` where that may be out of bounds."""

    value: SSAValue
    index: Sequence[AffineExpr]
    fill: Attribute | None = None


@dataclass
class Symbols:
    """Symbolic sizes that index expressions use, each as one affine symbol."""

    dims: list[Dim] = field(default_factory=list[Dim])

    def expr(self, dim: Dim) -> AffineExpr:
        """`dim` as an affine expression."""
        if isinstance(dim, int):
            return AffineExpr.constant(dim)
        if dim not in self.dims:
            self.dims.append(dim)
        return AffineExpr.symbol(self.dims.index(dim))


def identity(rank: int) -> list[AffineExpr]:
    """The indices of the first `rank` dimensions."""
    return [AffineExpr.dimension(d) for d in range(rank)]


def broadcast_index(value: SSAValue, result: Sequence[Dim]) -> list[AffineExpr]:
    """The element of `value` that belongs to an element of the broadcast shape `result`."""
    dims = dims_of(value.type)
    offset = len(result) - len(dims)
    return [
        AffineExpr.constant(0) if dim == 1 and result[offset + i] != 1 else AffineExpr.dimension(offset + i)
        for i, dim in enumerate(dims)
    ]


def splat_of(value: SSAValue) -> FloatAttr | IntegerAttr | None:
    """The one number that all elements of `value` are, if that is known."""
    constant = value.owner
    if not isinstance(constant, Operation) or not isinstance(
        dense := constant.properties.get("value"), DenseIntOrFPElementsAttr
    ):
        return None
    data = dense.data.data
    element = signless(element_type_of(value))
    width = numpy_dtype(element).itemsize
    if not data or data[:width] * (len(data) // width) != data:
        return None
    (number,) = as_bits(attribute_array(cast(Attribute, dense), value.type)).reshape(-1)[:1].tolist()
    return scalar_constant(number, element)


def scalar_region(
    arguments: Sequence[Attribute], build: ScalarFunction, fastmath: arith.FastMathFlagsAttr | None = None
) -> Region:
    """A region of one block that takes scalars of these types and yields what `build` returns."""
    block = Block(arg_types=arguments)
    values = build(ScalarBuilder(InsertPoint.at_end(block), fastmath), block.args)
    block.add_op(YieldOp(*values))
    simplify_body(block)
    return Region(block)


def size_value(b: ScalarBuilder, dim: Dim, type: Attribute) -> SSAValue:
    """A size as a scalar of `type` in a body."""
    return b.const(dim, type) if isinstance(dim, int) else b.from_index(b.insert(SizeOp(dim)), type)


def structured(
    b: OpBuilder,
    inputs: Sequence[Read],
    parallel: Sequence[Dim],
    element_types: Sequence[Attribute],
    body: ScalarFunction,
    *,
    reduction: Sequence[Dim] = (),
    inits: Sequence[Attribute] = (),
    fastmath: arith.FastMathFlagsAttr | None = None,
    finish_inputs: Sequence[Read] = (),
    finish: ScalarFunction | None = None,
    symbols: Symbols | None = None,
) -> list[SSAValue]:
    """
    Inserts a structured op and returns its results. Inputs that are known to be one number become constants.

    Indices are over `parallel`, then `reduction`. `body` gets the scalars of the inputs, then the accumulators, whose
    types are those of `inits`; `finish` the accumulators, then the scalars of the finish inputs.
    """
    symbols = symbols or Symbols()
    kept = [d for d, extent in enumerate(reduction) if extent != 1]
    if reduction and not kept:
        kept = [len(reduction) - 1]
    extents = [*parallel, *(reduction[d] for d in kept)]
    position = {len(parallel) + d: len(parallel) + i for i, d in enumerate(kept)}
    renamed = {
        old: AffineExpr.dimension(position[old]) if old in position else AffineExpr.constant(0)
        for old in range(len(parallel), len(parallel) + len(reduction))
    }
    bounds = extent_bounds([extent if isinstance(extent, int) else None for extent in extents])
    maps = [
        simplify_map(
            AffineMap(len(extents), len(symbols.dims), tuple(substitute(e, renamed) for e in read.index)), bounds
        )
        for read in (*inputs, *finish_inputs)
    ]
    known = [None if read.fill is not None else splat_of(read.value) for read in inputs]
    body = _with_constants(body, known)
    known_finish = [splat_of(read.value) for read in finish_inputs]
    if finish is not None:
        finish = _with_constants(finish, [*(None for _ in inits), *known_finish])
    accumulators: list[Attribute] = [number_type(init) for init in inits]
    maps = [m for m, constant in zip(maps, [*known, *known_finish], strict=True) if constant is None]
    inputs = [read for read, constant in zip(inputs, known, strict=True) if constant is None]
    finish_inputs = [read for read, constant in zip(finish_inputs, known_finish, strict=True) if constant is None]
    scalars = [element_scalar(read.value.type) for read in inputs]
    finish_region = None
    if finish is not None:
        finish_scalars = [element_scalar(read.value.type) for read in finish_inputs]
        finish_region = scalar_region([*accumulators, *finish_scalars], finish)
    region = scalar_region([*scalars, *accumulators], body, fastmath)
    if len(kept) != len(reduction):
        _renumber(region, len(parallel), position)
    op = StructuredOp(
        [read.value for read in inputs],
        extents,
        len(parallel),
        maps,
        region,
        element_types,
        inits=inits,
        fills=[read.fill for read in inputs],
        symbols=symbols.dims,
        finish_inputs=[read.value for read in finish_inputs],
        finish=finish_region,
    )
    b.insert(op)
    return list(op.res)


def _renumber(region: Region, first: int, position: Mapping[int, int]) -> None:
    """Indices of reduction dimensions, from `first` on, by their new positions; those without one are 0."""
    for op in list(region.block.ops):
        if isinstance(op, IndexOp) and op.position >= first:
            new = position.get(op.position)
            made = arith.ConstantOp(scalar_constant(0, IndexType())) if new is None else IndexOp(new)
            region.block.insert_op_before(made, op)
            op.result.replace_all_uses_with(made.result)
            op.detach()
            op.erase()
    simplify_body(region.block)


def _with_constants(build: ScalarFunction, known: Sequence[FloatAttr | IntegerAttr | None]) -> ScalarFunction:
    """`build` for a body that has no argument where a number is known."""

    def built(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        rest = iter(args)
        given = [next(rest) if number is None else s.insert(arith.ConstantOp(number)) for number in known]
        return build(s, [*given, *rest])

    return built if any(number is not None for number in known) else build


def move(
    b: OpBuilder,
    value: SSAValue,
    dims: Sequence[Dim],
    element_type: Attribute,
    index: Sequence[AffineExpr],
    symbols: Symbols | None = None,
    fill: Attribute | None = None,
) -> SSAValue:
    """The tensor of shape `dims` whose element at a point is that of `value` at `index`."""
    read = Read(value, index, fill)
    return structured(b, [read], dims, [element_type], lambda _, args: args, symbols=symbols)[0]


@dataclass(frozen=True)
class Lowered:
    """What an op became: the values for its results, and regions in which ops are still to be lowered."""

    values: Sequence[SSAValue]
    regions: Sequence[Region] = ()


def as_type(b: OpBuilder, value: SSAValue, type: Attribute) -> SSAValue:
    """A tensor under sizes that are only assumed to be its own; the value itself if they are."""
    if value.type == type:
        return value
    dims = dims_of(type)
    return move(b, value, dims, element_type_of(value), identity(len(dims)))
