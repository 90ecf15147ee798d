"""What this machine can do at most, measured by loops of ours: for shares of the roofline."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from aicc.runtime.model import Model
from aicc.runtime.profile import Peaks

_CALLS = 5
_CHAINS = 10
"""Independent chains of multiply-adds: enough for two units of a latency of four or five cycles, in 16 registers."""


def loops_program(kernel: str, signature: Sequence[tuple[str, str]], outputs: int) -> str:
    """A module with one kernel of this body and arguments, and a `@main` that calls it."""
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in signature)
    names, kinds = (", ".join(parts) for parts in zip(*((f"%{name}", kind) for name, kind in signature), strict=True))
    return f"""
func.func @main({arguments}) attributes {{aicc.num_outputs = {outputs} : i64}} {{
  loops.call @kernel({names}) : {kinds}
  func.return
}}
func.func private @kernel({arguments}) attributes {{aicc.kernel, aicc.num_outputs = {outputs} : i64}} {{
{kernel}
  func.return
}}
"""


def fma_program(threads: int, chains: int, lanes: int, repeats: int, element: str) -> str:
    """`chains` independent chains of fused multiply-adds per thread, `repeats` steps each."""
    vector = f"vector<{chains}x{lanes}x{element}>"
    x = f"memref<{chains}x{lanes}x{element}>"
    out = f"memref<{threads}x{chains}x{lanes}x{element}>"
    # All rows differ, or the compiler would make one of them.
    body = f"""
  loops.for "thread" %t = 0 to {threads} parallel threads {{
    %a = loops.load %x[0, l1] : {x} to {vector}
    %b = loops.load %x[1, l1] : {x} to {vector}
    %start = loops.load %x[l0, l1] : {x} to {vector}
    %end = loops.for "repeat" %i = 0 to {repeats} iter_args(%c = %start) -> ({vector}) {{
      %d = math.fma %a, %c, %b : {vector}
      loops.yield %d : {vector}
    }}
    loops.store %end, %y[%t, l0, l1] : {vector} to {out}
  }}"""
    return loops_program(body, [("x", x), ("y", out)], 1)


def dot_program(threads: int, chains: int, lanes: int, repeats: int, instruction: str, parts: int) -> str:
    """
    `chains` independent chains of dot products of `parts` narrow numbers per lane and thread, `repeats` steps each.

    `instruction` is a name that `packed.dot` knows, without bits; bf16 where it takes two parts, bytes where it takes
    four.
    """
    element, kind = ("f32", "floats") if parts == 2 else ("i32", "lhs_unsigned")
    packed, sums = f"vector<{chains}x{lanes}xi32>", f"vector<{chains}x{lanes}x{element}>"
    x = f"memref<{chains}x{lanes}xi32>"
    out = f"memref<{threads}x{chains}x{lanes}x{element}>"
    add = "arith.addf %c, %p fastmath<reassoc>" if parts == 2 else "arith.addi %c, %p"
    using = f'{kind}, using = "{instruction}{32 * lanes}"'
    body = f"""
  loops.for "thread" %t = 0 to {threads} parallel threads {{
    %a = loops.load %x[0, l1] : {x} to {packed}
    %b = loops.load %x[1, l1] : {x} to {packed}
    %bits = loops.load %x[l0, l1] : {x} to {packed}
    %start = arith.bitcast %bits : {packed} to {sums}
    %end = loops.for "repeat" %i = 0 to {repeats} iter_args(%c = %start) -> ({sums}) {{
      %p = packed.dot %a, %b {{parts = {parts} : i64, {using}}} : {packed}, {packed} -> {sums}
      %d = {add} : {sums}
      loops.yield %d : {sums}
    }}
    loops.store %end, %y[%t, l0, l1] : {sums} to {out}
  }}"""
    return loops_program(body, [("x", x), ("y", out)], 1)


def copy_program(threads: int, rows: int, lanes: int, repeats: int) -> str:
    """Every thread copies its `rows` rows of 8 vectors `repeats` times."""
    vector, x = f"vector<8x{lanes}xf32>", f"memref<{threads}x{rows}x8x{lanes}xf32>"
    body = f"""
  loops.for "thread" %t = 0 to {threads} parallel threads {{
    loops.for "repeat" %i = 0 to {repeats} {{
      loops.for "row" %r = 0 to {rows} {{
        %v = loops.load %x[%t, %r, l0, l1] : {x} to {vector}
        loops.store %v, %y[%t, %r, l0, l1] : {vector} to {x}
      }}
    }}
  }}"""
    return loops_program(body, [("x", x), ("y", x)], 1)


def _least(model: Model, x: np.ndarray) -> Callable[[], float]:
    def once() -> float:
        start = time.perf_counter()
        model(x)
        return time.perf_counter() - start

    return lambda: min(once() for _ in range(_CALLS))


def measured_peaks(threads: int) -> Peaks:
    """
    Operations on f32 and bytes to and from memory per second that `threads` threads reach together; takes about a
    second. The figures are what code reaches, so a share may come out somewhat above 1.
    """
    from aicc.compiler import compile
    from aicc.transforms.target_facts import facts_of

    facts = facts_of("host")
    lanes = facts.lanes(32)
    x = np.linspace(0.5, 0.6, _CHAINS * lanes, dtype=np.float32).reshape(_CHAINS, lanes)
    repeats = 200_000
    # A difference of two programs, so that what a call costs drops out.
    few, many = (
        _least(compile(fma_program(threads, _CHAINS, lanes, count, "f32"), threads=threads, opt_level=0), x)()
        for count in (repeats, 3 * repeats)
    )
    flops = 2 * threads * _CHAINS * lanes * 2 * repeats / max(many - few, 1e-9)
    rows = max(1, 2 * facts.l3_bytes // (threads * 8 * lanes * 4))
    data = np.zeros((threads, rows, 8, lanes), np.float32)
    seconds = _least(compile(copy_program(threads, rows, lanes, 1), threads=threads, opt_level=0), data)()
    return Peaks(flops=flops, bytes=2 * data.nbytes / seconds)
