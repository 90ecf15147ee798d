"""The short way to call a model gives what the long way gives, is left where it must be, and keeps nothing."""

import gc
import sys
import threading
from typing import Any

import numpy as np
import pytest

import aicc
from aicc.runtime.calls import Caller
from aicc.runtime.errors import OutOfMemory
from aicc.runtime.model import Model
from aicc.runtime.python_interface import addresses
from aicc.runtime.results import POOLED
from aicc.runtime.short_calls import MOST_SHAPES

TWO = """
func.func @main(%x: tensor<?x3xf32, #graph.dims<N>>, %y: tensor<?x3xf32, #graph.dims<N>>, %unused: tensor<2xi8>)
    -> (tensor<?x3xf32, #graph.dims<N>>, tensor<3xf32>) {
  %s = graph.add %x, %y : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>
    -> tensor<?x3xf32, #graph.dims<N>>
  %t = graph.softmax %s {axis = 1} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %r = graph.reduce_sum %t {axes = array<i64: 0>} : tensor<?x3xf32, #graph.dims<N>> -> tensor<3xf32>
  func.return %s, %r : tensor<?x3xf32, #graph.dims<N>>, tensor<3xf32>
}
"""

pytestmark = pytest.mark.skipif(addresses() is None, reason="not to be had with this Python")


def model(threads: int = 1) -> Model:
    return aicc.compile(TWO, threads=threads)


def arrays(n: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(n)
    x, y = (random.random((n, 3), np.float32) for _ in range(2))
    return {"input0": x, "input1": y, "input2": np.zeros(2, np.int8)}


def check(m: Model, given: dict[str, np.ndarray], results: dict[str, np.ndarray]) -> None:
    assert type(results) is dict and list(results) == [info.name for info in m.outputs]
    check_arrays(given, list(results.values()))


def check_arrays(given: dict[str, np.ndarray], results: list[np.ndarray]) -> None:
    s, r = results
    np.testing.assert_array_equal(s, given["input0"] + given["input1"])
    e = np.exp(s.astype(np.float64))
    np.testing.assert_allclose(r, (e / e.sum(1, keepdims=True)).sum(0), rtol=1e-5)


def long_way(m: Model) -> list[int]:
    """Counts the calls that go the long way, from now on."""
    caller = vars(m)["_call"]
    assert isinstance(caller, Caller)
    counted: list[int] = []

    def counting(*arguments: Any) -> Any:
        counted.append(1)
        return caller(*arguments)

    vars(m)["_call"] = counting
    return counted


@pytest.mark.parametrize("threads", [1, 2])
def test_the_second_call_goes_the_short_way(threads: int):
    m = model(threads)
    taken = long_way(m)
    for n in (4, 4, 5, 4, 5, 0, 0, 40_000, 40_000):
        given = arrays(n)
        check(m, given, m.run(given))
        results = m(*given.values())
        assert type(results) is tuple
        check_arrays(given, list(results))
    assert len(taken) == 4
    assert sum(one.runs for one in m.stats.variants) == 18


@pytest.mark.parametrize("n", [4, 40_000])
def test_results_are_as_those_of_the_long_way(n: int):
    m = model()
    given = arrays(n)
    assert (12 * n >= POOLED) == (n > 4)
    first, second = m.run(given), m.run(given)
    for name, array in first.items():
        other = second[name]
        assert array.tobytes() == other.tobytes() and not np.shares_memory(array, other)
        assert (array.dtype, array.shape, array.strides) == (other.dtype, other.shape, other.strides)
        assert str(array.flags) == str(other.flags) and type(other) is np.ndarray
        assert other.ctypes.data % 64 == 0


def test_what_is_not_exactly_alike_goes_the_long_way():
    m = model()
    given = arrays(4)
    m.run(given)
    taken = long_way(m)

    class Named(dict[str, np.ndarray]):
        pass

    class Own(np.ndarray):
        pass

    wide = np.zeros((4, 6), np.float32)
    wide[:, ::2] = given["input0"]
    raw = np.zeros(4 * 3 * 4 + 1, np.uint8)
    odd = raw[1:].view(np.float32).reshape(4, 3)
    odd[:] = given["input0"]
    alike: tuple[Any, ...] = (
        wide[:, ::2],
        np.asfortranarray(given["input0"]),
        odd,
        given["input0"].view(Own),
        given["input0"].data,
    )
    for other in alike:
        check(m, given, m.run({**given, "input0": other}))
    check(m, given, m.run(Named(given)))
    assert len(taken) == len(alike) + 1
    other_order = given["input0"].astype(">f4")
    check(m, given, m.run({**given, "input0": other_order}))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"z": np.zeros(1)}, "unknown input 'z'"),
        ({"input1": np.zeros((4, 3))}, "dtype float64"),
        ({"input1": np.zeros((3, 3), np.float32)}, "dim 0 is 3, but N is 4"),
        ({"input1": np.zeros(4, np.float32)}, "has rank 1"),
        ({"input1": None}, "expected an array"),
        ({"input2": np.zeros(3, np.int8)}, "dim 0 is 3, expected 2"),
    ],
)
def test_errors_are_those_of_the_long_way(change: dict[str, Any], message: str):
    m = model()
    m.run(arrays(4))
    given: dict[str, Any] = arrays(4) | change
    for _ in range(2):
        with pytest.raises(aicc.InputError, match=message):
            m.run(given)
    given = arrays(4)
    del given["input1"]
    with pytest.raises(aicc.InputError, match="missing input 'input1'"):
        m.run(given)
    check(m, arrays(4), m.run(arrays(4)))


