"""Alignment of arrays, and arenas that are never shared."""

import numpy as np
import pytest

from aicc.runtime.memory import ALIGNMENT, ArenaPool, aligned_empty


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (5, 7)])
def test_aligned_empty(shape: tuple[int, ...]):
    for dtype in (np.float32, np.int8, np.bool_, np.float64):
        array = aligned_empty(shape, np.dtype(dtype))
        assert array.shape == shape and array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable
        assert array.size == 0 or array.ctypes.data % ALIGNMENT == 0


def test_pool_reuses_what_is_large_enough_and_shares_nothing():
    pool = ArenaPool()
    first, second = pool.take(100), pool.take(100)
    assert first.nbytes >= 100 and not np.shares_memory(first, second)
    pool.give(first)
    assert pool.take(50) is first
    pool.give(second)
    assert pool.take(1000).nbytes >= 1000
