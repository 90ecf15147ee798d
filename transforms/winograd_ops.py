"""
The ops that a convolution by Winograd's algorithm is made of; `tensor_ops_winograd` has the whole.

Transforms of two dimensions are made one dimension at a time: a nest over tiles, columns of the tile and channels
transforms columns, another one rows. What is between them is a few registers' worth per tile and channel, and the body
stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, f32, f64
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, ceildiv, tensor_type
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant
from aicc.dialects.tensor_ops import BlocksOp, StructuredOp, YieldOp
from aicc.dialects.tensor_ops.affine import simplify_expr, used_dims
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.transforms.loops_facts import guess
from aicc.transforms.tensor_ops_convolution import Convolution
from aicc.transforms.tensor_ops_editing import dim_bounds
from aicc.transforms.winograd_candidates import IMAGE_GUESS
from aicc.transforms.winograd_matrices import TAPS, Linear, Matrix, Winograd

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""Inside a contraction products and sums may be fused."""

SUM = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])

Vector = Sequence[SSAValue]


class Arithmetic:
    """Transforms of one dimension, written at the end of a scalar body."""

    def __init__(self, body: Block):
        self._b = ScalarBuilder(InsertPoint.at_end(body), CONTRACT)
        self._linear: Linear[SSAValue] = Linear(self._scaled, self._plus)

    def _scaled(self, value: SSAValue, factor: Fraction) -> SSAValue:
        if factor == -1:
            return self._b.neg(value)
        return self._b.mul(value, self._b.const_like(float(factor), value))

    def _plus(self, value: SSAValue, other: SSAValue, factor: Fraction) -> SSAValue:
        if factor == 1:
            return self._b.add(value, other)
        if factor == -1:
            return self._b.sub(value, other)
        return self._b.add(value, self._scaled(other, factor))

    def rows(self, matrix: Matrix, vector: Vector) -> list[SSAValue]:
        """`matrix * vector` for B^T and G."""
        return self._linear.rows(matrix, vector)

    def columns(self, matrix: Matrix, vector: Vector) -> list[SSAValue]:
        """`matrix * vector` for A^T."""
        return self._linear.columns(matrix, vector)


