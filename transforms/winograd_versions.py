"""
Versions of Winograd's convolutions for small images (`kernel_versions`), where the size is only known at run time.

An image of two rows leaves a third of a tile of three empty, so that tiles of two are better. One of a few columns has
one or two tiles in a row of them, too few for a product: in its version blocks of tiles go down the columns
(`tiles_of`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import lcm

from xdsl.dialects.builtin import ModuleOp

from aicc.dialects.graph.dims import symbol_of
from aicc.transforms.kernel_versions import KernelVersions, Sizes, SpareWeights
from aicc.transforms.target_facts import TargetFacts
from aicc.transforms.winograd_candidates import Candidate
from aicc.transforms.winograd_cost import ConvolutionSize, choose_outputs

FEW_ROWS = 2
"""Rows of an image that fewer outputs per tile may suit."""

FEW_COLUMNS = lcm(2, 3)
"""Columns of a narrow image, at most: a whole number of tiles, of which there are few."""


def _small_images(one: Candidate, size: ConvolutionSize, facts: TargetFacts) -> Iterator[tuple[Sizes, str]]:
    """The sizes of images that a convolution should have versions for, and what their names end in."""
    dims, convolution = one.convolution.op.dims, one.convolution
    rows, columns = symbol_of(dims[convolution.row.result]), symbol_of(dims[convolution.column.result])
    usual = choose_outputs(size, facts)
    if usual is None or convolution.dilations != (1, 1):
        return
    if rows is not None and choose_outputs(replace(size, rows=FEW_ROWS), facts) not in (None, usual):
        yield Sizes(rows, FEW_ROWS, alone=True), "low"
    if columns is not None and choose_outputs(replace(size, columns=FEW_COLUMNS), facts) is not None:
        # Where there are fewer rows than columns, blocks are as long along a row.
        yield Sizes(columns, FEW_COLUMNS, below=dims[convolution.row.result]), "narrow"


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
