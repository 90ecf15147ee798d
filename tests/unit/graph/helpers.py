"""Building one-op modules and running them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region

from aicc.dialects.graph.dims import tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.evaluator import evaluate_function

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16), BF16]
SIGNED = [np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)]
UNSIGNED = [np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)]
INTEGERS = SIGNED + UNSIGNED


def module_of(make: Callable[..., Operation], types: Sequence[Attribute]) -> tuple[ModuleOp, FuncOp]:
    """A module whose `@main` is one op on arguments of the given types."""
    block = Block(arg_types=types)
    op = make(*block.args)
    block.add_ops([op, ReturnOp(*op.results)])
    function = FuncOp("main", (list(types), list(op.result_types)), Region(block))
    module = ModuleOp([function])
    module.verify()
    return module, function


def types_of(arrays: Sequence[np.ndarray]) -> list[Attribute]:
    """The static types of arrays."""
    return [tensor_type(array.shape, element_type(array.dtype)) for array in arrays]


def run(make: Callable[..., Operation], *arrays: Any) -> Any:
    """The result (or list of results) of one op by its numpy meaning, checked to have the inferred shape and dtype."""
    values = [np.asarray(array) for array in arrays]
    module, function = module_of(make, types_of(values))
    results = evaluate_function(function, values, module)
    for result, type in zip(results, function.function_type.outputs.data, strict=True):
        assert result.shape == type.get_shape()
        assert element_type(result.dtype) == type.element_type
    return results[0] if len(results) == 1 else results


def specials(dtype: np.dtype) -> np.ndarray:
    """Values at which things go wrong."""
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype in FLOATS:
        info = ml_dtypes.finfo(dtype)
        tiny, largest = float(info.smallest_subnormal), float(info.max)
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 7.0, tiny, -tiny, largest, -largest, np.inf, -np.inf, np.nan]
        return np.array(values, dtype)
    info = np.iinfo(dtype)
    values = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1]
    if info.min < 0:
        values += [-1, -2, -7]
    return np.array(values, dtype)


def special_pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special values."""
    values = specials(dtype)
    a, b = np.meshgrid(values, values, indexing="ij")
    return a.reshape(-1), b.reshape(-1)


def assert_same(found: np.ndarray, expected: np.ndarray, ulps: float = 0) -> None:
    """Equal but for `ulps` units in the last place; NaN equals NaN, and the sign of a zero counts when exact."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype not in FLOATS:
        np.testing.assert_array_equal(found, expected)
        return
    spacing = float(ml_dtypes.finfo(found.dtype).eps)
    tiny = float(ml_dtypes.finfo(found.dtype).smallest_subnormal)
    a, b = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    if ulps:
        np.testing.assert_allclose(a, b, rtol=ulps * spacing, atol=ulps * tiny)
    else:
        np.testing.assert_array_equal(a, b)
        signs = ~np.isnan(a)
        np.testing.assert_array_equal(np.signbit(a)[signs], np.signbit(b)[signs])
