"""
Small models that other compilers have got wrong, and their kin, with values worked out from the operators' text.

A table of `Case`s is run by `check`: each at both optimisation levels, on one and two threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper

import aicc
from tests.unit.frontends.onnx.helper import Shape, model

NAN, INF = np.nan, np.inf
LEVELS = (0, 2)
F32, F64, F16, BF16 = np.float32, np.float64, np.float16, ml_dtypes.bfloat16
I8, I16, I32, I64 = np.int8, np.int16, np.int32, np.int64
U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
SMALLEST, LARGEST = np.iinfo(I64).min, np.iinfo(I64).max


def array(values: Any, dtype: Any = F32) -> np.ndarray:
    return np.array(values, dtype)


def node(op: str, inputs: str, outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    """A node; names are given with spaces between, `-` stands for none."""
    operands, results = ([("" if n == "-" else n) for n in names.split()] for names in (inputs, outputs))
    return helper.make_node(op, operands, results, **attributes)


@dataclass(frozen=True)
class Case:
    """A model, its inputs and what it computes; `shapes` has open sizes for some inputs."""

    name: str
    nodes: Sequence[onnx.NodeProto]
    feeds: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]
    opset: int = 17
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    tolerance: float = 0.0
    """Share of the value, and of 1, that floats may be off."""

    def proto(self) -> onnx.ModelProto:
        inputs = {name: (value.dtype, self.shapes.get(name, value.shape)) for name, value in self.feeds.items()}
        return model(self.nodes, inputs, list(self.expected), self.opset, self.weights)


def one(
    op: str,
    inputs: Sequence[Any],
    *expected: np.ndarray,
    name: str = "",
    opset: int = 17,
    constant: Sequence[int] = (),
    open_sizes: bool = False,
    tolerance: float = 0.0,
    **attributes: Any,
) -> Case:
    """A case of one node; inputs at the places `constant` are initializers, sizes of the others may be open."""
    names = ["-" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    given = {f"x{i}": np.asarray(value) for i, value in enumerate(inputs) if value is not None}
    weights = {key: value for key, value in given.items() if int(key[1:]) in constant}
    feeds = {key: value for key, value in given.items() if key not in weights}
    shapes: dict[str, Shape] = {}
    if open_sizes:
        shapes = {key: [f"{key}_{i}" for i in range(value.ndim)] for key, value in feeds.items()}
    results = {f"y{i}": value for i, value in enumerate(expected)}
    nodes = [node(op, " ".join(names), " ".join(results), **attributes)]
    return Case(name or op, nodes, feeds, results, opset, weights, shapes, tolerance)


def cases(*table: Case) -> pytest.MarkDecorator:
    """A test over the table and the levels."""
    return pytest.mark.parametrize(
        ("case", "level"),
        [pytest.param(case, level, id=f"{i}-{case.name}-O{level}") for i, case in enumerate(table) for level in LEVELS],
    )


def check(case: Case, level: int) -> None:
    compiled = aicc.compile(case.proto(), opt_level=level, threads=1)
    for program in (compiled, compiled.with_threads(2)):
        found = program.run(case.feeds)
        assert list(found) == list(case.expected)
        for name, want in case.expected.items():
            have = found[name]
            assert (have.dtype, have.shape) == (want.dtype, want.shape), name
            if case.tolerance:
                np.testing.assert_allclose(
                    have.astype(F64), want.astype(F64), case.tolerance, case.tolerance, err_msg=name
                )
            else:
                if have.dtype == BF16:
                    have, want = have.astype(F32), want.astype(F32)
                np.testing.assert_array_equal(have, want, name)
                if have.dtype.kind == "f":
                    zeros = want == 0
                    np.testing.assert_array_equal(np.signbit(have[zeros]), np.signbit(want[zeros]), name)
