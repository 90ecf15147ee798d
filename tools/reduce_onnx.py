"""Smaller versions of an ONNX model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.frontends.onnx.loading import NUMPY_DTYPES
from aicc.frontends.onnx.ordering import used_names
from aicc.lowering.signature import main_function
from aicc.tools.reduce import Step, chunks

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

_NUMBERS = {dtype: number for number, dtype in NUMPY_DTYPES.items()}

MOST_ELEMENTS = 1 << 16
"""Initializers beyond this are not looked into, only left out or made smaller."""


def onnx_steps() -> Sequence[Step[ModelProto]]:
    """What is tried, in this order in every round."""
    return (_fewer_outputs, _fewer_nodes, _bypassed, _branches, _smaller_sizes, _plainer_contents, _plainer, _bare)


def _copy(model: ModelProto) -> ModelProto:
    from onnx import ModelProto

    result = ModelProto()
    result.CopyFrom(model)
    return result


def _pruned(model: ModelProto) -> ModelProto:
    """Without nodes and initializers that lead to no output, and inputs nobody reads."""
    graph = model.graph
    wanted = {value.name for value in graph.output}
    kept: list[NodeProto] = []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted |= used_names(node)
    nodes = [type(node).FromString(node.SerializeToString()) for node in kept[::-1]]
    del graph.node[:]
    graph.node.extend(nodes)
    for items in (graph.initializer, graph.input):
        for i in reversed(range(len(items))):
            if items[i].name not in wanted:
                del items[i]
    return model


def _fewer_outputs(model: ModelProto) -> Iterator[ModelProto]:
    count = len(model.graph.output)
    for keep in range(count) if count > 1 else ():
        smaller = _copy(model)
        output = model.graph.output[keep]
        del smaller.graph.output[:]
        smaller.graph.output.add().CopyFrom(output)
        yield _pruned(smaller)
    for part in chunks(count):
        if 0 < len(part) < count:
            smaller = _copy(model)
            del smaller.graph.output[part.start : part.stop]
            yield _pruned(smaller)


def _value_types(model: ModelProto) -> dict[str, ValueInfoProto]:
    """The types of the values of the main graph, as far as they can be found out: by the importer, else by `onnx`."""
    from onnx import helper, shape_inference

    known = {value.name: value for value in (*model.graph.input, *model.graph.value_info)}
    names = [name for node in model.graph.node for name in node.output if name and name not in known]
    whole = _copy(model)
    del whole.graph.output[:]
    whole.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    try:
        from aicc.frontends.onnx import import_onnx

        types = main_function(import_onnx(whole)).function_type.outputs.data
    except DiagnosticException:
        try:
            inferred = shape_inference.infer_shapes(model).graph.value_info
        except Exception:  # It raises errors of many kinds for broken models.
            return known
        return known | {value.name: value for value in inferred}
    for name, type in zip(names, types, strict=True):
        dims = [dim if isinstance(dim, int) else str(dim) for dim in dims_of(type)]
        element = _NUMBERS[numpy_dtype(type.element_type)]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType]
        known[name] = helper.make_tensor_value_info(name, element, dims)
    return known


def _fewer_nodes(model: ModelProto) -> Iterator[ModelProto]:
    """Some nodes left out; what the others read of them becomes an input."""
    types = _value_types(model)
    for part in chunks(len(model.graph.node)):
        smaller = _without_nodes(model, part, types)
        if smaller is not None:
            yield smaller


def _without_nodes(model: ModelProto, part: range, types: Mapping[str, ValueInfoProto]) -> ModelProto | None:
    smaller = _copy(model)
    graph = smaller.graph
    made = {name for i in part for name in graph.node[i].output if name}
    del graph.node[part.start : part.stop]
    for i in reversed(range(len(graph.output))):
        if graph.output[i].name in made:
            del graph.output[i]
    read = {name for node in graph.node for name in used_names(node)}
    missing = sorted(made & read)
    if not graph.node or any(name not in types for name in missing):
        return None
    for name in missing:
        graph.input.add().CopyFrom(types[name])
    if not graph.output:
        loose = [name for node in graph.node for name in node.output if name and name not in read]
        if not loose:
            return None
        from onnx import helper

        graph.output.extend(helper.make_empty_tensor_value_info(name) for name in loose)
    return _pruned(smaller)


def _bypassed(model: ModelProto) -> Iterator[ModelProto]:
    """A node's result replaced by one of its inputs."""
    for i in reversed(range(len(model.graph.node))):
        node = model.graph.node[i]
        for old in filter(None, node.output):
            for new in dict.fromkeys(filter(None, node.input)):
                smaller = _copy(model)
                for other in smaller.graph.node:
                    _rename_reads(other, old, new)
                yield _pruned(smaller)


def _rename_reads(node: NodeProto, old: str, new: str) -> None:
    pending = [node]
    while pending:
        inner = pending.pop()
        for i, name in enumerate(inner.input):
            if name == old:
                inner.input[i] = new
        for graph in _subgraphs(inner):
            pending += graph.node


def _subgraphs(node: NodeProto) -> list[GraphProto]:
    found: list[GraphProto] = []
    for attribute in node.attribute:
        found += attribute.graphs
        if attribute.HasField("g"):
            found.append(attribute.g)
    return found


