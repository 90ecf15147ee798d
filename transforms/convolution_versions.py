"""
Versions of convolutions for images of one or two rows or columns (`kernel_versions`).

Most taps lie in the padding there and need not be computed, and what suits an image of many rows and columns (blocks
of columns, tiles of Winograd's algorithm) would be mostly empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from aicc.dialects.graph.buffers import constant_array
from aicc.dialects.graph.dims import dims_of, symbol_of
from aicc.dialects.tensor_ops import CallOp, ConstantOp
from aicc.transforms.kernel_versions import KernelVersions, Sizes
from aicc.transforms.tensor_ops_convolution import Windows, find_windows
from aicc.transforms.tensor_ops_outer_taps import kept_taps, leave_out_taps

MOST_THIN = 2
"""
Rows or columns of an image that there are versions for, times the dilation, if taps lie in the padding of all of them.
"""


def _windows(function: FuncOp, constants: frozenset[int]) -> Iterator[tuple[Windows, int]]:
    """The convolutions in a kernel whose weights are constant in each call, and which argument these are."""
    for op in function.body.block.ops:
        if (windows := find_windows(op)) is not None:
            weight = windows.op.inputs[windows.weight]
            if isinstance(weight, BlockArgument) and weight.index in constants:
                yield windows, weight.index


def thin_images(function: FuncOp, constants: frozenset[int]) -> Iterator[Sizes]:
    """The sizes of images that a kernel's convolutions leave out taps for."""
    seen: set[Sizes] = set()
    for windows, _ in _windows(function, constants):
        dims, image = windows.op.dims, dims_of(windows.op.inputs[windows.image].type)
        for axis in windows.axes:
            symbol, taps = symbol_of(dims[axis.result]), dims[axis.tap]
            if symbol is None or image[axis.axis] != dims[axis.result] or not isinstance(taps, int):
                continue
            for dilated in range(1, MOST_THIN + 1):
                count, alone = dilated * axis.dilation, axis.dilation == 1
                sizes = Sizes(dims[axis.result], count, alone, told=alone)
                if sizes not in seen and len(kept_taps(axis, taps, count, count)) < taps:
                    seen.add(sizes)
                    yield sizes


def _leave_out_padding(function: FuncOp, calls: Sequence[CallOp], constants: frozenset[int], sizes: Sizes) -> None:
    """
    Leaves out taps of a kernel's convolutions that lie in padding for such `sizes`, where all its weights are known and
    finite.
    """
    for windows, weight in _windows(function, constants):
        owners = [call.arguments[weight].owner for call in calls]
        if all(isinstance(owner, ConstantOp) and bool(np.isfinite(constant_array(owner)).all()) for owner in owners):
            leave_out_taps(windows, {sizes.size: sizes.most})


def add_thin_versions(
    versions: KernelVersions,
    function: FuncOp,
    calls: Sequence[CallOp],
    constants: frozenset[int],
    others: frozenset[Sizes] = frozenset(),
) -> bool:
    """
    Gives a kernel versions for thin images but those of the sizes `others`; that for one row has one for a pixel.
    Whether there are any.
    """
    done = set(others)
    for sizes in list(thin_images(function, constants)):
        if sizes in done or (others and sizes.most > 1):
            continue
        done.add(sizes)
        if (made := versions.add(function, calls, sizes, "thin")) is not None:
            _leave_out_padding(made.function, made.calls, constants, sizes)
            if sizes.most == 1 and not others:
                add_thin_versions(versions, made.function, made.calls, constants, frozenset(done))
    return len(done) > len(others)
