"""
What a model consists of: its own bytes and those of the files that it names, their hashes, and where its weights lie in
them.

The hash of an ONNX file covers its external data, that of textual IR the files of its weights.
"""

from __future__ import annotations

import mmap
import os
import re
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from aicc.content import TreeHash, digest_of

if TYPE_CHECKING:
    import numpy as np

    from aicc.runtime.image import Place

MODEL = ""
"""The name of the model's own file or bytes among the sources of weights."""

_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


@dataclass
class Content:
    """The content of one model."""

    kind: str
    """`onnx` or `text`."""
    sources: Mapping[str, Path | memoryview]
    """Name -> where the bytes are, of the model itself and of each file by its name in the model."""
    text: str | None = None
    """The model itself where it is text, which holds no weights."""
    _hashes: dict[str, TreeHash] | None = None
    _maps: dict[str, mmap.mmap] = field(default_factory=dict[str, mmap.mmap])

    def hash(self) -> None:
        """
        Starts hashing.

        Raises:
            OSError: a file cannot be opened.
        """
        if self._hashes is None:
            self._hashes = {name: TreeHash(source) for name, source in self.sources.items()}

    def bytes(self) -> int:
        """
        The size of all of it.

        Raises:
            OSError: a file cannot be found.
        """
        files = [
            source.stat().st_size if isinstance(source, Path) else source.nbytes for source in self.sources.values()
        ]
        return sum(files) + len(self.text or "")

    def digests(self) -> dict[str, str]:
        """
        Name -> SHA-256.

        Raises:
            OSError: a file cannot be read.
        """
        self.hash()
        own = {} if self.text is None else {MODEL: digest_of(self.text.encode())}
        return own | {name: hash.hexdigest() for name, hash in (self._hashes or {}).items()}

    def source(self, name: str) -> np.ndarray:
        """The bytes of a source, mapped where it is a file."""
        import numpy as np

        source = self.sources[name]
        if isinstance(source, Path):
            # One mapping for all weights: a page counts in each mapping that reads it.
            source = self._maps.get(name) or self._maps.setdefault(name, _mapped(source))
        return np.frombuffer(source, np.uint8)

    def forget(self) -> None:
        """Lets go of the memory of files that `source` gave; what is still read of them is found again in the files."""
        for mapped in self._maps.values():
            with suppress(AttributeError, OSError):
                mapped.madvise(mmap.MADV_DONTNEED)

    def places(self, arrays: Mapping[str, np.ndarray]) -> dict[str, Place]:
        """Those of `arrays` that are views of a source, as it is in memory or mapped."""
        from aicc.runtime.image import Place

        ranges = sorted(_mapped_ranges(self.sources) + _ranges_in_memory(self.sources))
        starts = [start for start, *_ in ranges]
        found: dict[str, Place] = {}
        for name, array in arrays.items():
            address: int = array.ctypes.data
            position = bisect_right(starts, address) - 1
            if position < 0 or not array.flags.c_contiguous:
                continue
            start, end, source, offset = ranges[position]
            if address + array.nbytes <= end:
                found[name] = Place(source, offset + address - start, array.nbytes)
        return found


_Range = tuple[int, int, str, int]
"""First and last address of memory, the source that it shows, and the offset there."""


def _mapped(path: Path) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _mapped_ranges(sources: Mapping[str, Path | memoryview]) -> list[_Range]:
    paths = {str(source.resolve()): name for name, source in sources.items() if isinstance(source, Path)}
    found: list[_Range] = []
    if not paths:
        return found
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        fields = line.split(maxsplit=5)
        # Private mappings may differ from the file, but these are read-only.
        if len(fields) == 6 and fields[5] in paths and "w" not in fields[1]:
            start, _, end = fields[0].partition("-")
            found.append((int(start, 16), int(end, 16), paths[fields[5]], int(fields[2], 16)))
    return found


def _ranges_in_memory(sources: Mapping[str, Path | memoryview]) -> list[_Range]:
    import numpy as np

    found: list[_Range] = []
    for name, source in sources.items():
        if isinstance(source, memoryview) and source.nbytes:
            start = np.frombuffer(source, np.uint8).ctypes.data
            found.append((start, start + source.nbytes, name, 0))
    return found


def content_of(model: Any) -> Content | None:
    """
    The content of a path, bytes or text; None for what can only be told by the compiler: a broken model, an object.
    """
    try:
        if isinstance(model, bytes):
            return _onnx(memoryview(model), None)
        if isinstance(model, str) and "\n" in model:
            return _text(model, _search_folder())
        if isinstance(model, str | PathLike):
            path = Path(cast("str | PathLike[str]", model))
            return _text(path.read_text(encoding="utf-8"), path.parent) if path.suffix == ".mlir" else _onnx(path, path)
    except (OSError, RuntimeError, ValueError):
        pass
    return None


def _onnx(source: Path | memoryview, path: Path | None) -> Content | None:
    from aicc.frontends.onnx.wire import external_files

    sources: dict[str, Path | memoryview] = {MODEL: source}
    data = memoryview(_mapped(source)) if isinstance(source, Path) else source
    for location in external_files(data):
        # What the importer will refuse is not even opened: links out of the folder, and what is no file.
        folder = None if path is None else path.resolve().parent
        inner = PurePosixPath(location)
        if folder is None or inner.is_absolute() or ".." in inner.parts or "\0" in location:
            return None
        file = (folder / location).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            return None
        sources[location] = file
    return Content("onnx", sources)


def _text(text: str, folder: Path) -> Content:
    sources: dict[str, Path | memoryview] = {}
    if "graph.buffer" in text:
        # Any string may be the name of a file; one too many does no harm.
        for match in _STRING.finditer(text):
            name = _unescaped(match[1])
            file = folder / name
            if name and "\0" not in name and len(name) < 4096 and file.is_file():
                sources[name] = file
    return Content("text", sources, text)


def _unescaped(text: str) -> str:
    """MLIR's strings: two hexadecimal digits, or a character, after a backslash."""
    plain = {"n": "\n", "t": "\t"}
    return re.sub(
        r"\\([0-9a-fA-F]{2}|.)",
        lambda match: chr(int(match[1], 16)) if len(match[1]) == 2 else plain.get(match[1], match[1]),
        text,
    )


def _search_folder() -> Path:
    """The folder of the enclosing `search_folder`, which only a module that is loaded can have set."""
    import sys

    buffers = sys.modules.get("aicc.dialects.graph.buffers")
    return (None if buffers is None else buffers.current_folder()) or Path(os.curdir)
