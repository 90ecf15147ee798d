"""
`tensor-ops-dot-products`: sums of products of narrow numbers by the machine's dot-product instructions.

Before: @k(%x, %w, %z):  %c = structured (%x, %w, %z) over [m, n, reduction k] .. acc + ext(x - z) * ext(w)
After:  @k(%x, %u, %z):  %p = structured (%x as (m, 2*k'), %x as (m, 2*k' + 1), %z) over [m, ceil(k/2)]
                              .. (x0 - z) & 0xffff | (x1 - z) << 16                         : tensor<m x k/2 x i32>
                         %c = structured (%p, %u) over [m, n, reduction ceil(k/2)] .. acc + packed.dot(p, u)
        @k_packed1(%w):  .. the same of the weights, as pairs of 8 bits                      : tensor<k/2 x n x i16>
        main:            %u = call @k_packed1(%w)

Neighbours along one reduction dimension become the parts of one integer, so that all that follows (tiling, packing by
tiles, vectors) sees a plain contraction of integers. Weights that are constant in every call are packed in a kernel of
their own, which moves to `@prepare`; other operands in the kernel, zero points taken off on the way. An odd size is
filled up with zeros.

The instruction is that of the target: `pmaddwd` takes pairs of 16 bits, which hold every 8-bit integer less an 8-bit
zero point, so that products are exact; weights that fit 8 bits are kept in these. (`pmaddubsw` would take 8 bits, but
cuts sums off at 16.) `vpdpbusd` and `sdot` take four bytes, of which zero points are taken out
(`tensor_ops_dot_offsets`). `vdpbf16ps` takes two bf16, whose products it adds up in f32, and takes subnormal numbers
for 0 (`bf16=false`: it is not used). Bytes and bf16 that are neighbours in memory are packed as they lie there, and
read through a view: activations with channels last, and rows of matrices.

Applies where both factors are known to fit, the dimension has at least two steps, and an operand that has to be packed
at run time is used several times. Bytes that are summed up with no neighbour (one channel per group) times constants
are each the first part of a pair for `pmaddwd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp, f32, i8, i16, i32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, SymExpr, ceildiv, dims_of
from aicc.dialects.graph.scalars import scalar_constant
from aicc.dialects.packed import DotOp
from aicc.dialects.tensor_ops import IndexOp, SizeOp, StructuredOp, YieldOp
from aicc.dialects.tensor_ops.affine import LinearForm, from_linear, linear_form, used_dims, with_domain
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, ViewOp
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.transforms.target_facts import BF16_DOT_PRODUCTS, TargetFacts, facts_of
from aicc.transforms.tensor_ops_dot_offsets import can_take_out, take_out
from aicc.transforms.tensor_ops_dot_padding import pad_bytes
from aicc.transforms.tensor_ops_editing import Operand, clean, operands_of, set_operands
from aicc.transforms.tensor_ops_fuse import amount
from aicc.transforms.tensor_ops_inline import inline_producer, is_index_map
from aicc.transforms.tensor_ops_integer_sums import Factor, find_bf16_factors, find_factors, fits, range_of
from aicc.transforms.tensor_ops_materialize_padding import materialize_all_padding
from aicc.transforms.tensor_ops_prepare import Outliner

PAIRS = ("pmaddwd",)
"""Instructions that take two signed parts of 16 bits."""

QUADS = ("vpdpbusd", "sdot")
"""Instructions that take four parts of 8 bits, signed ones on the right; `vpdpbusd` unsigned ones on the left."""

ANY_ORDER = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])

MIN_REUSE = 4
"""An operand is packed at run time if each element is multiplied at least so often."""


@dataclass(frozen=True)
class Form:
    """How one operand is packed for an instruction."""

    parts: int
    part_bits: int
    unsigned: bool = False
    floats: bool = False

    @property
    def type(self) -> IntegerType:
        """The packed integer."""
        return IntegerType(self.parts * self.part_bits)


@dataclass(frozen=True)
class Side:
    """One operand of a contraction: the input that is packed, and the others that its factor is made of."""

    factor: Factor
    main: int
    """The input that moves with the reduction."""
    axis: int
    """Its axis along which neighbours are packed."""
    others: tuple[tuple[int, AffineMap], ...]
    """Other inputs, with their index in terms of that of the main one."""


def takes_pairs(op: StructuredOp, facts: TargetFacts) -> bool:
    """Whether the target has an instruction for the products of bf16 that `op` sums."""
    return any(name in BF16_DOT_PRODUCTS for name in facts.dot_products) and find_bf16_factors(op) is not None


class DotProducts:
    """The rewriting of one module."""

    def __init__(self, module: ModuleOp, facts: TargetFacts):
        self.module = module
        self.bits = facts.vector_bits
        self.pairs = next((name for name in facts.dot_products if name in PAIRS), None)
        self.quads = next((name for name in facts.dot_products if name in QUADS), None)
        self.halves = next((name for name in facts.dot_products if name in BF16_DOT_PRODUCTS), None)
        self.outliner = Outliner(module)

    def run(self) -> None:
        """Rewrites all kernels."""
        for function in list(self.module.body.block.ops):
            if isinstance(function, FuncOp) and KERNEL_ATTRIBUTE in function.attributes and function.body.blocks:
                for op in list(function.body.block.ops):
                    if isinstance(op, StructuredOp):
                        self._rewrite(function, op)

    def _rewrite(self, function: FuncOp, op: StructuredOp) -> None:
        if (factors := find_bf16_factors(op)) is not None:
            if self.halves is not None and self._sides(function, op, factors, 2) is not None:
                self._with_halves(function, op, self.halves)
            return
        if self.quads is not None and self._with_quads(function, op, unsigned=self.quads == "vpdpbusd"):
            return
        factors = find_factors(op)
        if self.pairs is None or factors is None or not all(fits(factor.range, 16) for factor in factors):
            return
        found = self._sides(function, op, factors, 2)
        if found is None:
            self._one_by_one(function, op)
            return
        reduction, sides = found
        # The constant operand in the fewest bits, on the right.
        if self._is_constant(function, op, sides[0].factor) and not self._is_constant(function, op, sides[1].factor):
            sides = sides[::-1]
        narrow = fits(sides[1].factor.range, 8)
        self._replace(function, op, reduction, sides, [Form(2, 16), Form(2, 8 if narrow else 16)], self.pairs)

    def _with_halves(self, function: FuncOp, op: StructuredOp, instruction: str) -> None:
        """Packs two bf16 each; what is read out of bounds is stored around them, so that the others lie as they are."""
        materialize_all_padding(op)
        factors = find_bf16_factors(op)
        assert factors is not None, "padding is none of the body's"
        found = self._sides(function, op, factors, 2)
        assert found is not None, "the index along the summed dimension stays"
        self._replace(function, op, *found, [Form(2, 16, floats=True)] * 2, instruction)

    def _sides(
        self, function: FuncOp, op: StructuredOp, factors: Sequence[Factor], parts: int
    ) -> tuple[int, list[Side]] | None:
        """The reduction dimension along which both factors are packed, and how; `None` if that cannot be or pay."""
        for reduction in reversed(range(op.parallel_count, len(op.dims))):
            size = op.dims[reduction]
            if isinstance(size, int) and size < 2:
                continue
            sides = [side for factor in factors if (side := _side(op, factor, reduction, parts)) is not None]
            if len(sides) == 2:
                return (reduction, sides) if all(self._pays(function, op, side) for side in sides) else None
        return None

    def _with_quads(self, function: FuncOp, op: StructuredOp, unsigned: bool) -> bool:
        """
        Packs four bytes each, where one factor is bytes less a zero point and the other one fits signed bytes.

        Zero points are taken out of the products, as the instruction has no room for differences.
        """
        self._see_bytes(op)
        factors = find_factors(op)
        if factors is None:
            return False
        for left, right in (factors, factors[::-1]):
            if not fits(right.range, 8) or not can_take_out(op, left, right):
                continue
            if self._sides(function, op, [left, right], 4) is None:
                continue
            order = factors.index(left)
            sums = take_out(op, left, right, unsigned)
            again = find_factors(op)
            assert again is not None, "a byte is a factor"
            found = self._sides(function, op, [again[order], again[1 - order]], 4)
            assert found is not None, "the index of a factor stays"
            constant = self._is_constant(function, op, found[1][1].factor)
            self._replace(function, op, *found, [Form(4, 8, unsigned), Form(4, 8)], self.quads or "")
            if sums is not None:
                _inline_all(sums)
                if constant:
                    self._outline(function, sums, "sums")
            return True
        return False

    def _one_by_one(self, function: FuncOp, op: StructuredOp) -> None:
        """
        Multiplies bytes by pairs whose second part is 0, where no neighbours are summed up (one channel per group).

        One instruction multiplies and adds in i32, which no other does; the zero point would be a second one.
        """
        self._see_bytes(op)
        factors = find_factors(op)
        if factors is None:
            return
        for left, right in (factors, factors[::-1]):
            constant = self._is_constant(function, op, right)
            if not constant or not fits(right.range, 16) or not can_take_out(op, left, right):
                continue
            order = factors.index(left)
            sums = take_out(op, left, right, True)
            again = find_factors(op)
            assert again is not None, "a byte is a factor"
            (use,) = again[order].value.uses
            product = use.operation
            using = f"{self.pairs}{self.bits}"
            dot = DotOp(again[order].value, again[1 - order].value, 2, using=using)
            Builder(InsertPoint.before(product)).insert(dot)
            product.results[0].replace_all_uses_with(dot.result)
            product.detach()
            product.erase()
            if sums is not None:
                _inline_all(sums)
                self._outline(function, sums, "sums")
            return

    def _see_bytes(self, op: StructuredOp) -> None:
        """Has `op` read bytes, padding included, from which it takes zero points itself."""
        for position in range(len(op.inputs)):
            pad_bytes(op, position)
        self._compute_in_place(op)

    def _compute_in_place(self, op: StructuredOp) -> None:
        """Takes differences that only this op reads into its body, so that they are seen; padding stays beside it."""
        if find_factors(op) is None:
            return
        for position in reversed(range(len(op.inputs))):
            producer = op.inputs[position].owner
            if not isinstance(producer, StructuredOp) or producer.is_reduction or producer.parent is not op.parent:
                continue
            users = {use.operation for result in producer.res for use in result.uses}
            if op.input_fills[position] is None and users == {op} and not any(map(_is_given, producer.input_fills)):
                inline_producer(op, position)
                producer.detach()
                producer.erase()

    def _is_constant(self, function: FuncOp, op: StructuredOp, factor: Factor) -> bool:
        """Whether all that the factor is made of is constant in every call."""
        pending = [op.inputs[position] for position in factor.inputs]
        known = self.outliner.constants(function)
        while pending:
            value = pending.pop()
            if isinstance(value, BlockArgument):
                if value.index not in known:
                    return False
            elif isinstance(value.owner, StructuredOp) and not value.owner.is_reduction:
                pending += value.owner.operands
            else:
                return False
        return True

    def _outline(self, function: FuncOp, op: StructuredOp, what: str) -> None:
        """Has it computed before the kernel, unless it reads a padded copy made there, or goes by its symbols."""
        known = all(isinstance(size, int) for size in op.dims)
        if known and all(isinstance(value, BlockArgument) for value in op.operands):
            self.outliner.outline(function, op, what)

    def _pays(self, function: FuncOp, op: StructuredOp, side: Side) -> bool:
        if self._is_constant(function, op, side.factor):
            return True
        return amount(op.dims) >= MIN_REUSE * amount(dims_of(op.inputs[side.main].type))

    def _replace(
        self,
        function: FuncOp,
        op: StructuredOp,
        reduction: int,
        sides: Sequence[Side],
        forms: Sequence[Form],
        instruction: str,
    ) -> None:
        inputs, finish = operands_of(op)
        symbols = list(op.symbols.data)
        parts = forms[0].parts
        dims = list(op.dims)
        constant = [self._is_constant(function, op, side.factor) for side in sides]
        # Constants are packed in the order of use anyway.
        flips = [
            None if known else _flips_as_stored(op, side, form)
            for side, form, known in zip(sides, forms, constant, strict=True)
        ]
        packers = [
            _pack(op, side, form) if flip is None else _view(op, side, form)
            for side, form, flip in zip(sides, forms, flips, strict=True)
        ]
        block = op.parent
        assert block is not None
        new: list[Operand] = []
        for side, packer in zip(sides, packers, strict=True):
            block.insert_op_before(packer, op)
            packer.location = op.location
            packed = packer.results[0]
            packed.name_hint = "packed"
            main = inputs[side.main]
            results = list(main.map.results)
            results[side.axis] = _divided(linear_form(results[side.axis]), reduction, parts)
            fill = None if main.fill is None else scalar_constant(0, element_scalar(packed.type))
            new.append(Operand(packed, AffineMap(len(dims), len(symbols), tuple(results)), fill))
        dims[reduction] = ceildiv(dims[reduction], parts)
        finish = [Operand(f.value, with_domain(f.map, len(dims), len(symbols))) for f in finish]
        last = op.detach_region(1)
        product = StructuredOp(
            [],
            dims,
            op.parallel_count,
            [],
            Region(self._body(forms, instruction, flips)),
            op.element_types,
            inits=op.inits.data,
            finish=last,
        )
        set_operands(product, new, finish, symbols)
        block.insert_op_before(product, op)
        product.location = op.location
        for old, result in zip(op.res, product.res, strict=True):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)
        op.detach()
        op.erase()
        for packer, is_constant in zip(packers, constant, strict=True):
            if not isinstance(packer, StructuredOp):
                continue
            _inline_all(packer)
            if is_constant:
                self._outline(function, packer, "packed")

    def _body(self, forms: Sequence[Form], instruction: str, flips: Sequence[bool | None]) -> Block:
        left, right = forms
        block = Block(arg_types=[left.type, right.type, f32 if left.floats else i32])
        build = Builder(InsertPoint.at_end(block))
        operands: list[SSAValue] = list(block.args[:2])
        for number, (form, flip) in enumerate(zip(forms, flips, strict=True)):
            if flip:
                bits = sum(1 << (part * form.part_bits + form.part_bits - 1) for part in range(form.parts))
                mask = build.insert(arith.ConstantOp(scalar_constant(bits - (1 << form.type.width.data), form.type)))
                operands[number] = build.insert(arith.XOrIOp(operands[number], mask)).result
        using = f"{instruction}{self.bits}"
        kind = {"lhs_unsigned": left.unsigned, "floats": left.floats}
        dot = build.insert(DotOp(operands[0], operands[1], left.parts, **kind, using=using))
        add = partial(arith.AddfOp, flags=ANY_ORDER) if left.floats else arith.AddiOp
        build.insert(YieldOp(build.insert(add(block.args[2], dot.result)).result))
        return block


def _is_given(fill: Attribute | None) -> bool:
    return fill is not None


def _side(op: StructuredOp, factor: Factor, reduction: int, parts: int) -> Side | None:
    """How a factor is packed along a reduction dimension; `None` if it cannot be."""
    inputs, _ = operands_of(op)
    moving = [i for i in factor.inputs if reduction in used_dims(inputs[i].map.results)]
    if len(moving) != 1:
        return None
    main = inputs[moving[0]]
    axes = [axis for axis, expr in enumerate(main.map.results) if reduction in used_dims([expr])]
    if len(axes) != 1:
        return None
    form = linear_form(main.map.results[axes[0]])
    if form.dim_coefficient(reduction) != 1 or form.constant % parts:
        return None
    rest = {atom: factor for atom, factor in form.terms.items() if atom != AffineDimExpr(reduction)}
    if any(coefficient % parts or reduction in used_dims([atom]) for atom, coefficient in rest.items()):
        return None
    others: list[tuple[int, AffineMap]] = []
    for position in factor.inputs:
        if position == moving[0]:
            continue
        found = _in_terms_of(inputs[position], main, axes[0])
        if found is None:
            return None
        others.append((position, found))
    if main.fill is not None and not factor.is_plain:
        return None
    if main.fill is not None and main.fill != scalar_constant(0, element_scalar(main.value.type)):
        return None
    if factor.range is None and not _is_multiple(op.dims[reduction], parts):
        # Zeros that fill up one side must not meet infinities on the other one: both are filled up.
        whole = main.map.results[axes[0]] == AffineDimExpr(reduction)
        if not whole or dims_of(main.value.type)[axes[0]] != op.dims[reduction]:
            return None
    return Side(factor, moving[0], axes[0], tuple(others))


def _in_terms_of(operand: Operand, main: Operand, axis: int) -> AffineMap | None:
    """The operand's index as a map of the main one's, which does not use that `axis`."""
    if operand.fill is not None:
        return None
    results: list[AffineExpr] = []
    for expr in operand.map.results:
        if isinstance(expr, AffineConstantExpr):
            results.append(expr)
            continue
        at = next((i for i, other in enumerate(main.map.results) if other == expr and i != axis), None)
        if at is None:
            return None
        results.append(AffineDimExpr(at))
    return AffineMap(len(main.map.results), 0, tuple(results))


def _divided(form: LinearForm, reduction: int, parts: int) -> AffineExpr:
    """An index along the packed axis, from that along the old one."""
    terms = {
        atom: factor if atom == AffineDimExpr(reduction) else factor // parts for atom, factor in form.terms.items()
    }
    return from_linear(LinearForm(terms, form.constant // parts))


def _flips_as_stored(op: StructuredOp, side: Side, form: Form) -> bool | None:
    """
    Whether the first bits of the parts have to be flipped, where an operand is packed as it lies in memory.

    `None` where it is not: its neighbours are not next to each other, or it is more than a byte and its signedness.
    """
    inputs, _ = operands_of(op)
    main = inputs[side.main]
    dims = dims_of(main.value.type)
    if side.axis != len(dims) - 1 or not _is_multiple(dims[-1], form.parts) or main.fill is not None:
        return None
    if form.floats:
        return False if side.factor.is_plain and _is_given_whole(main.value) else None
    value, flip = side.factor.value, False
    if not isinstance(owner := value.owner, arith.ExtUIOp if form.unsigned else arith.ExtSIOp):
        return None
    value = owner.input
    if isinstance(owner := value.owner, arith.XOrIOp) and range_of(owner.rhs) == (-128, -128):
        value, flip = owner.lhs, True
    is_byte = isinstance(value, BlockArgument) and value.type == i8 and form.part_bits == 8
    return flip if is_byte and side.factor.inputs == (side.main,) else None


def _is_given_whole(value: SSAValue) -> bool:
    """Whether a tensor is an argument or a copy of one; what the kernel computes is packed where that is done."""
    if isinstance(owner := value.owner, StructuredOp):
        return is_index_map(owner) and all(isinstance(source, BlockArgument) for source in owner.inputs)
    return isinstance(value, BlockArgument)


def _view(op: StructuredOp, side: Side, form: Form) -> ViewOp:
    """The packed form of an operand that lies in memory as such."""
    value = op.inputs[side.main]
    *others, size = dims_of(value.type)
    return ViewOp(value, [*others, ceildiv(size, form.parts)], element=form.type)


def _pack(op: StructuredOp, side: Side, form: Form) -> StructuredOp:
    """The op that makes the packed form of an operand, over the operand's own index space."""
    inputs, _ = operands_of(op)
    main = inputs[side.main]
    sizes = list(dims_of(main.value.type))
    size, rank = sizes[side.axis], len(sizes)
    sizes[side.axis] = ceildiv(size, form.parts)
    uneven = not _is_multiple(size, form.parts)
    operands: list[Operand] = []
    block = Block()
    builder = Builder(InsertPoint.at_end(block))
    total: SSAValue | None = None
    for part in range(form.parts):
        arguments: dict[SSAValue, SSAValue] = {}
        index: list[AffineExpr] = [AffineDimExpr(d) for d in range(rank)]
        index[side.axis] = AffineDimExpr(side.axis) * form.parts + part
        fill = scalar_constant(0, element_scalar(main.value.type)) if uneven and part else None
        reads = [(side.main, Operand(main.value, AffineMap(rank, 0, tuple(index)), fill))]
        reads += [(position, Operand(inputs[position].value, m)) for position, m in side.others]
        for position, operand in reads:
            operands.append(operand)
            scalar = element_scalar(operand.value.type)
            arguments[op.body.block.args[position]] = block.insert_arg(scalar, len(block.args))
        value = _copy(builder, side.factor, arguments)
        if form.floats:
            value = builder.insert(arith.BitcastOp(value, i16)).result
            value = builder.insert(arith.ExtUIOp(value, i32)).result
        if fill is not None and not side.factor.is_plain:
            value = _inside(builder, value, side.axis, form.parts, part, size)
        total = _add_part(builder, total, value, part, form)
    assert total is not None
    if form.type != i32:
        total = builder.insert(arith.TruncIOp(total, form.type)).result
    builder.insert(YieldOp(total))
    packer = StructuredOp([], sizes, rank, [], Region(block), [form.type])
    set_operands(packer, operands, [], [])
    clean(packer)
    return packer


