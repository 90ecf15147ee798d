"""Shapes that data tells, of several kinds with one compilation each."""

import numpy as np
import pytest

import aicc
from aicc.runtime.errors import InputError
from tests.unit.frontends.onnx.helper import run
from tests.unit.operators.helper import one_node

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def ints(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize("symbolic", [(), (0,)])
def test_reshape(symbolic):
    proto, _ = one_node("Reshape", [X, ints(0, 0)], symbolic=symbolic)
    cases = [((4, 6), (4, 6)), ((-1, 8), (3, 8)), ((0, -1), (2, 12)), ((24, 1), (24, 1))]
    compiled = [aicc.compile(proto, opt_level=level, threads=1) for level in (0, 2)]
    for shape, expected in cases:
        for (result,) in (run(proto, {"x0": X, "x1": ints(*shape)}), *(m(X, ints(*shape)) for m in compiled)):
            np.testing.assert_array_equal(result, X.reshape(expected))
    for wrong in ((5, 5), (-1, -1), (7, -1), (-2, 12)):
        for model in compiled:
            with pytest.raises(InputError):
                model(X, ints(*wrong))


@pytest.mark.parametrize("symbolic", [(), (0,)])
def test_expand(symbolic):
    x = X[:, :1]
    proto, _ = one_node("Expand", [x, ints(1, 1, 1, 1)], symbolic=symbolic)
    compiled = [aicc.compile(proto, opt_level=level, threads=1) for level in (0, 2)]
    for shape in ((1, 1, 1, 1), (5, 2, 3, 4), (1, 1, 7, 1), (0, 2, 1, 1), (1, 2, 0, 4)):
        expected = np.broadcast_to(x, np.broadcast_shapes(x.shape, shape))
        for (result,) in (run(proto, {"x0": x, "x1": ints(*shape)}), *(m(x, ints(*shape)) for m in compiled)):
            np.testing.assert_array_equal(result, expected)
    for model in compiled:
        with pytest.raises(InputError, match="does not go with the input"):
            model(x, ints(1, 3, 1, 1))
