"""
Operators in the versions before a change of their attributes, inputs or outputs: each means what its version says.

A test holds that the table has a case for every such version that the importer takes.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from onnx import defs

from aicc.frontends.onnx.importer import NEWEST_OPSET, OLDEST_OPSET
from aicc.frontends.onnx.table import HANDLERS
from tests.unit.operators.helper import check, one_node

ELSEWHERE = {
    *("DequantizeLinear", "QuantizeLinear"),  # tests of quantised operators
    *("If", "Loop", "Scan"),  # tests of control flow
    *("DFT", "DeformConv", "GridSample", "RoiAlign", "STFT"),  # files of their own
    *("Attention", "CastLike", "Constant", "GroupNormalization", "MaxUnpool", "Range"),  # the standard's own cases
}

RNG = np.random.default_rng(9)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


X = floats(2, 3, 4)
IMAGE = floats(1, 3, 6, 5)
V3 = floats(3)
CASES: dict[tuple[str, int], list[tuple[list[Any], dict[str, Any], list[np.ndarray | None]]]] = {}


def case(op: str, opset: int, inputs: list[Any], expected: list[np.ndarray | None], **attributes: Any) -> None:
    CASES.setdefault((op, opset), []).append((inputs, attributes, expected))


BINARY = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Equal": np.equal, "Less": np.less,
    "Greater": np.greater, "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor, "Pow": np.power,
}  # fmt: skip
for name, meaning in BINARY.items():
    left = X > 0 if name in ("And", "Or", "Xor") else np.abs(X)
    if name == "Equal":
        left = left.astype(np.int32)
    right = left[0, :, 0]
    case(name, 6, [left, left], [meaning(left, left)])
    case(name, 6, [left, left[0]], [meaning(left, left[0])], broadcast=1)
    case(name, 6, [left, right], [meaning(left, right[:, None])], broadcast=1, axis=1)

for name, meaning in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
    case(name, 11, [X], [meaning(X, 1)], axis=1, keepdims=0)


def pooled(x, combine, kernel, strides):
    rows, columns = (x.shape[2] - kernel[0]) // strides[0] + 1, (x.shape[3] - kernel[1]) // strides[1] + 1
    result = np.zeros((*x.shape[:2], rows, columns), x.dtype)
    for i, j in np.ndindex(rows, columns):
        at = i * strides[0], j * strides[1]
        result[:, :, i, j] = combine(x[:, :, at[0] : at[0] + kernel[0], at[1] : at[1] + kernel[1]], axis=(2, 3))
    return result


for opset in (6, 7, 11):
    how = {"kernel_shape": [2, 3], "strides": [2, 1]}
    case("AveragePool", opset, [IMAGE], [pooled(IMAGE, np.mean, (2, 3), (2, 1))], **how)
    padded = np.pad(IMAGE, [(0, 0), (0, 0), (1, 1), (0, 0)])
    inside = np.pad(np.ones_like(IMAGE), [(0, 0), (0, 0), (1, 1), (0, 0)])
    mean = pooled(padded, np.sum, (2, 3), (2, 1)) / pooled(inside, np.sum, (2, 3), (2, 1))
    case("AveragePool", opset, [IMAGE], [mean.astype(np.float32)], pads=[1, 0, 1, 0], **how)
for opset in (6, 8):
    case("MaxPool", opset, [IMAGE], [pooled(IMAGE, np.max, (2, 3), (2, 1))], kernel_shape=[2, 3], strides=[2, 1])
powers = pooled(IMAGE**2, np.sum, (2, 2), (1, 1)) ** 0.5
case("LpPool", 6, [IMAGE], [powers], kernel_shape=[2, 2])
case("LpPool", 11, [IMAGE], [powers], kernel_shape=[2, 2])

SCALE, BIAS, MEAN, VAR = floats(3), floats(3), floats(3), np.abs(floats(3))
normal = (IMAGE - MEAN[:, None, None]) / np.sqrt(VAR[:, None, None] + 1e-5) * SCALE[:, None, None] + BIAS[:, None, None]
case("BatchNormalization", 6, [IMAGE, SCALE, BIAS, MEAN, VAR], [normal], is_test=1)
case("BatchNormalization", 7, [IMAGE, SCALE, BIAS, MEAN, VAR], [normal], spatial=1)
case("BatchNormalization", 9, [IMAGE, SCALE, BIAS, MEAN, VAR], [normal])
case("Cast", 6, [X], [X.astype(np.int32)], to=6)
case("Cast", 13, [X], [X.astype(np.float16)], to=10)
case("Cast", 23, [X], [X.astype(np.float64)], to=11)
case("Clip", 6, [X], [np.clip(X, -0.5, 1)], min=-0.5, max=1.0)
case("Clip", 6, [np.float32([np.inf, 1])], [np.float32([np.finfo(np.float32).max, 1])])
blocks = floats(1, 8, 2, 3)
depth = blocks.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)
case("DepthToSpace", 6, [blocks], [depth], blocksize=2)
case("SpaceToDepth", 13, [depth], [blocks], blocksize=2)
case("Dropout", 6, [X], [X, None], is_test=1, ratio=0.3)
case("Dropout", 10, [X], [X, np.ones(X.shape, bool)], ratio=0.3)
table, rows = floats(3, 4), np.int64([[1, 2], [0, 3]])
case("GatherND", 11, [table, rows], [table[rows[:, 0], rows[:, 1]]])
a, b, c = floats(4, 3), floats(4, 5), floats(5)
case("Gemm", 6, [a, b, c], [0.5 * (a.T @ b) + c], alpha=0.5, transA=1, broadcast=1)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


flat = softmax(X.reshape(2, 12)).reshape(X.shape)
case("Softmax", 11, [X], [flat])
case("Softmax", 11, [X], [softmax(X)], axis=2)
case("LogSoftmax", 11, [X], [np.log(flat)])
case("Hardmax", 11, [X], [(np.arange(12) == X.reshape(2, 12).argmax(1)[:, None]).reshape(X.shape).astype(np.float32)])
case("Pad", 6, [X], [np.pad(X, [(0, 1), (2, 0), (0, 0)], constant_values=3)], pads=[0, 2, 0, 1, 0, 0], value=3.0)
pads = np.int64([0, 2, 0, 1, 0, 0])
case("Pad", 13, [X, pads, np.float32(3)], [np.pad(X, [(0, 1), (2, 0), (0, 0)], constant_values=3)])
case("Reshape", 13, [X, np.int64([0, -1])], [X.reshape(2, 12)])
double = IMAGE.repeat(2, 2)
case("Resize", 10, [IMAGE, np.float32([1, 1, 2, 1])], [double])
# Places 0, 1.67 and 3.33 are rounded up; 0.8 and 1.6 of an axis that grows are rounded down.
ROW = np.arange(5, dtype=np.float32)[None, None, None]
case("Resize", 10, [ROW, np.float32([1, 1, 1, 0.6])], [ROW[..., [0, 2, 4]]])
case("Resize", 10, [ROW, np.float32([1, 1, 1, 1.25])], [ROW[..., [0, 0, 1, 2, 3, 4]]])
case("Resize", 13, [IMAGE, None, np.float32([1, 1, 2, 1])], [double])
case("Upsample", 6, [IMAGE], [double], height_scale=2.0, width_scale=1.0)
case("Upsample", 7, [IMAGE], [double], scales=[1.0, 1.0, 2.0, 1.0])
updated = table.copy()
updated[[2, 0], [0, 1]] = [5, 6]
case("ScatterElements", 13, [table, np.int64([[2, 0]]), np.float32([[5, 6]])], [updated])
case("ScatterND", 13, [table, np.int64([[2, 0], [0, 1]]), np.float32([5, 6])], [updated])
case("Shape", 13, [X], [np.int64(X.shape)])
case("Slice", 6, [X], [X[:, 1:, -3:3]], starts=[1, -3], ends=[2000, 3], axes=[1, 2])
case("Split", 11, [X], [X[:, :1], X[:, 1:]], axis=1, split=[1, 2])
case("Split", 11, [X], [X[..., :2], X[..., 2:]], axis=2)
case("Split", 13, [X, np.int64([1, 2])], [X[:, :1], X[:, 1:]], axis=1)
case("Squeeze", 11, [X[:, :1]], [X[:, 0]], axes=[1])
case("Unsqueeze", 11, [X], [X[:, None, :, :, None]], axes=[1, 4])
order = np.argsort(-X, axis=1, kind="stable")
case("TopK", 6, [X], [np.take_along_axis(X, order, 1)[:, :2], order[:, :2]], k=2, axis=1)
case("TopK", 10, [X, np.int64([2])], [np.take_along_axis(X, order, 1)[:, :2], order[:, :2]], axis=1)

REDUCTIONS = {
    "ReduceL1": lambda x, axis: np.abs(x).sum(axis), "ReduceL2": lambda x, axis: np.sqrt((x * x).sum(axis)),
    "ReduceLogSum": lambda x, axis: np.log(x.sum(axis)), "ReduceLogSumExp": lambda x, axis: np.log(np.exp(x).sum(axis)),
    "ReduceMax": np.max, "ReduceMean": np.mean, "ReduceMin": np.min, "ReduceProd": np.prod, "ReduceSum": np.sum,
    "ReduceSumSquare": lambda x, axis: (x * x).sum(axis),
}  # fmt: skip
for name, meaning in REDUCTIONS.items():
    opset = 11 if name == "ReduceSum" else 13
    case(name, opset, [np.abs(X)], [meaning(np.abs(X), axis=(0, 2))], axes=[0, 2], keepdims=0)
    case(name, 6, [np.abs(X)], [meaning(np.abs(X), axis=(0, 1, 2)).reshape(1, 1, 1)])


def recurrent(op: str, opset: int) -> None:
    """One step from zeros, so that only the input's part of the gates counts."""
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    x, w, r = floats(1, 2, 3), floats(1, gates * 4, 3), floats(1, gates * 4, 4)
    parts = np.split(x[0] @ w[0].T, gates, -1)
    sigmoid = [1 / (1 + np.exp(-part)) for part in parts]
    if op == "RNN":
        h = np.tanh(parts[0])
    elif op == "GRU":
        h = (1 - sigmoid[0]) * np.tanh(parts[2])
    else:
        h = sigmoid[1] * np.tanh(sigmoid[0] * np.tanh(parts[3]))
    extra: dict[str, Any] = {"output_sequence": 1} if opset < 7 else {}
    case(op, opset, [x, w, r], [h[None, None], h[None]], hidden_size=4, **extra)


