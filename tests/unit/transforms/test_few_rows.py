"""Few rows times a large matrix, of whose rows threads read parts: numpy's numbers on any number of threads."""

import numpy as np
import pytest

import aicc
from aicc.tools.driver_api import parse_module


@pytest.mark.parametrize("steps", [1024, 1003], ids=["whole blocks of steps", "steps left over"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("columns", [3072, 3001], ids=["whole vectors", "columns left over"])
def test_parts_of_rows(rows: int, steps: int, columns: int) -> None:
    a, b, bias, r = (
        f"tensor<{shape}xf32>" for shape in (f"{rows}x{steps}", f"{steps}x{columns}", columns, f"{rows}x{columns}")
    )
    text = f"""
func.func @main(%a: {a}, %b: {b}, %c: {bias}) -> {r} {{
  %m = graph.matmul %a, %b : {a}, {b} -> {r}
  %s = graph.add %m, %c : {r}, {bias} -> {r}
  %z = graph.relu %s : {r} -> {r}
  func.return %z : {r}
}}
"""
    rng = np.random.default_rng(0)
    x, w, c = (rng.standard_normal(shape, dtype=np.float32) for shape in ((rows, steps), (steps, columns), columns))
    model = aicc.compile(parse_module(text), threads=1)
    one, two = model(x, w, c)[0], model.with_threads(2)(x, w, c)[0]
    assert np.array_equal(one, two)
    expected = np.maximum(x.astype(np.float64) @ w.astype(np.float64) + c, 0)
    np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4)
