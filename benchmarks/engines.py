"""The engines that are compared: each loads an ONNX file and gives back a function from inputs to results."""

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
    return lambda inputs: list(request.infer(dict(inputs), share_inputs=True).to_tuple())


def load_numpy(model: Path, threads: int) -> Runner:
    """numpy for graphs of one `MatMul`, whose second operand may be an initializer."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(model).graph
    if [node.op_type for node in graph.node] != ["MatMul"]:
        raise NotImplementedError("numpy takes part in matrix products only")
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    a, b = graph.node[0].input

    def run(inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return [np.matmul(inputs[a], stored[b] if b in stored else inputs[b])]

    return run


ENGINES: dict[str, Callable[[Path, int], Runner]] = {
    "aicc": load_aicc,
    "numpy": load_numpy,
    "onnxruntime": load_onnxruntime,
    "openvino": load_openvino,
}
