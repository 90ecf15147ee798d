"""Symbols from shapes, and arrays that do not fit."""

import json

import numpy as np
import pytest

from aicc.runtime.binding import ShapeBinder
from aicc.runtime.errors import InputError, ProgramError
from aicc.runtime.signature import parse_signature


def binder(*dims: list[int | str], symbols: list[str], checks: list[dict[str, str]] | None = None) -> ShapeBinder:
    inputs = [{"name": f"x{i}", "dtype": "float32", "dims": d} for i, d in enumerate(dims)]
    data = {"version": 1, "symbols": symbols, "inputs": inputs, "outputs": [], "checks": checks or [], "buffers": []}
    return ShapeBinder(parse_signature(json.dumps(data)))


def array(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def test_symbols_come_from_plain_and_linear_dimensions():
    b = binder(["N", 3, "2*M + 1"], ["M"], symbols=["M", "N"])
    assert b.bind([array(5, 3, 9), array(4)]) == [4, 5]


def test_a_second_use_of_a_symbol_must_agree():
    b = binder(["N", "S"], ["N", "S"], symbols=["N", "S"])
    with pytest.raises(
        InputError, match=r"'x1' has shape \[2, 31\].*dim 1 is 31, but S is 32 \(S is 32 from 'x0' dim 1\)"
    ):
        b.bind([array(2, 32), array(2, 31)])


def test_a_size_no_symbol_gives():
    with pytest.raises(InputError, match=r"dim 0 is 4, which is 2\*N \+ 1 for no N"):
        binder(["2*N + 1"], symbols=["N"]).bind([array(4)])


def test_min_is_not_taken_for_its_argument():
    b = binder(["min(N, 2000)"], symbols=["N"])
    assert b.bind([array(7)]) == [7]
    with pytest.raises(InputError):
        b.bind([array(3000)])


def test_undefined_symbol():
    with pytest.raises(ProgramError, match="no input defines the symbol M"):
        binder(["N*M", "N"], symbols=["M", "N"])


def test_checks():
    b = binder(["N"], ["M"], symbols=["M", "N"], checks=[{"lhs": "N", "rhs": "M", "text": "graph.add"}])
    assert b.bind([array(2), array(2)]) == [2, 2]
    with pytest.raises(InputError, match=r"graph\.add: N is 2, but M is 3"):
        b.bind([array(2), array(3)])


@pytest.mark.parametrize(
    "given, message",
    [
        ([1.0], "is a list, expected an array"),
        (np.zeros((2, 3)), "has dtype float64, expected float32"),
        (np.zeros(3, np.float32), r"rank is 1, expected 2"),
        (np.zeros((2, 4), np.float32), r"shape \[2, 4\], expected \[N, 3\]: dim 1 is 4, expected 3"),
    ],
)
def test_arrays_that_do_not_fit(given: object, message: str):
    with pytest.raises(InputError, match=message):
        binder(["N", 3], symbols=["N"]).check_array(0, given)


def test_layout_is_made_contiguous_without_touching_the_given_array():
    b = binder(["N", 3], symbols=["N"])
    given = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    made = b.check_array(0, given)
    assert made.flags.c_contiguous and np.array_equal(made, given) and not np.shares_memory(made, given)
    plain = array(2, 3)
    assert b.check_array(0, plain) is plain
