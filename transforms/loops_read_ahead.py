"""
`loops-read-ahead`: what a kernel reads later is fetched while it computes.

Before: loops.load %x[%i, %j + l0] : memref<512x4096xf32> to vector<16xf32>        in the last nest that loads from `%x`
After, `argument=0 elements=4096`, of each line that is loaded:
        loops.prefetch %x[%i, %j + 4096] locality 2 : memref<512x4096xf32>

Sweeps over a row in a cache leave memory idle; prefetchers read on only where a program waits for memory already.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ForOp, LoadOp, PrefetchOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.functions import find_function, is_kernel
from aicc.dialects.loops.prefetch import NEAREST
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import CACHE_LINE, element_bytes
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_pack import kernel_buffers

STEP = "read_ahead"


def read_ahead(kernel: FuncOp, argument: int, elements: int) -> None:
    """
    Fetches what lies `elements` ahead, where the innermost loop that loads last from a buffer of `kernel` does so.

    Raises:
        StepError: the kernel has no buffer of this number, or does not load from it in a loop.
    """
    buffers = kernel_buffers(kernel)
    if argument >= len(buffers):
        raise StepError(STEP, kernel, f"there is no buffer {argument}: the kernel has {len(buffers)}")
    buffer = buffers[argument]
    loads = [op for op in kernel.walk() if isinstance(op, LoadOp) and root_of(op.memref) is buffer]
    inner = loads[-1].parent_op() if loads else None
    if not isinstance(inner, ForOp):
        raise StepError(STEP, kernel, f"nothing is loaded from buffer {argument} in a loop")
    for load in loads:
        if load.parent is inner.block:
            _fetch(load, elements)


def _fetch(load: LoadOp, elements: int) -> None:
    """Fetches into the second cache what lies behind the lanes of a load, a line of the cache at a time."""
    operands = len(load.indices)
    line = max(1, CACHE_LINE // element_bytes(memref_of(load.memref).element_type))
    *rows, lanes = [range(size) for size in lanes_of(load.result.type)] or [range(1)]
    for place in product(*rows, lanes[::line]):
        dims = [*map(AffineDimExpr, range(operands)), *map(AffineConstantExpr, place)]
        exprs = [expr.replace_dims_and_symbols(dims, []) for expr in load.map.data.results]
        exprs[-1] = exprs[-1] + elements
        fetch = PrefetchOp(load.memref, AffineMap(operands, 0, tuple(exprs)), load.indices, NEAREST - 1)
        fetch.location = load.location
        assert load.parent is not None
        load.parent.insert_op_before(fetch, load)


@dataclass(frozen=True)
class LoopsReadAheadPass(ModulePass):
    """Fetches what a kernel reads later into the cache of a core."""

    name = "loops-read-ahead"

    kernel: str
    """Name of the kernel."""

    argument: int
    """The buffer: position among the kernel's buffers, without its symbols."""

    elements: int
    """How far on to fetch; at least 1."""

    def __post_init__(self) -> None:
        if self.argument < 0:
            raise PassFailedException(f"{self.name}: argument must be at least 0, got {self.argument}")
        if self.elements < 1:
            raise PassFailedException(f"{self.name}: elements must be at least 1, got {self.elements}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernel = find_function(op, self.kernel)
        if kernel is None or not is_kernel(kernel):
            raise PassFailedException(f"{self.name}: no kernel is named '{self.kernel}'")
        read_ahead(kernel, self.argument, self.elements)
