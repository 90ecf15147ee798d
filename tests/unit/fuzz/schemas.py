"""Which element types an operator takes, by the standard's own table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from onnx import defs

from tests.unit.fuzz.builder import BF16, Skip

_DTYPES = {
    **{f"tensor({name})": np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")},
    "tensor(uint64)": np.dtype(np.uint64),
    "tensor(bool)": np.dtype(np.bool_),
    "tensor(bfloat16)": BF16,
    "tensor(float16)": np.dtype(np.float16),
    "tensor(float)": np.dtype(np.float32),
    "tensor(double)": np.dtype(np.float64),
}


@cache
def allowed(op: str, opset: int, position: int = 0, domain: str = "") -> tuple[np.dtype, ...]:
    """The element types of an input; none if the operator set has no such operator or input."""
    try:
        schema = defs.get_schema(op, opset, domain)
    except defs.SchemaError:
        return ()
    inputs = schema.inputs
    if not inputs:
        return ()
    formal = inputs[min(position, len(inputs) - 1)]
    return tuple(sorted({_DTYPES[name] for name in formal.types if name in _DTYPES}, key=str))


def common(options: Sequence[np.dtype], op: str, opset: int, position: int = 0) -> list[np.dtype]:
    """Those of `options`, as often as they stand there, that the operator takes."""
    known = set(allowed(op, opset, position))
    found = [dtype for dtype in options if dtype in known]
    if not found:
        raise Skip(f"{op} of opset {opset} takes none of the types")
    return found
