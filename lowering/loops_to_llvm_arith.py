"""
`arith` and `math` on scalars and n-D vectors, row by row.

Nothing traps and nothing is undefined: a division by zero gives 0 and its remainder 0, the least integer divided by -1
wraps, a shift by the width or more shifts everything out, casts of floats to integers saturate (NaN gives 0).
f16 and bf16 are computed in f32 and rounded after each op; bf16 is kept as its 16 bits. `minimumf` and `maximumf`
propagate NaN and may return either zero of two that differ in sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from xdsl.dialects import arith, math
from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    VectorType,
    f32,
    i1,
    i16,
    i32,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.llvm import elementwise, intrinsics
from aicc.dialects.loops.access import lanes_of, scalar_of
from aicc.lowering.loops_to_llvm_emit import (
    NO_FAST_MATH,
    element_in,
    integer_width,
    is_integer,
    lanes_in,
    register_type,
    row_type,
)
from aicc.lowering.loops_to_llvm_index import add, constant, multiply
from aicc.lowering.loops_to_llvm_memory import bf16_bits, float_constant
from aicc.lowering.loops_to_llvm_nan import never_nan
from aicc.lowering.loops_to_llvm_values import FunctionLowering, row_count

RowFunction: TypeAlias = Callable[[FunctionLowering, Any, list[SSAValue]], SSAValue]
Handler: TypeAlias = Callable[[FunctionLowering, Any], None]

FAST: dict[str, Attribute] = {"fastmathFlags": NO_FAST_MATH}
_NO_OVERFLOW: dict[str, Attribute] = {"overflowFlags": IntegerAttr(0, 32)}

_flags_cache: dict[Attribute, dict[str, Attribute]] = {}


def fast_math(op: Operation) -> dict[str, Attribute]:
    """The properties of the LLVM op that has the fast-math flags of `op`."""
    flags = op.properties.get("fastmath") or op.attributes.get("fastmath")
    if flags is None:
        return FAST
    found = _flags_cache.get(flags)
    if found is None:
        data = cast(arith.FastMathFlagsAttr, flags).data
        found = _flags_cache[flags] = {"fastmathFlags": base.FastMathAttr(tuple(data))}
    return found


def rowwise(function: RowFunction) -> Handler:
    """The handler of an op with one result that is computed row by row."""

    def handle(fn: FunctionLowering, op: Operation) -> None:
        operands = [fn.rows(operand) for operand in op.operands]
        result = op.results[0]
        rows = [function(fn, op, list(row)) for row in zip(*(operand.rows for operand in operands), strict=True)]
        fn.set(result, rows)

    return handle


# bf16 and f16


def is_small_float(type_: Attribute) -> bool:
    """Whether values are computed in f32."""
    return isinstance(type_, Float16Type | BFloat16Type)


def to_f32(fn: FunctionLowering, value: SSAValue, element: Attribute) -> SSAValue:
    """A row of f16 or bf16 as f32."""
    lanes = lanes_in(value)
    single = row_type(f32, lanes)
    if isinstance(element, BFloat16Type):
        wide = fn.emit(base.ZExtOp, (value,), row_type(i32, lanes))
        shifted = fn.emit(base.ShlOp, (wide, fn.integer(16, wide.type)), wide.type, _NO_OVERFLOW)
        return fn.emit(base.BitcastOp, (shifted,), single)
    if element == f32:
        return value
    return fn.emit(base.FPExtOp if isinstance(element, Float16Type) else base.FPTruncOp, (value,), single)


def from_f32(fn: FunctionLowering, value: SSAValue, element: Attribute) -> SSAValue:
    """A row of f32 rounded to f16 or bf16, to nearest, ties to even; NaN stays NaN."""
    lanes = lanes_in(value)
    if not isinstance(element, BFloat16Type):
        return fn.emit(base.FPTruncOp, (value,), row_type(element, lanes))
    word = row_type(i32, lanes)
    bits = fn.emit(base.BitcastOp, (value,), word)
    high = fn.emit(base.LShrOp, (bits, fn.integer(16, word)), word)
    odd = fn.emit(base.AndOp, (high, fn.integer(1, word)), word)
    # Half of the last place, and one more where that makes a tie even; a carry goes on into the exponent.
    bias = fn.emit(base.AddOp, (odd, fn.integer(0x7FFF, word)), word, _NO_OVERFLOW)
    moved = fn.emit(base.AddOp, (bits, bias), word, _NO_OVERFLOW)
    rounded = fn.emit(base.LShrOp, (moved, fn.integer(16, word)), word)
    quiet = fn.emit(base.OrOp, (high, fn.integer(0x40, word)), word)
    nan = fcmp(fn, "uno", value, value)
    chosen = fn.emit(elementwise.SelectOp, (nan, quiet, rounded), word, FAST)
    return fn.emit(base.TruncOp, (chosen,), row_type(i16, lanes))


def _odd_f32(fn: FunctionLowering, value: SSAValue) -> SSAValue:
    """A row of f64 as f32 rounded to odd, so that rounding it again to a shorter type rounds once in all."""
    lanes = lanes_in(value)
    single, word = row_type(f32, lanes), row_type(i32, lanes)
    near = fn.emit(base.FPTruncOp, (value,), single)
    back = fn.emit(base.FPExtOp, (near,), value.type)
    size = fn.emit(base.FAbsOp, (value,), value.type, FAST)
    above = fcmp(fn, "ogt", fn.emit(base.FAbsOp, (back,), value.type, FAST), size)
    inexact = fcmp(fn, "one", back, value)
    bits = fn.emit(base.BitcastOp, (near,), word)
    less = fn.emit(base.SubOp, (bits, fn.integer(1, word)), word, _NO_OVERFLOW)
    toward_zero = fn.emit(elementwise.SelectOp, (above, less, bits), word, FAST)
    odd = fn.emit(base.OrOp, (toward_zero, fn.integer(1, word)), word)
    chosen = fn.emit(elementwise.SelectOp, (inexact, odd, bits), word, FAST)
    return fn.emit(base.BitcastOp, (chosen,), single)


_FLOAT_PREDICATES = {flag.value: IntegerAttr(flag.to_int(), 64) for flag in base.FCmpPredicateFlag}


def fcmp(
    fn: FunctionLowering, predicate: str, a: SSAValue, b: SSAValue, flags: dict[str, Attribute] = FAST
) -> SSAValue:
    """A float comparison, lane by lane."""
    number = _FLOAT_PREDICATES[predicate]
    return fn.emit(elementwise.FCmpOp, (a, b), row_type(i1, lanes_in(a)), {"predicate": number, **flags})


def in_f32(function: RowFunction) -> RowFunction:
    """`function` on f32, f64; on f16 and bf16 through f32."""

    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        element = scalar_of(op.results[0].type)
        if not is_small_float(element):
            return function(fn, op, row)
        result = function(fn, op, [to_f32(fn, value, element) for value in row])
        return from_f32(fn, result, element)

    return compute


# Floats


def _float_op(op_class: type[Operation]) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        return fn.emit(op_class, row, row[0].type, fast_math(op))

    return rowwise(in_f32(compute))


def _negate(fn: FunctionLowering, op: arith.NegfOp, row: list[SSAValue]) -> SSAValue:
    if isinstance(scalar_of(op.result.type), BFloat16Type):
        return fn.emit(base.XOrOp, (row[0], fn.integer(0x8000, row[0].type)), row[0].type)
    return fn.emit(base.FNegOp, row, row[0].type, fast_math(op))


def _absolute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
    if isinstance(scalar_of(op.results[0].type), BFloat16Type):
        return fn.emit(base.AndOp, (row[0], fn.integer(0x7FFF, row[0].type)), row[0].type)
    return fn.emit(base.FAbsOp, row, row[0].type, fast_math(op))


def _nan_extremum(op_class: type[Operation]) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        return fn.emit(op_class, row, row[0].type, without_signed_zeros(op))

    return rowwise(in_f32(compute))


def _number_extremum(op_class: type[Operation], predicate: str) -> Handler:
    """With an operand that is never NaN it is one comparison, which chooses that one wherever the other one is NaN."""

    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        number = next((at for at, operand in enumerate(op.operands) if never_nan(operand)), None)
        if number is None:
            return fn.emit(op_class, row, row[0].type, fast_math(op))
        other, known = row[1 - number], row[number]
        return fn.emit(elementwise.SelectOp, (fcmp(fn, predicate, other, known), other, known), known.type, FAST)

    return rowwise(in_f32(compute))


def without_signed_zeros(op: Operation) -> dict[str, Attribute]:
    """The fast-math flags of `op` and `nsz`: a minimum need not tell zeros apart, which doubles its cost."""
    flags = cast(base.FastMathAttr, fast_math(op)["fastmathFlags"]).data
    key = base.FastMathAttr(tuple(flags))
    found = _signless_cache.get(key)
    if found is None:
        widened = base.FastMathAttr(tuple({*flags, FastMathFlag.NO_SIGNED_ZEROS}))
        found = _signless_cache[key] = {"fastmathFlags": widened}
    return found


_signless_cache: dict[Attribute, dict[str, Attribute]] = {}


def _multiply_add(fn: FunctionLowering, op: math.FmaOp, row: list[SSAValue]) -> SSAValue:
    """Fused; with `contract`, only where the machine fuses."""
    free = FastMathFlag.ALLOW_CONTRACT in op.fastmath.data
    return fn.emit(intrinsics.FMulAddOp if free else base.FMAOp, row, row[0].type, fast_math(op))


def _reciprocal_root(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
    root = fn.emit(base.FSqrtOp, row, row[0].type, fast_math(op))
    return fn.emit(base.FDivOp, (fn.float(1.0, root.type), root), root.type, fast_math(op))


def _compare_floats(fn: FunctionLowering, op: arith.CmpfOp, row: list[SSAValue]) -> SSAValue:
    element = scalar_of(op.lhs.type)
    if is_small_float(element):
        row = [to_f32(fn, value, element) for value in row]
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    predicate = {"false": "_false", "true": "_true"}.get(predicate, predicate)
    return fcmp(fn, predicate, row[0], row[1], fast_math(op))


def _classify(predicate: str, infinite: bool) -> Handler:
    """`math.isnan` and its like, by comparison."""

    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        element, value = scalar_of(op.operands[0].type), row[0]
        if is_small_float(element):
            value = to_f32(fn, value, element)
        if not infinite:
            return fcmp(fn, predicate, value, value)
        size = fn.emit(base.FAbsOp, (value,), value.type, FAST)
        return fcmp(fn, predicate, size, fn.float(float("inf"), value.type))

    return rowwise(compute)


# Casts


def _widen_float(fn: FunctionLowering, op: arith.ExtFOp, row: list[SSAValue]) -> SSAValue:
    source, target = scalar_of(op.input.type), scalar_of(op.result.type)
    value = row[0]
    if is_small_float(source):
        value = to_f32(fn, value, source)
        source = f32
    if source == target:
        return value
    return fn.emit(base.FPExtOp, (value,), row_type(target, lanes_in(value)))


def _narrow_float(fn: FunctionLowering, op: arith.TruncFOp, row: list[SSAValue]) -> SSAValue:
    source, target = scalar_of(op.input.type), scalar_of(op.result.type)
    value = row[0]
    if not is_small_float(target):
        return fn.emit(base.FPTruncOp, (value,), row_type(target, lanes_in(value)))
    if isinstance(source, Float64Type):
        value = _odd_f32(fn, value)
    elif is_small_float(source):
        value = to_f32(fn, value, source)
    return from_f32(fn, value, target)


def mangled(type_: Attribute) -> str:
    if isinstance(type_, VectorType):
        vector = cast(VectorType[Attribute], type_)
        return f"v{vector.get_shape()[0]}{vector.element_type}"
    return str(type_)


def call_intrinsic(fn: FunctionLowering, name: str, operands: list[SSAValue], type_: Attribute) -> SSAValue:
    """A call of an LLVM intrinsic by its full name."""
    op = base.CallIntrinsicOp(name, operands, [type_])
    op.location = fn.location
    fn.block.add_op(op)
    return op.results[0]


def _int_to_float(op_class: type[Operation]) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        target, lanes = scalar_of(op.results[0].type), lanes_in(row[0])
        if not is_small_float(target):
            return fn.emit(op_class, row, row_type(target, lanes))
        width = integer_width(element_in(row[0]))
        if width <= 24:
            return from_f32(fn, fn.emit(op_class, row, row_type(f32, lanes)), target)
        # More bits than f32 holds: through f64, which is exact up to 53 bits, and rounded once.
        wide = fn.emit(op_class, row, row_type(Float64Type(), lanes))
        return from_f32(fn, _odd_f32(fn, wide), target)

    return rowwise(compute)


def _int_cast(op_class: type[Operation]) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        target = row_type(register_type(scalar_of(op.results[0].type)), lanes_in(row[0]))
        return fn.emit(op_class, row, target)

    return rowwise(compute)


def _index_cast(signed: bool) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        target, source = register_type(scalar_of(op.results[0].type)), element_in(row[0])
        if target == source:
            return row[0]
        narrower = integer_width(target) < integer_width(source)
        op_class = base.TruncOp if narrower else base.SExtOp if signed else base.ZExtOp
        return fn.emit(op_class, row, row_type(target, lanes_in(row[0])))

    return rowwise(compute)


def _bitcast(fn: FunctionLowering, op: arith.BitcastOp, row: list[SSAValue]) -> SSAValue:
    target = row_type(register_type(scalar_of(op.result.type)), lanes_in(row[0]))
    return row[0] if target == row[0].type else fn.emit(base.BitcastOp, row, target)


# Integers


def _int_op(op_class: type[Operation], properties: dict[str, Attribute] | None = None) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        return fn.emit(op_class, row, row[0].type, properties or {})

    return rowwise(compute)


def _index_aware(poly: Callable[[Any, Any], Any], otherwise: Handler) -> Handler:
    """Sums and products of indices stay polynomials."""

    def handle(fn: FunctionLowering, op: Operation) -> None:
        if isinstance(op.results[0].type, IndexType):
            fn.values[op.results[0]] = poly(fn.poly(op.operands[0]), fn.poly(op.operands[1]))
        else:
            otherwise(fn, op)

    return handle


def _select(fn: FunctionLowering, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    return fn.emit(elementwise.SelectOp, (condition, a, b), a.type, FAST)


def _constant_divisor(value: SSAValue) -> int | None:
    """The divisor if it is one known number."""
    owner = value.owner
    if not isinstance(owner, base.ConstantOp):
        return None
    match owner.value:
        case IntegerAttr():
            return owner.value.value.data
        case DenseIntOrFPElementsAttr() if owner.value.is_splat():
            return int(cast(int, owner.value.get_values()[0]))
        case _:
            return None


def _divide(fn: FunctionLowering, a: SSAValue, b: SSAValue, signed: bool) -> SSAValue:
    """Truncated quotient; 0 for a divisor of 0."""
    op_class = base.SDivOp if signed else base.UDivOp
    known = _constant_divisor(b)
    if known is not None and known not in (0, -1):
        return fn.emit(op_class, (a, b), a.type)
    zero, one = fn.integer(0, a.type), fn.integer(1, a.type)
    is_zero = fn.compare("eq", b, zero)
    if not signed:
        return _select(fn, is_zero, zero, fn.emit(op_class, (a, _select(fn, is_zero, one, b)), a.type))
    is_minus = fn.compare("eq", b, fn.integer(-1, a.type))
    bad = fn.emit(base.OrOp, (is_zero, is_minus), is_zero.type)
    quotient = fn.emit(op_class, (a, _select(fn, bad, one, b)), a.type)
    negated = fn.emit(base.SubOp, (zero, a), a.type, _NO_OVERFLOW)
    return _select(fn, is_zero, zero, _select(fn, is_minus, negated, quotient))


def _remainder(fn: FunctionLowering, a: SSAValue, b: SSAValue, signed: bool) -> SSAValue:
    """Remainder of the truncated division; 0 for a divisor of 0."""
    op_class = base.SRemOp if signed else base.URemOp
    known = _constant_divisor(b)
    if known is not None and known not in (0, -1):
        return fn.emit(op_class, (a, b), a.type)
    # The remainder by 1 is 0, as is the one by -1, and the one by 0 here.
    zero, one = fn.integer(0, a.type), fn.integer(1, a.type)
    bad = fn.compare("eq", b, zero)
    if signed:
        is_minus = fn.compare("eq", b, fn.integer(-1, a.type))
        bad = fn.emit(base.OrOp, (bad, is_minus), bad.type)
    return fn.emit(op_class, (a, _select(fn, bad, one, b)), a.type)


def _division(signed: bool) -> Handler:
    return rowwise(lambda fn, op, row: _divide(fn, row[0], row[1], signed))


def _floor_or_ceiling(signed: bool, up: bool) -> Handler:
    """Quotient rounded down or up: the truncated one, and one more or less where that cut something off."""

    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        a, b = row
        quotient = _divide(fn, a, b, signed)
        rest = _remainder(fn, a, b, signed)
        zero = fn.integer(0, a.type)
        inexact = fn.compare("ne", rest, zero)
        if signed:
            signs = fn.emit(base.XOrOp, (rest, b), a.type)
            wanted = fn.compare("sge" if up else "slt", signs, zero)
            inexact = fn.emit(base.AndOp, (inexact, wanted), inexact.type)
        step = fn.emit(base.ZExtOp, (inexact,), a.type) if a.type != inexact.type else inexact
        return fn.emit(base.AddOp if up else base.SubOp, (quotient, step), a.type, _NO_OVERFLOW)

    return rowwise(compute)


def _shift(op_class: type[Operation], arithmetic: bool = False) -> Handler:
    """A shift by the width or more gives 0, or the sign in all bits."""

    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        value, count = row
        width = integer_width(element_in(value))
        properties = _NO_OVERFLOW if op_class is base.ShlOp else {}
        known = _constant_divisor(count)
        if known is not None and 0 <= known < width:
            return fn.emit(op_class, row, value.type, properties)
        if arithmetic:
            most = fn.emit(intrinsics.UMinOp, (count, fn.integer(width - 1, value.type)), value.type)
            return fn.emit(op_class, (value, most), value.type, properties)
        inside = fn.compare("ult", count, fn.integer(width, value.type)) if width > 1 else None
        if inside is None:
            inside = fn.compare("eq", count, fn.integer(0, value.type))
        safe = _select(fn, inside, count, fn.integer(0, value.type))
        return _select(fn, inside, fn.emit(op_class, (value, safe), value.type, properties), fn.integer(0, value.type))

    return rowwise(compute)


def _compare_ints(fn: FunctionLowering, op: arith.CmpiOp, row: list[SSAValue]) -> SSAValue:
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    return fn.compare(predicate, row[0], row[1])


def _flagged(op_class: type[Operation], key: str) -> Handler:
    def compute(fn: FunctionLowering, op: Operation, row: list[SSAValue]) -> SSAValue:
        return fn.emit(op_class, row, row[0].type, {key: IntegerAttr.from_bool(False)})

    return rowwise(compute)


# Constants and selections


def _lower_select(fn: FunctionLowering, op: arith.SelectOp) -> None:
    condition, a, b = fn.rows(op.cond), fn.rows(op.lhs), fn.rows(op.rhs)
    choose = list(condition.rows) if condition.shape else list(condition.rows) * len(a.rows)
    rows = [fn.emit(elementwise.SelectOp, row, row[1].type, FAST) for row in zip(choose, a.rows, b.rows, strict=True)]
    fn.set(op.result, rows)


def _lower_constant(fn: FunctionLowering, op: arith.ConstantOp) -> None:
    type_, value = op.result.type, op.value
    if isinstance(type_, IndexType):
        fn.values[op.result] = constant(cast(IntegerAttr, value).value.data)
        return
    element, shape = scalar_of(type_), lanes_of(type_)
    match value:
        case FloatAttr():
            rows = [float_constant(fn, value.value.data, element)]
        case IntegerAttr():
            rows = [fn.integer(value.value.data, register_type(element))]
        case DenseIntOrFPElementsAttr():
            rows = _dense_rows(fn, value, element, shape)
        case _:
            fn.not_lowered(op, f"constant {value}")
            return
    fn.set(op.result, rows)


def _dense_rows(
    fn: FunctionLowering, value: DenseIntOrFPElementsAttr, element: Attribute, shape: tuple[int, ...]
) -> list[SSAValue]:
    lanes, count = shape[-1] if shape else 1, row_count(shape)
    kind = register_type(element)
    numbers: list[Any] = list(value.get_values())
    if value.is_splat():
        del numbers[1:]
    if isinstance(element, BFloat16Type):
        numbers = [bf16_bits(number) for number in numbers]
    if len(numbers) == 1:
        return [_row_constant(fn, numbers, kind, lanes)] * count
    return [_row_constant(fn, numbers[start : start + lanes], kind, lanes) for start in range(0, len(numbers), lanes)]


def _row_constant(fn: FunctionLowering, numbers: list[Any], kind: Attribute, lanes: int) -> SSAValue:
    """A row of these values; one value stands for all lanes."""
    if lanes == 1:
        [number] = numbers
        return fn.integer(int(number), kind) if is_integer(kind) else fn.float(number, kind)
    type_ = row_type(kind, lanes)
    return fn.constant(DenseIntOrFPElementsAttr.from_list(cast(Any, type_), numbers), type_)


HANDLERS: dict[str, Handler] = {
    "arith.addf": _float_op(base.FAddOp),
    "arith.addi": _index_aware(add, _int_op(base.AddOp, _NO_OVERFLOW)),
    "arith.andi": _int_op(base.AndOp),
    "arith.bitcast": rowwise(_bitcast),
    "arith.ceildivsi": _floor_or_ceiling(signed=True, up=True),
    "arith.ceildivui": _floor_or_ceiling(signed=False, up=True),
    "arith.cmpf": rowwise(_compare_floats),
    "arith.cmpi": rowwise(_compare_ints),
    "arith.constant": _lower_constant,
    "arith.divf": _float_op(base.FDivOp),
    "arith.divsi": _division(signed=True),
    "arith.divui": _division(signed=False),
    "arith.extf": rowwise(_widen_float),
    "arith.extsi": _int_cast(base.SExtOp),
    "arith.extui": _int_cast(base.ZExtOp),
    "arith.floordivsi": _floor_or_ceiling(signed=True, up=False),
    "arith.index_cast": _index_cast(signed=True),
    "arith.index_castui": _index_cast(signed=False),
    "arith.maximumf": _nan_extremum(intrinsics.MaximumOp),
    "arith.maxnumf": _number_extremum(base.VectorFMaxOp, "ogt"),
    "arith.maxsi": _int_op(intrinsics.SMaxOp),
    "arith.maxui": _int_op(intrinsics.UMaxOp),
    "arith.minimumf": _nan_extremum(intrinsics.MinimumOp),
    "arith.minnumf": _number_extremum(base.VectorFMinOp, "olt"),
    "arith.minsi": _int_op(intrinsics.SMinOp),
    "arith.minui": _int_op(intrinsics.UMinOp),
    "arith.mulf": _float_op(base.FMulOp),
    "arith.muli": _index_aware(multiply, _int_op(base.MulOp, _NO_OVERFLOW)),
    "arith.negf": rowwise(_negate),
    "arith.ori": _int_op(base.OrOp),
    "arith.remf": _float_op(base.FRemOp),
    "arith.remsi": rowwise(lambda fn, op, row: _remainder(fn, row[0], row[1], True)),
    "arith.remui": rowwise(lambda fn, op, row: _remainder(fn, row[0], row[1], False)),
    "arith.select": _lower_select,
    "arith.shli": _shift(base.ShlOp),
    "arith.shrsi": _shift(base.AShrOp, arithmetic=True),
    "arith.shrui": _shift(base.LShrOp),
    "arith.sitofp": _int_to_float(base.SIToFPOp),
    "arith.subf": _float_op(base.FSubOp),
    "arith.subi": _index_aware(lambda a, b: add(a, b, -1), _int_op(base.SubOp, _NO_OVERFLOW)),
    "arith.truncf": rowwise(_narrow_float),
    "arith.trunci": _int_cast(base.TruncOp),
    "arith.uitofp": _int_to_float(elementwise.UIToFPOp),
    "arith.xori": _int_op(base.XOrOp),
    "math.absf": rowwise(_absolute),
    "math.absi": _flagged(intrinsics.AbsOp, "is_int_min_poison"),
    "math.ceil": _float_op(base.FCeilOp),
    "math.copysign": _float_op(base.FCopySignOp),
    "math.ctlz": _flagged(intrinsics.CountLeadingZerosOp, "is_zero_poison"),
    "math.ctpop": _int_op(intrinsics.CtPopOp),
    "math.cttz": _flagged(intrinsics.CountTrailingZerosOp, "is_zero_poison"),
    "math.floor": _float_op(base.FFloorOp),
    "math.fma": rowwise(in_f32(_multiply_add)),
    "math.isfinite": _classify("olt", infinite=True),
    "math.isinf": _classify("oeq", infinite=True),
    "math.isnan": _classify("uno", infinite=False),
    "math.round": _float_op(intrinsics.RoundOp),
    "math.roundeven": _float_op(intrinsics.RoundEvenOp),
    "math.rsqrt": rowwise(in_f32(_reciprocal_root)),
    "math.sqrt": _float_op(base.FSqrtOp),
    "math.trunc": _float_op(intrinsics.TruncFOp),
}
"""Op name -> what lowers it."""
