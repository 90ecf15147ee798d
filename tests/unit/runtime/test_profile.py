"""A model compiled with `profile=True` times its kernel calls."""

import numpy as np

import aicc
from aicc.runtime.profile import LAST, RUNS, SHORTEST, TOTAL, reset_counters

TEXT = """
func.func @main(%x: tensor<?x64xf32, #graph.dims<N>>, %w: tensor<64x64xf32>) -> tensor<?x64xf32, #graph.dims<N>> {
  %m = graph.matmul %x, %w : tensor<?x64xf32, #graph.dims<N>>, tensor<64x64xf32> -> tensor<?x64xf32, #graph.dims<N>> loc("first")
  %s = graph.softmax %m {axis = 0} : tensor<?x64xf32, #graph.dims<N>> -> tensor<?x64xf32, #graph.dims<N>> loc("second")
  func.return %s : tensor<?x64xf32, #graph.dims<N>>
}
"""


def test_calls_are_counted_and_timed():
    model = aicc.compile(TEXT, profile=True)
    names = {name for call in model.kernel_calls for name in call[1:]}
    assert {"first", "second"} <= names
    counters = model.counters
    assert counters.shape == (len(model.kernel_calls), 4) and not counters[:, RUNS].any()
    x, w = np.ones((9, 64), np.float32), np.ones((64, 64), np.float32)
    for _ in range(3):
        result = model(x, w)[0]
    np.testing.assert_allclose(result, np.full((9, 64), 1 / 9, np.float32), rtol=1e-6)
    assert (counters[:, RUNS] == 3).all()
    assert (counters[:, TOTAL] >= 3 * counters[:, SHORTEST]).all() and (counters[:, SHORTEST] >= 0).all()
    assert (np.diff(counters[:, LAST]) >= 0).all(), "calls begin in the order of the program"
    reset_counters(counters)
    assert not counters[:, RUNS].any()
    plain = aicc.compile(TEXT)
    assert plain.kernel_calls == () and plain.counters.shape == (0, 4)
