"""
Symbolic sizes in the IR: the encoding of tensor types, the attribute for lists of sizes, and what reads and makes them.

A tensor type with `?` dimensions has the encoding `#graph.dims<..>`, which lists those dimensions in order:
`tensor<?x3x?xf32, #graph.dims<N, 2*N+1>>`. A static type has no encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from typing_extensions import TypeIs
from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dim_parser import parse_dim, parse_dim_attribute
from aicc.dialects.graph.symbolic import (
    Dim,
    SymExpr,
    ceildiv,
    dim_max,
    dim_min,
    dim_prod,
    dim_sum,
    evaluate,
    floordiv,
    lower_bound,
    mod,
    provably_at_least,
    provably_different,
    provably_equal,
    substitute,
    sym,
    upper_bound,
)

__all__ = [
    "MAX_ELEMENTS",
    "MAX_RANK",
    "Dim",
    "DimsAttr",
    "ShapeAttr",
    "SymExpr",
    "ceildiv",
    "check_rank",
    "check_tensor_type",
    "dim_max",
    "dim_min",
    "dim_prod",
    "dim_sum",
    "dims_of",
    "evaluate",
    "evaluate_dims",
    "floordiv",
    "is_tensor",
    "lower_bound",
    "mod",
    "parse_dim",
    "provably_at_least",
    "provably_different",
    "provably_equal",
    "rank_of",
    "shape_text",
    "substitute",
    "substitute_type",
    "sym",
    "symbol_of",
    "symbols_of",
    "tensor_of",
    "tensor_type",
    "upper_bound",
]


def _attribute_text(dim: Dim) -> str:
    return dim.quoted('"') if isinstance(dim, SymExpr) else str(dim)


@irdl_attr_definition
class DimsAttr(Data[tuple[SymExpr, ...]]):
    """
    The `?` dimensions of a tensor type, in order, none of them constant.

    ```mlir
    tensor<?x3x?xf32, #graph.dims<N, 2*N+1>>
    ```
    """

    name = "graph.dims"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[SymExpr, ...]:
        dims = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: parse_dim_attribute(parser))
        symbolic = tuple(dim for dim in dims if isinstance(dim, SymExpr))
        if len(symbolic) != len(dims):
            constant = next(dim for dim in dims if not isinstance(dim, SymExpr))
            parser.raise_error(f"size {constant} is a constant; write it in the shape in place of '?'")
        return symbolic

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(map(_attribute_text, self.data))}>")


@irdl_attr_definition
class ShapeAttr(Data[tuple[Dim, ...]]):
    """
    A list of sizes, constant or symbolic.

    ```mlir
    #graph.shape<2, N, 2*N+1>
    ```
    """

    name = "graph.shape"

    def __init__(self, data: Iterable[Dim]):
        super().__init__(tuple(data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Dim, ...]:
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: parse_dim_attribute(parser)))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(map(_attribute_text, self.data))}>")

    def text(self) -> str:
        """The sizes in square brackets, as the custom formats of ops write them."""
        return f"[{', '.join(map(_attribute_text, self.data))}]"


def is_tensor(type: Attribute) -> TypeIs[TensorType[Attribute]]:
    """Whether it is a ranked tensor type."""
    return isinstance(type, TensorType)


def tensor_of(type: Attribute) -> TensorType[Attribute]:
    """
    `type` as a tensor type.

    Raises:
        VerifyException: if it is none.
    """
    if not is_tensor(type):
        raise VerifyException(f"found type {type}, expected a ranked tensor")
    return type


def dims_of(type: Attribute) -> tuple[Dim, ...]:
    """
    The sizes of a tensor type.

    Raises:
        VerifyException: if it is no tensor type, or has a `?` that its encoding does not name.
    """
    tensor = tensor_of(type)
    shape = [size.data for size in tensor.shape.data]
    encoding = tensor.encoding
    if isinstance(encoding, NoneAttr):
        if DYNAMIC_INDEX in shape:
            expected = "a #graph.dims encoding that names them, such as #graph.dims<N>"
            raise VerifyException(f"type {type} has '?' dimensions, expected {expected}")
        return tuple(shape)
    if not isinstance(encoding, DimsAttr):
        raise VerifyException(f"type {type} has encoding {encoding}, expected #graph.dims<..>")
    if shape.count(DYNAMIC_INDEX) != len(encoding.data):
        raise VerifyException(
            f"type {type} has {shape.count(DYNAMIC_INDEX)} '?' dimensions, but its encoding names {len(encoding.data)}"
        )
    names = iter(encoding.data)
    return tuple(next(names) if size == DYNAMIC_INDEX else size for size in shape)


def check_tensor_type(type: Attribute) -> None:
    """
    Checks that `type` is a tensor type whose `?` dimensions are all named and that can be addressed.

    Raises:
        VerifyException: if it is not.
    """
    _check_extent(dims_of(type))


def rank_of(type: Attribute) -> int:
    """The number of dimensions of a tensor type."""
    return len(tensor_of(type).shape.data)


MAX_RANK = 64
"""Dimensions of a tensor at most: arrays of numpy, in which models are run and have their meaning, have no more."""

MAX_ELEMENTS = 2**60
"""Elements of the largest tensor: its bytes are counted in 64 bits, with a sign."""


def check_rank(rank: int) -> None:
    """
    Checks that there are tensors of so many dimensions.

    Raises:
        VerifyException: if there are not.
    """
    if rank > MAX_RANK:
        raise VerifyException(f"a tensor has rank {rank}, expected at most {MAX_RANK}")


def _check_extent(dims: Sequence[Dim]) -> None:
    check_rank(len(dims))
    # A size of 0 does not count: indices on the other axes must fit all the same.
    if prod(dim for dim in dims if isinstance(dim, int) and dim != 0) > MAX_ELEMENTS:
        raise VerifyException(f"shape {shape_text(dims)} has more than 2**60 elements, which cannot be addressed")


@lru_cache(maxsize=4096)
def _tensor_type(dims: tuple[Dim, ...], element_type: Attribute) -> TensorType[Attribute]:
    for dim in dims:
        if isinstance(dim, int) and dim < 0:
            raise VerifyException(f"shape {shape_text(dims)} has a negative size")
    _check_extent(dims)
    symbolic = tuple(dim for dim in dims if isinstance(dim, SymExpr))
    shape = [DYNAMIC_INDEX if isinstance(dim, SymExpr) else dim for dim in dims]
    return TensorType(element_type, shape, DimsAttr(symbolic) if symbolic else NoneAttr())


def tensor_type(dims: Sequence[Dim], element_type: Attribute) -> TensorType[Any]:
    """
    The tensor type of these sizes; without encoding if all are constant.

    Raises:
        VerifyException: if a size is negative, or there is no tensor of that rank or with so many elements.
    """
    return _tensor_type(tuple(dims), element_type)


def shape_text(dims: Sequence[Dim]) -> str:
    """The sizes as messages show them: `[2, N, 2*N+1]`."""
    return f"[{', '.join(map(str, dims))}]"


def symbols_of(dims: Iterable[Dim]) -> tuple[str, ...]:
    """The names of all symbols in `dims`, each once, in order of first appearance (sorted within one size)."""
    found: dict[str, None] = {}
    for dim in dims:
        if isinstance(dim, SymExpr):
            found.update(dict.fromkeys(dim.symbols()))
    return tuple(found)


def symbol_of(dim: Dim) -> str | None:
    """The symbol that a size is, if it is one alone."""
    symbols = symbols_of([dim])
    return symbols[0] if len(symbols) == 1 and dim == sym(symbols[0]) else None


def evaluate_dims(dims: Iterable[Dim], values: Mapping[str, int]) -> tuple[int, ...]:
    """Each size where the symbols have the given values."""
    return tuple(evaluate(dim, values) for dim in dims)


def substitute_type(type: Attribute, values: Mapping[str, Dim]) -> Attribute:
    """A tensor type with symbols replaced; any other type as it is."""
    if not is_tensor(type) or isinstance(type.encoding, NoneAttr):
        return type
    return tensor_type([substitute(dim, values) for dim in dims_of(type)], type.element_type)
