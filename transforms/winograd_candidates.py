"""Convolutions that Winograd's algorithm applies to, and what the cost model asks of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.hints import isa

from aicc.dialects.tensor_ops.ops import CallOp
from aicc.transforms.kernel_versions import calls_of, kernels_of
from aicc.transforms.loops_facts import guess
from aicc.transforms.target_facts import TargetFacts
from aicc.transforms.tensor_ops_constants import constant_arguments
from aicc.transforms.tensor_ops_convolution import Convolution, find_convolution
from aicc.transforms.tensor_ops_dot_products import takes_pairs
from aicc.transforms.winograd_cost import ConvolutionSize
from aicc.transforms.winograd_matrices import TAPS

IMAGE_GUESS = 96
"""Rows and columns that an image of unknown size is taken to have: a whole number of tiles of any size."""

IMAGE_ATTRIBUTE = "aicc.image_side"
"""Attribute of kernels made for images of other sizes: what to take in the place of `IMAGE_GUESS`."""


@dataclass(frozen=True)
class Candidate:
    """A convolution that can be done by Winograd's algorithm."""

    function: FuncOp
    calls: Sequence[CallOp]
    convolution: Convolution
    weight: BlockArgument
    constants: frozenset[int]
    """Arguments of the kernel that are constant in each call."""

    @property
    def weights(self) -> frozenset[SSAValue]:
        """Arrays of weights that the kernel is called with."""
        return frozenset(call.arguments[self.weight.index] for call in self.calls)


def convolution_size(convolution: Convolution, facts: TargetFacts, side: int = IMAGE_GUESS) -> ConvolutionSize | None:
    """
    What the cost model asks of a convolution, with `side` rows and columns where they are unknown; `None` where the
    algorithm does not apply.
    """
    dims = convolution.op.dims
    if any(dims[tap] != TAPS for tap in convolution.taps) or 0 in dims:
        return None
    channels, out = dims[convolution.channel], dims[convolution.out]
    if not isinstance(channels, int) or not isinstance(out, int):
        return None
    space = (convolution.batch, convolution.row.result, convolution.column.result)
    batch, rows, columns = (guess(dims[d], side) for d in space)
    if not isinstance(dims[convolution.batch], int):
        batch = 1
    # Every d-th row and column is an image of its own (`tiles_of`).
    down, across = convolution.dilations
    batch, rows, columns = batch * down * across, -(-rows // down), -(-columns // across)
    return ConvolutionSize(batch, rows, columns, channels, out, takes_pairs(convolution.op, facts))


def candidates(function: FuncOp, calls: Sequence[CallOp], constants: frozenset[int]) -> Iterator[Candidate]:
    """The convolutions in a kernel whose weights are constant in each call and read by nothing else."""
    for op in function.body.block.ops:
        convolution = find_convolution(op)
        if convolution is None:
            continue
        weight = convolution.op.inputs[convolution.weight]
        if isinstance(weight, BlockArgument) and weight.index in constants and weight.has_one_use():
            yield Candidate(function, calls, convolution, weight, constants)


def find_candidates(module: ModuleOp, facts: TargetFacts) -> tuple[list[Candidate], list[ConvolutionSize]]:
    """All of a module, and what the cost model asks of each."""
    constants, calls = constant_arguments(module), calls_of(module)
    found: list[Candidate] = []
    sizes: list[ConvolutionSize] = []
    for function in kernels_of(module):
        name = function.sym_name.data
        for one in candidates(function, calls.get(name, []), constants.get(name, frozenset())):
            side = function.attributes.get(IMAGE_ATTRIBUTE)
            size = convolution_size(one.convolution, facts, *([side.value.data] if isa(side, IntegerAttr) else []))
            if size is not None:
                found.append(one)
                sizes.append(size)
    return found, sizes
