"""
How far engines are from the same model computed in float64.

The judge is the numpy meaning of the graph ops, run on the model with every f32 turned into f64; the weights and inputs
are the f32 ones, so what remains is the rounding within the run.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from benchmarks.cases import Case, Inputs
from benchmarks.peer import one_line
from benchmarks.results import write_json
from benchmarks.rounds import PeerError, peers_for, relative_error, results_of

F32, F64 = TensorProto.FLOAT, TensorProto.DOUBLE

SAMPLES = 4
"""
Inputs per model: behind a softmax, say, the largest error is the rounding of one number, and of one input the quotient
of two engines' is anything from 0.3 to 3.
"""


@dataclass(frozen=True)
class Accuracy:
    """Largest difference from the float64 run, as a share of its largest result, by engine; the mean over inputs."""

    case: str
    errors: dict[str, float]
    refused: str = ""
    """Why there is no float64 run."""


def _doubled(tensor: onnx.TensorProto) -> onnx.TensorProto:
    if tensor.data_type != F32:
        return tensor
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name)


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """`graph` and all graphs within its nodes."""
    waiting = [graph]
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting += [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]


def in_float64(model: onnx.ModelProto) -> onnx.ModelProto:
    """`model` with f64 wherever it says f32."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for graph in _graphs(wide.graph):
        stored = [_doubled(tensor) for tensor in graph.initializer]
        del graph.initializer[:]
        graph.initializer.extend(stored)
        for value in (*graph.input, *graph.output, *graph.value_info):
            if value.type.tensor_type.elem_type == F32:
                value.type.tensor_type.elem_type = F64
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    attribute.t.CopyFrom(_doubled(attribute.t))
                elif attribute.name in ("to", "dtype") and attribute.i == F32:
                    attribute.i = F64
    return wide


def exact(model: onnx.ModelProto, samples: Sequence[Inputs]) -> list[list[np.ndarray]]:
    """The results in f64 for each of the inputs."""
    from aicc.dialects.graph.evaluator import evaluate_function
    from aicc.frontends.onnx import import_onnx
    from aicc.lowering.signature import main_function, tensor_infos

    module = import_onnx(in_float64(model))
    main = main_function(module)
    infos, _ = tensor_infos(main)
    return [
        evaluate_function(main, [inputs[info.name].astype(info.dtype) for info in infos], module) for inputs in samples
    ]


def measure_accuracy(cases: Iterable[Case], engines: Sequence[str], keep: Path) -> list[Accuracy]:
    """A line for each case, printed as it comes and merged into the file."""
    found = read_accuracy(keep)
    measured: list[Accuracy] = []
    with tempfile.TemporaryDirectory() as name, peers_for([1]) as pools:
        folder = Path(name)
        for case in cases:
            model = case.build()
            onnx.save(model, folder / "model.onnx")
            samples = [case.sample(model, seed) for seed in range(1 if case.inputs else SAMPLES)]
            errors: dict[str, float] = {}
            refused = ""
            try:
                expected = exact(model, samples)
            except Exception as error:
                expected, refused = [], one_line(error)
            for engine in engines if expected else ():
                peer = pools[1][engine]
                found_errors: list[float] = []
                try:
                    pools[1].load(engine, folder / "model.onnx")
                    for inputs, results in zip(samples, expected, strict=True):
                        np.savez(folder / "inputs.npz", **inputs)  # pyright: ignore[reportArgumentType]
                        peer.ask("inputs", str(folder / "inputs.npz"))
                        found_errors.append(relative_error(results_of(peer, folder), results))
                except PeerError:
                    continue
                errors[engine] = fmean(found_errors)
            measured.append(Accuracy(case.name, errors, refused))
            text = ", ".join(f"{engine} {error:.1e}" for engine, error in errors.items())
            print(f"{case.name}: {text or refused}", flush=True)
            found[case.name] = measured[-1]
            write_json(keep, {"accuracy": [asdict(entry) for entry in found.values()]})
    return measured


def accuracy_table(found: Iterable[Accuracy], engine: str = "aicc", reference: str = "onnxruntime") -> str:
    """Markdown: errors by engine, and that of `engine` over that of `reference`."""
    found = list(found)
    engines = list(dict.fromkeys(name for entry in found for name in entry.errors))
    lines = [f"| model | {' | '.join(engines)} | {engine} / {reference} |", "|---|" + "---:|" * (len(engines) + 1)]
    for entry in found:
        if entry.refused:
            lines.append(f"| {entry.case} | {entry.refused} |")
            continue
        cells = [f"{entry.errors[name]:.1e}" if name in entry.errors else "-" for name in engines]
        ours, other = entry.errors.get(engine), entry.errors.get(reference)
        cells.append(f"{ours / other:.2f}" if ours is not None and other else "-")
        lines.append(f"| {entry.case} | {' | '.join(cells)} |")
    return "\n".join(lines)


def read_accuracy(path: Path) -> dict[str, Accuracy]:
    """By case; empty if there is no such file."""
    if not path.exists():
        return {}
    return {entry["case"]: Accuracy(**entry) for entry in json.loads(path.read_text())["accuracy"]}
