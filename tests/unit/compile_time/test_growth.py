"""
The work of compiling grows with the number of nodes only, counted in calls of Python functions instead of seconds.

A pass that looks at all ops for each op would make about four times as many calls per node on a graph four times as
long.
"""

import cProfile
import pstats
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from aicc.frontends.onnx import import_onnx
from aicc.lowering.context import make_context, registry
from aicc.lowering.loops_to_llvm import lower_parts
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.transforms.verify import verify

UNARY = ("Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs")


def _model(nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto], shape: list[int]) -> onnx.ModelProto:
    last = nodes[-1].output[0]
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name in ("v0", last)]
    graph = helper.make_graph(nodes, "chain", *ends, initializer=weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def elementwise_chain(length: int, size: int = 16) -> onnx.ModelProto:
    """`length` elementwise nodes, one after the other."""
    nodes = [helper.make_node(UNARY[i % len(UNARY)], [f"v{i}"], [f"v{i + 1}"]) for i in range(length)]
    return _model(nodes, [], [4, size])


def conv_chain(length: int, size: int = 8) -> onnx.ModelProto:
    """`length` convolutions with weights of their own, one after the other."""
    weights = [numpy_helper.from_array(np.full((4, 4, 3, 3), i % 7, np.float32), f"w{i}") for i in range(length)]
    nodes = [
        helper.make_node("Conv", [f"v{i}", f"w{i}"], [f"v{i + 1}"], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        for i in range(length)
    ]
    return _model(nodes, weights, [1, 4, size, size])


def if_chain(length: int, size: int = 16) -> onnx.ModelProto:
    """`length` `If` nodes of equal branches, each of which reads the one before from outside."""
    info = helper.make_tensor_value_info

    def branch(operator: str, i: int) -> onnx.GraphProto:
        result = f"{operator}{i}"
        node = helper.make_node(operator, [f"v{i}"], [result])
        return helper.make_graph([node], result, [], [info(result, TensorProto.FLOAT, [4, size])])

    nodes = [
        helper.make_node("If", ["taken"], [f"v{i + 1}"], then_branch=branch("Relu", i), else_branch=branch("Tanh", i))
        for i in range(length)
    ]
    model = _model(nodes, [], [4, size])
    model.graph.input.append(info("taken", TensorProto.BOOL, []))
    return model


def loop_chain(length: int, size: int = 16) -> onnx.ModelProto:
    """`length` `Loop` nodes with equal bodies, one after the other."""
    info = helper.make_tensor_value_info

    def body(i: int) -> onnx.GraphProto:
        nodes = [helper.make_node("Tanh", [f"s{i}"], [f"t{i}"]), helper.make_node("Identity", [f"c{i}"], [f"d{i}"])]
        state, result = (info(f"{name}{i}", TensorProto.FLOAT, [4, size]) for name in "st")
        before, after = (info(f"{name}{i}", TensorProto.BOOL, []) for name in "cd")
        inputs = [info(f"i{i}", TensorProto.INT64, []), before, state]
        return helper.make_graph(nodes, f"body{i}", inputs, [after, result])

    nodes = [helper.make_node("Loop", ["count", "", f"v{i}"], [f"v{i + 1}"], body=body(i)) for i in range(length)]
    model = _model(nodes, [], [4, size])
    model.graph.input.append(info("count", TensorProto.INT64, []))
    return model


def _calls(work: Callable[[], object]) -> int:
    profile = cProfile.Profile(builtins=False)
    profile.runcall(work)
    return sum(int(entry[0]) for entry in pstats.Stats(profile).stats.values())  # pyright: ignore


def calls_by_step(model: onnx.ModelProto, pipeline: str) -> dict[str, int]:
    """The number of function calls of each step of a compilation, up to the `llvm` dialect."""
    context = make_context()
    counts: dict[str, int] = {}
    modules = [import_onnx(model)]
    counts["import"] = _calls(lambda: modules.append(import_onnx(model)))
    module = modules[-1]
    counts["verify"] = _calls(lambda: verify(module))
    for position, step in enumerate(pipeline_steps(pipeline, PipelineOptions(target="x86-64-v3"))[:-1]):
        module_pass = registry().passes[step.name]()(**step.options)
        counts[f"{position}. {step.name}"] = _calls(lambda run=module_pass.apply: run(context, module))
    counts["lower_parts"] = _calls(lambda: list(lower_parts(module)))
    return counts


# Chains that are longer than a kernel may be, which limits the work on each.
@pytest.mark.parametrize(
    ("chain", "length"), [(elementwise_chain, 96), (conv_chain, 24), (if_chain, 24), (loop_chain, 24)]
)
@pytest.mark.parametrize("pipeline", ["O0", "O2"])
def test_calls_per_node_do_not_grow(chain: Callable[[int], onnx.ModelProto], length: int, pipeline: str):
    short, long = (calls_by_step(chain(nodes), pipeline) for nodes in (length, 4 * length))
    growth = {step: round(long[step] / short[step], 1) for step in short if long[step] > 5_000}
    assert {step: factor for step, factor in growth.items() if factor > 5.2} == {}


@pytest.mark.parametrize("chain", [elementwise_chain, conv_chain])
def test_calls_do_not_depend_on_extents(chain: Callable[[int, int], onnx.ModelProto]):
    small, large = (sum(calls_by_step(chain(3, size), "O2").values()) for size in (64, 1024))
    assert large < 1.5 * small


def test_a_graph_deeper_than_the_recursion_limit():
    calls = calls_by_step(elementwise_chain(1500), "O0")
    assert calls["lower_parts"] > 0
