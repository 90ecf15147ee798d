"""Alignment of arrays, and arenas that are never shared."""

import numpy as np
import pytest

from aicc.runtime.memory import ALIGNMENT, HUGE_PAGE, ArenaPool, aligned_empty, long_lived_blocks, long_lived_bytes


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (5, 7)])
def test_aligned_empty(shape: tuple[int, ...]):
    for dtype in (np.float32, np.int8, np.bool_, np.float64):
        array = aligned_empty(shape, np.dtype(dtype))
        assert array.shape == shape and array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable
        assert array.size == 0 or array.ctypes.data % ALIGNMENT == 0


@pytest.mark.parametrize("size", [0, 1, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1])
def test_long_lived_bytes(size: int):
    array = long_lived_bytes(size)
    assert array.nbytes >= size and array.dtype == np.uint8 and array.flags.writeable
    assert array.ctypes.data % ALIGNMENT == 0
    array[:] = 1
    assert array.sum(dtype=np.int64) == array.nbytes


def test_long_lived_blocks_lie_apart():
    sizes = [5, 0, HUGE_PAGE, 64, 65]
    arrays = long_lived_blocks(sizes)
    assert [array.nbytes for array in arrays] == sizes
    for number, array in enumerate(arrays):
        assert array.ctypes.data % ALIGNMENT == 0
        array[:] = number
    assert all((array == number).all() for number, array in enumerate(arrays))
    assert long_lived_blocks([]) == []


def test_pool_reuses_what_is_large_enough_and_shares_nothing():
    pool = ArenaPool()
    first, second = pool.take(100), pool.take(100)
    assert first.nbytes >= 100 and not np.shares_memory(first, second)
    pool.give(first)
    assert pool.take(50) is first
    pool.give(second)
    assert pool.take(1000).nbytes >= 1000
