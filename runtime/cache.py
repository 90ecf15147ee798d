"""
Compiled code on disk, found by a key of all that it was made from: whole programs, objects of single kernels by what
they were emitted from, and by what a kernel was lowered from, which object that is.

Failures of the file system are no errors: an entry that cannot be read is made again, one that cannot be written is
left out. Entries are complete or not there, also after a process was killed; damaged ones are found by their checksums.
Several processes may read, write and remove entries at once: a file in use lives on after its name is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aicc.runtime.cache_folder import PREFIX, PROGRAM, open_folder, size_prefix
from aicc.runtime.compiled import CompiledProgram
from aicc.runtime.errors import ProgramError
from aicc.runtime.image import TEMPORARY, Place, image_bytes, read_image, read_table, replacing, write_image

OBJECT = ".o"
UNIT = ".kernel"

LIMIT = 4 << 30
"""Bytes that entries may take in all; the ones used longest ago go first."""

_ABANDONED = 3600.0
"""Seconds after which a file that is still being written is taken for left behind by a process that was killed."""

_OWN = re.compile(rf"[0-9a-f]{{64}}({re.escape(OBJECT)}|{re.escape(UNIT)}|{re.escape(PROGRAM)})|{TEMPORARY}\w+")


Parts = Mapping[str, Any]
"""What a program was made from, as JSON: its key."""


def program_key(parts: Parts) -> str:
    """The name of the entry of a program; begins with what models of its number of bytes have in common."""
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return size_prefix(parts.get("size", {}).get("bytes", 0)) + digest[PREFIX:]


@dataclass(frozen=True)
class Entry:
    """A file of the cache."""

    path: Path
    size: int
    used: float
    """When it was last made or read, in seconds since 1970."""


@dataclass(frozen=True)
class Cache:
    """
    A folder of entries: of a program its image, which holds its key; of all others a SHA-256 of name and content in the
    first line, so that a file under another's name counts as damaged, then the content.
    """

    folder: Path

    @staticmethod
    def open() -> Cache | None:
        """The cache of this user; None where its folder cannot be made, or is refused."""
        folder = open_folder()
        return None if folder is None else Cache(folder)

    def read_object(self, key: str) -> bytes | None:
        """The object, or None where there is none or it is damaged."""
        return self._read(key + OBJECT)

    def write_object(self, key: str, image: bytes) -> None:
        """Adds an entry."""
        self._write(key + OBJECT, image)

    def read_unit(self, key: str) -> bytes | None:
        """What is known of a kernel, or None where there is nothing or it is damaged."""
        return self._read(key + UNIT)

    def write_unit(self, key: str, content: bytes) -> None:
        """Adds an entry."""
        self._write(key + UNIT, content)

    def _read(self, name: str) -> bytes | None:
        path = self.folder / name
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, _, content = data.partition(b"\n")
        if digest != _checksum(name, content):
            return None
        _touch(path)
        return content

    def _write(self, name: str, content: bytes) -> None:
        with contextlib.suppress(OSError), replacing(self.folder / name) as file:
            file.write(_checksum(name, content) + b"\n" + content)

    def read_program(self, parts: Parts, sources: Callable[[str], np.ndarray]) -> CompiledProgram | None:
        """The program, or None where there is none or it is damaged; `sources` as for `read_image`."""
        path = self.program_path(parts)
        try:
            program = read_image(path, sources, parts)
        except (OSError, ProgramError):
            return None
        _touch(path)
        return program

    def write_program(self, parts: Parts, program: CompiledProgram, outside: Mapping[str, Place]) -> None:
        """Adds an entry, unless it alone would fill the cache; `outside` as for `write_image`."""
        if image_bytes(program, outside) <= LIMIT:
            with contextlib.suppress(OSError):
                write_image(self.program_path(parts), program, key=parts, outside=outside)

    def program_path(self, parts: Parts) -> Path:
        """Where the program with this key lies if it is there."""
        return self.folder / (program_key(parts) + PROGRAM)

    def entries(self) -> list[Entry]:
        """All files of the cache; the folder may hold a user's other files."""
        found: list[Entry] = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as files:
            for file in files:
                if _OWN.fullmatch(file.name):
                    with contextlib.suppress(OSError):
                        status = file.stat(follow_symlinks=False)
                        found.append(Entry(Path(file.path), status.st_size, status.st_mtime))
        return found

    def programs(self) -> Iterator[tuple[Entry, Parts]]:
        """The entries of whole programs that are intact, with what their keys were made of."""
        for entry in self.entries():
            if entry.path.suffix == PROGRAM:
                with contextlib.suppress(OSError, ProgramError):
                    yield entry, read_table(entry.path)["key"]

    def prune(self, limit: int = LIMIT) -> None:
        """Removes the entries used longest ago until the rest take at most `limit` bytes, and what was abandoned."""
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        now = time.time()
        for entry in sorted(entries, key=lambda entry: entry.used):
            unfinished = entry.path.name.startswith(TEMPORARY)
            if total > limit if not unfinished else now - entry.used > _ABANDONED:
                _remove(entry.path)
                total -= entry.size

    def clear(self) -> int:
        """Removes all entries; returns how many."""
        entries = self.entries()
        for entry in entries:
            _remove(entry.path)
        return len(entries)


def _checksum(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + content).hexdigest().encode()


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
