"""Symbols from shapes, and arrays that do not fit."""

import json
import re

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
    with pytest.raises(InputError, match=r"'x1' has shape \[2, 31\].*: 'x1' dim 1 is 31, but S is 32 from 'x0' dim 1$"):
        b.bind([array(2, 32), array(2, 31)])


def test_a_size_no_symbol_gives():
    with pytest.raises(InputError, match=r"'x0' dim 0 is 4, which is 2\*N \+ 1 for no N"):
        binder(["2*N + 1"], symbols=["N"]).bind([array(4)])


def test_min_is_not_taken_for_its_argument():
    b = binder(["min(N, 2000)"], symbols=["N"])
    assert b.bind([array(7)]) == [7]
    with pytest.raises(InputError):
        b.bind([array(3000)])


def test_undefined_symbol():
    with pytest.raises(ProgramError, match="no input defines the symbol M"):
        binder(["N*M", "N"], symbols=["M", "N"])


def test_a_size_that_follows_from_others():
    b = binder(["N", "S"], ["2*N + S"], symbols=["N", "S"])
    assert b.bind([array(2, 3), array(7)]) == [2, 3]
    message = r"'x1' dim 0 is 8, but 2\*N \+ S is 7 \(N is 2 from 'x0' dim 0, S is 3 from 'x0' dim 1\)$"
    with pytest.raises(InputError, match=message):
        b.bind([array(2, 3), array(8)])


@pytest.mark.parametrize(
    "lhs, rhs, sizes, message",
    [
        ("N", "M", (2, 3), "graph.add: N is 2 from 'x0' dim 0, but M is 3 from 'x1' dim 0"),
        ("N", "4", (2, 3), "graph.add: N is 2 from 'x0' dim 0, expected 4"),
        ("4", "M", (2, 3), "graph.add: M is 3 from 'x1' dim 0, expected 4"),
        ("2*N", "M + 1", (3, 3), "2*N is 6 (N is 3 from 'x0' dim 0), but M + 1 is 4 (M is 3 from 'x1' dim 0)"),
        ("NN", "N", (3, 3), "NN is 5 from 'x2' dim 0, but N is 3 from 'x0' dim 0"),
    ],
)
def test_checks(lhs: str, rhs: str, sizes: tuple[int, int], message: str):
    checks = [{"lhs": lhs, "rhs": rhs, "text": "graph.add"}]
    b = binder(["N"], ["M"], ["NN"], symbols=["M", "N", "NN"], checks=checks)
    with pytest.raises(InputError, match=re.escape(message) + "$"):
        b.bind([array(sizes[0]), array(sizes[1]), array(5)])


def test_checks_that_hold():
    b = binder(["N"], ["M"], symbols=["M", "N"], checks=[{"lhs": "N", "rhs": "M", "text": "graph.add"}])
    assert b.bind([array(2), array(2)]) == [2, 2]


def test_names_that_are_no_identifiers():
    b = binder(["`batch size`"], ["`batch size`"], symbols=["batch size"])
    with pytest.raises(InputError, match=r"'x1' dim 0 is 3, but `batch size` is 2 from 'x0' dim 0$"):
        b.bind([array(2), array(3)])


@pytest.mark.parametrize(
    "given, message",
    [
        ([1.0], "is a list, expected an array"),
        (np.zeros((2, 3)), "has dtype float64, expected float32"),
        (np.zeros(3, np.float32), r"'x0' has rank 1, expected 2"),
        (np.zeros((2, 4), np.float32), r"shape \[2, 4\], expected \[N, 3\]: 'x0' dim 1 is 4, expected 3"),
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