@dataclass(frozen=True)
class Tiles:
    """How the tiles of an image are numbered: which dimensions they have, and where in the result a tile is."""

    extents: tuple[Dim, ...]
    """
    One dimension for images of known size, else batch, rows and columns, of which the shorter ones come first: blocks
    of tiles for the product are taken from the last one.
    """
    batch: AffineExpr
    row: AffineExpr
    """First row of the tile, as `column`."""
    column: AffineExpr
    steps: tuple[int, int] = (1, 1)
    """From one row, and column, of a tile to the next: the dilation."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.extents)

    @property
    def index(self) -> list[AffineExpr]:
        """The dimensions themselves; they come first in the space of each op."""
        return [AffineDimExpr(d) for d in range(self.rank)]


def tiles_of(convolution: Convolution, outputs: int) -> Tiles:
    """
    The tiles of `outputs` x `outputs` results that cover the result.

    With a dilation of d, every d-th row and column is an image of its own, as another one of the batch.
    """
    dims, steps = convolution.op.dims, convolution.dilations
    batch, rows, columns = (dims[d] for d in (convolution.batch, convolution.row.result, convolution.column.result))
    high, wide = (ceildiv(ceildiv(n, step), outputs) for n, step in zip((rows, columns), steps, strict=True))
    images = batch * prod(steps)

    def placed(image: AffineExpr, row: AffineExpr, column: AffineExpr, extents: tuple[Dim, ...]) -> Tiles:
        down, across = steps
        bounds = dim_bounds(extents)
        n = AffineConstantExpr(0) if batch == 1 else simplify_expr(image // (down * across), bounds)
        first_row = simplify_expr(image % (down * across) // across + row * (outputs * down), bounds)
        first_column = simplify_expr(image % across + column * (outputs * across), bounds)
        return Tiles(extents, n, first_row, first_column, steps)

    if not isinstance(high, int) or not isinstance(wide, int):
        image, r, c = (AffineDimExpr(d) for d in range(3))
        if guess(columns, IMAGE_GUESS) < guess(rows, IMAGE_GUESS):
            return placed(image, c, r, (images, wide, high))
        return placed(image, r, c, (images, high, wide))
    tile = AffineDimExpr(0)
    return placed(tile // (high * wide), tile % (high * wide) // wide, tile % wide, (images * high * wide,))


@dataclass(frozen=True)
class Builder:
    """
    Builds the ops for one convolution. Dimensions of each space: those of the tiles, the position within the tile
    across the transform, the channel; then that of the block, along the transform.
    """

    convolution: Convolution
    algorithm: Winograd
    tiles: Tiles

    @property
    def _across(self) -> AffineExpr:
        return AffineDimExpr(self.tiles.rank)

    @property
    def _channel(self) -> AffineExpr:
        return AffineDimExpr(self.tiles.rank + 1)

    @property
    def _along(self) -> AffineExpr:
        return AffineDimExpr(self.tiles.rank + 2)

    def _map(self, results: Sequence[AffineExpr], symbols: int = 0) -> AffineMap:
        return AffineMap(self.tiles.rank + 3, symbols, tuple(results))

    def _transform(
        self,
        value: SSAValue,
        extents: tuple[int, Dim],
        read: Sequence[AffineExpr],
        written: Sequence[AffineExpr],
        apply: Callable[[Arithmetic, Matrix, Vector], list[SSAValue]],
        matrix: Matrix,
        result: Sequence[Dim],
        fill: Attribute | None = None,
    ) -> BlocksOp:
        """A transform of one dimension by a matrix."""
        body = Block(arg_types=[element_scalar(value.type)] * len(matrix[0]))
        body.add_op(YieldOp(*apply(Arithmetic(body), matrix, _widened(body, f32))))
        return BlocksOp(
            [value],
            (*self.tiles.extents, *extents),
            [self._map(read), self._map(written)],
            [(len(matrix[0]),), (len(matrix),)],
            Region(body),
            tensor_type(result, f32),
            fills=[fill],
        )

    def input(self) -> tuple[BlocksOp, BlocksOp]:
        """`t = B^T d` of each column of a tile, and `v[k, tile, channel] = t B` of each row."""
        convolution, tiles, size = self.convolution, self.tiles, self.algorithm.size
        places: list[AffineExpr] = []
        for axis, expr in enumerate(convolution.op.input_maps[convolution.image].results):
            if axis == convolution.row.axis:
                places.append(tiles.row + self._along * tiles.steps[0] + convolution.row.offset)
            elif axis == convolution.column.axis:
                places.append(tiles.column + self._across * tiles.steps[1] + convolution.column.offset)
            elif expr == AffineDimExpr(convolution.channel):
                places.append(self._channel)
            else:
                places.append(tiles.batch)
        channels = convolution.op.dims[convolution.channel]
        half = self._transform(
            convolution.op.inputs[convolution.image],
            (size, channels),
            places,
            [*tiles.index, self._along, self._across, self._channel],
            Arithmetic.rows,
            self.algorithm.input,
            (*tiles.extents, size, size, channels),
            scalar_constant(0.0, element_scalar(convolution.op.inputs[convolution.image].type)),
        )
        whole = self._transform(
            half.result,
            (size, channels),
            [*tiles.index, self._across, self._along, self._channel],
            [self._across * size + self._along, *tiles.index, self._channel],
            Arithmetic.rows,
            self.algorithm.input,
            (size * size, *tiles.extents, channels),
        )
        return half, whole

    def products(self, v: SSAValue, u: SSAValue) -> StructuredOp:
        """`m[k, tile, o] = sum over c of v[k, tile, c] * u[k, c, o]`."""
        dims, rank = self.convolution.op.dims, self.tiles.rank
        out, channels = dims[self.convolution.out], dims[self.convolution.channel]
        number, column, channel = AffineDimExpr(0), AffineDimExpr(rank + 1), AffineDimExpr(rank + 2)
        tile = [AffineDimExpr(1 + d) for d in range(rank)]
        body = Block(arg_types=[f32, f32, f32])
        product = arith.MulfOp(body.args[0], body.args[1], SUM)
        total = arith.AddfOp(body.args[2], product.result, SUM)
        body.add_ops([product, total, YieldOp(total.result)])
        return StructuredOp(
            [v, u],
            (self.algorithm.size**2, *self.tiles.extents, out, channels),
            rank + 2,
            [AffineMap(rank + 3, 0, (number, *tile, channel)), AffineMap(rank + 3, 0, (number, channel, column))],
            Region(body),
            [f32],
            inits=[scalar_constant(0.0, f32)],
        )

    def output(self, m: SSAValue) -> tuple[BlocksOp, BlocksOp]:
        """`s = A^T m` of each column of a tile, and `s A` of each row with what the convolution finishes it with."""
        tiles, size, outputs = self.tiles, self.algorithm.size, self.algorithm.outputs
        out = self.convolution.op.dims[self.convolution.out]
        half = self._transform(
            m,
            (size, out),
            [self._along * size + self._across, *tiles.index, self._channel],
            [*tiles.index, self._along, self._across, self._channel],
            Arithmetic.columns,
            self.algorithm.output,
            (*tiles.extents, outputs, size, out),
        )
        return half, self._results(half.result)

    def _results(self, half: SSAValue) -> BlocksOp:
        convolution, op, tiles = self.convolution, self.convolution.op, self.tiles
        size, outputs = self.algorithm.size, self.algorithm.outputs
        place: dict[int, AffineExpr] = {
            convolution.batch: tiles.batch,
            convolution.row.result: tiles.row + self._across * tiles.steps[0],
            convolution.column.result: tiles.column + self._along * tiles.steps[1],
            convolution.out: self._channel,
        }
        dims = [place.get(d, AffineConstantExpr(0)) for d in range(len(op.dims))]
        symbols = [AffineSymExpr(s) for s in range(len(op.symbols.data))]
        maps = [self._map([*tiles.index, self._across, self._along, self._channel], len(symbols))]
        blocks: list[tuple[int, ...]] = [(size,)]
        scalars = [element_scalar(value.type) for value in op.finish_inputs]
        types: list[Attribute] = [f32] * size
        for scalar, finish_map in zip(scalars, op.finish_maps, strict=True):
            varies = convolution.column.result in used_dims(finish_map.results)
            results = tuple(expr.replace_dims_and_symbols(dims, symbols) for expr in finish_map.results)
            maps.append(AffineMap(tiles.rank + 2 + varies, len(symbols), results))
            blocks.append((outputs,) if varies else ())
            types += [scalar] * (outputs if varies else 1)
        maps.append(self._map([place[d] for d in range(op.parallel_count)], len(symbols)))
        body = Block(arg_types=types)
        totals = Arithmetic(body).columns(self.algorithm.output, body.args[:size])
        body.add_op(YieldOp(*_finished(op, body, totals, blocks)))
        return BlocksOp(
            [half, *op.finish_inputs],
            (*tiles.extents, outputs, op.dims[convolution.out]),
            maps,
            [*blocks, (outputs,)],
            Region(body),
            op.res[0].type,
            fills=[None, *(scalar_constant(0, scalar) for scalar in scalars)],
            symbols=op.symbols.data,
        )


def _finished(op: StructuredOp, body: Block, totals: Vector, blocks: Sequence[tuple[int, ...]]) -> list[SSAValue]:
    """What the `finish` region makes of each total, for the arguments of `body` behind those of the first block."""
    finish = op.finish_block
    if finish is None:
        return list(totals)
    results: list[SSAValue] = []
    for position, total in enumerate(totals):
        values: dict[SSAValue, SSAValue] = {finish.args[0]: total}
        (first,) = blocks[0]
        for argument, shape in zip(finish.args[1:], blocks[1:], strict=True):
            values[argument] = body.args[first + (position if shape else 0)]
            first += len(totals) if shape else 1
        for inner in finish.ops:
            if isinstance(inner, YieldOp):
                results.append(values[inner.values[0]])
                continue
            copy = inner.clone(values)
            body.add_op(copy)
            values.update(zip(inner.results, copy.results, strict=True))
    return results


def _widened(body: Block, element: AnyFloat) -> Vector:
    """The arguments of a body in a wider type."""
    if all(argument.type == element for argument in body.args):
        return body.args
    wide = [arith.ExtFOp(argument, element) for argument in body.args]
    body.add_ops(wide)
    return [value.result for value in wide]


def weight_transform(convolution: Convolution, algorithm: Winograd, weight: SSAValue) -> tuple[BlocksOp, BlocksOp]:
    """`t = G g` of each column of taps, and `u[k, c, o] = t G^T` of each row, in f64 and rounded once."""
    op, size, matrix = convolution.op, algorithm.size, algorithm.weight
    channels, out = op.dims[convolution.channel], op.dims[convolution.out]
    channel, across, column, along = (AffineDimExpr(d) for d in range(4))
    place = {
        convolution.channel: channel,
        convolution.out: column,
        convolution.row.tap: along,
        convolution.column.tap: across,
    }
    read = op.input_maps[convolution.weight].results
    index = tuple(place[expr.position] for expr in read if isinstance(expr, AffineDimExpr))
    first = Block(arg_types=[element_scalar(weight.type)] * TAPS)
    first.add_op(YieldOp(*Arithmetic(first).rows(matrix, _widened(first, f64))))
    half = BlocksOp(
        [weight],
        (channels, TAPS, out),
        [AffineMap(4, 0, index), AffineMap(4, 0, (channel, along, across, column))],
        [(TAPS,), (size,)],
        Region(first),
        tensor_type((channels, size, TAPS, out), f64),
    )
    second = Block(arg_types=[f64] * TAPS)
    narrow = [arith.TruncFOp(value, f32) for value in Arithmetic(second).rows(matrix, second.args)]
    second.add_ops([*narrow, YieldOp(*narrow)])
    whole = BlocksOp(
        [half.result],
        (channels, size, out),
        [AffineMap(4, 0, (channel, across, along, column)), AffineMap(4, 0, (across * size + along, channel, column))],
        [(TAPS,), (size,)],
        Region(second),
        tensor_type((size * size, channels, out), f32),
    )
    return half, whole
