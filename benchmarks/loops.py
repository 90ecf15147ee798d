"""
A decoder that generates in a `Loop`, beside one of its steps compiled and called alone, and beside onnxruntime's loop.

A ratio of 1 says that a loop costs what its body does. The step alone has half of the loop's steps behind it.
"""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import onnxruntime

import aicc
from benchmarks.networks.decoder import Decoder

ENOUGH = 1.2
"""Of the time of the step alone."""

CASES = {
    "appended": Decoder(),
    "written": Decoder(most=128),
    "small appended": Decoder(2, 64, 4, 256),
    "small written": Decoder(2, 64, 4, 256, most=128),
}
"""By how a step's keys and values are kept. Of the small ones most of a step is what is not arithmetic."""


@dataclass(frozen=True)
class Generation:
    """Seconds per step; `equal`: whether onnxruntime generates the same."""

    case: str
    threads: int
    steps: int
    alone: float
    looped: float
    peer: float
    equal: bool

    @property
    def ratio(self) -> float:
        """Of the step in the loop to the step alone."""
        return self.looped / self.alone


def _seconds(runs: Sequence[Callable[[], object]], rounds: int, least: float) -> list[float]:
    """The median over `rounds` of the time of each, in turns of `least` seconds or more."""
    taken: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(rounds):
        for run, times in zip(runs, taken, strict=True):
            begin, calls = time.perf_counter(), 0
            while calls == 0 or time.perf_counter() - begin < least:
                run()
                calls += 1
            times.append((time.perf_counter() - begin) / calls)
    return [statistics.median(times) for times in taken]


def measure_loops(
    cases: Iterable[str], threads: Sequence[int], steps: int, rounds: int, least: float
) -> list[Generation]:
    """A line for each decoder and number of threads, printed as it comes."""
    found: list[Generation] = []
    print("| decoder | threads | steps | step alone, us | in the loop, us | ratio | onnxruntime's loop, us | equal |")
    print("|---|---:|---:|---:|---:|---:|---:|---|", flush=True)
    for name in cases:
        for count in threads:
            one = _measure(name, count, steps, rounds, least)
            found.append(one)
            cells = [f"{seconds * 1e6:.0f}" for seconds in (one.alone, one.looped)]
            cells += [f"{one.ratio:.2f}", f"{one.peer * 1e6:.0f}", "yes" if one.equal else "NO"]
            print(f"| {name} | {count} | {steps} | {' | '.join(cells)} |", flush=True)
    return found


def _measure(name: str, threads: int, steps: int, rounds: int, least: float) -> Generation:
    decoder = CASES[name]
    looped = decoder.loop()
    step, loop = (aicc.compile(model, threads=threads) for model in (decoder.step(), looped))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(looped.SerializeToString(), options, ["CPUExecutionProvider"])
    inputs, one = decoder.loop_inputs(steps), decoder.step_inputs(steps // 2)
    equal = bool((loop.run(inputs)["tokens"] == session.run(None, inputs)[0]).all())
    runs = [lambda: step.run(one), lambda: loop.run(inputs), lambda: session.run(None, inputs)]
    alone, together, peer = _seconds(runs, rounds, least)
    return Generation(name, threads, steps, alone, together / steps, peer / steps, equal)
