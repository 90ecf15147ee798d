"""
Splits the bytes of an ONNX model into a small protobuf and the large weights beside it, without copying those.

Parsing a model as a whole copies every weight and fails beyond 2 GiB. The weights are the `raw_data` fields of the
initializers, so their places are found by walking the encoding, which is a sequence of (tag, value) records nested as

    ModelProto.graph (7) -> GraphProto.initializer (5) -> TensorProto.raw_data (9)

Encoding: https://protobuf.dev/programming-guides/encoding
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_BYTES = 2
_GRAPH, _INITIALIZER, _NAME, _RAW_DATA = 7, 5, 8, 9

SMALL_BYTES = 1024
"""Weights below this size stay in the protobuf."""


class DamagedError(ValueError):
    """The bytes are not a protobuf."""


@dataclass(frozen=True)
class SplitModel:
    """The model without its large weights, and those by the names of the main graph's initializers."""

    skeleton: bytes
    weights: Mapping[str, memoryview]


@dataclass(frozen=True)
class _Field:
    number: int
    whole: memoryview
    """The record with its tag."""
    content: memoryview
    """The value of a length-delimited record, else empty."""


def split_model(data: memoryview) -> SplitModel:
    """
    Cuts the large weights out of a serialised `ModelProto`.

    Raises:
        DamagedError: if a record is cut short or of an unknown kind.
    """
    graphs = sum(field.number == _GRAPH for field in _fields(data))
    weights: dict[str, memoryview] = {}
    if graphs != 1:  # Several are legal and mean that they are merged: left to protobuf.
        return SplitModel(bytes(data), weights)
    pieces: list[bytes | memoryview] = []
    for field in _fields(data):
        if field.number == _GRAPH:
            _add_message(pieces, _GRAPH, _without_weights(field.content, weights))
        else:
            pieces.append(field.whole)
    return SplitModel(b"".join(pieces), weights)


_FIELDS_WITH_TENSORS: Mapping[str, Mapping[int, str]] = {
    "Model": {7: "Graph", 20: "Training", 25: "Function"},
    "Training": {1: "Graph", 2: "Graph"},
    "Graph": {1: "Node", 5: "Tensor", 15: "SparseTensor"},
    "Function": {7: "Node", 11: "Attribute"},
    "Node": {5: "Attribute"},
    "Attribute": {5: "Tensor", 6: "Graph", 10: "Tensor", 11: "Graph", 22: "SparseTensor", 23: "SparseTensor"},
    "SparseTensor": {1: "Tensor", 2: "Tensor"},
    "Tensor": {13: "Entry"},
}
"""Message -> number of a field that holds, or may hold, tensors -> message in it."""

_LOCATION = b"location"
_SHORT = 4096


def external_files(data: memoryview) -> list[str]:
    """
    The files that tensors of a serialised `ModelProto` name as the place of their data, sorted.

    Raises:
        DamagedError: if a record is cut short or of an unknown kind, or a name is not UTF-8.
    """
    found: set[str] = set()
    pending = [("Model", data)]
    while pending:
        message, content = pending.pop()
        if message == "Entry":
            entry = {field.number: bytes(field.content) for field in _fields(content)}
            if entry.get(1) == _LOCATION:
                found.add(_text(entry.get(2, b"")))
            continue
        inner = _FIELDS_WITH_TENSORS[message]
        for field in _fields(content):
            kind = inner.get(field.number)
            if kind is None:
                continue
            # Nearly all messages of a large graph are short, and looking for the word is quicker than a walk.
            if len(field.content) > _SHORT or _LOCATION in bytes(field.content):
                pending.append((kind, field.content))
    return sorted(found)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DamagedError(f"the name {data!r} is not UTF-8") from error


def _without_weights(graph: memoryview, weights: dict[str, memoryview]) -> bytes:
    pieces: list[bytes | memoryview] = []
    for field in _fields(graph):
        if field.number != _INITIALIZER:
            pieces.append(field.whole)
            continue
        kept: list[bytes | memoryview] = []
        data, name = None, ""
        for part in _fields(field.content):
            if part.number == _RAW_DATA and len(part.content) >= SMALL_BYTES:
                data = part.content
                continue
            kept.append(part.whole)
            if part.number == _NAME:
                name = str(part.content, "utf-8", "replace")
        if data is None or name in weights:
            pieces.append(field.whole)
        else:
            weights[name] = data
            _add_message(pieces, _INITIALIZER, b"".join(kept))
    return b"".join(pieces)


def _fields(data: memoryview) -> Iterator[_Field]:
    position = 0
    while position < len(data):
        start = position
        tag, position = _varint(data, position)
        content = data[:0]
        match tag & 7:
            case 0:
                _, position = _varint(data, position)
            case 1:
                position += 8
            case 2:
                size, position = _varint(data, position)
                content = data[position : position + size]
                position += size
            case 5:
                position += 4
            case kind:
                raise DamagedError(f"record of unknown kind {kind} at byte {start}")
        if position > len(data):
            raise DamagedError("the data ends inside a record")
        yield _Field(tag >> 3, data[start:position], content)


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise DamagedError("the data ends inside a number" if position >= len(data) else "number of over 64 bits")
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position


def _add_message(pieces: list[bytes | memoryview], number: int, content: bytes) -> None:
    pieces += [_encoded(number << 3 | _BYTES), _encoded(len(content)), content]


def _encoded(value: int) -> bytes:
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
