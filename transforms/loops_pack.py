"""
`loops-pack`: a kernel reads an argument from a packed copy, tile by tile and padded with zeros.

Before: main: call @k(%w, %x, %o)                After, `argument=0 tiles=16,0 order=0,1`:
        @k:   load %w[%i, %j] : memref<20x8xf32>       main: %p = alloc : memref<2x8x16xf32>
                                                             call @k_pack0(%w, %p)
                                                             call @k(%p, %x, %o)
                                                       @k:   load %w[%i floordiv 16, %j, %i mod 16]

The divisions disappear when the loop of `%i` is tiled by 16. The packing kernel is a kernel like any other: what it
makes of a constant is moved to `@prepare` by `loops-hoist-constants`. Kernels with inputs of one size share it. Where a
schedule packs constants, which happens once, all of one layout share a packing kernel that is told their sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import Dim, SymExpr, ceildiv, dim_prod, provably_equal, sym, symbols_of
from aicc.dialects.loops import AllocOp, CallOp, ForOp, LoadOp, SizeOp, StoreOp, ViewOp, YieldOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.attrs import AnyMemRef, LoopKind, memref_dims, memref_of, memref_type
from aicc.dialects.loops.functions import (
    KERNEL,
    NUM_OUTPUTS,
    SYMBOLS,
    find_function,
    is_kernel,
    num_outputs,
    symbol_names,
    symbols_attr,
)
from aicc.transforms.locations import set_locations
from aicc.transforms.loops_facts import SYMBOL_GUESS, element_bytes
from aicc.transforms.loops_index import fold_index_ops
from aicc.transforms.loops_interchange import interchange_loops
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_parallelize import parallelize_loops
from aicc.transforms.loops_sizes import trip_count_dim
from aicc.transforms.loops_tile import tile_loops
from aicc.transforms.loops_vectorize import vectorize_loops

STEP = "pack"
SHARES = 32
"""Iterations that are shared out evenly enough by any machine."""

PART = 1 << 15
"""Elements of a part that is worth a thread, at least."""

BLOCK = (16, 8)
"""Elements along the source's and the copy's last dimension that are transposed in registers at once."""

SMALL_BLOCK = (16, 16)
"""The same for elements of one byte, blocks of which are square."""

PACKING = "aicc.packing"
"""Attribute of a packing kernel: the layout that it makes."""


@dataclass(frozen=True)
class Packing:
    """The layout of a packed copy; see `schedule.pack`."""

    tiles: tuple[int, ...]
    """Per dimension of the source: elements per tile, 0 for a dimension that is not split."""

    order: tuple[int, ...]
    """Dimensions of the source in the order of the copy; inner parts of split ones follow all of them."""

    @property
    def split(self) -> tuple[int, ...]:
        """The split dimensions, in order."""
        return tuple(dim for dim, size in enumerate(self.tiles) if size)

    @property
    def attribute(self) -> StringAttr:
        """The layout as text, by which packing kernels know each other."""
        return StringAttr(f"tiles {list(self.tiles)} order {list(self.order)}")

    def packed_dims(self, dims: Sequence[Dim]) -> list[Dim]:
        """The dimensions of the copy of a source with dimensions `dims`."""
        outer = [ceildiv(dims[dim], self.tiles[dim]) if self.tiles[dim] else dims[dim] for dim in self.order]
        return [*outer, *(self.tiles[dim] for dim in self.split)]

    def packed_index(self, index: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        """Where the element `index` of the source is in the copy."""
        outer = [index[dim] // self.tiles[dim] if self.tiles[dim] else index[dim] for dim in self.order]
        return (*outer, *(index[dim] % self.tiles[dim] for dim in self.split))


def kernel_buffers(kernel: FuncOp) -> list[BlockArgument]:
    """The arguments of a kernel that are buffers, outputs included."""
    return list(kernel.args)[len(symbol_names(kernel)) :]


@dataclass(frozen=True)
class Packed:
    """An input of a kernel that the kernel now takes as a packed copy."""

    argument: int
    """Position among the kernel's buffers."""

    packing: Packing
    source: AnyMemRef
    """The type of what is packed, in terms of the kernel's symbols."""

    viewed: bool
    """Whether that is another type than the kernel had for the argument: a view of it."""

    @property
    def copy(self) -> AnyMemRef:
        """The type of the packed copy."""
        return memref_type(self.packing.packed_dims(memref_dims(self.source)), self.source.element_type)

    def of_any_size(self) -> Packed:
        """The same of a source whose dimensions are symbols, but for those of size 1."""
        dims: list[Dim] = [sym(f"n{axis}") if dim != 1 else 1 for axis, dim in enumerate(memref_dims(self.source))]
        return replace(self, source=memref_type(dims, self.source.element_type))


