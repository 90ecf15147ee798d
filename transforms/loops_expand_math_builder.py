"""Builds float arithmetic on scalars and n-D vectors of one shape: what the expansions of `math` ops are written in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    VectorType,
    f32,
    i32,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.loops.lanewise import CmpfOp, CmpiOp, ExtSIOp, SelectOp, SIToFPOp, TruncIOp

_CONTRACT = arith.FastMathFlagsAttr((FastMathFlag.ALLOW_CONTRACT,))
_NO_FLAGS = arith.FastMathFlagsAttr("none")


class MathBuilder:
    """Collects ops on values of `shape`, `()` for scalars; constants are f32 or i32 unless a type is given."""

    def __init__(self, shape: Sequence[int], location: LocationAttr):
        self.shape = tuple(shape)
        self.location = location
        self.ops: list[Operation] = []
        self._constants: dict[tuple[str | int, Attribute], SSAValue] = {}

    def typed(self, element: Attribute) -> Attribute:
        """The type of a value with these elements."""
        return VectorType(element, self.shape) if self.shape else element

    def add_op(self, op: Operation) -> SSAValue:
        """Appends an op; its result."""
        op.location = self.location
        self.ops.append(op)
        return op.results[0]

    def _make(
        self, op: type[Operation], operands: Sequence[SSAValue], type_: Attribute, properties: dict[str, Attribute]
    ) -> SSAValue:
        return self.add_op(op.create(operands=operands, result_types=[type_], properties=properties))

    def const(self, value: float, element: Attribute = f32) -> SSAValue:
        """A float in every lane."""
        return self._constant(value.hex(), value, FloatAttr(value, cast(Any, element)), element)

    def int(self, value: int, element: IntegerType = i32) -> SSAValue:
        """An integer in every lane."""
        return self._constant(value, value, IntegerAttr(value, element), element)

    def _constant(self, name: str | int, value: float | int, scalar: Attribute, element: Attribute) -> SSAValue:
        key = (name, element)
        if key not in self._constants:
            type_ = self.typed(element)
            attr = DenseIntOrFPElementsAttr.from_list(cast(Any, type_), [value]) if self.shape else scalar
            self._constants[key] = self._make(arith.ConstantOp, (), type_, {"value": attr})
        return self._constants[key]

    def _float(self, op: type[Operation], *operands: SSAValue) -> SSAValue:
        return self._make(op, operands, operands[0].type, {"fastmath": _NO_FLAGS})

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a + b`."""
        return self._float(arith.AddfOp, a, b)

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a - b`."""
        return self._float(arith.SubfOp, a, b)

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a * b`."""
        return self._float(arith.MulfOp, a, b)

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a / b`."""
        return self._float(arith.DivfOp, a, b)

    def neg(self, a: SSAValue) -> SSAValue:
        """`-a`."""
        return self._float(arith.NegfOp, a)

    def abs(self, a: SSAValue) -> SSAValue:
        """`|a|`."""
        return self._float(math.AbsFOp, a)

    def trunc(self, a: SSAValue) -> SSAValue:
        """Towards zero to an integral value."""
        return self._float(math.TruncOp, a)

    def copysign(self, size: SSAValue, sign: SSAValue) -> SSAValue:
        """The size of one with the sign of the other."""
        return self._float(math.CopySignOp, size, sign)

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """`a * b + c` with one rounding."""
        return self._float(math.FmaOp, a, b, c)

    def madd(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """`a * b + c` with one rounding where the machine has that, else two."""
        return self._make(math.FmaOp, (a, b, c), a.type, {"fastmath": _CONTRACT})

    def polynomial(self, x: SSAValue, coefficients: Sequence[float], element: Attribute = f32) -> SSAValue:
        """`coefficients[0] + coefficients[1] * x + ...`, by Horner's rule."""
        result = self.const(coefficients[-1], element)
        for coefficient in reversed(coefficients[:-1]):
            result = self.madd(result, x, self.const(coefficient, element))
        return result

    def compare(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A float comparison."""
        return self.add_op(CmpfOp(a, b, predicate))

    def compare_ints(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """An integer comparison."""
        return self.add_op(CmpiOp(a, b, predicate))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`condition ? a : b`."""
        return self.add_op(SelectOp(condition, a, b))

    def both(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a and b`, bit by bit."""
        return self._make(arith.AndIOp, (a, b), a.type, {})

    def either(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a or b`, bit by bit."""
        return self._make(arith.OrIOp, (a, b), a.type, {})

    def xor(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a xor b`, bit by bit."""
        return self._make(arith.XOrIOp, (a, b), a.type, {})

    def add_ints(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a + b`, wrapped."""
        return self.add_op(arith.AddiOp(a, b))

    def sub_ints(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a - b`, wrapped."""
        return self.add_op(arith.SubiOp(a, b))

    def shift_left(self, a: SSAValue, bits: int, element: IntegerType = i32) -> SSAValue:
        """`a << bits`."""
        return self.add_op(arith.ShLIOp(a, self.int(bits, element)))

    def shift_right(self, a: SSAValue, bits: int, element: IntegerType = i32) -> SSAValue:
        """`a >> bits`, the sign repeated."""
        return self.add_op(arith.ShRSIOp(a, self.int(bits, element)))

    def bits(self, a: SSAValue, element: IntegerType = i32) -> SSAValue:
        """The bits of a float."""
        return self._make(arith.BitcastOp, (a,), self.typed(element), {})

    def from_bits(self, a: SSAValue, element: Attribute = f32) -> SSAValue:
        """The float of these bits."""
        return self._make(arith.BitcastOp, (a,), self.typed(element), {})

    def to_float(self, a: SSAValue, element: Attribute = f32) -> SSAValue:
        """A signed integer as a float."""
        return self.add_op(SIToFPOp(a, cast(Any, self.typed(element))))

    def truncate(self, a: SSAValue, element: IntegerType) -> SSAValue:
        """The low bits."""
        return self.add_op(TruncIOp(a, cast(Any, self.typed(element))))

    def extend(self, a: SSAValue, element: IntegerType) -> SSAValue:
        """A signed integer with more bits."""
        return self.add_op(ExtSIOp(a, cast(Any, self.typed(element))))

    def widen(self, a: SSAValue, element: Attribute) -> SSAValue:
        """A float with more bits."""
        return self.add_op(arith.ExtFOp(a, cast(Any, self.typed(element))))

    def narrow(self, a: SSAValue, element: Attribute) -> SSAValue:
        """A float with fewer bits, rounded."""
        return self._make(arith.TruncFOp, (a,), self.typed(element), {})

    def keep_zero(self, x: SSAValue, result: SSAValue) -> SSAValue:
        """`result`, but a zero `x` with its sign."""
        return self.select(self.compare("oeq", x, self.const(0.0)), x, result)

    def at_least(self, a: SSAValue, low: float, element: Attribute = f32) -> SSAValue:
        """`a`, or `low` where that is larger; NaN stays NaN."""
        least = self.const(low, element)
        return self.select(self.compare("olt", a, least), least, a)

    def at_most(self, a: SSAValue, high: float, element: Attribute = f32) -> SSAValue:
        """`a`, or `high` where that is smaller; NaN stays NaN."""
        most = self.const(high, element)
        return self.select(self.compare("ogt", a, most), most, a)

    def clamp(self, a: SSAValue, low: float, high: float, element: Attribute = f32) -> SSAValue:
        """`a` within `[low, high]`; NaN stays NaN."""
        return self.at_most(self.at_least(a, low, element), high, element)
