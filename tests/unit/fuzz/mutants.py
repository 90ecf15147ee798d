"""
Damaged models: `python -m tests.unit.fuzz.mutants --count 5000 --seed 1`.

Each mutant of one of 20 models is compiled, and run if that works, in a child process of its own. It must end in an
answer or one diagnostic within 5 seconds and 2 GiB, and read nothing outside of its folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from xdsl.utils.exceptions import DiagnosticException

import aicc
from aicc.runtime.errors import InputError, OutOfMemory, ProgramError
from aicc.runtime.model import Model
from aicc.tools.limited import ANSWER, Limits, Outcome, run_limited, run_parts
from tests.unit.fuzz.generator import random_model
from tests.unit.fuzz.models import warm
from tests.unit.fuzz.mutations import mutated_bytes, mutated_fields

MODELS = 20
LIMITS = Limits(seconds=5, memory=2 << 30)
ROOT = Path(__file__).parents[3]


def _network() -> onnx.ModelProto:
    """A small image classifier with weights large enough to be cut out of the protobuf."""
    rng = np.random.default_rng(0)
    weights = {
        "w1": rng.standard_normal((16, 3, 3, 3)).astype(np.float32),
        "w2": rng.standard_normal((32, 16, 3, 3)).astype(np.float32),
        "w3": rng.standard_normal((32, 10)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["c", "w2"], ["d"]),
        helper.make_node("GlobalAveragePool", ["d"], ["e"]),
        helper.make_node("Flatten", ["e"], ["f"]),
        helper.make_node("MatMul", ["f", "w3"], ["g"]),
        helper.make_node("Softmax", ["g"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 3, 16, 16])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _function_model() -> onnx.ModelProto:
    """A model with a local function, a sparse initializer, and external data."""
    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[2, 3], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", "4096"), ("length", "24")):
        tensor.external_data.add(key=key, value=value)
    nodes = [helper.make_node("Twice", ["x"], ["t"], domain="own"), helper.make_node("Mul", ["t", "w"], ["y"])]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])],
        [tensor],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=[function])


@cache
def sources() -> list[bytes]:
    """The models that are damaged: random ones, networks, and one with everything around a graph."""
    from benchmarks.models import light

    models = [_network(), _function_model(), light("squeezenet")]
    models += [random_model(seed, most_nodes=6).model for seed in range(9000, 9000 + MODELS - len(models))]
    return [model.SerializeToString() for model in models]


def mutant(seed: int) -> bytes:
    """The mutant of a seed."""
    rng = np.random.default_rng([seed, 7])
    models = sources()
    data = models[seed % len(models)]
    if rng.random() < 0.35:
        return mutated_bytes(data, rng, models[int(rng.integers(len(models)))])
    return mutated_fields(data, rng)


class OutsideError(AssertionError):
    """Something outside of the model's folder was read."""


def _watch_files(folder: Path) -> None:
    """Ends the process's run when a file is opened that neither belongs to the tools nor lies in `folder`."""
    allowed = [sys.prefix, sys.base_prefix, str(ROOT), str(folder), "/proc/self", "/proc/cpuinfo", "/sys", "/dev"]
    allowed += [os.path.realpath(os.path.dirname(aicc.__file__)), "/usr", "/lib", "/etc/ld.so.cache", "/proc/meminfo"]
    allowed += [os.path.realpath(place) for place in sys.path if place]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        path = os.path.abspath(os.path.join(os.getcwd(), os.fsdecode(arguments[0])))
        real = os.path.realpath(path)
        temporary = os.path.join(tempfile.gettempdir(), "aicc-")
        if path.startswith("/proc/self/fd/"):
            return
        if path == "/proc/self/mem" or not any(real.startswith(str(place)) for place in (*allowed, temporary)):
            raise OutsideError(f"opened {path}")

    sys.addaudithook(hook)


def _inputs(model: Model) -> dict[str, np.ndarray] | None:
    arrays: dict[str, np.ndarray] = {}
    for info in model.inputs:
        shape = [dim if isinstance(dim, int) else 3 for dim in info.shape]
        if np.prod(shape, dtype=object) > 1 << 20:
            return None
        arrays[info.name] = np.ones(shape, info.dtype)
    return arrays


def attempt(data: bytes, level: int, folder: Path, before: Callable[[], object] | None = None) -> str:
    """What comes of a mutant; the diagnostic begins with `refused`. `before` is run first, under the same eyes."""
    path = folder / "model.onnx"
    path.write_bytes(data)
    _watch_files(folder)
    if before is not None:
        before()
    try:
        model = aicc.compile(path, opt_level=level, threads=1, cache=False)
        inputs = _inputs(model)
        if inputs is not None:
            model.run(inputs)
    except (DiagnosticException, InputError, OutOfMemory, ProgramError) as error:
        text = str(error)
        if "internal fault" in text:
            raise
        return f"refused: {text}"
    return "ran" if inputs is not None else "compiled"


def outcome_of(seed: int, data: bytes | None = None, before: Callable[[], object] | None = None) -> Outcome:
    """How the mutant of a seed fared."""
    base = Path(tempfile.mkdtemp(prefix="mutant-"))
    try:
        folder = base / "model"
        folder.mkdir()
        (base / "secret").write_bytes(b"s" * 8192)
        (folder / "weights.bin").write_bytes(bytes(8192))
        (folder / "link").symlink_to(base / "secret")
        return run_limited(
            partial(attempt, mutant(seed) if data is None else data, (0, 2)[seed // 3 % 2], folder, before), LIMITS
        )
    finally:
        shutil.rmtree(base)


def fault_of(outcome: Outcome) -> str | None:
    return None if outcome.kind == ANSWER else f"{outcome.kind}: {outcome.text}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000, help="mutants (default: 5000)")
    parser.add_argument("--seed", type=int, default=0, help="the first mutant's seed; others follow (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutant after this time")
    parser.add_argument("--folder", type=Path, default=Path("fuzz-faults"), help="where to save mutants that fail")
    options = parser.parse_args()
    if options.count < 1 or options.jobs < 1:
        parser.error("--count and --jobs must be at least 1")
    warm()
    sources()
    seeds = range(options.seed, options.seed + options.count)
    return run_parts(options.jobs, lambda part: _run(seeds[part :: options.jobs], options))


def _run(seeds: range, options: argparse.Namespace) -> int:
    faults, ends, end, most, slowest = 0, Counter[str](), time.monotonic() + options.seconds, 0, 0.0
    for seed in seeds:
        if time.monotonic() > end:
            break
        outcome = outcome_of(seed)
        fault = fault_of(outcome)
        ends["fault" if fault else outcome.text.partition(":")[0]] += 1
        most, slowest = max(most, outcome.memory), max(slowest, outcome.seconds)
        if fault is not None:
            faults += 1
            options.folder.mkdir(parents=True, exist_ok=True)
            path = options.folder / f"mutant{seed}.onnx"
            path.write_bytes(mutant(seed))
            print(f"seed {seed}: {fault[:600]}\n  saved as {path}", flush=True)
    told = ", ".join(f"{count} {what}" for what, count in ends.most_common())
    print(f"{sum(ends.values())} mutants: {told}; at most {slowest:.1f} s and {most >> 20} MiB", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
