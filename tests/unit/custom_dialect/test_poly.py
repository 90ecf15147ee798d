"""The example of a dialect in a package of its own runs, compiled and by its numpy meaning."""

import numpy as np
import pytest

import aicc
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.lowering.parse import parse_module

COEFFICIENTS = [[1.0, 0.0, -0.5, 0.0, 0.041666], [0.25], [0.0, 1.0], [1.0, 2.0, 0.0]]
# Roundings of about ten operations on numbers near 1.
TOLERANCE = {"f64": 1e-14, "f32": 1e-6, "f16": 2e-3}
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16}


def program(coefficients: list[float], element: str) -> str:
    tensor = f"tensor<?x5x{element}, #graph.dims<N>>"
    values = ", ".join(map(repr, coefficients))
    return f"""
func.func @main(%x : {tensor} {{aicc.name = "x"}}) -> ({tensor} {{aicc.name = "y"}}) {{
  %d = graph.add %x, %x : {tensor}, {tensor} -> {tensor}
  %r = poly.horner %d {{coefficients = array<f64: {values}>}} : {tensor} -> {tensor}
  func.return %r : {tensor}
}}
"""


def expected(x: np.ndarray, coefficients: list[float]) -> np.ndarray:
    return np.polynomial.polynomial.polyval(2 * x.astype(np.float64), coefficients)


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("coefficients", COEFFICIENTS, ids=str)
def test_numpy_meaning(coefficients: list[float], element: str):
    module = parse_module(program(coefficients, element))
    x = np.linspace(-1, 1, 15).reshape(3, 5).astype(DTYPES[element])
    (found,) = evaluate_function(next(iter(module.ops)), [x], module)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, expected(x, coefficients), rtol=0, atol=TOLERANCE[element])


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("element", DTYPES)
def test_compiled(element: str, opt_level: int):
    model = aicc.compile(program(COEFFICIENTS[0], element), opt_level=opt_level, cache=False)
    for rows in (0, 1, 7):
        x = np.linspace(-1, 1, rows * 5).reshape(rows, 5).astype(DTYPES[element])
        found = model.run({"x": x})["y"]
        np.testing.assert_allclose(found, expected(x, COEFFICIENTS[0]), rtol=0, atol=TOLERANCE[element])


def test_infinity_and_nan_follow_the_formula():
    model = aicc.compile(program([1.0, -1.0, 1.0], "f32"), cache=False)
    x = np.array([[np.inf, -np.inf, np.nan, 0.0, -0.0]], np.float32)
    d = x + x
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(model.run({"x": x})["y"], (d - 1) * d + 1)
