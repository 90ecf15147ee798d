"""Layouts and padded copies keep the numbers of a model, and copies are where they should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.dims import Dim, dims_of, evaluate_dims, sym, tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.ops import (
    AddOp,
    AvgPoolOp,
    ConcatOp,
    ConstantOp,
    ConvOp,
    CumsumOp,
    GatherOp,
    IfOp,
    MatmulOp,
    MaxPoolOp,
    MulOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReluOp,
    ReshapeOp,
    ScatterElementsOp,
    SigmoidOp,
    SoftmaxOp,
    TransposeOp,
    YieldOp,
)
from aicc.dialects.tensor_ops import CallOp, StructuredOp
from aicc.lowering.graph_to_tensor_ops import ConvertGraphToTensorOpsPass
from aicc.transforms.graph_fuse import GraphFusePass
from aicc.transforms.tensor_ops_assign_layouts import TensorOpsAssignLayoutsPass
from aicc.transforms.tensor_ops_fuse import TensorOpsFusePass
from aicc.transforms.tensor_ops_materialize_padding import TensorOpsMaterializePaddingPass
from aicc.transforms.tensor_ops_outline_kernels import TensorOpsOutlineKernelsPass
from tests.unit.tensor_ops.helper import assert_same, function_of, module_of

N, S = sym("N"), sym("S")
F32 = element_type(np.dtype(np.float32))
Insert = Callable[[Any], SSAValue]


def check(
    shapes: Sequence[Sequence[Dim]],
    build: Callable[..., Sequence[SSAValue]],
    symbols: dict[str, int] | None = None,
    *,
    copies: int | None = None,
    max_ops: int = 8,
    seed: int = 0,
) -> ModuleOp:
    """Compares the numbers before and after; returns the module, in which main calls `copies` transposing kernels."""
    values = symbols or {}
    module = module_of([tensor_type(shape, F32) for shape in shapes], build)
    module.verify()
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal(evaluate_dims(shape, values)).astype(np.float32) for shape in shapes]
    expected = evaluate_function(function_of(module), inputs, module)
    ctx = Context()
    for step in (
        GraphFusePass(max_ops=max_ops),
        TensorOpsOutlineKernelsPass(),
        ConvertGraphToTensorOpsPass(),
        TensorOpsFusePass(),
    ):
        step.apply(ctx, module)
    for step in (TensorOpsAssignLayoutsPass(), TensorOpsMaterializePaddingPass()):
        step.apply(ctx, module)
        module.verify()
        assert_same(evaluate_function(function_of(module), inputs, module), expected, 2e-5)
    if copies is not None:
        calls = [op.callee_name for op in function_of(module).walk() if isinstance(op, CallOp)]
        assert sum(name.startswith("transpose_") for name in calls) == copies, str(module)
    return module


@pytest.mark.parametrize("max_ops", [1, 8])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_convolutional_network(max_ops: int, n: int):
    def build(insert: Insert, x: SSAValue, w1: SSAValue, b1: SSAValue, w2: SSAValue, w3: SSAValue, w4: SSAValue):
        first = insert(ReluOp(insert(ConvOp(x, w1, b1, (2, 2), (0, 0, 1, 1)))))
        pooled = insert(MaxPoolOp(first, (2, 2), (1, 1), (0, 1, 1, 0)))
        left = insert(ConvOp(pooled, w2, pads=(1, 1, 1, 1)))
        right = insert(SigmoidOp(insert(ConvOp(pooled, w3))))
        joined = insert(ConcatOp([insert(AddOp(left, pooled)), right], 1))
        mean = insert(ReshapeOp(insert(ReduceMeanOp(joined, (2, 3), keepdims=True)), (N, 12)))
        return [insert(SoftmaxOp(insert(MatmulOp(mean, w4)), 1))]

    shapes = [(N, 3, 11, 11), (6, 3, 3, 3), (6,), (6, 6, 3, 3), (6, 6, 1, 1), (12, 5)]
    # One copy of the image; the mean over space is flattened for free.
    check(shapes, build, {"N": n}, copies=1, max_ops=max_ops)


def test_symbolic_image_size_groups_and_dilation():
    def build(insert: Insert, x: SSAValue, w1: SSAValue, w2: SSAValue, w3: SSAValue):
        first = insert(ConvOp(x, w1, pads=(2, 1, 0, 1), dilations=(2, 1)))
        second = insert(ConvOp(insert(ReluOp(first)), w2, pads=(1, 1, 1, 1), groups=2))
        return [
            insert(AvgPoolOp(insert(ConvOp(second, w3, pads=(1, 1, 1, 1), groups=6)), (2, 2), (2, 2), (0, 0, 1, 1)))
        ]

    shapes = [(N, 3, S, S), (4, 3, 3, 3), (6, 2, 3, 3), (6, 1, 3, 3)]
    for n, s in ((1, 9), (2, 6), (0, 8), (1, 3)):
        check(shapes, build, {"N": n, "S": s}, copies=2)


def test_one_dimensional_convolution_before_a_transpose():
    def build(insert: Insert, x: SSAValue, w: SSAValue, w2: SSAValue):
        features = insert(TransposeOp(insert(ConvOp(x, w, pads=(1, 1))), (0, 2, 1)))
        return [insert(MatmulOp(features, w2))]

    check([(N, 3, 9), (5, 3, 3), (5, 4)], build, {"N": 2}, copies=1)


def test_shuffled_channels_need_no_extra_copies():
    def build(insert: Insert, x: SSAValue, w: SSAValue, w2: SSAValue):
        features = insert(ConvOp(x, w, pads=(1, 1, 1, 1)))
        split = insert(TransposeOp(insert(ReshapeOp(features, (2, 2, 3, 5, 5))), (0, 2, 1, 3, 4)))
        shuffled = insert(ReshapeOp(split, (2, 6, 5, 5)))
        return [insert(ReduceMaxOp(insert(ConvOp(shuffled, w2, pads=(1, 1, 1, 1), groups=6)), (2, 3)))]

    # The shuffle itself is one kernel that is called `transpose` too.
    check([(2, 3, 5, 5), (6, 3, 3, 3), (6, 1, 3, 3)], build, copies=2)


def test_views_that_mix_channels_and_space_see_plain_tensors():
    def build(insert: Insert, x: SSAValue, w: SSAValue, w2: SSAValue):
        features = insert(ConvOp(x, w, pads=(1, 1, 1, 1)))
        return [insert(MatmulOp(insert(ReshapeOp(features, (N, 6 * 16))), w2))]

    check([(N, 3, 4, 4), (6, 3, 3, 3), (96, 5)], build, {"N": 2}, copies=2)


def test_kernel_called_with_two_layouts_is_cloned():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        return [insert(ReluOp(insert(ConvOp(x, w, pads=(1, 1, 1, 1))))), insert(SigmoidOp(insert(SigmoidOp(x))))]

    def twice(insert: Insert, x: SSAValue, w: SSAValue):
        features = insert(ConvOp(x, w, pads=(1, 1, 1, 1)))
        return [insert(SigmoidOp(features)), insert(SigmoidOp(x))]

    check([(2, 3, 4, 4), (3, 3, 3, 3)], build, max_ops=1)
    module = check([(2, 3, 4, 4), (3, 3, 3, 3)], twice, max_ops=1)
    names = [op.sym_name.data for op in module.ops if hasattr(op, "sym_name")]  # pyright: ignore
    assert len([name for name in names if name.startswith("sigmoid")]) == 2


def test_ops_that_index_images_by_data():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        features = insert(ConvOp(x, w, pads=(1, 1, 1, 1)))
        places = insert(ConstantOp.from_array(np.array([2, 0])))
        some = insert(GatherOp(features, places, 1))
        total = insert(CumsumOp(features, 2))
        wide = insert(ConstantOp.from_array(np.arange(2 * 4).reshape(2, 1, 2, 2) % 4))
        update = insert(ConstantOp.from_array(np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2)))
        return [some, total, insert(ScatterElementsOp(features, wide, update, 1))]

    check([(2, 3, 4, 4), (4, 3, 3, 3)], build)


def test_control_flow_sees_plain_tensors():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        features = insert(ConvOp(x, w, pads=(1, 1, 1, 1)))
        condition = insert(ConstantOp.from_array(np.array(True)))
        then_block, else_block = Block(), Block()
        doubled = AddOp(features, features)
        then_block.add_ops([doubled, YieldOp([doubled.result])])
        again = ConvOp(features, w, pads=(1, 1, 1, 1))
        else_block.add_ops([again, YieldOp([again.result])])
        chosen = insert(IfOp(condition, Region(then_block), Region(else_block)))
        return [insert(ConvOp(chosen, w, pads=(1, 1, 1, 1)))]

    check([(2, 3, 4, 4), (3, 3, 3, 3)], build)


def test_networks_without_convolutions_are_left_alone():
    def build(insert: Insert, x: SSAValue):
        return [insert(MaxPoolOp(insert(ReluOp(x)), (2, 2)))]

    check([(2, 3, 4, 4)], build, copies=0)


def test_padding_leaves_no_guard_in_contractions():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        return [insert(ConvOp(insert(SigmoidOp(x)), w, strides=(2, 2), pads=(1, 1, 1, 1)))]

    module = check([(N, 3, 6, 6), (4, 3, 3, 3)], build, {"N": 2})
    guarded = [
        op for op in module.walk() if isinstance(op, StructuredOp) and any(f is not None for f in op.input_fills)
    ]
    assert guarded and not any(op.is_reduction for op in guarded)


@pytest.mark.parametrize("seed", range(25))
def test_random_networks(seed: int):
    rng = np.random.default_rng(seed)

    def build(insert: Insert, x: SSAValue) -> Sequence[SSAValue]:
        values = [x]

        def weights(*shape: int) -> SSAValue:
            return insert(ConstantOp.from_array(rng.standard_normal(shape).astype(np.float32) / 3))

        for _ in range(int(rng.integers(3, 9))):
            a = values[int(rng.integers(max(len(values) - 3, 0), len(values)))]
            dims = dims_of(a.type)
            channels = int(dims[1]) if isinstance(dims[1], int) else 1
            match int(rng.integers(0, 9)):
                case 0 | 1:
                    k = int(rng.choice([1, 3]))
                    outputs = int(rng.integers(1, 6))
                    values.append(insert(ConvOp(a, weights(outputs, channels, k, k), pads=(k // 2,) * 4)))
                case 2:
                    values.append(insert(ConvOp(a, weights(channels, 1, 3, 3), pads=(1,) * 4, groups=channels)))
                case 3:
                    same = [v for v in values if dims_of(v.type) == dims]
                    values.append(insert(AddOp(a, same[int(rng.integers(len(same)))])))
                case 4:
                    values.append(insert(ReluOp(a)))
                case 5:
                    values.append(insert(MulOp(a, insert(ReduceMeanOp(a, (2, 3), keepdims=True)))))
                case 6:
                    like = [v for v in values if dims_of(v.type)[2:] == dims[2:]]
                    values.append(insert(ConcatOp([a, like[int(rng.integers(len(like)))]], 1)))
                case 7:
                    values.append(insert(TransposeOp(a, (0, 1, 3, 2))))
                case _:
                    values.append(insert(MaxPoolOp(a, (3, 3), (1, 1), (1, 1, 1, 1))))
        assert all(element_type_of(v) == F32 for v in values)
        return [values[-1], values[int(rng.integers(len(values)))]]

    check([(N, 2, 5, 5)], build, {"N": 2}, max_ops=int(rng.choice([1, 8])), seed=seed)
