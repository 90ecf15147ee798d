"""Memrefs whose unknown dimensions are symbolic expressions, and the words that describe a loop."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, MemRefLayoutAttr, MemRefType, NoneAttr, i32
from xdsl.ir import Attribute, Data, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, DimsAttr, SymExpr


class LoopKind(StrEnum):
    """How the iterations of a loop may be run."""

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"
    """Any order, also at once: whoever sets it guarantees that iterations are independent."""
    SIMD = "simd"
    UNROLL = "unroll"


class ReduceKind(StrEnum):
    """What combines the lanes in `loops.reduce`; `minimumf` and `maximumf` propagate NaN, `numf` forms leave it out."""

    ADD = "add"
    MUL = "mul"
    MINIMUMF = "minimumf"
    MAXIMUMF = "maximumf"
    MINNUMF = "minnumf"
    MAXNUMF = "maxnumf"
    MINSI = "minsi"
    MAXSI = "maxsi"
    MINUI = "minui"
    MAXUI = "maxui"
    AND = "and"
    OR = "or"
    XOR = "xor"


@lru_cache(maxsize=1024)
def segment_sizes(*sizes: int) -> Attribute:
    """The property `operandSegmentSizes`: how an op's operands split into groups."""
    return DenseArrayBase.from_list(i32, sizes)


@irdl_attr_definition
class MemRefDimsAttr(MemRefLayoutAttr, Data[tuple[SymExpr, ...]]):
    """
    The expressions of a memref's `?` dimensions, in order; the layout itself is row-major.

    ```mlir
    memref<?x3x?xf32, #loops.dims<N, 2*N+1>>
    ```
    """

    name = "loops.dims"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[SymExpr, ...]:
        return DimsAttr.parse_parameter(parser)

    def print_parameter(self, printer: Printer) -> None:
        DimsAttr(self.data).print_parameter(printer)

    def get_affine_map(self) -> AffineMap:
        """A row-major layout of unknown sizes has symbolic strides, which an affine map cannot say."""
        raise NotImplementedError("the layout of a memref with symbolic dimensions is not an affine map")


AnyMemRef: TypeAlias = MemRefType[Attribute]


def memref_of(value: SSAValue) -> AnyMemRef:
    """
    The type of a value that must be a memref.

    Raises:
        VerifyException: if it is not.
    """
    if not isinstance(value.type, MemRefType):
        raise VerifyException(f"found a value of type {value.type}, expected a memref")
    return cast(AnyMemRef, value.type)  # pyright: ignore[reportUnknownMemberType]


def memref_type(dims: Sequence[Dim], element_type: Attribute) -> AnyMemRef:
    """The row-major memref of these dimensions; no layout when all are integers."""
    return _memref_type(tuple(dims), element_type)


@lru_cache(maxsize=4096)
def _memref_type(dims: tuple[Dim, ...], element_type: Attribute) -> AnyMemRef:
    symbolic = tuple(dim for dim in dims if not isinstance(dim, int))
    shape = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in dims]
    return MemRefType(element_type, shape, MemRefDimsAttr(symbolic) if symbolic else NoneAttr())


def memref_dims(type: MemRefType[Any]) -> tuple[Dim, ...]:
    """
    The dimensions of a memref, symbolic ones as expressions.

    Raises:
        VerifyException: if the layout does not name each `?`.
    """
    shape = type.get_shape()
    unknown = shape.count(DYNAMIC_INDEX)
    match type.layout:
        case NoneAttr() if not unknown:
            return shape
        case MemRefDimsAttr(data=exprs) if len(exprs) == unknown:
            rest = iter(exprs)
            return tuple(next(rest) if size == DYNAMIC_INDEX else size for size in shape)
        case _:
            raise VerifyException(
                f"{type} has {unknown} unknown dimensions and layout {type.layout}; expected no layout, or #loops.dims "
                "with one expression for each ?"
            )
