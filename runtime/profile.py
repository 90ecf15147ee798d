"""What a profiled program notes of each of its kernel calls, as a table and as a trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from aicc.runtime.wording import number_of

RUNS, TOTAL, SHORTEST, LAST, BYTES, FLOPS = range(6)
"""
Columns of the counters: runs, nanoseconds in all, of the shortest run, and the clock when the last run began; bytes and
operations in all, of calls that count them.
"""

CLOCK_SHIM = """
declare i32 @clock_gettime(i32, ptr)
define i64 @aicc_clock() {
  %t = alloca [2 x i64]
  %status = call i32 @clock_gettime(i32 1, ptr %t)
  %seconds = load i64, ptr %t
  %rest = getelementptr i64, ptr %t, i64 1
  %nanoseconds = load i64, ptr %rest
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %nanoseconds
  ret i64 %now
}
"""
"""Nanoseconds of the steady clock (number 1 on Linux)."""


def new_counters(calls: int) -> np.ndarray:
    """Counters of that many calls, none of which has run."""
    counters = np.empty((calls, FLOPS + 1), np.int64)
    reset_counters(counters)
    return counters


def reset_counters(counters: np.ndarray) -> None:
    """Forgets all runs."""
    counters[:] = 0
    counters[:, SHORTEST] = np.iinfo(np.int64).max


@dataclass(frozen=True)
class KernelTime:
    """One kernel call of a model, over all runs of a profile."""

    kernel: str
    nodes: tuple[str, ...]
    """Names of the source model's nodes that it computes."""
    schedule: str
    """How the kernel is run; empty where it is run as it stands."""
    calls: float
    """Calls in a run of the model; other than 1 in a loop or a branch."""
    seconds: float
    """Time in a run of the model."""
    start: float
    """When the last call began, in seconds since the first kernel of that run did."""
    flops: int | None
    """Operations on floats in a run of the model, as the model spells them."""
    bytes: int
    """Bytes of all buffers that a call reads or writes, each counted once, over a run of the model."""

    @property
    def flops_per_second(self) -> float | None:
        """Operations per second; None where their number is not known."""
        return None if self.flops is None or not self.seconds else self.flops / self.seconds

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes per second; None for a call that never ran."""
        return self.bytes / self.seconds if self.seconds else None


@dataclass(frozen=True)
class Peaks:
    """What the machine can do at most, for shares of it: operations on f32 and bytes of memory per second."""

    flops: float
    bytes: float


@dataclass(frozen=True)
class Profile:
    """Times of a model's kernel calls, in the order of the program."""

    kernels: tuple[KernelTime, ...]
    seconds: float
    """Time of a run of the model, with what is not in any kernel."""
    runs: int
    threads: int

    def table(self, peaks: Peaks | None = None, *, most: int = 40) -> str:
        """
        The `most` slowest calls, slowest first, one line each, and a line for the rest.

        With `peaks`, `roof` is the share of the roofline: the time that the arithmetic at the peak or the traffic at
        the full bandwidth would take, whichever is longer, over the time taken. Caches can lift it above 100 %.
        """
        ordered = sorted(self.kernels, key=lambda kernel: -kernel.seconds)
        head = ["ms", "share", "calls", "GFLOP/s", "GB/s", *(["roof"] if peaks is not None else []), "kernel", "nodes"]
        lines = [head, *(self._line(kernel, peaks) for kernel in ordered[:most])]
        inside = sum(kernel.seconds for kernel in self.kernels)
        if rest := ordered[most:]:
            seconds = sum(kernel.seconds for kernel in rest)
            lines.append(self._note(seconds, f"{len(rest)} more", len(head)))
        lines.append(self._note(max(self.seconds - inside, 0.0), "outside of kernels", len(head)))
        where = number_of(self.threads, "thread")
        lines.append(self._note(self.seconds, f"a run, mean of {self.runs}, {where}", len(head)))
        widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 2)]
        rows = [[text.rjust(width) for text, width in zip(line, widths, strict=False)] + line[-2:] for line in lines]
        return "\n".join("  ".join(row).rstrip() for row in rows)

    def _line(self, kernel: KernelTime, peaks: Peaks | None) -> list[str]:
        flops, traffic = kernel.flops_per_second, kernel.bytes_per_second
        cells = [
            f"{kernel.seconds * 1e3:.3f}",
            f"{100 * kernel.seconds / self.seconds:.1f}%" if self.seconds else "-",
            f"{kernel.calls:g}",
            "-" if flops is None else f"{flops / 1e9:.1f}",
            "-" if traffic is None else f"{traffic / 1e9:.1f}",
        ]
        if peaks is not None:
            least = max((kernel.flops or 0) / peaks.flops, kernel.bytes / peaks.bytes)
            cells.append(f"{100 * least / kernel.seconds:.0f}%" if kernel.seconds else "-")
        nodes = ", ".join(kernel.nodes[:4]) + (f", and {len(kernel.nodes) - 4} more" if len(kernel.nodes) > 4 else "")
        return [*cells, kernel.kernel, nodes]

    def _note(self, seconds: float, text: str, columns: int) -> list[str]:
        share = f"{100 * seconds / self.seconds:.1f}%" if self.seconds else "-"
        return [f"{seconds * 1e3:.3f}", share, *[""] * (columns - 4), text, ""]

    def trace(self) -> str:
        """
        The last run as JSON of the Trace Event Format (one complete event per call), which Perfetto opens.

        A call in a loop shows as its last iteration, as long as the mean one.
        """
        events = [
            {
                "name": ", ".join(kernel.nodes) or kernel.kernel,
                "cat": "kernel",
                "ph": "X",
                "pid": 1,
                "tid": 1,
                "ts": kernel.start * 1e6,
                "dur": kernel.seconds / kernel.calls * 1e6,
                "args": {
                    "kernel": kernel.kernel,
                    "schedule": kernel.schedule,
                    "calls": kernel.calls,
                    "GFLOP/s": None if kernel.flops_per_second is None else kernel.flops_per_second / 1e9,
                    "GB/s": None if kernel.bytes_per_second is None else kernel.bytes_per_second / 1e9,
                },
            }
            for kernel in self.kernels
            if kernel.calls
        ]
        names = [{"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "kernels"}}]
        return json.dumps({"traceEvents": names + events, "displayTimeUnit": "ms"}, indent=1)

    def save_trace(self, path: str | PathLike[str]) -> None:
        """
        Writes `trace()` to a file.

        Raises:
            OSError: the file cannot be written.
        """
        Path(path).write_text(self.trace(), encoding="utf-8")

    def __str__(self) -> str:
        return self.table()


def kernel_times(
    calls: Sequence[tuple[str, tuple[str, ...], str]],
    work: Sequence[tuple[float | None, float]],
    counters: np.ndarray,
    runs: int,
) -> tuple[KernelTime, ...]:
    """
    The rows of a profile: `calls` are (kernel, nodes, schedule), `work` (operations, bytes) of one call, on average
    where they differ, `counters` those of `runs` runs of the model.
    """
    begun = counters[counters[:, RUNS] > 0, LAST]
    first = int(begun.min()) if begun.size else 0
    found: list[KernelTime] = []
    for (kernel, nodes, schedule), (flops, size), row in zip(calls, work, counters, strict=True):
        count = int(row[RUNS]) / runs
        start = (int(row[LAST]) - first) / 1e9 if count else 0.0
        found.append(
            KernelTime(
                kernel=kernel,
                nodes=nodes,
                schedule=schedule,
                calls=count,
                seconds=int(row[TOTAL]) / 1e9 / runs,
                start=start,
                flops=None if flops is None else round(flops * count),
                bytes=round(size * count),
            )
        )
    return tuple(found)
