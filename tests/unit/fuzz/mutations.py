"""Damage for models: to their bytes, and to the fields of the protobuf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import Message
from onnx import helper

EXTREMES = (
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    255,
    1 << 20,
    (1 << 31) - 1,
    1 << 31,
    -(1 << 31),
    1 << 40,
    (1 << 63) - 1,
    -(1 << 63),
)
TEXTS = (
    "",
    "x",
    "?",
    "N",
    "../secret",
    "/etc/hostname",
    "a" * 5000,
    "näme\n\"'\\",
    "ai.onnx",
    "Loop",
    "NOTSET",
    "\x00",
    "$(x)",
    "-1",
)
LOCATIONS = (
    "../secret",
    "/etc/hostname",
    "link",
    "sub/../../secret",
    "weights.bin",
    "",
    ".",
    "/proc/self/mem",
    "C:\\x",
    "\x00",
)

Rng = np.random.Generator
REPEATED = 3
"""`label` of a repeated field."""


def _pick(rng: Rng, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


# Bytes


def _flip(data: bytearray, rng: Rng, other: bytes) -> None:
    for _ in range(int(rng.integers(1, 9))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))


def _truncate(data: bytearray, rng: Rng, other: bytes) -> None:
    del data[int(rng.integers(len(data))) :]


def _delete(data: bytearray, rng: Rng, other: bytes) -> None:
    start = int(rng.integers(len(data)))
    del data[start : start + int(rng.integers(1, 40))]


def _insert(data: bytearray, rng: Rng, other: bytes) -> None:
    start = int(rng.integers(len(data)))
    data[start:start] = rng.bytes(int(rng.integers(1, 20)))


def _overwrite(data: bytearray, rng: Rng, other: bytes) -> None:
    start = int(rng.integers(len(data)))
    filler = _pick(rng, (b"\xff" * 9 + b"\x01", b"\x00" * 8, b"\x80" * 12, b"\x7f", b"\xff\xff\xff\xff\x07"))
    data[start : start + len(filler)] = filler


def _splice(data: bytearray, rng: Rng, other: bytes) -> None:
    start, length = int(rng.integers(len(other))), int(rng.integers(1, 200))
    where = int(rng.integers(len(data)))
    data[where : where + int(rng.integers(0, 100))] = other[start : start + length]


_BYTES: tuple[Callable[[bytearray, Rng, bytes], None], ...] = (_flip, _truncate, _delete, _insert, _overwrite, _splice)


def mutated_bytes(data: bytes, rng: Rng, other: bytes) -> bytes:
    """One kind of damage; most weights are spared, for they are the least interesting bytes."""
    result = bytearray(data)
    _pick(rng, _BYTES)(result, rng, other)
    return bytes(result)


# Fields


def _messages(root: Message) -> list[Message]:
    """Every message in `root`, itself included."""
    found: list[Message] = []
    pending: list[Message] = [root]
    while pending:
        message = pending.pop()
        found.append(message)
        for field, value in message.ListFields():
            if field.message_type is not None:
                pending += list(value) if _repeated(field) else [value]
    return found


def _repeated(field: Any) -> bool:
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == REPEATED


def _value(field: Any, rng: Rng) -> Any:
    """A value that fits the field's type, often a strange one."""
    if field.enum_type is not None:
        return int(rng.integers(0, 24))
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64, field.CPPTYPE_UINT64, field.CPPTYPE_UINT32):
        value = int(_pick(rng, EXTREMES))
        low, high = {
            field.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
            field.CPPTYPE_UINT32: (0, (1 << 32) - 1),
            field.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
            field.CPPTYPE_UINT64: (0, (1 << 64) - 1),
        }[field.cpp_type]
        return min(max(value, low), high)
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return float(_pick(rng, (0.0, -1.0, np.inf, np.nan, 1e30, 0.5)))
    if field.type == field.TYPE_BYTES:
        return rng.bytes(int(rng.integers(0, 40)))
    return str(_pick(rng, TEXTS))


def _change(root: Message, rng: Rng) -> None:
    message = _pick(rng, _messages(root))
    fields = list(message.DESCRIPTOR.fields)
    set_fields = [field for field, _ in message.ListFields()]
    field = _pick(rng, set_fields if set_fields and rng.random() < 0.8 else fields)
    if _repeated(field):
        _change_items(getattr(message, field.name), field, rng, root)
    elif rng.random() < 0.3:
        message.ClearField(field.name)
    elif field.message_type is not None:
        _replace(getattr(message, field.name), rng, root)
    else:
        setattr(message, field.name, _value(field, rng))


def _change_items(items: Any, field: Any, rng: Rng, root: Message) -> None:
    kind = int(rng.integers(5))
    if kind == 0 and len(items):
        del items[int(rng.integers(len(items)))]
    elif kind == 1 and len(items):
        again = items[int(rng.integers(len(items)))]
        if field.message_type is not None:
            items.add().CopyFrom(again)
        else:
            items.append(again)
    elif kind == 2 and len(items) > 1:
        kept = list(items)
        order = [kept[int(i)] for i in rng.permutation(len(kept))]
        copies = [
            type(item).FromString(item.SerializeToString()) if isinstance(item, Message) else item for item in order
        ]
        del items[:]
        items.extend(copies)
    elif field.message_type is not None:
        _replace(items[int(rng.integers(len(items)))] if len(items) and kind == 3 else items.add(), rng, root)
    elif len(items) and kind == 3:
        items[int(rng.integers(len(items)))] = _value(field, rng)
    else:
        items.append(_value(field, rng))


