"""Each graph op lowered to `tensor_ops` computes what the graph op means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.ir import Operation

from aicc.dialects.graph import arithmetic, comparison, functions, reductions
from aicc.dialects.graph.activations import (
    CeluOp,
    EluOp,
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    MishOp,
    ReluOp,
    SeluOp,
    SigmoidOp,
    SiluOp,
    SoftplusOp,
    SoftsignOp,
    ThresholdedReluOp,
)
from aicc.dialects.graph.arg_reductions import ArgMaxOp, ArgMinOp
from aicc.dialects.graph.choice import CastOp, ClipOp, PreluOp, WhereOp
from aicc.dialects.graph.constants import ConstantOp, IotaOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import Dim, evaluate_dims, sym, tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from aicc.dialects.graph.interfaces import ElementKind
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import (
    ConcatOp,
    ExpandOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    SplitOp,
    TransposeOp,
)
from aicc.dialects.graph.pooling import AvgPoolOp, MaxPoolOp
from aicc.dialects.graph.scan import CumsumOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.lowering.graph_to_tensor_ops import ConvertGraphToTensorOpsPass
from tests.unit.tensor_ops.helper import assert_same, module_of, run

N, S = sym("N"), sym("S")
BF16 = np.dtype(ml_dtypes.bfloat16)
F32 = np.dtype(np.float32)
I64 = np.dtype(np.int64)

TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 2e-3, "bfloat16": 2e-2}
"""Relative to the largest element: a few units in the last place, for sums in another order."""


def random_array(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Values of either sign, with a few special ones among floats."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.7, wide % dtype.type(7), wide).astype(dtype)
    return (rng.standard_normal(shape) * 2).astype(dtype)


def check(
    build: Callable[..., Operation],
    operands: Sequence[tuple[Sequence[Dim], np.dtype[Any]] | np.ndarray[Any, Any]],
    *,
    symbols: dict[str, int] | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    shapes: Sequence[Sequence[Dim]] | None = None,
) -> None:
    """Lowers the op that `build` makes of operands of these shapes and dtypes (or values); compares the meanings."""
    rng = np.random.default_rng(seed)
    values = symbols or {}
    arrays, types = [], []
    for position, operand in enumerate(operands):
        if isinstance(operand, np.ndarray):
            array: np.ndarray[Any, Any] = operand
            dims: Sequence[Dim] = array.shape if shapes is None else shapes[position]
        else:
            dims = operand[0]
            array = random_array(rng, evaluate_dims(dims, values), operand[1])
        arrays.append(array)
        types.append(tensor_type(dims, element_type(array.dtype)))
    module = module_of(types, lambda insert, *args: build(*args))
    module.verify()
    expected = run(module, arrays, values)
    ConvertGraphToTensorOpsPass().apply(Context(), module)
    module.verify()
    assert not any(op.name.startswith("graph.") for op in module.walk())
    found = run(module, arrays, values)
    if tolerance is None:
        tolerance = max(TOLERANCE.get(array.dtype.name, 0.0) for array in expected)
    assert_same(found, expected, tolerance)


FLOATS = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), BF16]
INTEGERS = [np.dtype(name) for name in ("int8", "uint8", "int32", "int64", "uint64")]
BOOL = np.dtype(np.bool_)


def dtypes_for(kind: ElementKind) -> list[np.dtype[Any]]:
    """Some dtypes that an op of this kind takes."""
    found: list[np.dtype[Any]] = []
    if ElementKind.FLOAT in kind:
        found += FLOATS
    if ElementKind.SIGNED in kind:
        found += [d for d in INTEGERS if d.kind == "i"]
    if ElementKind.UNSIGNED in kind:
        found += [d for d in INTEGERS if d.kind == "u"]
    if ElementKind.BOOL in kind:
        found.append(BOOL)
    return found


def elementwise_cases(ops: Sequence[type[Any]]) -> list[Any]:
    return [pytest.param(op, dtype, id=f"{op.__name__}-{dtype.name}") for op in ops for dtype in dtypes_for(op.ALLOWED)]


@pytest.mark.parametrize(
    "op, dtype", elementwise_cases([*arithmetic.OPS, *comparison.OPS[:2], comparison.LtOp, comparison.GeOp])
)
def test_binary(op: Any, dtype: np.dtype[Any]):
    check(lambda a, b: op(a, b), [((3, 1, 5), dtype), ((4, 1), dtype)])


@pytest.mark.parametrize(
    "op, dtype",
    elementwise_cases(
        [
            *functions.OPS,
            comparison.IsNanOp,
            comparison.IsInfOp,
            ReluOp,
            SigmoidOp,
            SiluOp,
            SoftplusOp,
            SoftsignOp,
            MishOp,
            HardSwishOp,
            GeluOp,
            LeakyReluOp,
            ThresholdedReluOp,
            EluOp,
            CeluOp,
            SeluOp,
            HardSigmoidOp,
        ]
    ),
)
def test_unary(op: Any, dtype: np.dtype[Any]):
    check(lambda a: op(a), [((7, 3), dtype)])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_elementwise_with_symbols(n: int):
    check(lambda a, b: arithmetic.AddOp(a, b), [((N, 3), F32), ((1, 3), F32)], symbols={"N": n})
    check(lambda a, b: arithmetic.MulOp(a, b), [((2 * N + 1, 3), F32), ((), F32)], symbols={"N": n})


def test_choices():
    check(lambda c, a, b: WhereOp(c, a, b), [((3, 1), BOOL), ((3, 4), F32), ((4,), F32)])
    bounds = [np.array(-0.5, np.float32), np.array(0.5, np.float32)]
    check(lambda a, low, high: ClipOp(a, low, high), [((3, 4), F32), *bounds])
    check(lambda a, s: PreluOp(a, s), [((3, 4), F32), ((4,), F32)])


@pytest.mark.parametrize("source", [*FLOATS, *INTEGERS, BOOL], ids=str)
@pytest.mark.parametrize("target", [*FLOATS, *INTEGERS, BOOL], ids=str)
def test_cast(source: np.dtype[Any], target: np.dtype[Any]):
    x = random_array(np.random.default_rng(3), (13,), source)
    if source.kind not in "biu":
        x = np.abs(np.where(np.isfinite(x), x, 1)).astype(source)
    check(lambda a: CastOp(a, element_type(target)), [x])


REDUCTIONS = [op for op in reductions.OPS if op.__name__ not in ("ReduceLogSumExpOp",)]


@pytest.mark.parametrize("op, dtype", elementwise_cases(REDUCTIONS))
@pytest.mark.parametrize("axes, keepdims", [((1,), False), ((0, 2), True), ((0, 1, 2), False), ((), False)])
def test_reduction(op: Any, dtype: np.dtype[Any], axes: tuple[int, ...], keepdims: bool):
    check(lambda a: op(a, axes, keepdims=keepdims), [((3, 4, 5), dtype)])


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_reduction_of_symbolic_sizes(op: Any, n: int):
    check(lambda a: op(a, (0,), keepdims=True), [((N, 4), F32)], symbols={"N": n})
    check(lambda a: op(a, (1,)), [((N, 4), F32)], symbols={"N": n})


@pytest.mark.parametrize("op", [ArgMaxOp, ArgMinOp])
@pytest.mark.parametrize("select_last", [False, True])
@pytest.mark.parametrize("dtype", [F32, np.dtype(np.uint8), np.dtype(np.int32), BF16], ids=str)
def test_arg_reduction(op: Any, select_last: bool, dtype: np.dtype[Any]):
    check(lambda a: op(a, 1, keepdims=True, select_last=select_last), [((3, 6, 2), dtype)])
    check(lambda a: op(a, 0, select_last=select_last), [((1, 6), dtype)])
    ties = np.array([[1, 3, 3, 0], [2, 2, 2, 2]]).astype(dtype)
    check(lambda a: op(a, 1, select_last=select_last), [ties])


@pytest.mark.parametrize("select_last", [False, True])
def test_arg_reduction_with_nan(select_last: bool):
    x = np.array([[1, np.nan, 5, np.nan], [-np.inf, -np.inf, 0, 1]], np.float32)
    check(lambda a: ArgMaxOp(a, 1, select_last=select_last), [x])
    check(lambda a: ArgMinOp(a, 1, select_last=select_last), [x])


@pytest.mark.parametrize(
    "dtype", [F32, np.dtype(np.float16), np.dtype(np.int8), np.dtype(np.uint8), np.dtype(np.int64)], ids=str
)
def test_matmul(dtype: np.dtype[Any]):
    check(lambda a, b: MatmulOp(a, b), [((5, 7), dtype), ((7, 3), dtype)])
    check(lambda a, b: MatmulOp(a, b, transpose_b=True), [((2, 1, 5, 7), dtype), ((3, 4, 7), dtype)])
    check(lambda a, b: MatmulOp(a, b, transpose_a=True), [((7, 1), dtype), ((2, 7, 3), dtype)])
    check(lambda a, b: MatmulOp(a, b), [((5, 0), dtype), ((0, 3), dtype)])
    check(lambda a, b: MatmulOp(a, b), [((5, 1), dtype), ((1, 3), dtype)])


@pytest.mark.parametrize("n", [0, 1, 3])
def test_matmul_with_symbols(n: int):
    check(lambda a, b: MatmulOp(a, b), [((N, S, 4), F32), ((4, 3), F32)], symbols={"N": n, "S": 2})
    check(lambda a, b: MatmulOp(a, b, transpose_b=True), [((2, S, N), F32), ((2, S, N), F32)], symbols={"N": n, "S": 2})


CONVS = [
    # x, weight, options
    ((2, 3, 9), (4, 3, 3), {}),
    ((1, 3, 8, 7), (4, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    ((1, 3, 8, 7), (4, 3, 3, 3), {"pads": (0, 2, 1, 0), "strides": (2, 1)}),
    ((1, 3, 8, 7), (4, 3, 1, 1), {}),
    ((1, 3, 8, 7), (4, 3, 1, 1), {"strides": (2, 2)}),
    ((2, 4, 9, 9), (6, 2, 3, 2), {"groups": 2, "dilations": (2, 3), "pads": (1, 1, 1, 1)}),
    ((2, 4, 5, 5), (4, 1, 3, 3), {"groups": 4, "pads": (1, 1, 1, 1)}),
    ((2, 4, 5, 5), (8, 1, 1, 1), {"groups": 4}),
    ((0, 3, 8, 7), (4, 3, 3, 3), {}),
    ((1, 3, 2, 7), (4, 3, 3, 3), {}),
]


@pytest.mark.parametrize("x, weight, options", CONVS)
@pytest.mark.parametrize("dtype", [F32, BF16, np.dtype(np.int8)], ids=str)
def test_conv(x: Any, weight: Any, options: Any, dtype: np.dtype[Any]):
    check(lambda a, w: ConvOp(a, w, **options), [(x, dtype), (weight, dtype)])
    check(lambda a, w, c: ConvOp(a, w, c, **options), [(x, dtype), (weight, dtype), ((weight[0],), dtype)])


@pytest.mark.parametrize("n, s", [(1, 6), (3, 3), (0, 5)])
def test_conv_with_symbols(n: int, s: int):
    for options in ({}, {"pads": (1, 1, 1, 1)}, {"strides": (2, 2)}):
        check(
            lambda a, w, o=options: ConvOp(a, w, **o),
            [((N, 3, S, 5), F32), ((4, 3, 3, 3), F32)],
            symbols={"N": n, "S": s},
        )


POOLS = [
    ((1, 2, 6, 7), (2, 2), {"strides": (2, 2)}),
    ((1, 2, 6, 7), (3, 3), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 2, 6, 7), (3, 3), {"strides": (2, 2), "pads": (0, 0, 0, 0), "ceil_mode": True}),
    ((1, 2, 6, 7), (2, 3), {"strides": (3, 2), "pads": (1, 0, 0, 2), "ceil_mode": True, "dilations": (2, 1)}),
    ((1, 2, 9), (3,), {"strides": (2,), "pads": (1, 1)}),
    ((2, 2, 1, 1), (1, 1), {}),
    ((0, 2, 6, 7), (2, 2), {}),
]


@pytest.mark.parametrize("x, kernel, options", POOLS)
def test_pools(x: Any, kernel: Any, options: Any):
    for dtype in (F32, np.dtype(np.float16), np.dtype(np.uint8), np.dtype(np.int8)):
        check(lambda a: MaxPoolOp(a, kernel, **options), [(x, dtype)])
    for dtype in (F32, BF16):
        check(lambda a: AvgPoolOp(a, kernel, **options), [(x, dtype)])
        check(lambda a: AvgPoolOp(a, kernel, **options, count_include_pad=True), [(x, dtype)])


@pytest.mark.parametrize("n, s", [(1, 6), (3, 3), (0, 5)])
@pytest.mark.parametrize(
    "options", [{}, {"pads": (1, 1, 1, 1)}, {"pads": (1, 0, 0, 1), "ceil_mode": True, "strides": (2, 2)}]
)
def test_pools_with_symbols(n: int, s: int, options: Any):
    symbols = {"N": n, "S": s}
    check(lambda a: MaxPoolOp(a, (3, 2), **options), [((N, 3, S, S), F32)], symbols=symbols)
    check(lambda a: AvgPoolOp(a, (3, 2), **options), [((N, 3, S, S), F32)], symbols=symbols)
    check(lambda a: AvgPoolOp(a, (3, 2), **options, count_include_pad=True), [((N, 3, S, S), F32)], symbols=symbols)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax(dtype: np.dtype[Any]):
    for axis in (0, 1, 2):
        check(lambda a, axis=axis: SoftmaxOp(a, axis), [((3, 1, 7), dtype)])
    x = np.array([[-np.inf, -np.inf], [1e4, 1e4], [np.nan, 0], [0, -np.inf]], np.float32).astype(dtype)
    check(lambda a: SoftmaxOp(a, 1), [x])


@pytest.mark.parametrize("n", [0, 1, 4])
def test_softmax_with_symbols(n: int):
    check(lambda a: SoftmaxOp(a, 1), [((3, N), F32)], symbols={"N": n})
    check(lambda a: SoftmaxOp(a, 0), [((3, N), F32)], symbols={"N": n})


@pytest.mark.parametrize("n", [0, 1, 4])
def test_movement(n: int):
    symbols = {"N": n}
    check(lambda a: TransposeOp(a, (2, 0, 1)), [((2, N, 3), F32)], symbols=symbols)
    check(lambda a: ExpandOp(a, (N, 2, 3)), [((2, 1), F32)], symbols=symbols)
    check(lambda a: ReshapeOp(a, (N * 2, 3)), [((N, 6), F32)], symbols=symbols)
    check(lambda a, b: ConcatOp([a, b, a], 1), [((2, N), F32), ((2, 3), F32)], symbols=symbols)
    check(lambda a: SplitOp(a, 0, (1, N, 2)), [((N + 3, 2), I64)], symbols=symbols)
    check(lambda a: SliceOp(a, (1, 0), (N, 2), (1, 1)), [((N + 1, 2), F32)], symbols=symbols)
    check(lambda a: SliceOp.from_bounds(a, (-1, 3), (-100, 0), (-1, -2)), [((N + 1, 4), F32)], symbols=symbols)
    check(lambda a: PadOp(a, (1, N), (0, 2)), [((2, N), F32)], symbols=symbols)
    check(lambda a, v: PadOp(a, (1, N), (0, 2), value=v), [((2, N), F32), ((), F32)], symbols=symbols)
    check(lambda a: PadOp(a, (2, 1), (0, 2), mode="edge"), [((2, N + 1), F32)], symbols=symbols)
    check(lambda a: PadOp(a, (-1, 1), (3, -2)), [((4, N + 2), np.dtype(np.uint8))], symbols=symbols)
    check(lambda: SizesOp((N, 2 * N + 1, 7)), [], symbols=symbols)
    check(lambda: IotaOp(tensor_type((N, 3), element_type(F32)), 0), [], symbols=symbols)


def test_static_movement():
    check(lambda a: PadOp(a, (2, 1), (1, 2), mode="reflect"), [((4, 3), F32)])
    check(lambda a: PadOp(a, (), ()), [((), F32)])
    check(lambda: IotaOp(tensor_type((2, 300), element_type(np.dtype(np.int8))), 1), [])
    check(lambda: SizesOp(()), [])
    check(lambda: ConstantOp.from_array(np.arange(6, dtype=np.uint8).reshape(2, 3)), [])


def indices(rng: np.random.Generator, shape: Sequence[int], size: int) -> np.ndarray[Any, Any]:
    return rng.integers(-size, size, shape)


@pytest.mark.parametrize("dtype", [F32, np.dtype(np.uint8)], ids=str)
def test_gather(dtype: np.dtype[Any]):
    rng = np.random.default_rng(5)
    x = ((4, 5, 3), dtype)
    for axis in (0, 1, 2):
        i = indices(rng, (2, 3), (4, 5, 3)[axis])
        check(lambda a, i, axis=axis: GatherOp(a, i, axis), [x, i])
        check(lambda a, i, axis=axis: GatherElementsOp(a, i, axis), [x, indices(rng, (3, 2, 3), (4, 5, 3)[axis])])
    check(lambda a, i: GatherOp(a, i, 1), [x, np.array(-2)])
    check(lambda a, i: GatherOp(a, i, 1), [x, np.array([7, -9, 2], np.int32)])
    check(lambda a, i: GatherOp(a, i, 1), [x, np.zeros((0,), np.int64)])
    check(lambda a, i: GatherNdOp(a, i), [x, indices(rng, (2, 3, 2), 4)])
    check(lambda a, i: GatherNdOp(a, i, 1), [x, indices(rng, (4, 2, 1), 4)])
    check(lambda a, i: GatherNdOp(a, i), [x, indices(rng, (2, 3), 3)])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@pytest.mark.parametrize("dtype", [F32, np.dtype(np.float16), np.dtype(np.uint8), np.dtype(np.int32)], ids=str)
def test_scatter(reduction: str, dtype: np.dtype[Any]):
    rng = np.random.default_rng(6)
    x = ((4, 5), dtype)
    for axis in (0, 1):
        i = indices(rng, (3, 4), (4, 5)[axis])
        check(lambda a, i, u, axis=axis: ScatterElementsOp(a, i, u, axis, reduction=reduction), [x, i, ((3, 4), dtype)])
    check(lambda a, i, u: ScatterNdOp(a, i, u, reduction=reduction), [x, indices(rng, (6, 2), 4), ((6,), dtype)])
    check(lambda a, i, u: ScatterNdOp(a, i, u, reduction=reduction), [x, indices(rng, (3, 1), 4), ((3, 5), dtype)])


@pytest.mark.parametrize("n, m", [(0, 2), (1, 0), (3, 2)])
def test_scatter_with_symbols(n: int, m: int):
    i = np.zeros((m, 2), np.int64)
    check(
        lambda a, i, u: ScatterElementsOp(a, i, u, 1, reduction="add"),
        [np.ones((max(n, m), n), np.float32), i, np.ones((m, 2), np.float32)],
        symbols={"N": n, "M": m, "K": max(n, m)},
        shapes=[(sym("K"), N), (sym("M"), 2), (sym("M"), 2)],
    )


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [F32, BF16, np.dtype(np.int8), np.dtype(np.uint8)], ids=str)
def test_cumsum(exclusive: bool, reverse: bool, dtype: np.dtype[Any]):
    for shape, axis in (((3, 5), 1), ((3, 5), 0), ((0, 2), 0), ((2, 0), 0), ((1,), 0)):
        check(lambda a, axis=axis: CumsumOp(a, axis, exclusive=exclusive, reverse=reverse), [(shape, dtype)])


def test_known_numbers_are_constants_in_the_body():
    types = [tensor_type((2, 3), element_type(F32))]
    module = module_of(
        types,
        lambda insert, a: arithmetic.AddOp(a, insert(ConstantOp.from_array(np.full((3,), 2.0, np.float32)))),
    )
    ConvertGraphToTensorOpsPass().apply(Context(), module)
    (structured,) = [op for op in module.walk() if op.name == "tensor_ops.structured"]
    assert len(structured.operands) == 1
    x = np.ones((2, 3), np.float32)
    assert_same(run(module, [x]), [x + 2])
