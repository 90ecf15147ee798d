"""
Models with symbolic sizes at many sizes, each beside the same model compiled for that size alone.

A model is compiled once; results are compared with onnxruntime's, or with the numpy meaning where products are of int8
(onnxruntime's saturate on processors without dot-product instructions). Times of the two programs are taken in turns. A
ratio of 1 says that nothing is lost by not knowing the sizes.
"""

import json
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import aicc
from aicc.runtime.model import Model
from benchmarks.cases import Case, Inputs
from benchmarks.models import sample_inputs
from benchmarks.results import write_json
from benchmarks.rounds import relative_error

ENOUGH = 0.9
"""Of the speed of the model that was compiled for the size."""

BOUND = 1e-3
"""Of an error, as a share of the largest result."""

QUANTISED_BOUND = 1e-1
"""With int8 inside, where values that are equal but for rounding can become neighbouring integers in every layer."""

RANGES: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "net/mobilenet_v2": {"N": (8, 1)},
    "net/mobilenet_v3": {"N": (8, 1)},
    "net/efficientnet_b0": {"N": (6, 1)},
    "net/encoder384": {"N": (4, 1), "S": (192, 1)},
    "net/lstm_tagger": {"N": (8, 1), "S": (96, 1)},
    "net/gru_tagger": {"N": (8, 1), "S": (96, 1)},
    "folder/crepe_tiny": {"batch": (64, 1)},
    "folder/diffusion_unet": {"batch": (4, 1)},
    "folder/dlrm": {"batch": (512, 1)},
    "folder/espcn": {"batch": (2, 1), "h": (96, 1), "w": (96, 1)},
    "folder/minilm_dynq": {"batch": (4, 1), "seq": (128, 1)},
    "folder/silero_vad_seq": {"sequence_length": (64, 1)},
    "folder/unet": {"batch": (2, 1), "height": (192, 16), "width": (192, 16)},
    "folder/wavenet": {"batch": (2, 1), "time": (4096, 1)},
}
"""Case -> symbol -> its largest value, and what its values are multiples of."""


@dataclass(frozen=True)
class AtSize:
    """One model at one size; times in seconds."""

    sizes: dict[str, int]
    dynamic: float
    static: float
    error: float
    """Of the model for all sizes, from what the judge says."""

    @property
    def ratio(self) -> float:
        """Speed of the model for all sizes, as a share of that of the model for this one."""
        return self.static / self.dynamic


@dataclass(frozen=True)
class Dynamic:
    """One model at many sizes."""

    case: str
    threads: int
    compiles: int
    """Programs that the sizes asked for, of the model for all sizes."""
    bound: float
    """Errors above it are wrong."""
    rows: list[AtSize]

    @property
    def wrong(self) -> bool:
        """Whether a result is."""
        return any(row.error > self.bound for row in self.rows)


