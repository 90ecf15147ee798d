"""
What every graph op says about itself: types, meaning, decomposition, how it fuses, what is checked at run time.

An op declares these facts beside its operands, so that no pass lists op names. `ExecutableOp` and `RegionExecutableOp`
are for the ops of any level that the evaluator runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, Flag, auto
from functools import lru_cache
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import NoneType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph import assembly
from aicc.dialects.graph.dims import (
    Dim,
    dim_prod,
    dim_sum,
    dims_of,
    is_tensor,
    provably_different,
    shape_text,
    tensor_of,
)
from aicc.dialects.graph.dtypes import is_bool, is_float, is_narrow, is_unsigned, numpy_dtype

Arrays = Sequence[np.ndarray[Any, Any]]


class FusionKind(Enum):
    """How the elements of an op's result depend on those of its operands."""

    ELEMENTWISE = auto()
    """One element of each (broadcast) operand."""

    MOVEMENT = auto()
    """One element at a computed index: transpose, slice, expand, pad, concat, split."""

    VIEW = auto()
    """The elements in the same row-major order, in another shape."""

    REDUCTION = auto()
    """A set of elements along axes: sums, softmax, norms, arg-max."""

    CONTRACTION = auto()
    """Sums of products: matmul, convolution."""

    WINDOW = auto()
    """The elements of a sliding window: pooling."""

    GATHER = auto()
    """One element of the first operand, at a place that the others tell by their values."""

    INDIRECT = auto()
    """Elements written at places that depend on data, or a running total: scatter, cumsum."""

    CONTROL = auto()
    CONSTANT = auto()

    OPAQUE = auto()
    """Nothing is known; never fused."""


@dataclass(frozen=True)
class Check:
    """A fact that is assumed and checked at run time: `lhs == rhs`; `text` says what does not match otherwise."""

    lhs: Dim
    rhs: Dim
    text: str


class ElementKind(Flag):
    """Classes of element types that an operand may have."""

    FLOAT = auto()
    SIGNED = auto()
    UNSIGNED = auto()
    BOOL = auto()
    NARROW = auto()
    """What is moved and converted only."""
    INTEGER = SIGNED | UNSIGNED
    NUMBER = FLOAT | INTEGER
    SIGNED_NUMBER = FLOAT | SIGNED
    BITS = INTEGER | BOOL
    ANY = NUMBER | BOOL


_KIND_TEXT = {
    ElementKind.FLOAT: "floats",
    ElementKind.SIGNED: "signed integers",
    ElementKind.UNSIGNED: "unsigned integers",
    ElementKind.BOOL: "i1",
}


@lru_cache(maxsize=256)
def element_kind(element_type: Attribute) -> ElementKind:
    """
    The one class that an element type belongs to.

    Raises:
        VerifyException: if no tensor can have it.
    """
    numpy_dtype(element_type)
    if is_float(element_type):
        return ElementKind.FLOAT
    if is_narrow(element_type):
        return ElementKind.NARROW
    if is_bool(element_type):
        return ElementKind.BOOL
    return ElementKind.UNSIGNED if is_unsigned(element_type) else ElementKind.SIGNED


def check_element_type(what: str, element_type: Attribute, allowed: ElementKind) -> None:
    """Raises VerifyException if the element type of `what` is not of an allowed kind."""
    if element_kind(element_type) not in allowed:
        expected = " or ".join(text for kind, text in _KIND_TEXT.items() if kind in allowed)
        raise VerifyException(f"{what} has element type {element_type}, expected {expected}")


def element_type_of(value: SSAValue) -> Attribute:
    """
    The element type of a tensor value.

    Raises:
        VerifyException: if the value is no ranked tensor.
    """
    return tensor_of(value.type).element_type


def set_type(value: SSAValue, type: Attribute) -> None:
    """Gives a value another type in place; its users are not told."""
    value._type = type  # pyright: ignore[reportPrivateUsage]


