"""`tensor_ops.structured`: each result element by index maps and a scalar body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, evaluate_dims, shape_text, tensor_of, tensor_type
from aicc.dialects.graph.dtypes import numpy_dtype, signless
from aicc.dialects.graph.interfaces import Frame, RegionExecutableOp
from aicc.dialects.tensor_ops.affine import Simplifier, extent_bounds, linear_form, used_dims, used_symbols
from aicc.dialects.tensor_ops.body_ops import ExtractOp, IndexOp, YieldOp
from aicc.dialects.tensor_ops.evaluation import Source, StructuredEvaluation, fill_of
from aicc.dialects.tensor_ops.syntax import (
    parse_body,
    parse_mapped_operands,
    parse_optional_symbols,
    parse_scalars,
    parse_space,
    print_body,
    print_mapped_operands,
    print_optional_symbols,
    print_scalars,
    print_space,
)

Array = np.ndarray[Any, np.dtype[Any]]


def element_scalar(type: Attribute) -> Attribute:
    """The type of one element of a tensor type inside bodies."""
    return signless(tensor_of(type).element_type)


def number_type(number: Attribute) -> Attribute:
    """
    The type of a number.

    Raises:
        VerifyException: if the attribute is no integer or float.
    """
    if isinstance(number, FloatAttr | IntegerAttr):
        return cast(FloatAttr | IntegerAttr[IndexType | IntegerType], number).type
    raise VerifyException(f"found {number}, expected a number with its type")


@irdl_op_definition
class StructuredOp(IRDLOperation, RegionExecutableOp):
    """
    Defines each element of its results from elements of its inputs.

    Over the iteration space `p` (parallel dimensions, first) x `r` (reduction dimensions):

        acc        = inits
        for all r:   acc = body(input_i[map_i(p, r)]..., acc...)
        result[p]  = finish(acc..., finish_input_j[map_j(p)]...)

    Without reduction dimensions `result[p] = body(input_i[map_i(p)]...)`. With an empty `finish` region the results are
    the accumulators. The order of the reduction points is open where the combining op of the body has the fast-math
    flag `reassoc` (or is exact), else it is the row-major order of `r`. An input with a fill may be read out of bounds
    and has that value there. An empty reduction leaves `inits`.

    - (C1) one map per input and finish input
    - (C2) each map is over all iteration dimensions and the listed symbols
    - (C3) each map has one result per dimension of its tensor
    - (C4) maps of finish inputs use parallel dimensions only
    - (C5) one fill per input: `unit` or a number of the input's scalar type
    - (C6) there are inits exactly if there are reduction dimensions
    - (C7) arguments of `body`: the scalars of the inputs, then the accumulators
    - (C8) `body` yields the accumulators, or without reduction the result elements
    - (C9) `finish` and finish inputs only with reduction dimensions, and the inputs only with the region
    - (C10) arguments of `finish`: accumulators, then scalars of the finish inputs; it yields the result elements
    - (C11) the dimensions of each result are the extents of the parallel dimensions
    - (C12) an input without fill is not read out of bounds (refused where that is certain)
    - (C13) `tensor_ops.index` names an existing dimension, a parallel one inside `finish`

    ```mlir
    %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>)
        over [parallel N, parallel 8, reduction 64] init [0.0 : f32] body (%a : f32, %b : f32, %acc : f32) {
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
      tensor_ops.yield %s : f32
    } : (tensor<?x64xf32, #graph.dims<N>>, tensor<64x8xf32>) -> tensor<?x8xf32, #graph.dims<N>>
    ```
    """

    name = "tensor_ops.structured"

    inputs = var_operand_def(TensorType)
    finish_inputs = var_operand_def(TensorType)
    extents = prop_def(ShapeAttr)
    num_parallel = prop_def(IntegerAttr)
    maps = prop_def(ArrayAttr[AffineMapAttr])
    symbols = prop_def(ShapeAttr)
    fills = prop_def(ArrayAttr)
    inits = prop_def(ArrayAttr)
    body = region_def("single_block")
    finish = region_def()
    res = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        extents: Sequence[Dim],
        num_parallel: int,
        maps: Sequence[AffineMap],
        body: Region,
        element_types: Sequence[Attribute],
        *,
        inits: Sequence[Attribute] = (),
        fills: Sequence[Attribute | None] | None = None,
        symbols: Sequence[Dim] = (),
        finish_inputs: Sequence[SSAValue | Operation] = (),
        finish: Region | None = None,
    ):
        """
        `maps` are those of the inputs, then of the finish inputs; `fills` has one entry per input, `None` for an input
        that is never read out of bounds (the default for all). `element_types` are those of the results.
        """
        fills = [None] * len(inputs) if fills is None else fills
        super().__init__(
            operands=[inputs, finish_inputs],
            properties={
                "extents": ShapeAttr(extents),
                "num_parallel": IntegerAttr(num_parallel, i64),
                "maps": ArrayAttr(AffineMapAttr(m) for m in maps),
                "symbols": ShapeAttr(symbols),
                "fills": ArrayAttr(UnitAttr() if fill is None else fill for fill in fills),
                "inits": ArrayAttr(inits),
            },
            regions=[body, Region() if finish is None else finish],
            result_types=[[tensor_type(extents[:num_parallel], e) for e in element_types]],
        )

    # What the properties say, as plain values

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Extents of all iteration dimensions."""
        return self.extents.data

    @property
    def parallel_count(self) -> int:
        """The number of parallel dimensions."""
        return self.num_parallel.value.data

    @property
    def parallel_dims(self) -> tuple[Dim, ...]:
        """Extents of the parallel dimensions: the dimensions of the results."""
        return self.dims[: self.parallel_count]

    @property
    def reduction_dims(self) -> tuple[Dim, ...]:
        """Extents of the reduction dimensions."""
        return self.dims[self.parallel_count :]

    @property
    def is_reduction(self) -> bool:
        """There are reduction dimensions."""
        return len(self.dims) > self.parallel_count

    @property
    def input_maps(self) -> tuple[AffineMap, ...]:
        """Index maps of the inputs."""
        return tuple(m.data for m in self.maps.data[: len(self.inputs)])

    @property
    def finish_maps(self) -> tuple[AffineMap, ...]:
        """Index maps of the finish inputs."""
        return tuple(m.data for m in self.maps.data[len(self.inputs) :])

    @property
    def input_fills(self) -> tuple[Attribute | None, ...]:
        """Per input the value of what is out of bounds, `None` where nothing is."""
        return tuple(fill_of(fill) for fill in self.fills.data)

    @property
    def finish_block(self) -> Block | None:
        """The block of the `finish` region, `None` if that is empty."""
        return self.finish.blocks[0] if self.finish.blocks else None

    @property
    def element_types(self) -> tuple[Attribute, ...]:
        """Element types of the results."""
        return tuple(tensor_of(result.type).element_type for result in self.res)

    @property
    def body_yield(self) -> YieldOp:
        """The terminator of `body`."""
        return _terminator("body", self.body.block)

    # Verification

    def verify_(self) -> None:
        self._verify_fills_and_inits()
        self._verify_maps()
        self._verify_regions()
        for result in self.res:  # C11
            if (found := dims_of(result.type)) != self.parallel_dims:
                raise VerifyException(
                    f"result has dimensions {shape_text(found)}, expected those of the parallel dimensions "
                    f"{shape_text(self.parallel_dims)}"
                )

    def _verify_maps(self) -> None:
        operands = (*self.inputs, *self.finish_inputs)
        if len(self.maps.data) != len(operands):  # C1
            raise VerifyException(f"found {len(self.maps.data)} maps, expected one per operand ({len(operands)})")
        known = [extent if isinstance(extent, int) else None for extent in self.dims]
        simplifier = Simplifier(extent_bounds(known))
        for position, (operand, attribute) in enumerate(zip(operands, self.maps.data, strict=True)):
            affine_map = attribute.data
            if (affine_map.num_dims, affine_map.num_symbols) != (len(self.dims), len(self.symbols.data)):  # C2
                raise VerifyException(
                    f"map {affine_map} has {affine_map.num_dims} dimensions and {affine_map.num_symbols} symbols, "
                    f"expected {len(self.dims)} and {len(self.symbols.data)}"
                )
            shape = dims_of(operand.type)
            if len(affine_map.results) != len(shape):  # C3
                raise VerifyException(f"map {affine_map} does not index a tensor of rank {len(shape)}")
            if position >= len(self.inputs):
                reduction = {d for d in used_dims(affine_map.results) if d >= self.parallel_count}
                if reduction:  # C4
                    raise VerifyException(
                        f"map {affine_map} of a finish input uses reduction dimension d{min(reduction)}"
                    )
            guarded = position < len(self.inputs) and fill_of(self.fills.data[position]) is not None
            if not guarded and 0 not in self.dims:
                _verify_bounds(affine_map, shape, simplifier)  # C12

    def _verify_fills_and_inits(self) -> None:
        if not 0 <= self.parallel_count <= len(self.dims):
            raise VerifyException(f"num_parallel is {self.parallel_count}, expected 0 to {len(self.dims)}")
        if len(self.fills.data) != len(self.inputs):  # C5
            raise VerifyException(f"found {len(self.fills.data)} fills, expected one per input ({len(self.inputs)})")
        for operand, fill in zip(self.inputs, self.input_fills, strict=True):
            if fill is not None and number_type(fill) != element_scalar(operand.type):
                raise VerifyException(f"fill {fill} is not of the input's scalar type {element_scalar(operand.type)}")
        if bool(self.inits.data) != self.is_reduction:  # C6
            kind = "reduction dimensions" if self.is_reduction else "no reduction dimensions"
            raise VerifyException(f"found {len(self.inits.data)} inits with {kind}")
        if not self.is_reduction and (self.finish.blocks or self.finish_inputs):  # C9
            raise VerifyException("found a finish part without reduction dimensions")
        if self.finish_inputs and not self.finish.blocks:
            raise VerifyException(f"found {len(self.finish_inputs)} finish inputs without a finish region")

    def _verify_regions(self) -> None:
        accumulators = [number_type(init) for init in self.inits.data]
        elements = [element_scalar(result.type) for result in self.res]
        block = self.finish_block
        body_yields = accumulators if self.is_reduction else elements
        verify_body("body", self.body.block, [element_scalar(v.type) for v in self.inputs] + accumulators, body_yields)
        if block is not None:  # C10
            arguments = accumulators + [element_scalar(v.type) for v in self.finish_inputs]
            verify_body("finish", block, arguments, elements)
        elif accumulators and accumulators != elements:
            raise VerifyException(f"accumulators {_list(accumulators)} are not the result elements {_list(elements)}")
        verify_indices("body", self.body.block, len(self.dims))  # C13
        if block is not None:
            verify_indices("finish", block, self.parallel_count)

    # Meaning

    def evaluate_in(self, frame: Frame, operands: Sequence[Array]) -> list[Array]:
        symbols = frame.symbols
        fills = (*self.input_fills, *(None for _ in self.finish_inputs))
        sources = [Source(a, m.data, f) for a, m, f in zip(operands, self.maps.data, fills, strict=True)]
        count = len(self.inputs)
        return StructuredEvaluation(
            evaluate_dims(self.dims, symbols),
            self.parallel_count,
            evaluate_dims(self.symbols.data, symbols),
            tuple(sources[:count]),
            tuple(sources[count:]),
            tuple(self.inits.data),
            self.body.block,
            self.finish_block,
            tuple(numpy_dtype(element_type) for element_type in self.element_types),
            frame.value,
            symbols,
        ).run()

    # Assembly: by hand, because operands, maps and fills stand together

    @classmethod
    def parse(cls, parser: Parser) -> StructuredOp:
        inputs = parse_mapped_operands(parser)
        parser.parse_keyword("over")
        extents, num_parallel = parse_space(parser)
        symbols = parse_optional_symbols(parser)
        inits = parse_scalars(parser) if parser.parse_optional_keyword("init") else []
        parser.parse_keyword("body")
        body = parse_body(parser)
        finish_inputs = []
        finish = Region()
        if parser.parse_optional_keyword("finish"):
            finish_inputs = parse_mapped_operands(parser)
            parser.parse_keyword("body")
            finish = parse_body(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        operands = parser.resolve_operands(
            [operand.operand for operand in (*inputs, *finish_inputs)], types.inputs.data, position
        )
        return cls.create(
            operands=operands,
            result_types=types.outputs.data,
            properties={
                "extents": ShapeAttr(extents),
                "num_parallel": IntegerAttr(num_parallel, i64),
                "maps": ArrayAttr(operand.map for operand in (*inputs, *finish_inputs)),
                "symbols": symbols,
                "fills": ArrayAttr(operand.fill for operand in inputs),
                "inits": ArrayAttr(inits),
                **segment_sizes(len(inputs), len(finish_inputs)),
            },
            attributes=attributes.data if attributes else {},
            regions=[body, finish],
        )

    def print(self, printer: Printer) -> None:
        maps = self.maps.data
        printer.print_string(" ")
        print_mapped_operands(printer, self.inputs, maps[: len(self.inputs)], self.fills.data)
        printer.print_string(" over ")
        print_space(printer, self.dims, self.parallel_count)
        print_optional_symbols(printer, self.symbols)
        if self.inits.data:
            printer.print_string(" init ")
            print_scalars(printer, self.inits.data)
        printer.print_string(" body ")
        print_body(printer, self.body)
        if self.finish.blocks:
            printer.print_string(" finish ")
            print_mapped_operands(printer, self.finish_inputs, maps[len(self.inputs) :])
            printer.print_string(" body ")
            print_body(printer, self.finish)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_operation_type(self)


def segment_sizes(*sizes: int) -> dict[str, Attribute]:
    """The property that says how the operands split into groups."""
    return {"operandSegmentSizes": DenseArrayBase.from_list(i32, sizes)}


def _list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def _terminator(name: str, block: Block) -> YieldOp:
    last = block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{name} ends with {last.name if last else 'nothing'}, expected tensor_ops.yield")
    return last


def verify_body(name: str, block: Block, arguments: Sequence[Attribute], yields: Sequence[Attribute] | None) -> None:
    """Checks the argument types of a scalar body and, if they are given, the types it yields."""
    if (found := [arg.type for arg in block.args]) != list(arguments):  # C7
        raise VerifyException(f"{name} has arguments {_list(found)}, expected {_list(arguments)}")
    found = [value.type for value in _terminator(name, block).values]
    if yields is not None and found != list(yields):  # C8
        raise VerifyException(f"{name} yields {_list(found)}, expected {_list(yields)}")


def verify_indices(name: str, block: Block, rank: int) -> None:
    """Checks that `tensor_ops.index` inside a body names one of `rank` dimensions."""
    for op in block.ops:
        if isinstance(op, IndexOp) and not 0 <= op.position < rank:
            raise VerifyException(f"tensor_ops.index {op.position} in {name}, expected a dimension below {rank}")


def _verify_bounds(affine_map: AffineMap, shape: Sequence[Dim], simplifier: Simplifier) -> None:
    for result, size in zip(affine_map.results, shape, strict=True):
        if not isinstance(size, int) or not linear_form(result).is_pure_linear:
            continue
        low, high = simplifier.bounds(result)
        # With symbols the lower bound is not tight: sizes that are 0 may not happen.
        negative = low is not None and low < 0 and not used_symbols([result])
        if negative or (high is not None and high >= size):
            raise VerifyException(
                f"index {result} of map {affine_map} runs from {low} to {high}, out of a dimension of size {size}; "
                "give the input a fill"
            )


def extracts(op: Operation) -> Iterator[ExtractOp]:
    """The reads of outside tensors in the bodies of `op`."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if isinstance(inner, ExtractOp):
                    yield inner