def _is_multiple(size: Dim, number: int) -> bool:
    if isinstance(size, int):
        return size % number == 0
    return ceildiv(size, number) * number == size


def _copy(builder: Builder, factor: Factor, arguments: dict[SSAValue, SSAValue]) -> SSAValue:
    """The factor of other elements, in i32 or bf16."""
    values = dict(arguments)
    for inner in factor.ops:
        copy = builder.insert(inner.clone(values))
        values.update(zip(inner.results, copy.results, strict=True))
    return values.get(factor.value, factor.value)


def _inside(builder: Builder, value: SSAValue, axis: int, parts: int, part: int, size: Dim) -> SSAValue:
    """`value` where the part lies within the axis, else 0."""

    def number(n: int) -> SSAValue:
        return builder.insert(arith.ConstantOp(IntegerAttr(n, IndexType()))).result

    at = builder.insert(arith.MuliOp(builder.insert(IndexOp(axis)).result, number(parts))).result
    at = builder.insert(arith.AddiOp(at, number(part))).result
    end = builder.insert(SizeOp(size)).result if isinstance(size, SymExpr) else number(size)
    condition = builder.insert(arith.CmpiOp(at, end, "slt")).result
    zero = builder.insert(arith.ConstantOp(IntegerAttr(0, i32))).result
    return builder.insert(arith.SelectOp(condition, value, zero)).result


