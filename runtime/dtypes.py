"""Names of element types in a program's signature, and the numpy types they stand for."""

from typing import Any

import ml_dtypes
import numpy as np

_SPECIAL: dict[str, np.dtype[Any]] = {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "bool": np.dtype(np.bool_),
    **{
        np.dtype(kind).name: np.dtype(kind)
        for kind in (
            ml_dtypes.float8_e4m3fn,
            ml_dtypes.float8_e4m3fnuz,
            ml_dtypes.float8_e5m2,
            ml_dtypes.float8_e5m2fnuz,
            ml_dtypes.float8_e8m0fnu,
            ml_dtypes.float4_e2m1fn,
            ml_dtypes.int4,
            ml_dtypes.int2,
            ml_dtypes.uint4,
            ml_dtypes.uint2,
        )
    },
}


def dtype_of(name: str) -> np.dtype[Any]:
    """The numpy type of a signature's dtype name: numpy's own names and those of `ml_dtypes`."""
    return _SPECIAL[name] if name in _SPECIAL else np.dtype(name)
