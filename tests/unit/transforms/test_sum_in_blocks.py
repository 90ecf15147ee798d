"""Long sums are as exact as sums in blocks are: numpy's float64 is the judge."""

from functools import partial

import numpy as np
import pytest

import aicc
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.reductions import ReduceSumOp
from tests.unit.graph.helpers import module_of, types_of


@pytest.mark.parametrize("terms", [700, 4608, 20000])
def test_a_product_of_long_rows_is_exact(terms: int) -> None:
    """The error of n terms one after the other grows with the square root of n; that of blocks of 512 hardly does."""
    rng = np.random.default_rng(0)
    lhs = rng.random((7, terms), np.float32)
    rhs = rng.random((terms, 33), np.float32)
    module, _ = module_of(MatmulOp, types_of([lhs, rhs]))
    (result,) = aicc.compile(module, cache=False)(lhs, rhs)
    expected = lhs.astype(np.float64) @ rhs.astype(np.float64)
    # Terms of one sign: what is rounded is the running sum.
    np.testing.assert_allclose(result, expected, rtol=1.2e-6)


def test_a_long_sum_is_exact() -> None:
    values = np.random.default_rng(1).random((3, 200_000), np.float32)
    module, _ = module_of(partial(ReduceSumOp, axes=(1,)), types_of([values]))
    (result,) = aicc.compile(module, cache=False)(values)
    np.testing.assert_allclose(np.ravel(result), values.astype(np.float64).sum(1), rtol=1e-6)
