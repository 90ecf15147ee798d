"""
How much memory a compilation takes, and a compiled model.

The bound for a model with W bytes of weights is 2 W + 500 MB while it is compiled. What is held while it runs is its
packed weights, its arena and what Python and numpy take.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from aicc.frontends.onnx import import_onnx
from aicc.lowering.context import make_context, registry
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.transforms import loops_plan_memory
from benchmarks.models import light

ROOT = Path(__file__).parents[3]

PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from benchmarks.memory import resident_bytes, resident_peak_bytes
import numpy as np
base = resident_bytes()
import aicc
model = aicc.compile(sys.argv[1])
peak = resident_peak_bytes() - base
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
from aicc.model_cache import settle
settle()
model(np.ones((1, 1024), np.float32))
print(json.dumps({"peak": peak, "child": child, "run": resident_bytes() - base, "xdsl": "xdsl" in sys.modules}))
"""


def layers(count: int, width: int = 1024) -> onnx.ModelProto:
    """Products with different weights, one after the other."""
    generator = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(generator.standard_normal((width, width), np.float32) / 32, f"w{i}")
        for i in range(count)
    ]
    nodes = [helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"]) for i in range(count)]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width])] for name in ("v0", nodes[-1].output[0])
    ]
    graph = helper.make_graph(nodes, "layers", *ends, initializer=weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def measured(path: Path, cache: Path) -> dict[str, int]:
    variables = {**os.environ, "AICC_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], env=variables, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_peaks_are_bounded_by_the_weights(tmp_path: Path):
    onnx.save(layers(50), tmp_path / "model.onnx")
    weights = 50 << 22
    cold, warm = (measured(tmp_path / "model.onnx", tmp_path / "cache") for _ in range(2))
    # The compiler is in a process of its own, which does not copy them.
    assert cold["peak"] < 2 * weights + (200 << 20)
    assert cold["child"] < weights + (250 << 20)
    assert not cold["xdsl"]
    for held in (cold["run"], warm["run"], warm["peak"]):
        assert held < weights + (60 << 20)


def largest_live(buffers: list[loops_plan_memory.Need]) -> int:
    """The most bytes that are needed at one time, of buffers of known size."""
    steps: dict[int, int] = {}
    for need in buffers:
        assert isinstance(need.bytes, int)
        steps[need.first] = steps.get(need.first, 0) + need.bytes
        steps[need.last + 1] = steps.get(need.last + 1, 0) - need.bytes
    now = most = 0
    for time in sorted(steps):
        now += steps[time]
        most = max(most, now)
    return most


@pytest.mark.parametrize("name", ["densenet121", "inception_v1", "resnet50", "shufflenet", "squeezenet"])
def test_arenas_are_hardly_larger_than_what_lives_at_once(name: str, monkeypatch: pytest.MonkeyPatch):
    found: list[tuple[int, int]] = []
    plan = loops_plan_memory.plan

    def noted(buffers: list[loops_plan_memory.Need]) -> loops_plan_memory.Plan:
        made = plan(buffers)
        assert isinstance(made.bytes, int)
        found.append((made.bytes, largest_live(buffers)))
        return made

    monkeypatch.setattr(loops_plan_memory, "plan", noted)
    module = import_onnx(light(name))
    for step in pipeline_steps("O0", PipelineOptions(target="x86-64-v3"), end="loops"):
        registry().passes[step.name]()(**step.options).apply(make_context(), module)
    loops_plan_memory.LoopsPlanMemoryPass().apply(make_context(), module)
    assert found
    for total, most in found:
        assert total <= 1.1 * most
