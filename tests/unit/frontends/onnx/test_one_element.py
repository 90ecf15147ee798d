"""Inputs that must have one element, and have more: one diagnostic that says so."""

import numpy as np
import pytest

from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.helper import run_op

TWO = np.array([2, 3])
ONE = np.array(1)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        ("Range", [TWO, ONE, ONE], r"start \(input 0\) has 2 elements, expected 1"),
        ("Range", [ONE, np.zeros(0, np.int64), ONE], r"limit \(input 1\) has 0 elements, expected 1"),
        ("Range", [ONE.astype(np.float32)] * 2 + [TWO.astype(np.float32)], r"delta \(input 2\) has 2 elements"),
        ("TopK", [np.zeros((3, 4), np.float32), TWO], r"K \(input 1\) has 2 elements, expected 1"),
        ("OneHot", [ONE, TWO, TWO], r"depth \(input 1\) has 2 elements, expected 1"),
        ("OneHot", [ONE, TWO.astype(np.float32), TWO], r"depth \(input 1\) has 2 elements, expected 1"),
        ("STFT", [np.zeros((1, 8, 1), np.float32), TWO, None, ONE], r"frame_step \(input 1\) has 2 elements"),
        ("STFT", [np.zeros((1, 8, 1), np.float32), ONE, None, TWO], r"frame_length \(input 3\) has 2 elements"),
    ],
)
@pytest.mark.parametrize("constant", [True, False])
def test_more_than_one_element(op, inputs, message, constant):
    places = [i for i, array in enumerate(inputs) if array is not None] if constant else ()
    with pytest.raises(ModelError, match=message):
        run_op(op, inputs, outputs=2 if op == "TopK" else 1, constant=places)