def sizes_of(case: str, count: int) -> list[dict[str, int]]:
    """`count` combinations of sizes, small ones as often as large ones; the smallest and the largest are there."""
    ranges = RANGES[case]
    chosen = random.Random(0)

    def drawn(most: int, step: int) -> int:
        return step * max(1, round(exp(chosen.uniform(0, log(most // step)))))

    ends = [{name: step for name, (_, step) in ranges.items()}, {name: most for name, (most, _) in ranges.items()}]
    found = ends[:count]
    for _ in range(100 * count):
        if len(found) >= count:
            break
        sizes = {name: drawn(*limits) for name, limits in ranges.items()}
        if sizes not in found:
            found.append(sizes)
    return found


def _file(folder: Path, case: str, sizes: Mapping[str, int]) -> Path:
    parts = [case.replace("/", "-"), *(f"{name}{value}" for name, value in sizes.items())]
    return folder / f"{'_'.join(parts)}.aicc"


def prepare_sizes(cases: Iterable[Case], count: int, folder: Path) -> None:
    """Compiles the models for all sizes and for each, unless that has been done."""
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        model: onnx.ModelProto | None = None
        for sizes in ({}, *sizes_of(case.name, count)):
            if not (file := _file(folder, case.name, sizes)).exists():
                model = model or case.build()
                aicc.compile(model, shapes=sizes).save(file)


def _times(models: Sequence[Model], inputs: Inputs, rounds: int, seconds: float) -> list[float]:
    """The median over `rounds` of the time per call of each, in turns of about `seconds`."""
    begin = time.perf_counter()
    for model in models:
        model.run(inputs)
    once = (time.perf_counter() - begin) / len(models)
    calls = max(1, int(seconds / once))
    taken: list[list[float]] = [[] for _ in models]
    for _ in range(rounds):
        for model, times in zip(models, taken, strict=True):
            begin = time.perf_counter()
            for _ in range(calls):
                model.run(inputs)
            times.append((time.perf_counter() - begin) / calls)
    return [statistics.median(times) for times in taken]


def _is_quantised(proto: onnx.ModelProto) -> bool:
    return any("Integer" in node.op_type or node.op_type.startswith("QLinear") for node in proto.graph.node)


def _judge(proto: onnx.ModelProto) -> Callable[[Inputs], list[np.ndarray]]:
    """What gives the right results of a model."""
    if _is_quantised(proto):
        from aicc.dialects.graph.evaluator import evaluate_function
        from aicc.lowering.signature import main_function, tensor_infos
        from aicc.source import load_module

        module = load_module(proto)
        main = main_function(module)
        names = [info.name for info in tensor_infos(main)[0]]
        return lambda inputs: evaluate_function(main, [inputs[name] for name in names], module)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), None, ["CPUExecutionProvider"])
    return lambda inputs: [np.asarray(result) for result in session.run(None, inputs)]


def measured(case: Case, count: int, folder: Path, threads: int, rounds: int, seconds: float) -> Dynamic:
    """One model at `count` sizes."""
    proto = case.build()
    model = aicc.load(_file(folder, case.name, {}), threads=threads)
    judge = _judge(proto)
    rows: list[AtSize] = []
    for sizes in sizes_of(case.name, count):
        inputs = sample_inputs(proto, sizes)
        expected = judge(inputs)
        results = list(model.run(inputs).values())
        error = relative_error(results, expected)
        fixed = aicc.load(_file(folder, case.name, sizes), threads=threads)
        dynamic, static = _times((model, fixed), inputs, rounds, seconds)
        rows.append(AtSize(sizes, dynamic, static, error))
    bound = QUANTISED_BOUND if _is_quantised(proto) else BOUND
    return Dynamic(case.name, threads, 1 + model.stats.compiles, bound, rows)


def measure_dynamic(
    cases: Iterable[Case], count: int, threads: Sequence[int], rounds: int, seconds: float, keep: Path
) -> list[Dynamic]:
    """A line for each model, printed as it comes and merged into the file."""
    found = {(d.case, d.threads): d for d in read_dynamic(keep)}
    measured_now: list[Dynamic] = []
    print("\n".join(_HEAD), flush=True)
    for case in cases:
        for number in threads:
            one = measured(case, count, keep.parent / "dynamic", number, rounds, seconds)
            measured_now.append(one)
            print(_line(one), flush=True)
            found[case.name, number] = one
            write_json(keep, {"dynamic": [asdict(d) for d in found.values()]})
    return measured_now


def read_dynamic(path: Path) -> list[Dynamic]:
    """None if there is no such file."""
    if not path.exists():
        return []
    entries = json.loads(path.read_text())["dynamic"]
    return [Dynamic(**{**entry, "rows": [AtSize(**row) for row in entry["rows"]]}) for entry in entries]


_HEAD = (
    "| model | threads | sizes | compiles | speed to static: mean | least | at | below 0.9 | error |",
    "|---|---:|---:|---:|---:|---:|---|---:|---:|",
)


def _line(one: Dynamic) -> str:
    ratios = [row.ratio for row in one.rows]
    least = min(one.rows, key=lambda row: row.ratio)
    at = ", ".join(f"{name}={size}" for name, size in least.sizes.items())
    cells = [
        one.case,
        str(one.threads),
        str(len(one.rows)),
        str(one.compiles),
        f"{statistics.geometric_mean(ratios):.2f}",
        f"{least.ratio:.2f}",
        f"{at} ({least.dynamic * 1e3:.2f} ms, static {least.static * 1e3:.2f})",
        str(sum(ratio < ENOUGH for ratio in ratios)),
        f"{max(row.error for row in one.rows):.1e}",
    ]
    return f"| {' | '.join(cells)} |"


def dynamic_table(found: Iterable[Dynamic]) -> Iterator[str]:
    """Markdown: a line for each model and number of threads."""
    yield from _HEAD
    yield from map(_line, found)
