"""Constant weights times an unknown number of rows: every number of rows left over, on one thread and two."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import aicc


@pytest.mark.parametrize(("steps", "columns"), [(70, 256), (33, 48), (40, 100), (20, 1024)])
def test_numbers_of_rows(steps: int, columns: int):
    rng = np.random.default_rng(0)
    weight, bias = rng.standard_normal((steps, columns), dtype=np.float32), rng.standard_normal(columns, np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["m"]),
            helper.make_node("Add", ["m", "b"], ["a"]),
            helper.make_node("Relu", ["a"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", steps])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", columns])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    model = aicc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    for rows in (*range(16), 22, 64, 128):
        x = rng.standard_normal((rows, steps), dtype=np.float32)
        found = model.with_threads(1).run({"x": x})["y"]
        expected = np.maximum(x.astype(np.float64) @ weight + bias, 0.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * steps**0.5)
        assert np.array_equal(found, model.with_threads(2).run({"x": x})["y"])


def _norm_and_product(shape: list[int | str]) -> tuple[aicc.Model, np.ndarray]:
    """Rows of 48 numbers, normalised, times a weight, twice; and the weight."""
    rng = np.random.default_rng(1)
    weight = rng.standard_normal((48, 160), dtype=np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("LayerNormalization", ["x", "scale"], ["n"]),
            helper.make_node("MatMul", ["n", "w"], ["m"]),
            helper.make_node("Add", ["m", "m"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [*shape, 48])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*shape, 160])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(np.ones(48, np.float32), "scale")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return aicc.compile(made), weight


def _check_norm_and_product(model: aicc.Model, weight: np.ndarray, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).standard_normal((*shape, 48), dtype=np.float32)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    expected = 2 * (centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)) @ weight
    found = model.with_threads(1).run({"x": x})["y"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-4)
    assert np.array_equal(found, model.with_threads(2).run({"x": x})["y"])


def test_rows_of_batches_that_a_norm_hands_to_a_product():
    model, weight = _norm_and_product(["N", "S"])
    for shape in ((0, 3), (1, 1), (2, 7), (3, 1), (5, 5), (2, 37), (40, 3)):
        _check_norm_and_product(model, weight, shape)


@pytest.mark.parametrize("each", [2, 3, 4, 6, 8, 9])
def test_what_is_known_of_unknown_rows(each: int):
    """Multiples of a number leave nothing over for some tiles, or always as much."""
    model, weight = _norm_and_product(["N", each])
    for count in (0, 1, 2, 3, 5, 8, 13):
        _check_norm_and_product(model, weight, (count, each))


@pytest.mark.parametrize("rows", [7, 13, 25, 31, 49, 97, 101])
def test_blocks_of_known_rows(rows: int):
    """Every block but the last has as many rows, so what is left over in the last is known."""
    model, weight = _norm_and_product([rows])
    _check_norm_and_product(model, weight, (rows,))


@pytest.mark.parametrize("heads", [2, 5])
def test_products_of_unknown_numbers_of_rows_and_columns(heads: int):
    # Both operands are known at run time: one is packed in tiles, the last of which has what is left over.
    graph = helper.make_graph(
        [
            helper.make_node("Transpose", ["k"], ["t"], perm=[0, 2, 3, 1]),
            helper.make_node("Transpose", ["q"], ["r"], perm=[0, 2, 1, 3]),
            helper.make_node("MatMul", ["r", "t"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size, heads, 32]) for name, size in ("qL", "kS")],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", heads, "L", "S"])],
    )
    model = aicc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    rng = np.random.default_rng(2)
    for rows, columns in ((1, 1), (3, 7), (5, 8), (9, 15), (4, 33), (2, 64), (70, 71), (0, 3)):
        q = rng.standard_normal((2, rows, heads, 32), dtype=np.float32)
        k = rng.standard_normal((2, columns, heads, 32), dtype=np.float32)
        expected = np.einsum("nlhd,nshd->nhls", q.astype(np.float64), k)
        found = model.with_threads(1).run({"q": q, "k": k})["y"]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
        assert np.array_equal(found, model.with_threads(2).run({"q": q, "k": k})["y"])
