"""
`convert-loops-to-llvm`: the last level, from loops over memrefs to the `llvm` dialect, in one walk.

Assumes: functions of `loops`, `func`, `scf`, `cf`, `arith` and `math` over scalars, n-D vectors and row-major memrefs.
Guarantees: `llvm` ops only, accepted by upstream's `mlir-translate`; `aicc.signature` of `@main` lists the buffers.

An n-D vector becomes one LLVM vector for each row along its last axis, and an index a polynomial over run-time values,
so that addresses are computed as far outside of the loops as they can be. Ops are built directly, without patterns: a
kernel is lowered in a time proportional to its size after lowering.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation

from aicc.dialects.loops.call import CallOp as KernelCallOp
from aicc.lowering import (
    loops_to_llvm_arith,
    loops_to_llvm_control,
    loops_to_llvm_float_to_int,
    loops_to_llvm_functions,
    loops_to_llvm_libm,
    loops_to_llvm_memory,
    loops_to_llvm_packed,
    loops_to_llvm_sizes,
    loops_to_llvm_vectors,
)
from aicc.lowering.loops_to_llvm_buffers import ModuleState
from aicc.lowering.loops_to_llvm_functions import SIGNATURE, Function
from aicc.lowering.loops_to_llvm_parallel import lower_parallel, runtime_declaration
from aicc.transforms.diagnostics import fail
from aicc.transforms.kernel_clock import kernel_time
from aicc.transforms.kernel_unit import EntryPointsPass
from aicc.transforms.target_facts import MASKED_BYTES, facts_of

Handler = Callable[[Function, Any], None]


def _nested(handle: Callable[[Function, Any, Callable[[Block], None]], None]) -> Handler:
    """The handler of an op with regions."""
    return lambda fn, op: handle(fn, op, lambda block: lower_block(fn, block))


def _lower_for(fn: Function, op: Any) -> None:
    if op.threads is not None and fn.threads is not None:
        lower_parallel(fn, op, lower_op)
    else:
        loops_to_llvm_control.lower_for(fn, op, lambda block: lower_block(fn, block))


def _ends_region(fn: Function, op: Operation) -> None:
    """The op around reads what the terminator yields."""


HANDLERS: dict[str, Handler] = {
    **loops_to_llvm_arith.HANDLERS,
    **loops_to_llvm_float_to_int.HANDLERS,
    **loops_to_llvm_packed.HANDLERS,
    **loops_to_llvm_sizes.HANDLERS,
    **dict.fromkeys(loops_to_llvm_libm.LIBRARY_FUNCTIONS, loops_to_llvm_libm.lower_library_call),
    "cf.br": loops_to_llvm_control.lower_branch,
    "cf.cond_br": loops_to_llvm_control.lower_cond_branch,
    "func.call": loops_to_llvm_functions.lower_call,
    "loops.call": loops_to_llvm_functions.lower_kernel_call,
    "func.return": loops_to_llvm_control.lower_return,
    "loops.alloc": loops_to_llvm_functions.lower_scratch,
    "loops.apply": loops_to_llvm_memory.lower_apply,
    "loops.broadcast": loops_to_llvm_vectors.lower_broadcast,
    "loops.constant": loops_to_llvm_functions.lower_constant,
    "loops.copy": loops_to_llvm_memory.lower_copy,
    "loops.for": _lower_for,
    "loops.load": loops_to_llvm_memory.lower_load,
    "loops.prefetch": loops_to_llvm_memory.lower_prefetch,
    "loops.prepared": loops_to_llvm_functions.lower_prepared,
    "loops.reduce": loops_to_llvm_vectors.lower_reduce,
    "loops.size": loops_to_llvm_memory.lower_size,
    "loops.store": loops_to_llvm_memory.lower_store,
    "loops.transpose": loops_to_llvm_vectors.lower_transpose,
    "loops.view": loops_to_llvm_memory.lower_view,
    "loops.yield": _ends_region,
    "scf.condition": _ends_region,
    "scf.for": _nested(loops_to_llvm_control.lower_scf_for),
    "scf.if": _nested(loops_to_llvm_control.lower_if),
    "scf.while": _nested(loops_to_llvm_control.lower_while),
    "scf.yield": _ends_region,
}
"""Op name -> what lowers it."""


def lower_block(fn: Function, block: Block) -> None:
    """The ops of a block, in order."""
    for op in block.ops:
        lower_op(fn, op)


def lower_op(fn: Function, op: Operation) -> None:
    """One op."""
    fn.location = op.location
    HANDLERS[op.name](fn, op)


def check_lowerable(root: Operation) -> None:
    """
    Refuses a module or function with ops that have no lowering.

    Raises:
        LocatedPassError: at the first of them; names all.
    """
    left: Counter[str] = Counter()
    first: Operation | None = None
    for op in root.walk():
        if op.name not in HANDLERS and op.name not in ("builtin.module", "func.func"):
            left[op.name] += 1
            first = first or op
    if first is None:
        return
    listed = ", ".join(f"{name} (x{count})" if count > 1 else name for name, count in sorted(left.items()))
    fail(first, f"convert-loops-to-llvm: not lowered: {listed}")


def _functions(module: ModuleOp) -> list[func.FuncOp]:
    return [op for op in module.body.block.ops if isinstance(op, func.FuncOp)]


def _lower(functions: Sequence[func.FuncOp], defined: Mapping[str, func.FuncOp], masked_bytes: int) -> list[Operation]:
    """The ops that `functions` become, with declarations of what they use but for functions in `defined`."""
    main = next((op for op in functions if op.sym_name.data == "main"), None)
    state = ModuleState(loops_to_llvm_functions.read_signature(main), masked_bytes)
    made: list[Operation] = []
    for op in functions:

        def body(fn: Function, op: func.FuncOp = op) -> None:
            blocks = list(op.body.blocks)
            if len(blocks) == 1:
                lower_block(fn, blocks[0])
            else:
                loops_to_llvm_control.lower_blocks(fn, blocks, lambda block: lower_block(fn, block))

        with kernel_time("lower", op.sym_name.data):
            made += loops_to_llvm_functions.lower_function(op, state, defined, body)
    if main is not None:
        entry = next(op for op in made if isinstance(op, base.FuncOp) and op.sym_name.data == "main")
        entry.attributes[SIGNATURE] = StringAttr(state.signature_text())
    for name, (operands, result) in state.externals.items():
        if name not in defined:
            made.insert(0, loops_to_llvm_libm.declaration(name, operands, result))
    made[:0] = [loops_to_llvm_sizes.declaration(name, *types) for name, types in state.runtime.items()]
    if state.uses_threads:
        made.insert(0, runtime_declaration())
    return [*state.globals, *made]


def lower_module(module: ModuleOp, masked_bytes: int = MASKED_BYTES) -> None:
    """Lowers all functions of `module` in place; no masked load is wider than `masked_bytes`."""
    check_lowerable(module)
    functions = _functions(module)
    made = _lower(functions, {op.sym_name.data: op for op in functions}, masked_bytes)
    for op in functions:
        op.detach()
        op.erase(safe_erase=False)
    module.body.block.add_ops(made)


def lower_parts(module: ModuleOp, masked_bytes: int = MASKED_BYTES) -> Iterator[ModuleOp]:
    """
    Lowers `module`, which it uses up, to modules that compile by themselves: the entry points, then each kernel.

    Each is made when it is asked for, so that its object code can be made while the next one is lowered.
    """
    check_lowerable(module)
    functions = _functions(module)
    defined = {op.sym_name.data: op for op in functions}
    entries = [op for op in functions if op.sym_name.data in loops_to_llvm_functions.ENTRY_POINTS]
    kernels = [op for op in functions if op.body.blocks and op not in entries]
    for part in (entries, *([kernel] for kernel in kernels)):
        called = dict.fromkeys(name for op in part for name in _called(op))
        others = [defined[name] for name in called if name in defined and defined[name] not in part]
        declarations: list[Operation] = [loops_to_llvm_functions.declaration(op) for op in others]
        yield ModuleOp([*declarations, *_lower(part, defined, masked_bytes)])
    for op in functions:
        op.detach()


def lower_kernel(kernel: func.FuncOp, masked_bytes: int = MASKED_BYTES) -> ModuleOp:
    """The module that a kernel becomes which calls no other function; the kernel stays as it is."""
    check_lowerable(kernel)
    return ModuleOp(_lower([kernel], {kernel.sym_name.data: kernel}, masked_bytes))


def _called(function: func.FuncOp) -> Iterator[str]:
    """Names of the functions that `function` calls."""
    for op in function.walk():
        if isinstance(op, func.CallOp):
            yield op.callee.string_value()
        elif isinstance(op, KernelCallOp):
            yield op.callee_name


@dataclass(frozen=True)
class ConvertLoopsToLLVMPass(EntryPointsPass):
    """Lowers `loops`, `scf`, `cf`, `arith`, `math` and `func` to the `llvm` dialect."""

    name = "convert-loops-to-llvm"

    target: str = "generic"
    """Machine to lower for: `host`, `generic`, or a name that the back end knows."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_module(op, facts_of(self.target).masked_bytes)
