"""A short way to say small graphs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import onnx

from benchmarks.builder import F32, Builder

Body = Callable[[Builder], str | Sequence[str]]
Shape = Sequence[int]


def graph(inputs: Mapping[str, Shape], body: Body, opset: int = 17) -> onnx.ModelProto:
    """A model of f32 inputs; `body` adds the nodes and gives back the result, or several."""
    b = Builder()
    made = body(b)
    results = [made] if isinstance(made, str) else list(made)
    named = {f"y{i}" if i else "y": (value, None) for i, value in enumerate(results)}
    return b.model("kernel", opset, {name: (F32, shape) for name, shape in inputs.items()}, named)


def single(op: str, shape: Shape, *more: Shape, opset: int = 17, **attributes: Any) -> Callable[[], onnx.ModelProto]:
    """The builder of one node over inputs `x`, `x1`, ... of these shapes."""
    inputs = {f"x{i}" if i else "x": s for i, s in enumerate((shape, *more))}

    def body(b: Builder) -> str:
        return b.node(op, op.lower(), *inputs, **attributes)

    return partial(graph, inputs, body, opset)
