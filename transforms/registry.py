"""How a table names a pass without importing it: the module, the class and one line of help, loaded on first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass


@dataclass(frozen=True)
class PassEntry:
    """One row of a pass table."""

    module: str
    """Module that holds the pass, such as `aicc.transforms.graph_fuse_bias`."""

    cls: str
    """Name of the pass class in that module."""

    summary: str
    """One line of help, lower case, without a final full stop."""


def load_pass(entry: PassEntry) -> type[ModulePass]:
    """
    The pass class that `entry` names.

    Raises:
        ImportError: if the module is missing or does not hold the class.
    """
    from importlib import import_module

    module = import_module(entry.module)
    try:
        return getattr(module, entry.cls)
    except AttributeError:
        raise ImportError(f"module {entry.module} has no class {entry.cls}", name=entry.module) from None
