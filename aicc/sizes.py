"""Sizes that a user gives for symbols of a model: `shapes` fixes some, `hints` asks for programs for others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from operator import index
from typing import Any, cast

MOST_VARIANTS = 16
"""Programs for known sizes that one model may have; each takes time to compile."""


def _size(what: str, value: object) -> int:
    try:
        size = index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise ValueError(f"{what} is {value!r}, expected an integer") from None
    if size < 0:
        raise ValueError(f"{what} is {size}, expected at least 0")
    return size


def _by_symbol(what: str, given: object) -> Mapping[str, object]:
    """What the user gave for symbols, which must be a mapping from their names; empty for None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} is {given!r}, expected a mapping from names of symbols to sizes")
    found = cast("Mapping[Any, object]", given)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{what}: {name!r} is no name of a symbol")
    return found


def fixed_sizes(shapes: Mapping[str, int] | None) -> dict[str, int]:
    """
    `shapes` as plain integers, sorted by name.

    Raises:
        TypeError: it is no mapping from names.
        ValueError: one is no size.
    """
    return {name: _size(f"shapes: '{name}'", size) for name, size in sorted(_by_symbol("shapes", shapes).items())}


def hinted_sizes(hints: Mapping[str, int | Sequence[int]] | None, fixed: Mapping[str, int]) -> dict[str, list[int]]:
    """
    `hints` as lists of integers, each once.

    Raises:
        TypeError: it is no mapping from names.
        ValueError: one is no size, or of a symbol that is fixed, or the combinations are too many.
    """
    found: dict[str, list[int]] = {}
    count = 1
    for name, given in _by_symbol("hints", hints).items():
        values = cast("Iterable[object]", given) if isinstance(given, Iterable) else [given]
        found[name] = list(dict.fromkeys(_size(f"hints: '{name}'", value) for value in values))
        if name in fixed:
            raise ValueError(f"hints: '{name}' is fixed at {fixed[name]} by shapes")
        count *= len(found[name])
    if count > MOST_VARIANTS:
        raise ValueError(f"hints ask for {count} combinations of sizes, expected at most {MOST_VARIANTS}")
    return found


def combinations(hints: Mapping[str, Sequence[int]], symbols: Sequence[str]) -> list[dict[str, int]]:
    """
    The sizes that programs are wanted for: each value of a symbol with each of the others'.

    Raises:
        UnknownSymbolError: a hint is for what is not in `symbols`.
    """
    if any(name not in symbols for name in hints):
        # Needs the compiler, which a model that was found in the cache has not brought.
        from aicc.dialects.graph.symbol_names import check_symbols

        check_symbols(hints, symbols)
    return [dict(zip(hints, values, strict=True)) for values in product(*hints.values())] if hints else []