def _add_part(builder: Builder, total: SSAValue | None, value: SSAValue, part: int, form: Form) -> SSAValue:
    """`total` with one more part, all in i32."""

    def number(n: int) -> SSAValue:
        return builder.insert(arith.ConstantOp(scalar_constant(n, i32))).result

    if part < form.parts - 1 and not form.floats:
        value = builder.insert(arith.AndIOp(value, number((1 << form.part_bits) - 1))).result
    if part:
        value = builder.insert(arith.ShLIOp(value, number(part * form.part_bits))).result
    return value if total is None else builder.insert(arith.OrIOp(total, value)).result


def _inline_all(packer: StructuredOp) -> None:
    """Computes in place what elementwise ops of the kernel make for the packing alone."""
    while True:
        for position, value in enumerate(packer.operands):
            producer = value.owner
            if not isinstance(producer, StructuredOp) or producer.is_reduction or producer.parent is not packer.parent:
                continue
            if {use.operation for result in producer.res for use in result.uses} != {packer}:
                continue
            inline_producer(packer, position)
            if all(result.first_use is None for result in producer.res):
                producer.detach()
                producer.erase()
            break
        else:
            return


@dataclass(frozen=True)
class TensorOpsDotProductsPass(ModulePass):
    """Sums products of narrow numbers by instructions for dot products."""

    name = "tensor-ops-dot-products"

    target: str = "host"
    """Machine to decide for: `host`, `generic`, or a name that the back end knows."""

    bf16: bool = True
    """Products of bf16 may be summed by an instruction that takes subnormal numbers for 0."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = facts_of(self.target) if self.bf16 else facts_of(self.target).without_bf16_dots()
        if facts.dot_products:
            DotProducts(op, facts).run()
