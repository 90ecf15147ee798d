"""Plots of the tables: the ratio to the fastest peer, and the share of the roofline, case by case."""

from collections.abc import Sequence
from pathlib import Path

from aicc.runtime.wording import number_of
from benchmarks.report import Row

PER_PAGE = 60
"""Bars of one picture; more cases make more pictures."""

AHEAD, BEHIND, NEUTRAL = "#2a7f4f", "#c0392b", "#4a6fa5"


def _bars(
    title: str, names: Sequence[str], values: Sequence[float], colours: Sequence[str], path: Path, *, log: bool
) -> None:
    """One horizontal bar for each name, from the line at 1 if `log`, else from 0."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10, 1.4 + 0.2 * len(names)), layout="constrained")
    places = range(len(names))
    if log:
        axes.set_xscale("log", base=2)
        axes.barh(places, [value - 1 for value in values], left=1, color=colours, height=0.75)
        low, high = min(0.5, *values) / 1.25, max(2.0, *values) * 1.25
        axes.set_xlim(low, high)
        ticks = [tick for tick in (0.125, 0.25, 0.5, 0.8, 1, 1.25, 2, 4, 8, 16) if low < tick < high]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.axvline(1, color="black", linewidth=1)
    else:
        axes.barh(places, values, color=colours, height=0.75)
        axes.set_xlim(0, max(1.0, *values) * 1.08)
        axes.axvline(1, color="black", linewidth=1)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    for place, value in zip(places, values, strict=True):
        text = f" {value:.2f} " if log else f" {value:.0%}"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
        axes.text(value, place, text, va="center", ha="right" if log and value < 1 else "left", fontsize=7, bbox=box)
    axes.set_yticks(places, names, fontsize=7)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=10)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def plot(kind: str, rows: Sequence[Row], folder: Path) -> list[Path]:
    """
    Pictures of all rows of one kind (`kernels`, `models`), for each number of threads; their paths.

    Ratios are on a logarithmic axis around 1: to the left aicc is faster than the fastest peer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []

    def draw(what: str, threads: int, title: str, values: list[tuple[str, float, str]], *, log: bool) -> None:
        pages = [values[i : i + PER_PAGE] for i in range(0, len(values), PER_PAGE)]
        for page, part in enumerate(pages, 1):
            suffix = f"-{page}" if len(pages) > 1 else ""
            path = folder / f"{kind}-{what}-{threads}t{suffix}.png"
            names, numbers, colours = (list(column) for column in zip(*part, strict=True))
            _bars(title, names, numbers, colours, path, log=log)
            made.append(path)

    for threads in sorted({row.threads for row in rows}):
        here = [row for row in rows if row.threads == threads]
        count = number_of(threads, "thread")
        ratios = [(r.case, r.ratio, AHEAD if r.ratio <= 1 else BEHIND) for r in here if r.ratio is not None]
        draw("ratio", threads, f"{kind}, {count}: time of aicc / time of the fastest peer", ratios, log=True)
        shares = [(r.case, r.bound / r.ours.run, NEUTRAL) for r in here if r.ours and r.bound]
        draw(
            "roofline",
            threads,
            f"{kind}, {count}: share of the roofline (direct convolution) that aicc reaches",
            shares,
            log=False,
        )
    return made