def _replace(message: Message, rng: Rng, root: Message) -> None:
    """Another message of the same type that the model has somewhere."""
    same = [m for m in _messages(root) if m.DESCRIPTOR is message.DESCRIPTOR and m is not message]
    if same:
        data = _pick(rng, same).SerializeToString()
        message.Clear()
        message.MergeFromString(data)


def _rename(model: onnx.ModelProto, rng: Rng) -> None:
    """A name that a node reads or writes becomes another one of the model: cycles, and values of wrong types."""
    nodes = [m for m in _messages(model) if isinstance(m, onnx.NodeProto)]
    if not nodes:
        return
    names = [name for node in nodes for name in (*node.input, *node.output)] or ["x"]
    node = _pick(rng, nodes)
    places = node.input if rng.random() < 0.8 and node.input else node.output
    if places:
        places[int(rng.integers(len(places)))] = _pick(rng, names)


def _operator(model: onnx.ModelProto, rng: Rng) -> None:
    """A node becomes another operator with the same inputs and attributes."""
    from aicc.frontends.onnx.table import HANDLERS

    nodes = [m for m in _messages(model) if isinstance(m, onnx.NodeProto)]
    if nodes:
        node = _pick(rng, nodes)
        node.domain, node.op_type = _pick(rng, sorted(HANDLERS))


def _sizes(model: onnx.ModelProto, rng: Rng) -> None:
    """Sizes of tensors that are absurd, or no longer those of their data."""
    tensors = [m for m in _messages(model) if isinstance(m, onnx.TensorProto)]
    dims = [m for m in _messages(model) if m.DESCRIPTOR.full_name == "onnx.TensorShapeProto.Dimension"]
    if tensors and (rng.random() < 0.5 or not dims):
        tensor = _pick(rng, tensors)
        if tensor.dims:
            tensor.dims[int(rng.integers(len(tensor.dims)))] = int(_pick(rng, EXTREMES))
    elif dims:
        _pick(rng, dims).dim_value = int(_pick(rng, EXTREMES))


def _contents(model: onnx.ModelProto, rng: Rng) -> None:
    """Constants of integers, which are sizes and axes, become extreme."""
    tensors = [m for m in _messages(model) if isinstance(m, onnx.TensorProto)]
    tensors = [t for t in tensors if t.data_type in (6, 7) and t.data_location == t.DEFAULT]
    if tensors:
        tensor = _pick(rng, tensors)
        array = onnx.numpy_helper.to_array(tensor).copy()
        if array.size:
            value = int(_pick(rng, EXTREMES))
            bounds = np.iinfo(array.dtype)
            array.reshape(-1)[int(rng.integers(array.size))] = min(max(value, bounds.min), bounds.max)
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def _external(model: onnx.ModelProto, rng: Rng) -> None:
    """A tensor whose data lies in another file, or nowhere."""
    tensors = [m for m in _messages(model) if isinstance(m, onnx.TensorProto)]
    if not tensors:
        return
    tensor = _pick(rng, tensors)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    del tensor.external_data[:]
    tensor.external_data.add(key="location", value=str(_pick(rng, LOCATIONS)))
    for key in ("offset", "length"):
        if rng.random() < 0.5:
            tensor.external_data.add(key=key, value=str(_pick(rng, (*EXTREMES, "x", ""))))


def _nest(model: onnx.ModelProto, rng: Rng) -> None:
    """The graph as the branches of an `If`, some times over."""
    for _ in range(int(_pick(rng, (1, 3, 20, 60)))):
        inner = onnx.GraphProto.FromString(model.graph.SerializeToString())
        del inner.input[:]
        names = [value.name for value in inner.output]
        if model.ByteSize() > 1 << 20:
            return
        node = helper.make_node("If", ["condition"], names, then_branch=inner, else_branch=inner)
        del model.graph.node[:]
        model.graph.node.add().CopyFrom(node)
    del model.graph.initializer[:]
    model.graph.initializer.add().CopyFrom(onnx.numpy_helper.from_array(np.array(True), "condition"))


def _functions(model: onnx.ModelProto, rng: Rng) -> None:
    """Functions that call each other, or themselves, without end."""
    count = int(rng.integers(1, 4))
    for i in range(count):
        callee = f"F{(i + 1) % count}" if rng.random() < 0.8 else "Identity"
        node = helper.make_node(callee, ["a"], ["b"], domain="own" if callee != "Identity" else "")
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        model.functions.add().CopyFrom(helper.make_function("own", f"F{i}", ["a"], ["b"], [node], opsets))
    model.opset_import.add(domain="own", version=1)
    if model.graph.node:
        node = model.graph.node[int(rng.integers(len(model.graph.node)))]
        node.domain, node.op_type = "own", "F0"


_FIELDS: tuple[Callable[[onnx.ModelProto, Rng], None], ...] = (
    *(_change, _change, _change, _change, _rename, _rename, _operator, _sizes, _sizes, _contents, _contents),
    *(_external, _nest, _functions),
)


def mutated_fields(data: bytes, rng: Rng) -> bytes:
    """A few fields changed."""
    model = onnx.ModelProto.FromString(data)
    for _ in range(int(rng.choice((1, 1, 2, 3)))):
        try:
            _pick(rng, _FIELDS)(model, rng)
        except (ValueError, TypeError, OverflowError):
            continue  # What earlier damage left does not take this one.
    return model.SerializeToString()
