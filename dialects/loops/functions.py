"""
Functions at this level: their symbols and their destinations.

A function's symbols are its first index arguments, named in order by the attribute `aicc.symbols`. A kernel (unit
attribute `aicc.kernel`) has no results: its last `aicc.num_outputs` arguments are the buffers it fills. The
`aicc.num_scratch` arguments before those are buffers of undefined content for it to use. `aicc.sum_length` is how
many terms its sums may add one after the other, where that is fewer than for others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument

KERNEL = "aicc.kernel"
SYMBOLS = "aicc.symbols"
NUM_OUTPUTS = "aicc.num_outputs"
NUM_SCRATCH = "aicc.num_scratch"
SUM_LENGTH = "aicc.sum_length"


def is_kernel(func: FuncOp) -> bool:
    """Whether the function is a kernel with a body."""
    return KERNEL in func.attributes and bool(func.body.blocks)


def sum_length(func: FuncOp, otherwise: int) -> int:
    """How many terms sums of the function add one after the other, at most: `otherwise` where it does not say."""
    stated = func.attributes.get(SUM_LENGTH)
    return min(stated.value.data, otherwise) if isinstance(stated, IntegerAttr) else otherwise


def kernels(module: ModuleOp) -> Iterator[FuncOp]:
    """The kernels of the module, in order."""
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and is_kernel(op):
            yield op


def find_function(module: ModuleOp, name: str) -> FuncOp | None:
    """The function of this name."""
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name:
            return op
    return None


def symbol_names(func: FuncOp) -> tuple[str, ...]:
    """The names of the function's symbols, in order."""
    names = func.attributes.get(SYMBOLS)
    if not isinstance(names, ArrayAttr):
        return ()
    # Not by `isa` of the array as a whole, which takes ten times as long and is asked often.
    return tuple(name.data for name in cast(ArrayAttr[StringAttr], names).data)


def symbol_arguments(func: FuncOp) -> dict[str, BlockArgument]:
    """The function's symbols and the arguments that hold their values."""
    return dict(zip(symbol_names(func), func.args, strict=False))


def symbols_attr(names: Sequence[str]) -> Attribute:
    """The value of `aicc.symbols` for these names."""
    return ArrayAttr([StringAttr(name) for name in names])


def num_outputs(func: FuncOp) -> int:
    """How many of the last arguments a kernel fills."""
    count = func.attributes.get(NUM_OUTPUTS)
    return count.value.data if isinstance(count, IntegerAttr) else 0


def num_scratch(func: FuncOp) -> int:
    """How many of the arguments before the outputs of a kernel are scratch."""
    count = func.attributes.get(NUM_SCRATCH)
    return count.value.data if isinstance(count, IntegerAttr) else 0


def outputs_of(func: FuncOp) -> tuple[BlockArgument, ...]:
    """The arguments that a kernel fills."""
    count = num_outputs(func)
    return func.args[len(func.args) - count :]