def pack_argument(
    module: ModuleOp, kernel: FuncOp, argument: int, packing: Packing, *, is_constant: bool = False
) -> FuncOp:
    """
    Makes the kernel read buffer `argument` from a packed copy, which its callers make; returns the packing kernel: one
    for all sizes where the argument `is_constant` in every call.

    Raises:
        StepError: if there is no such input, it has another rank than the packing, or it is not read by plain loads
            alone.
    """
    packed = read_packed(kernel, argument, packing)
    made, symbols = packing_for(kernel, packed, is_constant=is_constant)
    packer = same_packer(module, made)
    if packer is None:
        packer = build_packer(packer_name(kernel, packed), symbols, made, kernel.location)
        module.body.block.insert_op_before(packer, kernel)
    pack_at_calls(module, kernel, packed, packer)
    return packer


def packing_for(kernel: FuncOp, packed: Packed, *, is_constant: bool) -> tuple[Packed, tuple[str, ...]]:
    """What the packing kernel for an argument is made for, and the symbols that its sizes are told in."""
    if is_constant and packed.source.has_static_shape():
        general = packed.of_any_size()
        return general, symbols_of(memref_dims(general.source))
    return packed, tuple(symbol_names(kernel))


def packer_name(kernel: FuncOp, packed: Packed) -> str:
    """The name of a packing kernel that is made for an argument of `kernel`."""
    return f"{kernel.sym_name.data}_pack{packed.argument}"


def read_packed(kernel: FuncOp, argument: int, packing: Packing) -> Packed:
    """
    Makes the kernel read buffer `argument` from a packed copy; its callers are not changed.

    Raises:
        StepError: as `pack_argument`.
    """
    source = _check(kernel, argument, packing)
    view = view_of(source)
    packed = Packed(argument, packing, memref_of(source if view is None else view.result), view is not None)
    loads = [use.operation for use in (source if view is None else view.result).uses]
    for load in loads:
        assert isinstance(load, LoadOp)
        load.map = AffineMapAttr(
            AffineMap(load.map.data.num_dims, load.map.data.num_symbols, packing.packed_index(load.map.data.results))
        )
    if view is not None:
        view.result.replace_all_uses_with(source)
        view.detach()
        view.erase()
    _retype(kernel, source, packed.copy)
    fold_index_ops(loads)
    return packed


def pack_at_calls(module: ModuleOp, kernel: FuncOp, packed: Packed, packer: FuncOp) -> None:
    """Makes all callers of the kernel pack the argument with `packer`."""
    # Kernels don't call each other.
    callers = [op for op in module.body.block.ops if isinstance(op, FuncOp) and not is_kernel(op)]
    for op in [op for caller in callers for op in caller.walk()]:
        if isinstance(op, CallOp) and op.callee_name == kernel.sym_name.data:
            _pack_at_call(op, symbol_names(kernel), packed, packer)


def same_packer(module: ModuleOp, packed: Packed) -> FuncOp | None:
    """A packing kernel made before that does the same for a source of the same type."""
    for op in module.body.block.ops:
        if not isinstance(op, FuncOp) or op.attributes.get(PACKING) != packed.packing.attribute:
            continue
        if op.function_type.inputs.data[-2] == packed.source:
            return op
    return None


def view_of(argument: BlockArgument) -> ViewOp | None:
    """The view that is the only use of the argument, if callers can tell its size: a known one, or the same rows."""
    users = [use.operation for use in argument.uses]
    if len(users) != 1 or not isinstance(view := users[0], ViewOp) or view.offset is not None:
        return None
    before, after = memref_dims(memref_of(argument)), memref_dims(memref_of(view.result))
    rows = len(before) == len(after) and before[:-1] == after[:-1] and isinstance(after[-1], int)
    return view if rows or memref_of(view.result).has_static_shape() else None


