"""The nn ops: decompositions mean the same, windows are counted alike for constants and symbols, checks are named."""

import math

import ml_dtypes
import numpy as np
import pytest
from xdsl.builder import InsertPoint
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from aicc.dialects.graph.attention import AttentionOp
from aicc.dialects.graph.axis_roles import AxisRole, HasAxisRoles
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import ceildiv, evaluate, sym, tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.interfaces import GraphOp, OpBuilder
from aicc.dialects.graph.matmul import LinearOp, MatmulOp
from aicc.dialects.graph.normalization import BatchNormOp, GroupNormOp, LayerNormOp, LrnOp, RmsNormOp
from aicc.dialects.graph.pooling import AvgPoolOp, GlobalAvgPoolOp, GlobalMaxPoolOp, MaxPoolOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.dialects.graph.softmax import LogSoftmaxOp, SoftmaxOp
from aicc.dialects.graph.windows import WindowAxis, same_pads

RNG = np.random.default_rng(3)
N, H = sym("N"), sym("H")


def random(shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def build(make, types):
    """A module whose `@main` is one op on arguments of the given types; and the op."""
    block = Block(arg_types=types)
    op = make(*block.args)
    block.add_ops([op, ReturnOp(op.results[0])])
    function = FuncOp("main", (types, [op.results[0].type]), Region(block))
    module = ModuleOp([function])
    module.verify()
    return module, function, op


def values_of(make, arrays, types=None):
    """The results of an op: by its own meaning, and by that of its decomposition all the way down."""
    if types is None:
        types = [tensor_type(array.shape, element_type(array.dtype)) for array in arrays]
    module, function, _ = build(make, types)
    (whole,) = evaluate_function(function, arrays, module)
    pending = [op for op in function.body.block.ops if isinstance(op, GraphOp)]
    decomposed = False
    while pending:
        op = pending.pop()
        before = op.prev_op
        replacement = op.decompose(OpBuilder(InsertPoint.before(op)))
        if replacement is None:
            continue
        decomposed = True
        for old, new in zip(op.results, replacement, strict=True):
            old.replace_all_uses_with(new)
        new_op = function.body.block.first_op if before is None else before.next_op
        while new_op is not op:
            pending.append(new_op)
            new_op = new_op.next_op
        op.detach()
        op.erase()
    assert decomposed
    module.verify()
    (parts,) = evaluate_function(function, arrays, module)
    return whole, parts


DECOMPOSED = {
    "linear": (lambda x, w, b: LinearOp(x, w, b), [(2, 3, 4), (4, 5), (5,)]),
    "linear transposed": (lambda x, w: LinearOp(x, w, transpose_w=True), [(2, 4), (5, 4)]),
    "linear of a vector": (lambda x, w, b: LinearOp(x, w, b), [(4,), (4, 5), (5,)]),
    "global_avg_pool": (GlobalAvgPoolOp, [(2, 3, 4, 5)]),
    "global_max_pool": (GlobalMaxPoolOp, [(2, 3, 4, 5)]),
    "layer_norm": (lambda x, s, b: LayerNormOp(x, s, b, axis=1), [(2, 3, 8), (3, 8), (8,)]),
    "layer_norm without": (LayerNormOp, [(2, 3, 8)]),
    "rms_norm": (lambda x, s: RmsNormOp(x, s), [(2, 3, 8), (8,)]),
    "rms_norm without": (RmsNormOp, [(2, 3, 8)]),
    "group_norm": (lambda x, s, b: GroupNormOp(x, s, b, num_groups=2), [(2, 6, 3, 3), (6,), (6,)]),
    "instance_norm": (lambda x, s, b: GroupNormOp(x, s, b, num_groups=6), [(2, 6, 9), (6,), (6,)]),
    "group_norm of one": (lambda x: GroupNormOp(x), [(2, 6)]),
    "lrn": (lambda x: LrnOp(x, 3, 0.2, 0.6, 1.5), [(2, 5, 3, 3)]),
    "lrn even": (lambda x: LrnOp(x, 4), [(1, 6)]),
    "lrn root": (lambda x: LrnOp(x, 3, 0.7, 0.5, 1.5), [(2, 5, 3)]),
    "lrn fourth root": (lambda x: LrnOp(x, 3, 0.7, 0.25, 1.5), [(2, 5, 3)]),
    "lrn one": (lambda x: LrnOp(x, 3, 0.7, 1.0, 1.5), [(2, 5, 3)]),
    "lrn negative bias": (lambda x: LrnOp(x, 3, 0.7, 0.75, -0.5), [(2, 5, 3)]),
    "log_softmax": (lambda x: LogSoftmaxOp(x, 1), [(2, 7, 3)]),
    "attention": (AttentionOp, [(2, 3, 4, 8), (2, 1, 5, 8), (2, 1, 5, 6)]),
    "attention masked": (lambda q, k, v, m: AttentionOp(q, k, v, m, scale=0.3), [(3, 4), (5, 4), (5, 4), (1, 5)]),
    "attention causal": (lambda q, k, v: AttentionOp(q, k, v, causal=True, past=2), [(3, 4), (5, 4), (5, 4)]),
    "attention capped": (lambda q, k, v: AttentionOp(q, k, v, softcap=0.5), [(3, 4), (5, 4), (5, 4)]),
}
TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5, np.float16: 2e-3, ml_dtypes.bfloat16: 2e-2}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", DECOMPOSED)
def test_decomposition_means_the_same(name, dtype):
    make, shapes = DECOMPOSED[name]
    whole, parts = values_of(make, [random(shape, dtype) for shape in shapes])
    assert whole.dtype == parts.dtype == dtype
    # Both compute in the same wide type; one rounding to the narrow one (linear: two) remains.
    tolerance = TOLERANCE[dtype] * (2 if name.startswith("linear") else 1)
    np.testing.assert_allclose(
        parts.astype(np.float64), whole.astype(np.float64), rtol=tolerance, atol=tolerance, equal_nan=True
    )


