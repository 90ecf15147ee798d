"""The models that tests and benchmarks share are sane, and the rounds run, check and report."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from benchmarks import models
from benchmarks.builder import F32, Builder
from benchmarks.cases import Case, Work
from benchmarks.kernels.matmul import matmul
from benchmarks.machine import Bandwidth, Limits
from benchmarks.measure import Plan, measure
from benchmarks.report import Row, duration
from benchmarks.results import merge_rows, read_rows
from benchmarks.rounds import Measured, relative_error


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


def rows_of(cases: list[Case], tmp_path: Path, engines: list[str]) -> list[Row]:
    plan = Plan(engines, [1], 1, 0.001, tmp_path / "rows.json", float("inf"), {})
    return measure(cases, {1: Limits({"f32": 1e9})}, plan)


def test_every_engine_is_held_against_the_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    case = Case("matmul/32", lambda: matmul((32, 32), (32, 32), constant=True))
    (row,) = rows_of([case], tmp_path, ["numpy", "onnxruntime"])
    assert list(row.engines) == ["numpy", "onnxruntime"]
    assert row.engines["onnxruntime"].error == 0
    assert row.engines["numpy"].error < 1e-5
    assert row.work.flops == 2 * 32**3
    assert row.work.bytes == 3 * 4 * 32**2
    assert row.bound == pytest.approx(2 * 32**3 / 1e9)
    assert read_rows(tmp_path / "rows.json") == [row]
    assert "matmul/32" in capsys.readouterr().out


def test_what_an_engine_cannot_run_is_told_in_one_line(tmp_path: Path):
    def relu() -> onnx.ModelProto:
        build = Builder()
        return build.model("m", 17, {"x": (F32, [4])}, {"y": (build.node("Relu", "relu", "x"), None)})

    (row,) = rows_of([Case("relu", relu)], tmp_path, ["numpy", "onnxruntime"])
    assert row.engines["numpy"].refused == "NotImplementedError: numpy takes part in matrix products only"
    assert not row.engines["onnxruntime"].refused


def test_later_rows_replace_earlier_ones_of_the_same_case(tmp_path: Path):
    path = tmp_path / "rows.json"

    def row(case: str, seconds: float) -> Row:
        return Row(case, 1, {"aicc": Measured("aicc", run=seconds)}, Work(None, 1), 0.0)

    merge_rows(path, [row("a", 1.0), row("b", 2.0)], {})
    merge_rows(path, [row("b", 3.0)], {})
    assert [(r.case, r.engines["aicc"].run) for r in read_rows(path)] == [("a", 1.0), ("b", 3.0)]


def test_the_roofline_takes_the_level_that_holds_the_data():
    limits = Limits({"f32": 100.0}, (Bandwidth("L1", 1000, 50.0, 40.0), Bandwidth("L2", 10000, 10.0, 12.0)))
    assert limits.bound(200, 1000) == 20.0
    assert limits.bound(200, 6000) == 500.0
    assert limits.bound(10**6, 20000) == 10**4


@pytest.mark.parametrize("seconds, text", [(1.234e-6, "1.23u"), (99.96e-6, "100u"), (0.0456, "45.6m"), (2.5, "2.50s")])
def test_durations_have_three_digits(seconds: float, text: str):
    assert duration(seconds) == text


def test_a_nan_counts_as_an_infinite_difference():
    assert relative_error([np.array([1.0, np.nan])], [np.array([1.0, 2.0])]) == float("inf")


def test_nan_and_infinity_in_the_same_places_are_no_difference():
    expected = [np.array([1.0, np.nan, -np.inf], np.float32)]
    assert relative_error([np.array([1.5, np.nan, -np.inf])], expected) == 0.5
    assert relative_error([np.array([1.0, np.nan, np.inf])], expected) == float("inf")
    assert relative_error([np.array([1.0, 2.0, -np.inf])], expected) == float("inf")
