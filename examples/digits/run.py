"""
Compiles the digits network, recognises 360 handwritten digits it never saw, and times it.

    python examples/digits/run.py

The same figures from onnxruntime stand beside ours if it is installed.
"""

import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
MODEL = HERE / "digits.onnx"
SHOWN, PER_ROW = 8, 4
INK = " ░▒▓█"

Runner = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Figures:
    """What one engine achieved; times in seconds."""

    engine: str
    preparation: float
    probabilities: np.ndarray
    alone: float
    batched: float


def held_out() -> tuple[np.ndarray, np.ndarray]:
    """The 360 images as the network takes them, `[360, 1, 8, 8]` f32 from 0 to 1, and their labels."""
    with np.load(HERE / "heldout.npz") as data:
        return (data["images"][:, None] / 16).astype(np.float32), data["labels"]


def with_aicc() -> Runner:
    import aicc

    model = aicc.compile(MODEL, threads=1, cache=False)
    return lambda images: model.run({"image": images})["probabilities"]


def with_onnxruntime() -> Runner:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
    return lambda images: session.run(None, {"image": images})[0]


def median_time(run: Callable[[], object], repeats: int) -> float:
    """Median of `repeats` calls in seconds, after one to warm up."""
    run()
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(engine: str, prepare: Callable[[], Runner], images: np.ndarray) -> Figures:
    start = time.perf_counter()
    run = prepare()
    preparation = time.perf_counter() - start
    probabilities = run(images)
    alone = median_time(lambda: run(images[:1]), 300)
    batched = median_time(lambda: run(images), 30) / len(images)
    return Figures(engine, preparation, probabilities, alone, batched)


def pictures(images: np.ndarray) -> str:
    """The images side by side in the terminal, two columns a pixel."""
    levels = np.rint(images[:, 0] * (len(INK) - 1)).astype(int)
    rows = ("   ".join("".join(INK[level] * 2 for level in image[row]) for image in levels) for row in range(8))
    return "\n".join(f"  {row}" for row in rows)


def answers(probabilities: np.ndarray, labels: np.ndarray) -> str:
    """One line below `pictures`: each answer, how sure it is, and the label where the answer is wrong."""
    cells: list[str] = []
    for row, label in zip(probabilities, labels, strict=True):
        best = int(row.argmax())
        cells.append(f"{best} ({row[best]:.1%})" + ("" if best == label else f", is {label}"))
    return "  " + "   ".join(f"{cell:^16}" for cell in cells)


def table(figures: list[Figures], labels: np.ndarray) -> str:
    """One column per engine."""
    right = [int((f.probabilities.argmax(1) == labels).sum()) for f in figures]
    rows = [
        ("", [f.engine for f in figures]),
        ("accuracy", [f"{count}/{len(labels)} = {count / len(labels):.2%}" for count in right]),
        ("time per image, one by one", [f"{f.alone * 1e6:.1f} us" for f in figures]),
        (f"time per image, {len(labels)} at once", [f"{f.batched * 1e6:.1f} us" for f in figures]),
        ("compile time (or load time)", [f"{f.preparation * 1e3:.0f} ms" for f in figures]),
    ]
    return "\n".join(f"  {name:<28}" + "".join(f"{cell:>20}" for cell in cells) for name, cells in rows)


def main() -> None:
    images, labels = held_out()
    figures = [measure("aicc", with_aicc, images)]
    print(f"\n{SHOWN} of {len(labels)} images that the network never saw, and its answers:\n")
    for first in range(0, SHOWN, PER_ROW):
        row = slice(first, first + PER_ROW)
        print(pictures(images[row]))
        print(answers(figures[0].probabilities[row], labels[row]), "\n")
    if importlib.util.find_spec("onnxruntime"):
        figures.append(measure("onnxruntime", with_onnxruntime, images))
    print(table(figures, labels))
    if len(figures) > 1:
        difference = np.abs(figures[0].probabilities - figures[1].probabilities).max()
        print(f"\n  largest difference between the two in any probability: {difference:.1e}")


if __name__ == "__main__":
    main()
