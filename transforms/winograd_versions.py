"""
Versions of Winograd's convolutions for small images (`kernel_versions`), where the size is only known at run time.

An image of two or four rows, or columns, leaves a third of its tiles of three empty, so that tiles of two are better.
One of a few columns has few tiles in a row of them, too few for a product that reads all weights for each row: in its
version blocks of tiles go down the columns (`tiles_of`).

Convolutions that are faster without the algorithm have a version for few columns, too: rows of register tiles go down
them there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import lcm

from xdsl.dialects.builtin import ModuleOp

from aicc.dialects.graph.dims import symbol_of
from aicc.transforms.kernel_versions import KernelVersions, Sizes, SpareWeights
from aicc.transforms.loops_cost import FMA_LATENCY
from aicc.transforms.target_facts import TargetFacts
from aicc.transforms.winograd_candidates import Candidate
from aicc.transforms.winograd_cost import ELEMENT, ConvolutionSize, choose_outputs

FEW = (2, 4)
"""Rows or columns of an image that fewer outputs per tile may suit."""

FEW_COLUMNS = 4 * lcm(2, 3)
"""Columns of a narrow image, at most: a whole number of tiles, of which there are fewer than a block has."""


def _small_images(one: Candidate, size: ConvolutionSize, facts: TargetFacts) -> Iterator[tuple[Sizes, str]]:
    """The sizes of images that a convolution should have versions for, and what their names end in."""
    dims, convolution = one.convolution.op.dims, one.convolution
    rows, columns = symbol_of(dims[convolution.row.result]), symbol_of(dims[convolution.column.result])
    if convolution.dilations != (1, 1):
        return
    if (usual := choose_outputs(size, facts)) is None:
        # Directly, a tile of registers has the pixels of a row, of which each alone has too few sums.
        few = facts.fma_ports * FMA_LATENCY // -(-size.result_channels // facts.lanes(8 * ELEMENT)) - 1
        if columns is not None and few > 1:
            yield Sizes(columns, few, below=dims[convolution.row.result]), "narrow"
        return
    # Where there are fewer rows than columns, blocks are as long along a row.
    high = dims[convolution.row.result]
    if columns is not None:
        for few in FEW:
            if choose_outputs(replace(size, columns=few), facts) not in (None, usual):
                yield Sizes(columns, few, alone=True, below=high), "narrow"
        if choose_outputs(replace(size, columns=FEW_COLUMNS), facts) is not None:
            yield Sizes(columns, FEW_COLUMNS, below=high), "narrow"
    if rows is not None:
        for few in FEW:
            if choose_outputs(replace(size, rows=few), facts) not in (None, usual):
                yield Sizes(rows, few, alone=True), "low"


def add_versions(
    module: ModuleOp, found: Sequence[Candidate], sizes: Sequence[ConvolutionSize], facts: TargetFacts
) -> bool:
    """
    Gives kernels with convolutions their versions; whether there are any.

    `sizes`: what is reckoned with for each of `found`.
    """
    versions, spare, seen = KernelVersions(module), SpareWeights(facts), set[str]()
    added = False
    for one, size in zip(found, sizes, strict=True):
        name = one.function.sym_name.data
        small_images = list(_small_images(one, size, facts)) if name not in seen else ()
        seen.add(name)
        if not small_images or not spare.suffice_for(one.function, one.calls, one.constants):
            continue
        for small, suffix in small_images:
            added = versions.add(one.function, one.calls, small, suffix) is not None or added
    return added
