"""
`loops-stage`: the body of a loop reads an input of the kernel from a copy of the part that it needs, made on entry.

Before: for "j" %j = 0 to 8 parallel {            After: for "j" %j = 0 to 8 parallel {
          for "i" %i = 0 to 100 parallel {                  %p = alloc : memref<64x16xf32>
            for "c" %c = 0 to 16 parallel {                 for "k.s" %k = 0 to 64 { for "c.s" %c = 0 to 16 {
              for "k" %k = 0 to 64 ... {                      store load %b[%k, %j * 16 + %c], %p[%k, %c] } }
                load %b[%k, %j * 16 + %c]                   for "i" ... { for "c" ... { for "k" ... {
                                                              load %p[%k, %c]

The copy is small, contiguous and in the order of use: it stays in a near cache, in few pages and without conflicts
between cache sets, while all of `i` goes by. In contrast to `loops-pack` nothing is written to memory, and each thread
copies what it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from aicc.dialects.loops import AllocOp, ForOp, LoadOp, StoreOp, YieldOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.affine_text import canonical_access
from aicc.dialects.loops.attrs import LoopKind, memref_dims, memref_of, memref_type
from aicc.dialects.loops.functions import num_outputs
from aicc.dialects.loops.memory import ON_STACK
from aicc.dialects.tensor_ops.affine import linear_form
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import element_bytes
from aicc.transforms.loops_index import IndexBounds, fold_index_ops, set_operands
from aicc.transforms.loops_nest import StepError, kernels_with, labelled
from aicc.transforms.loops_pack import Packing, check_layout, kernel_buffers
from aicc.transforms.loops_parts import Part, part_of, varies_in
from aicc.transforms.loops_tile import tile_loops
from aicc.transforms.loops_vectorize import vectorize_loops

STEP = "stage"
LANES = 16
"""Elements that a copy moves at a time where they are contiguous."""

MOST_BYTES = 1 << 18
"""Bytes of a copy, at most: it lies on the stack."""


def stage_input(kernel: Operation, at: ForOp, argument: int, packing: Packing) -> ForOp:
    """
    Makes the body of `at` read buffer `argument` of the kernel from a copy, laid out by `packing`, of the part that
    it needs; returns the outermost loop that copies.

    Raises:
        StepError: if the body does not read the input, or by anything but plain loads of one element each, of the same
            part of known size, whose loops have bounds that do not vary within the body.
    """
    buffers = kernel_buffers(kernel)  # pyright: ignore[reportArgumentType]
    inputs = len(buffers) - num_outputs(kernel)  # pyright: ignore[reportArgumentType]
    if argument >= inputs:
        raise StepError(STEP, at, f"the kernel has {inputs} input buffers, there is no input {argument}")
    fold_index_ops([at])
    root = buffers[argument]
    loads = [op for op in at.walk() if isinstance(op, LoadOp) and root_of(op.memref) is root]
    if not loads:
        raise StepError(STEP, at, f"does not read input {argument}")
    if any(lanes_of(op.result.type) or op.fill is not None or op.memref is not loads[0].memref for op in loads):
        raise StepError(STEP, at, f"reads input {argument} in another way than by plain scalar loads")
    memref = loads[0].memref
    rank = memref_of(memref).get_num_dims()
    if rank != len(packing.tiles):
        raise StepError(STEP, at, f"input {argument} has {rank} dimensions, the layout {len(packing.tiles)}")
    bounds = IndexBounds()
    parts = [part_of(STEP, at, load, bounds) for load in loads]
    first = parts[0]
    if any(part.start != first.start for part in parts[1:]):
        raise StepError(STEP, at, f"reads several parts of input {argument}")
    extents = tuple(max(part.extents[dim] for part in parts) for dim in range(rank))
    largest = next((part for part in parts if part.extents == extents), None)
    if largest is None:
        raise StepError(STEP, at, f"reads parts of input {argument} of which none holds the others")
    dims = [dim for dim in packing.packed_dims(extents) if isinstance(dim, int)]
    type = memref_type(dims, memref_of(memref).element_type)
    if (size := prod(dims) * element_bytes(type.element_type)) > MOST_BYTES:
        raise StepError(STEP, at, f"needs {size} bytes of input {argument}, at most {MOST_BYTES} can be copied")
    alloc = AllocOp(type)
    alloc.attributes[ON_STACK] = UnitAttr()
    alloc.result.name_hint = "staged"
    top, axes = _copy(at, largest, packing, alloc.result)
    head = at.block.first_op
    assert head is not None
    at.block.insert_ops_before([alloc, top], head)
    for op in (alloc, top):
        op.location = at.location
    for part in parts:
        indices = packing.packed_index(part.local)
        access, operands = canonical_access(AffineMap(len(part.load.indices), 0, indices), list(part.load.indices))
        part.load.map = AffineMapAttr(access)
        set_operands(part.load, (alloc.result, *operands), (1, len(operands), 0))
    fold_index_ops([at])
    if axes:
        return _vectorize(top, axes[0])
    return top


def _vectorize(top: ForOp, loop: ForOp) -> ForOp:
    """Copies `LANES` elements at a time; returns the outermost loop of the copy."""
    trips = loop.trip_count
    if trips is not None and trips <= LANES:
        if loop is top:
            return top
        vectorize_loops([loop])
        return top
    tiled = tile_loops([loop], [LANES], ["peel"])
    for inner in tiled.inners[0]:
        if inner.trip_count is not None:
            vectorize_loops([inner])
    return tiled.outers[0][0] if loop is top else top


def _copy(at: ForOp, part: Part, packing: Packing, copy: SSAValue) -> tuple[ForOp, list[ForOp]]:
    """The loops that copy a part, and those of them that can be vectorised."""
    load = part.load
    varying = [value for value in load.indices if varies_in(at, value)]
    loops: list[ForOp] = []
    for value in dict.fromkeys(varying):
        loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
        if not isinstance(loop, ForOp):
            raise StepError(STEP, at, "reads the input at an index that is computed in its body")
        if any(varies_in(at, operand) for operand in (*loop.lower_operands, *loop.upper_operands)):
            raise StepError(STEP, loop, "has bounds that vary within the loop that is to copy")
        loops.append(loop)
    if not loops:
        raise StepError(STEP, at, "reads one element of the input alone")
    # Large strides of the input outside.
    strides = [_stride(load, loop) for loop in loops]
    order = sorted(range(len(loops)), key=lambda position: (-strides[position], position))
    headers = [_header(loops[position]) for position in order]
    mapping: dict[SSAValue, SSAValue] = {
        loops[position].induction: header.induction for position, header in zip(order, headers, strict=True)
    }
    operands = [mapping.get(value, value) for value in load.indices]
    read = LoadOp(load.memref, load.map.data, operands)
    write = StoreOp(read.result, copy, AffineMap(len(operands), 0, packing.packed_index(part.local)), operands)
    body: list[Operation] = [read, write]
    for header in reversed(headers):
        header.block.add_ops([*body, YieldOp()])
        body = [header]
    innermost = order[-1]
    contiguous = (
        strides[innermost] == 1 and headers[-1].trip_count is not None and _ends_copy(part, packing, loops[innermost])
    )
    return headers[0], headers[-1:] if contiguous else []


def _ends_copy(part: Part, packing: Packing, loop: ForOp) -> bool:
    """Whether the loop walks the last dimension of the copy, within one tile of it."""
    last = packing.split[-1] if packing.split else packing.order[-1]
    position = list(part.load.indices).index(loop.induction)
    factor = linear_form(part.local[last]).dim_coefficient(position)
    trips = loop.trip_count
    return factor == 1 and trips is not None and (not packing.split or trips <= packing.tiles[last])


def _stride(load: LoadOp, loop: ForOp) -> int:
    """Elements from one iteration to the next in memory; symbolic dimensions count as large."""
    position = list(load.indices).index(loop.induction)
    stride, total = 1, 0
    for expr, dim in zip(reversed(load.map.data.results), reversed(memref_dims(memref_of(load.memref))), strict=True):
        total += abs(linear_form(expr).dim_coefficient(position)) * stride
        stride *= dim if isinstance(dim, int) else 1 << 16
    return total


def _header(loop: ForOp) -> ForOp:
    header = ForOp(
        loop.lower_map.data,
        loop.lower_operands,
        loop.upper_map.data,
        loop.upper_operands,
        loop.step_value,
        None,
        (),
        LoopKind.PARALLEL,
        loop.label.data + ".s",
    )
    header.location = loop.location
    header.induction.name_hint = loop.induction.name_hint
    return header


@dataclass(frozen=True)
class LoopsStagePass(ModulePass):
    """Makes the bodies of the loops that have a label read an input from a copy of the part that they need."""

    name = "loops-stage"

    label: str
    """Label of the loops."""

    argument: int
    """Input to copy: position among the kernel's buffers, without its symbols."""

    tiles: tuple[int, ...]
    """Elements per tile for each dimension of the part; 0 for a dimension that is not split."""

    order: tuple[int, ...]
    """Dimensions of the part in the order of the copy; inner parts of split ones follow all of them."""

    def __post_init__(self) -> None:
        check_layout(self.name, self.tiles, self.order)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label, self.name):
            for loop in labelled(kernel, self.label, self.name):
                stage_input(kernel, loop, self.argument, Packing(self.tiles, self.order))
