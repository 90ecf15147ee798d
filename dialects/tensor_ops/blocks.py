"""`tensor_ops.blocks`: blocks of result elements from blocks of input elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, TensorType, UnitAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap, AffineSymExpr
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import InterpretationError, VerifyException

from aicc.dialects.graph.assembly import array_values, int_array
from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, evaluate_dims, tensor_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import Frame, RegionExecutableOp
from aicc.dialects.tensor_ops.body_ops import YieldOp
from aicc.dialects.tensor_ops.evaluation import Box, Source, eval_expr, fill_of
from aicc.dialects.tensor_ops.scalar_eval import ScalarEvaluator, to_tensor_storage
from aicc.dialects.tensor_ops.structured import element_scalar, number_type, verify_body, verify_indices
from aicc.dialects.tensor_ops.syntax import (
    parse_body,
    parse_optional_symbols,
    parse_scalar,
    parse_space,
    print_body,
    print_optional_symbols,
    print_space,
)

Array = np.ndarray[Any, np.dtype[Any]]
Block = tuple[int, ...]

MAX_VALUES = 1 << 22
"""Most scalars of a body that are evaluated at once."""


def positions_in(block: Block) -> list[tuple[int, ...]]:
    """The positions of a block in row-major order."""
    return list(itertools.product(*(range(size) for size in block)))


def at_position(affine_map: AffineMap, rank: int, position: Sequence[int]) -> AffineMap:
    """The map over the iteration dimensions alone, for one position in the block."""
    dims = [*(AffineDimExpr(d) for d in range(rank)), *(AffineConstantExpr(p) for p in position)]
    symbols = [AffineSymExpr(s) for s in range(affine_map.num_symbols)]
    results = tuple(expr.replace_dims_and_symbols(dims, symbols) for expr in affine_map.results)
    return AffineMap(rank, affine_map.num_symbols, results)


@irdl_op_definition
class BlocksOp(IRDLOperation, RegionExecutableOp):
    """
    Defines a block of elements of its result from a block of elements of each input.

    For all points `p` of a parallel space, with `b` running over the positions of a block:

        result[map_r(p, b)] = body(input_0[map_0(p, b)] for all b, input_1[..] for all b, ...)[b] for all b

    Each map takes the dimensions of the space, then those of its own block; the body has one argument per position of
    each input's block and yields one value per position of the result's, all in row-major order. An empty block is one
    element. An input with a fill may be read out of bounds and has that value there; values whose place is outside the
    result are dropped. Whoever makes the op guarantees that each element of the result is defined exactly once.

    It says what transforms of small tiles compute, as those of Winograd's convolution, without leaving open how.

    - (C1) one map and one block per input and for the result
    - (C2) each map is over the dimensions of the space, those of its block, and the listed symbols
    - (C3) each map has one result per dimension of its tensor
    - (C4) one fill per input: `unit` or a number of the input's scalar type
    - (C5) the space has parallel dimensions only; extents of blocks are at least 1
    - (C6) `body` takes the scalars of all blocks and yields those of the result's block
    - (C7) `tensor_ops.index` names a dimension of the space

    ```mlir
    %y = tensor_ops.blocks (%x as affine_map<(d0, b0) -> (2 * d0 + b0)> block [3] fill 0.0 : f32)
        over [parallel 4] to affine_map<(d0, b0) -> (2 * d0 + b0)> block [2] body (%a : f32, %b : f32, %c : f32) {
      %s = arith.addf %a, %b : f32
      %t = arith.addf %b, %c : f32
      tensor_ops.yield %s, %t : f32, f32
    } : (tensor<8xf32>) -> tensor<7xf32>
    ```
    """

    name = "tensor_ops.blocks"

    inputs = var_operand_def(TensorType)
    extents = prop_def(ShapeAttr)
    maps = prop_def(ArrayAttr[AffineMapAttr])
    blocks = prop_def(ArrayAttr[DenseArrayBase])
    symbols = prop_def(ShapeAttr)
    fills = prop_def(ArrayAttr)
    body = region_def("single_block")
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        extents: Sequence[Dim],
        maps: Sequence[AffineMap],
        blocks: Sequence[Block],
        body: Region,
        result_type: Attribute,
        *,
        fills: Sequence[Attribute | None] | None = None,
        symbols: Sequence[Dim] = (),
    ):
        """`maps` and `blocks` are those of the inputs, then that of the result; `fills` has one entry per input."""
        fills = [None] * len(inputs) if fills is None else fills
        super().__init__(
            operands=[inputs],
            properties={
                "extents": ShapeAttr(extents),
                "maps": ArrayAttr(AffineMapAttr(m) for m in maps),
                "blocks": ArrayAttr(int_array(block) for block in blocks),
                "symbols": ShapeAttr(symbols),
                "fills": ArrayAttr(UnitAttr() if fill is None else fill for fill in fills),
            },
            regions=[body],
            result_types=[result_type],
        )

    # What the properties say, as plain values

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Extents of the iteration dimensions."""
        return self.extents.data

    @property
    def block_shapes(self) -> tuple[Block, ...]:
        """The blocks of the inputs, then that of the result."""
        return tuple(array_values(block) for block in self.blocks.data)

    @property
    def input_fills(self) -> tuple[Attribute | None, ...]:
        """Per input the value of what is out of bounds, `None` where nothing is."""
        return tuple(fill_of(fill) for fill in self.fills.data)

    def element_maps(self, operand: int) -> list[AffineMap]:
        """Per position of an operand's block (the result is the last operand): the map of that element."""
        affine_map = self.maps.data[operand].data
        return [at_position(affine_map, len(self.dims), p) for p in positions_in(self.block_shapes[operand])]

    # Verification

    def verify_(self) -> None:
        operands: list[SSAValue] = [*self.inputs, self.result]
        for what, found in (("maps", len(self.maps.data)), ("blocks", len(self.blocks.data))):
            if found != len(operands):  # C1
                raise VerifyException(f"found {found} {what}, expected {len(operands)}: of the inputs and the result")
        arguments: list[Attribute] = []
        for operand, affine_map, block in zip(operands, self.maps.data, self.block_shapes, strict=True):
            if any(size < 1 for size in block):  # C5
                raise VerifyException(f"found a block of {list(block)}, expected extents of at least 1")
            counts = (affine_map.data.num_dims, affine_map.data.num_symbols)
            if counts != (len(self.dims) + len(block), len(self.symbols.data)):  # C2
                raise VerifyException(
                    f"map {affine_map.data} has {counts[0]} dimensions and {counts[1]} symbols, expected "
                    f"{len(self.dims)} and those of a block of rank {len(block)}, and {len(self.symbols.data)} symbols"
                )
            if len(affine_map.data.results) != (rank := len(dims_of(operand.type))):  # C3
                raise VerifyException(f"map {affine_map.data} does not index a tensor of rank {rank}")
            arguments += [element_scalar(operand.type)] * math.prod(block)
        if len(self.fills.data) != len(self.inputs):  # C4
            raise VerifyException(f"found {len(self.fills.data)} fills, expected one per input ({len(self.inputs)})")
        for operand, fill in zip(self.inputs, self.input_fills, strict=True):
            if fill is not None and number_type(fill) != element_scalar(operand.type):
                raise VerifyException(f"fill {fill} is not of the input's scalar type {element_scalar(operand.type)}")
        split = len(arguments) - math.prod(self.block_shapes[-1])
        verify_body("body", self.body.block, arguments[:split], arguments[split:])  # C6
        verify_indices("body", self.body.block, len(self.dims))  # C7

    # Meaning

    def evaluate_in(self, frame: Frame, operands: Sequence[Array]) -> list[Array]:
        symbols = evaluate_dims(self.symbols.data, frame.symbols)
        extents = evaluate_dims(self.dims, frame.symbols)
        element_type = tensor_of(self.result.type).element_type
        result = np.zeros(evaluate_dims(dims_of(self.result.type), frame.symbols), numpy_dtype(element_type))
        defined = np.zeros(result.shape, np.int64)
        sources = [
            Source(array, affine_map, fill)
            for position, (array, fill) in enumerate(zip(operands, self.input_fills, strict=True))
            for affine_map in self.element_maps(position)
        ]
        targets = self.element_maps(len(operands))
        for box in _slabs(extents, len(sources) + len(targets)):
            indices = [
                np.arange(low, high, dtype=np.int64).reshape([-1 if k == d else 1 for k in range(len(box))])
                for d, (low, high) in enumerate(box)
            ]
            evaluator = ScalarEvaluator(indices, frame.value, frame.symbols)
            values = evaluator.run(self.body.block, [source.read(indices, symbols) for source in sources])
            shape = tuple(high - low for low, high in box)
            for affine_map, value in zip(targets, values, strict=True):
                where = [np.broadcast_to(eval_expr(e, indices, symbols), shape) for e in affine_map.results]
                inside = np.ones(shape, np.bool_)
                for index, size in zip(where, result.shape, strict=True):
                    inside &= (index >= 0) & (index < size)
                place = tuple(index[inside] for index in where)
                result[place] = to_tensor_storage(np.broadcast_to(value, shape)[inside], element_type)
                np.add.at(defined, place, 1)
        if not np.all(defined == 1):
            raise InterpretationError(f"{self.name}: some element of the result is not defined exactly once")
        return [result]

    # Assembly: by hand, because operands, maps, blocks and fills stand together

    @classmethod
    def parse(cls, parser: Parser) -> BlocksOp:
        operands: list[UnresolvedOperand] = []
        maps: list[AffineMapAttr] = []
        blocks: list[DenseArrayBase[Any]] = []
        fills: list[Attribute] = []

        def parse_place() -> None:
            position = parser.pos
            affine_map = parser.parse_attribute()
            if not isinstance(affine_map, AffineMapAttr):
                parser.raise_error(f"found {affine_map}, expected an affine map", position, parser.pos)
            maps.append(affine_map)
            parser.parse_keyword("block")
            sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            blocks.append(int_array(sizes))

        def parse_input() -> None:
            operands.append(parser.parse_unresolved_operand())
            parser.parse_keyword("as")
            parse_place()
            fills.append(parse_scalar(parser) if parser.parse_optional_keyword("fill") else UnitAttr())

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_input)
        parser.parse_keyword("over")
        position = parser.pos
        extents, num_parallel = parse_space(parser)
        if num_parallel != len(extents):  # C5
            parser.raise_error("found a reduction dimension, expected parallel ones", position, parser.pos)
        symbols = parse_optional_symbols(parser)
        parser.parse_keyword("to")
        parse_place()
        parser.parse_keyword("body")
        body = parse_body(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands, types.inputs.data, position),
            result_types=types.outputs.data,
            properties={
                "extents": ShapeAttr(extents),
                "maps": ArrayAttr(maps),
                "blocks": ArrayAttr(blocks),
                "symbols": symbols,
                "fills": ArrayAttr(fills),
            },
            attributes=attributes.data if attributes else {},
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        def print_place(position: int) -> None:
            printer.print_attribute(self.maps.data[position])
            printer.print_string(f" block {list(self.block_shapes[position])}")

        printer.print_string(" ")
        with printer.in_parens():
            for position, (operand, fill) in enumerate(zip(self.inputs, self.fills.data, strict=True)):
                printer.print_string(", " if position else "")
                printer.print_operand(operand)
                printer.print_string(" as ")
                print_place(position)
                if not isinstance(fill, UnitAttr):
                    printer.print_string(" fill ")
                    printer.print_attribute(fill)
        printer.print_string(" over ")
        print_space(printer, self.dims, len(self.dims))
        print_optional_symbols(printer, self.symbols)
        printer.print_string(" to ")
        print_place(len(self.inputs))
        printer.print_string(" body ")
        print_body(printer, self.body)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    @property
    def body_yield(self) -> YieldOp:
        """The terminator of `body`."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last


def _slabs(extents: Sequence[int], values: int) -> list[Box]:
    """The space cut along its first dimension so that the values of a slab fit in memory."""
    if 0 in extents:
        return []
    first, rest = (extents[0], math.prod(extents[1:])) if extents else (1, 1)
    step = max(1, MAX_VALUES // (rest * values))
    inner = tuple((0, extent) for extent in extents[1:])
    if not extents:
        return [()]
    return [((low, min(low + step, first)), *inner) for low in range(0, first, step)]
