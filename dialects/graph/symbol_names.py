"""Symbols of sizes, as a user names them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from xdsl.utils.exceptions import DiagnosticException


class UnknownSymbolError(DiagnosticException, ValueError):
    """A size is given for a symbol that the model's inputs do not have."""


def check_symbols(names: Iterable[str], known: Iterable[str]) -> None:
    """
    Checks that the model has all symbols of these names.

    Raises:
        UnknownSymbolError: it has not; lists those there are.
    """
    symbols = sorted(set(known))
    for name in names:
        if name not in symbols:
            near = difflib.get_close_matches(name, symbols, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            listed = ", ".join(f"'{symbol}'" for symbol in symbols) or "none"
            raise UnknownSymbolError(f"the model has no symbol '{name}'{hint} (its symbols: {listed})")
