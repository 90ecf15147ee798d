"""Operators that the standard defines by other operators, for those that have no handler of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aicc.dialects.graph.dims import Dim
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.frontends.onnx.loading import NUMPY_DTYPES
from aicc.frontends.onnx.values import AnyValue, Value

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto

_DATA_TYPES: Mapping[np.dtype[np.generic], int] = {dtype: number for number, dtype in NUMPY_DTYPES.items()}


def has_function(node: NodeProto, version: int) -> bool:
    """Whether the installed package `onnx` knows a definition of the operator of `node` by others."""
    schema = _schema(node, version)
    return schema is not None and _newest(schema, version) is not None


def _schema(node: NodeProto, version: int) -> Any:
    """
    What the package `onnx` knows of the operator of `node` in an operator set, or None.

    It is an `onnx.defs.OpSchema`, whose type stubs lack some of what is used here.
    """
    from onnx import defs

    try:
        return defs.get_schema(node.op_type, version, node.domain)
    except defs.SchemaError:
        return None


def arity_fault(node: NodeProto, version: int) -> str | None:
    """
    What is wrong with `node` if it has more inputs or outputs than the schema of its operator, if there is one, knows.

    Handlers miss what there is too little of, and can say what it is.
    """
    schema = _schema(node, version)
    if schema is None:
        return None
    counts = (
        ("inputs", len(node.input), int(schema.max_input)),
        ("outputs", len(node.output), int(schema.max_output)),
    )
    for what, found, most in counts:
        if found > most:
            return f"has {found} {what}, expected at most {most}"
    return None


def _newest(schema: Any, version: int) -> int | None:
    """The newest operator set up to `version` that a definition is written for."""
    known: tuple[int, ...] = (*schema.function_opset_versions, *schema.context_dependent_function_opset_versions)
    return max((v for v in known if v <= version), default=None)


def standard_function(node: NodeProto, version: int, inputs: Sequence[AnyValue | None]) -> FunctionProto:
    """
    The definition of the operator of `node`, which has one.

    Attributes of the node are put in place of the body's references to them, and inputs that are not given are empty.
    """
    from onnx import FunctionProto

    schema = _schema(node, version)
    newest = _newest(schema, version)
    assert newest is not None
    if newest in schema.function_opset_versions:
        serialized = schema.get_function_with_opset_version(newest)
    else:
        types = [_type_of(value).SerializeToString() for value in inputs]
        serialized = schema.get_context_dependent_function_with_opset_version(newest, node.SerializeToString(), types)
    function = FunctionProto.FromString(serialized)
    given = {attribute.name: attribute for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            given[name] = attribute.default_value
    absent = {name for name, value in zip(function.input, inputs, strict=False) if value is None}
    absent |= set(function.input[len(inputs) :])
    for inner in function.node:
        _bind(inner, given, absent)
    return function


def _type_of(value: AnyValue | None) -> TypeProto:
    from onnx import TypeProto

    result = TypeProto()
    if isinstance(value, Value):
        tensor = result.tensor_type
        tensor.elem_type = _DATA_TYPES[numpy_dtype(value.type.element_type)]
        shape = tensor.shape
        sizes: Sequence[Dim] = value.dims
        for size in sizes:
            if isinstance(size, int):
                shape.dim.add(dim_value=size)
            else:
                shape.dim.add(dim_param=str(size))
    return result


def _bind(node: NodeProto, given: Mapping[str, AttributeProto], absent: set[str]) -> None:
    """Resolves what a node of the body, and of graphs in it, refers to outside."""
    pending = [node]
    while pending:
        node = pending.pop()
        for i, name in enumerate(node.input):
            if name in absent:
                node.input[i] = ""
        kept: list[AttributeProto] = []
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                source = given.get(attribute.ref_attr_name)
                if source is None:
                    continue
                name = attribute.name
                attribute.CopyFrom(source)
                attribute.name = name
            kept.append(attribute)
            if attribute.HasField("g"):
                pending += attribute.g.node
        if len(kept) != len(node.attribute):
            copies = [type(attribute).FromString(attribute.SerializeToString()) for attribute in kept]
            del node.attribute[:]
            node.attribute.extend(copies)