for op in ("RNN", "GRU", "LSTM"):
    for opset in (6, 7):
        recurrent(op, opset)


def test_batch_normalisation_while_training():
    running = 0.7 * MEAN + 0.3 * IMAGE.mean((0, 2, 3)), 0.7 * VAR + 0.3 * IMAGE.var((0, 2, 3))
    apart = IMAGE - IMAGE.mean((0, 2, 3), keepdims=True)
    y = apart / np.sqrt(IMAGE.var((0, 2, 3), keepdims=True) + 1e-5) * SCALE[:, None, None] + BIAS[:, None, None]
    proto, feeds = one_node(
        "BatchNormalization", [IMAGE, SCALE, BIAS, MEAN, VAR], opset=15, outputs=3, training_mode=1, momentum=0.7
    )
    check(proto, feeds, [y, *(array.astype(np.float32) for array in running)], rtol=1e-4, atol=1e-5, levels=[2])


@pytest.mark.parametrize(("op", "opset"), CASES, ids=lambda value: str(value))
def test_meaning(op, opset):
    for inputs, attributes, expected in CASES[op, opset]:
        known = op in ("Pad", "Reshape", "Resize", "Split", "TopK")
        constant = [i for i in range(1, len(inputs)) if known and inputs[i] is not None]
        proto, feeds = one_node(op, inputs, opset=opset, outputs=len(expected), constant=constant, **attributes)
        check(proto, feeds, expected, rtol=1e-5, atol=1e-6, levels=[])


def changed_versions() -> set[tuple[str, int]]:
    """Each operator with a handler, in the last opset before one in which attributes or numbers of values change."""
    history: dict[str, dict[int, Any]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            history.setdefault(schema.name, {})[schema.since_version] = schema

    def form(schema):
        attributes = {
            (a.name, str(a.type), a.required, a.default_value.SerializeToString()) for a in schema.attributes.values()
        }
        return attributes, len(schema.inputs), len(schema.outputs)

    found: set[tuple[str, int]] = set()
    for domain, name in HANDLERS:
        for old, new in itertools.pairwise(sorted(history.get(name, {}))):
            taken = domain == "" and OLDEST_OPSET < new <= NEWEST_OPSET
            if taken and form(history[name][old]) != form(history[name][new]):
                found.add((name, max(old, OLDEST_OPSET)))
    return found


def test_every_version_before_a_change_has_a_case():
    assert sorted(entry for entry in changed_versions() - CASES.keys() if entry[0] not in ELSEWHERE) == []
