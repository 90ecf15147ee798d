"""
The one map between element types of the IR and numpy's dtypes.

Signless and `si` integers are signed, `ui` are unsigned, `i1` is bool, `index` is int64, `bf16` is `ml_dtypes.bfloat16`.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)

_FLOATS: dict[Attribute, np.dtype[Any]] = {
    f64: np.dtype(np.float64),
    f32: np.dtype(np.float32),
    f16: np.dtype(np.float16),
    bf16: BFLOAT16,
}
_SIGNED = {bits: np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)}
_UNSIGNED = {bits: np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)}
_BOOL = np.dtype(np.bool_)
_FROM_NUMPY: dict[np.dtype[Any], Attribute] = {
    _BOOL: i1,
    **{dtype: element_type for element_type, dtype in _FLOATS.items()},
    **{dtype: IntegerType(bits) for bits, dtype in _SIGNED.items()},
    **{dtype: IntegerType(bits, Signedness.UNSIGNED) for bits, dtype in _UNSIGNED.items()},
}


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """
    The dtype of arrays with this element type.

    Raises:
        VerifyException: if no tensor can have it.
    """
    found = _FLOATS.get(element_type)
    if found is None:
        match element_type:
            case IntegerType(width=width) if element_type == i1:
                found = _BOOL
            case IntegerType(width=width):
                found = (_UNSIGNED if is_unsigned(element_type) else _SIGNED).get(width.data)
            case IndexType():
                found = _SIGNED[64]
            case _:
                pass
    if found is None:
        raise VerifyException(
            f"element type {element_type} is not supported, expected one of f64, f32, f16, bf16, i1, i8, i16, i32, i64, "
            "ui8, ui16, ui32, ui64, index"
        )
    return found


def element_type(dtype: np.dtype[Any]) -> Attribute:
    """
    The element type of arrays of `dtype`: signless for signed integers.

    Raises:
        TypeError: if there is none, such as for complex numbers or strings.
    """
    found = _FROM_NUMPY.get(np.dtype(dtype).newbyteorder("="))
    if found is None:
        raise TypeError(f"dtype {dtype} is not supported, expected bool, an integer, or a float of 16 to 64 bits")
    return found


def is_float(element_type: Attribute) -> bool:
    """Whether it is f64, f32, f16 or bf16."""
    return isinstance(element_type, Float32Type | Float64Type | Float16Type | BFloat16Type)


def is_bool(element_type: Attribute) -> bool:
    """Whether it is i1, in any signedness."""
    return isinstance(element_type, IntegerType) and element_type.width.data == 1


def is_integer(element_type: Attribute) -> bool:
    """Whether it is an integer of more than one bit, or `index`."""
    return isinstance(element_type, IndexType) or (isinstance(element_type, IntegerType) and not is_bool(element_type))


def is_unsigned(element_type: Attribute) -> bool:
    """Whether it is one of ui8 .. ui64, or i1, whose true is 1 and not -1."""
    return isinstance(element_type, IntegerType) and (
        element_type.width.data == 1 or element_type.signedness.data is Signedness.UNSIGNED
    )


def signless(element_type: Attribute) -> Attribute:
    """The type of a scalar of this element type in `arith` and below, where signedness is in the ops."""
    if isinstance(element_type, IntegerType) and element_type.signedness.data is not Signedness.SIGNLESS:
        return IntegerType(element_type.width.data)
    return element_type


def bit_width(element_type: Attribute) -> int:
    """Bits of one element in a scalar; `i1` is 1 and `index` is 64."""
    match element_type:
        case IntegerType():
            return element_type.width.data
        case Float32Type() | Float64Type() | Float16Type() | BFloat16Type():
            return element_type.bitwidth
        case _:
            return 64


def accumulator_type(element_type: Attribute) -> Attribute:
    """The type in which sums of this type are kept: f32 for f16 and bf16, else the type itself."""
    return f32 if isinstance(element_type, Float16Type | BFloat16Type) else element_type
