"""Fusion keeps the numbers of a kernel, and joins what the kernel is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import Dim, dims_of, evaluate_dims, sym, tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.ops import (
    AddOp,
    AvgPoolOp,
    ConcatOp,
    ConstantOp,
    ConvOp,
    DivOp,
    ExpandOp,
    ExpOp,
    GatherOp,
    MatmulOp,
    MaxPoolOp,
    MulOp,
    PadOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceSumOp,
    ReluOp,
    ReshapeOp,
    SigmoidOp,
    SliceOp,
    SoftmaxOp,
    SqrtOp,
    SubOp,
    TransposeOp,
)
from aicc.dialects.tensor_ops import StructuredOp
from aicc.lowering.graph_to_tensor_ops import ConvertGraphToTensorOpsPass
from aicc.transforms.tensor_ops_fuse import TensorOpsFusePass
from tests.unit.tensor_ops.helper import assert_same, function_of, module_of, run

N, S = sym("N"), sym("S")
Insert = Callable[[Any], SSAValue]


def kernel(
    shapes: Sequence[Sequence[Dim]], build: Callable[..., Sequence[SSAValue]], dtype: Any = np.float32
) -> ModuleOp:
    """A lowered kernel function of tensors of these shapes."""
    element = element_type(np.dtype(dtype))
    module = module_of([tensor_type(shape, element) for shape in shapes], build)
    function_of(module).attributes["aicc.kernel"] = UnitAttr()
    module.verify()
    ConvertGraphToTensorOpsPass().apply(Context(), module)
    return module


def structured_ops(module: ModuleOp) -> list[StructuredOp]:
    return [op for op in module.walk() if isinstance(op, StructuredOp)]


def check(module: ModuleOp, symbols: dict[str, int] | None = None, seed: int = 0, count: int | None = None) -> ModuleOp:
    """Fuses a copy and compares the numbers; returns the fused module, which has `count` structured ops."""
    values = symbols or {}
    rng = np.random.default_rng(seed)
    inputs = [
        rng.standard_normal(evaluate_dims(dims_of(type), values)).astype(np.float32)
        for type in function_of(module).function_type.inputs.data
    ]
    expected = run(module, inputs, values)
    fused = module.clone()
    TensorOpsFusePass().apply(Context(), fused)
    fused.verify()
    assert_same(run(fused, inputs, values), expected, 2e-5)
    if count is not None:
        assert len(structured_ops(fused)) == count, str(fused)
    return fused


def test_convolution_with_bias_add_and_relu_is_one_op():
    def build(insert: Insert, x: SSAValue, w: SSAValue, b: SSAValue, y: SSAValue):
        conv = insert(ConvOp(x, w, b, pads=(1, 1, 1, 1)))
        return [insert(ReluOp(insert(AddOp(conv, y))))]

    module = kernel([(N, 3, 6, 5), (4, 3, 3, 3), (4,), (N, 4, 6, 5)], build)
    for n in (0, 1, 3):
        check(module, {"N": n}, count=1)


def test_softmax_after_scale_and_mask_is_four_ops():
    """Maximum, exponentials, which are computed once, their sum, and the scaling by it."""

    def build(insert: Insert, x: SSAValue, mask: SSAValue):
        two = insert(ConstantOp.from_array(np.array(2, np.float32)))
        return [insert(SoftmaxOp(insert(AddOp(insert(MulOp(x, two)), mask)), 2))]

    module = kernel([(2, N, S), (1, S)], build)
    for n, s in ((2, 5), (1, 1), (0, 3), (3, 0)):
        check(module, {"N": n, "S": s}, count=4)


def layer_norm(insert: Insert, x: SSAValue, scale: SSAValue) -> SSAValue:
    difference = insert(SubOp(x, insert(ReduceMeanOp(x, (1,), keepdims=True))))
    variance = insert(ReduceMeanOp(insert(MulOp(difference, difference)), (1,), keepdims=True))
    epsilon = insert(ConstantOp.from_array(np.array(1e-5, np.float32)))
    return insert(MulOp(insert(DivOp(difference, insert(SqrtOp(insert(AddOp(variance, epsilon)))))), scale))


def test_layer_norm_is_three_ops():
    module = kernel([(N, 7), (7,)], lambda insert, x, s: [layer_norm(insert, x, s)])
    for n in (0, 1, 4):
        check(module, {"N": n}, count=3)


def test_sum_that_is_also_a_result_is_kept():
    def build(insert: Insert, x: SSAValue, y: SSAValue, s: SSAValue):
        total = insert(AddOp(x, y))
        return [layer_norm(insert, total, s), total]

    check(kernel([(N, 7), (N, 7), (7,)], build), {"N": 3}, count=4)


def test_transposes_and_slices_vanish():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        left = insert(TransposeOp(insert(SliceOp(x, (1, 0), (4, 3), (1, 1))), (1, 0)))
        return [insert(TransposeOp(insert(MatmulOp(left, w)), (1, 0)))]

    check(kernel([(6, 3), (4, 5)], build), count=1)


def test_transpose_of_result_read_twice_stays():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        product = insert(MatmulOp(x, w))
        return [insert(TransposeOp(product, (1, 0))), product]

    check(kernel([(6, 3), (3, 5)], build), count=2)


def test_heads_are_split_in_the_product():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        split = insert(ReshapeOp(insert(MatmulOp(x, w)), (N, S, 3, 4)))
        return [insert(TransposeOp(split, (0, 2, 1, 3)))]

    module = kernel([(N, S, 5), (5, 12)], build)
    for n, s in ((2, 3), (1, 1), (0, 2)):
        check(module, {"N": n, "S": s}, count=1)


def test_heads_are_merged_by_the_consumer():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        merged = insert(ReshapeOp(insert(TransposeOp(x, (0, 2, 1, 3))), (N, S, 12)))
        return [insert(MatmulOp(merged, w))]

    module = kernel([(N, 3, S, 4), (12, 5)], build)
    check(module, {"N": 2, "S": 3})


def test_view_between_flat_and_split_rows():
    def build(insert: Insert, x: SSAValue):
        flat = insert(ReshapeOp(insert(ReluOp(x)), (6, 4)))
        return [insert(ReshapeOp(insert(ExpOp(flat)), (2, 3, 4)))]

    check(kernel([(2, 3, 4)], build))


@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 1, 1, 1), (0, 2, 1, 0)])
def test_producers_of_pooled_images(pads: Any):
    one = np.array(1, np.float32)

    def relu_max(insert: Insert, x: SSAValue):
        return [insert(MaxPoolOp(insert(ReluOp(x)), (2, 2), (2, 2), pads))]

    def shifted_avg(insert: Insert, x: SSAValue):
        moved = insert(AddOp(x, insert(ConstantOp.from_array(one))))
        return [insert(AvgPoolOp(moved, (2, 2), (2, 2), pads))]

    def transposed_avg(insert: Insert, x: SSAValue):
        return [insert(AvgPoolOp(insert(TransposeOp(x, (0, 1, 3, 2))), (2, 2), (2, 2), pads, count_include_pad=True))]

    def sliced_max(insert: Insert, x: SSAValue):
        part = insert(SliceOp(x, (0, 0, 1, 1), (N, 2, 4, 4), (1, 1, 1, 1)))
        return [insert(MaxPoolOp(part, (2, 2), (2, 2), pads))]

    for build in (relu_max, shifted_avg, transposed_avg, sliced_max):
        module = kernel([(N, 2, 6, 6)], build)
        for n in (0, 1, 2):
            check(module, {"N": n}, count=1)


def test_padding_goes_into_the_convolution():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        padded = insert(PadOp(x, (0, 0, 1, 1), (0, 0, 1, 0)))
        return [insert(ConvOp(padded, w, pads=(1, 0, 0, 1)))]

    check(kernel([(2, 3, 5, 5), (4, 3, 3, 3)], build), count=1)


def test_padding_by_another_number_does_not_lose_it():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        value = insert(ConstantOp.from_array(np.array(3, np.float32)))
        padded = insert(PadOp(x, (0, 0, 1, 1), (0, 0, 1, 0), value=value))
        return [insert(ConvOp(padded, w, pads=(1, 0, 0, 1)))]

    check(kernel([(2, 3, 5, 5), (4, 3, 3, 3)], build))


def test_cropped_producer_is_not_read_beyond_the_crop():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        cropped = insert(PadOp(x, (0, 0, -1, 0), (0, 0, -1, -2)))
        return [insert(ConvOp(cropped, w, pads=(1, 1, 1, 1)))]

    check(kernel([(2, 3, 7, 7), (4, 3, 3, 3)], build))


def test_costly_producer_of_a_product_is_stored():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        return [insert(MatmulOp(insert(SigmoidOp(x)), w))]

    check(kernel([(6, 3), (3, 50)], build), count=2)


def test_reduction_is_never_repeated():
    def build(insert: Insert, x: SSAValue):
        total = insert(ReduceSumOp(x, (1,), keepdims=True))
        wide = insert(ExpandOp(total, (4, 5)))
        return [insert(AddOp(x, wide)), insert(MulOp(x, wide)), total]

    check(kernel([(4, 5)], build), count=3)


def test_sources_of_concat_and_gather_stay():
    def build(insert: Insert, x: SSAValue, y: SSAValue):
        joined = insert(ConcatOp([insert(ReluOp(x)), y], 1))
        return [insert(ExpOp(joined))]

    fused = check(kernel([(2, N), (2, 3)], build), {"N": 2}, count=2)
    assert any(op.name == "tensor_ops.concat" for op in fused.walk())

    def gathered(insert: Insert, x: SSAValue):
        places = insert(ConstantOp.from_array(np.array([2, -1, 0])))
        return [insert(ReluOp(insert(GatherOp(insert(ExpOp(x)), places, 1))))]

    check(kernel([(2, 4)], gathered), count=2)


def test_two_reductions_of_one_input():
    def build(insert: Insert, x: SSAValue):
        return [insert(AddOp(insert(ReduceMaxOp(x, (1,))), insert(ReduceSumOp(x, (1,)))))]

    check(kernel([(N, 5)], build), {"N": 3}, count=2)


UNARY = [ReluOp, SigmoidOp, ExpOp]
BINARY = [AddOp, MulOp, SubOp]


@pytest.mark.parametrize("seed", range(60))
def test_random_kernels(seed: int):
    """Chains of elementwise ops, movements, reductions, products and pools over one symbolic axis."""
    rng = np.random.default_rng(seed)

    def build(insert: Insert, x: SSAValue, y: SSAValue) -> Sequence[SSAValue]:
        values = [x, y]
        for _ in range(int(rng.integers(3, 9))):
            a = values[int(rng.integers(max(len(values) - 3, 0), len(values)))]
            dims = dims_of(a.type)
            rank = len(dims)
            match int(rng.integers(0, 9)):
                case 0:
                    values.append(insert(UNARY[int(rng.integers(3))](a)))
                case 1:
                    same = [v for v in values if dims_of(v.type) == dims]
                    b = same[int(rng.integers(len(same)))]
                    values.append(insert(BINARY[int(rng.integers(3))](a, b)))
                case 2:
                    values.append(insert(TransposeOp(a, [int(p) for p in rng.permutation(rank)])))
                case 3:
                    axis = int(rng.integers(rank))
                    total = insert(ReduceMeanOp(a, (axis,), keepdims=True))
                    values.append(insert(SubOp(a, total)))
                case 4:
                    low = [int(p) for p in rng.integers(-1, 3, rank)]
                    low = [max(p, 0) if not isinstance(d, int) or d < 3 else p for p, d in zip(low, dims, strict=True)]
                    values.append(insert(PadOp(a, low, [int(p) for p in rng.integers(0, 2, rank)])))
                case 5:
                    sizes = [d if not isinstance(d, int) or d < 2 else d - 1 for d in dims]
                    starts = [0 if size == d else 1 for size, d in zip(sizes, dims, strict=True)]
                    values.append(insert(SliceOp(a, starts, sizes)))
                case 6 if rank == 3 and isinstance(dims[2], int) and dims[2] % 2 == 0 and dims[2] > 0:
                    split = insert(ReshapeOp(a, (dims[0], dims[1], 2, dims[2] // 2)))
                    values.append(insert(TransposeOp(split, (0, 2, 1, 3))))
                case 7 if rank >= 3:
                    space = list(dims[2:])
                    if all(isinstance(d, int) and d >= 2 for d in space):
                        ones = [1] * (2 * len(space))
                        pool = MaxPoolOp if rng.random() < 0.5 else AvgPoolOp
                        values.append(insert(pool(a, [2] * len(space), [1] * len(space), ones)))
                case 8 if rank >= 2:
                    values.append(insert(MatmulOp(a, a, transpose_b=True)))
                case _:
                    pass
        return [values[-1], values[int(rng.integers(2, len(values)))] if len(values) > 2 else values[-1]]

    module = kernel([(2, N, 4), (2, N, 4)], build)
    for n in (1, 3):
        fused = check(module, {"N": n}, seed)
    assert len(structured_ops(fused)) <= len(structured_ops(module))


def test_op_that_reads_a_result_at_its_own_index_and_elsewhere():
    def build(insert: Insert, x: SSAValue, w: SSAValue):
        product = insert(MatmulOp(x, w))
        places = insert(ConstantOp.from_array(np.array([2, 0, 1])))
        return [insert(AddOp(insert(GatherOp(product, places, 0)), product))]

    check(kernel([(3, 4), (4, 5)], build))


def test_doubling_chains_stay_small():
    def build(insert: Insert, x: SSAValue):
        for _ in range(40):
            x = insert(AddOp(x, x))
        return [x]

    fused = check(kernel([(4,)], build), count=1)
    (op,) = structured_ops(fused)
    assert len(op.inputs) == 1