def test_batch_norm_decomposes_to_values_per_channel():
    arrays = [random((2, 3, 4, 4)), random((3,)), random((3,)), random((3,)), np.abs(random((3,)))]
    whole, parts = values_of(lambda *args: BatchNormOp(*args, epsilon=1e-3), arrays)
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-6)


def test_attention_with_an_empty_row():
    q, k, v = random((3, 4)), random((5, 4)), random((5, 2))
    mask = np.array([[True] * 5, [False] * 5, [True, False, True, False, False]])
    for result in values_of(AttentionOp, [q, k, v, mask]):
        np.testing.assert_array_equal(result[1], [0, 0])
        assert np.isfinite(result).all() and result[0].any()


def test_symbolic_group_norm_and_lrn():
    x = random((2, 6, 5, 3))
    types = [tensor_type([N, 6, H, 3], f32)]
    for make in (lambda x: GroupNormOp(x, num_groups=3), lambda x: LrnOp(x, 3)):
        whole, parts = values_of(make, [x], types)
        np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-5)


def test_softmax_rows_do_not_affect_each_other():
    inf = np.inf
    x = np.array([[-inf, -inf], [1e30, -1e30], [0, np.nan], [3, 3]], np.float32)
    module, function, _ = build(SoftmaxOp, [tensor_type([4, 2], f32)])
    (result,) = evaluate_function(function, [x], module)
    np.testing.assert_array_equal(result, np.float32([[np.nan] * 2, [1, 0], [np.nan] * 2, [0.5, 0.5]]))
    (empty,) = evaluate_function(*_with_types(SoftmaxOp, [tensor_type([4, 0], f32)], [np.zeros((4, 0), np.float32)]))
    assert empty.shape == (4, 0)


def _with_types(make, types, arrays):
    module, function, _ = build(make, types)
    return function, arrays, module


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(
    "kernel, stride, low, high, dilation", [(3, 1, 1, 1, 1), (2, 2, 0, 1, 1), (3, 2, 1, 0, 2), (1, 3, 0, 0, 1)]
)
def test_windows_of_symbols_are_those_of_constants(kernel, stride, low, high, dilation, ceil_mode):
    window = WindowAxis(H, kernel, stride, low, high, dilation, ceil_mode)
    for size in range(30):
        constant = WindowAxis(size, kernel, stride, low, high, dilation, ceil_mode)
        assert evaluate(window.count(), {"H": size}) == constant.count()
        total = size + low + high
        if total < window.span:
            continue
        if ceil_mode:
            # One more than fits, if it starts before the padding at the end.
            found = [o for o in range(100) if o * stride < size + low and (o - 1) * stride + window.span < total]
        else:
            found = [o for o in range(100) if o * stride + window.span <= total]
        assert constant.count() == len(found)