class OpBuilder:
    """Inserts ops one after the other, each with the same source location."""

    def __init__(self, insertion_point: InsertPoint, like: Operation | None = None):
        """New ops get the location of `like`, if given."""
        self._builder = Builder(insertion_point)
        self._like = like

    @staticmethod
    def before(op: Operation) -> OpBuilder:
        """Inserts before `op`, with its location."""
        return OpBuilder(InsertPoint.before(op), op)

    def insert(self, op: Operation) -> Operation:
        """Inserts `op`."""
        if self._like is not None:
            op.location = self._like.location
        return self._builder.insert(op)

    def add(self, op: Operation, name_hint: str | None = None) -> SSAValue:
        """Inserts `op`, which has one result, and returns the result."""
        self.insert(op)
        result = op.results[0]
        if name_hint is not None:
            result.name_hint = name_hint
        return result


class ExecutableOp(Operation, ABC):
    """An op that can be computed from the values of its operands alone."""

    @abstractmethod
    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        """
        The values of the results, one array each, of the shapes and dtypes that their types say.

        f16 and bf16 are computed in f32 and rounded once at the end; integers wrap. Neither operands nor results are
        written to afterwards, so a result may be a view of an operand.
        """


class Frame(Protocol):
    """The part of a running function that ops with regions and calls need."""

    @property
    def symbols(self) -> Mapping[str, int]: ...

    def value(self, value: SSAValue) -> np.ndarray[Any, Any]:
        """The array of a value that is already computed, for bodies that read from around them."""
        ...

    def define_symbol(self, op: Operation, name: str, value: int, most: Dim | None) -> None:
        """Gives a symbol its value, which must be from 0 to `most`; `op` is what defines it."""
        ...

    def check_sizes(self, op: Operation, lhs: Dim, rhs: Dim, text: str) -> None:
        """Ends the run with an error that begins with `text` if the two sizes are not equal."""
        ...

    def run_block(self, block: Block, arguments: Arrays) -> Arrays:
        """Runs a block; returns the operands of its terminator."""
        ...

    def call(self, name: str, arguments: Arrays, symbols: Mapping[str, int] | None = None) -> Arrays:
        """Runs a function of the module; its symbols are found from the arguments where not given."""
        ...


class RegionExecutableOp(Operation, ABC):
    """An op whose meaning needs its regions or other functions."""

    @abstractmethod
    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        """The values of the results, as in `ExecutableOp.evaluate`."""


class TypedOp(IRDLOperation, ABC):
    """
    Base of all ops of the graph level: pure, with types that follow from operands and properties.

    The assembly format is the one of `assembly.py`, for all ops:
    `graph.name %a, %b optional(%c) {axis = 1, flag} : type, type, type -> type`.
    """

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.OPAQUE

    CONTINUOUS: ClassVar[bool] = True
    """Of ops from floats to floats: whether results change little where operands do."""

    traits = traits_def(Pure())

    @property
    def fusion_kind(self) -> FusionKind:
        """How the op can share a kernel with others."""
        return self.FUSION_KIND

    @abstractmethod
    def infer_types(self) -> Sequence[Attribute]:
        """
        The types of the results, from the types of the operands and the properties.

        Sizes that are not provably equal where they must be are assumed equal (`runtime_checks` lists them).

        Raises:
            VerifyException: if the operands or properties break a rule of the op.
        """

    def build_self(
        self,
        operands: Sequence[SSAValue | Operation | Sequence[SSAValue | Operation] | None],
        properties: Mapping[str, Attribute | None] | None = None,
        *,
        regions: Sequence[Region] = (),
        variadic_results: int | None = None,
    ) -> None:
        """
        Makes the op with inferred result types; for constructors of subclasses.

        `variadic_results` is the number of results of an op whose one result definition is variadic.
        """
        count = len(type(self).get_irdl_definition().results)
        unknown = NoneType()
        IRDLOperation.__init__(
            self,
            operands=operands,
            result_types=[unknown] * count if variadic_results is None else [[unknown] * variadic_results],
            properties=properties,
            regions=regions,
        )
        self.set_inferred_types()

    def set_inferred_types(self) -> None:
        """Gives the results the types that `infer_types` says."""
        for result, type in zip(self.results, self.infer_types(), strict=True):
            set_type(result, type)

    def verify_(self) -> None:
        for result, inferred in zip(self.results, self.infer_types(), strict=True):
            if result.type != inferred and not may_be_same_type(result.type, inferred):
                raise VerifyException(f"result has type {result.type}, but {inferred} is inferred")

    def runtime_checks(self) -> Sequence[Check]:
        """Facts that `infer_types` assumes, to be checked when the sizes are known."""
        checks: list[Check] = []
        for result, inferred in zip(self.results, self.infer_types(), strict=True):
            if result.type != inferred and is_tensor(inferred):
                for axis, (lhs, rhs) in enumerate(zip(dims_of(result.type), dims_of(inferred), strict=True)):
                    if lhs != rhs:
                        checks.append(Check(lhs, rhs, f"{self.name}: result size {lhs} of axis {axis} is not {rhs}"))
        return checks

    def flops(self) -> Dim:
        """An estimate of the arithmetic: by default one operation per element of the results."""
        sizes = (dim_prod(dims_of(type)) for type in self.result_types if is_tensor(type))
        return dim_sum(sizes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return assembly.parse_op(cls, parser)

    def print(self, printer: Printer) -> None:
        assembly.print_op(self, printer)


class GraphOp(TypedOp, ExecutableOp, ABC):
    """Base of the graph ops that compute whole tensors from whole tensors."""

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue] | None:
        """Builds the op from simpler graph ops and returns the values of its results; None if it stays as it is."""
        del b
        return None

    def selects_elements(self) -> bool:
        """
        Whether each element of the result is one of the one operand's, chosen by its place or by the order of numbers.

        Every increasing function of single elements may then be applied before the op or after it.
        """
        return False


