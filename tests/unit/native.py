"""
Runs functions of the `loops` level natively, for tests.

    run = native(module_or_text, "name")     # compiled for this machine
    run(7, x, out)                           # indices as int, memrefs as arrays, written in place

Arrays must be C-contiguous and of the memref's element type (booleans as numpy bool, bf16 as ml_dtypes.bfloat16).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
)

from aicc.backends.llvm.objects import emit_object
from aicc.backends.llvm.targets import host_target
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.lowering.loops_to_llvm import lower_module
from aicc.lowering.parse import parse_module
from aicc.runtime.parallel import shim_text
from aicc.runtime.program import link
from aicc.transforms.verify import verify


def load_object(image: bytes, *names: str) -> dict[str, int]:
    """Addresses of functions in an object, with the runtime's `aicc_parallel` linked in."""
    code = link([image, emit_object(shim_text(), host_target())], names)
    _code.append(code)
    return {name: code.address(name) for name in names}


_code: list[Any] = []
"""Code lives as long as what linked it."""


def _c_type(type_: Any) -> Any:
    match type_:
        case IndexType():
            return ctypes.c_int64
        case MemRefType():
            return ctypes.c_void_p
        case Float32Type():
            return ctypes.c_float
        case Float64Type():
            return ctypes.c_double
        case IntegerType(width=width):
            return {1: ctypes.c_bool, 8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32}.get(
                width.data, ctypes.c_int64
            )
        case _:
            raise NotImplementedError(f"argument of type {type_}")


def element_dtype(type_: Any) -> np.dtype[Any]:
    """The numpy dtype of a memref's elements."""
    text = str(type_)
    named = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "index": "int64"}
    if text == "bf16":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(named.get(text, f"int{text[1:]}"))


def native(source: ModuleOp | str, name: str, *, opt: int = 2, threads: int = 1) -> Callable[..., Any]:
    """The function `name` of a loops-level module (which is left as it is), compiled."""
    module = parse_module(source) if isinstance(source, str) else source.clone()
    [op] = [op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == name]
    inputs = list(op.function_type.inputs.data)
    outputs = list(op.function_type.outputs.data)
    lower_module(module, host_target().facts().masked_bytes)
    verify(module)
    address = load_object(emit_object(module_to_llvm_text(module), host_target(), opt), name)[name]
    result = _c_type(outputs[0]) if outputs else None
    call = ctypes.CFUNCTYPE(result, *map(_c_type, inputs), ctypes.c_int64)(address)

    def run(*arguments: Any) -> Any:
        assert len(arguments) == len(inputs), f"{name} takes {len(inputs)} arguments, got {len(arguments)}"
        converted: list[Any] = []
        for argument, type_ in zip(arguments, inputs, strict=True):
            if isinstance(type_, MemRefType):
                assert isinstance(argument, np.ndarray) and argument.flags.c_contiguous
                expected = element_dtype(type_.element_type)
                assert argument.dtype.itemsize == expected.itemsize, f"{argument.dtype}, expected {expected}"
                converted.append(argument.ctypes.data)
            else:
                converted.append(argument)
        return call(*converted, threads)

    return run