def test_a_key_that_cannot_be_compared_ends_in_its_error():
    class Key:
        def __hash__(self) -> int:
            return hash("input0")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("not comparable")

    m = model()
    given = arrays(4)
    m.run(given)
    odd: dict[Any, Any] = {Key(): given["input0"], "input1": given["input1"], "input2": given["input2"]}
    with pytest.raises(RuntimeError, match="not comparable"):
        m.run(odd)
    check(m, given, m.run(given))


def test_nothing_is_kept_and_nothing_lost():
    m = model()
    given = arrays(7)
    m.run(given)
    x, none = given["input0"], None
    before = sys.getrefcount(x), sys.getrefcount(x.dtype), sys.getrefcount(given)
    for _ in range(100):
        m.run(given)
        m(*given.values())
        with pytest.raises(aicc.InputError):
            m.run({**given, "input1": none})  # pyright: ignore[reportArgumentType]
    gc.collect()
    assert (sys.getrefcount(x), sys.getrefcount(x.dtype), sys.getrefcount(given)) == before
    results = m.run(given)
    assert [sys.getrefcount(results[name]) for name in results] == [2, 2]
    assert sys.getrefcount(results) == 2


def test_shapes_of_the_short_way_are_bounded():
    m = model()
    taken = long_way(m)
    for n in range(2 * MOST_SHAPES):
        for _ in range(2):
            check(m, arrays(n), m.run(arrays(n)))
    assert len(taken) == 2 * MOST_SHAPES + MOST_SHAPES


@pytest.mark.parametrize("threads", [1, 2])
def test_calls_from_several_threads_share_nothing(threads: int):
    m = model(threads)
    failures: list[BaseException] = []

    def work(n: int) -> None:
        try:
            given = arrays(n)
            for _ in range(200):
                check(m, given, m.run(given))
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(n,)) for n in (3, 3, 4000, 4000)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    assert sum(one.runs for one in m.stats.variants) == 800


def test_a_result_that_memory_is_refused_for_is_an_error(monkeypatch: pytest.MonkeyPatch):
    m = model()
    given = arrays(40_000)
    m.run(given)
    caller = vars(m)["_call"]
    assert isinstance(caller, Caller)
    monkeypatch.setattr("aicc.runtime.results.mapped_pages", _refuse)
    vars(caller.results)["_free"] = []
    with pytest.raises(OutOfMemory, match="no more"):
        m.run(given)
    monkeypatch.undo()
    check(m, given, m.run(given))


def _refuse(size: int) -> Any:
    raise OutOfMemory("no more")
