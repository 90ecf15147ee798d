"""
What `@main` takes and gives, as the outside world sees it: names, dtypes and symbolic shapes.

At the graph and tensor_ops levels it is read from the function's type and the attributes `aicc.name` of its arguments
and results. Lowering to loops writes it down as JSON in the attribute `aicc.signature`, which later levels keep.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from aicc.dialects.graph.dims import Dim, SymExpr, check_tensor_type, dims_of, symbols_of, tensor_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.transforms.diagnostics import LocatedPassError, fail

MAIN = "main"
NAME = "aicc.name"
CHECKS = "aicc.checks"
"""Attribute of main: what is checked at run time, a list of `[lhs, rhs, text]`."""

SIGNATURE = "aicc.signature"
VERSION = 1


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of the program."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | str, ...]
    """Sizes; symbolic ones as text of an expression."""

    def as_json(self) -> dict[str, Any]:
        """The form in `aicc.signature`: sizes are text, `i1` is `bool`."""
        return {"name": self.name, "dtype": self.dtype.name, "dims": [str(size) for size in self.shape]}


def main_function(module: ModuleOp) -> FuncOp:
    """
    The function `@main`.

    Raises:
        LocatedPassError: if there is none, or it has no body.
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == MAIN:
            if not function.body.blocks:
                fail(function, "@main is only declared, expected its body")
            return function
    found = ", ".join(f"@{function.sym_name.data}" for function in functions) or "no functions"
    raise LocatedPassError(f"the module has no function @main; found {found}", module.location)


def tensor_infos(main: FuncOp) -> tuple[list[TensorInfo], list[TensorInfo]]:
    """The inputs and outputs of a `@main` over tensors."""
    types = main.function_type
    inputs = _infos(main, types.inputs.data, main.arg_attrs, "input")
    return inputs, _infos(main, types.outputs.data, main.res_attrs, "output")


def _infos(main: FuncOp, types: Sequence[Attribute], attributes: Attribute | None, default: str) -> list[TensorInfo]:
    names = _names(attributes, len(types), default)
    infos: list[TensorInfo] = []
    for position, (name, type) in enumerate(zip(names, types, strict=True)):
        try:
            check_tensor_type(type)
            shape = tuple(size_text(dim) for dim in dims_of(type))
            infos.append(TensorInfo(name, numpy_dtype(tensor_of(type).element_type), shape))
        except Exception as error:
            fail(main, f"@main has {default} {position} of type {type}: {error}")
    return infos


def _names(attributes: Attribute | None, count: int, default: str) -> list[str]:
    """The names that `aicc.name` gives, made up where there is none."""
    given: list[str | None] = [None] * count
    if isa(attributes, ArrayAttr[DictionaryAttr]):
        for position, dictionary in enumerate(attributes.data[:count]):
            name = dictionary.data.get(NAME)
            given[position] = name.data if isinstance(name, StringAttr) else None
    return [f"{default}{position}" if name is None else name for position, name in enumerate(given)]


def size_text(dim: Dim) -> int | str:
    """A size as the signature has it."""
    return str(dim) if isinstance(dim, SymExpr) else dim


def run_time_checks(main: FuncOp) -> list[dict[str, str]]:
    """The checks listed in `aicc.checks`."""
    checks = main.attributes.get(CHECKS)
    if not isa(checks, ArrayAttr[ArrayAttr[StringAttr]]):
        return []
    rows = [[part.data for part in check] for check in checks]
    return [{"lhs": row[0], "rhs": row[1], "text": row[2]} for row in rows if len(row) == 3]


def signature_attr(main: FuncOp, symbols: Sequence[str]) -> StringAttr:
    """The value of `aicc.signature` for a `@main` over tensors, without the list of buffers."""
    inputs, outputs = tensor_infos(main)
    named = symbols_of(dim for type in main.function_type.outputs.data for dim in dims_of(type))
    content = {
        "version": VERSION,
        "symbols": list(symbols),
        "inputs": [info.as_json() for info in inputs],
        "outputs": [info.as_json() for info in outputs],
        "checks": run_time_checks(main),
    }
    if defined := [name for name in named if name not in symbols]:
        # The program says what they are, behind the values of the symbols.
        content["defined"] = defined
    return StringAttr(json.dumps(content))
