"""
Versions of Winograd's convolutions for small images (`kernel_versions`), where the size is only known at run time.

An image of two or four rows, or columns, leaves a third of its tiles of three empty, so that tiles of two are better.
One of a few columns has few tiles in a row of them, too few for a product that reads all weights for each row: in its
version blocks of tiles go down the columns (`tiles_of`). Weights that the second-level cache does not hold are read
once for all tiles, in whatever order these are; with them, what is best for large images is not for small ones, which
are bound by reading the weights: directly, or with fewer outputs per tile, there are fewer of these.

Convolutions that are faster without the algorithm have a version for few columns, too: rows of register tiles go down
them there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from aicc.dialects.graph.dims import Dim, symbol_of
from aicc.transforms.kernel_versions import KernelVersions, Sizes, SpareWeights
from aicc.transforms.loops_cost import FMA_LATENCY
from aicc.transforms.target_facts import TargetFacts
from aicc.transforms.winograd_candidates import IMAGE_ATTRIBUTE, IMAGE_GUESS, Candidate
from aicc.transforms.winograd_cost import ELEMENT, ConvolutionSize, choose_outputs, times_as_long, weight_bytes
from aicc.transforms.winograd_matrices import POINTS, TAPS

FEW = (2, 4)
"""Rows or columns of an image that fewer outputs per tile may suit."""

FEW_COLUMNS = 4 * lcm(2, 3)
"""Columns of a narrow image, at most: a whole number of tiles, of which there are fewer than a block has."""


LOSS = 1.15
"""How many times as long it must take without a version: it has weights of its own, and costs time to compile."""


NEARLY = 0.9
"""How long it may take without one where smaller images have one: less is read, and reckoned cycles are as exact."""


@dataclass(frozen=True)
class SmallImages:
    """Images that a convolution should have a version for."""

    sizes: Sizes
    suffix: str
    """Of the version's name."""
    side: int | None = None
    """Rows and columns that such an image is taken to have where they are unknown; `None`: as all images."""


def _small_images(one: Candidate, size: ConvolutionSize, facts: TargetFacts) -> Iterator[SmallImages]:
    """The versions of a convolution, in the order in which they are chosen."""
    dims, convolution = one.convolution.op.dims, one.convolution
    rows, columns = dims[convolution.row.result], dims[convolution.column.result]
    if convolution.dilations != (1, 1):
        return
    if (usual := choose_outputs(size, facts)) is None:
        # Directly, a tile of registers has the pixels of a row, of which each alone has too few sums.
        few = facts.fma_ports * FMA_LATENCY // -(-size.result_channels // facts.lanes(8 * ELEMENT)) - 1
        if symbol_of(columns) is not None and few > 1:
            yield SmallImages(Sizes(columns, few, below=rows), "narrow")
        return
    if weight_bytes(size, usual + TAPS - 1) > facts.l2_bytes:
        if not isinstance(rows, int) and not isinstance(columns, int):
            yield from _few_pixels(rows * columns, *_sides(size, usual, facts))
        return
    if symbol_of(columns) is not None:
        # Where there are fewer rows than columns, blocks are as long along a row.
        for few in FEW:
            if choose_outputs(replace(size, columns=few), facts) not in (None, usual):
                yield SmallImages(Sizes(columns, few, alone=True, below=rows), "narrow")
        if choose_outputs(replace(size, columns=FEW_COLUMNS), facts) is not None:
            yield SmallImages(Sizes(columns, FEW_COLUMNS, below=rows), "narrow")
    if symbol_of(rows) is not None:
        for few in FEW:
            if choose_outputs(replace(size, rows=few), facts) not in (None, usual):
                yield SmallImages(Sizes(rows, few, alone=True), "low")


def _few_pixels(pixels: Dim, direct: int, fewer: int) -> Iterator[SmallImages]:
    """Versions for as many pixels as square images of these sides have."""
    if direct:
        yield SmallImages(Sizes(pixels, direct * direct, told=False), "tiny", direct)
    if fewer > direct:
        yield SmallImages(Sizes(pixels, fewer * fewer, told=False), "small", fewer)


def _sides(size: ConvolutionSize, usual: int, facts: TargetFacts) -> tuple[int, int]:
    """
    The largest square images which are best done directly and with the fewest outputs per tile; 0 for none.

    All smaller ones are, too; some are done so much faster.
    """
    direct = fewer = 0
    most = 1.0
    for side in range(1, IMAGE_GUESS):
        square = replace(size, rows=side, columns=side)
        best, times = choose_outputs(square, facts), times_as_long(square, usual, facts)
        if best == usual or times < NEARLY:
            break
        most = max(most, times if best is not None else 1.0)
        if best is None:
            direct = side
        elif best == min(POINTS):
            fewer = side
    return direct, fewer if most >= LOSS else 0


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
        for small in small_images:
            if (made := versions.add(one.function, one.calls, small.sizes, small.suffix)) is not None:
                added = True
                if small.side is not None:
                    made.function.attributes[IMAGE_ATTRIBUTE] = IntegerAttr(small.side, i64)
    return added
