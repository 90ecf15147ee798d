"""
Real networks from ONNX to native code, against onnxruntime, at every opt level and thread count.

The tolerance is 1e-3 of the largest output: f32 sums of up to 25,088 products, in another order than the peer's.
"""

import os
from functools import cache
from typing import Any

import numpy as np
import onnxruntime
import pytest

import aicc
from aicc.dialects.loops import ForOp
from aicc.frontends.onnx import import_onnx
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.tools.driver_api import run_pipeline
from benchmarks.models import LIGHT, encoder_transformer, light, mobilenet_v2, sample_inputs

TOLERANCE = 1e-3
SIZES = {"N": 1, "S": 7}

ALL = (*LIGHT, "mobilenet_v2", "encoder_transformer")
QUICK = ("squeezenet", "shufflenet", "resnet50", "mobilenet_v2", "encoder_transformer")
"""Run by default; the others when AICC_ALL_MODELS is set, since they take minutes to compile or, at -O0, to run."""

QUICK_PLAIN = ("squeezenet", "shufflenet", "encoder_transformer")


def names(quick: tuple[str, ...]) -> tuple[str, ...]:
    return ALL if os.environ.get("AICC_ALL_MODELS") else quick


@cache
def network(name: str) -> tuple[bytes, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The model, one set of inputs, and onnxruntime's outputs for it."""
    builders: dict[str, Any] = {"mobilenet_v2": mobilenet_v2, "encoder_transformer": encoder_transformer}
    model = builders[name]() if name in builders else light(name)
    inputs = sample_inputs(model, SIZES, seed=1)
    data = model.SerializeToString()
    return data, inputs, reference(data, inputs)


def reference(data: bytes, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def check(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].shape == array.shape and found[name].dtype == array.dtype
        error = np.abs(found[name] - array).max(initial=0)
        assert error <= TOLERANCE * np.abs(array).max(initial=0), f"{name}: {error}"


@pytest.mark.parametrize("name", names(QUICK))
def test_optimised(name: str):
    data, inputs, expected = network(name)
    model = aicc.compile(data, threads=1)
    one = model.run(inputs)
    check(one, expected)
    two = model.with_threads(2).run(inputs)
    for output, array in one.items():
        assert np.array_equal(two[output], array), "the result depends on the thread count"


@pytest.mark.parametrize("name", names(QUICK_PLAIN))
def test_plain(name: str):
    data, inputs, expected = network(name)
    model = aicc.compile(data, threads=1, opt_level=0)
    check(model.run(inputs), expected)
    check(model.with_threads(2).run(inputs), expected)


def test_one_compile_for_all_sizes():
    """The encoder with batch and length as symbols: right at 20 sizes, 1 and odd ones included."""
    data = encoder_transformer().SerializeToString()
    model = aicc.compile(data)
    from onnx import load_model_from_string

    proto = load_model_from_string(data)
    for batch in (1, 2, 3, 5):
        for length in (1, 2, 7, 16, 33):
            inputs = sample_inputs(proto, {"N": batch, "S": length}, seed=batch * 100 + length)
            check(model.run(inputs), reference(data, inputs))


def test_kernels_are_really_split_between_threads():
    module = import_onnx(network("squeezenet")[0])
    names = [step.name for step in pipeline_steps("O2", PipelineOptions())]
    run_pipeline(module, ",".join(names[: names.index("loops-apply-schedules") + 1]))
    split = [op for op in module.walk() if isinstance(op, ForOp) and op.threads is not None and op.trip_count != 1]
    # Two convolutions in each of eight fire modules, of which equal ones share a kernel.
    assert len(split) >= 10
