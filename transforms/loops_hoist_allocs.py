"""
`loops-hoist-allocs`: the scratch buffers of a kernel become arguments, which its callers allocate.

Before: func.func private @k(%x: ..., %out: ...) attributes {aicc.num_outputs = 1, ...} {
          %t = loops.alloc : memref<?xf32, #loops.dims<s0>>
After:  func.func private @k(%x: ..., %t: memref<?xf32, #loops.dims<s0>>, %out: ...)
          attributes {aicc.num_outputs = 1, aicc.num_scratch = 1, ...}

Scratch arguments stand right before the outputs. Buffers of a known size of at most `limit` bytes stay, and so do those
with the attribute `on_stack`: they lie on the stack, and each iteration of the loops around them has its own. So do
buffers of up to `private` bytes, and of twice as many together, inside of a loop that runs on threads: each thread then
works in memory that stays in its own cache. A larger buffer inside of loops becomes one argument, and a view of it in
the place of the allocation. What runs one after the other uses the same memory: there is room for each chunk of the
loop around it that runs on threads, and parallel loops that do not run on threads become sequential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import Dim, SymExpr, ceildiv, dim_prod, substitute
from aicc.dialects.loops.access import ApplyOp
from aicc.dialects.loops.attrs import AnyMemRef, LoopKind, memref_dims, memref_of, memref_type
from aicc.dialects.loops.call import CallOp, size_of_value
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.functions import NUM_SCRATCH, is_kernel, num_outputs, symbol_names
from aicc.dialects.loops.memory import ON_STACK, AllocOp, SizeOp, ViewOp
from aicc.dialects.loops.threads import NESTED, forget_work, grain_of, spread_loops
from aicc.transforms.diagnostics import fail
from aicc.transforms.kernel_unit import Callers, KernelUnit
from aicc.transforms.loops_sizes import buffer_bytes, iteration_number, trip_count_dim


def hoist_from_kernel(function: func.FuncOp, limit: int, private: int = 0) -> list[AnyMemRef]:
    """
    Turns the large buffers of a kernel into arguments; gives the types of those, in terms of the kernel's symbols.

    `limit` and `private` are the options of the pass.

    Raises:
        LocatedPassError: for a large buffer inside of a parallel loop whose number of iterations is not a size.
    """
    hoisted: list[AnyMemRef] = []
    room = 2 * private
    entry = function.body.block
    for alloc in [op for op in function.walk() if isinstance(op, AllocOp)]:
        type = memref_of(alloc.result)
        size = buffer_bytes(alloc.result)
        # A buffer without elements may have symbolic dimensions, and the stack takes fixed types only.
        fixed = not any(isinstance(dim, SymExpr) for dim in memref_dims(type))
        if fixed and not isinstance(size, SymExpr):
            if size <= limit or ON_STACK in alloc.attributes:
                continue
            if size <= min(private, room) and _is_on_threads(alloc):
                room -= size
                continue
        loops = _shared_loops(alloc)
        trips = [_trips(loop, alloc) for loop in loops]
        if loops:
            # How many chunks there are must be a size.
            forget_work(loops[0])
        chunks = [ceildiv(dim_prod(trips), grain_of(loops[0]))] if loops else []
        whole = memref_type([*chunks, *memref_dims(type)], type.element_type)
        position = len(entry.args) - num_outputs(function)
        argument = entry.insert_arg(whole, position)
        argument.name_hint = alloc.result.name_hint
        replacement = _slice(alloc, argument, loops, trips) if loops else argument
        alloc.result.replace_all_uses_with(replacement)
        alloc.detach()
        alloc.erase()
        hoisted.append(whole)
    if hoisted:
        function.attributes[NUM_SCRATCH] = IntegerAttr(len(hoisted), i64)
        function.update_function_type()
    return hoisted


def _is_on_threads(op: Operation) -> bool:
    """Whether a loop around the op runs on threads."""
    parent = op.parent_op()
    while parent is not None and not (isinstance(parent, ForOp) and parent.threads is not None):
        parent = parent.parent_op()
    return parent is not None


def _shared_loops(alloc: AllocOp) -> list[ForOp]:
    """
    The loops around a buffer whose iterations threads share out, outermost first; none if no loop runs on threads.

    The other parallel loops around it become sequential: their iterations use the same memory.
    """
    around: list[ForOp] = []
    parent = alloc.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            around.append(parent)
        parent = parent.parent_op()
    shared: list[ForOp] = []
    for loop in around:
        if loop.threads is not None:
            shared = spread_loops(loop)
            if not all(level in around for level in shared):
                # Iterations of an inner loop that the buffer is outside of have it in common.
                del loop.attributes[NESTED]
                shared = [loop]
    for loop in around:
        if loop.is_parallel and loop not in shared:
            loop.kind = StringAttr(LoopKind.SEQUENTIAL)
    return shared


def _trips(loop: ForOp, alloc: AllocOp) -> Dim:
    if (trips := trip_count_dim(loop)) is None or len(loop.lower_map.data.results) != 1:
        fail(
            alloc,
            f"a buffer of {memref_of(alloc.result)} stands in the parallel loop '{loop.label.data}', whose number of "
            "iterations is not a size; expected bounds made of integers and symbols",
        )
    return trips


def _slice(alloc: AllocOp, argument: BlockArgument, loops: Sequence[ForOp], trips: Sequence[Dim]) -> SSAValue:
    """The part of `argument` that belongs to the current chunk of `loops`, the outermost of which runs on threads."""
    block = alloc.parent
    assert block is not None
    before = InsertPoint.before(alloc)

    def insert(op: Operation) -> SSAValue:
        op.location = alloc.location
        before.block.insert_op_before(op, alloc)
        return op.results[0]

    def size(dim: Dim) -> SSAValue:
        if isinstance(dim, SymExpr):
            return insert(SizeOp(dim))
        return insert(arith.ConstantOp(IntegerAttr(dim, IndexType())))

    number: SSAValue | None = None
    for loop, count in zip(loops, trips, strict=True):
        iteration = insert(ApplyOp(*iteration_number(loop)))
        if number is not None:
            scaled = insert(arith.MuliOp(number, size(count)))
            iteration = insert(arith.AddiOp(scaled, iteration))
        number = iteration
    assert number is not None
    if (grain := grain_of(loops[0])) > 1:
        number = insert(ApplyOp(AffineMap(1, 0, (AffineDimExpr(0) // grain,)), (number,)))
    offset = insert(arith.MuliOp(number, size(buffer_bytes(alloc.result))))
    return insert(ViewOp(argument, memref_of(alloc.result), offset))


def allocate_at_call(call: CallOp, callee: func.FuncOp, scratch: Sequence[AnyMemRef]) -> None:
    """
    Gives a call of a kernel the new scratch arguments.

    Raises:
        LocatedPassError: if a size that they need is not known at the call.
    """
    names = symbol_names(callee)
    sizes = {name: size_of_value(value) for name, value in zip(names, call.arguments, strict=False)}
    known = {name: size for name, size in sizes.items() if size is not None}
    block = call.parent
    assert block is not None
    values: list[SSAValue] = []
    for type in scratch:
        dims = memref_dims(type)
        needed = {name for dim in dims if isinstance(dim, SymExpr) for name in dim.symbols()}
        if unknown := sorted(needed - known.keys()):
            fail(
                call,
                f"scratch of @{call.callee_name} needs the size {unknown[0]}, which the call computes; expected "
                "a constant, a symbol or loops.size",
            )
        alloc = AllocOp(memref_type([substitute(dim, known) for dim in dims], type.element_type))
        alloc.location = call.location
        block.insert_op_before(alloc, call)
        values.append(alloc.result)
    arguments = list[SSAValue](call.arguments)
    position = len(arguments) - num_outputs(callee)
    call.operands = [*arguments[:position], *values, *arguments[position:]]


@dataclass(frozen=True)
class LoopsHoistAllocsPass(ModulePass):
    """Turns large scratch buffers of kernels into arguments that the callers allocate."""

    name = "loops-hoist-allocs"
    limit: int = 16384
    """Largest buffer that stays on the stack, in bytes; at least 0."""

    private: int = 0
    """
    Largest buffer that stays on the stack inside of a loop that runs on threads, in bytes, and half of what all of a
    kernel take together; at least 0.
    """

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("private", self.private)):
            if value < 0:
                raise PassFailedException(f"{self.name}: {name} must be at least 0, got {value}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        scratch: dict[str, list[AnyMemRef]] = {}
        functions = [function for function in op.body.block.ops if isinstance(function, func.FuncOp)]
        for function in functions:
            if is_kernel(function) and (hoisted := hoist_from_kernel(function, self.limit, self.private)):
                scratch[function.sym_name.data] = hoisted
        if not scratch:
            return
        kernels = {function.sym_name.data: function for function in functions}
        for call in [call for call in op.walk() if isinstance(call, CallOp)]:
            if call.callee_name in scratch:
                allocate_at_call(call, kernels[call.callee_name], scratch[call.callee_name])

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """Turns the large scratch buffers of one kernel into arguments; which, is noted in `unit`."""
        unit.demands.scratch += hoist_from_kernel(unit.kernel, self.limit, self.private)

    def apply_to_callers(self, callers: Callers) -> None:
        """Allocates the scratch of kernels where they are called."""
        scratch: dict[str, tuple[func.FuncOp, list[AnyMemRef]]] = {}
        for kernel, demands in callers.demands():
            if demands.scratch:
                scratch[kernel.sym_name.data] = (kernel, demands.scratch)
                types = list(kernel.function_type.inputs.data)
                position = len(types) - num_outputs(kernel)
                types[position:position] = demands.scratch
                kernel.function_type = FunctionType.from_lists(types, [])
                kernel.attributes[NUM_SCRATCH] = IntegerAttr(len(demands.scratch), i64)
        if scratch:
            for call in [call for call in callers.module.walk() if isinstance(call, CallOp)]:
                if call.callee_name in scratch:
                    allocate_at_call(call, *scratch[call.callee_name])
