"""
The engines that are compared: each loads an ONNX file and gives back how to run it.

What is timed is the call that a user makes: arrays in, fresh arrays out, in the container that the engine gives.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.streams import NAME as STREAMS
from benchmarks.streams import load_streams

Inputs = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Runner:
    """A loaded model: one call, and the arrays of what the call gave, in the order of the model's outputs."""

    call: Callable[[Inputs], Any]
    arrays: Callable[[Any], Sequence[np.ndarray]]


def _same(results: Any) -> Any:
    return results


_compiled: dict[tuple[Path, int], Any] = {}
"""The last model that aicc compiled in this process, by file and time of its last change: threads are no reason to
compile again."""


def load_aicc(model: Path, threads: int) -> Runner:
    import aicc

    key = (model, model.stat().st_mtime_ns)
    if key not in _compiled:
        _compiled.clear()
        _compiled[key] = aicc.compile(model, threads=threads)
    compiled = _compiled[key].with_threads(threads)
    return Runner(compiled.run, lambda results: list(results.values()))


def load_onnxruntime(model: Path, threads: int) -> Runner:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return Runner(lambda inputs: session.run(None, inputs), _same)


def load_openvino(model: Path, threads: int) -> Runner:
    import openvino

    options = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        # Without it, machines with bf16 units answer in bf16.
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = openvino.Core().compile_model(model, "CPU", options).create_infer_request()
    return Runner(lambda inputs: request.infer(inputs, share_inputs=True), lambda results: results.to_tuple())


def load_numpy(model: Path, threads: int) -> Runner:
    """numpy for graphs of one `MatMul`, whose second operand may be an initializer."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(model).graph
    if [node.op_type for node in graph.node] != ["MatMul"]:
        raise NotImplementedError("numpy takes part in matrix products only")
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    a, b = graph.node[0].input
    if b in stored:
        return Runner(lambda inputs: np.matmul(inputs[a], stored[b]), lambda result: [result])
    return Runner(lambda inputs: np.matmul(inputs[a], inputs[b]), lambda result: [result])


def load_torch(model: Path, threads: int, *, compiled: bool = False) -> Runner:
    import torch

    from benchmarks.torch_graph import torch_runner

    torch.set_num_threads(threads)
    return Runner(torch_runner(str(model), compiled=compiled), lambda results: [value.numpy() for value in results])


def load_jax(model: Path, threads: int) -> Runner:
    """jax takes as many threads as the process may run on."""
    if len(os.sched_getaffinity(0)) > threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    os.environ["JAX_ENABLE_X64"] = "1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    from benchmarks.jax_graph import jax_runner

    return Runner(jax_runner(str(model)), lambda results: [np.asarray(value) for value in results])


def load_moving(moved: Path, threads: int) -> Runner:
    """No engine for models: moves the bytes that the file `moved` says, see `benchmarks.streams`."""
    call = load_streams(moved, threads)
    return Runner(lambda _: call(), lambda _: ())


ENGINES: dict[str, Callable[[Path, int], Runner]] = {
    "aicc": load_aicc,
    "jax": load_jax,
    "numpy": load_numpy,
    "onnxruntime": load_onnxruntime,
    "openvino": load_openvino,
    STREAMS: load_moving,
    "torch": load_torch,
    "torch-compiled": partial(load_torch, compiled=True),
}

PACKAGES = {engine: engine.partition("-")[0] for engine in ENGINES} | {STREAMS: "aicc"}
"""What is imported for an engine."""


def interpreter_of(engine: str) -> str:
    """
    The Python that runs an engine: `$AICC_BENCH_<PACKAGE>_PYTHON`, such as `AICC_BENCH_TORCH_PYTHON`, else this one.

    It needs the package, numpy and onnx.
    """
    return os.environ.get(f"AICC_BENCH_{PACKAGES[engine].upper()}_PYTHON") or sys.executable


def engines_here() -> list[str]:
    """
    The engines that are installed, those that are measured when none are named; the reference last.

    torch and jax take part when an interpreter is named for them.
    """
    others = [e for e in ENGINES if e not in ("aicc", "numpy", STREAMS) and find_spec(PACKAGES[e])]
    named = [e for e in ENGINES if interpreter_of(e) != sys.executable]
    order = ("aicc", "numpy", "torch", "torch-compiled", "jax", "openvino", "onnxruntime")
    return [engine for engine in order if engine in ("aicc", "numpy", *others, *named)]
