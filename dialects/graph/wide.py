"""Arithmetic on f16 and bf16 goes through f32, in the meaning of ops and in what they decompose to."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.dtypes import BFLOAT16, accumulator_type
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of


def accumulator_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """f32 for f16 and bf16, else `dtype` itself."""
    return np.dtype(np.float32) if dtype in (np.dtype(np.float16), BFLOAT16) else dtype


def widened(b: OpBuilder, value: SSAValue) -> SSAValue:
    """`value` in the type that sums are kept in."""
    return converted(b, value, accumulator_type(element_type_of(value)))


def converted(b: OpBuilder, value: SSAValue, element_type: Attribute) -> SSAValue:
    """`value` in `element_type`; no op if it is that already."""
    return value if element_type_of(value) == element_type else b.add(CastOp(value, element_type))
