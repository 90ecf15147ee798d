"""Tiling visits every index once, whatever the extent, the size and the way of handling what does not fill a tile."""

from __future__ import annotations

import pytest

from aicc.transforms.loops_nest import StepError, find_loops
from aicc.transforms.loops_tile import count_nests, tile_loops
from tests.unit.schedule.nests import add, column_sum, matmul, parsed, row_sum, run_case

EXTENTS = (0, 1, 5, 16, 17, 32)


def first(module, label):
    return find_loops(module, label)[0]


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("size", (1, 4, 16, 40))
@pytest.mark.parametrize("tail", ("peel", "mask"))
def test_one_loop_of_known_extent(extent: int, size: int, tail: str):
    case = add([extent])
    module = parsed(case)
    expected = count_nests(first(module, "s0_d0"), size, tail)
    tiled = tile_loops([first(module, "s0_d0")], [size], [tail])
    module.verify()
    assert len(tiled.outers[0]) == expected
    run_case(case, module)


@pytest.mark.parametrize("size", (1, 4, 16))
@pytest.mark.parametrize("tail", ("peel", "mask"))
def test_one_loop_of_symbolic_extent(size: int, tail: str):
    case = add(["N"])
    module = parsed(case)
    tile_loops([first(module, "s0_d0")], [size], [tail])
    module.verify()
    for extent in EXTENTS:
        run_case(case, module, {"N": extent})


@pytest.mark.parametrize("size", (2, 3, 4, 5, 8))
def test_one_iteration_left_over_goes_with_a_full_tile(size: int):
    case = add(["N", 5])
    module = parsed(case)
    tiled = tile_loops([first(module, "s0_d0"), first(module, "s0_d1")], [size, 5], ["pair", "peel"])
    module.verify()
    assert [len(loops) for loops in (*tiled.outers, *tiled.inners)] == [2] * 4
    for extent in range(4 * size):
        run_case(case, module, {"N": extent})
    # What is left over can be tiled again.
    again = tile_loops([tiled.inners[0][1]], [max(2, size - 1)], ["peel"])
    module.verify()
    assert again.peeled
    for extent in range(4 * size):
        run_case(case, module, {"N": extent})


@pytest.mark.parametrize("tails", (("peel", "peel"), ("peel", "mask"), ("mask", "peel"), ("mask", "mask")))
def test_two_loops_make_a_nest_per_combination(tails: tuple[str, str]):
    case = add(["M", 21])
    module = parsed(case)
    tiled = tile_loops([first(module, "s0_d0"), first(module, "s0_d1")], [4, 8], tails)
    module.verify()
    nests = (2 if tails[0] == "peel" else 1) * (2 if tails[1] == "peel" else 1)
    assert [len(loops) for loops in (*tiled.outers, *tiled.inners)] == [nests] * 4
    assert len(tiled.peeled) == nests - 1
    for rows in (0, 1, 4, 7):
        run_case(case, module, {"M": rows})
        run_case(case, module, {"M": rows}, backwards=True)


def test_tiles_of_one_iteration_leave_the_loop_as_it_is():
    case = add([3, 21])
    module = parsed(case)
    tiled = tile_loops([first(module, "s0_d0"), first(module, "s0_d1")], [1, 8], ["peel", "peel"])
    assert [loop.label.data for loop in tiled.outers[0]] == ["s0_d0", "s0_d0"]
    assert tiled.inners[0] == []
    run_case(case, module)


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("tail", ("peel", "mask"))
def test_a_reduction_goes_on_from_tile_to_tile(extent: int, tail: str):
    case = row_sum(3, extent)
    module = parsed(case)
    tile_loops([first(module, "s0_d1")], [4], [tail])
    module.verify()
    run_case(case, module)


def test_tiled_again():
    case = matmul("M", 20, 7)
    module = parsed(case)
    tiled = tile_loops([first(module, "s0_d0"), first(module, "s0_d1")], [6, 16], ["peel", "peel"])
    for loop in tiled.outers[0]:
        tile_loops([loop], [2], ["mask"])
    module.verify()
    for rows in (0, 1, 13):
        run_case(case, module, {"M": rows})


def test_handles_inside_stay_with_the_nest_of_full_tiles():
    module = parsed(matmul(13, 20, 7))
    reduction = first(module, "s0_d2")
    tiled = tile_loops([first(module, "s0_d0"), first(module, "s0_d1")], [6, 16], ["peel", "peel"])
    assert reduction in set(tiled.outers[0][0].walk())


def test_refuses_a_nest_that_is_not_perfect():
    module = parsed(column_sum(5, 6))
    with pytest.raises(StepError, match="tile: loop 's0_d1': is not perfectly nested in loop 's0_d0'"):
        tile_loops([first(module, "s0_d0"), first(module, "s0_d1")], [2, 2], ["peel", "peel"])


def test_refuses_to_peel_several_bounds():
    module = parsed(add(["N"]))
    tile_loops([first(module, "s0_d0")], [16], ["mask"])
    with pytest.raises(StepError, match="ends at the minimum of 2 bounds"):
        tile_loops([first(module, "s0_d0.i")], [3], ["peel"])
