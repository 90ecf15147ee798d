"""
Building scalar expressions out of `arith` and `math`, for the bodies that define elements of tensors.

Scalars are signless; ops whose result depends on signedness take `unsigned`. Minima and maxima of floats are NaN if an
operand is. Integer division, remainders and shifts are defined for all operands, as the graph ops are: division by 0
gives 0 (so does the remainder), INT_MIN / -1 wraps, shifts past the width give 0 or the sign.
"""

from __future__ import annotations

from typing import Literal

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, i1, i64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure

from aicc.dialects.graph.dtypes import as_integer, bit_width, is_float

Predicate = Literal["eq", "ne", "lt", "le", "gt", "ge"]

_UNORDERED: frozenset[str] = frozenset({"ne"})

# xDSL 0.75 leaves this unsaid: they would bar whatever asks before it moves or removes an op.
for _pure in (arith.ExtSIOp, arith.RemUIOp):
    _pure.traits.add_trait(Pure())


def scalar_constant(value: float | int | bool, type: Attribute) -> FloatAttr | IntegerAttr:
    """`value` as an attribute of scalar type `type`; integers wrap."""
    if is_float(type):
        return FloatAttr(float(value), type)
    if isinstance(type, IndexType):
        return IntegerAttr.from_index_int_value(int(value))
    bits = bit_width(type)
    wrapped = int(value) & ((1 << bits) - 1)
    if wrapped >> (bits - 1) and bits > 1:
        wrapped -= 1 << bits
    return IntegerAttr(-wrapped if bits == 1 else wrapped, IntegerType(bits))


