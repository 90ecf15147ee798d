"""
`loops-read-ahead`: what a kernel reads later is fetched while it computes.

Before: loops.load %x[%i, %j + l0] : memref<512x4096xf32> to vector<16xf32>        in the last nest that loads from `%x`
After, `argument=0 elements=4096`:  loops.load %x[%i, %j + l0] ahead 4096 : memref<512x4096xf32> to vector<16xf32>

Sweeps over a row in a cache leave memory idle; prefetchers read on only where a program waits for memory already.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ForOp, LoadOp
from aicc.dialects.loops.functions import find_function, is_kernel
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_pack import kernel_buffers

STEP = "read_ahead"


def read_ahead(kernel: FuncOp, argument: int, elements: int) -> None:
    """
    Lets the loads in the innermost loop that loads last from a buffer of `kernel` fetch what lies `elements` ahead.

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
            load.ahead = IntegerAttr(elements, i64)


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
