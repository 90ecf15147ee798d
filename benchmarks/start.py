"""
What it takes to have a model ready, in a fresh process: `python -m benchmarks.start ENGINE MODEL INPUTS THREADS`.

Prints one line of JSON: the fields of `Start`.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Start:
    """Seconds, and growth of the resident set in bytes since before the engine was imported."""

    ready: float
    """From before the engine's import until the model is loaded, compiled if need be."""
    load: float
    """Of that, without the import of the engine's package."""
    load_peak: int
    """The most that was held until the model was ready."""
    children_peak: int
    """The resident set of the largest child process."""
    run_bytes: int
    """Held after three runs."""
    run_peak: int
    """The most that was held while running."""


def reset_peak() -> None:
    """Lets the largest resident set start from now (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def start(engine: str, model: Path, inputs: Path, threads: int) -> Start:
    """Loads the model and runs it three times, in this process."""
    import resource

    import numpy as np

    from benchmarks.engines import ENGINES, PACKAGES
    from benchmarks.memory import resident_bytes, resident_peak_bytes

    base = resident_bytes()
    reset_peak()
    begin = time.perf_counter()
    __import__(PACKAGES[engine])
    imported = time.perf_counter()
    runner = ENGINES[engine](model, threads)
    end = time.perf_counter()
    load_peak = resident_peak_bytes() - base
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    with np.load(inputs) as data:
        arrays = dict(data)
    given = sum(array.nbytes for array in arrays.values())
    reset_peak()
    for _ in range(3):
        runner.call(arrays)
    run_bytes, run_peak = resident_bytes() - base - given, resident_peak_bytes() - base - given
    return Start(end - begin, end - imported, load_peak, children, run_bytes, run_peak)


if __name__ == "__main__":
    _, engine, model, inputs, threads = sys.argv
    print(json.dumps(asdict(start(engine, Path(model), Path(inputs), int(threads)))))
