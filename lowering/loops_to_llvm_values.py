"""The function that is being lowered: what each value of it has become, on top of the emitter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.loops.access import lanes_of, scalar_of
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.lowering.loops_to_llvm_addresses import AddressEmitter
from aicc.lowering.loops_to_llvm_emit import (
    POINTER,
    UNKNOWN_ROOT,
    Buffer,
    Lowered,
    Rows,
    register_type,
    row_type,
)
from aicc.lowering.loops_to_llvm_index import Poly, constant, multiply
from aicc.transforms.diagnostics import fail
from aicc.transforms.target_facts import MASKED_BYTES


class FunctionLowering(AddressEmitter):
    """One function on its way to LLVM: indices are polynomials, vectors are rows, memrefs are addresses."""

    def __init__(self, entry: Block, name: str, threads: SSAValue | None) -> None:
        super().__init__(entry)
        self.name = name
        self.threads = threads
        """The number of threads to use, an `i64`; None where loops stay on one thread."""
        self.values: dict[SSAValue, Lowered] = {}
        self.masked_bytes = MASKED_BYTES
        """Masked loads are cut into parts of no more than this."""
        self.bypasses = False
        """Whether the function writes past the caches."""
        self.targets: dict[Block, Block] = {}
        """Blocks of the function and what they have become, where there is more than one."""

    # What a value has become

    def rows(self, value: SSAValue) -> Rows:
        """A scalar or vector; an index is computed."""
        found = self.values[value]
        if isinstance(found, Rows):
            return found
        if isinstance(found, Buffer):
            return Rows((), [found.pointer])
        return Rows((), [self.index(found)])

    def scalar(self, value: SSAValue) -> SSAValue:
        """The LLVM value of a scalar, index or memref."""
        return self.rows(value).rows[0]

    def poly(self, value: SSAValue) -> Poly:
        """An index."""
        found = self.values[value]
        if isinstance(found, Rows):
            found = self.values[value] = self.atom(found.rows[0])
        assert not isinstance(found, Buffer)
        return found

    def buffer(self, value: SSAValue) -> Buffer:
        """A memref."""
        found = self.values[value]
        assert isinstance(found, Buffer)
        return found

    def map_values(self, map_: AffineMapAttr, operands: Sequence[SSAValue], lanes: Sequence[Poly] = ()) -> list[Poly]:
        """The results of a map on indices and lanes."""
        affine = map_.data
        leading = affine.num_dims - len(lanes)
        polys = [self.poly(operand) for operand in operands]
        dims = [*polys[:leading], *lanes]
        return [self.affine(expr, dims, polys[leading:]) for expr in affine.results]

    # Recording what a value has become

    def set(self, value: SSAValue, rows: Sequence[SSAValue], shape: tuple[int, ...] | None = None) -> None:
        """`value` is these rows; an index scalar becomes a run-time value in index arithmetic."""
        if isinstance(value.type, IndexType):
            self.values[value] = self.atom(rows[0])
        elif isinstance(value.type, MemRefType):
            self.values[value] = self.buffer_at(rows[0], memref_of(value), self.depth, UNKNOWN_ROOT)
        else:
            self.values[value] = Rows(lanes_of(value.type) if shape is None else shape, rows)

    def buffer_at(self, pointer: SSAValue, type_: MemRefType[Any], depth: int, root: object = None) -> Buffer:
        """The memref of `type_` at an address."""
        dims = tuple(self.dim(dim) for dim in memref_dims(type_))
        strides: list[Poly] = []
        stride = constant(1)
        for dim in reversed(dims):
            strides.append(stride)
            stride = multiply(stride, dim)
        element = cast(Attribute, type_.element_type)
        return Buffer(pointer, depth, element, dims, tuple(reversed(strides)), pointer if root is None else root)

    # Values that cross a block boundary

    def flat_types(self, type_: Attribute) -> list[Attribute]:
        """The LLVM types that a value of this type is carried as."""
        if isinstance(type_, MemRefType):
            return [POINTER]
        shape = lanes_of(type_)
        row = row_type(register_type(scalar_of(type_)), shape[-1] if shape else 1)
        return [row] * row_count(shape)

    def flat(self, value: SSAValue) -> Sequence[SSAValue]:
        """The LLVM values that a value is carried as."""
        return self.rows(value).rows

    def flatten(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """`flat` of several values, one after the other."""
        return [part for value in values for part in self.flat(value)]

    def take(self, values: Sequence[SSAValue], flat: Sequence[SSAValue]) -> None:
        """Gives `values` what `flatten` made of them."""
        position = 0
        for value in values:
            count = len(self.flat_types(value.type))
            self.set(value, list(flat[position : position + count]))
            position += count

    def not_lowered(self, op: Operation, why: str) -> None:
        """Refuses an op."""
        fail(op, f"convert-loops-to-llvm: not lowered: {op.name}: {why}")


def row_count(shape: Sequence[int]) -> int:
    """Rows of an n-D vector."""
    count = 1
    for size in shape[:-1]:
        count *= size
    return count