def _branches(model: ModelProto) -> Iterator[ModelProto]:
    """A branch in place of its `If`; nodes of subgraphs bypassed."""
    for i, node in enumerate(model.graph.node):
        if node.op_type == "If":
            for branch in _subgraphs(node):
                smaller = _copy(model)
                nodes = [*smaller.graph.node]
                inner = [type(node).FromString(n.SerializeToString()) for n in branch.node]
                renamed = {value.name: name for value, name in zip(branch.output, node.output, strict=False)}
                for other in inner:
                    for j, name in enumerate(other.output):
                        other.output[j] = renamed.get(name, name)
                    for j, name in enumerate(other.input):
                        other.input[j] = renamed.get(name, name)
                smaller.graph.initializer.extend(branch.initializer)
                copies = [type(n).FromString(n.SerializeToString()) for n in nodes]
                del smaller.graph.node[:]
                smaller.graph.node.extend([*copies[:i], *inner, *copies[i + 1 :]])
                yield _pruned(smaller)
        for g, graph in enumerate(_subgraphs(node)):
            for j in reversed(range(len(graph.node))):
                for source in dict.fromkeys(filter(None, graph.node[j].input)):
                    smaller = _copy(model)
                    inside = _subgraphs(smaller.graph.node[i])[g]
                    (old, *_) = [name for name in inside.node[j].output if name] or [""]
                    op = inside.node[j]
                    if op.op_type == "Identity":
                        continue
                    op.op_type, op.domain = "Identity", ""
                    del op.attribute[:], op.input[:], op.output[:]
                    op.input.append(source)
                    op.output.append(old)
                    yield _pruned(smaller)


def _smaller_sizes(model: ModelProto) -> Iterator[ModelProto]:
    """A size that stands in several places made smaller in all of them; symbols made numbers."""
    dims = [dim for value in model.graph.input for dim in value.type.tensor_type.shape.dim]
    for symbol in sorted({dim.dim_param for dim in dims if dim.dim_param}):
        for size in (1, 2, 3):
            smaller = _copy(model)
            for value in smaller.graph.input:
                for dim in value.type.tensor_type.shape.dim:
                    if dim.dim_param == symbol:
                        dim.dim_value = size
            yield smaller
    sizes = {dim.dim_value for dim in dims} | {size for tensor in model.graph.initializer for size in tensor.dims}
    for size in sorted((s for s in sizes if s > 1), reverse=True):
        for wanted in dict.fromkeys((1, 2, size // 2, size - 1)):
            if 0 < wanted < size:
                yield _resized(model, size, wanted)


def _resized(model: ModelProto, size: int, wanted: int) -> ModelProto:
    smaller = _copy(model)
    for value in smaller.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value == size:
                dim.dim_value = wanted

    def cut(array: np.ndarray) -> np.ndarray:
        cut = array[tuple(slice(0, wanted if n == size else n) for n in array.shape)]
        # Lists of sizes name it, too.
        return np.where(cut == size, wanted, cut).astype(cut.dtype) if cut.dtype == np.int64 else cut

    _change_initializers(smaller, cut)
    return smaller


def _change_initializers(
    model: ModelProto, change: Callable[[np.ndarray], np.ndarray], only: int | None = None
) -> None:
    from onnx import numpy_helper

    for i, tensor in enumerate(model.graph.initializer):
        if only in (None, i):
            try:
                array = numpy_helper.to_array(tensor)
            except Exception:  # Broken data raise errors of many kinds, and stay as they are.
                continue
            tensor.CopyFrom(
                numpy_helper.from_array(np.ascontiguousarray(change(array)).reshape(change(array).shape), tensor.name)
            )


def _plainer_contents(model: ModelProto) -> Iterator[ModelProto]:
    """Initializers of zeros, or ones."""
    for i, tensor in enumerate(model.graph.initializer):
        if np.prod(tensor.dims, dtype=np.float64) > MOST_ELEMENTS:
            continue
        for fill in (np.zeros_like, np.ones_like):
            smaller = _copy(model)
            _change_initializers(smaller, partial(_filled, fill), i)
            yield smaller


def _filled(fill: Any, array: np.ndarray) -> np.ndarray:
    # One that is all ones counts as plain already: else zeros and ones would take turns.
    return array if (array == 1).all() else fill(array)


def _plainer(model: ModelProto) -> Iterator[ModelProto]:
    """Attributes left out."""
    for i, node in enumerate(model.graph.node):
        for j in range(len(node.attribute)):
            smaller = _copy(model)
            del smaller.graph.node[i].attribute[j]
            yield smaller
        for j in reversed(range(len(node.input))):
            if node.input[j] and j > 0:
                smaller = _copy(model)
                smaller.graph.node[i].input[j] = ""
                yield _pruned(smaller)


def _bare(model: ModelProto) -> Iterator[ModelProto]:
    """Everything left out that has no meaning."""
    smaller = _copy(model)
    smaller.ClearField("doc_string")
    del smaller.metadata_props[:], smaller.graph.value_info[:]
    for node in smaller.graph.node:
        node.ClearField("doc_string")
    yield smaller
    if model.functions:
        smaller = _copy(model)
        del smaller.functions[:]
        yield smaller
    domains = {node.domain for node in model.graph.node}
    for i, entry in enumerate(model.opset_import):
        if entry.domain and entry.domain not in domains:
            smaller = _copy(model)
            del smaller.opset_import[i]
            yield smaller
