"""
The xDSL context that every tool of ours works in: all dialects of xDSL, of plug-ins and of our own, loaded when used.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes
from xdsl.universe import Universe

from aicc.dialects.table import DIALECTS, OVERRIDES, load_dialect
from aicc.lowering.table import PASSES as LOWERING_PASSES
from aicc.transforms.registry import PassEntry, load_pass
from aicc.transforms.table import PASSES as TRANSFORM_PASSES

OWN_PASSES: dict[str, PassEntry] = TRANSFORM_PASSES | LOWERING_PASSES
"""Our passes, name -> table row."""

_DIALECT = re.compile(r"(?:^|[^\w.])([A-Za-z_]\w*)\.[A-Za-z_]")
_GROUP = "xdsl.universe"
_OWN_UNIVERSES = frozenset({"aicc", "xdsl"})
"""Entry points of our own tables and of xDSL itself, which are read without going through the entry point."""


@dataclass(frozen=True)
class Registry:
    """Dialects and passes by name, with the functions that load them."""

    dialects: dict[str, Callable[[], Dialect]] = field(default_factory=dict[str, Callable[[], Dialect]])
    passes: dict[str, Callable[[], type[ModulePass]]] = field(default_factory=dict[str, Callable[[], type[ModulePass]]])
    origins: dict[str, str] = field(default_factory=dict[str, str])
    """Dialect name -> who brings it: `xdsl`, `aicc` or the plug-in's name."""


@cache
def registry() -> Registry:
    """
    Everything this installation knows: xDSL's, then plug-ins' (entry points `xdsl.universe`), then ours.

    A plug-in that cannot be imported, or that repeats a name, is left out (for a repeated name: that name) with a
    warning on standard error, so that a broken one does not take the tool down.
    """
    found = Registry(get_all_dialects(), get_all_passes())
    found.origins.update(dict.fromkeys(found.dialects, "xdsl"))
    own = DIALECTS | OVERRIDES
    for entry in sorted(entry_points(group=_GROUP), key=lambda entry: entry.name):
        if entry.name not in _OWN_UNIVERSES:
            _add_plug_in(found, entry, own)
    for name, target in own.items():
        found.dialects[name] = partial(load_dialect, target)
        found.origins[name] = "aicc"
    for name, row in OWN_PASSES.items():
        found.passes[name] = partial(load_pass, row)
    return found


def _add_plug_in(found: Registry, entry: EntryPoint, own: dict[str, str]) -> None:
    try:
        universe = entry.load()
    except Exception as error:
        _warn(f"plug-in '{entry.name}' left out: {type(error).__name__}: {error}")
        return
    if not isinstance(universe, Universe):
        _warn(f"plug-in '{entry.name}' left out: {entry.value} is a {type(universe).__name__}, expected a Universe")
        return
    for name, dialect in universe.all_dialects.items():
        if name in found.dialects or name in own:
            _warn(f"dialect '{name}' of plug-in '{entry.name}' left out: the name is taken")
            continue
        found.dialects[name] = dialect
        found.origins[name] = entry.name
    for name, module_pass in universe.all_passes.items():
        if name in found.passes or name in OWN_PASSES:
            _warn(f"pass '{name}' of plug-in '{entry.name}' left out: the name is taken")
            continue
        found.passes[name] = module_pass


def _warn(text: str) -> None:
    print(f"aicc: warning: {text}", file=sys.stderr)


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A fresh context with all dialects registered; each is imported when an op, type or attribute of it is parsed."""
    context = Context(allow_unregistered=allow_unregistered)
    for name, load in registry().dialects.items():
        context.register_dialect(name, load)
    return context


def load_dialects(context: Context, text: str) -> None:
    """Imports the dialects that `text` may have ops, types or attributes of, as its parser would one by one."""
    for name in sorted({match[1] for match in _DIALECT.finditer(text)}):
        if name in registry().dialects:
            context.get_optional_dialect(name)
