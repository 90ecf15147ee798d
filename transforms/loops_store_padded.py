"""
`loops-store-padded`: results that are only read through padded copies are stored with the padding around them.

Before: %r = alloc : memref<7x7x64xf32>              After: %r = alloc : memref<9x9x64xf32>
        call @a(%x, %r)                                     call @a(%x, %r)
        call @b(%r, %w, %o)                                 call @b(%r, %w, %o)
        @a: %r[%i, %j, %c] = ..                             @a: %r[%i + 1, %j + 1, %c] = .. and the margin = 0
        @b: %p = alloc : memref<9x9x64xf32>                 @b: .. = %r[..]
            %p[%i, %j, %c] = %r[%i - 1, %j - 1, %c] fill 0
            .. = %p[..]

The copy costs as much as a small convolution itself; the margin alone is a small part of it. A buffer changes if each
kernel that reads it makes a padded copy of it, as do all kernels of the other buffers that are passed for the same
arguments. Where the paddings differ, the margin is as wide as the widest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.loops import AllocOp, CallOp
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.functions import is_kernel, num_scratch, outputs_of
from aicc.transforms.loops_margins import (
    Margin,
    PaddedCopy,
    find_padded_copy,
    is_only_stored,
    read_in_place,
    write_with_margin,
)

Slot = tuple[str, int]
"""An argument of a kernel, by the kernel's name and the argument's position."""


def _joined(margins: Sequence[Margin | None]) -> Margin | None:
    """The margin that holds all of them; `None` if one is missing or there is no such."""
    common = margins[0] if margins else None
    for margin in margins[1:]:
        if common is None or margin is None:
            return None
        common = common.join(margin)
    return common


@dataclass
class Plan:
    """Which buffers get a margin, and what the kernels that see them do now."""

    kernels: dict[str, FuncOp]
    calls: list[CallOp]
    copies: dict[Slot, PaddedCopy | None] = field(default_factory=dict[Slot, "PaddedCopy | None"])
    chosen: dict[SSAValue, Margin] = field(default_factory=dict[SSAValue, Margin])

    def copy_of(self, slot: Slot) -> PaddedCopy | None:
        """The padded copy that a kernel makes of an argument."""
        if slot not in self.copies:
            self.copies[slot] = find_padded_copy(self.kernels[slot[0]].args[slot[1]])
        return self.copies[slot]

    def choose(self) -> None:
        """Finds all buffers that may change, and drops those that calls don't agree on."""
        for buffer in dict.fromkeys(value for call in self.calls for value in call.arguments):
            if isinstance(buffer.owner, AllocOp) and (margin := self._margin_of(buffer)) is not None:
                self.chosen[buffer] = margin
        slots: dict[Slot, list[SSAValue]] = {}
        for call in self.calls:
            for position, value in enumerate(call.arguments):
                if isinstance(value.type, MemRefType):
                    slots.setdefault((call.callee_name, position), []).append(value)
        pending = True
        while pending:
            pending = False
            for values in slots.values():
                pending = self._agree(values) or pending

    def _agree(self, values: Sequence[SSAValue]) -> bool:
        """Gives the buffers that calls pass for one argument the same margin, or none; whether that changes any."""
        old = [self.chosen.get(value) for value in values]
        common = _joined(old)
        if all(margin == common for margin in old):
            return False
        for value in values:
            if common is None:
                self.chosen.pop(value, None)
            else:
                self.chosen[value] = common
        return True

    def _margin_of(self, buffer: SSAValue) -> Margin | None:
        """The margin that all readers of a buffer put around it, if one kernel fills it and can do so itself."""
        margins: list[Margin] = []
        writers = 0
        for use in buffer.uses:
            call = use.operation
            if not isinstance(call, CallOp) or call.callee_name not in self.kernels:
                return None
            kernel = self.kernels[call.callee_name]
            argument = kernel.args[use.index]
            if argument in outputs_of(kernel):
                if not is_only_stored(argument) or num_scratch(kernel):
                    return None
                writers += 1
            elif (copy := self.copy_of((call.callee_name, use.index))) is not None:
                margins.append(copy.margin)
            else:
                return None
        return _joined(margins) if writers == 1 else None

    def slots(self) -> Iterator[tuple[Slot, Margin]]:
        """The arguments of kernels that change."""
        seen: set[Slot] = set()
        for call in self.calls:
            for position, value in enumerate(call.arguments):
                slot = (call.callee_name, position)
                if value in self.chosen and slot not in seen:
                    seen.add(slot)
                    yield slot, self.chosen[value]


@dataclass(frozen=True)
class LoopsStorePaddedPass(ModulePass):
    """Stores results with the padding that their readers need."""

    name = "loops-store-padded"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [function for function in op.body.block.ops if isinstance(function, FuncOp)]
        kernels = {function.sym_name.data: function for function in functions if is_kernel(function)}
        callers = [function for function in functions if not is_kernel(function)]
        calls = [call for function in callers for call in function.walk() if isinstance(call, CallOp)]
        plan = Plan(kernels, [call for call in calls if call.callee_name in kernels])
        plan.choose()
        for (name, position), margin in list(plan.slots()):
            kernel = kernels[name]
            argument = kernel.args[position]
            if argument in outputs_of(kernel):
                write_with_margin(kernel, argument, margin)
            elif (copy := plan.copy_of((name, position))) is not None:
                read_in_place(kernel, argument, copy, margin)
        for buffer, margin in plan.chosen.items():
            old = buffer.owner
            assert isinstance(old, AllocOp) and old.parent is not None
            new = AllocOp(margin.around(memref_of(buffer)))
            new.location, new.result.name_hint = old.location, buffer.name_hint
            old.parent.insert_op_before(new, old)
            buffer.replace_all_uses_with(new.result)
            old.detach()
            old.erase()
