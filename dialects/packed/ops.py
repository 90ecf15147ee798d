"""Ops on packed integers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    I32,
    Float32Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    VectorType,
    bf16,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_PACKED = IntegerType | VectorType[IntegerType]

PART_BITS = (8, 16)
"""Widths that parts may have."""


def _scalar(type: Attribute) -> IntegerType:
    return cast("IntegerType", cast("VectorType[IntegerType]", type).element_type if _is_vector(type) else type)


def _is_vector(type: Attribute) -> bool:
    return isinstance(type, VectorType)


def _shape(type: Attribute) -> tuple[int, ...]:
    return cast("VectorType[IntegerType]", type).get_shape() if _is_vector(type) else ()


@irdl_op_definition
class DotOp(IRDLOperation):
    """
    `result = sum(lhs[p] * rhs[p], p)` over the parts of two packed integers, lane by lane.

    Parts are signed, or unsigned on a side with `lhs_unsigned` or `rhs_unsigned`; the sum is one of i32, which wraps.
    With `floats` parts are the bits of bf16, and the sum is one of f32, in any order. `using` names the instruction
    that a target has for it (see `aicc.lowering.loops_to_llvm_packed`); it does not change the meaning, but that
    instructions on bf16 may take subnormal numbers for 0.

    - (C1) `parts` is at least 1, and both operands have that many parts of 8 or 16 bits
    - (C2) operands and result have the same lanes
    - (C3) the result is f32 with `floats`, else i32
    - (C4) `floats`: parts have 16 bits, and neither side is unsigned

    ```mlir
    %s = packed.dot %x, %y {parts = 2 : i64} : i32, i32 -> i32
    %s = packed.dot %x, %y {parts = 2 : i64, lhs_unsigned} : vector<6x16xi32>, vector<6x16xi16> -> vector<6x16xi32>
    %s = packed.dot %x, %y {parts = 2 : i64, floats} : i32, i32 -> f32
    ```
    """

    name = "packed.dot"

    lhs = operand_def(_PACKED)
    rhs = operand_def(_PACKED)
    parts = prop_def(IntegerAttr)
    lhs_unsigned = opt_prop_def(UnitAttr)
    rhs_unsigned = opt_prop_def(UnitAttr)
    floats = opt_prop_def(UnitAttr)
    using = opt_prop_def(StringAttr)
    result = result_def(I32 | Float32Type | VectorType[I32] | VectorType[Float32Type])

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        parts: int,
        *,
        lhs_unsigned: bool = False,
        rhs_unsigned: bool = False,
        floats: bool = False,
        using: str | None = None,
    ):
        lhs = SSAValue.get(lhs)
        element = f32 if floats else i32
        super().__init__(
            operands=[lhs, rhs],
            properties={
                "parts": IntegerAttr(parts, i64),
                "lhs_unsigned": UnitAttr() if lhs_unsigned else None,
                "rhs_unsigned": UnitAttr() if rhs_unsigned else None,
                "floats": UnitAttr() if floats else None,
                "using": None if using is None else StringAttr(using),
            },
            result_types=[VectorType(element, shape) if (shape := _shape(lhs.type)) else element],
        )

    @property
    def part_count(self) -> int:
        """`parts` as a number."""
        return self.parts.value.data

    def part_bits(self) -> tuple[int, int]:
        """Bits of a part of each operand."""
        left, right = (_scalar(operand.type).width.data // self.part_count for operand in self.operands)
        return left, right

    def verify_(self) -> None:
        count = self.part_count
        for operand in self.operands:
            width = _scalar(operand.type).width.data
            if count < 1 or width % count or width // count not in PART_BITS:  # C1
                raise VerifyException(f"{_scalar(operand.type)} does not hold {count} parts of 8 or 16 bits")
        if not _shape(self.lhs.type) == _shape(self.rhs.type) == _shape(self.result.type):  # C2
            raise VerifyException(f"{self.lhs.type}, {self.rhs.type} and {self.result.type} differ in their lanes")
        expected = f32 if self.floats is not None else i32
        if (found := _scalar(self.result.type)) != expected:  # C3
            raise VerifyException(f"result is of {found}, expected {expected}")
        if self.floats is None:
            return
        if self.part_bits() != (bf16.bitwidth, bf16.bitwidth) or self.lhs_unsigned or self.rhs_unsigned:  # C4
            raise VerifyException("parts that are floats have 16 bits and a sign")

    def compute(self, lhs: np.ndarray[Any, Any], rhs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The meaning, on arrays of packed integers."""
        if self.floats is not None:
            return self._sum_of_floats(lhs, rhs)
        total = np.zeros(np.broadcast_shapes(lhs.shape, rhs.shape), np.int64)
        left, right = self.part_bits()
        for part in range(self.part_count):
            x = _part(lhs, part, left, self.lhs_unsigned is not None)
            total = total + x * _part(rhs, part, right, self.rhs_unsigned is not None)
        return total.astype(np.int32)

    def _sum_of_floats(self, lhs: np.ndarray[Any, Any], rhs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Products of bf16 are exact in f32, but for their range."""
        shape = np.broadcast_shapes(lhs.shape, rhs.shape)
        total = np.zeros(shape, np.float32)
        for part in range(self.part_count):
            # The bits of a bf16 are the upper half of those of the f32.
            x, y = ((_part(operand, part, 16, True).astype(np.uint32) << 16).view(np.float32) for operand in (lhs, rhs))
            total = total + x * y
        return np.asarray(total)


def _part(array: np.ndarray[Any, Any], part: int, bits: int, unsigned: bool) -> np.ndarray[Any, Any]:
    """One part of each packed integer, widened."""
    value = (array.astype(np.int64) >> (part * bits)) & ((1 << bits) - 1)
    return value if unsigned else np.where(value >> (bits - 1), value - (1 << bits), value)
