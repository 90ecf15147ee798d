"""The folder of the cache, and what can be told from names alone; needs the standard library only."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

PROGRAM = ".aicc"

PREFIX = 16
"""Characters that the names of all programs of models of one size begin with."""


def cache_folder() -> Path:
    """`$AICC_CACHE_DIR`, else `aicc` in the user's cache folder."""
    named = os.environ.get("AICC_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aicc"


def refusal(folder: Path) -> str | None:
    """
    Why the existing `folder` is not used as a cache; None if it is.

    It holds code that will be run, so it must be the user's alone.
    """
    status = folder.stat()
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    return "others can write to it" if status.st_mode & 0o022 else None


def open_folder() -> Path | None:
    """The folder of this user; None where it cannot be made, or is refused."""
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return None if refusal(folder) else folder
    except (OSError, RuntimeError):
        return None


def size_prefix(size: int) -> str:
    """What the names of programs of models of `size` bytes begin with."""
    return hashlib.sha256(str(size).encode()).hexdigest()[:PREFIX]


def surely_missing(size: int) -> bool:
    """Whether there is no program of any model of `size` bytes: quickly told, long before the hash of one is known."""
    folder = open_folder()
    if folder is None:
        return True
    prefix = size_prefix(size)
    try:
        return not any(name.startswith(prefix) and name.endswith(PROGRAM) for name in os.listdir(folder))
    except OSError:
        return True
