"""LLVM IR text of types, constants and attributes of the `llvm` dialect."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.hints import isa

_PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")


class WriterError(DiagnosticException):
    """The module holds something that has no LLVM IR text."""


def quoted(data: bytes) -> str:
    """`data` as the inside of an LLVM string literal."""
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)


def symbol(name: str) -> str:
    """The global `name` as LLVM spells it."""
    return f"@{name}" if _PLAIN_NAME.fullmatch(name) else f'@"{quoted(name.encode())}"'


def type_text(type_: Attribute) -> str:
    """
    LLVM's spelling of a type.

    Raises:
        WriterError: if the type is none of LLVM's.
    """
    match type_:
        case IntegerType():
            return f"i{type_.width.data}"
        case Float32Type():
            return "float"
        case Float64Type():
            return "double"
        case Float16Type():
            return "half"
        case BFloat16Type():
            return "bfloat"
        case llvm.LLVMPointerType(addr_space=IntAttr(data=space)) if space:
            return f"ptr addrspace({space})"
        case llvm.LLVMPointerType():
            return "ptr"
        case llvm.LLVMVoidType():
            return "void"
        case llvm.LLVMArrayType(size=size, type=element):
            return f"[{size.data} x {type_text(element)}]"
        case llvm.LLVMStructType(types=types):
            return f"{{ {', '.join(map(type_text, types))} }}" if types.data else "{}"
        case llvm.LLVMFunctionType(inputs=inputs, output=output):
            rest = ["..."] if type_.is_variadic else []
            return f"{type_text(output)} ({', '.join([*map(type_text, inputs), *rest])})"
        case VectorType():
            vector = type_
            shape = vector.get_shape()
            if len(shape) == 1 and not vector.get_num_scalable_dims():
                return f"<{shape[0]} x {type_text(vector.element_type)}>"
        case _:
            pass
    raise WriterError(f"type {type_} has no LLVM form; expected a type of the llvm dialect")


def mangled(type_: Attribute) -> str:
    """The type as part of the name of an overloaded intrinsic, such as `v16f32`."""
    match type_:
        case VectorType():
            vector = type_
            return f"v{vector.get_shape()[0]}{mangled(vector.element_type)}"
        case llvm.LLVMPointerType(addr_space=IntAttr(data=space)):
            return f"p{space}"
        case llvm.LLVMPointerType():
            return "p0"
        case IntegerType():
            return f"i{type_.width.data}"
        case _:
            return str(type_)


def float_text(value: float, type_: Attribute) -> str:
    """A float constant by its bits, so that every value, infinity and NaN is exact."""
    match type_:
        case Float64Type():
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        case Float32Type():
            # LLVM writes a float as the double of the same value.
            return bits_text(int(np.float32(value).view(np.uint32)), type_)
        case Float16Type():
            return bits_text(int(np.float16(value).view(np.uint16)), type_)
        case BFloat16Type():
            import ml_dtypes

            return bits_text(int(np.asarray(value, ml_dtypes.bfloat16).view(np.uint16)), type_)
        case _:
            raise WriterError(f"constant of type {type_}; expected f16, bf16, f32 or f64")


def bits_text(bits: int, type_: Attribute) -> str:
    """The float constant of these bits."""
    match type_:
        case Float32Type():
            sign, exponent, mantissa = bits >> 31 << 63, bits >> 23 & 0xFF, bits & 0x7FFFFF
            if exponent == 0xFF:  # infinity and NaN with its payload
                return f"0x{sign | 0x7FF << 52 | mantissa << 29:016X}"
            value = struct.unpack("<f", struct.pack("<I", bits))[0]
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        case Float64Type():
            return f"0x{bits:016X}"
        case Float16Type():
            return f"0xH{bits:04X}"
        case BFloat16Type():
            return f"0xR{bits:04X}"
        case _:
            raise WriterError(f"constant of type {type_}; expected f16, bf16, f32 or f64")


def _element_texts(dense: DenseIntOrFPElementsAttr) -> list[str]:
    """The elements as LLVM constants without their types; one element for a splat."""
    element = cast(Attribute, cast(Any, dense.type).element_type)
    raw = dense.data.data
    match element:
        case IntegerType():
            if element == i1:
                values = [bool(value) for value in dense.get_values()]
                return ["true" if value else "false" for value in values]
            return [str(int(cast(int, value))) for value in dense.get_values()]
        case Float32Type():
            return [bits_text(int(bits), element) for bits in np.frombuffer(raw, "<u4")]
        case Float64Type():
            return [bits_text(int(bits), element) for bits in np.frombuffer(raw, "<u8")]
        case Float16Type() | BFloat16Type():
            return [bits_text(int(bits), element) for bits in np.frombuffer(raw, "<u2")]
        case _:
            raise WriterError(f"dense constant of {element}; expected integers or floats")


def _nested(texts: Sequence[str], type_: Attribute) -> str:
    """The constant of a vector or (nested) array type from the texts of its elements in row-major order."""
    if isinstance(type_, VectorType):
        vector = cast(VectorType[Attribute], type_)
        element = type_text(vector.element_type)
        return f"<{', '.join(f'{element} {text}' for text in texts)}>"
    if not isinstance(type_, llvm.LLVMArrayType):
        return texts[0]
    count = type_.size.data
    part = len(texts) // count if count else 0
    inner = type_text(type_.type)
    parts = (_nested(texts[i * part : (i + 1) * part], type_.type) for i in range(count))
    return f"[{', '.join(f'{inner} {text}' for text in parts)}]"


def constant_text(value: Attribute, type_: Attribute) -> str:
    """
    The constant `value` of the LLVM type `type_`, without the type.

    Raises:
        WriterError: for an attribute that stands for no constant.
    """
    match value:
        case IntegerAttr():
            number = value.value.data
            if type_ == i1:
                return "true" if number else "false"
            return str(number)
        case FloatAttr():
            return float_text(value.value.data, type_)
        case StringAttr(data=text):
            return f'c"{quoted(text.encode())}"'
        case DenseIntOrFPElementsAttr():
            texts = _element_texts(value)
            if not texts:
                return "zeroinitializer"
            if isa(type_, VectorType) and len(set(texts)) == 1:
                return f"splat ({type_text(type_.element_type)} {texts[0]})"
            return _nested(texts, type_)
        case ArrayAttr():
            fields = type_.types.data if isinstance(type_, llvm.LLVMStructType) else ()
            items = cast(Sequence[Attribute], value.data)
            parts = (
                f"{type_text(field)} {constant_text(item, field)}" for field, item in zip(fields, items, strict=True)
            )
            return f"{{ {', '.join(parts)} }}"
        case _:
            raise WriterError(f"constant {value} has no LLVM form")
