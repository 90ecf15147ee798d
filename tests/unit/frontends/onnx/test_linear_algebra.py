"""Determinants against numpy's."""

import numpy as np
import pytest

from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.compiled import run_node

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("shape", [(2, 2), (1, 1), (3, 4, 4), (2, 3, 6, 6)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_determinants(shape, dtype):
    x = RNG.normal(size=shape).astype(dtype)
    shapes = {0: (*"AB"[: len(shape) - 2], *shape[-2:])}
    (found,) = run_node("Det", [x], levels=(2,), shapes=shapes, tolerance=1e-4)
    np.testing.assert_allclose(found, np.linalg.det(x.astype(np.float64)), rtol=1e-4, atol=1e-5)


def test_pivots_of_zero_and_singular_matrices():
    x = np.array([[[0, 1, 2], [3, 0, 1], [1, 1, 0]], [[0, 1, 2], [0, 2, 4], [0, 0, 1]], [[1, 2, 3]] * 3], np.float64)
    (found,) = run_node("Det", [x], levels=(0, 2))
    np.testing.assert_allclose(found, [7, 0, 0], atol=1e-12)


def test_matrices_of_a_symbolic_size():
    x = RNG.normal(size=(2, 5, 5))
    (found,) = run_node("Det", [x], levels=(2,), shapes={0: (2, "N", "N")})
    np.testing.assert_allclose(found, np.linalg.det(x), rtol=1e-10)


def test_what_is_not_square():
    with pytest.raises(ModelError, match=r"the input has shape \[2, 3\], expected square matrices"):
        run_node("Det", [np.zeros((2, 3), np.float32)])
