"""
Reads a model from a file, bytes or a `ModelProto`, and its weights as numpy views of the memory they lie in.

A file is memory-mapped; large weights are never copied. External data is read only from within the model's own folder.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx.wire import DamagedError, split_model

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorProto

NUMPY_DTYPES: Mapping[int, np.dtype[np.generic]] = {
    1: np.dtype(np.float32),
    2: np.dtype(np.uint8),
    3: np.dtype(np.int8),
    4: np.dtype(np.uint16),
    5: np.dtype(np.int16),
    6: np.dtype(np.int32),
    7: np.dtype(np.int64),
    9: np.dtype(np.bool_),
    10: np.dtype(np.float16),
    11: np.dtype(np.float64),
    12: np.dtype(np.uint32),
    13: np.dtype(np.uint64),
    16: np.dtype(ml_dtypes.bfloat16),
    17: np.dtype(ml_dtypes.float8_e4m3fn),
    18: np.dtype(ml_dtypes.float8_e4m3fnuz),
    19: np.dtype(ml_dtypes.float8_e5m2),
    20: np.dtype(ml_dtypes.float8_e5m2fnuz),
    21: np.dtype(ml_dtypes.uint4),
    22: np.dtype(ml_dtypes.int4),
    23: np.dtype(ml_dtypes.float4_e2m1fn),
    24: np.dtype(ml_dtypes.float8_e8m0fnu),
    25: np.dtype(ml_dtypes.uint2),
    26: np.dtype(ml_dtypes.int2),
}
"""`TensorProto.DataType` -> dtype, for the types that are supported."""

_PACKED: Mapping[np.dtype[np.generic], int] = {
    NUMPY_DTYPES[number]: bits for number, bits in ((21, 4), (22, 4), (23, 4), (25, 2), (26, 2))
}
"""Bits of the types of which several elements lie in a byte, the first one lowest."""


@dataclass(frozen=True)
class Source:
    """A model and where its data lies."""

    proto: ModelProto
    name: str
    """What errors call the model: its path, or "the model"."""
    folder: Path | None
    """The only place that external data may come from; None for a model that is no file."""
    weights: Mapping[str, memoryview] = field(default_factory=dict[str, memoryview])
    """Data of the main graph's initializers that was cut out of `proto`, by name."""


def load(model: str | Path | bytes | ModelProto) -> Source:
    """
    The model, parsed.

    Raises:
        ModelError: if it is damaged, or the package `onnx` is not installed.
        OSError: if the file cannot be read.
    """
    try:
        from onnx import ModelProto
    except ModuleNotFoundError as error:
        raise ModelError(f"ONNX models need the package 'onnx' ({error}): pip install 'aicc[onnx]'") from error

    if isinstance(model, ModelProto):
        return Source(model, "the model", None)
    if isinstance(model, bytes):
        return _parse(memoryview(model), "the model", None)
    path = Path(model)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError(f"{path}: the file is empty")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError as error:
        raise ModelError(f"{path}: cannot be read: {error}") from error
    return _parse(data, str(path), path.resolve().parent)


def _parse(data: memoryview, name: str, folder: Path | None) -> Source:
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    proto = ModelProto()
    try:
        split = split_model(data)
        proto.ParseFromString(split.skeleton)
        _check_text(proto.graph)
    except (DamagedError, DecodeError) as error:
        if "MaxDepth" in str(error):
            raise ModelError(f"{name}: graphs are nested more deeply than protobuf reads (about 30 deep)") from error
        raise ModelError(f"{name}: not an ONNX model, or damaged: {error}") from error
    return Source(proto, name, folder, split.weights)


def _check_text(graph: GraphProto) -> None:
    """
    Checks names for damage: protobuf hands out text that is not UTF-8 as bytes.

    Raises:
        DamagedError: if there is such text.
    """
    pending = [graph]
    while pending:
        graph = pending.pop()
        texts: list[object] = [value.name for value in (*graph.input, *graph.output, *graph.initializer)]
        texts += (dim.dim_param for value in graph.input for dim in value.type.tensor_type.shape.dim)
        for tensor in graph.initializer:
            texts += (entry.value for entry in tensor.external_data)
        for node in graph.node:
            texts += (node.name, node.op_type, node.domain, *node.input, *node.output)
            for attribute in node.attribute:
                texts.append(attribute.name)
                pending += (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else []))
        for text in texts:
            if not isinstance(text, str):
                raise DamagedError(f"the name {text!r} is not UTF-8")


def data_type_name(data_type: int) -> str:
    """ONNX's name of an element type, for errors."""
    from onnx import TensorProto

    if data_type in TensorProto.DataType.values():
        return TensorProto.DataType.Name(data_type).lower()
    return f"of unknown number {data_type}"


