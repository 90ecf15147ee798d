"""Rows of figures and their tables."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from benchmarks.cases import Work
from benchmarks.rounds import Measured
from benchmarks.streams import NAME as STREAMS

OURS = "aicc"

SHORT = {"onnxruntime": "ort", "openvino": "ov", "torch-compiled": "torch-c"}
"""What engines are called in columns."""


COUNTING = ("numpy", "onnxruntime", "openvino")
"""Peers that the ratio is taken to; torch counts in matrix products too, and is only shown in the rest, as jax is."""


@dataclass(frozen=True)
class Row:
    """One case with one number of threads. `bound` is the roofline's time in seconds, 0 where it says nothing."""

    case: str
    threads: int
    engines: dict[str, Measured]
    work: Work
    bound: float

    @property
    def ours(self) -> Measured | None:
        found = self.engines.get(OURS)
        return None if found is None or found.refused else found

    @property
    def fastest_peer(self) -> Measured | None:
        counting = (*COUNTING, "torch", "torch-compiled") if self.case.startswith("matmul/") else COUNTING
        peers = [m for m in self.engines.values() if m.engine in counting and not m.refused]
        return min(peers, key=lambda m: m.run, default=None)

    @property
    def ratio(self) -> float | None:
        """Our time over the fastest peer's: below 1 we are ahead."""
        peer = self.fastest_peer
        return None if self.ours is None or peer is None else self.ours.run / peer.run

    @property
    def share(self) -> float | None:
        """Of the bandwidth measured beside the case: the time that moving its data alone took over ours."""
        moving = self.engines.get(STREAMS)
        return None if self.ours is None or moving is None else moving.run / self.ours.run

    @property
    def refused(self) -> str:
        """Why we could not run it; empty if we did or were not asked."""
        found = self.engines.get(OURS)
        return "" if found is None else found.refused


def duration(seconds: float) -> str:
    """Three significant digits: `12.3u`, `4.56m`, `1.23s`."""
    for factor, unit in ((1e6, "u"), (1e3, "m")):
        value = seconds * factor
        if value < 999.5:
            return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}{unit}"
    return f"{seconds:.2f}s"


def worst_first(rows: Iterable[Row]) -> list[Row]:
    """By falling ratio; what we cannot run comes last."""
    return sorted(rows, key=lambda row: -(row.ratio if row.ratio is not None else -1.0))


def _cells(row: Row, peers: Sequence[str]) -> list[str]:
    ours, work = row.ours, row.work
    cells = [row.case, str(row.threads)]
    for engine in (OURS, *peers):
        found = row.engines.get(engine)
        cells.append("-" if found is None or found.refused else duration(found.run))
    cells.append("-" if row.ratio is None else f"{row.ratio:.2f}")
    if ours is None:
        return [*cells, "-", "-", "-", "-", "-"]
    cells.append(f"{work.flops / ours.run / 1e9:.1f}" if work.flops else "-")
    cells.append(f"{work.bytes / ours.run / 1e9:.1f}")
    cells.append("-" if row.share is None else f"{row.share:.0%}")
    cells.append(f"{row.bound / ours.run:.0%}" if row.bound else "-")
    cells.append(f"{ours.error:.0e}")
    return cells


def header(peers: Sequence[str]) -> list[str]:
    names = [SHORT.get(peer, peer) for peer in peers]
    return ["case", "thr", OURS, *names, "ratio", "GFLOP/s", "GB/s", "share", "roof", "error"]


class LiveTable:
    """Prints rows as they come, in columns."""

    def __init__(self, cases: Sequence[str], peers: Sequence[str]) -> None:
        self.peers = peers
        self.width = max((len(case) for case in cases), default=4)
        print(self._line(header(peers)), flush=True)

    def _line(self, cells: Sequence[str]) -> str:
        return cells[0].ljust(self.width) + "".join(cell.rjust(9) for cell in cells[1:])

    def add(self, row: Row) -> None:
        print(self._line(_cells(row, self.peers)), flush=True)
        for measured in row.engines.values():
            if measured.refused and measured.engine != "numpy":
                print(f"    {measured.engine}: {measured.refused}", flush=True)