class ScalarBuilder:
    """Appends scalar ops at an insertion point; the type of the operands chooses between float and integer ops."""

    def __init__(self, insertion_point: InsertPoint, fastmath: arith.FastMathFlagsAttr | None = None):
        """`fastmath` is put on every float op that can have it: for reductions and contractions only."""
        self._builder = Builder(insertion_point)
        self._fastmath = fastmath or arith.FastMathFlagsAttr("none")
        self._constants: dict[tuple[str, Attribute], SSAValue] = {}

    def insert(self, op: Operation) -> SSAValue:
        """Inserts `op` and returns its first result."""
        return self._builder.insert(op).results[0]

    def const(self, value: float | int | bool, type: Attribute) -> SSAValue:
        """A constant; equal ones from one builder are one value."""
        # By text, as 0.0 and -0.0 are equal attributes.
        key = (repr(value), type)
        if key not in self._constants:
            self._constants[key] = self.insert(arith.ConstantOp(scalar_constant(value, type)))
        return self._constants[key]

    def const_like(self, value: float | int | bool, like: SSAValue) -> SSAValue:
        """A constant of the type of another value."""
        return self.const(value, like.type)

    # Arithmetic.

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.AddfOp(a, b, self._fastmath) if is_float(a.type) else arith.AddiOp(a, b))

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.SubfOp(a, b, self._fastmath) if is_float(a.type) else arith.SubiOp(a, b))

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.MulfOp(a, b, self._fastmath) if is_float(a.type) else arith.MuliOp(a, b))

    def neg(self, a: SSAValue) -> SSAValue:
        return self.insert(arith.NegfOp(a, self._fastmath)) if is_float(a.type) else self.sub(self.const_like(0, a), a)

    def div(self, a: SSAValue, b: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """`a / b`; for integers truncated, 0 where `b` is 0."""
        if is_float(a.type):
            return self.insert(arith.DivfOp(a, b, self._fastmath))
        zero = self.const_like(0, a)
        by_zero = self.cmp("eq", b, zero)
        if unsigned:
            quotient = self.insert(arith.DivUIOp(a, self._or_one(by_zero, b)))
        else:
            # INT_MIN / -1 overflows in the machine's instruction.
            by_minus_one = self.cmp("eq", b, self.const_like(-1, b))
            divisor = self._or_one(self.or_(by_zero, by_minus_one), b)
            quotient = self.select(by_minus_one, self.neg(a), self.insert(arith.DivSIOp(a, divisor)))
        return self.select(by_zero, zero, quotient)

    def rem(self, a: SSAValue, b: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """`a - b * (a / b)`, with the sign of `a`; 0 where `b` is 0. Integers only."""
        by_zero = self.cmp("eq", b, self.const_like(0, b))
        if unsigned:
            return self.insert(arith.RemUIOp(a, self._or_one(by_zero, b)))
        by_minus_one = self.cmp("eq", b, self.const_like(-1, b))
        return self.insert(arith.RemSIOp(a, self._or_one(self.or_(by_zero, by_minus_one), b)))

    def _or_one(self, unsafe: SSAValue, divisor: SSAValue) -> SSAValue:
        return self.select(unsafe, self.const_like(1, divisor), divisor)

    def min(self, a: SSAValue, b: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """The smaller one; NaN if either is."""
        if is_float(a.type):
            return self.insert(arith.MinimumfOp(a, b, self._fastmath))
        return self.insert((arith.MinUIOp if unsigned else arith.MinSIOp)(a, b))

    def max(self, a: SSAValue, b: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """The larger one; NaN if either is."""
        if is_float(a.type):
            return self.insert(arith.MaximumfOp(a, b, self._fastmath))
        return self.insert((arith.MaxUIOp if unsigned else arith.MaxSIOp)(a, b))

    def max_number(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The larger one of floats; the other one where one is NaN."""
        return self.insert(arith.MaxnumfOp(a, b, self._fastmath))

    # Bits.

    def and_(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.AndIOp(a, b))

    def or_(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.OrIOp(a, b))

    def xor(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.XOrIOp(a, b))

    def not_(self, a: SSAValue) -> SSAValue:
        """All bits flipped."""
        return self.xor(a, self.const_like(-1, a))

    def shift_left(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a << b`; 0 if `b`, read as unsigned, is the width or more."""
        width = self.const_like(bit_width(a.type), b)
        inside = self.cmp("lt", b, width, unsigned=True)
        shifted = self.insert(arith.ShLIOp(a, self.select(inside, b, self.const_like(0, b))))
        return self.select(inside, shifted, self.const_like(0, a))

    def shift_right(self, a: SSAValue, b: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """`a >> b`; past the width 0, or all sign bits if signed."""
        width = bit_width(a.type)
        inside = self.cmp("lt", b, self.const_like(width, b), unsigned=True)
        if unsigned:
            shifted = self.insert(arith.ShRUIOp(a, self.select(inside, b, self.const_like(0, b))))
            return self.select(inside, shifted, self.const_like(0, a))
        return self.insert(arith.ShRSIOp(a, self.select(inside, b, self.const_like(width - 1, b))))

    def shift_right_by(self, a: SSAValue, amount: int, *, unsigned: bool) -> SSAValue:
        """`a >> amount` for a constant amount less than the width."""
        count = self.const_like(amount, a)
        return self.insert((arith.ShRUIOp if unsigned else arith.ShRSIOp)(a, count))

    # Choice.

    def cmp(self, predicate: Predicate, a: SSAValue, b: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """A comparison; with NaN, all but `ne` are false. `i1` compares as unsigned only."""
        if is_float(a.type):
            prefix = "u" if predicate in _UNORDERED else "o"
            return self.insert(arith.CmpfOp(a, b, prefix + predicate))
        if predicate in ("eq", "ne"):
            return self.insert(arith.CmpiOp(a, b, predicate))
        return self.insert(arith.CmpiOp(a, b, ("u" if unsigned or a.type == i1 else "s") + predicate))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where `condition` holds, else `b`; only the chosen one counts."""
        return self.insert(arith.SelectOp(condition, a, b))

    def is_nan(self, a: SSAValue) -> SSAValue:
        return self.insert(arith.CmpfOp(a, a, "uno"))

    # Functions of one float.

    def unary(self, op: type[Operation], a: SSAValue) -> SSAValue:
        """A `math` op of one float operand, such as `math.ExpOp`."""
        return self.insert(op(a))  # pyright: ignore[reportArgumentType, reportCallIssue]

    def abs(self, a: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """The absolute value; that of INT_MIN is INT_MIN."""
        if is_float(a.type):
            return self.unary(math.AbsFOp, a)
        return a if unsigned else self.max(a, self.neg(a))

    def exp(self, a: SSAValue) -> SSAValue:
        return self.unary(math.ExpOp, a)

    def exp_in_range(self, a: SSAValue) -> SSAValue:
        """The exponential, of which results that are no normal numbers may be 0 or infinite."""
        return self.insert(math.ExpOp(a, arith.FastMathFlagsAttr([*self._fastmath.data, FastMathFlag.APPROX_FUNC])))

    def log(self, a: SSAValue) -> SSAValue:
        return self.unary(math.LogOp, a)

    def log1p(self, a: SSAValue) -> SSAValue:
        return self.unary(math.Log1pOp, a)

    def expm1(self, a: SSAValue) -> SSAValue:
        return self.unary(math.ExpM1Op, a)

    def sqrt(self, a: SSAValue) -> SSAValue:
        return self.unary(math.SqrtOp, a)

    def tanh(self, a: SSAValue) -> SSAValue:
        return self.unary(math.TanhOp, a)

    def erf(self, a: SSAValue) -> SSAValue:
        return self.unary(math.ErfOp, a)

    def floor(self, a: SSAValue) -> SSAValue:
        return self.unary(math.FloorOp, a)

    def trunc(self, a: SSAValue) -> SSAValue:
        return self.unary(math.TruncOp, a)

    def copysign(self, a: SSAValue, sign: SSAValue) -> SSAValue:
        """`a` with the sign of `sign`."""
        return self.insert(math.CopySignOp(a, sign))

    # Conversion.

    def extend_float(self, a: SSAValue, type: Attribute) -> SSAValue:
        """A float in a wider type, or as it is."""
        return a if a.type == type or not is_float(type) else self.insert(arith.ExtFOp(a, type))

    def truncate_float(self, a: SSAValue, type: Attribute) -> SSAValue:
        """A float rounded to a narrower type, or as it is."""
        return a if a.type == type or not is_float(type) else self.insert(arith.TruncFOp(a, type))

    def from_index(self, a: SSAValue, type: Attribute) -> SSAValue:
        """An `index` as a number of type `type`."""
        if isinstance(type, IndexType):
            return a
        if is_float(type):
            wide = self.insert(arith.IndexCastOp(a, i64))
            return self.insert(arith.SIToFPOp(wide, type))
        return self.insert(arith.IndexCastOp(a, type))

    def index_to_i64(self, a: SSAValue) -> SSAValue:
        """An `index` as i64; any other value as it is."""
        return self.insert(arith.IndexCastOp(a, i64)) if isinstance(a.type, IndexType) else a

    def float_to_integer(self, a: SSAValue, type: Attribute, *, unsigned: bool) -> SSAValue:
        """A float towards zero; the nearest value of the type where it is out of range, 0 for NaN."""
        integer = as_integer(type)
        if integer is None:
            return self.insert(arith.IndexCastOp(self.float_to_integer(a, i64, unsigned=unsigned), type))
        return self.insert((arith.FPToUIOp if unsigned else arith.FPToSIOp)(a, integer))

    def resize_integer(self, a: SSAValue, type: Attribute, *, unsigned: bool) -> SSAValue:
        """An integer in another width: cut off, or filled with zeros (`unsigned`) or with its sign."""
        a = self.index_to_i64(a)
        integer = as_integer(type)
        if integer is None:
            return self.insert(arith.IndexCastOp(self.resize_integer(a, i64, unsigned=unsigned), type))
        width, target = bit_width(a.type), bit_width(type)
        if target < width:
            return self.insert(arith.TruncIOp(a, integer))
        if target > width:
            return self.insert((arith.ExtUIOp if unsigned else arith.ExtSIOp)(a, integer))
        return a
