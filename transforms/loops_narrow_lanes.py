"""
`loops-narrow-lanes`: vectors that are only partly in use become vectors of the registers that are, and a narrow one.

Before (49 of 64 lanes in use):                      After, with registers of 16 lanes:
    %s = for %k ... iter_args(%acc: vector<5x64xf32>)    %s:3 = for %k ... iter_args(%a: vector<5x32xf32>,
      %y = load %b[%k, l1] lanes 49 : vector<1x64xf32>                   %b: vector<5x16xf32>, %c: vector<5x1xf32>)
      ...                                                  ... each of them with what it needs of the loads
    store %s, %c[l0, l1] lanes 49                        store %s#0, %c[l0, l1]; store %s#1, %c[l0, l1 + 32]; ...

Vectors that loops carry have a power of two of lanes (`loops-vectorize`), since LLVM takes others apart, and it
computes with all of them, whatever is stored in the end. Parts are powers of two again, the largest first. All that is
connected lane by lane is taken apart together, up to loads and stores; what permutes or combines lanes keeps its
vectors whole, and so does what is masked by a number that is not known. Where no arithmetic is saved, nothing is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from aicc.dialects.loops import ApplyOp, BroadcastOp, ForOp, LoadOp, StoreOp, YieldOp
from aicc.dialects.loops.access import lanes_of, scalar_of, vector_of
from aicc.dialects.loops.functions import kernels
from aicc.dialects.tensor_ops.affine import substitute
from aicc.transforms.kernel_unit import KernelUnit
from aicc.transforms.loops_facts import element_bytes
from aicc.transforms.loops_vector_plan import is_lanewise
from aicc.transforms.target_facts import TargetFacts, facts_of


@dataclass(frozen=True)
class Part:
    """Some of the lanes of a vector, which become one of their own."""

    first: int
    size: int
    active: int
    """Lanes in use; the others are masked."""


def parts_of(active: int, width: int, facts: TargetFacts) -> list[Part]:
    """The parts of so many lanes, for registers of `width`: powers of two of registers, then what is left over."""
    parts: list[Part] = []
    first, full = 0, active // width
    while full:
        count = 1 << (full.bit_length() - 1)
        parts.append(Part(first, count * width, count * width))
        first, full = first + count * width, full - count
    if rest := active - first:
        size = 1 << (rest - 1).bit_length()
        parts.append(Part(first, size if facts.slots(size, width) < 1 else width, rest))
    return parts


def _active(lanes: SSAValue | None) -> int | None:
    """The number of lanes in use, if it is known."""
    match lanes and lanes.owner:
        case arith.ConstantOp(value=IntegerAttr(value=value)):
            return value.data
        case _:
            return None


@dataclass
class Web:
    """Vectors that are connected lane by lane."""

    lanes: int
    values: set[SSAValue] = field(default_factory=set[SSAValue])
    ops: set[Operation] = field(default_factory=set[Operation])
    """What makes, uses or carries them."""

    active: set[int | None] = field(default_factory=set[int | None])
    """What stores and masked loads say of the lanes in use; None: not known, or all."""

    whole: bool = False
    """Something needs them as they are."""

    def follow(self, start: SSAValue) -> None:
        """Adds all that is connected to `start`."""
        pending = [start]
        while pending and not self.whole:
            value = pending.pop()
            shape = lanes_of(value.type)
            if value in self.values or not shape or shape[-1] == 1:
                continue
            if shape[-1] != self.lanes:
                self.whole = True
                return
            self.values.add(value)
            if isinstance(value, BlockArgument):
                loop = value.block.parent_op()
                if isinstance(loop, ForOp):
                    pending += self._carried(loop, value.index - 1)
                else:
                    self.whole = True
            else:
                pending += self._neighbours(value.owner, value)
            for use in value.uses:
                pending += self._neighbours(use.operation, value)

    def _neighbours(self, op: Operation | Block, value: SSAValue) -> list[SSAValue]:
        """The vectors that `op` connects `value` with."""
        match op:
            case ForOp():
                self.ops.add(op)
                first = len(op.operands) - len(op.inits)
                places = [index - first for index, operand in enumerate(op.operands) if operand is value]
                places += [index for index, result in enumerate(op.results) if result is value]
                return [other for place in places for other in self._carried(op, place)]
            case YieldOp() if isinstance(loop := op.parent_op(), ForOp):
                places = [index for index, operand in enumerate(op.operands) if operand is value]
                return [other for place in places for other in self._carried(loop, place)]
            case LoadOp():
                self.ops.add(op)
                if op.lanes is not None:
                    self.active.add(_active(op.lanes))
                return []
            case StoreOp():
                self.ops.add(op)
                self.active.add(_active(op.lanes))
                return []
            case ApplyOp():
                self.ops.add(op)
                return []
            case BroadcastOp():
                self.ops.add(op)
                return [op.value, op.result]
            case Operation() if op.operands and is_lanewise(op):
                self.ops.add(op)
                return [*op.operands, *op.results]
            case _:
                self.whole = True
                return []

    def _carried(self, loop: ForOp, place: int) -> list[SSAValue]:
        self.ops.add(loop)
        return [loop.inits[place], loop.iter_args[place], loop.yielded[place], loop.results[place]]


def narrow_lanes(kernel: FuncOp, facts: TargetFacts) -> int:
    """Takes vectors apart that are only partly in use; how many webs of them."""
    count = 0
    seen: set[SSAValue] = set()
    # Stores end every web that does anything.
    for op in [op for op in kernel.walk() if isinstance(op, StoreOp) and op.lanes is not None]:
        shape = lanes_of(op.value.type)
        if op.value in seen or shape[-1] == 1 or _active(op.lanes) is None:
            continue
        web = Web(shape[-1])
        web.follow(op.value)
        seen |= web.values
        if web.whole or len(web.active) != 1 or (active := web.active.pop()) is None:
            continue
        width = facts.lanes(8 * max(element_bytes(scalar_of(value.type)) for value in web.values))
        parts = parts_of(active, width, facts)
        if sum(facts.slots(part.size, width) for part in parts) < web.lanes / width:
            _Narrowing(web, parts).run(kernel)
            count += 1
    return count


@dataclass
class _Narrowing:
    """Takes one web apart."""

    web: Web
    parts: Sequence[Part]
    made: dict[SSAValue, Sequence[SSAValue]] = field(default_factory=dict[SSAValue, Sequence[SSAValue]])
    opened: list[tuple[ForOp, ForOp]] = field(default_factory=list[tuple[ForOp, ForOp]])
    """Loops that are to go, and those that carry parts in their place."""

    def run(self, kernel: FuncOp) -> None:
        old = [op for op in kernel.walk() if op in self.web.ops]
        # Definitions come before uses, but for what loops yield.
        for op in old:
            self._split(op)
        for pair in self.opened:
            self._close(*pair)
        for op in reversed(old):
            op.detach()
            op.erase()

    def _of(self, value: SSAValue) -> Sequence[SSAValue]:
        """The parts of a value, or the value for each part."""
        return self.made.get(value, [value] * len(self.parts))

    def _put(self, old: Operation, new: Operation) -> Operation:
        new.location = old.location
        assert old.parent is not None
        old.parent.insert_op_before(new, old)
        return new

    def _split(self, op: Operation) -> None:
        match op:
            case ForOp():
                self._open(op)
                return
            case LoadOp():
                made = [self._load(op, part) for part in self.parts]
            case StoreOp():
                for part, value in zip(self.parts, self._of(op.value), strict=True):
                    self._store(op, part, value)
                return
            case ApplyOp():
                made = [
                    ApplyOp(_moved(op.map.data, part), op.indices, self._type(op.result, part)) for part in self.parts
                ]
            case BroadcastOp():
                rows = lanes_of(op.result.type)[:-1]
                made = [
                    BroadcastOp(value, (*rows, part.size))
                    for part, value in zip(self.parts, self._of(op.value), strict=True)
                ]
            case _:
                operands = [self._of(operand) for operand in op.operands]
                made = [
                    type(op).create(
                        operands=[values[number] for values in operands],
                        result_types=[self._type(result, part) for result in op.results],
                        properties=dict(op.properties),
                        attributes=dict(op.attributes),
                    )
                    for number, part in enumerate(self.parts)
                ]
        for new in made:
            self._put(op, new)
        for position, result in enumerate(op.results):
            self.made[result] = [new.results[position] for new in made]

    def _type(self, value: SSAValue, part: Part) -> Attribute:
        return vector_of(value.type, (*lanes_of(value.type)[:-1], part.size))

    def _mask(self, op: Operation, part: Part) -> SSAValue | None:
        if part.active == part.size:
            return None
        return self._put(op, arith.ConstantOp.from_int_and_width(part.active, IndexType())).results[0]

    def _load(self, op: LoadOp, part: Part) -> LoadOp:
        lanes = None if op.lanes is None else self._mask(op, part)
        return LoadOp(op.memref, _moved(op.map.data, part), op.indices, self._type(op.result, part), lanes, op.fill)

    def _store(self, op: StoreOp, part: Part, value: SSAValue) -> None:
        new = StoreOp(value, op.memref, _moved(op.map.data, part), op.indices, self._mask(op, part))
        new.properties.update(
            (name, op.properties[name]) for name in ("inside", "nontemporal") if name in op.properties
        )
        self._put(op, new)

    def _flat(self, values: Sequence[SSAValue], like: Sequence[SSAValue]) -> list[SSAValue]:
        """The values, in parts where those of `like` are in the web."""
        return [
            part
            for value, other in zip(values, like, strict=True)
            for part in (self._of(value) if other in self.web.values else [value])
        ]

    def _open(self, loop: ForOp) -> None:
        """Puts a loop that carries parts in front of a loop, and moves its body there."""
        new = loop.carrying(self._flat(loop.inits, loop.iter_args))
        self._put(loop, new)
        loop.induction.replace_all_uses_with(new.induction)
        place = 0
        for argument, result in zip(loop.iter_args, loop.results, strict=True):
            count = len(self.parts) if argument in self.web.values else 1
            arguments, results = new.iter_args[place : place + count], new.results[place : place + count]
            place += count
            if argument in self.web.values:
                self.made[argument], self.made[result] = arguments, results
            else:
                argument.replace_all_uses_with(arguments[0])
                result.replace_all_uses_with(results[0])
        for op in list(loop.block.ops):
            op.detach()
            new.block.add_op(op)
        self.opened.append((loop, new))

    def _close(self, loop: ForOp, new: ForOp) -> None:
        """Has a new loop yield parts."""
        end = new.block.last_op
        assert isinstance(end, YieldOp)
        new.block.insert_op_before(YieldOp(*self._flat(end.operands, loop.iter_args)), end)
        end.detach()
        end.erase()


def _moved(access: AffineMap, part: Part) -> AffineMap:
    """The map, for the lanes of a part."""
    last = access.num_dims - 1
    dims: dict[int, AffineExpr] = {last: AffineDimExpr(last) + part.first}
    return AffineMap(access.num_dims, access.num_symbols, tuple(substitute(expr, dims) for expr in access.results))


@dataclass(frozen=True)
class LoopsNarrowLanesPass(ModulePass):
    """Takes vectors that are only partly in use apart, into as many registers as are, in kernels."""

    name = "loops-narrow-lanes"

    target: str = "host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = facts_of(self.target)
        for kernel in kernels(op):
            narrow_lanes(kernel, facts)

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """The pass on one kernel."""
        narrow_lanes(unit.kernel, facts_of(self.target))
