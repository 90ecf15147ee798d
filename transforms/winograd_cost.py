"""
Whether a 3x3 convolution is done by Winograd's algorithm, and with how many outputs per tile.

Reckoned cycles, from numbers of instructions per port and bytes moved. Winograd's algorithm saves products
(by 9 m^2 / (m + 2)^2: 2.25 for m = 2, 3.24 for m = 3, 4 for m = 4); it costs the transforms, tiles that hang over the
border, and weights that are 16 / 9, 25 / 9 or 4 times as large, which come from memory in a model that has more of them
than fit the last-level cache while the arithmetic goes on. Small images of many channels (the last layers of a
classifier) are bound by the weights.

What weights take in memory counts for the model as a whole: where that is too much, the convolutions that lose the
least time for the bytes they save have fewer outputs per tile than would be fastest.

Algorithms whose error would be more than `MOST_ERROR` times that of direct summation are not considered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import sqrt

from aicc.transforms.loops_cost import BYTES_PER_CYCLE
from aicc.transforms.target_facts import TargetFacts
from aicc.transforms.winograd_matrices import POINTS, TAPS, winograd

EFFICIENCY = 0.9
"""Share of the peak that products reach."""

LEAST_GAIN = 1.15
"""How much cheaper than directly a convolution must be by Winograd's algorithm."""

LEAST_GAIN_OVER_FEWEST = 1.3
"""
How much cheaper than with the fewest outputs per tile it must be with more, whose errors, weights and parts for threads
are larger.
"""

THREADS = 2
"""Threads that are reckoned to share the arithmetic, at most; they share what memory delivers, too."""

WEIGHT_BYTES_PER_CYCLE = 12.0
"""What all threads together read in sequence from memory."""

FELT = 0.5
"""Part of the shorter one of arithmetic and reading weights that the other does not hide."""

OPS_IN_ROW = {2: 4, 3: 10, 4: 12}
"""Operations of one row of an input or output transform."""

SUM_LENGTHS = (64, 16)
"""
Products that are added one after the other: the output transform amplifies what rounding left of each sum. With 64, a
quarter of what other sums have, the error for 256 channels is half as large.
"""

TRANSFORM_TERMS = 9
"""Terms of a sum whose rounding adds as much error as that of the transformed operands (measured)."""

MOST_ERROR = 0.9
"""
The largest `relative_error`. Measured ones are up to 1.3 times what is reckoned, and direct summation as other runtimes
do it, by blocks of channels, has about half of the error of one chain: this stands for twice theirs.
"""

MOST_GROWTH = 2.2
"""
How many times what weights take as they are those of all convolutions by the algorithm may take, where that is more
than the last-level cache holds. Runtimes that keep a model's own weights beside packed ones need about as much.
"""

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
    paired: bool = False
    """Directly, one instruction takes two products of halves, which are not widened."""


def direct_cycles(size: ConvolutionSize, facts: TargetFacts) -> float:
    """Reckoned cycles of direct convolution at a good share of the peak."""
    products = size.batch * size.rows * size.columns * TAPS * TAPS * size.channels * size.result_channels
    cycles = _together(_shared(_product_cycles(products, facts), facts), _weight_cycles(size, TAPS))
    return cycles / 2 if size.paired else cycles


