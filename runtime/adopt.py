"""
Arrays of other libraries as numpy arrays, without a copy: DLPack, `__array_interface__`, buffers.

DLPack is read here and not by numpy, which knows no bfloat16: the capsule that `__dlpack__` gives holds a `DLTensor`
(dmlc/dlpack, versions 0 and 1). It stays as it is, and its maker frees it when the array, which holds it, is gone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np

from aicc.runtime.errors import InputError

_HOSTS = (1, 3, 11)
"""DLPack's numbers of memory that the processor reads: its own, and that pinned for CUDA and ROCm."""

_DEVICES = {
    2: "a CUDA device",
    4: "an OpenCL device",
    7: "a Vulkan device",
    8: "a Metal device",
    10: "a ROCm device",
    13: "CUDA's managed memory",
    14: "a oneAPI device",
}

_KINDS = {0: "i", 1: "u", 2: "f", 5: "c"}
"""DLPack's kinds of element types, and numpy's."""

_SPECIAL: dict[tuple[int, int], np.dtype[Any]] = {
    (4, 16): np.dtype(ml_dtypes.bfloat16),
    (6, 8): np.dtype(np.bool_),
    (10, 8): np.dtype(ml_dtypes.float8_e4m3fn),
    (11, 8): np.dtype(ml_dtypes.float8_e4m3fnuz),
    (12, 8): np.dtype(ml_dtypes.float8_e5m2),
    (13, 8): np.dtype(ml_dtypes.float8_e5m2fnuz),
    (14, 8): np.dtype(ml_dtypes.float8_e8m0fnu),
}
"""Of a kind and a number of bits, where numpy by itself has no type or DLPack a kind for one type."""

_READ_ONLY = 1
"""Bit of the flags of a versioned tensor."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)


def adopt(what: str, given: Any) -> np.ndarray:
    """
    The array that `given` is or shows; `what` names it in errors.

    Raises:
        InputError: it is no array, not in the processor's memory, or of a form that numpy has none for.
    """
    kind = cast(type[Any], type(given))
    if issubclass(kind, np.ndarray):
        return given
    try:
        if hasattr(kind, "__dlpack__"):
            return _from_dlpack(what, given)
        if hasattr(given, "__array_interface__"):
            return np.asarray(given)
        if hasattr(given, "__cuda_array_interface__"):
            raise _elsewhere(what, given, "a CUDA device")
        return np.asarray(memoryview(given))
    except (InputError, MemoryError):
        raise
    except Exception as error:  # Of another library's code, which may raise what it likes.
        if isinstance(error, TypeError) and not hasattr(kind, "__dlpack__"):
            raise InputError(f"{what} is a {kind.__name__}, expected an array") from None
        raise InputError(f"{what} is a {kind.__name__} that cannot be read: {error}") from error


def _elsewhere(what: str, given: object, device: str) -> InputError:
    return InputError(f"{what} is a {type(given).__name__} on {device}, expected one in the processor's memory")


def _from_dlpack(what: str, given: Any) -> np.ndarray:
    device, number = given.__dlpack_device__()
    if device not in _HOSTS:
        raise _elsewhere(what, given, f"{_DEVICES.get(int(device), f'a device of type {int(device)}')} ({number})")
    export: Callable[..., object] = given.__dlpack__
    silent = False
    try:
        capsule = export(max_version=(1, 0))
        # Version 0 has no way to say that a tensor is not to be written, as those of jax: a library that knows of
        # versions and answers with it does not say that it may be.
        silent = True
    except TypeError:
        # Of a library older than version 1 of DLPack.
        capsule = export()
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if versioned.version[0] != 1:
            raise InputError(f"{what} speaks version {versioned.version[0]} of DLPack, expected 1")
        return _array(what, versioned.tensor, capsule, bool(versioned.flags & _READ_ONLY))
    return _array(what, _Tensor.from_address(_pointer(capsule, b"dltensor")), capsule, read_only=silent)


def _array(what: str, tensor: _Tensor, capsule: object, read_only: bool) -> np.ndarray:
    """The array that a tensor describes; it keeps the capsule."""
    dtype = _dtype(what, tensor.code, tensor.bits, tensor.lanes)
    rank = tensor.ndim
    shape: Sequence[int] = tensor.shape[:rank]
    if 0 in shape:
        return np.zeros(tuple(shape), dtype)
    steps: Sequence[int] = tensor.strides[:rank] if tensor.strides else _row_major(shape)
    # Of the first and last byte that some element has; a step may be below 0.
    reach = [(size - 1) * step for size, step in zip(shape, steps, strict=True)]
    low = sum(step for step in reach if step < 0) * dtype.itemsize
    high = sum(step for step in reach if step > 0) * dtype.itemsize + dtype.itemsize
    memory: Any = (ctypes.c_uint8 * (high - low)).from_address(tensor.data + tensor.byte_offset + low)
    memory.capsule = capsule
    array = np.ndarray(tuple(shape), dtype, memory, -low, tuple(step * dtype.itemsize for step in steps))
    array.flags.writeable = not read_only
    return array


def _row_major(shape: Sequence[int]) -> list[int]:
    steps = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        steps[axis - 1] = steps[axis] * shape[axis]
    return steps


def _dtype(what: str, code: int, bits: int, lanes: int) -> np.dtype[Any]:
    if lanes == 1:
        if (code, bits) in _SPECIAL:
            return _SPECIAL[code, bits]
        if code in _KINDS and bits in (8, 16, 32, 64, 128):
            try:
                return np.dtype(f"{_KINDS[code]}{bits // 8}")
            except TypeError:
                pass
    raise InputError(f"{what} has elements of DLPack type {code} with {bits} bits and {lanes} lanes, expected numbers")