def _check(kernel: FuncOp, argument: int, packing: Packing) -> BlockArgument:
    buffers = kernel_buffers(kernel)
    inputs = len(buffers) - num_outputs(kernel)
    if argument >= inputs:
        raise StepError(STEP, kernel, f"has {inputs} input buffers, there is no input {argument}")
    source = buffers[argument]
    view = view_of(source)
    read = source if view is None else view.result
    if (rank := memref_of(read).get_num_dims()) != len(packing.tiles):
        raise StepError(STEP, kernel, f"input {argument} has {rank} dimensions, the packing {len(packing.tiles)}")
    for use in read.uses:
        op = use.operation
        if not isinstance(op, LoadOp) or op.fill is not None or lanes_of(op.result.type):
            raise StepError(
                STEP, kernel, f"input {argument} is used by {op.name} in another way than plain scalar loads"
            )
    return source


def _retype(kernel: FuncOp, argument: BlockArgument, type: Attribute) -> None:
    """Gives an argument of a kernel a new type."""
    block = argument.block
    new = block.insert_arg(type, argument.index)
    new.name_hint = argument.name_hint
    new.location = argument.location
    argument.replace_all_uses_with(new)
    block.erase_arg(argument)
    kernel.function_type = FunctionType.from_lists([arg.type for arg in block.args], kernel.function_type.outputs.data)


def _pack_at_call(call: CallOp, symbols: Sequence[str], packed: Packed, packer: FuncOp) -> None:
    """Packs the operand, seen as another type where the kernel does so, right before the call."""
    position = len(symbols) + packed.argument
    source = call.arguments[position]
    block = call.parent
    assert block is not None
    if packed.viewed:
        wanted = packed.source
        if not wanted.has_static_shape():
            rows = [*memref_dims(memref_of(source))[:-1], memref_dims(wanted)[-1]]
            wanted = memref_type(rows, wanted.element_type)
        view = ViewOp(source, wanted)
        view.location = call.location
        block.insert_op_before(view, call)
        source = view.result
    type = memref_of(source)
    copy = AllocOp(memref_type(packed.packing.packed_dims(memref_dims(type)), type.element_type))
    copy.result.name_hint = f"{source.name_hint}_packed" if source.name_hint else "packed"
    names = symbol_names(packer)
    if packed.source.has_static_shape():
        # A packing kernel for all sizes has symbols of its own.
        formal = memref_dims(cast("AnyMemRef", packer.function_type.inputs.data[-2]))
        told = {str(dim): SizeOp(size) for dim, size in zip(formal, memref_dims(type), strict=True)}
        counts = [told[name] for name in names]
        sizes: list[SSAValue] = [count.result for count in counts]
    else:
        given = dict(zip(symbols, call.arguments, strict=False))
        counts, sizes = [], [given[name] for name in names]
    made = [copy, *counts, CallOp(packer.sym_name.data, [*sizes, source, copy.result])]
    for op in made:
        op.location = call.location
    block.insert_ops_before(made, call)
    call.operands[position] = copy.result


def zero_of(type: Attribute) -> FloatAttr[Any] | IntegerAttr[Any]:
    """Zero of an element type."""
    if isinstance(type, AnyFloat):
        return FloatAttr(0.0, type)
    return IntegerAttr(0, cast("IntegerType[Any]", type))


def declare_packer(name: str, symbols: Sequence[str], packed: Packed, location: LocationAttr) -> FuncOp:
    """
    A kernel `name(symbols..., source, packed)` without a body, with those of `symbols` that the source's dimensions
    need: a constant is then packed independently of the sizes of a call.
    """
    dims = memref_dims(packed.source)
    needed = {name for dim in dims if isinstance(dim, SymExpr) for name in dim.symbols()}
    names = [name for name in symbols if name in needed]
    types = [*(IndexType() for _ in names), packed.source, packed.copy]
    func = FuncOp(name, (types, []), Region(), visibility="private")
    func.attributes.update({KERNEL: UnitAttr(), SYMBOLS: symbols_attr(names), NUM_OUTPUTS: IntegerAttr(1, i64)})
    func.attributes[PACKING] = packed.packing.attribute
    func.location = location
    return func


