"""
Builds one `llvm.func` op by op: where ops go, constants, index arithmetic, addresses.

Each loop or branch opens a scope with the block that ops of that depth go to. The block around a loop gets its
terminator when the loop is complete, so that invariant index arithmetic found inside can still be put in front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias, cast

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    UnknownLoc,
    VectorType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.llvm import memory, vectors
from aicc.lowering.loops_to_llvm_index import (
    Poly,
)

POINTER = base.LLVMPointerType()
NSW = IntegerAttr(1, 32)
NO_FLAGS = IntegerAttr(0, 32)
NO_FAST_MATH = base.FastMathAttr(None)


@dataclass
class Scope:
    """One level of nesting: the block at its end so far, and what has been computed in it."""

    block: Block
    cache: dict[object, SSAValue] = field(default_factory=dict[object, SSAValue])


@dataclass(frozen=True)
class Rows:
    """An n-D vector as LLVM values, one per row along the last axis, in row-major order; a scalar has one row."""

    shape: tuple[int, ...]
    rows: Sequence[SSAValue]

    @property
    def lanes(self) -> int:
        """Lanes of a row; a row of one lane is a scalar."""
        return self.shape[-1] if self.shape else 1


@dataclass(frozen=True)
class Buffer:
    """A memref: its address, element type, dimensions and row-major strides (in elements)."""

    pointer: SSAValue
    depth: int
    element: Attribute
    dims: tuple[Poly, ...]
    strides: tuple[Poly, ...]
    root: object
    """What the memory belongs to; memrefs of different roots do not overlap."""
    align: int = 0
    """Bytes that addresses of elements are multiples of; 0 where that is the size of an element."""


UNKNOWN_ROOT = "unknown"
"""The root of a memref that came through control flow; it may overlap any other."""

Lowered: TypeAlias = "Rows | Buffer | Poly"


def is_integer(type_: Attribute) -> bool:
    """Whether the type is one of integers."""
    return isinstance(type_, IntegerType)


def integer_width(type_: Attribute) -> int:
    """Bits of an integer type."""
    return cast(IntegerType, type_).width.data


def register_type(element: Attribute) -> Attribute:
    """The LLVM type of a value of this element type: bf16 is kept as its bits, an index as `i64`."""
    if isinstance(element, IndexType):
        return i64
    if isinstance(element, BFloat16Type):
        return i16
    if is_integer(element):
        return IntegerType(integer_width(element))
    return element


def memory_type(element: Attribute) -> Attribute:
    """The LLVM type of an element in memory: a boolean is a byte."""
    return i8 if element == i1 else register_type(element)


def byte_size(element: Attribute) -> int:
    """Bytes of an element in memory."""
    kind = memory_type(element)
    if is_integer(kind):
        return (integer_width(kind) + 7) // 8
    return cast(Any, kind).bitwidth // 8


_VECTORS: dict[tuple[Attribute, int], Attribute] = {}


def row_type(element: Attribute, lanes: int) -> Attribute:
    """The LLVM type of `lanes` values of the LLVM type `element`; the type itself for one."""
    if lanes == 1:
        return element
    key = (element, lanes)
    found = _VECTORS.get(key)
    if found is None:
        found = _VECTORS[key] = VectorType(element, [lanes])
    return found


def lanes_in(value: SSAValue) -> int:
    """Lanes of an LLVM value; 1 for a scalar."""
    type_ = value.type
    return type_.get_shape()[0] if isinstance(type_, VectorType) else 1


def element_in(value: SSAValue) -> Attribute:
    """The element type of an LLVM value."""
    type_ = value.type
    return cast(VectorType[Attribute], type_).element_type if isinstance(type_, VectorType) else type_


def _identity(value: Attribute) -> object:
    """What tells constants apart: float attributes of 0 and -0 are equal, their texts are not."""
    return cast(Any, value).value.data.hex() if isinstance(value, FloatAttr) else value


@lru_cache(4096)
def _integer_attr(value: int, type_: Attribute) -> tuple[Attribute, Attribute]:
    """The attribute of an integer constant, and its type."""
    vector = cast(VectorType[IntegerType], type_) if isinstance(type_, VectorType) else None
    element = cast(IntegerType, type_) if vector is None else vector.element_type
    width = element.width.data
    value &= (1 << width) - 1
    if width > 1 and value >> width - 1:
        value -= 1 << width
    if vector is not None:
        return DenseIntOrFPElementsAttr.from_list(vector, [value]), vector
    return IntegerAttr(value, element), element


_MASKS: dict[tuple[int, ...], dict[str, Attribute]] = {}
_PREDICATES: dict[str, dict[str, Attribute]] = {
    flag.value: {"predicate": IntegerAttr(flag.to_int(), 64)} for flag in base.ICmpPredicateFlag
}


class Emitter:
    """Where ops of the function that is being built go, with the helpers that every part of the lowering uses."""

    def __init__(self, entry: Block) -> None:
        self.scopes = [Scope(entry)]
        self.location: LocationAttr = UnknownLoc()
        self.blocks = [entry]
        self._constants: dict[object, SSAValue] = {}
        self._constant_ops: list[Operation] = []

    # Placing ops

    @property
    def depth(self) -> int:
        """The depth of the scope at hand."""
        return len(self.scopes) - 1

    @property
    def block(self) -> Block:
        """The block at the end of the scope at hand."""
        return self.scopes[-1].block

    def home(self, value: SSAValue) -> int:
        """The depth of the scope that a value was computed in; where that cannot be told, of the scope at hand."""
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        return next((depth for depth, scope in enumerate(self.scopes) if scope.block is block), -1)

    def new_block(self, types: Sequence[Attribute] = ()) -> Block:
        """A block at the end of the function."""
        block = Block(arg_types=types)
        self.blocks.append(block)
        return block

    def emit(
        self,
        op: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute | None = None,
        properties: Mapping[str, Attribute] = {},
        depth: int = -1,
    ) -> SSAValue:
        """Appends an op to the scope of `depth` (the one at hand by default); its result, or its first operand."""
        made = op.create(
            operands=operands,
            result_types=() if type_ is None else (type_,),
            properties=properties,
            location=self.location,
        )
        self.scopes[depth].block.add_op(made)
        return made.results[0] if type_ is not None else operands[0]

    def finish(self) -> list[Block]:
        """The blocks of the function, with its constants at the start of the first."""
        entry = self.blocks[0]
        if self._constant_ops:
            if entry.first_op is None:
                entry.add_ops(self._constant_ops)
            else:
                entry.insert_ops_before(self._constant_ops, entry.first_op)
        return self.blocks

    # Constants

    def constant(self, value: Attribute, type_: Attribute) -> SSAValue:
        """An LLVM constant, one op per function."""
        key = (_identity(value), type_)
        found = self._constants.get(key)
        if found is None:
            op = base.ConstantOp.create(properties={"value": value}, result_types=(type_,))
            self._constant_ops.append(op)
            found = self._constants[key] = op.results[0]
        return found

    def integer(self, value: int, type_: Attribute = i64) -> SSAValue:
        """An integer constant (wrapped to the width); every lane of it for a vector type."""
        found = self._constants.get((value, type_))
        if found is not None:
            return found
        self._constants[value, type_] = made = self._integer(value, type_)
        return made

    def _integer(self, value: int, type_: Attribute) -> SSAValue:
        attr, kind = _integer_attr(value, type_)
        return self.constant(attr, kind)

    def float(self, value: float, type_: Attribute) -> SSAValue:
        """A float constant; every lane of it for a vector type."""
        kind = cast(Any, type_)
        if isinstance(type_, VectorType):
            return self.constant(DenseIntOrFPElementsAttr.from_list(kind, [value]), kind)
        return self.constant(FloatAttr(value, kind), kind)

    def iota(self, lanes: int, element: Attribute = i32) -> SSAValue:
        """`0, 1, ..., lanes - 1`."""
        key = ("iota", lanes, element)
        if key not in self._constants:
            type_ = VectorType(cast(IntegerType, element), [lanes])
            attr = DenseIntOrFPElementsAttr.from_list(type_, list(range(lanes)))
            self._constants[key] = self.constant(attr, type_)
        return self._constants[key]

    def poison(self, type_: Attribute) -> SSAValue:
        """A poison value, one op per function."""
        key = ("poison", type_)
        found = self._constants.get(key)
        if found is None:
            op = vectors.PoisonOp.create(result_types=(type_,))
            self._constant_ops.append(op)
            found = self._constants[key] = op.results[0]
        return found

    def global_address(self, name: str) -> SSAValue:
        """The address of a global, one op per function."""
        key = ("global", name)
        if key not in self._constants:
            op = base.AddressOfOp(name, POINTER)
            self._constant_ops.append(op)
            self._constants[key] = op.result
        return self._constants[key]

    # Stack memory, made once at the start of the function

    def stack(self, element: Attribute, count: int, alignment: int = 64) -> SSAValue:
        """The address of fresh stack memory for `count` elements of an LLVM type."""
        properties = {"elem_type": base.LLVMArrayType(count, element), "alignment": IntegerAttr(alignment, 64)}
        op = base.AllocaOp.create(operands=(self.integer(1),), result_types=(POINTER,), properties=properties)
        self._constant_ops.append(op)
        return op.results[0]

    def scratch(self, element: Attribute, count: int = 1) -> SSAValue:
        """The address of `count` elements that what must not be stored goes to."""
        key = ("scratch", element, count)
        if key not in self._constants:
            self._constants[key] = self.stack(element, count)
        return self._constants[key]

    def slot(self, value: SSAValue, count: int = 1) -> SSAValue:
        """The address of memory that holds a constant `count` times, to be read where nothing else may be."""
        key = ("slot", value, count)
        if key not in self._constants:
            pointer = self._constants[key] = self.stack(value.type, count)
            row = value if count == 1 else self._repeated(value, count)
            store = memory.StoreOp.create(operands=(row, pointer), properties={"ordering": IntegerAttr(0, 64)})
            self._constant_ops.append(store)
        return self._constants[key]

    def _repeated(self, value: SSAValue, count: int) -> SSAValue:
        """A constant in every lane, as a constant."""
        assert isinstance(value.owner, base.ConstantOp)
        match value.owner.value:
            case FloatAttr(value=number):
                return self.float(number.data, row_type(value.type, count))
            case IntegerAttr(value=number):
                return self.integer(number.data, row_type(value.type, count))
            case other:
                raise ValueError(f"{other} is no number")

    # Lanes

    def splat(self, value: SSAValue, lanes: int, depth: int = -1) -> SSAValue:
        """A vector with `value` in every lane; the value itself for one lane."""
        if lanes == 1:
            return value
        scope = self.scopes[depth]
        key = ("splat", value, lanes)
        if (found := scope.cache.get(key)) is not None:
            return found
        type_ = row_type(value.type, lanes)
        start = self.emit(base.InsertElementOp, (self.poison(type_), value, self.integer(0)), type_, depth=depth)
        result = self.shuffle(start, start, [0] * lanes, depth)
        scope.cache[key] = result
        return result

    def shuffle(self, a: SSAValue, b: SSAValue, lanes: Sequence[int], depth: int = -1) -> SSAValue:
        """Lane `k` is lane `lanes[k]` of `a` followed by `b`; -1 is poison."""
        key = tuple(lanes)
        if (properties := _MASKS.get(key)) is None:
            properties = _MASKS[key] = {"mask": DenseArrayBase.from_list(i32, key)}
        type_ = row_type(element_in(a), len(key))
        return self.emit(base.ShuffleVectorOp, (a, b), type_, properties, depth)

    def lane(self, row: SSAValue, index: int) -> SSAValue:
        """One lane of a row."""
        if not isinstance(row.type, VectorType):
            return row
        return self.emit(vectors.ExtractElementOp, (row, self.integer(index)), element_in(row))

    def row_of(self, lanes: Sequence[SSAValue]) -> SSAValue:
        """The row of these scalars."""
        if len(lanes) == 1:
            return lanes[0]
        type_ = row_type(lanes[0].type, len(lanes))
        row = self.poison(type_)
        for index, value in enumerate(lanes):
            row = self.emit(base.InsertElementOp, (row, value, self.integer(index)), type_)
        return row

    def compare(self, predicate: str, a: SSAValue, b: SSAValue, depth: int = -1) -> SSAValue:
        """An integer comparison, lane by lane."""
        return self.emit(base.ICmpOp, (a, b), row_type(i1, lanes_in(a)), _PREDICATES[predicate], depth)
