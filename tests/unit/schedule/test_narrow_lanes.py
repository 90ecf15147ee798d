"""Products whose columns do not fill their last register compute every one of them, and touch nothing beyond."""

import numpy as np
import pytest

import aicc
from aicc.dialects.graph.matmul import MatmulOp
from tests.unit.graph.helpers import module_of, types_of

SHAPES = [
    (3, 7, 5, 49),
    (2, 17, 33, 65),
    (1, 9, 300, 80),
    (1, 5, 8, 19),
    (2, 6, 4, 33),
    (1, 6, 40, 100),
    (1, 11, 12, 3),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_with_a_narrow_rest(shape: tuple[int, int, int, int]) -> None:
    batch, rows, steps, columns = shape
    rng = np.random.default_rng(0)
    lhs = rng.integers(-8, 9, (batch, rows, steps)).astype(np.float32)
    # An infinity is in the sums of its own column alone.
    rhs = rng.integers(-8, 9, (batch, steps, columns)).astype(np.float32)
    lhs[0, 0, 0], rhs[0, 0, 0] = np.float32(1), np.float32(np.inf)
    module, _ = module_of(MatmulOp, types_of([lhs, rhs]))
    (result,) = aicc.compile(module, cache=False)(lhs, rhs)
    with np.errstate(invalid="ignore"):
        expected = np.einsum("bmk,bkn->bmn", lhs, rhs)
    np.testing.assert_array_equal(result, expected)
