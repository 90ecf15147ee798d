"""
Index arithmetic and addresses of the function that is being built.

Indices are polynomials; what they are made of is computed as far out of the loops as it can be, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from aicc.dialects.graph.symbolic import Atom as SymAtom
from aicc.dialects.graph.symbolic import Dim
from aicc.dialects.llvm import elementwise, intrinsics, memory
from aicc.lowering.loops_to_llvm_emit import (
    NO_FAST_MATH,
    NO_FLAGS,
    NSW,
    POINTER,
    Buffer,
    Emitter,
    memory_type,
)
from aicc.lowering.loops_to_llvm_index import (
    LANE_DEPTH,
    ZERO,
    Atom,
    Atoms,
    Poly,
    add,
    constant,
    constant_value,
    multiply,
)

_SELECT: dict[str, Attribute] = {"fastmathFlags": NO_FAST_MATH}


@cache
def _step(element: Attribute) -> dict[str, Attribute]:
    """The properties of a `getelementptr` by a run-time number of elements."""
    return {"elem_type": element, "noWrapFlags": NO_FLAGS, "rawConstantIndices": _DYNAMIC}


@cache
def _constant_step(element: Attribute, number: int) -> dict[str, Attribute]:
    """The properties of a `getelementptr` by a known number of elements."""
    return {**_step(element), "rawConstantIndices": DenseArrayBase.from_list(i32, [number])}


_DYNAMIC = DenseArrayBase.from_list(i32, [base.GEP_USE_SSA_VAL])


class LaneDependentError(Exception):
    """Index arithmetic that is not linear in the lanes; it has to be done lane by lane."""


class AddressEmitter(Emitter):
    """An emitter that computes indices and addresses."""

    def __init__(self, entry: Block) -> None:
        super().__init__(entry)
        self.atoms = Atoms()
        self.symbols: dict[str, Poly] = {}
        """The function's symbols by name."""
        self._lane_atoms: dict[tuple[int, int], Poly] = {}
        self._dims: dict[object, Poly] = {}

    def lane_atom(self, axis: int, size: int) -> Poly:
        """The position along one axis of a vector as an index; 0 for an axis of size 1."""
        if size == 1:
            return ZERO
        key = (axis, size)
        if key not in self._lane_atoms:
            self._lane_atoms[key] = self.atoms.new(Atom(None, LANE_DEPTH + axis, 0, size - 1))
        return self._lane_atoms[key]

    # Index arithmetic

    def atom(
        self, value: SSAValue, depth: int = -1, lo: int | None = None, hi: int | None = None, multiple: int = 1
    ) -> Poly:
        """A run-time value as an index, computed in the scope of `depth`."""
        return self.atoms.new(Atom(value, depth if depth >= 0 else self.depth, lo, hi, multiple))

    def _arithmetic(self, op: type[Operation], a: SSAValue, b: SSAValue, depth: int) -> SSAValue:
        return self.emit(op, (a, b), i64, {"overflowFlags": NSW}, depth)

    def _term(self, monomial: tuple[int, ...], coefficient: int) -> SSAValue:
        """`coefficient * monomial`, the outermost factors first."""
        numbers = sorted(monomial, key=lambda number: self.atoms.items[number].depth)
        depth = self.atoms.items[numbers[-1]].depth
        if depth >= LANE_DEPTH:
            raise LaneDependentError
        key = (monomial, coefficient)
        if (found := self.scopes[depth].cache.get(key)) is not None:
            return found
        value = self.atoms.items[numbers[-1]].value
        assert value is not None
        if len(numbers) > 1:
            outer = self._term(tuple(sorted(numbers[:-1])), coefficient)
            value = self._arithmetic(base.MulOp, outer, value, depth)
        elif coefficient != 1:
            value = self._arithmetic(base.MulOp, value, self.integer(coefficient), depth)
        self.scopes[depth].cache[key] = value
        return value

    def index(self, poly: Poly) -> SSAValue:
        """The value of `poly` as an `i64`, computed as far out as its atoms allow."""
        if (number := constant_value(poly)) is not None:
            return self.integer(number)
        terms = sorted(
            (self.atoms.depth(monomial), monomial, coefficient) for monomial, coefficient in poly.items() if monomial
        )
        if terms[-1][0] >= LANE_DEPTH:
            raise LaneDependentError
        done: dict[tuple[int, ...], int] = {}
        result: SSAValue | None = None
        for depth, monomial, coefficient in terms:
            done[monomial] = coefficient
            if result is None:
                result = self._term(monomial, coefficient)
                continue
            key = frozenset(done.items())
            found = self.scopes[depth].cache.get(key)
            if found is None:
                found = self._arithmetic(base.AddOp, result, self._term(monomial, coefficient), depth)
                self.scopes[depth].cache[key] = found
            result = found
        assert result is not None
        if offset := poly.get((), 0):
            depth = terms[-1][0]
            key = frozenset(poly.items())
            found = self.scopes[depth].cache.get(key)
            if found is None:
                found = self._arithmetic(base.AddOp, result, self.integer(offset), depth)
                self.scopes[depth].cache[key] = found
            result = found
        return result

    def _derived(self, key: object, poly: Poly, lo: int | None, hi: int | None, multiple: int = 1) -> Poly:
        """A cached atom computed from `poly` at its depth; the caller has put its value in the cache under `key`."""
        depth = self.atoms.poly_depth(poly)
        return self.atom(self.scopes[depth].cache[key], depth, lo, hi, multiple)

    def floor_divide(self, poly: Poly, divisor: int) -> Poly:
        """`floor(poly / divisor)` for a positive divisor."""
        quotient, exact, rest = self.atoms.split(poly, divisor)
        if self.atoms.within(rest, 0, divisor - 1):
            rest = ZERO
        # The exact part divides without a remainder, and so does not touch that of the rest.
        result = quotient
        for part in (exact, rest):
            if part:
                result = add(result, self._quotient(part, divisor))
        return result

    def _quotient(self, poly: Poly, divisor: int) -> Poly:
        lo, hi = self.atoms.bounds(poly)
        depth = self.atoms.poly_depth(poly)
        if depth >= LANE_DEPTH:
            raise LaneDependentError
        key = ("floordiv", frozenset(poly.items()), divisor)
        if key not in self.scopes[depth].cache:
            value, count = self.index(poly), self.integer(divisor)
            if lo is None or lo < 0:
                negative = self.compare("slt", value, self.integer(0), depth)
                shifted = self._arithmetic(base.SubOp, value, self.integer(divisor - 1), depth)
                value = self.emit(elementwise.SelectOp, (negative, shifted, value), i64, _SELECT, depth)
                result = self.emit(base.SDivOp, (value, count), i64, {}, depth)
            else:
                result = self.emit(base.UDivOp, (value, count), i64, {}, depth)
            self.scopes[depth].cache[key] = result
        return self._derived(key, poly, None if lo is None else lo // divisor, None if hi is None else hi // divisor)

    def modulo(self, poly: Poly, divisor: int) -> Poly:
        """`poly - divisor * floor(poly / divisor)` for a positive divisor."""
        _, _, rest = self.atoms.split(poly, divisor)
        if self.atoms.within(rest, 0, divisor - 1):
            return rest
        lo, hi = self.atoms.bounds(rest)
        depth = self.atoms.poly_depth(rest)
        if depth >= LANE_DEPTH:
            raise LaneDependentError
        if lo is None or lo < 0:
            return add(rest, self._quotient(rest, divisor), -divisor)
        key = ("mod", frozenset(rest.items()), divisor)
        if key not in self.scopes[depth].cache:
            operands = (self.index(rest), self.integer(divisor))
            self.scopes[depth].cache[key] = self.emit(base.URemOp, operands, i64, {}, depth)
        return self._derived(key, rest, 0, divisor - 1 if hi is None else min(hi, divisor - 1))

    def divide(self, poly: Poly, divisor: Poly, here: bool = False) -> Poly:
        """
        `floor(poly / divisor)`; a divisor below 1 counts as 1, so that nothing traps.

        As far out as the operands are known, or `here`, in the scope at hand: a division takes tens of cycles.
        """
        if (number := constant_value(divisor)) is not None:
            return self.floor_divide(poly, max(number, 1))
        safe = self.at_least(divisor, 1)
        lo, hi = self.atoms.bounds(poly)
        depth = max(self.atoms.poly_depth(poly), self.atoms.poly_depth(safe))
        if depth >= LANE_DEPTH:
            raise LaneDependentError
        depth = self.depth if here else depth
        value, count = self.index(poly), self.index(safe)
        if lo is not None and lo >= 0:
            return self.atom(self.emit(base.UDivOp, (value, count), i64, {}, depth), depth, 0, hi)
        negative = self.compare("slt", value, self.integer(0), depth)
        less = self._arithmetic(base.SubOp, count, self.integer(1), depth)
        shifted = self._arithmetic(base.SubOp, value, less, depth)
        value = self.emit(elementwise.SelectOp, (negative, shifted, value), i64, _SELECT, depth)
        return self.atom(self.emit(base.SDivOp, (value, count), i64, {}, depth), depth)

    def at_least(self, poly: Poly, bound: int) -> Poly:
        """`max(poly, bound)`."""
        return self.extremum([poly, constant(bound)], largest=True)

    def extremum(self, polys: Sequence[Poly], largest: bool) -> Poly:
        """The largest or the smallest of some indices."""
        result = polys[0]
        for poly in polys[1:]:
            lo, hi = self.atoms.bounds(add(result, poly, -1))
            if (lo is not None and lo >= 0) if largest else (hi is not None and hi <= 0):
                continue
            if (hi is not None and hi <= 0) if largest else (lo is not None and lo >= 0):
                result = poly
                continue
            depth = max(self.atoms.poly_depth(result), self.atoms.poly_depth(poly))
            if depth >= LANE_DEPTH:
                raise LaneDependentError
            op = intrinsics.SMaxOp if largest else intrinsics.SMinOp
            (a, b), (c, d) = self.atoms.bounds(result), self.atoms.bounds(poly)
            value = self.emit(op, (self.index(result), self.index(poly)), i64, {}, depth)
            both = max if largest else min
            lows = [bound for bound in (a, c) if bound is not None]
            highs = [bound for bound in (b, d) if bound is not None]
            lo = both(lows) if len(lows) == 2 or (largest and lows) else None
            hi = both(highs) if len(highs) == 2 or (not largest and highs) else None
            result = self.atom(value, depth, lo, hi)
        return result

    def affine(self, expr: AffineExpr, dims: Sequence[Poly], symbols: Sequence[Poly] = ()) -> Poly:
        """The value of an affine expression."""
        match expr:
            case AffineConstantExpr(value=value):
                return constant(value)
            case AffineDimExpr(position=position):
                return dims[position]
            case AffineSymExpr(position=position):
                return symbols[position]
            case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
                left, right = self.affine(lhs, dims, symbols), self.affine(rhs, dims, symbols)
                match kind:
                    case AffineBinaryOpKind.Add:
                        return add(left, right)
                    case AffineBinaryOpKind.Mul:
                        return multiply(left, right)
                    case AffineBinaryOpKind.FloorDiv:
                        return self.divide(left, right)
                    case AffineBinaryOpKind.CeilDiv:
                        return self.divide(add(add(left, right), constant(-1)), right)
                    case AffineBinaryOpKind.Mod:
                        if (number := constant_value(right)) is not None:
                            return self.modulo(left, max(number, 1))
                        return add(left, multiply(self.divide(left, right), right), -1)
            case _:
                raise ValueError(f"unknown affine expression {expr}")

    def dim(self, dim: Dim) -> Poly:
        """The value of a symbolic size."""
        if isinstance(dim, int):
            return constant(dim)
        result: Poly = ZERO
        for monomial, coefficient in dim.terms:
            product = constant(coefficient)
            for factor in monomial:
                product = multiply(product, self._symbolic(factor))
            result = add(result, product)
        return result

    def define_symbol(self, name: str, value: Poly) -> None:
        """Gives a symbol a (new) value."""
        self.symbols[name] = value
        # Some of these may have been made of the old value.
        self._dims.clear()

    def _symbolic(self, atom: SymAtom) -> Poly:
        if not atom.args:
            return self.symbols[atom.name]
        key = ("dim", atom.key)
        if (found := self._dims.get(key)) is not None:
            return found
        args = [self.dim(arg) for arg in atom.args]
        match atom.name:
            case "floordiv":
                result = self.divide(args[0], args[1])
            case "mod":
                result = add(args[0], multiply(self.divide(args[0], args[1]), args[1]), -1)
            case _:
                result = self.extremum(args, largest=atom.name == "max")
        self._dims[key] = result
        return result

    # Addresses

    def address(self, buffer: Buffer, offset: Poly, extra: Poly = ZERO) -> SSAValue:
        """
        The address of the element at `offset + extra`, stepping from the outermost loop inwards.

        `extra` is what tells the rows of one access apart; it is added last, so that rows share all other steps.
        """
        pointer, depth = buffer.pointer, buffer.depth
        parts: dict[int, dict[tuple[int, ...], int]] = {}
        for monomial, coefficient in offset.items():
            if monomial:
                at = max(depth, self.atoms.depth(monomial))
                parts.setdefault(at, {})[monomial] = coefficient
        element = memory_type(buffer.element)
        for at in sorted(parts):
            if at >= LANE_DEPTH:
                raise LaneDependentError
            depth = at
            pointer = self._step(pointer, self.index(parts[at]), element, depth)
        last = add(extra, constant(offset.get((), 0)))
        if (number := constant_value(last)) is None:
            depth = max(depth, self.atoms.poly_depth(last))
            return self._step(pointer, self.index(last), element, depth)
        return self._step(pointer, self.integer(number), element, depth) if number else pointer

    def _step(self, pointer: SSAValue, count: SSAValue, element: Attribute, depth: int) -> SSAValue:
        scope = self.scopes[depth]
        key = ("step", pointer, count, element)
        if (found := scope.cache.get(key)) is None:
            if isinstance(count.owner, base.ConstantOp):
                number = cast(IntegerAttr, count.owner.value).value.data
                if -(1 << 31) < number < 1 << 31:
                    found = self.emit(memory.GEPOp, (pointer,), POINTER, _constant_step(element, number), depth)
                    scope.cache[key] = found
                    return found
            found = self.emit(memory.GEPOp, (pointer, count), POINTER, _step(element), depth)
            scope.cache[key] = found
        return found
