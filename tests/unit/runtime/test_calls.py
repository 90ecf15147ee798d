"""What a call prepares once and what it does each time."""

from collections.abc import Sequence

import numpy as np
import pytest

import aicc
from aicc.runtime import calls
from aicc.runtime.memory import ALIGNMENT, address_of
from aicc.runtime.model import Model

SUM = """
func.func @main(%x: tensor<?x3xf32, #graph.dims<N>>, %y: tensor<?x3xf32, #graph.dims<N>>, %unused: tensor<2xf32>)
    -> tensor<?x3xf32, #graph.dims<N>> {
  %s = graph.add %x, %y : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>
    -> tensor<?x3xf32, #graph.dims<N>>
  func.return %s : tensor<?x3xf32, #graph.dims<N>>
}
"""
UNUSED = np.zeros(2, np.float32)


def model(threads: int = 1) -> Model:
    return aicc.compile(SUM, threads=threads)


def caller(m: Model) -> calls.Caller:
    found = vars(m)["_call"]
    assert isinstance(found, calls.Caller)
    return found


def arrays(n: int) -> list[np.ndarray]:
    return [np.arange(3 * n, dtype=np.float32).reshape(n, 3), np.ones((n, 3), np.float32), UNUSED]


def check(m: Model, given: Sequence[np.ndarray]) -> None:
    np.testing.assert_array_equal(m(*given)[0], given[0] + given[1])


def test_one_plan_per_combination_of_shapes():
    m = model()
    state = vars(caller(m))
    for n in (1, 4, 1, 4, 0):
        check(m, arrays(n))
    assert len(state["_plans"]) == 3 and len(state["_tables"]) == 1


def test_plans_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calls, "MOST_PLANS", 4)
    m = model()
    for n in range(11):
        check(m, arrays(n))
        assert len(vars(caller(m))["_plans"]) <= 4


def test_arrays_are_checked_in_every_call():
    m = model()
    x, y, unused = arrays(2)
    check(m, (x, y, unused))
    with pytest.raises(aicc.InputError, match="dtype float64"):
        m(x.astype(np.float64), y, unused)
    with pytest.raises(aicc.InputError, match="expected an array"):
        m(x.tolist(), y, unused)  # pyright: ignore[reportArgumentType]
    with pytest.raises(aicc.InputError, match="dim 0 is 3, but N is 2"):
        m(x, np.ones((3, 3), np.float32), unused)
    with pytest.raises(aicc.InputError, match="has rank 1"):
        m(x, y[0], unused)
    with pytest.raises(aicc.InputError, match="'input2'"):
        m(x, y, np.zeros(3, np.float32))
    # The table of a call that failed is used again.
    check(m, (x, y, unused))
    assert len(vars(caller(m))["_tables"]) == 1


def test_other_layouts_of_known_shapes():
    m = model()
    x, y, unused = arrays(4)
    check(m, (x, y, unused))
    odd = np.zeros(4 * 3 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 3)
    odd[:] = x
    big = x.astype(">f4")
    for other in (np.asfortranarray(x), x[::-1], odd, np.broadcast_to(x[:1], (4, 3)), big.astype(np.float32)):
        check(m, (other, y, unused))


def test_results_are_aligned_and_fresh():
    m = model()
    results = [m(*arrays(5))[0] for _ in range(8)]
    assert len({address_of(result) for result in results}) == 8
    assert all(address_of(result) % ALIGNMENT == 0 == result.ctypes.data - address_of(result) for result in results)


def test_only_programs_with_loops_on_threads_have_a_team():
    assert vars(caller(model(threads=2)))["_threads"] == 2  # N decides when it runs
    text = SUM.replace("?x3xf32, #graph.dims<N>", "8xf32")
    assert vars(caller(aicc.compile(text, threads=2)))["_threads"] == 1
