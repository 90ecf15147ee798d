"""Numbers of 8 bytes that are the same for all lanes, beside narrower elements that are not; against numpy."""

import numpy as np
import pytest

import aicc

ELEMENTS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8, "i1": np.bool_}


@pytest.mark.parametrize("columns", [1, 7, 64, 203])
@pytest.mark.parametrize("element", ELEMENTS)
def test_gathered_rows(element: str, columns: int):
    source, target = f"tensor<50x{columns}x{element}>", f"tensor<9x{columns}x{element}>"
    model = aicc.compile(
        f"""
        func.func @main(%x: {source}, %i: tensor<9xi64>) -> {target} {{
          %r = graph.gather %x, %i {{axis = 0 : i64}} : {source}, tensor<9xi64> -> {target}
          func.return %r : {target}
        }}
        """,
        threads=1,
        cache=False,
    )
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2 if element == "i1" else 100, (50, columns)).astype(ELEMENTS[element])
    rows = rng.integers(-50, 50, 9)
    (found,) = model(x, rows)
    np.testing.assert_array_equal(found, x[rows])


@pytest.mark.parametrize("columns", [7, 64, 203])
def test_numbers_that_are_computed_with(columns: int):
    wide, number, result = f"tensor<9x{columns}xf32>", "tensor<9x1xi64>", f"tensor<9x{columns}xi64>"
    model = aicc.compile(
        f"""
        func.func @main(%x: {wide}, %n: {number}) -> ({wide}, {result}) {{
          %f = graph.cast %n : {number} -> tensor<9x1xf32>
          %s = graph.add %x, %f : {wide}, tensor<9x1xf32> -> {wide}
          %c = graph.cast %x : {wide} -> {result}
          %t = graph.mul %c, %n : {result}, {number} -> {result}
          func.return %s, %t : {wide}, {result}
        }}
        """,
        threads=1,
        cache=False,
    )
    rng = np.random.default_rng(0)
    x = rng.integers(-1000, 1000, (9, columns)).astype(np.float32)
    n = rng.integers(-1000, 1000, (9, 1))
    total, product = model(x, n)
    np.testing.assert_array_equal(total, x + n.astype(np.float32))
    np.testing.assert_array_equal(product, x.astype(np.int64) * n)