def build_packer(name: str, symbols: Sequence[str], packed: Packed, location: LocationAttr) -> FuncOp:
    """
    A kernel, declared as `declare_packer` does, that fills the packed copy.

    Nests for each combination of full tiles and remainders, which read and write vectors where one dimension is split.
    """
    func = declare_packer(name, symbols, packed, location)
    block = Block(arg_types=func.function_type.inputs.data)
    for argument, hint in zip(block.args, [*symbol_names(func), "source", "packed"], strict=True):
        argument.name_hint = hint if hint.isidentifier() else None
    dims, packing = memref_dims(packed.source), packed.packing
    for tails in product((False, True), repeat=len(packing.split)):
        _add_nest(block, packing, dims, dict(zip(packing.split, tails, strict=True)))
    block.add_op(ReturnOp())
    func.body.add_block(block)
    set_locations([func], location)
    return func


def _add_nest(block: Block, packing: Packing, dims: Sequence[Dim], tails: Mapping[int, bool]) -> None:
    """Copies all full tiles, or the remainders of the dimensions in `tails`, in tiles of zeros."""
    for dim, tail in tails.items():
        size = packing.tiles[dim]
        if provably_equal(dims[dim] % size if tail else dims[dim] // size, 0):
            return
    if any(tails.values()):
        _fill_with_zeros(block, packing, dims, tails)
    source, packed = block.args[-2:]
    loops, outer, inner = _loops(block, packing, dims, tails, {dim: dims[dim] % packing.tiles[dim] for dim in tails})
    index: list[AffineExpr] = []
    for dim in range(len(dims)):
        expr: AffineExpr = AffineDimExpr(loops.index(outer[dim]))
        if dim in inner:
            expr = expr * packing.tiles[dim] + AffineDimExpr(loops.index(inner[dim]))
        index.append(expr)
    operands = [loop.induction for loop in loops]
    load = LoadOp(source, AffineMap(len(loops), 0, tuple(index)), operands)
    store = StoreOp(load.result, packed, AffineMap.identity(len(loops)), operands)
    _finish(block, loops, [load, store], len(dims))
    if len(packing.split) == 1:
        _copy_in_vectors(source, packing, dims, loops)


def _fill_with_zeros(block: Block, packing: Packing, dims: Sequence[Dim], tails: Mapping[int, bool]) -> None:
    """The tiles of remainders, one after the other."""
    packed = block.args[-1]
    loops, _, inner = _loops(block, packing, dims, tails, {})
    zero = ConstantOp(zero_of(memref_of(packed).element_type))
    block.add_op(zero)
    store = StoreOp(zero.result, packed, AffineMap.identity(len(loops)), [loop.induction for loop in loops])
    _finish(block, loops, [store], len(dims))
    vectorize_loops([inner[packing.split[-1]]])


def _loops(
    block: Block, packing: Packing, dims: Sequence[Dim], tails: Mapping[int, bool], rests: Mapping[int, Dim]
) -> tuple[list[ForOp], dict[int, ForOp], dict[int, ForOp]]:
    """
    Loops over full tiles, or the one cut short of each dimension in `tails`: all, those over tiles, those within them.

    A tile that is cut short has as many elements as `rests` says, else all.
    """
    outer: dict[int, ForOp] = {}
    for dim in packing.order:
        size = packing.tiles[dim]
        first, last = (0, dims[dim]) if not size else (0, dims[dim] // size)
        if tails.get(dim):
            first, last = last, ceildiv(dims[dim], size)
        outer[dim] = _loop(block, first, last, f"pack_d{dim}")
    inner: dict[int, ForOp] = {}
    for dim in packing.split:
        count = rests[dim] if tails[dim] and dim in rests else packing.tiles[dim]
        inner[dim] = _loop(block, 0, count, f"pack_d{dim}.i")
    return [*outer.values(), *inner.values()], outer, inner


def _finish(block: Block, loops: Sequence[ForOp], body: Sequence[Operation], rank: int) -> None:
    """Nests the loops around the body, and shares out the outer ones."""
    inside = list(body)
    for loop in reversed(loops):
        loop.block.add_ops([*inside, YieldOp()])
        inside = [loop]
    block.add_op(loops[0])
    _share(loops, max(1, rank - 1))


def _extent(loop: ForOp) -> int:
    return loop.trip_count or SYMBOL_GUESS


def _share(loops: Sequence[ForOp], most: int) -> None:
    """Shares out the outermost loops, at most so many and as many as threads need, in parts that are worth it."""
    extents = [_extent(loop) for loop in loops]
    count = next((n for n in range(1, most) if prod(extents[:n]) >= SHARES), most)
    while count > 1 and extents[count - 1] == 1:
        count -= 1
    sizes = [trip_count_dim(loop) for loop in loops]
    within = prod(extents[count:])
    known = None in sizes or not any(isinstance(size, SymExpr) for size in sizes[count:])
    worth = None if known else (dim_prod([size for size in sizes if size is not None]), PART)
    parallelize_loops(loops[:count], max(1, PART // within), worth=worth)


def _copy_in_vectors(source: SSAValue, packing: Packing, dims: Sequence[Dim], loops: Sequence[ForOp]) -> None:
    """Tiles whose source is contiguous along the split dimension are vectors, others are transposed by blocks."""
    last, outer, inner = len(dims) - 1, loops[-2], loops[-1]
    rows, lanes = BLOCK if element_bytes(memref_of(source).element_type) > 1 else SMALL_BLOCK
    size = packing.tiles[packing.split[0]]
    if packing.split[0] == last:
        if inner.trip_count != size:
            inner = tile_loops([inner], [min(rows, size)], ["mask"]).inners[0][0]
        vectorize_loops([inner])
    elif packing.order[-1] == last and outer.threads is None and outer.trip_count != 0:
        enough = inner.trip_count is None or inner.trip_count >= lanes
        if (outer.trip_count or 0) % rows == 0 and size % lanes == 0 and enough:
            tiled = tile_loops([outer, inner], [rows, lanes], ["peel", "peel"])
            vectorize_loops([inners[0] for inners in tiled.inners])
            for pair in zip(*(inners[1:] for inners in tiled.inners), strict=True):
                # What is left over: a loop of few iterations, of an unknown number, is not to be the innermost one.
                interchange_loops(pair, [1, 0])


def _loop(block: Block, first: Dim, last: Dim, label: str) -> ForOp:
    """A parallel loop from `first` to `last` with an empty body; sizes that are not numbers are computed in `block`."""
    ends: list[int | SSAValue] = []
    for end in (first, last):
        if isinstance(end, int):
            ends.append(end)
        else:
            size = SizeOp(end)
            block.add_op(size)
            ends.append(size.result)
    return ForOp(ends[0], (), ends[1], (), kind=LoopKind.PARALLEL, label=label)


def check_layout(name: str, tiles: Sequence[int], order: Sequence[int]) -> None:
    """
    Checks the options of a pass that lays out a copy.

    Raises:
        PassFailedException: `order` is no permutation of the dimensions, or a tile is negative.
    """
    if sorted(order) != list(range(len(tiles))):
        raise PassFailedException(
            f"{name}: order {list(order)} is no permutation of the {len(tiles)} dimensions of tiles"
        )
    if any(size < 0 for size in tiles):
        raise PassFailedException(f"{name}: tiles must be at least 0, got {list(tiles)}")


@dataclass(frozen=True)
class LoopsPackPass(ModulePass):
    """Packs an input of a kernel."""

    name = "loops-pack"

    kernel: str
    """Name of the kernel."""

    argument: int
    """Input to pack: position among the kernel's buffers, without its symbols."""

    tiles: tuple[int, ...]
    """Elements per tile for each dimension of the input; 0 for a dimension that is not split."""

    order: tuple[int, ...]
    """Dimensions of the input in the order of the copy; inner parts of split ones follow all of them."""

    def __post_init__(self) -> None:
        check_layout(self.name, self.tiles, self.order)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernel = find_function(op, self.kernel)
        if kernel is None or not is_kernel(kernel):
            raise PassFailedException(f"{self.name}: no kernel is named '{self.kernel}'")
        pack_argument(op, kernel, self.argument, Packing(self.tiles, self.order))
