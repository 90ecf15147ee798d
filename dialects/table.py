"""The dialects of aicc: name -> `module:attribute` of the `Dialect`, imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect

DIALECTS: dict[str, str] = {
    "graph": "aicc.dialects.graph:Graph",
    "loops": "aicc.dialects.loops:Loops",
    "packed": "aicc.dialects.packed:Packed",
    "schedule": "aicc.dialects.schedule:Schedule",
    "tensor_ops": "aicc.dialects.tensor_ops:TensorOps",
}
"""Dialects of our own, seen by every tool that loads the `xdsl.universe` entry point."""

OVERRIDES: dict[str, str] = {
    "arith": "aicc.dialects.loops.lanewise:Arith",
    "llvm": "aicc.dialects.llvm:LLVM",
}
"""
Extended forms of upstream dialects, in the place of xDSL's in our own tools only: a second dialect of the same name in
the entry point would break plain `xdsl-opt`.
"""


def load_dialect(target: str) -> Dialect:
    """
    The dialect that a table's `module:attribute` text names.

    Raises:
        ImportError: if the module is missing or does not hold the attribute.
    """
    from importlib import import_module

    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except AttributeError:
        raise ImportError(f"module {module} has no dialect {attribute}", name=module) from None
