"""
One engine in a process of its own: `python -m benchmarks.peer ENGINE MODEL THREADS`, driven by its standard input.

It answers each line with one line of JSON. `load` loads the model (answer: seconds). `inputs PATH` reads the inputs
from an `.npz` file and runs once. `time N` runs N times (answer: the seconds of each). `results PATH` writes the
results of one run. Engines: `aicc`, `onnxruntime`, `openvino`, and `numpy`, which knows matrix products only.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

Runner = Callable[[Mapping[str, np.ndarray]], Sequence[np.ndarray]]


def load_aicc(model: Path, threads: int) -> Runner:
    import aicc

    compiled = aicc.compile(model, threads=threads)
    return lambda inputs: list(compiled.run(inputs).values())


def load_onnxruntime(model: Path, threads: int) -> Runner:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, dict(inputs))


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
    return lambda inputs: [np.array(value) for value in request.infer(dict(inputs)).values()]


def load_numpy(model: Path, threads: int) -> Runner:
    return lambda inputs: [np.matmul(*inputs.values())]


ENGINES: dict[str, Callable[[Path, int], Runner]] = {
    "aicc": load_aicc,
    "numpy": load_numpy,
    "onnxruntime": load_onnxruntime,
    "openvino": load_openvino,
}


def blas() -> str:
    """The kernels that numpy's matrix product uses, as threadpoolctl names them."""
    from threadpoolctl import threadpool_info

    found = [f"{info['internal_api']} {info.get('version')}, {info.get('architecture')}" for info in threadpool_info()]
    return "; ".join(found) or "unknown"


def main() -> None:
    def run(_: Mapping[str, np.ndarray]) -> Sequence[np.ndarray]:
        raise RuntimeError("nothing is loaded yet")

    engine, model, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    inputs: dict[str, np.ndarray] = {}
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        answer: object = None
        if command == "load":
            start = time.perf_counter()
            run = ENGINES[engine](model, threads)
            answer = time.perf_counter() - start
        elif command == "inputs":
            with np.load(argument) as data:
                inputs = dict(data)
            run(inputs)
        elif command == "time":
            times: list[float] = []
            for _ in range(int(argument)):
                start = time.perf_counter()
                run(inputs)
                times.append(time.perf_counter() - start)
            answer = times
        elif command == "results":
            np.savez(argument, *run(inputs))
        elif command == "blas":
            answer = blas()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
