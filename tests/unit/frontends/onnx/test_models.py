"""Whole networks: all of them are imported, the small ones are run and compared with onnxruntime."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from aicc.frontends.onnx import import_onnx
from benchmarks.models import LIGHT, encoder_transformer, light, mobilenet_v2, sample_inputs
from tests.unit.frontends.onnx.helper import function, onnxruntime_results, run_module


def compare(proto, module, sizes=None):
    feeds = sample_inputs(proto, sizes)
    results = run_module(module, feeds)
    for result, expected in zip(results, onnxruntime_results(proto, feeds), strict=True):
        assert result.shape == expected.shape
        assert np.abs(result - expected).max() <= 1e-3 * np.abs(expected).max()


def stored(name):
    """The file of a light model; its weights are `ConstantOfShape` nodes."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


@pytest.mark.parametrize("name", LIGHT)
def test_stored_graphs(name):
    import_onnx(stored(name)).verify()


@pytest.mark.parametrize("name", ["shufflenet", "squeezenet"])
def test_small_networks_with_random_weights(name):
    proto = light(name)
    compare(proto, import_onnx(proto))


def test_weights_that_are_all_equal_take_no_memory():
    main = function(import_onnx(stored("vgg19")))
    weights = [op.array() for op in main.body.block.ops if op.name == "graph.constant"]  # pyright: ignore
    large = [array for array in weights if array.size > 10_000]
    assert len(large) >= 16 and not any(any(array.strides) for array in large)


def test_mobilenet():
    module = import_onnx(mobilenet_v2())
    module.verify()
    fixed = mobilenet_v2(batch=1, size=32)
    compare(fixed, import_onnx(fixed))


@pytest.mark.parametrize("fused_norm", [True, False])
def test_encoder_with_symbolic_sizes(fused_norm):
    proto = encoder_transformer(2, 48, 4, vocabulary=50, positions=16, fused_norm=fused_norm)
    module = import_onnx(proto)
    # All that is computed from shapes is gone.
    assert not {"graph.sizes", "graph.concat"} & {op.name for op in function(module).body.block.ops}
    for sizes in ({"N": 1, "S": 1}, {"N": 3, "S": 7}, {"N": 2, "S": 16}):
        compare(proto, module, sizes)


def test_encoder_with_fixed_sizes():
    proto = encoder_transformer(1, 48, 4, vocabulary=50, positions=16)
    module = import_onnx(proto, shapes={"N": 2, "S": 5})
    compare(proto, module, {"N": 2, "S": 5})
