"""
The machine's own limits, against which shares are taken: by loops of ours, compiled by aicc from the level `loops`.

Every figure comes from two programs that differ in their number of repetitions alone: the difference in time over the
difference in work, so that what a call costs drops out. Times are the least of several calls.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aicc.machine_peaks import copy_program, dot_program, fma_program, loops_program

CALLS = 7
PAUSE = 0.01
"""Seconds of rest before a region of which the start after a pause is timed."""


@dataclass(frozen=True)
class Bandwidth:
    """Bytes per second that a working set of `size` bytes can be read with, and copied with (read + written)."""

    level: str
    size: int
    """The largest working set of this level, all threads together."""
    read: float
    copy: float


@dataclass(frozen=True)
class Limits:
    """
    The most that one number of threads can do.

    `flops`: operations per second by element type, a multiply-add counting as two; of int8 and bf16 those of dot
    products, if the machine has such instructions. `region_warm` and `region_paused`:
    seconds that a parallel region costs beyond its work, right after another one and after a pause of 10 ms.
    """

    flops: dict[str, float]
    bandwidths: tuple[Bandwidth, ...] = field(default=())
    region_warm: float = 0.0
    region_paused: float = 0.0

    def bandwidth(self, size: int) -> float:
        """Bytes per second for a working set of `size` bytes: that of the smallest level measured that holds it."""
        level = next((level for level in self.bandwidths if size <= level.size), self.bandwidths[-1])
        return max(level.read, level.copy)

    def moving_bounds(self, flops: int | None, size: int) -> bool:
        """Whether moving `size` bytes takes longer than so much arithmetic."""
        return bool(self.bandwidths) and size / self.bandwidth(size) > (flops or 0) / self.flops["f32"]

    def bound(self, flops: int | None, size: int) -> float:
        """Seconds that no implementation can beat with the arithmetic of the model in f32: the roofline."""
        seconds = (flops or 0) / self.flops["f32"]
        return max(seconds, size / self.bandwidth(size)) if self.bandwidths else seconds


def read_program(threads: int, rows: int, lanes: int, repeats: int) -> str:
    """Every thread adds up its `rows` rows of 8 vectors `repeats` times."""
    vector, x, out = (
        f"vector<8x{lanes}xf32>",
        f"memref<{threads}x{rows}x8x{lanes}xf32>",
        f"memref<{threads}x8x{lanes}xf32>",
    )
    body = f"""
  loops.for "thread" %t = 0 to {threads} parallel threads {{
    %zero = arith.constant dense<0.0> : {vector}
    %end = loops.for "repeat" %i = 0 to {repeats} iter_args(%b = %zero) -> ({vector}) {{
      %all = loops.for "row" %r = 0 to {rows} iter_args(%c = %b) -> ({vector}) {{
        %v = loops.load %x[%t, %r, l0, l1] : {x} to {vector}
        %d = arith.addf %c, %v : {vector}
        loops.yield %d : {vector}
      }}
      loops.yield %all : {vector}
    }}
    loops.store %end, %y[%t, l0, l1] : {vector} to {out}
  }}"""
    return loops_program(body, [("x", x), ("y", out)], 1)


def regions_program(threads: int, regions: int, *, parallel: bool) -> str:
    """`regions` loops one after the other over `threads` chunks of next to no work, split between threads or not."""
    x, kind = f"memref<{threads}x16xf32>", "parallel threads" if parallel else "parallel"
    body = "".join(
        f"""
  loops.for "thread{i}" %t{i} = 0 to {threads} {kind} {{
    %v{i} = loops.load %{"y" if i else "x"}[%t{i}, 0] : {x} to f32
    loops.store %v{i}, %y[%t{i}, 0] : f32 to {x}
  }}"""
        for i in range(regions)
    )
    return loops_program(body, [("x", x), ("y", x)], 1)


def _aligned(count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """An array that begins with a cache line."""
    memory = np.empty(count * dtype.itemsize + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count * dtype.itemsize].view(dtype)


def _caller(text: str, threads: int) -> Callable[[], float]:
    """Compiles the program; what comes back runs it once and gives the seconds."""
    import aicc

    # The loops are as they should be: no schedule is wanted.
    model = aicc.compile(text, threads=threads, opt_level=0)
    (info,) = model.inputs
    shape = [size for size in info.shape if isinstance(size, int)]
    # Loads that cross cache lines would cost twice.
    x = _aligned(math.prod(shape), info.dtype)
    x[:] = np.linspace(0.5, 0.6, x.size)
    x = x.reshape(shape)

    def call() -> float:
        start = time.perf_counter()
        model(x)
        return time.perf_counter() - start

    return call


def _seconds_per_repeat(program: Callable[[int], str], threads: int, repeats: int) -> float:
    """Time of one repetition: of a program with three times `repeats`, less one with `repeats`."""
    few, many = (_caller(program(count), threads) for count in (repeats, 3 * repeats))
    least = [float("inf"), float("inf")]
    for _ in range(CALLS):
        least = [min(best, call()) for best, call in zip(least, (few, many), strict=True)]
    return (least[1] - least[0]) / (2 * repeats)


def fma_peak(threads: int, element: str = "f32", *, repeats: int = 300_000) -> float:
    """Operations per second in registers: the best of the numbers of chains worth trying."""
    from aicc.transforms.target_facts import facts_of

    lanes = facts_of("host").lanes(32 if element == "f32" else 64)
    best = 0.0
    for chains in (8, 10, 12):
        seconds = _seconds_per_repeat(lambda n, c=chains: fma_program(threads, c, lanes, n, element), threads, repeats)
        best = max(best, 2 * threads * chains * lanes / seconds)
    return best


DOT_PRODUCTS = {"vpdpbusd": ("int8", 4), "sdot": ("int8", 4), "vdpbf16ps": ("bf16", 2)}
"""Instruction -> what it multiplies, and how many products it adds up per 32 bits."""


def dot_peak(threads: int, instruction: str, parts: int, *, repeats: int = 300_000) -> float:
    """Operations per second of dot products in registers, as `fma_peak`."""
    from aicc.transforms.target_facts import facts_of

    lanes = facts_of("host").lanes(32)
    best = 0.0
    for chains in (8, 12):
        seconds = _seconds_per_repeat(
            lambda n, c=chains: dot_program(threads, c, lanes, n, instruction, parts), threads, repeats
        )
        best = max(best, 2 * parts * threads * chains * lanes / seconds)
    return best


def bandwidths(threads: int, *, moved: int = 200 << 20) -> tuple[Bandwidth, ...]:
    """
    Read and copy bandwidth with the data in each cache and in memory; about `moved` bytes per thread are moved a call.

    A cache that all cores share is divided between the threads.
    """
    from aicc.transforms.target_facts import facts_of

    facts = facts_of("host")
    lanes = facts.lanes(32)
    row = 8 * lanes * 4
    found: list[Bandwidth] = []
    # Fast levels move more, so that all take about a millisecond at least and the difference is no noise.
    for level, size, factor in (
        ("L1", facts.l1_bytes, 8),
        ("L2", facts.l2_bytes, 4),
        ("L3", facts.l3_bytes // threads, 1),
        ("memory", 8 * facts.l3_bytes // threads, 1),
    ):
        # Half of a cache: the other half is for whatever else is going on. A copy has two buffers in it.
        used = size // 2
        read, copied = used // row, used // (2 * row)
        repeats = max(1, factor * moved // used)
        times = (
            _seconds_per_repeat(lambda n, r=read: read_program(threads, r, lanes, n), threads, repeats),
            _seconds_per_repeat(lambda n, r=copied: copy_program(threads, r, lanes, n), threads, repeats),
        )
        rates = (threads * read * row / times[0], 2 * threads * copied * row / times[1])
        found.append(Bandwidth(level, threads * size, *rates))
    return tuple(found)


def region_costs(threads: int, regions: int = 64) -> tuple[float, float]:
    """Seconds that a parallel region of `threads` threads costs: after another region, and after a pause."""
    warm, plain = (_caller(regions_program(threads, regions, parallel=parallel), threads) for parallel in (True, False))
    cost = (min(warm() for _ in range(CALLS)) - min(plain() for _ in range(CALLS))) / regions
    one, none = (_caller(regions_program(threads, 1, parallel=parallel), threads) for parallel in (True, False))

    def rested(call: Callable[[], float]) -> float:
        time.sleep(PAUSE)
        return call()

    paused = [np.median([rested(call) for _ in range(3 * CALLS)]) for call in (one, none)]
    return cost, float(paused[0] - paused[1])


def limits(threads: int, *, quick: bool = False) -> Limits:
    """All limits of this machine for a number of threads; `quick` leaves out what no roofline needs."""
    from aicc.transforms.target_facts import facts_of

    flops = {"f32": fma_peak(threads)}
    if quick:
        return Limits(flops, bandwidths(threads, moved=50 << 20))
    flops["f64"] = fma_peak(threads, "f64")
    for name in facts_of("host").dot_products:
        if name in DOT_PRODUCTS:
            element, parts = DOT_PRODUCTS[name]
            flops[element] = dot_peak(threads, name, parts)
    warm, paused = region_costs(threads) if threads > 1 else (0.0, 0.0)
    return Limits(flops, bandwidths(threads), warm, paused)
