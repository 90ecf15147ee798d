"""Values on the command line of `aicc`; needs nothing of the compiler."""

from __future__ import annotations

from collections.abc import Sequence


class UsageError(Exception):
    """A command line that cannot be used."""


def named_values(texts: Sequence[str], flag: str) -> dict[str, str]:
    """
    `NAME=VALUE` texts as a table.

    Raises:
        UsageError: one is of another form, or a name is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign or not name:
            raise UsageError(f"{flag} {text}: expected NAME=VALUE")
        if name in found:
            raise UsageError(f"{flag} {text}: '{name}' is given twice")
        found[name] = value
    return found
