"""What the handler of an operator sees of a node: its inputs, its attributes, and a place to put ops."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias, TypeVar

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import LocationAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.defined_sizes import CheckSizesOp, DefineSizeOp
from aicc.dialects.graph.dims import MAX_RANK, Dim, SymExpr, dim_prod, shape_text, sym
from aicc.dialects.graph.dtypes import element_type, is_integer, numpy_dtype
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ReshapeOp, SliceOp
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx.loading import NUMPY_DTYPES, Source, data_type_name, tensor_array
from aicc.frontends.onnx.shape_arithmetic import sizes_in
from aicc.frontends.onnx.values import AnyTensor, AnyValue, TensorList, Value, constant_value, kind_text

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto, TensorProto


class Unsupported(Exception):
    """Why a node cannot be imported, in words for the model's user."""


@dataclass(frozen=True)
class Unavailable:
    """Stands for an output that cannot be imported; only reported if somebody reads it."""

    reason: str


class UseDefinition(Exception):
    """A handler that leaves a node to the standard's definition of its operator by others."""


class Incomplete(Exception):
    """A subgraph whose outputs were not all imported; what is wrong with it has been noted already."""


class Scope(Protocol):
    """The importer, as handlers need it."""

    source: Source

    def materialise(self, value: Value) -> SSAValue:
        """An SSA value for a tensor, made once from its known content if it has none."""
        ...

    def fresh_symbol(self, wanted: str) -> str:
        """A name for a size that no other size has."""
        ...

    @property
    def symbols(self) -> frozenset[str]:
        """The names of all sizes so far."""
        ...

    def discard(self, block: Block) -> None:
        """Lets go of the ops of a block that is to be imported anew."""
        ...

    def tensor(self, tensor: TensorProto) -> np.ndarray:
        """The elements of a tensor of the model."""
        ...

    def find(self, name: str) -> Value | None:
        """The tensor of this name that a node sees."""
        ...

    def declared_rank(self, name: str) -> int | None:
        """The rank that the model declares for a tensor, if it does."""
        ...

    def import_subgraph(self, graph: GraphProto, block: Block, arguments: Sequence[AnyValue] = ()) -> list[AnyValue]:
        """
        Puts the nodes of a graph, whose inputs are `arguments`, into `block`; the results are its outputs.

        Raises:
            Incomplete: if something in it is not supported.
        """
        ...


T = TypeVar("T")

Result: TypeAlias = "SSAValue | AnyValue"
Output: TypeAlias = "Result | Unavailable"
Handler: TypeAlias = Callable[["NodeContext"], "Result | Sequence[Output]"]
"""Makes the ops of a node; one result, or a sequence with one entry per output."""


