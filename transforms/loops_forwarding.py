"""
Values that are in memory and in a register: loads of what was just stored or loaded give way to the value itself.

Within one run of a block, and into the loops inside it as far as nothing there writes to the place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineMap

from aicc.dialects.loops.access import LoadOp, StoreOp, access_of
from aicc.transforms.loops_dependence import Access, Dependence, accesses_of

Place = tuple[SSAValue, AffineMap, tuple[SSAValue, ...], tuple[int, ...]]
"""Memref, map, operands, lanes: equal for accesses of the same elements."""


@dataclass
class _Known:
    """Which values the elements at some places have, by buffer."""

    by_root: dict[SSAValue, dict[Place, tuple[Access, SSAValue]]] = field(
        default_factory=dict[SSAValue, dict[Place, tuple[Access, SSAValue]]]
    )

    def copy(self) -> _Known:
        """The same knowledge, to be changed independently."""
        return _Known({root: dict(places) for root, places in self.by_root.items()})

    def get(self, root: SSAValue, place: Place) -> SSAValue | None:
        """The value at a place."""
        found = self.by_root.get(root, {}).get(place)
        return None if found is None else found[1]

    def set(self, access: Access, place: Place, value: SSAValue) -> None:
        """Remembers the value at a place."""
        assert access.root is not None
        self.by_root.setdefault(access.root, {})[place] = (access, value)

    def forget(self, write: Access, dependence: Dependence) -> None:
        """Drops what a write may change."""
        if write.root is None:
            self.by_root.clear()
            return
        places = self.by_root.get(write.root, {})
        for place in [place for place, (access, _) in places.items() if dependence.overlap(write, access)]:
            del places[place]


def forward_values(block: Block) -> int:
    """Replaces loads in `block` and the regions inside by values already at hand; the number of those replaced."""
    return _forward(block, _Known(), Dependence())


def _forward(block: Block, known: _Known, dependence: Dependence) -> int:
    count = 0
    for op in list(block.ops):
        if isinstance(op, LoadOp):
            count += _load(op, known)
        elif isinstance(op, StoreOp):
            (access,) = accesses_of(op)
            known.forget(access, dependence)
            if op.lanes is None and op.inside is None:
                known.set(access, _place(op), op.value)
        else:
            for access in accesses_of(op, writes_only=True):
                known.forget(access, dependence)
            for region in op.regions:
                for inner in region.blocks:
                    count += _forward(inner, known.copy(), dependence)
    return count


def _load(op: LoadOp, known: _Known) -> int:
    if op.lanes is not None:
        return 0
    (access,) = accesses_of(op)
    assert access.root is not None
    place = _place(op)
    if (value := known.get(access.root, place)) is not None and value.type == op.result.type:
        op.result.replace_all_uses_with(value)
        op.detach()
        op.erase()
        return 1
    if op.fill is None:
        known.set(access, place, op.result)
    return 0


def _place(op: LoadOp | StoreOp) -> Place:
    return (op.operands[0 if isinstance(op, LoadOp) else 1], *access_of(op))