def winograd_cycles(size: ConvolutionSize, outputs: int, facts: TargetFacts) -> float:
    """Reckoned cycles of F(outputs x outputs, 3x3)."""
    n, lanes = outputs + TAPS - 1, facts.lanes(8 * ELEMENT)
    tiles = size.batch * -(-size.rows // outputs) * -(-size.columns // outputs)
    products = n * n * tiles * size.channels * size.result_channels
    # Arithmetic; what lies between the two dimensions is stored and loaded, too.
    ops = OPS_IN_ROW[outputs]
    into = 2 * n * ops / facts.fma_ports + 2 * n * n
    out = (n + outputs) * ops / facts.fma_ports + 2 * n * n
    vectors_in, vectors_out = -(-size.channels // lanes), -(-size.result_channels // lanes)
    transforms = tiles * (vectors_in * into + vectors_out * out)
    moved = 2 * n * n * tiles * (size.channels + size.result_channels) * ELEMENT / BYTES_PER_CYCLE[0]
    arithmetic = _shared(_product_cycles(products, facts) + transforms + moved, facts)
    return _together(arithmetic, _weight_cycles(size, n))


def relative_error(outputs: int, channels: int, length: int) -> float:
    """
    The root mean square of the rounding error, with sums in blocks of `length`, over that of direct summation in one
    chain, for independent terms.

    The error of a chain of `n` terms grows with `n`; the products' chains are short, but their errors are amplified.
    """
    terms = min(channels, length) + TRANSFORM_TERMS
    return winograd(outputs).noise / TAPS**2 * sqrt(terms / channels)


def sum_length(outputs: int, channels: int) -> int | None:
    """Terms per block of the products' sums for an error of at most `MOST_ERROR`; `None` if none are few enough."""
    return next((length for length in SUM_LENGTHS if relative_error(outputs, channels, length) <= MOST_ERROR), None)


def _worth_it(size: ConvolutionSize, facts: TargetFacts) -> dict[int | None, float]:
    """Reckoned cycles by outputs per tile, of those that are exact enough and worth it; `None`: directly."""
    exact = [outputs for outputs in sorted(POINTS) if sum_length(outputs, size.channels) is not None]
    cycles = {outputs: winograd_cycles(size, outputs, facts) for outputs in exact}
    direct = direct_cycles(size, facts)
    bounds = dict.fromkeys(exact, direct / LEAST_GAIN)
    if exact and cycles[exact[0]] <= bounds[exact[0]]:
        bounds |= dict.fromkeys(exact[1:], cycles[exact[0]] / LEAST_GAIN_OVER_FEWEST)
    return {None: direct} | {outputs: cycles[outputs] for outputs in exact if cycles[outputs] <= bounds[outputs]}


def _cheapest(cycles: Mapping[int | None, float]) -> int | None:
    return min(cycles, key=cycles.__getitem__)


def choose_outputs(size: ConvolutionSize, facts: TargetFacts) -> int | None:
    """Outputs per tile and dimension of the Winograd algorithm to use, exact enough and worth it; `None` if none is."""
    return _cheapest(_worth_it(size, facts))


def times_as_long(size: ConvolutionSize, outputs: int, facts: TargetFacts) -> float:
    """Reckoned cycles of F(outputs x outputs, 3x3) over those of what `choose_outputs` says."""
    return winograd_cycles(size, outputs, facts) / min(_worth_it(size, facts).values())


def choose_for_all(
    sizes: Sequence[ConvolutionSize], weights: Sequence[Set[Hashable]], facts: TargetFacts
) -> list[int | None]:
    """
    What `choose_outputs` says of each, or less where their weights would take more memory together than they may
    (`MOST_GROWTH`). `weights`: the arrays of weights that each has; what is made of one for as many outputs is shared.
    """
    options = [_worth_it(size, facts) for size in sizes]
    chosen = list(map(_cheapest, options))
    transformed = [i for i, outputs in enumerate(chosen) if outputs is not None]
    kept = Counter((one, chosen[i]) for i in transformed for one in weights[i])

    def array_bytes(i: int, outputs: int | None) -> int:
        return weight_bytes(sizes[i], TAPS if outputs is None else outputs + TAPS - 1)

    def saved(i: int, outputs: int | None) -> int:
        gone = sum(kept[one, chosen[i]] == 1 for one in weights[i])
        new = sum((one, outputs) not in kept for one in weights[i])
        return gone * array_bytes(i, chosen[i]) - new * array_bytes(i, outputs)

    def price(step: tuple[int, int | None]) -> float:
        i, outputs = step
        return len(weights[i]) * (options[i][outputs] - options[i][chosen[i]]) / saved(i, outputs)

    plain = {one: array_bytes(i, None) for i in transformed for one in weights[i]}
    total = sum({(one, chosen[i]): array_bytes(i, chosen[i]) for i in transformed for one in weights[i]}.values())
    limit = max(facts.l3_bytes, MOST_GROWTH * sum(plain.values()))
    while total > limit:
        steps = [(i, less) for i in transformed for less in options[i] if less != chosen[i] and saved(i, less) > 0]
        if not steps:
            break
        i, outputs = min(steps, key=price)
        total -= saved(i, outputs)
        kept.subtract((one, chosen[i]) for one in weights[i])
        kept.update((one, outputs) for one in weights[i])
        kept = +kept
        chosen[i] = outputs
    return chosen


def _product_cycles(products: int, facts: TargetFacts) -> float:
    return products / (facts.lanes(8 * ELEMENT) * facts.fma_ports * EFFICIENCY)


def _weight_cycles(size: ConvolutionSize, width: int) -> float:
    """To read weights of so many rows and columns per pair of channels from memory, once."""
    return weight_bytes(size, width) / WEIGHT_BYTES_PER_CYCLE


def weight_bytes(size: ConvolutionSize, width: int) -> int:
    """Of weights of so many rows and columns per pair of channels."""
    return width * width * size.channels * size.result_channels * ELEMENT


def _together(arithmetic: float, weights: float) -> float:
    return max(arithmetic, weights) + FELT * min(arithmetic, weights)


def _shared(cycles: float, facts: TargetFacts) -> float:
    """What a thread has of the work."""
    return cycles / min(THREADS, facts.cores)
