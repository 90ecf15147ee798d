"""`tensor_ops` ops whose steps depend on each other: writing at computed places, running totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, IntegerAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, evaluate_dims
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import Frame, RegionExecutableOp
from aicc.dialects.tensor_ops.evaluation import Source, index_arrays
from aicc.dialects.tensor_ops.ops import element_of
from aicc.dialects.tensor_ops.scalar_eval import (
    ScalarEvaluator,
    scalar_array,
    to_body_storage,
    to_tensor_storage,
)
from aicc.dialects.tensor_ops.structured import (
    element_scalar,
    number_type,
    verify_body,
    verify_indices,
)
from aicc.dialects.tensor_ops.syntax import (
    parse_body,
    parse_dims,
    parse_mapped_operands,
    parse_optional_symbols,
    parse_scalar,
    print_body,
    print_dims,
    print_mapped_operands,
    print_optional_symbols,
)

Array = np.ndarray[Any, np.dtype[Any]]


@irdl_op_definition
class ScatterOp(IRDLOperation, RegionExecutableOp):
    """
    A copy of `base` with elements written at computed places, one point of the iteration space after the other in
    row-major order:

        (i..., value) = body(input_k[map_k(p)]...)
        result[i...]  = combine(result[i...], value)        (or `value` with an empty `combine`)

    Whoever makes the op guarantees that the places are in bounds of `base` (lowerings clamp them).

    - (C1) one map per input, over all iteration dimensions and the symbols, with one result per dimension of its input
    - (C2) arguments of `body`: the scalars of the inputs
    - (C3) `body` yields one index per dimension of `base`, then a scalar of its element type
    - (C4) `combine` is empty, or takes the old and the new scalar and yields one
    - (C5) the result has the type of `base`
    - (C6) `tensor_ops.index` in `body` names an iteration dimension

    ```mlir
    %r = tensor_ops.scatter into %base (%i as affine_map<(d0) -> (d0)>, %u as affine_map<(d0) -> (d0)>) over [N]
        body (%i0 : i64, %u0 : f32) {
      %at = arith.index_cast %i0 : i64 to index
      tensor_ops.yield %at, %u0 : index, f32
    } : (tensor<9xf32>, tensor<?xi64, #graph.dims<N>>, tensor<?xf32, #graph.dims<N>>) -> tensor<9xf32>
    ```
    """

    name = "tensor_ops.scatter"

    base = operand_def(TensorType)
    inputs = var_operand_def(TensorType)
    extents = prop_def(ShapeAttr)
    maps = prop_def(ArrayAttr[AffineMapAttr])
    symbols = prop_def(ShapeAttr)
    body = region_def("single_block")
    combine = region_def()
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(
        self,
        base: SSAValue | Operation,
        inputs: Sequence[SSAValue | Operation],
        extents: Sequence[Dim],
        maps: Sequence[AffineMap],
        body: Region,
        combine: Region | None = None,
        symbols: Sequence[Dim] = (),
    ):
        base = SSAValue.get(base)
        super().__init__(
            operands=[base, inputs],
            properties={
                "extents": ShapeAttr(extents),
                "maps": ArrayAttr(AffineMapAttr(m) for m in maps),
                "symbols": ShapeAttr(symbols),
            },
            regions=[body, Region() if combine is None else combine],
            result_types=[base.type],
        )

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Extents of the iteration space."""
        return self.extents.data

    @property
    def input_maps(self) -> tuple[AffineMap, ...]:
        """Index maps of the inputs."""
        return tuple(m.data for m in self.maps.data)

    @property
    def combine_block(self) -> Block | None:
        """The block of `combine`, `None` if it is empty."""
        return self.combine.blocks[0] if self.combine.blocks else None

    def verify_(self) -> None:
        verify_maps(self.inputs, self.input_maps, len(self.dims), len(self.symbols.data))  # C1
        element = element_scalar(self.base.type)
        places: list[Attribute] = [IndexType()] * len(dims_of(self.base.type))
        verify_body("body", self.body.block, [element_scalar(v.type) for v in self.inputs], [*places, element])  # C2 C3
        verify_indices("body", self.body.block, len(self.dims))  # C6
        if (block := self.combine_block) is not None:
            verify_body("combine", block, [element, element], [element])  # C4
        if self.result.type != self.base.type:  # C5
            raise VerifyException(f"result has type {self.result.type}, expected {self.base.type}")

    def evaluate_in(self, frame: Frame, operands: Sequence[Array]) -> Sequence[Array]:
        result = to_body_storage(operands[0]).copy()
        extents = evaluate_dims(self.dims, frame.symbols)
        if 0 not in extents:
            indices = index_arrays(tuple((0, extent) for extent in extents))
            symbols = evaluate_dims(self.symbols.data, frame.symbols)
            sources = [Source(a, m, None) for a, m in zip(operands[1:], self.input_maps, strict=True)]
            evaluator = ScalarEvaluator(indices, frame.value, frame.symbols)
            yielded = evaluator.run(self.body.block, [source.read(indices, symbols) for source in sources])
            columns = [np.broadcast_to(value, extents).reshape(-1) for value in yielded]
            self._write(result, columns[:-1], columns[-1], frame)
        return [to_tensor_storage(result, element_of(self.result.type))]

    def _write(self, result: Array, places: Sequence[Array], values: Array, frame: Frame) -> None:
        block = self.combine_block
        for step, value in enumerate(values):
            place = tuple(column[step] for column in places)
            if block is None:
                result[place] = value
            else:
                evaluator = ScalarEvaluator((), frame.value, frame.symbols)
                result[place] = evaluator.run(block, [np.asarray(result[place]), np.asarray(value)])[0]

    # By hand, because operands and maps stand together.
    @classmethod
    def parse(cls, parser: Parser) -> ScatterOp:
        parser.parse_keyword("into")
        base = parser.parse_unresolved_operand()
        inputs = parse_mapped_operands(parser)
        parser.parse_keyword("over")
        extents = parse_dims(parser)
        symbols = parse_optional_symbols(parser)
        parser.parse_keyword("body")
        body = parse_body(parser)
        combine = Region()
        if parser.parse_optional_keyword("combine"):
            combine = parse_body(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        operands = parser.resolve_operands([base, *(i.operand for i in inputs)], types.inputs.data, position)
        return cls.create(
            operands=operands,
            result_types=types.outputs.data,
            properties={
                "extents": ShapeAttr(extents),
                "maps": ArrayAttr(i.map for i in inputs),
                "symbols": symbols,
            },
            attributes=attributes.data if attributes else {},
            regions=[body, combine],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" into ")
        printer.print_operand(self.base)
        printer.print_string(" ")
        print_mapped_operands(printer, self.inputs, self.maps.data)
        printer.print_string(" over ")
        print_dims(printer, self.dims)
        print_optional_symbols(printer, self.symbols)
        printer.print_string(" body ")
        print_body(printer, self.body)
        if self.combine.blocks:
            printer.print_string(" combine ")
            print_body(printer, self.combine)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_operation_type(self)


@irdl_op_definition
class ScanOp(IRDLOperation, RegionExecutableOp):
    """
    Running totals along `axis`: with `acc_-1 = init` and `acc_k = body(input[.., k, ..], acc_(k-1))`,

        result[.., k, ..] = finish(acc_k)        (`acc_(k-1)` if `exclusive`; without `finish` the total itself)

    `reverse` runs from the last index to the first.

    - (C1) `0 <= axis < rank`
    - (C2) `body` takes the input's scalar and the accumulator, and yields the accumulator
    - (C3) `finish` is empty or takes the accumulator; the last region yields the result's scalar
    - (C4) the result has the dimensions of the input

    ```mlir
    %r = tensor_ops.scan %x axis 1 exclusive init 0.0 : f32 body (%v : f32, %acc : f32) {
      %s = arith.addf %acc, %v : f32
      tensor_ops.yield %s : f32
    } : tensor<2x5xf32> -> tensor<2x5xf32>
    ```
    """

    name = "tensor_ops.scan"

    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    init = prop_def()
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    finish = region_def()
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(
        self,
        input: SSAValue | Operation,
        axis: int,
        init: Attribute,
        body: Region,
        finish: Region | None = None,
        *,
        exclusive: bool = False,
        reverse: bool = False,
        result_type: Attribute | None = None,
    ):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            properties={
                "axis": IntegerAttr(axis, i64),
                "init": init,
                "exclusive": UnitAttr() if exclusive else None,
                "reverse": UnitAttr() if reverse else None,
            },
            regions=[body, Region() if finish is None else finish],
            result_types=[input.type if result_type is None else result_type],
        )

    @property
    def position(self) -> int:
        """The axis as a number."""
        return self.axis.value.data

    @property
    def finish_block(self) -> Block | None:
        """The block of `finish`, `None` if it is empty."""
        return self.finish.blocks[0] if self.finish.blocks else None

    def verify_(self) -> None:
        dims = dims_of(self.input.type)
        if not 0 <= self.position < len(dims):  # C1
            raise VerifyException(f"axis is {self.position}, expected 0 to {len(dims) - 1}")
        accumulator = number_type(self.init)
        element = element_scalar(self.result.type)
        block = self.finish_block
        verify_body("body", self.body.block, [element_scalar(self.input.type), accumulator], [accumulator])  # C2
        if block is not None:
            verify_body("finish", block, [accumulator], [element])  # C3
        elif accumulator != element:
            raise VerifyException(f"accumulator {accumulator} is not the result's scalar {element}")
        if dims_of(self.result.type) != dims:  # C4
            raise VerifyException(f"result has type {self.result.type}, expected the dimensions of {self.input.type}")

    def evaluate_in(self, frame: Frame, operands: Sequence[Array]) -> Sequence[Array]:
        array = np.moveaxis(to_body_storage(operands[0]), self.position, 0)
        total = np.broadcast_to(scalar_array(self.init), array.shape[1:])
        steps: list[Array] = []
        for row in array[::-1] if self.reverse else array:
            before = total
            total = ScalarEvaluator((), frame.value, frame.symbols).run(self.body.block, [np.asarray(row), total])[0]
            steps.append(before if self.exclusive else total)
        stacked = np.stack(steps) if steps else np.empty(array.shape, total.dtype)
        if self.reverse:
            stacked = stacked[::-1]
        if (block := self.finish_block) is not None:
            stacked = ScalarEvaluator((), frame.value, frame.symbols).run(block, [stacked])[0]
        element = element_of(self.result.type)
        dtype = numpy_dtype(element)
        stacked = np.ascontiguousarray(np.moveaxis(to_tensor_storage(stacked, element), 0, self.position))
        return [stacked.astype(dtype, copy=False)]

    # By hand: flags and numbers without the names of their properties.
    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("axis")
        axis = parser.parse_integer(allow_boolean=False)
        exclusive = parser.parse_optional_keyword("exclusive") is not None
        reverse = parser.parse_optional_keyword("reverse") is not None
        parser.parse_keyword("init")
        init = parse_scalar(parser)
        parser.parse_keyword("body")
        body = parse_body(parser)
        finish = parse_body(parser) if parser.parse_optional_keyword("finish") else None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        (input,) = parser.resolve_operands([operand], [type], position)
        op = cls(input, axis, init, body, finish, exclusive=exclusive, reverse=reverse, result_type=result_type)
        op.attributes = dict(attributes.data) if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.input)
        printer.print_string(f" axis {self.position}")
        printer.print_string(" exclusive" if self.exclusive else "")
        printer.print_string(" reverse" if self.reverse else "")
        printer.print_string(" init ")
        printer.print_attribute(self.init)
        printer.print_string(" body ")
        print_body(printer, self.body)
        if self.finish.blocks:
            printer.print_string(" finish ")
            print_body(printer, self.finish)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


def verify_maps(operands: Sequence[SSAValue], maps: Sequence[AffineMap], rank: int, symbols: int) -> None:
    """Checks one map per operand, its domain, and its number of results."""
    if len(operands) != len(maps):
        raise VerifyException(f"found {len(maps)} maps, expected one per input ({len(operands)})")
    for operand, affine_map in zip(operands, maps, strict=True):
        if (affine_map.num_dims, affine_map.num_symbols) != (rank, symbols):
            raise VerifyException(
                f"map {affine_map} has {affine_map.num_dims} dimensions and {affine_map.num_symbols} symbols, "
                f"expected {rank} and {symbols}"
            )
        if len(affine_map.results) != (operand_rank := len(dims_of(operand.type))):
            raise VerifyException(f"map {affine_map} does not index a tensor of rank {operand_rank}")
