"""
What compiled code may know of CPython and numpy: functions of their C interfaces, and how objects lie in memory.

Objects begin with a reference count and their type; of array objects follow address of the data, number of dimensions,
dimensions, strides, base, dtype, flags (numpy's C interface). `addresses` tries whether that is so here.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from functools import cache
from importlib import import_module

import numpy as np

PYTHON = (
    *("PyDict_Size", "PyDict_GetItemWithError", "PyDict_New", "PyDict_SetItem"),
    *("PyTuple_Size", "PyTuple_GetItem", "PyTuple_New", "PyTuple_SetItem"),
    *("Py_IncRef", "Py_DecRef", "PyErr_Clear", "PyObject_CallObject", "PyObject_CallOneArg"),
    *("PyEval_SaveThread", "PyEval_RestoreThread"),
)
NUMPY = {"PyArray_NewFromDescr": 94, "PyArray_SetBaseObject": 282}
"""Functions, by their places in numpy's table of its C interface."""

ARRAY = {"data": 2, "rank": 3, "shape": 4, "dtype": 7, "flags": 8}
"""Words of array objects."""

CONTIGUOUS, ALIGNED, WRITABLE = 0x1, 0x100, 0x400
"""Bits of arrays' flags."""


def _is_laid_out() -> bool:
    """Whether array objects are as we know them: tried with one that differs in every field."""
    probe = np.zeros((3, 5), np.int16)[:, :1]
    words = (ctypes.c_int64 * 9).from_address(id(probe))
    shape = (ctypes.c_int64 * 2).from_address(words[ARRAY["shape"]])
    flags = ALIGNED | WRITABLE
    mask = flags | CONTIGUOUS
    return (
        words[1] == id(np.ndarray)
        and words[ARRAY["data"]] == probe.ctypes.data
        and words[ARRAY["rank"]] & 0xFFFFFFFF == 2
        and tuple(shape) == (3, 1)
        and words[ARRAY["dtype"]] == id(probe.dtype)
        and words[ARRAY["flags"]] & mask == flags
    )


_BYTES = np.dtype(np.uint8)


@cache
def addresses() -> dict[str, int] | None:
    """
    Addresses of what the code calls and compares with, by name; `None` where the short way is not to be had.

    Python without the lock runs threads at once in what the lock is to guard; other Pythons have other objects.
    """
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    try:
        if object.__basicsize__ != 16 or not _is_laid_out():
            return None
        found = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in PYTHON}
        core = "_core" if int(np.__version__.split(".")[0]) > 1 else "core"
        capsule = import_module(f"numpy.{core}._multiarray_umath")._ARRAY_API
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        table = (ctypes.c_void_p * (1 + max(NUMPY.values()))).from_address(get(capsule, None))
    except (AttributeError, ImportError, ValueError):
        return None
    found |= {name: table[place] or 0 for name, place in NUMPY.items()}
    found |= {"dict": id(dict), "tuple": id(tuple), "array": id(np.ndarray), "none": id(None), "bytes": id(_BYTES)}
    return found