class ControlOp(TypedOp, RegionExecutableOp, ABC):
    """Base of the graph ops that run regions or functions."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTROL

    ENDS: ClassVar[bool] = False
    """Whether it comes to an end if all ops in its regions do."""


def may_be_same_type(a: Attribute, b: Attribute) -> bool:
    """Whether two types can be the same for some values of the symbols: no size differs provably."""
    if not is_tensor(a) or not is_tensor(b):
        return a == b
    if a.element_type != b.element_type or len(a.shape.data) != len(b.shape.data):
        return False
    return not any(map(provably_different, dims_of(a), dims_of(b)))


def broadcast_dim(a: Dim, b: Dim, what: str) -> Dim:
    """
    The size of an axis where `a` and `b` are combined as numpy does: a 1 is repeated.

    Two sizes that are not provably equal are assumed equal; a constant is then the better one to know.

    Raises:
        VerifyException: if they provably differ and neither is 1; `what` names the two.
    """
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if provably_different(a, b) and not _may_be_one(a) and not _may_be_one(b):
        raise VerifyException(f"{what}: size {a} does not match size {b}, expected equal sizes or 1")
    return b if isinstance(b, int) else a


def _may_be_one(dim: Dim) -> bool:
    return not provably_different(dim, 1)


def broadcast_dims(shapes: Sequence[Sequence[Dim]]) -> tuple[Dim, ...]:
    """
    The shape of an elementwise op on operands of these shapes, aligned at the last axis.

    Raises:
        VerifyException: if two of them do not go together.
    """
    first = tuple(shapes[0])
    if all(tuple(shape) == first for shape in shapes[1:]):
        return first
    rank = max(map(len, shapes))
    result: list[Dim] = [1] * rank
    for shape in shapes:
        offset = rank - len(shape)
        for axis, dim in enumerate(shape):
            what = f"operands of shapes {' and '.join(map(shape_text, shapes))} do not broadcast"
            result[offset + axis] = broadcast_dim(result[offset + axis], dim, what)
    return tuple(result)


def broadcast_checks(op: Operation, shapes: Sequence[Sequence[Dim]], result: Sequence[Dim]) -> list[Check]:
    """What `broadcast_dims` assumed: sizes other than 1 that are not provably that of the result."""
    checks: list[Check] = []
    for shape in shapes:
        offset = len(result) - len(shape)
        for axis, dim in enumerate(shape):
            if dim != 1 and dim != result[offset + axis]:
                text = f"{op.name}: size {dim} of axis {axis} does not match {result[offset + axis]}"
                checks.append(Check(dim, result[offset + axis], text))
    return checks