def tensor_array(tensor: TensorProto, source: Source, raw: memoryview | None = None) -> np.ndarray:
    """
    The content of a tensor, read-only; `raw` is its data where that was cut out of it.

    Raises:
        ModelError: for an element type that is not supported, data of the wrong size, or external data out of bounds.
    """
    what = f"{source.name}: tensor '{tensor.name}'"
    dtype = NUMPY_DTYPES.get(tensor.data_type)
    if dtype is None:
        raise ModelError(f"{what}: element type {data_type_name(tensor.data_type)} is not supported")
    shape = tuple(tensor.dims)
    if any(size < 0 for size in shape):
        raise ModelError(f"{what}: shape {list(shape)} has a negative dimension")
    count = 1
    for size in shape:
        count *= size
    if tensor.HasField("segment"):
        raise ModelError(f"{what}: data stored in segments is not supported")
    if tensor.data_location == tensor.EXTERNAL:
        return _external_array(tensor, source, what, dtype, shape, _stored_bytes(count, dtype))
    if raw is None and tensor.HasField("raw_data"):
        raw = memoryview(tensor.raw_data)
    if raw is not None:
        size = _stored_bytes(count, dtype)
        if len(raw) != size:
            raise ModelError(f"{what}: {len(raw)} bytes of data, expected {size} for {dtype} of shape {list(shape)}")
        if dtype in _PACKED:
            array = _unpacked(np.frombuffer(raw, np.uint8), dtype, count)
        elif dtype == np.bool_:
            # A byte other than 0 and 1 is true, but not a valid numpy bool.
            array = np.frombuffer(raw, np.uint8) != 0
        else:
            array = np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype, copy=False)
    else:
        array = _typed_array(tensor, dtype, count)
        if array.size != count:
            raise ModelError(f"{what}: {array.size} elements, expected {count} for shape {list(shape)}")
    array = array.reshape(shape)
    array.flags.writeable = False
    return array


def _stored_bytes(count: int, dtype: np.dtype[np.generic]) -> int:
    """How many bytes `count` elements take in a model."""
    return -(-count * _PACKED[dtype] // 8) if dtype in _PACKED else count * dtype.itemsize


def _unpacked(stored: np.ndarray, dtype: np.dtype[np.generic], count: int) -> np.ndarray:
    """The first `count` elements of bytes that hold several each."""
    bits = _PACKED[dtype]
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    codes = (stored[:, None] >> shifts & ((1 << bits) - 1)).reshape(-1)[:count]
    return codes.astype(np.uint8).view(dtype)


def _typed_array(tensor: TensorProto, dtype: np.dtype[np.generic], count: int) -> np.ndarray:
    """Content of the typed fields; each holds several element types, floats of 16 bits and fewer as their bits."""
    if dtype == np.float32:
        return np.array(tensor.float_data, np.float32)
    if dtype == np.float64:
        return np.array(tensor.double_data, np.float64)
    if dtype == np.int64:
        return np.array(tensor.int64_data, np.int64)
    if dtype == np.uint32 or dtype == np.uint64:
        return np.array(tensor.uint64_data, np.uint64).astype(dtype)
    stored = np.array(tensor.int32_data, np.int32)
    if dtype in (np.float16, np.dtype(ml_dtypes.bfloat16)):
        return stored.astype(np.uint16).view(dtype)
    if dtype in _PACKED:
        return _unpacked(stored.astype(np.uint8), dtype, count)
    return stored.astype(np.uint8).view(dtype) if dtype.name.startswith("float8") else stored.astype(dtype)


def _external_array(
    tensor: TensorProto,
    source: Source,
    what: str,
    dtype: np.dtype[np.generic],
    shape: tuple[int, ...],
    size: int,
) -> np.ndarray:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    path = _external_path(location, source, what)
    try:
        offset, length = int(entries.get("offset") or 0), int(entries.get("length") or size)
    except ValueError:
        raise ModelError(f"{what}: offset and length of external data must be numbers, found {entries}") from None
    available = path.stat().st_size
    if length != size:
        raise ModelError(f"{what}: {length} bytes of external data, expected {size} for {dtype} of shape {list(shape)}")
    if offset < 0 or offset + length > available:
        raise ModelError(
            f"{what}: bytes {offset} to {offset + length} of '{location}' are wanted, but it has {available} bytes"
        )
    if size == 0:
        return np.zeros(shape, dtype)
    if dtype in _PACKED:
        return _unpacked(np.memmap(path, np.uint8, "r", offset, (size,)), dtype, math.prod(shape)).reshape(shape)
    stored = np.uint8 if dtype == np.bool_ else dtype.newbyteorder("<")
    array = np.memmap(path, stored, "r", offset, shape)
    if dtype == np.bool_:
        return array != 0
    return array.astype(dtype, copy=False)


def _external_path(location: str, source: Source, what: str) -> Path:
    """The file that holds external data; a location that leads out of the model's folder in any way is refused."""
    if source.folder is None:
        raise ModelError(f"{what}: external data '{location}' can only be found for a model that is loaded from a file")
    windows = PureWindowsPath(location)
    if not location or PurePosixPath(location).is_absolute() or windows.is_absolute() or windows.drive:
        raise ModelError(f"{what}: external data must lie in the model's folder, found path '{location}'")
    if ".." in PurePosixPath(location).parts or ".." in windows.parts:
        raise ModelError(f"{what}: external data must lie in the model's folder, found '..' in '{location}'")
    try:
        path = (source.folder / location).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"{what}: external data '{location}' cannot be read: {error}") from error
    if not path.is_relative_to(source.folder):
        raise ModelError(f"{what}: external data must lie in the model's folder, found a link '{location}' out of it")
    if not path.is_file():
        raise ModelError(f"{what}: external data '{location}' is not a file")
    return path
