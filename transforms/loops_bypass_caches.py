"""
`loops-bypass-caches`: what a kernel writes to a buffer goes to memory past the caches.

Before: loops.store %v, %out[%i * 16 + l0] : vector<16xf32> to memref<67108864xf32>
After, `argument=1`:  loops.store %v, %out[%i * 16 + l0] nontemporal : vector<16xf32> to memref<67108864xf32>

A store to a line that is in no cache reads it first: a copy moves three bytes for two. That is saved, and what other
code has in the caches stays there. It costs more where what is written is read while it would still be in a cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import StoreOp
from aicc.dialects.loops.functions import find_function, is_kernel
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_pack import kernel_buffers

STEP = "bypass_caches"


def bypass_caches(kernel: FuncOp, argument: int) -> None:
    """
    Makes all stores to a buffer of `kernel` nontemporal.

    Raises:
        StepError: the kernel has no buffer of this number, or does not write it.
    """
    buffers = kernel_buffers(kernel)
    if argument >= len(buffers):
        raise StepError(STEP, kernel, f"there is no buffer {argument}: the kernel has {len(buffers)}")
    stores = [op for op in kernel.walk() if isinstance(op, StoreOp) and root_of(op.memref) is buffers[argument]]
    if not stores:
        raise StepError(STEP, kernel, f"nothing is stored to buffer {argument}")
    for store in stores:
        store.nontemporal = UnitAttr()


@dataclass(frozen=True)
class LoopsBypassCachesPass(ModulePass):
    """Makes the stores to a buffer of a kernel nontemporal."""

    name = "loops-bypass-caches"

    kernel: str
    """Name of the kernel."""

    argument: int
    """The buffer: position among the kernel's buffers, without its symbols."""

    def __post_init__(self) -> None:
        if self.argument < 0:
            raise PassFailedException(f"{self.name}: argument must be at least 0, got {self.argument}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernel = find_function(op, self.kernel)
        if kernel is None or not is_kernel(kernel):
            raise PassFailedException(f"{self.name}: no kernel is named '{self.kernel}'")
        bypass_caches(kernel, self.argument)
