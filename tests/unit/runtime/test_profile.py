"""A model compiled with `profile=True` times its kernel calls."""

import json
from pathlib import Path

import numpy as np
import pytest

import aicc
from aicc.runtime.profile import FLOPS, LAST, RUNS, SHORTEST, TOTAL, Peaks, reset_counters
from aicc.tools.aicc_cli import main

TEXT = """
func.func @main(%x: tensor<?x64xf32, #graph.dims<N>>, %w: tensor<64x64xf32>) -> tensor<?x64xf32, #graph.dims<N>> {
  %m = graph.matmul %x, %w
    : tensor<?x64xf32, #graph.dims<N>>, tensor<64x64xf32> -> tensor<?x64xf32, #graph.dims<N>> loc("first")
  %s = graph.softmax %m {axis = 0}
    : tensor<?x64xf32, #graph.dims<N>> -> tensor<?x64xf32, #graph.dims<N>> loc("second")
  func.return %s : tensor<?x64xf32, #graph.dims<N>>
}
"""


def test_calls_are_counted_and_timed():
    model = aicc.compile(TEXT, profile=True)
    names = {name for call in model.kernel_calls for name in call.nodes}
    assert {"first", "second"} <= names
    counters = model.counters
    assert counters.shape == (len(model.kernel_calls), FLOPS + 1) and not counters[:, RUNS].any()
    x, w = np.ones((9, 64), np.float32), np.ones((64, 64), np.float32)
    result = model(x, w)[0]
    for _ in range(2):
        model(x, w)
    np.testing.assert_allclose(result, np.full((9, 64), 1 / 9, np.float32), rtol=1e-6)
    assert (counters[:, RUNS] == 3).all()
    assert (counters[:, TOTAL] >= 3 * counters[:, SHORTEST]).all() and (counters[:, SHORTEST] >= 0).all()
    assert (np.diff(counters[:, LAST]) >= 0).all(), "calls begin in the order of the program"
    reset_counters(counters)
    assert not counters[:, RUNS].any()
    plain = aicc.compile(TEXT)
    assert plain.kernel_calls == () and plain.counters.shape == (0, FLOPS + 1)


def test_a_profile_tells_times_and_work_by_the_names_of_nodes(tmp_path: Path):
    model = aicc.compile(TEXT, profile=True, threads=1)
    x, w = np.ones((9, 64), np.float32), np.ones((64, 64), np.float32)
    profile = model.profile(dict(zip((info.name for info in model.inputs), (x, w), strict=True)), runs=3)
    assert profile.runs == 3 and profile.threads == 1
    (product,) = (kernel for kernel in profile.kernels if kernel.nodes == ("first",) and kernel.flops)
    assert product.calls == 1
    assert product.flops == 2 * 9 * 64 * 64
    assert product.bytes >= 4 * (9 * 64 + 64 * 64 + 9 * 64)
    assert product.schedule
    assert 0 < sum(kernel.seconds for kernel in profile.kernels) <= profile.seconds
    assert product.flops_per_second == pytest.approx(product.flops / product.seconds)
    lines = profile.table(Peaks(1e11, 1e10)).splitlines()
    assert lines[0].split() == ["ms", "share", "calls", "GFLOP/s", "GB/s", "roof", "kernel", "nodes"]
    assert any(line.endswith("first") for line in lines) and lines[-1].endswith("a run, mean of 3, 1 thread")
    assert len(profile.table(most=1).splitlines()) == 5, "head, the slowest, the rest, what is outside, all"
    profile.save_trace(tmp_path / "trace.json")
    events = [e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert {"first", "second"} <= {name for event in events for name in event["name"].split(", ")}
    assert all(event["dur"] > 0 and event["ts"] >= 0 for event in events)
    assert {event["args"]["kernel"] for event in events} == {kernel.kernel for kernel in profile.kernels}


def test_work_of_sizes_that_data_tells_is_added_up_while_the_model_runs():
    doubling = """
    func.func @main(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<f32> {
      %zero = graph.constant dense<0> : tensor<i64>
      %one = graph.constant dense<1> : tensor<i64>
      %i, %y = graph.while %zero, %x {symbols = ["s"], initial = #graph.shape<1>, following = #graph.shape<2*s>} while {
      ^bb0(%i: tensor<i64>, %y: tensor<?xf32, #graph.dims<s>>):
        %more = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
        graph.yield %more : tensor<i1>
      } do {
      ^bb0(%i: tensor<i64>, %y: tensor<?xf32, #graph.dims<s>>):
        %next = graph.add %i, %one : tensor<i64>, tensor<i64> -> tensor<i64>
        %root = graph.sqrt %y : tensor<?xf32, #graph.dims<s>> -> tensor<?xf32, #graph.dims<s>> loc("root")
        %both = graph.concat %root, %root {axis = 0} : tensor<?xf32, #graph.dims<s>>, tensor<?xf32, #graph.dims<s>>
          -> tensor<?xf32, #graph.dims<2*s>>
        graph.yield %next, %both : tensor<i64>, tensor<?xf32, #graph.dims<2*s>>
      } : tensor<i64>, tensor<1xf32>
      %sum = graph.reduce_sum %y {axes = array<i64: 0>} : tensor<?xf32, #graph.dims<s>> -> tensor<f32>
      func.return %sum : tensor<f32>
    }
    """
    model = aicc.compile(doubling, profile=True, opt_level=0)
    inputs = {info.name: array for info, array in zip(model.inputs, (np.array(3), np.ones(1, np.float32)), strict=True)}
    profile = model.profile(inputs, runs=2)
    (root,) = (kernel for kernel in profile.kernels if kernel.nodes == ("root",))
    assert (root.calls, root.flops, root.bytes) == (3, 1 + 2 + 4, 2 * 4 * (1 + 2 + 4))


def test_a_profile_needs_a_model_that_notes_times():
    x, w = np.ones((9, 64), np.float32), np.ones((64, 64), np.float32)
    with pytest.raises(ValueError, match="compile it with profile=True"):
        aicc.compile(TEXT).profile({"input0": x, "input1": w})
    with pytest.raises(ValueError, match="runs is 0, expected at least 1"):
        aicc.compile(TEXT, profile=True).profile({"input0": x, "input1": w}, runs=0)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, trace = tmp_path / "model.mlir", tmp_path / "trace.json"
    path.write_text(TEXT)
    assert main(["run", str(path), "--size", "N=9", "--profile", "--trace", str(trace)]) == 0
    out = capsys.readouterr().out
    assert "roof  kernel" in out and "first" in out
    assert json.loads(trace.read_text())["traceEvents"]
    assert main(["run", str(path), "--trace", str(trace)]) == 2
    assert "--trace without --profile" in capsys.readouterr().err
    assert main(["run", str(path), "--profile", "--interpret"]) == 2
