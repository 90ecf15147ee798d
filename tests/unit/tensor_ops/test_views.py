"""Views as index maps and under layouts, against numpy's reshape."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from xdsl.dialects.builtin import f32
from xdsl.ir import Block

from aicc.dialects.graph.dims import Dim, sym, tensor_type
from aicc.dialects.tensor_ops import ViewOp
from aicc.transforms.tensor_ops_inline import view_groups, view_map
from aicc.transforms.tensor_ops_layout_rules import stored, view_layout

N, M = sym("N"), sym("M")

PAIRS = [
    ((2, 6), (3, 4)),
    ((2, 3, 4), (6, 4)),
    ((6, 4), (2, 3, 4)),
    ((4,), (1, 4, 1)),
    ((1, 4, 1), (4,)),
    ((1, 1), ()),
    ((), (1,)),
    ((2, 3, 5, 7), (6, 35)),
    ((2, 2, 9), (4, 3, 3)),
    ((12, 1, 5), (3, 4, 5)),
]


@pytest.mark.parametrize("old, new", PAIRS)
def test_index_of_a_view(old: tuple[int, ...], new: tuple[int, ...]):
    view = ViewOp(Block(arg_types=[tensor_type(old, f32)]).args[0], new)
    found = view_map(view)
    assert found is not None
    numbers = np.arange(math.prod(old)).reshape(old)
    expected = numbers.reshape(new)
    for point in itertools.product(*(range(size) for size in new)):
        assert numbers[found.eval(point, ())] == expected[point]


@pytest.mark.parametrize(
    "old, new, is_affine",
    [
        ((N, 12), (N, 3, 4), True),
        ((N, 3, 4), (N, 12), True),
        ((N * 4,), (N, 4), True),
        ((N, 4), (N * 4,), True),
        ((N, M), (N * M,), False),
        ((N, M, 6), (N, M, 2, 3), True),
        ((2, N), (2 * N,), False),
        ((N, 4), (M, 4), False),
    ],
)
def test_symbolic_views(old: tuple[Dim, ...], new: tuple[Dim, ...], is_affine: bool):
    view = ViewOp(Block(arg_types=[tensor_type(old, f32)]).args[0], new)
    assert (view_map(view) is not None) == is_affine


def test_groups_are_as_small_as_possible():
    assert view_groups((N, 6, 4), (N, 2, 3, 4)) == [((0, 1), (0, 1)), ((1, 2), (1, 3)), ((2, 3), (3, 4))]
    assert view_groups((N, 4, 1, 1), (N, 4)) == [((0, 1), (0, 1)), ((1, 2), (1, 2)), ((2, 4), (2, 2))]


@pytest.mark.parametrize("old, new", [*PAIRS, ((2, 6, 3, 5), (2, 2, 3, 3, 5)), ((2, 6, 1, 1), (2, 6))])
def test_layout_of_a_view(old: tuple[int, ...], new: tuple[int, ...]):
    """Where a layout goes through a view, reshaping the stored array gives the stored form of the view."""
    numbers = np.arange(math.prod(old)).reshape(old)
    kept = 0
    for layout in itertools.permutations(range(len(old))):
        found = view_layout(old, new, layout)
        if found is not None:
            kept += 1
            expected = numbers.reshape(new).transpose(found)
            size = [d for d in stored(new, found) if isinstance(d, int)]
            np.testing.assert_array_equal(numbers.transpose(layout).reshape(size), expected)
    assert kept >= 1
