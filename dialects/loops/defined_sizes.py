"""
Sizes that data tells and memory for them, in `@main`.

A *pooled buffer* is known by a name. It is made large enough when its size is known (`loops.reserve`), lives on until
it is reserved again, and is read elsewhere through `loops.reserved`. Where `@main` gives a result of such a size, it
reserves the buffer `output <k>`, which the caller takes.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import MemRefType, StringAttr, UnitAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.defined_sizes import SizeCheck, SizeDefinition
from aicc.dialects.loops.attrs import memref_dims

OUTPUT = "output "
"""What the names of buffers begin with that the caller takes; the number of the result follows."""


@irdl_op_definition
class DefineSizeOp(SizeDefinition):
    """
    From here on in its block the symbol has this value: one that changes in a loop is defined again in each iteration.

    ```mlir
    loops.define_size "rows" is %count most #graph.shape<N> : index
    ```
    """

    name = "loops.define_size"


@irdl_op_definition
class CheckSizesOp(SizeCheck):
    """
    ```mlir
    loops.check_sizes #graph.shape<rows> is #graph.shape<4> text "graph.add: sizes do not match"
    ```
    """

    name = "loops.check_sizes"


@irdl_op_definition
class ReserveOp(IRDLOperation):
    """
    The pooled buffer `key`, made large enough for the type of the result, aligned to 64 bytes.

    Its content is undefined: what was reserved under the same name is gone. With `keeping`, the bytes that it held
    stay, though elsewhere: what is read through an older `loops.reserved` is gone. Time for a buffer that grows again
    and again is linear in its size.

    - (C1) unknown dimensions are named by `#loops.dims`
    - (C2) `key` is not empty

    ```mlir
    %m = loops.reserve "rows" : memref<?x4xf32, #loops.dims<rows>>
    %n = loops.reserve "rows" keeping : memref<?x4xf32, #loops.dims<rows+1>>
    ```
    """

    name = "loops.reserve"

    key = prop_def(StringAttr)
    keeping = opt_prop_def(UnitAttr)
    result = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect(), MemoryWriteEffect())
    assembly_format = "$key (`keeping` $keeping^)? attr-dict `:` type($result)"

    def __init__(self, key: str, type: MemRefType[Any], keeping: bool = False):
        super().__init__(
            properties={"key": StringAttr(key), "keeping": UnitAttr() if keeping else None}, result_types=[type]
        )

    def verify_(self) -> None:
        memref_dims(self.result.type)  # C1
        if not self.key.data:  # C2
            raise VerifyException("key is empty, expected the name of a buffer")


@irdl_op_definition
class ReservedOp(IRDLOperation):
    """
    The pooled buffer `key` as it is: reserved before, for no fewer bytes.

    - (C1) unknown dimensions are named by `#loops.dims`

    ```mlir
    %m = loops.reserved "rows" : memref<?x4xf32, #loops.dims<rows>>
    ```
    """

    name = "loops.reserved"

    key = prop_def(StringAttr)
    result = result_def(MemRefType)

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$key attr-dict `:` type($result)"

    def __init__(self, key: str, type: MemRefType[Any]):
        super().__init__(properties={"key": StringAttr(key)}, result_types=[type])

    def verify_(self) -> None:
        memref_dims(self.result.type)  # C1


@irdl_op_definition
class ExchangeOp(IRDLOperation):
    """
    The pooled buffers `a` and `b` change names.

    - (C1) `a` is not `b`

    ```mlir
    loops.exchange "state" and "next state"
    ```
    """

    name = "loops.exchange"

    a = prop_def(StringAttr)
    b = prop_def(StringAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$a `and` $b attr-dict"

    def __init__(self, a: str, b: str):
        super().__init__(properties={"a": StringAttr(a), "b": StringAttr(b)})

    def verify_(self) -> None:
        if self.a == self.b:  # C1
            raise VerifyException(f"both buffers are {self.a}, expected two")
