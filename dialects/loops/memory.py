"""Where data lives: scratch, views, constants, prepared buffers and whole copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, MemRefType, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.buffers import BufferAttr
from aicc.dialects.graph.dims import Dim, ShapeAttr, dim_prod, provably_equal
from aicc.dialects.loops.attrs import memref_dims, memref_of

ON_STACK = "on_stack"
"""Unit attribute of an allocation in a kernel that stays on the stack although it is large."""


def same_dims(left: Sequence[Dim], right: Sequence[Dim]) -> bool:
    """Whether two lists of dimensions have the same length and provably the same values."""
    return len(left) == len(right) and all(provably_equal(a, b) for a, b in zip(left, right, strict=True))


@irdl_op_definition
class SizeOp(IRDLOperation):
    """
    The value of a symbolic expression over the symbols of the enclosing function.

    - (C1) one expression

    ```mlir
    %n = loops.size #graph.shape<2*s0+1>
    ```
    """

    name = "loops.size"

    value = prop_def(ShapeAttr)
    result = result_def(IndexType)

    traits = traits_def(Pure())
    assembly_format = "qualified($value) attr-dict"

    def __init__(self, value: Dim):
        super().__init__(properties={"value": ShapeAttr((value,))}, result_types=[IndexType()])

    @property
    def dim(self) -> Dim:
        """The expression."""
        return self.value.data[0]

    def verify_(self) -> None:
        if (count := len(self.value.data)) != 1:  # C1
            raise VerifyException(f"got {count} expressions, expected one")


@irdl_op_definition
class AllocOp(IRDLOperation):
    """
    A fresh buffer of undefined content, aligned to 64 bytes; it lives as long as the block it stands in runs.

    In `main` it is an intermediate, which `loops-plan-memory` puts in the arena; in a kernel it is scratch: large
    ones become arguments (`loops-hoist-allocs`), the rest, and those with the attribute `on_stack`, lie on the stack.

    - (C1) unknown dimensions are named by `#loops.dims`

    ```mlir
    %m = loops.alloc : memref<?x16xf32, #loops.dims<s0>>
    ```
    """

    name = "loops.alloc"

    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: MemRefType[Any]):
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        memref_dims(self.result.type)  # C1


@irdl_op_definition
class ViewOp(IRDLOperation):
    """
    The memory of `source` from `offset` bytes on (0 if not given) as a row-major buffer of another shape or type.

    The result must lie within `source`; it shares its memory.

    - (C1) unknown dimensions are named by `#loops.dims`
    - (C2) without `offset` and with equal element types: not provably more elements than `source`

    ```mlir
    %a = loops.view %arena[%offset] : memref<4096xi8> to memref<8x16xf32>
    %b = loops.view %a : memref<8x16xf32> to memref<128xf32>
    ```
    """

    name = "loops.view"

    source = operand_def(MemRefType)
    offset = opt_operand_def(IndexType)
    result = result_def(MemRefType)

    traits = traits_def(Pure())
    assembly_format = "$source (`[` $offset^ `]`)? attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, type: MemRefType[Any], offset: SSAValue | None = None):
        super().__init__(operands=[source, offset], result_types=[type])

    def verify_(self) -> None:
        source, result = memref_of(self.source), memref_of(self.result)
        have, want = dim_prod(memref_dims(source)), dim_prod(memref_dims(result))  # C1
        if self.offset is not None or source.element_type != result.element_type:
            return
        if isinstance(have, int) and isinstance(want, int) and want > have:  # C2
            raise VerifyException(f"the view has {want} elements, more than the {have} of its source")


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """
    Constant data in read-only memory.

    - (C1) the result has the dimensions and the width of `value`'s elements, all known

    ```mlir
    %w = loops.constant #graph.buffer<"conv1.weight"> : memref<64x3x7x7xf32>
    %c = loops.constant dense<[1, 2]> : tensor<2xi64> : memref<2xi64>
    ```
    """

    name = "loops.constant"

    value = prop_def(BufferAttr | DenseIntOrFPElementsAttr)
    result = result_def(MemRefType)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($result)"

    def __init__(self, value: Attribute, type: MemRefType[Any]):
        super().__init__(properties={"value": value}, result_types=[type])

    def verify_(self) -> None:
        type = memref_of(self.result)
        dims = memref_dims(type)
        if isinstance(self.value, DenseIntOrFPElementsAttr) and (found := self.value.get_shape()) != dims:  # C1
            raise VerifyException(f"the value has shape {list(found)}, the result {type}")


@irdl_op_definition
class PreparedOp(IRDLOperation):
    """
    The buffer `key`, filled once by `@prepare` and only read by `@main`.

    - (C1) all dimensions are known

    ```mlir
    %w = loops.prepared "conv1.weight.packed" : memref<4x147x16xf32>
    ```
    """

    name = "loops.prepared"

    key = prop_def(StringAttr)
    result = result_def(MemRefType)

    traits = traits_def(Pure())
    assembly_format = "$key attr-dict `:` type($result)"

    def __init__(self, key: str, type: MemRefType[Any]):
        super().__init__(properties={"key": StringAttr(key)}, result_types=[type])

    def verify_(self) -> None:
        type = memref_of(self.result)
        if not type.has_static_shape():  # C1
            raise VerifyException(f"{type} has unknown dimensions; a prepared buffer has a fixed size")


@irdl_op_definition
class CopyOp(IRDLOperation):
    """
    `target[i...] = source[i...]`; the two buffers are the same one or do not overlap.

    - (C1) same element type and provably the same dimensions

    ```mlir
    loops.copy %a to %b : memref<8x16xf32> to memref<8x16xf32>
    ```
    """

    name = "loops.copy"

    source = operand_def(MemRefType)
    target = operand_def(MemRefType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$source `to` $target attr-dict `:` type($source) `to` type($target)"

    def __init__(self, source: SSAValue, target: SSAValue):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        source, target = memref_of(self.source), memref_of(self.target)
        if source.element_type != target.element_type or not same_dims(memref_dims(source), memref_dims(target)):
            raise VerifyException(f"cannot copy {source} to {target}: shapes and element types must be equal")  # C1
