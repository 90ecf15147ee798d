"""
Random ONNX models, compiled, against their meaning: `python -m tests.unit.fuzz.models --count 3000 --seed 1`.

Each model runs in a child process of its own with limits on time and memory. One that shows a fault is saved, with its
inputs, to a folder from which `aicc reduce` takes it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from aicc.tools.limited import ANSWER, Limits, Outcome, run_limited, run_parts
from tests.unit.fuzz.builder import BF16
from tests.unit.fuzz.generator import random_model
from tests.unit.fuzz.judge import check_compiled, examine

LIMITS = Limits(seconds=180)


def warm() -> None:
    """Imports what all models need, without threads."""
    for seed in (0, 1):
        check_compiled(random_model(seed, most_nodes=1), ((0, 1), (2, 1)))


def outcome_of(seed: int, peers: bool) -> Outcome:
    """How the model of a seed fared; an answer with a text is a refusal."""
    return run_limited(partial(examine, seed, peers), LIMITS)


def fault_of(outcome: Outcome) -> str | None:
    """What is wrong, if anything: also a warning about the compiler's own choices."""
    if outcome.kind != ANSWER:
        return f"{outcome.kind}: {outcome.text}"
    warning = next((line for line in outcome.output.splitlines() if "warning:" in line), None)
    return warning


def save(seed: int, folder: Path) -> str:
    """Writes the model of a seed and its inputs; the command that makes it smaller."""
    folder = folder / f"model{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    model = random_model(seed)
    (folder / "model.onnx").write_bytes(model.model.SerializeToString())
    words = ["aicc", "reduce", str(folder / "model.onnx")]
    for name, array in model.feeds.items():
        # The .npy format knows no bfloat16: its bytes are saved.
        np.save(folder / f"{name}.npy", array.view("V2") if array.dtype == BF16 else array)
        words += ["--input", f"{name}={folder / name}.npy"]
    return " ".join(words)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=3000, help="models (default: 3000)")
    parser.add_argument("--seed", type=int, default=0, help="the first model's seed; others follow (default: 0)")
    parser.add_argument(
        "--step", type=int, default=1, help="from one seed to the next (default: 1; 3 from seed 2: control flow)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="models at a time (default: 1)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no model after this time")
    parser.add_argument("--no-peers", action="store_true", help="do not ask onnxruntime and onnx.reference")
    parser.add_argument("--folder", type=Path, default=Path("fuzz-faults"), help="where to save models that fail")
    options = parser.parse_args()
    if options.count < 1 or options.jobs < 1 or options.step < 1:
        parser.error("--count, --step and --jobs must be at least 1")
    warm()
    seeds = range(options.seed, options.seed + options.step * options.count, options.step)
    return run_parts(options.jobs, lambda part: _run(seeds[part :: options.jobs], options))


def _run(seeds: range, options: argparse.Namespace) -> int:
    faults, refused, end, done = 0, Counter[str](), time.monotonic() + options.seconds, 0
    for seed in seeds:
        if time.monotonic() > end:
            break
        done += 1
        outcome = outcome_of(seed, not options.no_peers)
        fault = fault_of(outcome)
        if fault is not None:
            faults += 1
            print(f"seed {seed}: {fault}", flush=True)
            saved = run_limited(lambda seed=seed: save(seed, options.folder), LIMITS)
            print(f"  {saved.text}" if saved.kind == ANSWER else f"  not saved: {saved.text}", flush=True)
        elif outcome.text:
            refused[outcome.text[:160]] += 1
    lines = [f"{done} models, {faults} faults, {sum(refused.values())} refused"]
    lines += [f"  {count}: {reason}" for reason, count in refused.most_common(20)]
    print("\n".join(lines), flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
