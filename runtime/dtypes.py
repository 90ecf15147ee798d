"""Names of element types in a program's signature, and the numpy types they stand for."""

from typing import Any

import ml_dtypes
import numpy as np

_SPECIAL: dict[str, np.dtype[Any]] = {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "bool": np.dtype(np.bool_),
}


def dtype_of(name: str) -> np.dtype[Any]:
    """The numpy type of a signature's dtype name: numpy's own names, `bfloat16`, `bool`."""
    return _SPECIAL[name] if name in _SPECIAL else np.dtype(name)
