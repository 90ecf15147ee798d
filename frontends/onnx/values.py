"""
The tensors of a model while it is imported.

Beside (or before) its SSA value, a tensor may have a known content: an array of a numeric dtype for a constant, or an
object array of sizes (`Dim`) for what the model computes from the shapes of its inputs. Arithmetic on known contents
makes no ops; an SSA value is made of them only where an op reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import Dim, SymExpr, dims_of, tensor_type
from aicc.dialects.graph.dtypes import element_type

AnyTensor: TypeAlias = TensorType[Any]


@dataclass(slots=True, eq=False)
class Value:
    """A tensor of the model: an SSA value, a known content, or both."""

    type: AnyTensor
    name: str
    ssa: SSAValue | None = None
    content: np.ndarray | None = None
    """Numeric, or of dtype object: `Dim` (also `bool`) elements."""

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The sizes."""
        return dims_of(self.type)

    @property
    def symbolic(self) -> bool:
        """Whether the content is known only in terms of symbols."""
        return self.content is not None and self.content.dtype == object


@dataclass(frozen=True, slots=True, eq=False)
class TensorList:
    """A sequence of the model: its tensors are known one by one while it is imported, so no run has one."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NoValue:
    """An optional of the model that has no element; one that has is its element."""


AnyValue: TypeAlias = "Value | TensorList | NoValue"


def kind_text(value: AnyValue) -> str:
    """What a value is, for errors."""
    match value:
        case TensorList():
            return f"a sequence of {len(value.items)} tensors"
        case NoValue():
            return "an optional without an element"
        case _:
            return "a tensor"


def tensors_of(value: AnyValue) -> Sequence[Value]:
    """The tensors that a value is made of."""
    match value:
        case TensorList():
            return value.items
        case NoValue():
            return ()
        case _:
            return (value,)


def constant_value(array: np.ndarray, name: str) -> Value:
    """A tensor of known numeric content."""
    return Value(tensor_type(array.shape, element_type(array.dtype)), name, content=array)


def computed_value(ssa: SSAValue, name: str = "") -> Value:
    """A tensor that ops compute."""
    return Value(ssa.type, name, ssa)  # pyright: ignore[reportArgumentType]


def sizes_value(sizes: np.ndarray, dtype: np.dtype[np.generic], name: str) -> Value:
    """A tensor whose elements are the given sizes (an object array); a numeric constant if all are integers."""
    if not any(isinstance(size, SymExpr) for size in sizes.flat):
        return constant_value(sizes.astype(dtype), name)
    return Value(tensor_type(sizes.shape, element_type(dtype)), name, content=sizes)


def object_array(items: list[Dim], shape: tuple[int, ...] | None = None) -> np.ndarray:
    """An array of sizes; numpy would look into them if asked to convert a list."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array if shape is None else array.reshape(shape)
