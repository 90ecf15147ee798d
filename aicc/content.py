"""
SHA-256 of what a program is made from, computed on all cores while other modules are imported.

Content is cut into leaves of 4 MiB whose digests are hashed together, since one core takes longer to hash a file than
to read it. Needs the standard library only.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
from pathlib import Path

LEAF = 4 << 20
"""Bytes that are hashed in one piece."""


class TreeHash:
    """
    The hash of a file or of bytes in memory: SHA-256 of the digests of its leaves and its length.

    Threads start on it at once; `hexdigest` waits for them and reports their errors.
    """

    def __init__(self, source: Path | memoryview) -> None:
        """
        Raises:
            OSError: the file cannot be opened.
        """
        self._file = None if isinstance(source, memoryview) else open(source, "rb")  # noqa: SIM115
        self._data = source if isinstance(source, memoryview) else memoryview(b"")
        self.size = self._data.nbytes if self._file is None else os.fstat(self._file.fileno()).st_size
        self._leaves = [b""] * -(-self.size // LEAF)
        self._next = itertools.count()
        self._error: OSError | None = None
        workers = min(len(os.sched_getaffinity(0)), len(self._leaves)) if len(self._leaves) > 1 else 0
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def hexdigest(self) -> str:
        """
        The digest.

        Raises:
            OSError: the file cannot be read, or has become shorter.
        """
        self._work()
        for thread in self._threads:
            thread.join()
        if self._file is not None:
            self._file.close()
        if self._error is not None:
            raise self._error
        return hashlib.sha256(b"".join(self._leaves) + self.size.to_bytes(8, "little")).hexdigest()

    def _work(self) -> None:
        buffer = memoryview(b"") if self._file is None else memoryview(bytearray(min(LEAF, self.size)))
        while (index := next(self._next)) < len(self._leaves):
            start = index * LEAF
            count = min(LEAF, self.size - start)
            if self._file is None:
                leaf = self._data[start : start + count]
            else:
                leaf = buffer[:count]
                try:
                    _read(self._file.fileno(), leaf, start)
                except OSError as error:
                    self._error = error
                    return
            self._leaves[index] = hashlib.sha256(leaf).digest()


def _read(descriptor: int, target: memoryview, offset: int) -> None:
    done = 0
    while done < len(target):
        count = os.preadv(descriptor, [target[done:]], offset + done)
        if count == 0:
            raise OSError("the file has become shorter while it was read")
        done += count


def digest_of(data: bytes) -> str:
    """SHA-256 of short content."""
    return hashlib.sha256(data).hexdigest()
