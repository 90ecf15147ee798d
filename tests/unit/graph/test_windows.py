"""Windows along an axis: taps that none of them needs."""

import random

from aicc.dialects.graph.windows import WindowAxis


def reads(axis: WindowAxis, count: int) -> list[list[int]]:
    """The elements that each window reads, by its taps in order."""
    assert isinstance(axis.kernel, int) and isinstance(axis.low, int) and isinstance(axis.size, int)
    places = [[o * axis.stride + k * axis.dilation - axis.low for k in range(axis.kernel)] for o in range(count)]
    return [[place for place in window if 0 <= place < axis.size] for window in places]


def test_windows_without_outer_taps_are_the_same():
    rng, fewer = random.Random(1), 0
    for _ in range(20_000):
        axis = WindowAxis(
            *(rng.randint(0, 5), rng.randint(1, 9), rng.randint(1, 4), rng.randint(0, 7), rng.randint(0, 7)),
            dilation=rng.randint(1, 4),
            ceil_mode=rng.random() < 0.5,
        )
        count = axis.count()
        assert isinstance(count, int)
        if count < 1:
            continue
        other = axis.without_outer_taps()
        assert other.count() == count
        assert reads(other, count) == reads(axis, count)
        fewer += other is not axis
    assert fewer > 1000


def test_taps_that_are_needed_stay():
    axis = WindowAxis(14, 3, 2, 1, 1)
    assert axis.without_outer_taps() is axis
    far = WindowAxis(8, 1 << 40, low=1 << 39, high=1 << 39).without_outer_taps()
    assert (far.kernel, far.low, far.high, far.count()) == (16, 8, 8, 9)
