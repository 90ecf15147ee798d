"""The parts of the benchmark tool: programs for limits, small graphs, float64 models, tables and pictures."""

import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest

import aicc
from benchmarks import __main__ as command
from benchmarks.accuracy import Accuracy, accuracy_table, exact, in_float64
from benchmarks.cases import Case, Work, work_of
from benchmarks.costs import Costs, costs_of, costs_table
from benchmarks.kernels.catalog import kernel_cases
from benchmarks.kernels.convolution import Convolution, convolution, convolution_counts, convolutions_of
from benchmarks.machine import copy_program, dot_program, fma_program, read_program, regions_program
from benchmarks.models import sample_inputs
from benchmarks.networks import bert, mobile, resnet, small, unet, vit
from benchmarks.networks.catalog import folder_cases
from benchmarks.onnx_line import Line
from benchmarks.report import Row, compared, geometric_mean, markdown, summary, totals, worst_first
from benchmarks.rounds import Measured
from benchmarks.streams import Moved, load_streams, streams_program

NETWORKS = {
    "resnet18": (lambda: resnet.resnet18(size=32, classes=10), {}),
    "mobilenet_v3": (lambda: mobile.mobilenet_v3(size=32, classes=10), {"N": 2}),
    "efficientnet_b0": (lambda: mobile.efficientnet_b0(size=32, classes=10), {"N": 2}),
    "unet": (lambda: unet.unet(size=16, width=4, depth=2), {}),
    "vit": (lambda: vit.vit("N", 32, 16, layers=2, width=32, heads=4, classes=10), {"N": 2}),
    "mlp": (lambda: small.mlp(widths=(8, 16, 4)), {}),
    "lstm": (lambda: small.tagger("LSTM", vocabulary=50, width=8, hidden=8, tags=3), {"N": 2, "S": 5}),
    "gru": (lambda: small.tagger("GRU", vocabulary=50, width=8, hidden=8, tags=3), {"N": 2, "S": 5}),
}


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_run_and_depend_on_their_input(name: str):
    build, sizes = NETWORKS[name]
    model = build()
    (a,), (b,) = (session(model).run(None, sample_inputs(model, sizes, seed)) for seed in (0, 1))
    assert np.isfinite(a).all()
    assert 0.02 < a.std() < 20
    assert np.abs(a - b).max() > 0.01 * a.std()


def test_the_float64_run_is_closer_than_an_f32_run():
    build, sizes = NETWORKS["unet"]
    model = build()
    inputs = sample_inputs(model, sizes)
    ((expected,),) = exact(model, [inputs])
    assert expected.dtype == np.float64
    (found,) = session(model).run(None, inputs)
    error = np.abs(found - expected).max() / np.abs(expected).max()
    assert 0 < error < 1e-5


def test_quantised_models_have_a_float64_run():
    rng, hidden = np.random.default_rng(0), 4
    integers = {"w": (1, 3, 4 * hidden), "r": (1, hidden, 4 * hidden), "m": (hidden, 5)}
    weights = {name: rng.integers(-99, 99, shape).astype(np.int8) for name, shape in integers.items()}
    weights |= {name: np.array([0], np.int8) for name in ("wz", "rz")}
    weights |= {name: np.array([0.01], np.float32) for name in ("ws", "rs", "ms")}
    weights |= {"flat": np.array([-1, hidden], np.int64)}
    operands = ["x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"]
    nodes = [
        onnx.helper.make_node("DynamicQuantizeLSTM", operands, ["h"], domain="com.microsoft", hidden_size=hidden),
        onnx.helper.make_node("Reshape", ["h", "flat"], ["rows"]),
        onnx.helper.make_node("DynamicQuantizeLinear", ["rows"], ["q", "qs", "qz"]),
        onnx.helper.make_node("MatMulInteger", ["q", "m", "qz"], ["total"]),
        onnx.helper.make_node("Cast", ["total"], ["wide"], to=onnx.TensorProto.FLOAT),
        onnx.helper.make_node("Mul", ["qs", "ms"], ["scale"]),
        onnx.helper.make_node("Mul", ["wide", "scale"], ["y"]),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [6, 2, 3])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9)
    inputs = {"x": rng.normal(size=(6, 2, 3)).astype(np.float32)}
    ((expected,),) = exact(model, [inputs])
    assert expected.dtype == np.float64
    (found,) = aicc.compile(model.SerializeToString(), threads=1).run(inputs).values()
    # One step of a result's quantisation, of 255.
    assert np.abs(found - expected).max() < np.abs(expected).max() / 100


def test_float64_models_have_no_f32_left():
    wide = in_float64(small.tagger(vocabulary=50, width=8, hidden=8))
    kinds = {tensor.data_type for tensor in wide.graph.initializer}
    assert onnx.TensorProto.FLOAT not in kinds
    onnx.checker.check_model(wide)


