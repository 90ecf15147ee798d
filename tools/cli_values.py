"""Values on the command line of `aicc`; needs nothing of the compiler."""

from __future__ import annotations

import sys
from collections.abc import Sequence


class UsageError(Exception):
    """A command line that cannot be used."""


def given_model(model: str) -> str:
    """
    What a command takes for its model: the path as it is, or for `-` the text on standard input.

    Raises:
        UsageError: there is nothing on standard input.
    """
    if model != "-":
        return model
    text = sys.stdin.read()
    if not text.strip():
        raise UsageError("nothing on standard input, expected textual IR")
    return text + "\n"  # A path has no newline.


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
