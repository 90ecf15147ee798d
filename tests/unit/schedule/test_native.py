"""Scheduled kernels compiled for this machine: the numbers of numpy, and the same bits on one thread and on two."""

from __future__ import annotations

import numpy as np
import pytest

from aicc.dialects.loops import CallOp
from aicc.dialects.loops.attrs import memref_dims
from aicc.dialects.loops.functions import find_function, symbol_names
from aicc.lowering.context import make_context
from aicc.transforms.loops_apply_schedules import LoopsApplySchedulesPass
from aicc.transforms.loops_auto_schedule import LoopsAutoSchedulePass
from tests.unit.native import native
from tests.unit.schedule.nests import (
    NestCase,
    add,
    column_sum,
    conv,
    depthwise,
    grouped,
    matmul,
    padded_max_pool,
    parsed,
    row_sum,
)

CASES: dict[str, tuple[NestCase, tuple[dict[str, int], ...]]] = {
    "matmul": (matmul(197, 100, 77), ({},)),
    "matmul of symbolic height": (matmul("M", 100, 77), tuple({"M": m} for m in (0, 1, 6, 35, 200))),
    "convolution": (conv(1, 28, 16, 60, 3, constant=False), ({},)),
    "pointwise convolution": (conv(2, 7, 40, 36, 1, constant=False), ({},)),
    "depthwise convolution": (depthwise(28, 30, 3), ({},)),
    "grouped convolution": (grouped(50, 4, 12, 28), ({},)),
    "pooling": (padded_max_pool(29, 70), ({},)),
    "row sums": (row_sum("M", "N"), tuple({"M": m, "N": n} for m, n in ((3, 0), (40, 70), (300, 1001)))),
    "column sums": (column_sum(301, 203), ({},)),
    "addition": (add(["M", "N"]), tuple({"M": m, "N": n} for m, n in ((1, 1), (300, 1001)))),
}


@pytest.mark.parametrize("name", CASES)
def test_scheduled_kernels_run_natively(name: str):
    case, sizes = CASES[name]
    module = parsed(case)
    LoopsAutoSchedulePass("host").apply(make_context(), module)
    LoopsApplySchedulesPass().apply(make_context(), module)
    # The test calls the kernels itself.
    main = find_function(module, "main")
    packed_types = {op.callee_name: op.arguments[-2].type for op in main.walk() if isinstance(op, CallOp)}
    main.detach()
    main.erase()
    kernels = {op.sym_name.data: op for op in module.body.block.ops if op.name == "func.func"}
    for size in sizes:
        arrays = case.arrays(size)
        arguments = list(arrays)
        for position, array in enumerate(arrays):
            if (packer := kernels.get(f"k_pack{position}")) is not None:
                copy = kernels["k"].args[len(case.symbols) + position].type
                arguments[position] = np.zeros(copy.get_shape(), array.dtype)
                dims = memref_dims(packer.args[-2].type)
                known = dict(zip(map(str, dims), memref_dims(packed_types[f"k_pack{position}"]), strict=True))
                told = [known[name] for name in symbol_names(packer)]
                native(module, f"k_pack{position}")(*told, array, arguments[position])
        results = []
        for threads in (1, 2):
            shape = [dim if isinstance(dim, int) else size[dim] for dim in case.output_dims()]
            out = np.zeros(shape, np.float32)
            native(module, "k", threads=threads)(*(size[symbol] for symbol in case.symbols), *arguments, out)
            results.append(out)
        np.testing.assert_allclose(results[0], case.reference(*arrays, **size), rtol=1e-5, atol=1e-5)
        assert results[0].tobytes() == results[1].tobytes()
