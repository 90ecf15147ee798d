"""
The one map between element types of the IR and numpy's dtypes.

Signless and `si` integers are signed, `ui` are unsigned, `i1` is bool, `index` is int64, `bf16` is
`ml_dtypes.bfloat16`.

*Narrow* types (floats of 8 and 4 bits, integers of 4 and 2) are those of `ml_dtypes` too: each element in a byte of its
own. They can be moved and converted, not computed with; scalars of them are the byte, an i8.
"""

from __future__ import annotations

from typing import Any, TypeGuard, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
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
    i8,
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
_NARROW_FLOATS: dict[Attribute, np.dtype[Any]] = {
    Float8E4M3FNType(): np.dtype(ml_dtypes.float8_e4m3fn),
    Float8E4M3FNUZType(): np.dtype(ml_dtypes.float8_e4m3fnuz),
    Float8E5M2Type(): np.dtype(ml_dtypes.float8_e5m2),
    Float8E5M2FNUZType(): np.dtype(ml_dtypes.float8_e5m2fnuz),
    Float8E8M0FNUType(): np.dtype(ml_dtypes.float8_e8m0fnu),
    Float4E2M1FNType(): np.dtype(ml_dtypes.float4_e2m1fn),
}
_NARROW_INTEGERS: dict[Attribute, np.dtype[Any]] = {
    IntegerType(4): np.dtype(ml_dtypes.int4),
    IntegerType(2): np.dtype(ml_dtypes.int2),
    IntegerType(4, Signedness.UNSIGNED): np.dtype(ml_dtypes.uint4),
    IntegerType(2, Signedness.UNSIGNED): np.dtype(ml_dtypes.uint2),
}
_NARROW = _NARROW_FLOATS | _NARROW_INTEGERS
_FROM_NUMPY: dict[np.dtype[Any], Attribute] = {
    _BOOL: i1,
    **{dtype: element_type for element_type, dtype in _FLOATS.items()},
    **{dtype: IntegerType(bits) for bits, dtype in _SIGNED.items()},
    **{dtype: IntegerType(bits, Signedness.UNSIGNED) for bits, dtype in _UNSIGNED.items()},
    **{dtype: element_type for element_type, dtype in _NARROW.items()},
}
_NARROW_DTYPES = frozenset(_NARROW.values())


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """
    The dtype of arrays with this element type.

    Raises:
        VerifyException: if no tensor can have it.
    """
    found = _FLOATS.get(element_type) or _NARROW.get(element_type)
    if found is None and (integer := as_integer(element_type)) is not None:
        by_width = _UNSIGNED if is_unsigned(element_type) else _SIGNED
        found = _BOOL if integer == i1 else by_width.get(integer.width.data)
    elif isinstance(element_type, IndexType):
        found = _SIGNED[64]
    if found is None:
        raise VerifyException(
            f"element type {element_type} is not supported, expected f64, f32, f16, bf16, i1, index, i8, i16, i32, "
            "i64, or ui8, ui16, ui32, ui64 (or to store, f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f8E8M0FNU, "
            "f4E2M1FN, i4, ui4, i2, ui2)"
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
        raise TypeError(f"dtype {dtype} is not supported, expected bool, an integer, or a float")
    return found


def as_integer(element_type: Attribute) -> IntegerType | None:
    """The type itself if it is a builtin integer type, which `index` is not."""
    return cast(IntegerType, element_type) if isinstance(element_type, IntegerType) else None


def is_float(element_type: Attribute) -> TypeGuard[AnyFloat]:
    """Whether it is f64, f32, f16 or bf16."""
    return isinstance(element_type, Float32Type | Float64Type | Float16Type | BFloat16Type)


def is_bool(element_type: Attribute) -> bool:
    """Whether it is an integer of one bit."""
    integer = as_integer(element_type)
    return integer is not None and integer.width.data == 1


def is_integer(element_type: Attribute) -> bool:
    """Whether it is an integer of 8 bits or more, or `index`."""
    integer = as_integer(element_type)
    return isinstance(element_type, IndexType) or (integer is not None and integer.width.data >= 8)


def is_narrow(element_type: Attribute) -> bool:
    """Whether its elements can be moved and converted only."""
    return element_type in _NARROW


def is_narrow_float(element_type: Attribute) -> bool:
    """Whether it is a float of 8 or 4 bits."""
    return element_type in _NARROW_FLOATS


def as_bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bytes of an array of a narrow type, as int8; any other array as it is."""
    return array.view(np.int8) if array.dtype in _NARROW_DTYPES else array


def is_unsigned(element_type: Attribute) -> bool:
    """Whether it is one of ui8 .. ui64, or i1, whose true is 1 and not -1."""
    integer = as_integer(element_type)
    return integer is not None and (integer.width.data == 1 or integer.signedness.data is Signedness.UNSIGNED)


def signless(element_type: Attribute) -> Attribute:
    """The type of a scalar of this element type in `arith` and below, where signedness is in the ops."""
    if element_type in _NARROW:
        return i8
    integer = as_integer(element_type)
    if integer is not None and integer.signedness.data is not Signedness.SIGNLESS:
        return IntegerType(integer.width.data)
    return element_type


def bit_width(element_type: Attribute) -> int:
    """Bits of one element in a scalar; `i1` is 1 and `index` is 64."""
    if (integer := as_integer(element_type)) is not None:
        return integer.width.data
    return element_type.bitwidth if is_float(element_type) else 64


def accumulator_type(element_type: Attribute) -> Attribute:
    """The type in which sums of this type are kept: f32 for f16 and bf16, else the type itself."""
    return f32 if isinstance(element_type, Float16Type | BFloat16Type) else element_type
