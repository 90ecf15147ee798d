"""
Models whose inputs are sequences or optionals, for given ones.

How many tensors such an input has is not in the model, and must be known to compile it: a model for these numbers has
the tensors as inputs, and makes the sequences of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

Given: TypeAlias = "np.ndarray | Sequence[np.ndarray] | None"
"""A tensor, the tensors of a sequence, or None for an optional without an element."""

Form: TypeAlias = tuple[object, ...]
"""What of given values a model for them depends on."""


def needs_form(model: ModelProto) -> bool:
    """Whether the model has inputs that are no tensors."""
    return any(value.type.WhichOneof("value") in ("sequence_type", "optional_type") for value in model.graph.input)


def form_of(values: Sequence[Given]) -> Form:
    """The form of the values of all inputs."""
    return tuple(tuple(map(_kind, value)) if isinstance(value, list | tuple) else _kind(value) for value in values)


def _kind(value: Given) -> object:
    return None if value is None else (np.asarray(value).dtype.str, np.ndim(value))


def for_values(model: ModelProto, values: Mapping[str, Given]) -> ModelProto:
    """
    The model for values of this form: `x[0]`, `x[1]`, ... are its inputs in place of a sequence `x`.

    `values` has the inputs by name; their sizes stay open.
    """
    from onnx import ModelProto, helper

    result = ModelProto.FromString(model.SerializeToString())
    graph = result.graph
    inputs: list[ValueInfoProto] = []
    nodes: list[Any] = []
    for info in graph.input:
        value = values[info.name]
        if info.type.WhichOneof("value") == "tensor_type":
            inputs.append(info)
        elif isinstance(value, list | tuple):
            names = [f"{info.name}[{i}]" for i in range(len(value))]
            inputs += map(_open_input, names, value)
            operator = "SequenceConstruct" if names else "SequenceEmpty"
            nodes.append(helper.make_node(operator, names, [info.name], f"{info.name} given"))
        elif value is None:
            nodes.append(helper.make_node("Optional", [], [info.name], f"{info.name} given"))
        else:
            inputs.append(_open_input(info.name, value))
    nodes += graph.node
    del graph.input[:], graph.node[:]
    graph.input.extend(inputs)
    graph.node.extend(nodes)
    return result


def _open_input(name: str, value: Any) -> ValueInfoProto:
    from onnx import helper

    array = np.asarray(value)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)


def spread(values: Mapping[str, Given]) -> dict[str, np.ndarray]:
    """The inputs of the model `for_values`, by name."""
    found: dict[str, np.ndarray] = {}
    for name, value in values.items():
        if isinstance(value, list | tuple):
            found.update({f"{name}[{i}]": np.asarray(item) for i, item in enumerate(value)})
        elif value is not None:
            found[name] = np.asarray(value)
    return found


def gathered(outputs: Sequence[ValueInfoProto], results: Mapping[str, np.ndarray]) -> list[Any]:
    """One value per output of a model, from the tensors that a program gives for them."""
    found: list[Any] = []
    for info in outputs:
        parts: list[np.ndarray] = []
        while (part := results.get(f"{info.name}[{len(parts)}]")) is not None:
            parts.append(part)
        kind = info.type.WhichOneof("value")
        if info.name in results:
            found.append(results[info.name])
        elif parts or kind != "optional_type":
            found.append(parts)
        else:
            found.append(None)
    return found
