"""Gathers with what moves their indices and results, and by indices that are known, at sizes that fill no register."""

from __future__ import annotations

import numpy as np
import pytest
from onnx.helper import make_node

from tests.unit.frontends.onnx.helper import model
from tests.unit.operators.helper import check

F32, I64 = np.float32, np.int64
SIZES = (1, 2, 5, 7, 16, 33, 70)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=F32)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_of_tables_beside_each_other(axis: int):
    """Indices are columns of an array, rows are parts of a concat."""
    tables = {f"t{k}": numbers(rows, 13) for k, rows in enumerate((3, 9, 40))}
    nodes = [make_node("Unsqueeze", ["x", "one"], ["p"])]
    for k in range(3):
        nodes.append(make_node("Gather", ["ids", f"c{k}"], [f"i{k}"], axis=1))
        nodes.append(make_node("Gather", [f"t{k}", f"i{k}"], [f"g{k}"]))
        nodes.append(make_node("Unsqueeze", [f"g{k}", "one"], [f"u{k}"]))
    nodes.append(make_node("Concat", ["u0", "p", "u1", "u2"], ["y"], axis=axis))
    constants = {**tables, "one": np.array([1]), **{f"c{k}": np.array(k) for k in range(3)}}
    proto = model(nodes, {"ids": (I64, ["N", 3]), "x": (F32, ["N", 13])}, ["y"], 18, constants)
    random = np.random.default_rng(1)
    for size in SIZES:
        ids = np.stack([random.integers(-len(t), len(t), size) for t in tables.values()], 1)
        x = numbers(size, 13)
        found = [table[ids[:, k]][:, None] for k, table in enumerate(tables.values())]
        expected = np.concatenate([found[0], x[:, None], *found[1:]], axis)
        check(proto, {"ids": ids, "x": x}, [expected], levels=[2])


@pytest.mark.parametrize("rank", [1, 2])
def test_known_places_in_two_axes(rank: int):
    """`x[:, i, j]`, as exported: the axes in front, gathered, and moved back."""
    pairs = np.array([[0, 0], [2, 3], [-1, -4], [1, -1], [2, 0], [-3, 2]])
    indices = pairs if rank == 1 else pairs.reshape(2, 3, 2)
    back = [rank, *range(rank), rank + 1]
    nodes = [
        make_node("Transpose", ["x"], ["t"], perm=[1, 2, 0, 3]),
        make_node("GatherND", ["t", "i"], ["g"]),
        make_node("Transpose", ["g"], ["b"], perm=back),
        make_node("Concat", ["x0", "b"], ["y"], axis=rank),
    ]
    for size in SIZES:
        x = numbers(size, 3, 4, 5)
        beside = numbers(*([size, *indices.shape[: rank - 1], 2, 5]))
        types = {"x": (F32, ["N", 3, 4, 5]), "x0": (F32, ["N", *beside.shape[1:]])}
        proto = model(nodes, types, ["y"], 18, {"i": indices})
        expected = np.concatenate([beside, x[:, indices[..., 0], indices[..., 1]]], rank)
        check(proto, {"x": x, "x0": beside}, [expected], levels=[0, 2] if size == 5 else [2])


def test_many_known_places_in_two_axes():
    """Each pair of two of nine vectors, as recommendation models take them."""
    pairs = np.array([[i, j] for i in range(9) for j in range(i)])
    nodes = [
        make_node("Transpose", ["x"], ["t"], perm=[1, 2, 0]),
        make_node("GatherND", ["t", "i"], ["g"]),
        make_node("Transpose", ["g"], ["y"], perm=[1, 0]),
    ]
    proto = model(nodes, {"x": (F32, ["N", 9, 9])}, ["y"], 18, {"i": pairs})
    for size in SIZES:
        x = numbers(size, 9, 9)
        check(proto, {"x": x}, [x[:, pairs[:, 0], pairs[:, 1]]], levels=[2])


def test_what_is_computed_is_written_beside_what_is_given():
    """An elementwise result that is a part of a concat, and one that is a result as well."""
    nodes = [
        make_node("Exp", ["x"], ["e"]),
        make_node("Neg", ["x"], ["n"]),
        make_node("Concat", ["n", "x", "e"], ["y"], axis=1),
    ]
    for columns in (1, 3, 17):
        proto = model(nodes, {"x": (F32, ["N", columns, "S"])}, ["y", "n"], 18)
        for size in SIZES:
            x = numbers(size, columns, 3)
            expected = np.concatenate([-x, x, np.exp(x)], 1)
            check(proto, {"x": x}, [expected, -x], rtol=1e-6, levels=[2])
