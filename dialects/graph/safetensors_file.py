"""
Reading and writing safetensors files without copies.

The format (https://github.com/huggingface/safetensors#format): 8 bytes with the length of the header, the header in
JSON (name -> dtype, shape, offsets), then the arrays. Arrays are mapped into memory, so only what is used is read.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.dtypes import BFLOAT16

_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": BFLOAT16,
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "F8_E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "BOOL": np.dtype(np.bool_),
    **{f"I{bits}": np.dtype(f"<i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": np.dtype(f"<u{bits // 8}") for bits in (8, 16, 32, 64)},
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_ALIGNMENT = 64
_MAX_HEADER = 100_000_000
"""The limit that the format sets, in bytes."""


@lru_cache(maxsize=16)
def _header(path: Path, size: int, modified: int) -> tuple[Mapping[str, Any], int]:
    """The header and where the data starts. `size` and `modified` tell a rewritten file from the cached one."""
    del modified
    with path.open("rb") as file:
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if length > min(_MAX_HEADER, size - 8):
            raise DiagnosticException(f"{path} is damaged: its header does not fit in the file")
        text = file.read(length)
    try:
        header = json.loads(text)
    except ValueError as error:
        raise DiagnosticException(f"{path} is damaged: its header is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise DiagnosticException(f"{path} is damaged: its header is not a table of arrays")
    return cast(dict[str, Any], header), 8 + length


def read_tensor(path: Path, name: str) -> np.ndarray:
    """
    Array `name` of the file, mapped into memory.

    Raises:
        DiagnosticException: if the file or the array is missing or damaged.
    """
    try:
        status = os.stat(path)
        header, data_start = _header(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise DiagnosticException(f"cannot read {path}: {error.strerror}") from None
    if name not in header:
        raise DiagnosticException(f'{path} has no array "{name}"')
    try:
        entry = header[name]
        dtype = _DTYPES[entry["dtype"]]
        shape = tuple(int(size) for size in entry["shape"])
        start, end = (int(offset) for offset in entry["data_offsets"])
    except (KeyError, TypeError, ValueError):
        raise DiagnosticException(f'{path} is damaged: array "{name}" has no known dtype, shape or offsets') from None
    count = math.prod(shape)
    fits = min(shape, default=0) >= 0 and 0 <= start <= end <= status.st_size - data_start
    if not fits or end - start != count * dtype.itemsize:
        raise DiagnosticException(f'{path} is damaged: array "{name}" does not match its place in the file')
    if count == 0:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, mode="r", offset=data_start + start, shape=shape)


def _writable(array: np.ndarray) -> np.ndarray:
    """In a dtype that the format has: bytes for narrow types that it lacks."""
    if array.dtype in _NAMES:
        return array
    little_endian = array.dtype.newbyteorder("<")
    return array.astype(little_endian, copy=False) if little_endian in _NAMES else array.view(np.uint8)


def write_tensors(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes `arrays` in the order given, one after the other, through a temporary file beside `path`."""
    arrays = {name: _writable(array) for name, array in arrays.items()}
    header: dict[str, Any] = {}
    offset = 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for array in arrays.values():
                file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
