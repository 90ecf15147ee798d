"""The passes at the graph level keep the meaning of random graphs, to the bit; their cost is linear in the graph."""

import os
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from xdsl.builder import InsertPoint
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import sym, tensor_type
from aicc.dialects.graph.evaluator import EvaluationError, evaluate_function
from aicc.dialects.graph.interfaces import OpBuilder
from aicc.dialects.graph.ops import AddOp, BatchNormOp, ConstantOp, ConvOp, LinearOp, MatmulOp, NegOp, ReluOp, SigmoidOp
from aicc.lowering.context import make_context
from aicc.transforms.graph_decompose import GraphDecomposePass
from aicc.transforms.graph_fold_batch_norm import GraphFoldBatchNormPass
from aicc.transforms.graph_fold_constants import GraphFoldConstantsPass
from aicc.transforms.graph_fuse import GraphFusePass
from aicc.transforms.graph_infer_shapes import GraphInferShapesPass
from aicc.transforms.graph_inline_calls import GraphInlineCallsPass
from aicc.transforms.graph_rewrite import rewrite
from aicc.transforms.graph_simplify import GraphSimplifyPass
from aicc.transforms.tensor_ops_outline_kernels import TensorOpsOutlineKernelsPass
from aicc.transforms.verify import verify
from tests.unit.differential.graphs import Program, programs

EXACT = [
    GraphInlineCallsPass(),
    GraphInferShapesPass(),
    GraphSimplifyPass(),
    GraphFoldConstantsPass(),
    GraphSimplifyPass(),
    GraphFusePass(),
    TensorOpsOutlineKernelsPass(),
]


def main_of(module: ModuleOp) -> FuncOp:
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def expected_of(program: Program) -> list[np.ndarray]:
    """The results of the program as it is; those that assume sizes equal which are not are passed over."""
    try:
        return results_of(program, program.module)
    except EvaluationError:
        reject()


def results_of(program: Program, module: ModuleOp) -> list[np.ndarray]:
    return evaluate_function(main_of(module), program.inputs, module)


def assert_bits(found: list[np.ndarray], expected: list[np.ndarray], what: str) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape, what
        # Payloads of NaN are not defined; all else is, the signs of zeros too.
        if a.dtype.kind in "fV":
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b), what)
            a, b = (np.where(np.isnan(x), np.zeros((), x.dtype), x) for x in (a, b))
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b), what)
        np.testing.assert_array_equal(a, b, what)


@settings(
    max_examples=int(os.environ.get("AICC_FUZZ_GRAPHS", "60")),
    deadline=None,
    derandomize="AICC_FUZZ_GRAPHS" not in os.environ,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
@given(programs())
def test_meaning_is_kept_to_the_bit(program: Program):
    expected = expected_of(program)
    for groups in (64, 2, 1):
        module = program.module.clone()
        for step in EXACT:
            step = GraphFusePass(max_ops=groups) if isinstance(step, GraphFusePass) else step
            step.apply(make_context(), module)
            verify(module)
            assert_bits(results_of(program, module), expected, f"{step.name} with groups of {groups}:\n{module}")


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_decomposition_keeps_the_meaning(program: Program):
    expected = expected_of(program)
    module = program.module.clone()
    GraphDecomposePass().apply(make_context(), module)
    verify(module)
    for a, b in zip(results_of(program, module), expected, strict=True):
        tolerance = {2: 2e-2, 4: 1e-4, 8: 1e-9}[a.dtype.itemsize] if a.dtype.kind in "fV" else 0
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance)


def function_of(types, build) -> ModuleOp:
    block = Block(arg_types=types)
    b = OpBuilder(InsertPoint.at_end(block))
    result = build(b, *block.args)
    block.add_op(ReturnOp(result))
    return ModuleOp([FuncOp("main", (types, [result.type]), Region(block))])


RNG = np.random.default_rng(0)


def constant(b: OpBuilder, *shape: int, positive: bool = False):
    array = RNG.standard_normal(shape).astype(np.float32)
    return b.add(ConstantOp.from_array(abs(array) + 0.5 if positive else array, f"w{len(shape)}"))


def norm(b: OpBuilder, x, channels: int):
    parameters = [constant(b, channels) for _ in range(3)]
    return b.add(BatchNormOp(x, *parameters, constant(b, channels, positive=True)))


PRODUCERS = {
    "conv": ([2, 3, 8, 8], lambda b, x: norm(b, b.add(ConvOp(x, constant(b, 4, 3, 3, 3), None, [2, 1], [1] * 4)), 4)),
    "conv_bias": ([2, 3, 8], lambda b, x: norm(b, b.add(ConvOp(x, constant(b, 4, 3, 2), constant(b, 4))), 4)),
    "grouped": ([2, 4, 8], lambda b, x: norm(b, b.add(ConvOp(x, constant(b, 6, 2, 3), None, groups=2)), 6)),
    "matmul": ([5, 3], lambda b, x: norm(b, b.add(MatmulOp(x, constant(b, 3, 4))), 4)),
    "matmul_t": ([5, 3], lambda b, x: norm(b, b.add(MatmulOp(x, constant(b, 4, 3), transpose_b=True)), 4)),
    "linear": ([5, 3], lambda b, x: norm(b, b.add(LinearOp(x, constant(b, 3, 4), constant(b, 4))), 4)),
    "linear_t": (
        [5, 3],
        lambda b, x: norm(b, b.add(LinearOp(x, constant(b, 4, 3), constant(b, 4), transpose_w=True)), 4),
    ),
}


@pytest.mark.parametrize("name", PRODUCERS)
def test_folded_batch_norm_computes_the_same(name):
    shape, build = PRODUCERS[name]
    module = function_of([tensor_type(shape, f32)], build)
    x = RNG.standard_normal(shape).astype(np.float32)
    (expected,) = evaluate_function(main_of(module), [x], module)
    GraphFoldBatchNormPass().apply(make_context(), module)
    verify(module)
    assert not any(isinstance(op, BatchNormOp) for op in module.walk())
    (found,) = evaluate_function(main_of(module), [x], module)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def chain(count: int) -> ModuleOp:
    """Ops one after the other, which all read the input too."""

    def build(b: OpBuilder, x):
        value = x
        for i in range(count):
            value = b.add((ReluOp, SigmoidOp, NegOp)[i % 3](value) if i % 4 else AddOp(value, x))
        return value

    return function_of([tensor_type([sym("N"), 4], f32)], build)


PASSES = [*EXACT[:4], GraphDecomposePass(), GraphFoldBatchNormPass(), *EXACT[5:]]


def test_cost_is_linear_in_the_length_of_a_chain():
    def cost(count: int) -> float:
        module = chain(count)
        start = time.process_time()
        for step in PASSES:
            step.apply(make_context(), module)
        return time.process_time() - start

    cost(50)
    # Eight times the ops may cost 24 times as much before this fails: a quadratic pass costs 64 times.
    small = min(cost(250) for _ in range(3))
    assert cost(2000) < 24 * small


def test_rules_that_undo_each_other_are_an_error():
    module = function_of([tensor_type([2], f32)], lambda b, x: b.add(NegOp(x)))

    def again(op, b):
        return [b.add(NegOp(op.operands[0]))]

    with pytest.raises(PassFailedException, match=r"do not come to an end; the last one was for graph\.neg"):
        rewrite(module, {NegOp: [again]})


@pytest.mark.parametrize("make", [lambda: GraphFusePass(max_ops=0), lambda: GraphFoldConstantsPass(limit=-1)])
def test_options_are_checked(make):
    with pytest.raises(PassFailedException, match="at least"):
        make()