def test_a_fma_program_computes_its_recurrence():
    model = aicc.compile(fma_program(2, 3, 4, 5, "f32"), threads=2, opt_level=0)
    x = np.linspace(0.1, 0.5, 12, dtype=np.float32).reshape(3, 4)
    expected = np.broadcast_to(x, (2, 3, 4))
    for _ in range(5):
        expected = x[0] * expected + x[1]
    np.testing.assert_allclose(model(x)[0], expected, rtol=1e-5)


@pytest.mark.parametrize("parts", [2, 4])
def test_a_dot_program_adds_products_up(parts: int):
    # No instruction of this name: every machine computes it part by part.
    model = aicc.compile(dot_program(2, 3, 4, 5, "plain", parts), threads=2, opt_level=0)
    rng = np.random.default_rng(parts)
    if parts == 2:
        numbers = rng.standard_normal((3, 4, 2)).astype(ml_dtypes.bfloat16)
        x, wide = numbers.view(np.int32)[..., 0], numbers.astype(np.float64)
        start, product = x.view(np.float32).astype(np.float64), (wide[0] * wide[1]).sum(-1)
    else:
        numbers = rng.integers(-128, 128, (3, 4, 4)).astype(np.int8)
        x = numbers.view(np.int32)[..., 0]
        start, product = x, (numbers[0].view(np.uint8).astype(np.int32) * numbers[1]).sum(-1, dtype=np.int32)
    expected = np.broadcast_to(start + 5 * product, (2, 3, 4))
    np.testing.assert_allclose(model(x)[0], expected, rtol=0 if parts == 4 else 1e-5, atol=0 if parts == 4 else 1e-5)


def test_read_and_copy_programs_touch_everything():
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 4), dtype=np.float32)
    (total,) = aicc.compile(read_program(2, 3, 4, 5), threads=2, opt_level=0)(x)
    np.testing.assert_allclose(total, 5 * x.sum(1), rtol=1e-4, atol=1e-4)
    (same,) = aicc.compile(copy_program(2, 3, 4, 5), threads=2, opt_level=0)(x)
    np.testing.assert_array_equal(same, x)


