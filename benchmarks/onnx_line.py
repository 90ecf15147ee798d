"""
An ONNX graph as a straight line of calls of some array library, for peers that do not read ONNX themselves.

The shapes of the inputs are fixed: what depends on them and on constants alone is worked out once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
import onnx
from onnx import helper, numpy_helper

Attributes = Mapping[str, Any]
"""A node's attributes, `results` (how many it has) and `opset`."""

Op = Callable[[Attributes, Sequence[Any]], Any]
"""From a node's attributes and operands (arrays of the library; None if left out) to its result or results."""


class Library(Protocol):
    """An array library. Integers known beforehand reach its operators as numpy arrays."""

    ops: ClassVar[Mapping[str, Op]]

    @staticmethod
    def array(value: np.ndarray) -> Any: ...

    @staticmethod
    def numpy(value: Any) -> np.ndarray: ...


def ints(value: Any) -> list[int]:
    """The elements of a known integer array."""
    return [int(v) for v in np.asarray(value).reshape(-1)]


def slice_index(x: Sequence[Any]) -> tuple[slice, ...]:
    """The index that `Slice` takes of its first input."""
    starts, ends = ints(x[1]), ints(x[2])
    axes = ints(x[3]) if len(x) > 3 else list(range(len(starts)))
    steps = ints(x[4]) if len(x) > 4 else [1] * len(starts)
    index = [slice(None)] * x[0].ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        index[axis] = slice(start, end, step)
    return tuple(index)


_MIXING = ("Add", "Concat", "Div", "Mul", "Pow", "Sub", "Where")
"""Operators whose operands must all be arrays of the library."""

_SHAPE = "Shape"


class Line:
    """
    The nodes of a graph in their order; `settle` must be called once before the line is.

    Raises:
        NotImplementedError: for an operator that the library's table lacks.
    """

    def __init__(self, path: str, library: type[Library]) -> None:
        model = onnx.load(path)
        graph = model.graph
        opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
        self.library = library
        stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        self.inputs = [value.name for value in graph.input if value.name not in stored]
        self.outputs = [value.name for value in graph.output]
        self.values: dict[str, Any] = {"": None}
        self.steps: list[tuple[str, Attributes, list[str], list[str]]] = []
        for node in graph.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            attributes |= {"results": len(node.output), "opset": opset}
            if node.op_type == "Constant":
                stored[node.output[0]] = numpy_helper.to_array(attributes["value"])
            elif node.op_type not in (*library.ops, _SHAPE):
                raise NotImplementedError(f"{node.op_type} is not among the operators that this peer is fed with")
            else:
                self.steps.append((node.op_type, attributes, list(node.input), list(node.output)))
        self.values |= {name: self._kept(value) for name, value in stored.items()}

    def _kept(self, value: np.ndarray) -> Any:
        return value if value.dtype.kind in "iub" else self.library.array(value)

    def _run(self, values: dict[str, Any], step: tuple[str, Attributes, list[str], list[str]]) -> None:
        name, attributes, operands, results = step
        given = [values[operand] for operand in operands]
        if name == _SHAPE:
            values[results[0]] = np.array(given[0].shape, np.int64)
            return
        # Sizes, axes and indices stay numbers; what is computed with is an array.
        last = len(given) if name in _MIXING else 1
        given[:last] = [self.library.array(v) if isinstance(v, np.ndarray) else v for v in given[:last]]
        made = self.library.ops[name](attributes, given)
        made = list(made) if isinstance(made, tuple | list) else [made]
        values.update(zip(results, made, strict=False))

    def settle(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Runs once on inputs of the shapes to come, and keeps what is the same for all of them."""
        values = {**self.values, **{name: self.library.array(array) for name, array in inputs.items()}}
        left: list[tuple[str, Attributes, list[str], list[str]]] = []
        for step in self.steps:
            self._run(values, step)
            name, _, operands, results = step
            if name != _SHAPE and any(operand not in self.values for operand in operands):
                left.append(step)
                continue
            for result in results:
                value = values[result]
                array = value if isinstance(value, np.ndarray) else self.library.numpy(value)
                values[result] = self.values[result] = self._kept(array)
        self.steps = left

    def __call__(self, *inputs: Any) -> list[Any]:
        values = {**self.values, **dict(zip(self.inputs, inputs, strict=True))}
        for step in self.steps:
            self._run(values, step)
        return [values[name] for name in self.outputs]