def test_same_pads_give_the_size_over_the_stride():
    for size in range(1, 20):
        for kernel, stride, dilation in ((3, 1, 1), (2, 2, 1), (5, 3, 1), (3, 2, 2), (1, 2, 1)):
            for upper in (True, False):
                low, high = same_pads(size, kernel, stride, dilation, upper=upper)
                assert WindowAxis(size, kernel, stride, low, high, dilation).count() == ceildiv(size, stride)
                assert low - high in ((0, -1) if upper else (0, 1))
                symbolic = same_pads(H, kernel, stride, dilation, upper=upper)
                assert tuple(evaluate(pad, {"H": size}) for pad in symbolic) == (low, high)


def test_a_window_that_does_not_fit_is_found_at_run_time():
    types = [tensor_type([1, 1, H], f32)]
    module, function, op = build(lambda x: MaxPoolOp(x, (3,)), types)
    assert [str(check.lhs) for check in op.runtime_checks()] == ["max(0,H-2)"]
    (result,) = evaluate_function(function, [np.zeros((1, 1, 2), np.float32)], module)
    assert result.shape == (1, 1, 0)
    with pytest.raises(DiagnosticException, match="window of 3 does not fit axis 2"):
        evaluate_function(function, [np.zeros((1, 1, 1), np.float32)], module)
    padded = build(lambda x: MaxPoolOp(x, (3,), pads=(1, 1)), types)[2]
    assert not padded.runtime_checks()


def test_sizes_that_are_assumed_equal_are_checked():
    c, k = sym("C"), sym("K")
    types = [tensor_type([N, c, 4], f32), tensor_type([5, k, 3], f32)]
    module, function, op = build(ConvOp, types)
    assert [(str(check.lhs), str(check.rhs)) for check in op.runtime_checks()] == [("C", "K")]
    with pytest.raises(DiagnosticException, match="input channels C do not match"):
        evaluate_function(function, [random((1, 2, 4)), random((5, 3, 3))], module)
    _, _, op = build(MatmulOp, [tensor_type([N, c], f32), tensor_type([k, H], f32)])
    assert [(str(check.lhs), str(check.rhs)) for check in op.runtime_checks()] == [("C", "K")]


def test_average_of_a_window_in_the_padding_only_is_nan():
    (result,) = evaluate_function(
        *_with_types(lambda x: AvgPoolOp(x, (1,), pads=(1, 0)), [tensor_type([1, 1, 2], f32)], [np.float32([[[1, 2]]])])
    )
    np.testing.assert_array_equal(result, np.float32([[[np.nan, 1, 2]]]))


def test_flops():
    _, _, op = build(MatmulOp, [tensor_type([N, 8, 16], f32), tensor_type([16, 4], f32)])
    assert op.flops() == 2 * 8 * 16 * 4 * N
    _, _, op = build(ConvOp, [tensor_type([1, 4, 8, 8], f32), tensor_type([6, 4, 3, 3], f32)])
    assert op.flops() == 2 * 6 * 6 * 6 * 4 * 9


def test_axis_roles():
    _, _, op = build(ConvOp, [tensor_type([1, 4, 8, 8], f32), tensor_type([6, 4, 3, 3], f32)])
    assert isinstance(op, HasAxisRoles)
    assert op.axis_roles() == (AxisRole.BATCH, AxisRole.CHANNEL, AxisRole.SPACE, AxisRole.SPACE)


def test_attention_needs_a_scale_for_a_symbolic_depth():
    with pytest.raises(VerifyException, match="expected a constant or a given scale"):
        build(AttentionOp, [tensor_type([3, H], f32)] * 3)
    build(lambda q, k, v: AttentionOp(q, k, v, scale=1 / math.sqrt(8)), [tensor_type([3, H], f32)] * 3)


def test_sizes():
    module = ModuleOp([])
    block = Block(arg_types=[tensor_type([N, 3], f32)])
    op = SizesOp([N, 2 * N + 1, 7])
    block.add_ops([op, ReturnOp(op)])
    function = FuncOp("main", ([block.args[0].type], [op.result.type]), Region(block))
    module.body.block.add_op(function)
    (result,) = evaluate_function(function, [np.zeros((5, 3), np.float32)], module)
    assert result.tolist() == [5, 11, 7] and result.dtype == np.int64
