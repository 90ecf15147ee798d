"""Object code on disk, found by the content that it was made from."""

import contextlib
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from aicc.backends.llvm.objects import PASSES

SUFFIX = ".o"
LIMIT = 512 << 20
"""Bytes that entries may take in all; the ones used longest ago go first."""

_OWN = re.compile(r"[0-9a-f]{64}\.o|new-\w+")


def object_key(text: str, target: str) -> str:
    """The entry's name: all that the object depends on is LLVM text, target, passes and the versions of the tools."""
    versions = f"{version('aicc')} {version('xdsl')} {version('llvmlite')} {target} {PASSES}"
    return hashlib.sha256(f"{versions}\0{text}".encode()).hexdigest()


def cache_folder() -> Path:
    """`$AICC_CACHE_DIR`, else `aicc` in the user's cache folder."""
    named = os.environ.get("AICC_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aicc"


@dataclass(frozen=True)
class ObjectCache:
    """
    A folder with one file per object: its SHA-256 in the first line, then the object.

    Failures of the file system are no errors: an entry that cannot be read is made again, one that cannot be written
    is left out.
    """

    folder: Path

    @staticmethod
    def open() -> "ObjectCache | None":
        """
        The cache of this user; None where its folder cannot be made, or others could write to it.

        The folder holds code that will be run, so it must be the user's alone.
        """
        try:
            folder = cache_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.stat()
        except (OSError, RuntimeError):
            return None
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            return None
        return ObjectCache(folder)

    def read(self, key: str) -> bytes | None:
        """The object, or None where there is none or it is damaged."""
        path = self.folder / (key + SUFFIX)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, _, image = data.partition(b"\n")
        if digest != hashlib.sha256(image).hexdigest().encode():
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return image

    def write(self, key: str, image: bytes) -> None:
        """Adds an entry, complete or not at all: other processes may be reading and writing the same one."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix="new-", delete=False) as file:
                file.write(hashlib.sha256(image).hexdigest().encode() + b"\n" + image)
            os.replace(file.name, self.folder / (key + SUFFIX))
        except OSError:
            return

    def prune(self, limit: int = LIMIT) -> None:
        """Removes the entries used longest ago until the rest take at most `limit` bytes."""
        entries: list[tuple[float, int, Path]] = []
        try:
            for path in self.folder.iterdir():
                # The folder may hold a user's other files.
                if _OWN.fullmatch(path.name) is None:
                    continue
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
            total = sum(size for _, size, _ in entries)
            for _, size, path in sorted(entries):
                if total <= limit:
                    return
                path.unlink()
                total -= size
        except OSError:
            return
