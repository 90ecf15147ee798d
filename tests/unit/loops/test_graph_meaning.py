"""Ops of each family from `graph` down to planned loops: the same numbers as the graph op means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.ir import Operation

from aicc.dialects.graph.arg_reductions import ArgMaxOp
from aicc.dialects.graph.arithmetic import AddOp, DivOp, PowOp
from aicc.dialects.graph.bitcast import BitcastOp
from aicc.dialects.graph.choice import CastOp, WhereOp
from aicc.dialects.graph.comparison import LtOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import evaluate_dims, sym, tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.functions import TanhOp
from aicc.dialects.graph.indexing import GatherOp, ScatterElementsOp
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ConcatOp, PadOp, ReshapeOp, SliceOp, SplitOp, TransposeOp
from aicc.dialects.graph.pooling import ArgMaxPoolOp, AvgPoolOp, MaxPoolOp, SumPoolOp
from aicc.dialects.graph.reductions import ReduceMeanOp, ReduceProdOp
from aicc.dialects.graph.scan import CumprodOp, CumsumOp
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.lowering.graph_to_tensor_ops import ConvertGraphToTensorOpsPass
from aicc.lowering.tensor_ops_to_loops import ConvertTensorOpsToLoopsPass
from aicc.transforms.loops_plan_memory import LoopsPlanMemoryPass
from aicc.transforms.loops_simplify import LoopsSimplifyPass
from tests.unit.loops.helper import run_main, run_passes
from tests.unit.tensor_ops.helper import assert_same, module_of, run

N = sym("N")
F32, F16, I32, I64, U8, BOOL = (np.dtype(name) for name in ("float32", "float16", "int32", "int64", "uint8", "bool"))
BF16 = np.dtype(ml_dtypes.bfloat16)
Build = Callable[..., Operation]

CASES: list[tuple[str, Build, list[tuple[tuple[Any, ...], np.dtype[Any]]]]] = [
    ("add, broadcast", AddOp, [((N, 1, 3), F32), ((4, 1), F32)]),
    ("add, wrapping bytes", AddOp, [((N, 3), U8), ((3,), U8)]),
    ("div of integers", DivOp, [((N, 3), I32), ((N, 3), I32)]),
    ("pow in half precision", PowOp, [((N, 3), F16), ((3,), F16)]),
    ("tanh in bfloat16", TanhOp, [((N, 3), BF16)]),
    ("less", LtOp, [((N, 3), I64), ((3,), I64)]),
    ("where", WhereOp, [((N, 1), BOOL), ((3,), F32), ((N, 3), F32)]),
    ("cast", lambda x: CastOp(x, element_type(U8)), [((N, 3), F32)]),
    ("mean", lambda x: ReduceMeanOp(x, (0, 2), keepdims=True), [((N, 3, 2), F16)]),
    ("product of everything", lambda x: ReduceProdOp(x, (0, 1)), [((N, 3), I32)]),
    ("arg max", lambda x: ArgMaxOp(x, 1), [((N, 5), I32)]),
    ("softmax", lambda x: SoftmaxOp(x, 1), [((N, 5), F32)]),
    ("matmul", MatmulOp, [((N, 3, 4), F32), ((4, 5), F32)]),
    (
        "conv",
        lambda x, w: ConvOp(x, w, strides=(2, 1), pads=(1, 0, 1, 2), groups=2),
        [((N, 4, 5, 4), F32), ((2, 2, 3, 2), F32)],
    ),
    ("max pool", lambda x: MaxPoolOp(x, (2, 2), pads=(1, 0, 0, 1)), [((N, 2, 4, 4), F32)]),
    ("average pool", lambda x: AvgPoolOp(x, (3, 2), strides=(2, 2), pads=(1, 0, 0, 1)), [((N, 2, 4, 4), F32)]),
    ("sum pool", lambda x: SumPoolOp(x, (3, 2), strides=(2, 2), pads=(1, 0, 0, 1)), [((N, 2, 4, 4), F16)]),
    ("places of maxima", lambda x: ArgMaxPoolOp(x, (3, 2), pads=(1, 1, 1, 0)), [((N, 2, 4, 4), F32)]),
    (
        "places of maxima, column major",
        lambda x: ArgMaxPoolOp(x, (2, 2), strides=(2, 1), dilations=(1, 2), column_major=True),
        [((N, 2, 4, 5), U8)],
    ),
    ("transpose", lambda x: TransposeOp(x, (2, 0, 1)), [((N, 2, 3), F32)]),
    ("reshape", lambda x: ReshapeOp(x, (6, N)), [((N, 2, 3), F32)]),
    ("concat", lambda x, y: ConcatOp([x, y, x], 0), [((N, 2), F32), ((3, 2), F32)]),
    ("split", lambda x: SplitOp(x, 1, (1, 2)), [((N, 3), F32)]),
    ("slice backwards", lambda x: SliceOp(x, (0, 3), (N, 0), (1, -2)), [((N, 4), F32)]),
    ("pad", lambda x: PadOp(x, low=(1, 0), high=(0, 2)), [((N, 3), F32)]),
    ("gather", lambda x, i: GatherOp(x, i, 1), [((N, 4), F32), ((2, 3), I64)]),
    ("scatter", lambda x, i, u: ScatterElementsOp(x, i, u, 0), [((4, N), F32), ((2, N), I64), ((2, N), F32)]),
    ("cumsum", lambda x: CumsumOp(x, 0, reverse=True), [((N, 3), I32)]),
    ("cumprod", lambda x: CumprodOp(x, 0, exclusive=True), [((N, 3), F16)]),
    ("bits of floats", lambda x: BitcastOp(x, element_type(I32)), [((N, 3), F32)]),
    ("bits of booleans", lambda x: BitcastOp(x, element_type(U8)), [((N, 3), BOOL)]),
]


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("build, operands", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_same_numbers(build: Build, operands: list[tuple[tuple[Any, ...], np.dtype[Any]]], n: int):
    rng = np.random.default_rng(3)
    symbols = {"N": n}
    arrays = [
        rng.integers(0, 4, evaluate_dims(dims, symbols)).astype(dtype) + (1 if dtype in (I32, F16) else 0)
        for dims, dtype in operands
    ]
    arrays = [array.astype(dtype) for array, (_, dtype) in zip(arrays, operands, strict=True)]
    module = module_of([tensor_type(dims, element_type(dtype)) for dims, dtype in operands], lambda _, *x: build(*x))
    expected = run(module, arrays, symbols)
    ConvertGraphToTensorOpsPass().apply(Context(), module)
    run_passes(module, ConvertTensorOpsToLoopsPass(), LoopsSimplifyPass(), LoopsPlanMemoryPass())
    tolerance = max({F32: 2e-5, F16: 2e-3, BF16: 2e-2}.get(array.dtype, 0.0) for array in expected)
    assert_same(run_main(module, arrays, symbols), expected, tolerance)