@pytest.mark.parametrize("past_caches", [False, True])
def test_streams_copy_read_and_write(past_caches: bool):
    model = aicc.compile(streams_program(4, past_caches=past_caches), threads=2, opt_level=0)
    rng = np.random.default_rng(0)
    x, read = (rng.standard_normal((3, *rest, 8, 4), dtype=np.float32) for rest in ((), (64,)))
    for count in (0, 5):
        copied, sums, written = model(x, read, np.zeros(count, np.int8))
        np.testing.assert_array_equal(copied, x)
        np.testing.assert_allclose(sums, read.sum(1), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(written, np.ones((count, 8, 4), np.float32))


@pytest.mark.parametrize("moved", [Moved(1 << 14, 1 << 13), Moved(0, 1000), Moved(70_000, 0)])
def test_streams_take_the_bytes_of_a_file(tmp_path: Path, moved: Moved):
    moved.write(tmp_path / "moved.json")
    copied, sums, written = load_streams(tmp_path / "moved.json", 1)()
    rows = copied.size + written.size
    assert moved.written <= rows * 4 < moved.written + 2 * 4096
    assert (sums.size > 0) == (moved.read > moved.written)


@pytest.mark.parametrize("parallel", [False, True])
def test_region_programs_run(parallel: bool):
    x = np.arange(32, dtype=np.float32).reshape(2, 16)
    (y,) = aicc.compile(regions_program(2, 3, parallel=parallel), threads=2, opt_level=0)(x)
    np.testing.assert_array_equal(y[:, 0], x[:, 0])


def test_kernels_have_names_of_their_own():
    names = [case.name for case in kernel_cases()]
    assert len(names) == len(set(names)) > 300
    assert {name.partition("/")[0] for name in names} >= {"matmul", "conv", "pool", "softmax", "norm", "attention"}


def test_distinct_convolutions_are_found_and_built_again():
    model = unet.unet(size=16, width=4, depth=1)
    counts = convolutions_of(model, {})
    assert list(counts.values()) == [1, 2, 1, 1, 1, 1, 1]
    found = list(counts)
    names = "3x3-3-4-16x16 3x3-4-4-16x16 3x3-4-8-8x8 3x3-8-8-8x8 2x2-8-4-8x8-s2 3x3-8-4-16x16 1x1-4-2-16x16"
    assert [c.name for c in found] == names.split()
    assert found[4].transposed
    (result,) = session(convolution(found[4])).run(None, {"x": np.ones((1, 8, 8, 8), np.float32)})
    assert result.shape == (1, 4, 16, 16)
    assert Convolution((2, 8, 9), (8, 1, 3), stride=2, groups=8).name == "3-8-8-9-s2-depthwise-n2"


def test_convolutions_of_a_network_are_counted():
    counts = convolution_counts()["resnet50"]
    assert sum(counts.values()) == 53 and counts["conv/resnet50/3x3-256-256-14x14"] == 5
    # Of blocks' first layers: a network's own cases, and those that bear another network's name.
    assert set(counts) <= {case.name for case in kernel_cases()}
    assert {network: sum(counts.values()) for network, counts in convolution_counts().items()}["mobilenet_v2"] == 52


def test_operations_of_contractions_are_counted():
    model = convolution(Convolution((1, 8, 6, 6), (4, 2, 3, 3), pad=1, groups=4))
    work = work_of(model, {"x": np.zeros((1, 8, 6, 6), np.float32)}, [np.zeros((1, 4, 6, 6), np.float32)])
    assert work == Work(2 * 4 * 36 * 18, 4 * (8 * 36 + 4 * 36 + 4 * 18 + 4))


def test_sizes_that_inference_does_not_follow_are_observed():
    model = bert.encoder_transformer(1, 8, 2, vocabulary=20, positions=16)
    inputs = sample_inputs(model, {"N": 1, "S": 4})
    tokens, attention = 4 * 8 * (4 * 8 + 2 * 4 * 8), 2 * 2 * 4 * 4 * 4
    assert work_of(model, inputs, []).flops == 2 * (tokens + attention + 8 * 8)


def test_a_folder_of_models_is_read(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"no subfolder of .* has a model\.onnx"):
        list(folder_cases(tmp_path))
    (tmp_path / "tiny").mkdir()
    onnx.save(small.adds_two_vectors(), tmp_path / "tiny" / "model.onnx")
    with pytest.raises(FileNotFoundError, match=r"no caseN\.npz"):
        list(folder_cases(tmp_path))
    a, b = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    np.savez(tmp_path / "tiny" / "case0.npz", in0=a, in1=b)
    (case,) = folder_cases(tmp_path)
    assert case.name == "folder/tiny"
    inputs = case.sample(case.build())
    assert list(inputs) == ["a", "b"]
    np.testing.assert_array_equal(inputs["a"], a)


class Numpy:
    """numpy as the library behind a `Line`."""

    ops = {
        "Add": lambda a, x: x[0] + x[1],
        "Concat": lambda a, x: np.concatenate(x, a["axis"]),
        "Gather": lambda a, x: np.take(x[0], x[1], a["axis"]),
        "Reshape": lambda a, x: x[0].reshape([int(n) for n in x[1]]),
        "Unsqueeze": lambda a, x: np.expand_dims(x[0], tuple(int(n) for n in x[1])),
    }

    @staticmethod
    def array(value: np.ndarray) -> Any:
        return value

    @staticmethod
    def numpy(value: Any) -> np.ndarray:
        return value


def test_what_depends_on_sizes_alone_is_settled(tmp_path: Path):
    from benchmarks.builder import F32, Builder

    b = Builder()
    size = b.node("Gather", "size", b.node("Shape", "shape", "x"), b.constant("zero", 0, np.int64), axis=0)
    size = b.node("Unsqueeze", "unsqueeze", size, b.constant("axes", [0], np.int64))
    flat = b.node("Concat", "concat", size, b.constant("rest", [-1], np.int64), axis=0)
    y = b.node("Add", "add", b.node("Reshape", "reshape", "x", flat), b.weight("w", "offset", (6,)))
    onnx.save(b.model("m", 17, {"x": (F32, ["N", 2, 3])}, {"y": (y, ["N", 6])}), tmp_path / "m.onnx")
    line = Line(str(tmp_path / "m.onnx"), Numpy)
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    line.settle({"x": x})
    assert [step[0] for step in line.steps] == ["Reshape", "Add"]
    (result,) = line(x)
    np.testing.assert_allclose(result, x.reshape(4, 6) + line.values["w"])


def row(case: str, ours: float, peer: float) -> Row:
    engines = {"aicc": Measured("aicc", run=ours), "onnxruntime": Measured("onnxruntime", run=peer)}
    return Row(case, 1, engines, Work(10**6, 100), ours / 2)


def test_tables_tell_ratios_and_changes():
    rows = [row("matmul/a", 1e-3, 2e-3), row("conv/b", 3e-3, 1e-3)]
    rows.append(Row("conv/c", 1, {"aicc": Measured("aicc", refused="ModelError: no")}, Work(None, 1), 0.0))
    assert [r.case for r in worst_first(rows)] == ["conv/b", "matmul/a", "conv/c"]
    table = markdown(worst_first(rows), ["onnxruntime"])
    assert "| conv/b | 1 | 3.00m | 1.00m | 3.00 | 0.3 | 0.0 | - | 50% | 0e+00 |" in table
    assert "- conv/c: ModelError: no" in table
    assert "| conv | 1 | 1 | 3.00 | 0 | 3.00 conv/b |" in summary(rows)
    text = compared(rows, [row("matmul/a", 5e-4, 2e-3), row("conv/b", 3.01e-3, 1e-3)])
    assert "| matmul/a | 1 | 1.00m | 500u | 0.50 |" in text
    assert "conv/b" not in text
    assert "2 cases in both" in text
    assert math.isclose(geometric_mean([2.0, 8.0]), 4.0)


def test_parts_of_a_whole_are_added_up():
    rows = [row("conv/a", 1e-3, 2e-3), row("conv/b", 3e-3, 1e-3), row("conv/c", 1.0, 1.0)]
    table = totals(rows, {"net": {"conv/a": 3, "conv/b": 1}, "lacking": {"conv/a": 1, "conv/z": 1}})
    assert "| net | 1 | 2 | 6.00m | 7.00m | 0.857 | 50% | 1 |" in table
    assert "lacking" not in table
    assert not totals(rows, {"lacking": {"conv/z": 1}})


def test_the_share_of_the_bandwidth_is_the_time_of_moving_alone_over_ours():
    engines = {"aicc": Measured("aicc", run=4e-3), "streams": Measured("streams", run=3e-3)}
    moving = Row("softmax/a", 1, engines, Work(0, 10**6), 1e-3)
    assert moving.share == 0.75 and moving.fastest_peer is None
    assert "| softmax/a | 1 | 4.00m | - | - | 0.2 | 75% | 25% | 0e+00 |" in markdown([moving], [])


def test_only_peers_that_count_make_the_ratio():
    engines = {
        "aicc": Measured("aicc", run=2.0),
        "numpy": Measured("numpy", run=4.0),
        "torch": Measured("torch", run=1.0),
    }
    assert Row("conv/a", 1, engines, Work(1, 1), 0.0).ratio == 0.5
    assert Row("matmul/a", 1, engines, Work(1, 1), 0.0).ratio == 2.0


def test_pictures_are_drawn(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from benchmarks.plots import plot

    made = plot("kernels", [row("a/a", 1e-3, 2e-3), row("a/b", 3e-3, 1e-3)], tmp_path)
    assert [path.name for path in made] == ["kernels-ratio-1t.png", "kernels-roofline-1t.png"]
    assert all(path.stat().st_size > 1000 for path in made)


def test_a_case_names_its_family():
    assert Case("conv/x/y", small.adds_two_vectors).family == "conv"


def test_costs_and_errors_have_tables():
    table = costs_table(
        [Costs("net/a", "aicc", 4.0, 0.2, 0.1, 3 << 20, 0, 2 << 20, 2 << 20), Costs("net/b", "aicc", refused="no")]
    )
    assert "| net/a | aicc | 4.00s | 200m | 100m | 3 | 0 | 2 | 2 |" in table
    assert "| net/b | aicc | no |" in table
    text = accuracy_table([Accuracy("net/a", {"aicc": 2e-6, "onnxruntime": 1e-6}), Accuracy("net/b", {}, "no run")])
    assert "| net/a | 2.0e-06 | 1.0e-06 | 2.00 |" in text
    assert "| net/b | no run |" in text


def test_what_it_takes_to_be_ready_is_measured(tmp_path: Path):
    onnx.save(small.adds_two_vectors(), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", a=np.ones(8, np.float32), b=np.ones(8, np.float32))
    found = costs_of("add", "onnxruntime", tmp_path / "m.onnx", tmp_path / "x.npz", 1)
    assert not found.refused
    assert found.cold > found.warm_load > 0
    assert found.run_bytes > 0
    assert costs_of("add", "numpy", tmp_path / "m.onnx", tmp_path / "x.npz", 1).refused.startswith(
        "StartError: NotImpl"
    )


@pytest.mark.parametrize(
    ("what", "pattern"),
    [("kernels", "softmax"), ("loops", "written"), *((w, "lstm") for w in ("models", "costs", "dynamic", "accuracy"))],
)
def test_lists_measure_nothing(
    what: str, pattern: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", what, "--list", "--only", pattern, "--out", str(tmp_path / "out")])
    assert command.main() == 0
    names = capsys.readouterr().out.splitlines()
    assert names and all(pattern in name for name in names)
    assert not (tmp_path / "out").exists()
