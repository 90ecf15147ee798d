"""Runs engines side by side, each in a process of its own, in rounds A B C A B C, and checks their results."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engines import interpreter_of
from benchmarks.streams import NAME as STREAMS
from benchmarks.streams import Moved

ROOT = Path(__file__).parents[1]

STEERING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
"""Variables that would change what a peer's kernels are."""


class PeerError(Exception):
    """An engine cannot do what it is asked; the message is one line."""


@dataclass(frozen=True)
class Measured:
    """One engine on one case; times in seconds."""

    engine: str
    load: float = 0.0
    run: float = 0.0
    """The median."""
    least: float = 0.0
    error: float = 0.0
    """Largest difference from the reference's results, as a share of its largest one; 0 for the reference."""
    refused: str = ""
    """Why the engine could not run the case; then the figures mean nothing."""


def plain_environment(threads: int) -> dict[str, str]:
    """The environment of an engine's process: libraries choose their kernels themselves, for so many threads."""
    environment = {name: value for name, value in os.environ.items() if name not in STEERING}
    return environment | {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


class Peer:
    """An engine's process, stopped while it is asked nothing: a spinning thread pool would take the others' cores."""

    def __init__(self, engine: str, threads: int) -> None:
        self.engine = engine
        command = [interpreter_of(engine), "-m", "benchmarks.peer", engine]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=plain_environment(threads), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, command: str, *arguments: object) -> Any:
        """
        The answer to one command.

        Raises:
            PeerError: it failed, or the process ended instead.
        """
        assert self.process.stdin and self.process.stdout
        self.process.send_signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([command, *arguments]) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise PeerError(f"{self.engine} ended with status {self.process.wait()} at '{command}'")
        self.process.send_signal(signal.SIGSTOP)
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer["ok"]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


ONE_FOR_ALL = ("aicc", STREAMS)
"""Engines whose process can run models with any number of threads, so that one serves all."""


class Peers:
    """
    The processes of some engines with one number of threads; started when first needed, again when one has ended.

    `shared` holds those of `ONE_FOR_ALL`, for all numbers of threads.
    """

    def __init__(self, threads: int, shared: dict[str, Peer] | None = None) -> None:
        self.threads = threads
        self._peers: dict[str, Peer] = {}
        self._shared: dict[str, Peer] = {} if shared is None else shared

    def __getitem__(self, engine: str) -> Peer:
        peers = self._shared if engine in ONE_FOR_ALL else self._peers
        peer = peers.get(engine)
        if peer is None or peer.process.poll() is not None:
            peer = peers[engine] = Peer(engine, self.threads)
        return peer

    def load(self, engine: str, model: Path) -> float:
        """Has the engine load the model; the seconds it took. Raises: PeerError."""
        return self[engine].ask("load", str(model), self.threads)

    def close(self) -> None:
        for peers in (self._peers, self._shared):
            for peer in peers.values():
                peer.close()
            peers.clear()


@contextlib.contextmanager
def peers_for(threads: Sequence[int]) -> Generator[dict[int, Peers]]:
    """Peers by number of threads, all ended at the end."""
    shared: dict[str, Peer] = {}
    pools = {count: Peers(count, shared) for count in threads}
    try:
        yield pools
    finally:
        for pool in pools.values():
            pool.close()


def results_of(peer: Peer, folder: Path) -> list[np.ndarray]:
    """What the engine computes from its inputs."""
    path = folder / f"{peer.engine}-results.npz"
    peer.ask("results", str(path))
    with np.load(path) as data:
        return [data[f"arr_{i}"] for i in range(len(data.files))]


def relative_error(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """
    The largest difference of any result, as a share of the largest finite element of the expected one.

    NaN and infinities must stand in the same places (inf if they do not) and count for nothing there.
    """
    worst = 0.0
    for a, b in zip(found, expected, strict=True):
        if not b.size:
            continue
        exact = b.astype(np.float64)
        finite = np.isfinite(exact)
        if not np.array_equal(np.where(finite, 0, a), np.where(finite, 0, exact), equal_nan=True):
            return float("inf")
        scale = float(np.abs(exact[finite]).max(initial=0.0)) or 1.0
        difference = float(np.abs(a[finite] - exact[finite]).max(initial=0.0)) / scale
        worst = max(worst, difference if np.isfinite(difference) else float("inf"))
    return worst


@dataclass(frozen=True)
class Comparison:
    """All engines on one case, and the results of the reference (none if no engine could run it)."""

    engines: dict[str, Measured]
    results: list[np.ndarray]


def compare(
    pool: Peers,
    engines: Sequence[str],
    model: Path,
    inputs: Mapping[str, np.ndarray],
    *,
    rounds: int,
    seconds: float,
    moved: Callable[[Sequence[np.ndarray]], Moved | None] = lambda _: None,
) -> Comparison:
    """
    Median time of one run of each engine over all rounds, in each of which it runs for about `seconds`.

    The last of `engines` that can run the case is the one whose results the others are held against. `moved` tells of
    the results how much the case moves at least, None where that is not what takes its time: moving as much is timed
    along with the engines.
    """
    folder = model.parent
    given = folder / "inputs.npz"
    np.savez(given, **inputs)  # pyright: ignore[reportArgumentType]
    loads: dict[str, float] = {}
    results: dict[str, list[np.ndarray]] = {}
    refused: dict[str, str] = {}
    times: dict[str, list[float]] = {}
    for engine in engines:
        try:
            loads[engine] = pool.load(engine, model)
            pool[engine].ask("inputs", str(given))
            results[engine] = results_of(pool[engine], folder)
            times[engine] = []
        except PeerError as error:
            refused[engine] = str(error).replace(f"{model}: ", "")
    expected = results[list(results)[-1]] if results else []
    if expected and (work := moved(expected)) is not None:
        work.write(folder / "moved.json")
        loads[STREAMS] = pool.load(STREAMS, folder / "moved.json")
        results[STREAMS], times[STREAMS] = expected, []
    for _ in range(rounds):
        for engine, collected in times.items():
            collected += pool[engine].ask("time", seconds, 1)
    measured = {engine: Measured(engine, refused=reason) for engine, reason in refused.items()}
    for engine, collected in times.items():
        error = relative_error(results[engine], expected)
        measured[engine] = Measured(engine, loads[engine], statistics.median(collected), min(collected), error=error)
    order = [*engines, *(engine for engine in times if engine not in engines)]
    return Comparison({engine: measured[engine] for engine in order}, expected)
