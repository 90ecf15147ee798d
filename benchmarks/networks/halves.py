"""Networks of f32 in f16 or bf16: inputs and results stay f32 and are converted at the edges."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HALVES = {"f16": (TensorProto.FLOAT16, np.float16), "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16)}

ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8}
"""Unit roundoff: half the distance from 1 to the next number."""

ROUNDINGS = 16.0
"""
Unit roundoffs by which results may differ, as a share of the largest one, between engines that round at other places.

Each operator rounds its result: a dozen times per layer, so that some 150 roundings, which grow as the root of their
number, follow each other in a network of 12 layers. Against float64 the rounding after each operator alone (the numpy
meaning) makes 7 of them, in f16 and in bf16; an engine that keeps f32 between operators makes fewer.
"""


def tolerance(name: str) -> float:
    """What results in the element type called `name` may differ by, as a share of the largest."""
    return ROUNDINGS * ROUNDOFF[name]


def _narrowed(tensor: onnx.TensorProto, dtype: type[np.generic]) -> onnx.TensorProto:
    """A tensor in another element type; numbers beyond it, as masks use them, become its largest ones."""
    most = float(ml_dtypes.finfo(dtype).max)
    return numpy_helper.from_array(np.clip(numpy_helper.to_array(tensor), -most, most).astype(dtype), tensor.name)


def in_half(build: Callable[[], onnx.ModelProto], name: str) -> onnx.ModelProto:
    """The network that `build` makes, with weights and all values between in the element type called `name`."""
    number, dtype = HALVES[name]
    model = build()
    graph = model.graph
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(_narrowed(tensor, dtype))
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = number
            elif attribute.HasField("t") and attribute.t.data_type == TensorProto.FLOAT:
                attribute.t.CopyFrom(_narrowed(attribute.t, dtype))
    casts: list[onnx.NodeProto] = []
    renamed: dict[str, str] = {}
    stored = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT and value.name not in stored:
            renamed[value.name] = f"{value.name}_{name}"
            casts.append(helper.make_node("Cast", [value.name], [renamed[value.name]], to=number))
    results = [value.name for value in graph.output if value.type.tensor_type.elem_type == TensorProto.FLOAT]
    ends = [helper.make_node("Cast", [f"{result}_{name}"], [result], to=TensorProto.FLOAT) for result in results]
    renamed |= {result: f"{result}_{name}" for result in results}
    for node in graph.node:
        node.input[:] = [renamed.get(value, value) for value in node.input]
        node.output[:] = [renamed.get(value, value) for value in node.output]
    nodes = [*casts, *graph.node, *ends]
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.value_info[:]
    return model
