"""
`loops-apply-schedules`: carries out the schedules of a module's kernels, then removes them.

Before: transform.named_sequence @k_schedule(%k: !transform.any_op) {    After: @k with its loops tiled, no sequence
          %l = schedule.loop %k {label = "s0_d0"}
          %o, %i, %t = schedule.tile %l {sizes = array<i64: 16>}
          ... }
        func.func private @k(...) { plain nest }

A handle is a list of ops: the kernel, or loops. A step that cannot be done is an error that names the step, the loop
and the reason, at the op of the schedule; in a schedule that the automatic scheduler made, it is a warning, and the
kernel stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.dialects.transform import YieldOp as SequenceYieldOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.graph.dims import Dim, ShapeAttr, symbols_of
from aicc.dialects.loops import ForOp
from aicc.dialects.loops.functions import find_function, symbol_names
from aicc.dialects.schedule.bypass import BypassCachesOp, PrivatizeOp, ReadAheadOp
from aicc.dialects.schedule.ops import (
    CollapseOp,
    FuseOp,
    InterchangeOp,
    LoopOp,
    PackOp,
    SelectOp,
    SplitOp,
    StageOp,
    TileOp,
    UnrollOp,
    VectorizeOp,
)
from aicc.dialects.schedule.prefetch import PrefetchOp
from aicc.dialects.schedule.reductions import PartialResultsOp, SplitReductionOp
from aicc.dialects.schedule.rows import TileSomeOp, VectorizeRowsOp
from aicc.dialects.schedule.threads import ParallelizeOp
from aicc.transforms.auto_schedule_callers import constant_buffers
from aicc.transforms.diagnostics import fail, note, warn
from aicc.transforms.kernel_clock import kernel_time
from aicc.transforms.kernel_unit import Callers, KernelUnit, PackerUnit
from aicc.transforms.loops_buffers import shrink_buffers
from aicc.transforms.loops_bypass_caches import bypass_caches
from aicc.transforms.loops_collapse import collapse_loops
from aicc.transforms.loops_fuse import fuse_loops
from aicc.transforms.loops_interchange import interchange_loops
from aicc.transforms.loops_nest import StepError, find_loops
from aicc.transforms.loops_pack import (
    Packing,
    declare_packer,
    pack_argument,
    pack_at_calls,
    packer_name,
    packing_for,
    read_packed,
    same_packer,
)
from aicc.transforms.loops_parallelize import parallelize_loops
from aicc.transforms.loops_partial_results import partial_results
from aicc.transforms.loops_prefetch import prefetch_input
from aicc.transforms.loops_privatize import privatize
from aicc.transforms.loops_read_ahead import read_ahead
from aicc.transforms.loops_split import split_loop
from aicc.transforms.loops_split_reduction import split_reduction
from aicc.transforms.loops_stage import stage_input
from aicc.transforms.loops_tile import tile_loops
from aicc.transforms.loops_tile_some import tile_some
from aicc.transforms.loops_unroll import unroll_loop
from aicc.transforms.loops_vectorize import vectorize_loops, vectorize_rows
from aicc.transforms.schedule_writer import ATTRIBUTE, AUTOMATIC, SUFFIX


@dataclass
class Run:
    """A schedule being carried out on a kernel."""

    kernel: FuncOp
    pack: Callable[[int, Packing], object]
    """Makes the kernel read an argument from a packed copy."""

    handles: dict[SSAValue, list[Operation]] = field(default_factory=dict[SSAValue, list[Operation]])

    def loops(self, step: Operation, handle: SSAValue) -> list[ForOp]:
        """The loops of a handle, all of which must still be there."""
        loops = [op for op in self._ops(step, handle) if isinstance(op, ForOp)]
        if len(loops) != len(self.handles[handle]):
            fail(step, "the handle stands for the kernel, expected loops")
        return loops

    def zipped(self, step: Operation, handles: Sequence[SSAValue]) -> list[tuple[ForOp, ...]]:
        """The loops of several handles of equal length, one of each at a time."""
        lists = [self.loops(step, handle) for handle in handles]
        if len(lengths := {len(loops) for loops in lists}) > 1:
            fail(step, f"the handles stand for {', '.join(map(str, sorted(lengths)))} loops, expected as many of each")
        return list(zip(*lists, strict=True))

    def _ops(self, step: Operation, handle: SSAValue) -> list[Operation]:
        ops = self.handles[handle]
        for op in ops:
            if op is not self.kernel and not self._attached(op):
                label = f"'{op.label.data}' " if isinstance(op, ForOp) else ""
                fail(step, f"the loop {label}that the handle stood for has been replaced by an earlier step")
        return ops

    def _attached(self, op: Operation) -> bool:
        current: Operation | None = op
        while current is not None and current is not self.kernel:
            current = current.parent_op()
        return current is self.kernel

    def roots(self, step: Operation, handle: SSAValue) -> list[Operation]:
        """The ops of a handle."""
        return self._ops(step, handle)


def _loop(run: Run, op: LoopOp) -> None:
    roots = run.roots(op, op.root)
    found = [loop for root in roots for loop in find_loops(root, op.label.data)]
    if not found:
        have = dict.fromkeys(x.label.data for root in roots for x in root.walk() if isinstance(x, ForOp))
        fail(op, f"no loop is labelled '{op.label.data}'; there are {', '.join(have) or 'no loops'}")
    run.handles[op.result] = list(found)


def _select(run: Run, op: SelectOp) -> None:
    loops = run.handles[op.handle]
    for position in op.chosen:
        if position >= len(loops):
            fail(op, f"position {position} of a handle that stands for {len(loops)} loops")
    run.handles[op.result] = [loops[position] for position in op.chosen]


def _tile(run: Run, op: TileOp) -> None:
    count = len(op.loops)
    lists: list[list[Operation]] = [[] for _ in op.results]
    for loops in run.zipped(op, op.loops):
        tiled = tile_loops(loops, op.tile_sizes, op.tile_tails)
        for position in range(count):
            lists[position] += tiled.outers[position]
            lists[count + position] += tiled.inners[position]
        lists[-1] += tiled.peeled
    run.handles.update(zip(op.results, lists, strict=True))


def _tile_some(run: Run, op: TileSomeOp) -> None:
    most = _size(run, "most", op, op.most)
    made = [tile_some(loop, op.size.value.data, most) for loop in run.loops(op, op.loop)]
    for position, result in enumerate(op.results):
        run.handles[result] = [loops[position] for loops in made]


def _interchange(run: Run, op: InterchangeOp) -> None:
    lists: list[list[Operation]] = [[] for _ in op.results]
    for loops in run.zipped(op, op.loops):
        for found, loop in zip(lists, interchange_loops(loops, op.new_order), strict=True):
            found.append(loop)
    run.handles.update(zip(op.results, lists, strict=True))


def _collapse(run: Run, op: CollapseOp) -> None:
    pairs = run.zipped(op, (op.outer, op.inner))
    run.handles[op.result] = [collapse_loops(outer, inner) for outer, inner in pairs]


def _fuse(run: Run, op: FuseOp) -> None:
    pairs = run.zipped(op, (op.first, op.second))
    run.handles[op.result] = [fuse_loops(first, second) for first, second in pairs]
    shrink_buffers(run.kernel)


def _split(run: Run, op: SplitOp) -> None:
    pairs = [split_loop(loop, op.size.value.data) for loop in run.loops(op, op.loop)]
    run.handles[op.outer] = [outer for outer, _ in pairs]
    run.handles[op.inner] = [inner for _, inner in pairs]


def _split_reduction(run: Run, op: SplitReductionOp) -> None:
    pairs = run.zipped(op, (op.loop, op.around))
    made = [split_reduction(around, loop, op.size.value.data, op.mask is not None) for loop, around in pairs]
    run.handles[op.blocks] = [loops[0] for loops in made]
    run.handles[op.rest] = [loop for loops in made for loop in loops[1:]]


def _partial_results(run: Run, op: PartialResultsOp) -> None:
    pairs = [partial_results(loop, op.size.value.data) for loop in run.loops(op, op.loop)]
    run.handles[op.parts] = [parts for parts, _ in pairs]
    run.handles[op.combine] = [combine for _, combine in pairs]


def _stage(run: Run, op: StageOp) -> None:
    for loop in run.loops(op, op.loop):
        stage_input(run.kernel, loop, op.argument.value.data, Packing(op.tile_sizes, op.new_order))


def _prefetch(run: Run, op: PrefetchOp) -> None:
    around = run.loops(op, op.around)
    argument, line, locality = (number.value.data for number in (op.argument, op.line, op.locality))
    for loop in run.loops(op, op.within):
        prefetch_input(run.kernel, around, loop, argument, line, locality)


def _unroll(run: Run, op: UnrollOp) -> None:
    for loop in run.loops(op, op.loop):
        unroll_loop(loop, op.factor.value.data)


def _vectorize(run: Run, op: VectorizeOp) -> None:
    for loops in run.zipped(op, op.loops):
        vectorize_loops(loops)


def _vectorize_rows(run: Run, op: VectorizeRowsOp) -> None:
    rows = run.loops(op, op.rows)
    if len(rows) != 1:
        fail(op, f"the handle of the rows stands for {len(rows)} loops, expected one")
    vectorize_rows(rows[0], [loop for handle in op.lanes for loop in run.loops(op, handle)])


def _parallelize(run: Run, op: ParallelizeOp) -> None:
    worth = _worth(run, op)
    for loops in run.zipped(op, op.loops):
        parallelize_loops(loops, op.iterations, op.least_iterations, worth, op.within is not None)


def _worth(run: Run, op: ParallelizeOp) -> tuple[Dim, int] | None:
    """What all iterations do together, and how much of it is worth a thread, if that is how the step tells."""
    if op.work is None or op.part is None:
        return None
    return _size(run, "work", op, op.work), op.part.value.data


def _size(run: Run, what: str, op: Operation, value: Attribute) -> Dim:
    """A size that a step names, of symbols of the kernel."""
    if not isinstance(value, ShapeAttr) or len(value.data) != 1:
        fail(op, f"{what} is {value}, expected one size: #graph.shape<...>")
    known = symbol_names(run.kernel)
    for name in symbols_of(value.data):
        if name not in known:
            fail(op, f"{what} names '{name}', expected sizes of the kernel: {', '.join(known) or 'it has none'}")
    return value.data[0]


def _pack(run: Run, op: PackOp) -> None:
    if run.roots(op, op.kernel) != [run.kernel]:
        fail(op, "the handle stands for loops, expected the kernel")
    run.pack(op.argument.value.data, Packing(op.tile_sizes, op.new_order))


def _bypass_caches(run: Run, op: BypassCachesOp) -> None:
    if run.roots(op, op.kernel) != [run.kernel]:
        fail(op, "the handle stands for loops, expected the kernel")
    bypass_caches(run.kernel, op.argument.value.data)


def _privatize(run: Run, op: PrivatizeOp) -> None:
    for loop in run.loops(op, op.loop):
        privatize(run.kernel, loop, op.argument.value.data)
    shrink_buffers(run.kernel)


def _read_ahead(run: Run, op: ReadAheadOp) -> None:
    if run.roots(op, op.kernel) != [run.kernel]:
        fail(op, "the handle stands for loops, expected the kernel")
    read_ahead(run.kernel, op.argument.value.data, op.elements.value.data)


_STEPS: dict[type[Operation], Callable[[Run, Operation], None]] = {
    BypassCachesOp: _bypass_caches,
    CollapseOp: _collapse,
    FuseOp: _fuse,
    InterchangeOp: _interchange,
    LoopOp: _loop,
    PackOp: _pack,
    ParallelizeOp: _parallelize,
    PartialResultsOp: _partial_results,
    PrivatizeOp: _privatize,
    ReadAheadOp: _read_ahead,
    PrefetchOp: _prefetch,
    SelectOp: _select,
    SplitOp: _split,
    SplitReductionOp: _split_reduction,
    StageOp: _stage,
    TileOp: _tile,
    TileSomeOp: _tile_some,
    UnrollOp: _unroll,
    VectorizeOp: _vectorize,
    VectorizeRowsOp: _vectorize_rows,
}  # pyright: ignore[reportAssignmentType]


def apply_schedule(module: ModuleOp, kernel: FuncOp, sequence: NamedSequenceOp, constants: Collection[int]) -> None:
    """
    Carries out the steps of `sequence` on `kernel`, of whose inputs `constants` are constants in every call.

    Where a step of an automatic schedule cannot be done, the kernel is left as it was after the last packing, which
    reaches beyond the kernel, with a warning.

    Raises:
        LocatedPassError: at the first step that cannot be done, in a schedule that is not automatic.
    """

    def pack(argument: int, packing: Packing) -> None:
        pack_argument(module, kernel, argument, packing, is_constant=argument in constants)

    _carry_out(Run(kernel, pack), sequence)


def _carry_out(run: Run, sequence: NamedSequenceOp) -> None:
    kernel = run.kernel
    run.handles[sequence.body.block.args[0]] = [kernel]
    automatic = AUTOMATIC in sequence.attributes
    saved = kernel.body.clone() if automatic else None
    for op in sequence.body.block.ops:
        if isinstance(op, SequenceYieldOp):
            break
        step = _STEPS.get(type(op))
        if step is None:
            fail(op, f"{op.name} is not a step that loops-apply-schedules knows")
        try:
            step(run, op)
            if automatic and isinstance(op, PackOp):
                saved = kernel.body.clone()
        except StepError as error:
            if saved is not None:
                warn(kernel, f"not scheduled any further: {error}")
                _replace_body(kernel, saved)
                return
            fail(op, str(error), note(f"in the schedule of @{kernel.sym_name.data}", kernel))


def _replace_body(kernel: FuncOp, body: Region) -> None:
    old = kernel.body
    kernel.detach_region(old)
    old.erase()
    kernel.add_region(body)


def schedules(module: ModuleOp) -> list[NamedSequenceOp]:
    """The schedules of kernels in the module."""
    return [op for op in module.body.block.ops if isinstance(op, NamedSequenceOp) and op.sym_name.data.endswith(SUFFIX)]


@dataclass(frozen=True)
class LoopsApplySchedulesPass(ModulePass):
    """Carries out the schedules of kernels and removes them."""

    name = "loops-apply-schedules"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sequences = schedules(op)
        constants = constant_buffers(op) if sequences else {}
        for sequence in sequences:
            name = sequence.sym_name.data.removesuffix(SUFFIX)
            kernel = find_function(op, name)
            if kernel is None:
                fail(sequence, f"a schedule for the kernel @{name}, which does not exist")
            with kernel_time("apply", name):
                apply_schedule(op, kernel, sequence, constants.get(name, frozenset()))
            sequence.detach()
            sequence.erase()
        for other in op.body.block.ops:
            if isinstance(other, NamedSequenceOp) and any(type(step) in _STEPS for step in other.body.block.ops):
                name = other.sym_name.data
                fail(other, f"@{name} has steps of a schedule, expected it to be named for a kernel: @<kernel>{SUFFIX}")
        if not any(isinstance(left, NamedSequenceOp) for left in op.body.block.ops):
            op.attributes.pop(ATTRIBUTE, None)

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """Carries out the schedule of one kernel; what that asks of its callers is noted in `unit`."""
        if unit.sequence is None:
            return

        def pack(argument: int, packing: Packing) -> None:
            unit.demands.packs.append(read_packed(unit.kernel, argument, packing))

        with kernel_time("apply", unit.name):
            _carry_out(Run(unit.kernel, pack), unit.sequence)

    def apply_to_callers(self, callers: Callers) -> None:
        """Makes the callers of kernels pack arguments."""
        constants = constant_buffers(callers.module)
        for kernel, demands in callers.demands():
            for packed in demands.packs:
                is_constant = packed.argument in constants.get(kernel.sym_name.data, ())
                made, symbols = packing_for(kernel, packed, is_constant=is_constant)
                packer = same_packer(callers.module, made)
                if packer is None:
                    name = packer_name(kernel, packed)
                    packer = declare_packer(name, symbols, made, kernel.location)
                    callers.module.body.block.insert_op_before(packer, kernel)
                    callers.packers.append(PackerUnit(name, symbols, made))
                pack_at_calls(callers.module, kernel, packed, packer)
                types = list(kernel.function_type.inputs.data)
                types[len(symbol_names(kernel)) + packed.argument] = packed.copy
                kernel.function_type = FunctionType.from_lists(types, [])
