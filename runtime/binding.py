"""
Derives the values of a program's symbols from the arrays of one call, and refuses arrays that do not fit.

Dimensions that are a symbol, or linear in one, define it; every other dynamic dimension and every check is verified
once all symbols are known. Negative symbols cannot occur and are refused.
"""

from collections.abc import Sequence

import numpy as np

from aicc.runtime.adopt import adopt
from aicc.runtime.errors import InputError, ProgramError
from aicc.runtime.expressions import compile_expression, compile_expressions, linear_form, symbols_in
from aicc.runtime.signature import Check, Signature, TensorInfo


def _shape_text(shape: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, shape))}]"


class ShapeBinder:
    """Shape checks and symbol solving of one signature, compiled once."""

    def __init__(self, signature: Signature) -> None:
        self._inputs = signature.inputs
        self._symbols = signature.symbols
        # (symbol position, input position, axis, a, b): size == a*symbol + b
        self._defining: list[tuple[int, int, int, int, int]] = []
        # (input position, axis, text) verified after binding
        self._verified: list[tuple[int, int, str]] = []
        self._static: list[tuple[int, tuple[int | None, ...]]] = []
        found: dict[str, tuple[int, int]] = {}
        for position, info in enumerate(self._inputs):
            self._static.append((len(info.shape), tuple(d if isinstance(d, int) else None for d in info.shape)))
            for axis, dim in enumerate(info.shape):
                if isinstance(dim, int):
                    continue
                form = linear_form(dim, self._symbols)
                if form is not None and form[0] not in found:
                    name, a, b = form
                    found[name] = (position, axis)
                    self._defining.append((self._symbols.index(name), position, axis, a, b))
                    if dim in (name, f"`{name}`"):
                        continue
                self._verified.append((position, axis, dim))
        self._source = found
        missing = [name for name in self._symbols if name not in found]
        if missing:
            raise ProgramError(f"no input defines the symbol {', '.join(missing)}")
        self._expected = compile_expressions([text for _, _, text in self._verified], self._symbols)
        self._checks = [
            (compile_expression(c.lhs, self._symbols), compile_expression(c.rhs, self._symbols), c)
            for c in signature.checks
        ]

    def _refuse(self, info: TensorInfo, array: np.ndarray, reason: str) -> InputError:
        return InputError(
            f"input '{info.name}' has shape {_shape_text(array.shape)}, expected {_shape_text(info.shape)}: "
            f"'{info.name}' {reason}"
        )

    def check_array(self, position: int, given: object) -> np.ndarray:
        """
        The array that `given` is or shows, if dtype, rank and static sizes fit; a C-contiguous copy only where layout
        or byte order ask for it.
        """
        info = self._inputs[position]
        array = adopt(f"input '{info.name}'", given)
        if array.dtype != info.dtype and array.dtype.newbyteorder("=") != info.dtype:
            raise InputError(f"input '{info.name}' has dtype {array.dtype}, expected {info.dtype}")
        rank, static = self._static[position]
        if array.ndim != rank:
            raise self._refuse(info, array, f"has rank {array.ndim}, expected {rank}")
        for axis, (found, expected) in enumerate(zip(array.shape, static, strict=True)):
            if expected is not None and found != expected:
                raise self._refuse(info, array, f"dim {axis} is {found}, expected {expected}")
        if not array.flags.c_contiguous or not array.flags.aligned:
            array = np.array(array, order="C")
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))

    def solve(self, arrays: Sequence[np.ndarray]) -> list[int]:
        """The value of every symbol, in the signature's order, by the first size that tells it."""
        values = [0] * len(self._symbols)
        for symbol, position, axis, a, b in self._defining:
            size = arrays[position].shape[axis]
            value, rest = divmod(size - b, a)
            if rest or value < 0:
                info = self._inputs[position]
                raise self._refuse(
                    info,
                    arrays[position],
                    f"dim {axis} is {size}, which is {info.shape[axis]} for no {self._symbols[symbol]}",
                )
            values[symbol] = value
        return values

    def bind(self, arrays: Sequence[np.ndarray]) -> list[int]:
        """The value of every symbol, in the signature's order; all sizes must go with them."""
        values = self.solve(arrays)
        if self._verified:
            for (position, axis, text), expected in zip(self._verified, self._expected(values), strict=True):
                found = arrays[position].shape[axis]
                if found != expected:
                    raise self._refuse(
                        self._inputs[position],
                        arrays[position],
                        f"dim {axis} is {found}, but {self._said(text, expected, values)}",
                    )
        for lhs, rhs, check in self._checks:
            if (left := lhs(values)) != (right := rhs(values)):
                raise InputError(f"{check.text}: {self._relation(check, left, right, values)}")
        return values

    def _relation(self, check: Check, left: int, right: int, values: Sequence[int]) -> str:
        """The two sides of a check that failed."""
        if check.rhs.isdecimal():
            return f"{self._said(check.lhs, left, values)}, expected {right}"
        if check.lhs.isdecimal():
            return f"{self._said(check.rhs, right, values)}, expected {left}"
        return f"{self._said(check.lhs, left, values)}, but {self._said(check.rhs, right, values)}"

    def _said(self, text: str, value: int, values: Sequence[int]) -> str:
        """The value of an expression, and which inputs its symbols were taken from."""
        parts: list[str] = []
        for name in symbols_in(text, self._symbols):
            position, axis = self._source[name]
            origin = f"from '{self._inputs[position].name}' dim {axis}"
            if text in (name, f"`{name}`"):
                return f"{text} is {value} {origin}"
            parts.append(f"{name} is {values[self._symbols.index(name)]} {origin}")
        because = f" ({', '.join(parts)})" if parts else ""
        return f"{text} is {value}{because}"
