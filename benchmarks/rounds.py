"""Runs engines side by side, each in a process of its own, in rounds A B C A B C, and checks their results."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Measured:
    """One engine on one workload; times in seconds."""

    engine: str
    load: float
    run: float
    error: float
    """Largest difference from the reference's results, as a share of its largest one; 0 for the reference."""


class Peer:
    """An engine's process, stopped while it is asked nothing: a spinning thread pool would take the others' cores."""

    def __init__(self, engine: str, model: Path, threads: int) -> None:
        self.engine = engine
        environment = os.environ | {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        environment.pop("OPENBLAS_CORETYPE", None)
        command = [sys.executable, "-m", "benchmarks.peer", engine, str(model), str(threads)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, line: str) -> Any:
        """
        The answer to one command.

        Raises:
            RuntimeError: if the process ended instead.
        """
        assert self.process.stdin and self.process.stdout
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.engine} ended at '{line}'; its message is above")
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(answer)

    def seconds(self, line: str) -> list[float]:
        """The answer to a command that times something."""
        answer = self.ask(line)
        return answer if isinstance(answer, list) else [answer]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def results_of(peer: Peer, folder: Path) -> list[np.ndarray]:
    """What the engine computes from its inputs."""
    path = folder / f"{peer.engine}-results.npz"
    peer.ask(f"results {path}")
    with np.load(path) as data:
        return [data[f"arr_{i}"] for i in range(len(data.files))]


def relative_error(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """The largest difference of any result, as a share of the largest element of the expected one; inf for a NaN."""
    worst = 0.0
    for a, b in zip(found, expected, strict=True):
        difference = np.abs(a.astype(np.float64) - b).max() / np.abs(b).max()
        worst = max(worst, float(difference) if np.isfinite(difference) else float("inf"))
    return worst


@contextlib.contextmanager
def peers(engines: Sequence[str], model: Path, threads: int) -> Generator[list[Peer]]:
    started: list[Peer] = []
    try:
        started.extend(Peer(engine, model, threads) for engine in engines)
        yield started
    finally:
        for peer in started:
            peer.close()


def compare(
    engines: Sequence[str],
    reference: str,
    model: Path,
    inputs: dict[str, np.ndarray],
    threads: int,
    rounds: int,
    *,
    seconds: float = 0.4,
) -> list[Measured]:
    """
    Median time of one run of each engine over all rounds, in each of which it runs for about `seconds`.

    `reference` is the engine whose results the others are held against; every engine is checked in this same run.
    """
    folder = model.parent
    given = folder / "inputs.npz"
    np.savez(given, **inputs)  # pyright: ignore[reportArgumentType]
    with peers(engines, model, threads) as started:
        loads: dict[str, float] = {}
        results: dict[str, list[np.ndarray]] = {}
        counts: dict[str, int] = {}
        for peer in started:
            (loads[peer.engine],) = peer.seconds("load")
            peer.ask(f"inputs {given}")
            results[peer.engine] = results_of(peer, folder)
            counts[peer.engine] = max(2, int(seconds / min(peer.seconds("time 3"))))
        times: dict[str, list[float]] = {peer.engine: [] for peer in started}
        for _ in range(rounds):
            for peer in started:
                times[peer.engine] += peer.seconds(f"time {counts[peer.engine]}")
    return [
        Measured(e, loads[e], statistics.median(times[e]), relative_error(results[e], results[reference]))
        for e in engines
    ]


def blas_of_numpy(model: Path) -> str:
    """The kernels that numpy chose, in a process like the one that is measured."""
    with peers(["numpy"], model, 1) as (peer,):
        return str(peer.ask("blas"))
