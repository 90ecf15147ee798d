"""The models that tests and benchmarks share are sane, and the rounds run, check and report."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from benchmarks import models
from benchmarks.__main__ import matmul, row
from benchmarks.rounds import compare, relative_error


def outputs(model: onnx.ModelProto, sizes: dict[str, int], seed: int) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, models.sample_inputs(model, sizes, seed))


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet", "resnet50"])
def test_light_models_have_spread_results_that_depend_on_the_input(name: str):
    (a,), (b,) = (outputs(models.light(name), {}, seed) for seed in (0, 1))
    # Softmax: compare the logits, which are the logarithms up to a constant.
    assert 1 < np.log(a).std() < 3
    assert np.log(a / b).std() > 0.1


@pytest.mark.parametrize("fused_norm", [True, False])
def test_the_encoder_runs_at_several_sizes(fused_norm: bool):
    model = models.encoder_transformer(layers=2, width=48, heads=3, fused_norm=fused_norm)
    for sizes in ({"N": 1, "S": 1}, {"N": 3, "S": 17}):
        hidden, pooled = outputs(model, sizes, 0)
        assert hidden.shape == (sizes["N"], sizes["S"], 48)
        assert 0.5 < hidden.std() < 2
        assert 0.2 < pooled.std() < 1


def test_weights_depend_on_the_seed_alone():
    one, same, other = (models.light("squeezenet", seed).SerializeToString() for seed in (0, 0, 1))
    assert one == same
    assert one != other


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match="unknown light model 'resnet51'; expected one of bvlc_alexnet, "):
        models.light("resnet51")


def test_rounds_check_every_engine_against_the_reference(tmp_path: Path):
    model = matmul(32)
    onnx.save(model, tmp_path / "matmul.onnx")
    inputs = models.sample_inputs(model)
    measured = compare(["numpy", "onnxruntime"], "numpy", tmp_path / "matmul.onnx", inputs, 1, 1, seconds=0.01)
    assert [m.engine for m in measured] == ["numpy", "onnxruntime"]
    assert measured[0].error == 0
    assert measured[1].error < 1e-5
    assert "reference" in row("matmul", 1, measured, "numpy", 1e9)


def test_a_nan_counts_as_an_infinite_difference():
    assert relative_error([np.array([1.0, np.nan])], [np.array([1.0, 2.0])]) == float("inf")