class NodeContext:
    """
    One node. Positions of inputs count from 0 and include empty optional ones.

    Ops that are emitted go to the end of the current block and carry the node's location.
    """

    def __init__(
        self,
        node: NodeProto,
        name: str,
        version: int,
        inputs: Sequence[AnyValue | None],
        scope: Scope,
        block: Block,
        location: LocationAttr,
    ) -> None:
        self.node = node
        self.name = name
        self.op_type = node.op_type
        self.version = version
        """The version of the operator set that the model takes the operator from."""
        self.inputs = inputs
        self.scope = scope
        self.block = block
        self.location = location
        self.emitted: list[Operation] = []
        self._attributes: Mapping[str, AttributeProto] = {attribute.name: attribute for attribute in node.attribute}

    @staticmethod
    def fail(reason: str) -> NoReturn:
        """Gives up on the node; the reason goes into the one error about the model."""
        raise Unsupported(reason)

    # Inputs

    def has(self, position: int) -> bool:
        """Whether an optional input is given."""
        return position < len(self.inputs) and self.inputs[position] is not None

    def any_value(self, position: int) -> AnyValue:
        """A required input of any kind."""
        value = self.inputs[position] if position < len(self.inputs) else None
        if value is None:
            self.fail(f"input {position}{self._input_name(position)} is missing")
        return value

    def value(self, position: int) -> Value:
        """A required input, which is a tensor."""
        value = self.any_value(position)
        if not isinstance(value, Value):
            self.fail(f"input {position}{self._input_name(position)} is {kind_text(value)}, expected a tensor")
        return value

    def tensor_list(self, position: int) -> TensorList:
        """A required input, which is a sequence."""
        value = self.any_value(position)
        if not isinstance(value, TensorList):
            self.fail(f"input {position}{self._input_name(position)} is {kind_text(value)}, expected a sequence")
        return value

    def tensors(self, values: Sequence[AnyValue], what: str) -> list[Value]:
        """Values that must all be tensors."""
        found = [value for value in values if isinstance(value, Value)]
        for i, value in enumerate(values):
            if not isinstance(value, Value):
                self.fail(f"{what} {i} is {kind_text(value)}, expected a tensor")
        return found

    def _input_name(self, position: int) -> str:
        """The standard's name of an input, for errors."""
        from onnx import defs

        try:
            inputs = defs.get_schema(self.op_type, self.version, self.node.domain).inputs
        except defs.SchemaError:
            return ""
        return f" ('{inputs[position].name}')" if position < len(inputs) else ""

    def ssa(self, position: int) -> SSAValue:
        """A required input as an SSA value."""
        return self.scope.materialise(self.value(position))

    def optional(self, position: int) -> SSAValue | None:
        """An optional input as an SSA value."""
        return self.ssa(position) if self.has(position) else None

    def every(self) -> list[SSAValue]:
        """The inputs of a variadic operator; at least one."""
        if not self.inputs:
            self.fail("it has no inputs")
        return [self.ssa(i) for i in range(len(self.inputs))]

    def type(self, position: int) -> AnyTensor:
        return self.value(position).type

    def dims(self, position: int) -> tuple[Dim, ...]:
        return self.value(position).dims

    def rank(self, position: int) -> int:
        return len(self.type(position).shape.data)

    def element(self, position: int) -> Attribute:
        return self.type(position).element_type

    def is_known(self, position: int) -> bool:
        """Whether the content of a required input is a constant, or made of sizes; where it has no elements, it is."""
        return self.value(position).content is not None or 0 in self.dims(position)

    def sizes(self, position: int, what: str, *, most: int = MAX_RANK) -> tuple[Dim, ...]:
        """
        The elements of an integer input, at most `most`, as sizes. Those that only data tells become symbols, which are
        at least 0; handlers whose operator takes other numbers as well ask `is_known` first, and work with `elements`
        if not.
        """
        content = self.value(position).content
        if content is None:
            return tuple(self.defined_size(value, what) for value in self.elements(position, what, most=most))
        self.expect_most(content.size, most, position, what)
        if content.dtype != object and content.dtype.kind not in "iu":
            self.fail(f"{what} (input {position}) has elements of {content.dtype}, expected integers")
        return sizes_in(content)

    def size(self, position: int, what: str) -> Dim:
        """The one element of an integer input as a size, as `sizes` gives them."""
        self.expect_one(position, what)
        return self.sizes(position, what)[0]

    def expect_one(self, position: int, what: str) -> None:
        """Fails unless an input can have one element."""
        count = dim_prod(self.dims(position))
        if isinstance(count, int) and count != 1:
            self.fail(f"{what} (input {position}) has {count} elements, expected 1")

    def expect_rank(self, position: int, *ranks: int, least: int | None = None) -> None:
        """Fails unless an input, where it is given, has one of the ranks, or at least rank `least`."""
        if not self.has(position):
            return
        rank = self.rank(position)
        if rank not in ranks and (least is None or rank < least):
            wanted = f"at least {least}" if least is not None else " or ".join(map(str, ranks))
            self.fail(f"input {position}{self._input_name(position)} has rank {rank}, expected {wanted}")

    def expect_most(self, count: int, most: int, position: int, what: str) -> None:
        """Fails before as many numbers are taken one by one as no list of sizes or axes has."""
        if count > most:
            self.fail(f"{what} (input {position}) has {count} elements, expected at most {most}")

    def elements(self, position: int, what: str, *, most: int = MAX_RANK) -> list[SSAValue]:
        """
        The elements of an integer input of rank 0 or 1 and known length, at most `most`, as tensors of i64 and rank 0.
        """
        value = self.ssa(position)
        if not is_integer(element_type_of(value)):
            self.fail(f"{what} (input {position}) has elements of {element_type_of(value)}, expected integers")
        if element_type_of(value) != i64:
            value = self.emit(CastOp(value, i64))
        dims = self.dims(position)
        if len(dims) == 0:
            return [value]
        (count, *rest) = dims
        if rest or not isinstance(count, int):
            self.fail(f"{what} (input {position}) has shape {shape_text(dims)}, expected a list of known length")
        self.expect_most(count, most, position, what)
        return [self.emit(ReshapeOp(self.emit(SliceOp(value, [i], [1])), ())) for i in range(count)]

    def defined_size(self, value: SSAValue, what: str, most: Dim | None = None) -> SymExpr:
        """
        A symbol whose value is that of a tensor of i64 and rank 0: at least 0, and at most `most`, which is checked.
        """
        name = self.fresh_symbol(what)
        op = DefineSizeOp(value, name, most, f"{what} of node '{self.name}'")
        op.location = self.location
        self.block.add_op(op)
        self.emitted.append(op)
        return sym(name)

    def check_sizes(self, lhs: Dim, rhs: Dim, text: str) -> None:
        """Ends a run in which two sizes are not equal."""
        op = CheckSizesOp(lhs, rhs, text)
        op.location = self.location
        self.block.add_op(op)
        self.emitted.append(op)

    def fresh_symbol(self, what: str) -> str:
        """The name of a size that nothing else has, after the node."""
        return self.scope.fresh_symbol(re.sub(r"[^A-Za-z0-9_]+", "_", f"{self.name}_{what}").strip("_"))

    def numbers(self, position: int, what: str) -> tuple[int, ...]:
        """The elements of a constant integer input."""
        if not self.is_known(position):
            self.fail(f"{what} (input {position}) is computed at run time; only a constant is supported")
        sizes = self.sizes(position, what)
        if not all(isinstance(size, int) for size in sizes):
            self.fail(f"{what} (input {position}) is {shape_text(sizes)}, expected constants")
        return tuple(size for size in sizes if isinstance(size, int))

    def constant_input(self, position: int, what: str) -> np.ndarray:
        """The content of an input that must be a constant."""
        content = self.value(position).content
        if content is None or content.dtype == object:
            self.fail(f"{what} (input {position}) is computed at run time; only a constant is supported")
        return content

    def wants(self, position: int) -> bool:
        """Whether an output has a name, so that somebody may read it."""
        return position < len(self.node.output) and bool(self.node.output[position])

    # Attributes

    def has_attr(self, name: str) -> bool:
        return name in self._attributes

    def attr_int(self, name: str, default: int | None = None) -> int:
        attribute = self._attribute(name, 2, default)
        return int(attribute.i) if attribute is not None else self._default(name, default)

    def attr_float(self, name: str, default: float | None = None) -> float:
        attribute = self._attribute(name, 1, default)
        return float(attribute.f) if attribute is not None else self._default(name, default)

    def attr_str(self, name: str, default: str | None = None) -> str:
        attribute = self._attribute(name, 3, default)
        if attribute is None:
            return self._default(name, default)
        return attribute.s.decode("utf-8", "replace")

    def attr_ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        attribute = self._attribute(name, 7, default)
        return tuple(attribute.ints) if attribute is not None else tuple(self._default(name, default))

    def attr_floats(self, name: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        attribute = self._attribute(name, 6, default)
        return tuple(attribute.floats) if attribute is not None else tuple(self._default(name, default))

    def attr_tensor(self, name: str) -> np.ndarray:
        attribute = self._attribute(name, 4, None)
        if attribute is None:
            self.fail(f"attribute '{name}' is missing")
        try:
            return tensor_array(attribute.t, self.scope.source)
        except ModelError as error:
            self.fail(str(error).removeprefix(f"{self.scope.source.name}: "))

    def attr_graph(self, name: str) -> GraphProto:
        attribute = self._attribute(name, 5, None)
        if attribute is None:
            self.fail(f"attribute '{name}' is missing")
        return attribute.g

    def attr_element(self, name: str, default: int | None = None) -> Attribute:
        """An attribute that names an element type."""
        number = self.attr_int(name, default)
        dtype = NUMPY_DTYPES.get(number)
        if dtype is None:
            self.fail(f"element type {data_type_name(number)} (attribute '{name}') is not supported")
        return element_type(dtype)

    def _attribute(self, name: str, kind: int, default: object) -> AttributeProto | None:
        attribute = self._attributes.get(name)
        if attribute is None:
            return None
        if attribute.ref_attr_name:
            self.fail(f"attribute '{name}' refers to '{attribute.ref_attr_name}' of a function around it")
        if attribute.type != kind:
            self.fail(f"attribute '{name}' is of another kind than the operator expects")
        return attribute

    def _default(self, name: str, default: T | None) -> T:
        if default is None:
            self.fail(f"attribute '{name}' is missing")
        return default

    def axis(self, axis: int, rank: int, *, past_end: bool = False) -> int:
        """An axis counted from the front; `past_end` allows `rank` itself."""
        if not -rank <= axis < rank + past_end:
            self.fail(f"axis {axis} is out of range for rank {rank}")
        return axis + rank if axis < 0 else axis

    def axes(self, axes: Sequence[int], rank: int) -> tuple[int, ...]:
        """Axes counted from the front, each once."""
        result = tuple(self.axis(axis, rank) for axis in axes)
        if len(set(result)) != len(result):
            self.fail(f"axes {list(axes)} name one axis twice")
        return result

    # Results

    def emit(self, op: Operation) -> SSAValue:
        """Adds an op; its first result."""
        return self.emit_all(op)[0]

    def emit_all(self, op: Operation) -> Sequence[SSAValue]:
        """Adds an op; all its results."""
        op.location = self.location
        self.block.add_op(op)
        self.emitted.append(op)
        return op.results

    @contextmanager
    def into(self, block: Block) -> Generator[None, None, None]:
        """Ops that are emitted inside go to the end of `block`."""
        before, self.block = self.block, block
        try:
            yield
        finally:
            self.block = before

    def materialise(self, value: Value) -> SSAValue:
        """An SSA value for a tensor, at the end of the current block where it must be made."""
        return self.scope.materialise(value)

    def constant(self, array: np.ndarray) -> SSAValue:
        """A constant that the handler needs."""
        return self.scope.materialise(constant_value(array, f"{self.name}_constant"))

    def scalar(self, value: float | bool, element: Attribute) -> SSAValue:
        """A constant of rank 0; integers must hold it, floats round it."""
        dtype = numpy_dtype(element)
        if is_integer(element):
            whole, bounds = self.whole(value, "a number"), ml_dtypes.iinfo(dtype)
            if not bounds.min <= whole <= bounds.max:
                self.fail(f"{value} does not fit in elements of {dtype}")
            value = whole
        return self.constant(np.array(value, dtype))

    def whole(self, value: float, what: str) -> int:
        """A number without its fraction, which must be finite."""
        if not math.isfinite(value):
            self.fail(f"{what} is {value}, expected a finite one")
        return int(value)
