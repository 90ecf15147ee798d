"""
Which iterations of loops depend on each other through memory.

Two accesses of one buffer, at least one of them a write, conflict where their indices are equal. For iterations `I` and
`J` of two loops (or of one) that access `a` and `b`, each dimension of the buffer gives an equation `a(I) = b(J)`. With
equal coefficients `c` of `I` and `J` it bounds the distance `J - I = rest / c`, where `rest` are all other terms within
their bounds: inner loops, lanes and values computed in the loops count as different on both sides, what is defined
outside is the same and cancels. This is exact for the tiled and shifted accesses that the lowering makes, and
conservative for the rest: an unknown distance counts as any.

Distinct arguments of a function and distinct allocations do not overlap, by the calling convention of this level.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from aicc.dialects.loops.access import LoadOp, StoreOp, access_of
from aicc.dialects.loops.affine_text import canonical_access
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.memory import AllocOp, CopyOp, ViewOp
from aicc.dialects.loops.prefetch import leaves_memory_alone
from aicc.dialects.tensor_ops.affine import UNBOUNDED, Bounds, Simplifier, substitute
from aicc.transforms.loops_index import IndexBounds

Interval = tuple[int | None, int | None]
"""Smallest and largest distance, inclusive; `None` where there is no bound."""


@dataclass(frozen=True)
class Access:
    """A read or write of memory by one op."""

    op: Operation
    root: SSAValue | None
    """The buffer behind all views; `None` for an op that may touch any memory."""

    memref: SSAValue | None
    writes: bool
    indices: tuple[AffineExpr, ...] | None
    """One per dimension of `memref`, over `operands` and then lanes; `None` for any element of `root`."""

    operands: tuple[SSAValue, ...] = ()
    lanes: tuple[int, ...] = ()


def root_of(memref: SSAValue) -> SSAValue:
    """The buffer that a chain of views looks at."""
    while isinstance(view := memref.owner, ViewOp):
        memref = view.source
    return memref


def accesses_of(root: Operation, writes_only: bool = False) -> list[Access]:
    """The accesses, or only the writes, of an op and all ops in it."""
    found: list[Access] = []
    for op in root.walk():
        match op:
            case LoadOp():
                if not writes_only:
                    found.append(_element_access(op, op.operands[0], writes=False))
            case StoreOp():
                found.append(_element_access(op, op.operands[1], writes=True))
            case CopyOp():
                if not writes_only:
                    found.append(Access(op, root_of(op.source), op.source, False, None))
                found.append(Access(op, root_of(op.target), op.target, True, None))
            case ForOp() | YieldOp() | AllocOp() | ViewOp():
                pass
            case _ if leaves_memory_alone(op) or op.regions:
                # What ops with regions do is in the ops of these.
                pass
            case _:
                memrefs = [value for value in op.operands if isinstance(value.type, MemRefType)]
                found += [Access(op, root_of(value), value, True, None) for value in memrefs]
                if not memrefs:
                    found.append(Access(op, None, None, True, None))
    return found


def _element_access(op: LoadOp | StoreOp, memref: SSAValue, writes: bool) -> Access:
    affine_map, operands, lanes = access_of(op)
    return Access(op, root_of(memref), memref, writes, affine_map.results, operands, lanes)


def is_inside(value: SSAValue, loop: ForOp) -> bool:
    """Whether a value is defined in the body of `loop`, its own block arguments included."""
    op: Operation | None = value.op if isinstance(value, OpResult) else None
    if isinstance(value, BlockArgument):
        op = value.block.parent_op()
        if op is loop:
            return True
    while op is not None:
        op = op.parent_op()
        if op is loop:
            return True
    return False


def may_conflict(a: Access, b: Access) -> bool:
    """Whether the two may touch one buffer, and one of them writes."""
    if not (a.writes or b.writes):
        return False
    return a.root is None or b.root is None or a.root is b.root


class Dependence:
    """Answers questions about the loops of one function; remembers bounds of index values."""

    def __init__(self) -> None:
        self.bounds = IndexBounds()

    # One pair of accesses

    def distance(self, first: ForOp, a: Access, second: ForOp, b: Access) -> Interval | None:
        """
        `J - I` over all iterations `I` of `first` and `J` of `second` in which `a` and `b` touch one element.

        In values of the induction variables. `None` if they never do. `first` and `second` may be the same loop.
        """
        if a.indices is None or b.indices is None or a.memref is not b.memref or a.memref is None:
            return UNBOUNDED
        if is_inside(a.memref, first) or is_inside(a.memref, second):
            # A buffer of one iteration is known to no other one; a view may look elsewhere in each.
            return (0, 0) if a.memref is a.root else UNBOUNDED
        dims: dict[object, int] = {("I",): 0, ("J",): 1}
        bounds: list[Bounds] = [self.bounds.of(first.induction), self.bounds.of(second.induction)]
        left = self._place(a, first, ("I",), 0, dims, bounds)
        right = self._place(b, second, ("J",), 1, dims, bounds)
        simplifier = Simplifier(bounds)
        low, high = self._span(first, second)
        for x, y in zip(left, right, strict=True):
            interval = _solve(simplifier, x, y)
            if interval is None:
                return None
            low, high = _intersect((low, high), interval)
            if low == high == 0:
                # The same iteration or none at all: nobody asks which.
                return (0, 0)
        if _same_grid(first, second):
            step = first.step_value
            low, high = None if low is None else -(-low // step) * step, None if high is None else high // step * step
        return None if low is not None and high is not None and low > high else (low, high)

    def _place(
        self,
        access: Access,
        loop: ForOp,
        induction: object,
        side: int,
        dims: dict[object, int],
        bounds: list[Bounds],
    ) -> list[AffineExpr]:
        """The indices of `access` over variables common to both sides, or of its own where they vary in the loop."""

        def variable(key: object, limit: Bounds) -> AffineExpr:
            if key not in dims:
                dims[key] = len(bounds)
                bounds.append(limit)
            return AffineDimExpr(dims[key])

        replaced: dict[int, AffineExpr] = {}
        for position, value in enumerate(access.operands):
            if value is loop.induction:
                replaced[position] = variable(induction, UNBOUNDED)
            else:
                key: object = (side, value) if is_inside(value, loop) else value
                replaced[position] = variable(key, self.bounds.of(value))
        for lane, size in enumerate(access.lanes):
            replaced[len(access.operands) + lane] = variable((side, access.op, lane), (0, size - 1))
        assert access.indices is not None
        return [substitute(expr, replaced) for expr in access.indices]

    def _span(self, first: ForOp, second: ForOp) -> Interval:
        """`J - I` over all iterations at all."""
        (low_i, high_i), (low_j, high_j) = self.bounds.of(first.induction), self.bounds.of(second.induction)
        return (
            None if low_j is None or high_i is None else low_j - high_i,
            None if high_j is None or low_i is None else high_j - low_i,
        )

    def overlap(self, a: Access, b: Access) -> bool:
        """Whether the two may touch one element in one run of the block around both."""
        if not may_conflict(a, b):
            return False
        if a.indices is None or b.indices is None or a.memref is not b.memref:
            return True
        dims: dict[SSAValue | tuple[int, int], int] = {}
        bounds: list[Bounds] = []
        sides: list[list[AffineExpr]] = []
        for side, access in enumerate((a, b)):
            replaced: dict[int, AffineExpr] = {}
            keys = [*access.operands, *((side, lane) for lane in range(len(access.lanes)))]
            for position, key in enumerate(keys):
                if key not in dims:
                    dims[key] = len(bounds)
                    limit = (0, access.lanes[key[1]] - 1) if isinstance(key, tuple) else self.bounds.of(key)
                    bounds.append(limit)
                replaced[position] = AffineDimExpr(dims[key])
            assert access.indices is not None
            sides.append([substitute(expr, replaced) for expr in access.indices])
        simplifier = Simplifier(bounds)
        return all(_contains_zero(simplifier.bounds(x + y * -1)) for x, y in zip(sides[0], sides[1], strict=True))

    # Loops

    def carried(self, loop: ForOp) -> str | None:
        """What one iteration of `loop` passes to another one through memory or values; `None` if nothing."""
        if loop.inits:
            return "it carries a value from one iteration to the next"
        return self.carried_in_memory(loop)

    def carried_in_memory(self, loop: ForOp) -> str | None:
        """What one iteration of `loop` passes to another one through memory; `None` if nothing."""
        found = [a for a in accesses_of(loop) if a.root is None or not is_inside(a.root, loop)]
        for position, a in enumerate(found):
            for b in found[position:]:
                if may_conflict(a, b) and self.distance(loop, a, loop, b) not in (None, (0, 0)):
                    return f"{_describe(a)} and {_describe(b)} may touch one element in different iterations"
        return None

    def is_parallel(self, loop: ForOp) -> bool:
        """Whether the iterations of `loop` are independent: it says so, or it can be proved."""
        return loop.is_parallel or self.carried(loop) is None

    def fusion(self, first: ForOp, second: ForOp) -> tuple[str | None, bool]:
        """
        Why iteration `I` of `second` may not run right after iteration `I` of `first` (`None` if it may), and whether
        the iterations of the two together are independent, given that those of each are.

        The loops must run over the same indices. Only memory is looked at.
        """
        independent = True
        theirs = accesses_of(second)
        for a in accesses_of(first):
            for b in theirs:
                if not may_conflict(a, b) or (distance := self.distance(first, a, second, b)) is None:
                    continue
                if distance[0] is None or distance[0] < 0:
                    return f"{_describe(b)} may need what {_describe(a)} does in a later iteration", False
                independent = independent and distance == (0, 0)
        return None, independent

    def may_swap(self, ops: Iterable[Operation], others: Iterable[Operation]) -> bool:
        """Whether neighbouring groups of ops may change places, as far as memory is concerned."""
        theirs = [access for other in others for access in accesses_of(other)]
        return not any(self.overlap(a, b) for op in ops for a in accesses_of(op) for b in theirs)


def _same_grid(first: ForOp, second: ForOp) -> bool:
    """Whether induction variables of the two differ by multiples of the step."""
    if first.step_value != second.step_value:
        return False
    lower = canonical_access(first.lower_map.data, first.lower_operands)
    return lower == canonical_access(second.lower_map.data, second.lower_operands)


def _solve(simplifier: Simplifier, x: AffineExpr, y: AffineExpr) -> Interval | None:
    """Bounds of `J - I` where `x(I) = y(J)`; `None` if that has no solution. `I` is dimension 0, `J` dimension 1."""
    form = simplifier.linear(x + y * -1)
    if not _contains_zero(simplifier.form_bounds(form)):
        return None
    factor = form.dim_coefficient(0)
    if not factor or form.dim_coefficient(1) != -factor:
        return UNBOUNDED
    rest = {atom: c for atom, c in form.terms.items() if atom not in (AffineDimExpr(0), AffineDimExpr(1))}
    low, high = simplifier.form_bounds(type(form)(rest, form.constant))
    if factor < 0:
        factor, low, high = -factor, None if high is None else -high, None if low is None else -low
    return (None if low is None else -(-low // factor), None if high is None else high // factor)


def _contains_zero(bounds: Bounds) -> bool:
    return (bounds[0] is None or bounds[0] <= 0) and (bounds[1] is None or bounds[1] >= 0)


def _intersect(a: Interval, b: Interval) -> Interval:
    lows = [low for low in (a[0], b[0]) if low is not None]
    highs = [high for high in (a[1], b[1]) if high is not None]
    return max(lows, default=None), min(highs, default=None)


def _describe(access: Access) -> str:
    name = access.root.name_hint if access.root is not None else None
    return f"'{access.op.name}'" + (f" of %{name}" if name else "")
