"""
What moving data alone takes: a number of bytes read and a number written, in sequence, by loops of ours.

Bandwidth varies with what else a machine does, within seconds. So it is measured as one more engine of a case, in the
same rounds, with as many bytes read and written as the case must move at least: their time over ours is the share of
the bandwidth that we reach. Writing past the caches and through them are both tried, and the faster one counts.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

NAME = "streams"
"""What the engine is called in results and tables."""

VECTORS = 8
"""Vectors in a row: what is moved without a test in between."""

ROWS = 64
"""Rows of which a sum is stored, where data is read only."""

GRAIN = 128
"""Rows that are worth a thread."""

TRIALS = 5
"""Runs by which a way of writing is chosen."""


@dataclass(frozen=True)
class Moved:
    """Bytes that a case reads and writes at least."""

    read: int
    written: int

    def write(self, path: Path) -> None:
        """The file that the engine loads."""
        path.write_text(json.dumps(asdict(self)))


def streams_program(lanes: int, *, past_caches: bool) -> str:
    """
    `@main(C, R, W)`: copies `C` rows, reads `R` blocks of rows and writes `W` rows.

    A row is `VECTORS` vectors of `lanes` f32, a block `ROWS` rows.
    """
    vector = f"vector<{VECTORS}x{lanes}xf32>"

    def rows(symbol: str, block: str = "") -> str:
        return f"memref<?x{block}{VECTORS}x{lanes}xf32, #loops.dims<{symbol}>>"

    x, y, read, sums, fresh = rows("C"), rows("C"), rows("R", f"{ROWS}x"), rows("R"), rows("W")
    # Sizes are told by inputs.
    count = "memref<?xi8, #loops.dims<W>>"
    how = " nontemporal" if past_caches else ""
    arguments = f"%C: index, %R: index, %W: index, %x: {x}, %r: {read}, %n: {count}, %y: {y}, %s: {sums}, %w: {fresh}"
    types = f"index, index, index, {x}, {read}, {count}, {y}, {sums}, {fresh}"
    attributes = 'aicc.symbols = ["C", "R", "W"], aicc.num_outputs = 3 : i64'
    threads = f"parallel threads attributes {{grain = {GRAIN} : i64}}"
    return f"""
func.func @main({arguments}) attributes {{{attributes}}} {{
  loops.call @kernel(%C, %R, %W, %x, %r, %n, %y, %s, %w) : {types}
  func.return
}}
func.func private @kernel({arguments}) attributes {{aicc.kernel, {attributes}}} {{
  loops.for "copied" %i = 0 to %C {threads} {{
    %v = loops.load %x[%i, l0, l1] : {x} to {vector}
    loops.store %v, %y[%i, l0, l1]{how} : {vector} to {y}
  }}
  loops.for "read" %i = 0 to %R parallel threads attributes {{grain = {GRAIN // ROWS} : i64}} {{
    %zero = arith.constant dense<0.0> : {vector}
    %sum = loops.for "row" %k = 0 to {ROWS} iter_args(%a = %zero) -> ({vector}) {{
      %v = loops.load %r[%i, %k, l0, l1] : {read} to {vector}
      %b = arith.addf %a, %v : {vector}
      loops.yield %b : {vector}
    }}
    loops.store %sum, %s[%i, l0, l1] : {vector} to {sums}
  }}
  loops.for "written" %i = 0 to %W {threads} {{
    %one = arith.constant dense<1.0> : {vector}
    loops.store %one, %w[%i, l0, l1]{how} : {vector} to {fresh}
  }}
  func.return
}}
"""


@cache
def _programs() -> tuple[int, list[Any]]:
    """The lanes of a vector, and the two programs."""
    import aicc
    from aicc.transforms.target_facts import facts_of

    lanes = facts_of("host").lanes(32)
    texts = (streams_program(lanes, past_caches=past) for past in (False, True))
    # The loops are as they should be: no schedule is wanted.
    return lanes, [aicc.compile(text, opt_level=0) for text in texts]


def _aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Ones that begin with a cache line."""
    memory = np.empty(math.prod(shape) * 4 + 64, np.uint8)
    array = np.ndarray(shape, np.float32, memory, -memory.ctypes.data % 64)
    array[:] = 1
    return array


def load_streams(path: Path, threads: int) -> Callable[[], Any]:
    """What runs the programs once with the bytes of the file `path`, in the way that is faster."""
    moved = Moved(**json.loads(path.read_text()))
    lanes, programs = _programs()
    row = VECTORS * lanes * 4
    both = min(moved.read, moved.written)
    copied, read, written = (
        -(-size // unit) for size, unit in ((both, row), (moved.read - both, ROWS * row), (moved.written - both, row))
    )
    tail = (VECTORS, lanes)
    inputs = [_aligned((copied, *tail)), _aligned((read, ROWS, *tail)), np.zeros(written, np.int8)]
    outputs = [_aligned((count, *tail)) for count in (copied, read, written)]
    calls = [partial(model.with_threads(threads), *inputs, out=outputs) for model in programs]
    return min(calls, key=_seconds)


def _seconds(call: Callable[[], Any]) -> float:
    """The least of some runs."""
    call()
    times: list[float] = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
