"""Arrays of the caller's that results are written into, and pages of results that are used again."""

import gc
import threading
from functools import cache
from typing import Any

import numpy as np
import pytest

import aicc
from aicc.runtime.calls import Caller
from aicc.runtime.memory import ALIGNMENT, HUGE_PAGE, address_of
from aicc.runtime.model import Model
from aicc.runtime.results import POOLED, ResultPool

TEXT = """
func.func @main(%x: tensor<?x3xf32, #graph.dims<N>> {aicc.name = "x"}, %unused: tensor<2xf32> {aicc.name = "u"})
    -> (tensor<?x3xf32, #graph.dims<N>> {aicc.name = "twice"}, tensor<?x3xf32, #graph.dims<N>> {aicc.name = "square"}) {
  %s = graph.add %x, %x : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>
    -> tensor<?x3xf32, #graph.dims<N>>
  %p = graph.mul %x, %x : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>
    -> tensor<?x3xf32, #graph.dims<N>>
  func.return %s, %p : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>
}
"""
UNUSED = np.zeros(2, np.float32)


@cache
def model() -> Model:
    return aicc.compile(TEXT, threads=2)


def numbers(n: int) -> np.ndarray:
    return np.arange(3 * n, dtype=np.float32).reshape(n, 3)


def check(results: Any, x: np.ndarray) -> None:
    np.testing.assert_array_equal(results[0], x + x)
    np.testing.assert_array_equal(results[1], x * x)


@pytest.mark.parametrize("n", [0, 1, 5, 40000])
def test_results_land_in_the_given_arrays(n: int):
    x = numbers(n)
    twice, square = (np.full((n, 3), np.nan, np.float32) for _ in range(2))
    results = model()(x, UNUSED, out=[twice, square])
    assert results[0] is twice and results[1] is square
    check(results, x)
    named = model().run({"x": x, "u": UNUSED}, out={"square": square})
    assert named["square"] is square and not np.shares_memory(named["twice"], twice)
    check(list(named.values()), x)
    first = model()(x, UNUSED, out=(None, square))[0]
    np.testing.assert_array_equal(first, x + x)


def test_an_array_for_the_only_output():
    text = TEXT.replace('-> (tensor<?x3xf32, #graph.dims<N>> {aicc.name = "twice"}, ', "-> (")
    text = text.replace("return %s, %p : tensor<?x3xf32, #graph.dims<N>>,", "return %p :")
    x, out = numbers(4), np.zeros((4, 3), np.float32)
    assert aicc.compile(text)(x, UNUSED, out=out)[0] is out
    np.testing.assert_array_equal(out, x * x)


def test_parts_of_larger_arrays_and_odd_alignments():
    x = numbers(4)
    large = np.zeros((9, 3), np.float32)
    check(model()(x, UNUSED, out=[large[:4], large[5:]]), x)
    assert (large[4] == 0).all()


def unaligned() -> np.ndarray:
    return np.zeros(4 * 3 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 3)


def read_only() -> np.ndarray:
    array = np.zeros((4, 3), np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "out, message",
    [
        (np.zeros((4, 3), np.float64), "out 'twice' has dtype float64, expected float32"),
        (np.zeros((4, 3), ">f4"), "out 'twice' has dtype >f4, expected float32"),
        (np.zeros((5, 3), np.float32), r"out 'twice' has shape \[5, 3\], expected \[4, 3\], which is \[N, 3\]"),
        (np.zeros((3, 4), np.float32).T, r"out 'twice' has strides \[4, 16\], expected a C-contiguous array"),
        (read_only(), "out 'twice' is read-only"),
        (unaligned(), "out 'twice' starts at an odd address, expected a multiple of 4 bytes"),
        ([1.0], "out 'twice' is a list, expected an array"),
    ],
)
def test_arrays_that_cannot_take_a_result(out: Any, message: str):
    with pytest.raises(aicc.InputError, match=message):
        model()(numbers(4), UNUSED, out=[out, None])


@pytest.mark.parametrize(
    "out, message",
    [
        ({"cube": UNUSED}, "out: unknown output 'cube'; the model has 'twice', 'square'"),
        ([UNUSED], "out: 1 array for 2 outputs: 'twice', 'square'"),
        (UNUSED, "out: 1 array for 2 outputs"),
    ],
)
def test_names_and_numbers_of_arrays(out: Any, message: str):
    with pytest.raises(aicc.InputError, match=message):
        model()(numbers(4), UNUSED, out=out)


def test_memory_is_not_shared():
    x = numbers(8)
    for out in (x[:4], x[4:]):
        with pytest.raises(aicc.InputError, match="out 'square' shares memory with input 'x'"):
            model()(x[2:6], UNUSED, out={"square": out})
    block = np.zeros((7, 3), np.float32)
    with pytest.raises(aicc.InputError, match="out 'square' shares memory with out 'twice'"):
        model()(numbers(4), UNUSED, out=[block[3:], block[:4]])
    # An input that is copied, since it is not contiguous, may be where a result goes.
    wide = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = wide[:, ::2]
    expected = x * x
    out = wide.reshape(-1)[:12].reshape(4, 3)
    np.testing.assert_array_equal(model()(x, UNUSED, out={"square": out})[1], expected)


def caller(m: Model) -> Caller:
    found = vars(m)["_call"]
    assert isinstance(found, Caller)
    return found


def test_pages_are_used_again_once_no_array_shows_them():
    m = model().with_threads(1)
    x = numbers(POOLED)
    first = m(x, UNUSED)[0]
    place = address_of(first)
    assert place % ALIGNMENT == 0
    view = first[5:9, 1]
    kept = view.copy()
    del first
    later = [m(x + 1, UNUSED)[0] for _ in range(3)]
    assert all(address_of(array) != place for array in later), "memory that a view shows was used again"
    np.testing.assert_array_equal(view, kept)
    del view
    gc.collect()
    results = [m(x, UNUSED) for _ in range(8)]
    assert place in {address_of(array) for pair in results for array in pair}
    for pair in results:
        check(pair, x)


def test_results_outlive_their_model():
    m = aicc.compile(TEXT, threads=1)
    x = numbers(POOLED)
    results = m(x, UNUSED)
    del m
    gc.collect()
    check(results, x)


def test_what_is_kept_is_bounded():
    pool = ResultPool()
    pool.limit = 3 * HUGE_PAGE
    sizes = [HUGE_PAGE, POOLED, HUGE_PAGE + 5, HUGE_PAGE, 2 * HUGE_PAGE]
    arrays = [pool.take((size,), np.dtype(np.uint8), size)[0] for size in sizes]
    for number in range(len(sizes)):
        arrays[number][:] = number
    assert all((array == number).all() for number, array in enumerate(arrays))
    place = address_of(arrays[-1])
    while arrays:
        arrays.pop(0)
    free = vars(pool)["_free"]
    assert sum(pages.size for pages in free) <= pool.limit
    # Pages that would stay half empty are left for others.
    assert address_of(pool.take((9,), np.dtype(np.uint8), HUGE_PAGE - 1)[0]) != place
    assert address_of(pool.take((9,), np.dtype(np.uint8), HUGE_PAGE + 1)[0]) == place


def test_calls_from_several_threads_share_no_result():
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            x = numbers(POOLED // 12 + seed)
            for _ in range(20):
                check(model()(x, UNUSED), x)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