def markdown(rows: Iterable[Row], peers: Sequence[str]) -> str:
    """The table of `rows` in their order, then what could not be run."""
    lines = ["| " + " | ".join(header(peers)) + " |", "|---|" + "---:|" * (len(header(peers)) - 1)]
    rows = list(rows)
    lines += ["| " + " | ".join(_cells(row, peers)) + " |" for row in rows if not row.refused]
    refused = {row.case: row.refused for row in rows if row.refused}
    lines += ["", *(f"- {case}: {reason}" for case, reason in refused.items())] if refused else []
    return "\n".join(lines)


def geometric_mean(values: Sequence[float]) -> float:
    """1 for no values."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0


def summary(rows: Iterable[Row]) -> str:
    """By family and number of threads: how many cases, the geometric mean of the ratios, the worst of them."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        if row.ratio is not None:
            groups.setdefault((row.case.partition("/")[0], row.threads), []).append(row)
    lines = ["| family | thr | cases | mean ratio | ahead | worst |", "|---|---:|---:|---:|---:|---|"]
    for (family, threads), found in groups.items():
        ratios = [row.ratio for row in found if row.ratio is not None]
        worst = max(found, key=lambda row: row.ratio or 0.0)
        ahead = sum(ratio <= 1 for ratio in ratios)
        lines.append(
            f"| {family} | {threads} | {len(found)} | {geometric_mean(ratios):.2f} | {ahead} "
            f"| {worst.ratio:.2f} {worst.case} |"
        )
    return "\n".join(lines)


def totals(rows: Iterable[Row], counts: Mapping[str, Mapping[str, int]]) -> str:
    """
    By whole (a network) and number of threads, the sum over its parts' times; empty if no whole has been measured.

    `counts` says how many of which cases each whole consists of. The ratio is that of the sums; `ahead` are the cases
    in which we are at least as fast as the fastest peer.
    """
    known = {(row.case, row.threads): row for row in rows}
    peers = list(dict.fromkeys(e for row in known.values() for e in row.engines if e != OURS and e in COUNTING[1:]))
    heads = ["parts of", "thr", "cases", OURS, *(SHORT.get(peer, peer) for peer in peers), "ratio", "roof", "ahead"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for (whole, parts), threads in product(counts.items(), sorted({threads for _, threads in known})):
        found = [(known.get((case, threads)), count) for case, count in parts.items()]
        measured = [(row, count) for row, count in found if row is not None and row.ours is not None]
        if len(measured) < len(parts):
            continue
        sums: list[float] = []
        for engine in (OURS, *peers):
            times = [(row.engines[engine], count) for row, count in measured if engine in row.engines]
            complete = len(times) == len(parts) and not any(one.refused for one, _ in times)
            sums.append(sum(one.run * count for one, count in times) if complete else math.inf)
        best = min(sums[1:], default=math.inf)
        bound = sum(row.bound * count for row, count in measured)
        ahead = sum(row.ratio is not None and row.ratio <= 1 for row, _ in measured)
        cells = [whole, str(threads), str(len(parts)), *(duration(s) if s < math.inf else "-" for s in sums)]
        cells += ["-" if best == math.inf else f"{sums[0] / best:.3f}", f"{bound / sums[0]:.0%}", str(ahead)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) if len(lines) > 2 else ""


def compared(old: Iterable[Row], new: Iterable[Row], threshold: float = 0.05) -> str:
    """A table of the rows whose time of aicc changed by more than `threshold` (a share), the worst first."""
    before = {(row.case, row.threads): row for row in old}
    changed: list[tuple[float, str]] = []
    ratios: list[float] = []
    for row in new:
        earlier = before.get((row.case, row.threads))
        if earlier is None or earlier.ours is None or row.ours is None:
            continue
        factor = row.ours.run / earlier.ours.run
        ratios.append(factor)
        if abs(factor - 1) > threshold:
            times = f"{duration(earlier.ours.run)} | {duration(row.ours.run)}"
            changed.append((factor, f"| {row.case} | {row.threads} | {times} | {factor:.2f} |"))
    lines = ["| case | thr | before | now | now / before |", "|---|---:|---:|---:|---:|"]
    lines += [text for _, text in sorted(changed, reverse=True)]
    return "\n".join(
        [*lines, "", f"{len(ratios)} cases in both; geometric mean of now / before {geometric_mean(ratios):.3f}"]
    )
