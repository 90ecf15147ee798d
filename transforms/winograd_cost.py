"""
Whether a 3x3 convolution is done by Winograd's algorithm, and with how many outputs per tile.

Reckoned cycles of one core, from numbers of instructions per port and bytes moved. Winograd's algorithm saves products
(by 9 m^2 / (m + 2)^2: 2.25 for m = 2, 4 for m = 4); it costs the transforms, tiles that hang over the border, and
weights that are 16 / 9 or 4 times as large, which come from memory in a model that has more of them than fit the
last-level cache. Wide, small images (the last layers of a classifier) are bound by the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

from aicc.transforms.loops_cost import BYTES_PER_CYCLE, FMA_PORTS
from aicc.transforms.target_facts import TargetFacts
from aicc.transforms.winograd_matrices import POINTS, TAPS

EFFICIENCY = 0.9
"""Share of the peak that products reach."""

LEAST_GAIN = 1.15
"""How much cheaper than directly a convolution must be by Winograd's algorithm."""

OVERLAP = 0.25
"""Share of the shorter of arithmetic and streaming of weights that is not hidden behind the longer."""

OPS_IN_ROW = {2: 4, 4: 12}
"""Operations of one row of an input or output transform."""

ELEMENT = 4
"""Bytes of an element."""


@dataclass(frozen=True)
class ConvolutionSize:
    """Sizes of a convolution; guesses where they are symbolic."""

    batch: int
    rows: int
    """Of the result, as `columns`."""
    columns: int
    channels: int
    result_channels: int


def direct_cycles(size: ConvolutionSize, facts: TargetFacts) -> float:
    """Reckoned cycles of direct convolution at a good share of the peak."""
    products = size.batch * size.rows * size.columns * TAPS * TAPS * size.channels * size.result_channels
    weights = TAPS * TAPS * size.channels * size.result_channels * ELEMENT
    return _overlapped(_product_cycles(products, facts), weights / BYTES_PER_CYCLE[2])


def winograd_cycles(size: ConvolutionSize, outputs: int, facts: TargetFacts) -> float:
    """Reckoned cycles of F(outputs x outputs, 3x3)."""
    n, lanes = outputs + TAPS - 1, facts.lanes(8 * ELEMENT)
    tiles = size.batch * -(-size.rows // outputs) * -(-size.columns // outputs)
    products = n * n * tiles * size.channels * size.result_channels
    weights = n * n * size.channels * size.result_channels * ELEMENT
    ops = OPS_IN_ROW[outputs]
    # Arithmetic, then a load, a store and what is spilled in between.
    into = 2 * n * ops / FMA_PORTS + 2 * n * n
    out = (n + outputs) * ops / FMA_PORTS + 2 * n * n
    vectors_in, vectors_out = -(-size.channels // lanes), -(-size.result_channels // lanes)
    transforms = tiles * (vectors_in * into + vectors_out * out)
    moved = 2 * n * n * tiles * (size.channels + size.result_channels) * ELEMENT / BYTES_PER_CYCLE[0]
    return _overlapped(_product_cycles(products, facts), weights / BYTES_PER_CYCLE[2]) + transforms + moved


def choose_outputs(size: ConvolutionSize, facts: TargetFacts) -> int | None:
    """Outputs per tile and dimension of the cheapest Winograd algorithm; `None` if none is worth it."""
    cycles, outputs = min((winograd_cycles(size, m, facts), m) for m in POINTS)
    return outputs if cycles * LEAST_GAIN <= direct_cycles(size, facts) else None


def _product_cycles(products: int, facts: TargetFacts) -> float:
    return products / (facts.lanes(8 * ELEMENT) * FMA_PORTS * EFFICIENCY)


def _overlapped(arithmetic: float, streaming: float) -> float:
    return max(arithmetic, streaming) + OVERLAP * min(arithmetic, streaming)
