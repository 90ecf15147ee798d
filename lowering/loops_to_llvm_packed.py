"""
`packed.dot` on scalars and n-D vectors, row by row: by the instruction that the op names, or by shifts and products.

Instructions, with the bits of the widest register that may be used behind their names:

- `pmaddwd` (x86 from SSE2 on): two products of signed 16-bit parts; parts of 8 bits are widened to 16 first
- `vpdpbusd` (x86 with AVX-VNNI or AVX-512 VNNI): four products of unsigned 8-bit parts with signed ones
- `sdot` (AArch64 with dotprod): four products of signed 8-bit parts
- `vdpbf16ps` (x86 with AVX-512 BF16): two products of bf16, added one after the other to an f32, rounded to nearest,
  ties to even, each; subnormal operands and sums are taken for 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import BFloat16Type, IntegerAttr, IntegerType, bf16, f32, i8, i16, i32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.packed import DotOp
from aicc.lowering import loops_to_llvm_arith
from aicc.lowering.loops_to_llvm_arith import Handler, call_intrinsic
from aicc.lowering.loops_to_llvm_emit import element_in, integer_width, lanes_in, row_type
from aicc.lowering.loops_to_llvm_values import FunctionLowering

_WRAPS: dict[str, Attribute] = {"overflowFlags": IntegerAttr(0, 32)}
_ANY_ORDER: dict[str, Attribute] = {
    "fastmathFlags": base.FastMathAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
}


@dataclass(frozen=True)
class Instruction:
    """An instruction for dot products: full names of its intrinsics by the number of results, and what they take."""

    names: Mapping[int, str]
    element: IntegerType | BFloat16Type
    """Operands are vectors of these, in as many bits as the result."""
    accumulates: bool = False
    """The first operand is a sum to add to."""


_INSTRUCTIONS = {
    "pmaddwd": Instruction(
        {4: "llvm.x86.sse2.pmadd.wd", 8: "llvm.x86.avx2.pmadd.wd", 16: "llvm.x86.avx512.pmaddw.d.512"}, i16
    ),
    "vpdpbusd": Instruction({lanes: f"llvm.x86.avx512.vpdpbusd.{32 * lanes}" for lanes in (4, 8, 16)}, i8, True),
    "sdot": Instruction({4: "llvm.aarch64.neon.sdot.v4i32.v16i8"}, i8, True),
    "vdpbf16ps": Instruction({lanes: f"llvm.x86.avx512bf16.dpbf16ps.{32 * lanes}" for lanes in (4, 8, 16)}, bf16, True),
}


def lower_dot(fn: FunctionLowering, op: DotOp) -> None:
    """Each row by the instruction where it is as wide as that, else part by part."""
    if not _is_added_up(op):
        fn.set(op.result, _products(fn, op, None))


def lower_sum(fn: FunctionLowering, op: arith.AddiOp | arith.AddfOp) -> None:
    """`arith.addi` and `arith.addf`; a product that its instruction adds to the other operand is computed here."""
    for operand, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if isinstance(operand.owner, DotOp) and _is_added_up(operand.owner):
            fn.set(op.result, _products(fn, operand.owner, fn.rows(other).rows))
            return
    loops_to_llvm_arith.HANDLERS[op.name](fn, op)


def _is_added_up(op: DotOp) -> bool:
    """Whether the one reader of the product is a sum with something else, which the instruction makes on its own."""
    _, instruction = _instruction(op)
    if instruction is None or not instruction.accumulates or not op.result.has_one_use():
        return False
    (use,) = op.result.uses
    user = use.operation
    if not isinstance(user, arith.AddiOp | arith.AddfOp) or user.parent is not op.parent:
        return False
    if isinstance(user, arith.AddfOp) and FastMathFlag.REASSOC not in user.fastmath.data:
        return False
    return not isinstance(user.operands[1 - use.index].owner, DotOp)


def _products(fn: FunctionLowering, op: DotOp, totals: Sequence[SSAValue] | None) -> list[SSAValue]:
    """The rows of a product, added to the rows `totals` if given."""
    left, right = fn.rows(op.lhs).rows, fn.rows(op.rhs).rows
    most, instruction = _instruction(op)
    known: dict[tuple[SSAValue, int, int], SSAValue] = {}

    def piece(row: SSAValue, start: int, lanes: int, instruction: Instruction) -> SSAValue:
        """Some lanes of a row as the instruction takes them; rows are shared by many products."""
        key = row, start, lanes
        if key not in known:
            known[key] = _operand(fn, row, start, lanes, op.part_count, instruction)
        return known[key]

    element = f32 if op.floats is not None else i32
    rows: list[SSAValue] = []
    for number, (x, y) in enumerate(zip(left, right, strict=True)):
        count = lanes_in(x)
        total = None if totals is None else totals[number]
        lanes = next((n for n in (16, 8, 4) if n <= most and count % n == 0), 0)
        if instruction is None or not lanes:
            row = _floats_by_parts(fn, op, x, y) if op.floats is not None else _by_parts(fn, op, x, y)
            rows.append(row if total is None else _sum(fn, total, row))
            continue
        result = row_type(element, lanes)
        pieces: list[SSAValue] = []
        for start in range(0, count, lanes):
            operands = [piece(row, start, lanes, instruction) for row in (x, y)]
            if instruction.accumulates:
                operands.insert(0, _zero(fn, element, lanes) if total is None else _lanes(fn, total, start, lanes))
            pieces.append(call_intrinsic(fn, instruction.names[lanes], operands, result))
        rows.append(_joined(fn, pieces, lanes))
    return rows


def _instruction(op: DotOp) -> tuple[int, Instruction | None]:
    """The most lanes of the result at once, and the instruction; none if the op names none."""
    if op.using is None:
        return 0, None
    name = op.using.data.rstrip("0123456789")
    found = _INSTRUCTIONS.get(name)
    bits = op.using.data[len(name) :]
    return (int(bits) // 32 if bits and found is not None else 0), found


def _operand(
    fn: FunctionLowering, row: SSAValue, start: int, lanes: int, parts: int, instruction: Instruction
) -> SSAValue:
    """Lanes `start` to `start + lanes` of packed integers as the vector that the instruction takes."""
    row = _lanes(fn, row, start, lanes)
    width = integer_width(element_in(row))
    wanted = instruction.element.bitwidth
    if width // parts < wanted and instruction.element == i16:
        narrow = fn.emit(base.BitcastOp, (row,), row_type(IntegerType(width // parts), lanes * parts))
        return fn.emit(base.SExtOp, (narrow,), row_type(i16, lanes * parts))
    whole = row_type(instruction.element, lanes * width // wanted)
    return row if row.type == whole else fn.emit(base.BitcastOp, (row,), whole)


def _lanes(fn: FunctionLowering, row: SSAValue, start: int, lanes: int) -> SSAValue:
    """Some neighbouring lanes of a row."""
    return row if lanes == lanes_in(row) else fn.shuffle(row, row, range(start, start + lanes))


def _joined(fn: FunctionLowering, pieces: Sequence[SSAValue], lanes: int) -> SSAValue:
    """One row of several; their number is a power of two or small."""
    row = pieces[0]
    for number, other in enumerate(pieces[1:], start=1):
        have = number * lanes
        if number > 1:
            other = fn.shuffle(other, other, [*range(lanes), *[-1] * (have - lanes)])
        row = fn.shuffle(row, other, [*range(have), *range(have, have + lanes)])
    return row


def _zero(fn: FunctionLowering, element: Attribute, lanes: int) -> SSAValue:
    """A row of zeros of f32 or i32."""
    type_ = row_type(element, lanes)
    return fn.float(0.0, type_) if element == f32 else fn.integer(0, type_)


def _sum(fn: FunctionLowering, a: SSAValue, b: SSAValue) -> SSAValue:
    """The sum of two rows of one product."""
    if element_in(a) == f32:
        return fn.emit(base.FAddOp, (a, b), a.type, _ANY_ORDER)
    return fn.emit(base.AddOp, (a, b), a.type, _WRAPS)


def _floats_by_parts(fn: FunctionLowering, op: DotOp, x: SSAValue, y: SSAValue) -> SSAValue:
    """The sum of the products of parts that are bf16: moved to the upper half, a part is an f32."""
    single = row_type(f32, lanes_in(x))
    total: SSAValue | None = None
    for number in range(op.part_count):
        left, right = (
            fn.emit(base.BitcastOp, (_upper_half(fn, row, number, op.part_count),), single) for row in (x, y)
        )
        product = fn.emit(base.FMulOp, (left, right), single, _ANY_ORDER)
        total = product if total is None else _sum(fn, total, product)
    assert total is not None
    return total


def _upper_half(fn: FunctionLowering, row: SSAValue, number: int, parts: int) -> SSAValue:
    """One part of 16 bits of each packed integer of a row, as the upper half of an i32."""
    bits = _part(fn, row, number, parts, True)
    return fn.emit(base.ShlOp, (bits, fn.integer(16, bits.type)), bits.type, _WRAPS)


def _by_parts(fn: FunctionLowering, op: DotOp, x: SSAValue, y: SSAValue) -> SSAValue:
    """The sum of the products of the parts, each widened by shifts."""
    flags = op.lhs_unsigned is not None, op.rhs_unsigned is not None
    wide = row_type(i32, lanes_in(x))
    total: SSAValue | None = None
    for number in range(op.part_count):
        left, right = (
            _part(fn, row, number, op.part_count, unsigned) for row, unsigned in zip((x, y), flags, strict=True)
        )
        product = fn.emit(base.MulOp, (left, right), wide, _WRAPS)
        total = product if total is None else fn.emit(base.AddOp, (total, product), wide, _WRAPS)
    assert total is not None
    return total


def _part(fn: FunctionLowering, row: SSAValue, number: int, parts: int, unsigned: bool) -> SSAValue:
    """One part of each packed integer of a row, in i32."""
    width = integer_width(element_in(row))
    bits = width // parts
    value = row
    if above := width - (number + 1) * bits:
        value = fn.emit(base.ShlOp, (value, fn.integer(above, row.type)), row.type, _WRAPS)
    if width != bits:
        shift = base.LShrOp if unsigned else base.AShrOp
        value = fn.emit(shift, (value, fn.integer(width - bits, row.type)), row.type)
    wide = row_type(i32, lanes_in(row))
    return value if value.type == wide else fn.emit(base.ZExtOp if unsigned else base.SExtOp, (value,), wide)


HANDLERS: dict[str, Handler] = {"arith.addf": lower_sum, "arith.addi": lower_sum, "packed.dot": lower_dot}
"""Op name -> what lowers it."""
