"""
One engine in a process of its own: `python -m benchmarks.peer ENGINE`, driven by its standard input.

It answers each line, a JSON list of a command and its arguments, with one line of JSON, `{"ok": ...}` or
`{"error": ...}`:

- `load MODEL THREADS`: loads the model in place of the last one (answer: seconds).
- `inputs PATH`: reads the inputs from an `.npz` file and runs once.
- `time SECONDS LEAST`: runs for that long, and `LEAST` times at least (answer: the seconds of each run).
- `results PATH`: writes the results of one run.
- `memory`: the resident set and its largest size so far, in bytes.
- `blas`: the kernels of numpy's matrix product.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.engines import ENGINES, Runner
from benchmarks.memory import resident_bytes, resident_peak_bytes


def blas() -> str:
    """The kernels that numpy's matrix product uses, as threadpoolctl names them."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "unknown (threadpoolctl is not installed)"
    found = [f"{info['internal_api']} {info.get('version')}, {info.get('architecture')}" for info in threadpool_info()]
    return "; ".join(found) or "unknown"


class Server:
    """Holds one loaded model and its inputs."""

    def __init__(self, engine: str) -> None:
        self.load_engine = ENGINES[engine]
        self.runner: Runner | None = None
        self.inputs: dict[str, np.ndarray] = {}

    def load(self, model: str, threads: int) -> float:
        self.runner, self.inputs = None, {}
        start = time.perf_counter()
        self.runner = self.load_engine(Path(model), threads)
        return time.perf_counter() - start

    def read_inputs(self, path: str) -> None:
        with np.load(path) as data:
            self.inputs = dict(data)
        self.results()

    def time(self, seconds: float, least: int) -> list[float]:
        assert self.runner is not None
        call, inputs = self.runner.call, self.inputs
        # The first run wakes the threads and fills the caches.
        call(inputs)
        times: list[float] = []
        end = time.perf_counter() + seconds
        while True:
            start = time.perf_counter()
            call(inputs)
            now = time.perf_counter()
            times.append(now - start)
            if now >= end and len(times) >= least:
                return times

    def results(self) -> Sequence[np.ndarray]:
        assert self.runner is not None
        return self.runner.arrays(self.runner.call(self.inputs))

    def save_results(self, path: str) -> None:
        np.savez(path, *self.results())

    def memory(self) -> tuple[int, int]:
        return resident_bytes(), resident_peak_bytes()

    def commands(self) -> dict[str, Callable[..., object]]:
        return {
            "load": self.load,
            "inputs": self.read_inputs,
            "time": self.time,
            "results": self.save_results,
            "memory": self.memory,
            "blas": blas,
        }


def one_line(error: BaseException) -> str:
    """Type and message of an error, without line ends, cut at 300 characters."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300]


def main() -> None:
    server = Server(sys.argv[1])
    commands = server.commands()
    # What an engine prints must not get between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            answer: dict[str, object] = {"ok": commands[command](*arguments)}
        except Exception as error:
            answer = {"error": one_line(error)}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
