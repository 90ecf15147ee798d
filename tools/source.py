"""The input of the driver: read once, split at `// -----` lines, kept for showing source lines."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

_SPLIT = re.compile(r"^[ \t]*// -----[ \t]*\r?\n?", re.MULTILINE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_CONFIGURATION = re.compile(r"^\s*//\s*configuration:(.*)$", re.MULTILINE)


class InputError(Exception):
    """Input that is not text; a diagnostic, not wrong usage."""


@dataclass(frozen=True)
class Chunk:
    """A part of the input with the number of its first line."""

    text: str
    first_line: int


@dataclass(frozen=True)
class Source:
    """The whole input."""

    name: str
    text: str

    def text_of(self, file: str) -> str | None:
        """The text of `file` if it is this input, else of the file on disk where there is one of reasonable size."""
        if file == self.name:
            return self.text
        path = Path(file)
        try:
            if path.is_file() and path.stat().st_size < 1 << 24:
                return path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            pass
        return None

    def chunks(self, split: bool) -> list[Chunk]:
        """The parts between split lines, or the whole."""
        if not split:
            return [Chunk(self.text, 1)]
        found: list[Chunk] = []
        start, line = 0, 1
        for match in _SPLIT.finditer(self.text):
            found.append(Chunk(self.text[start : match.start()], line))
            line += self.text.count("\n", start, match.end())
            start = match.end()
        found.append(Chunk(self.text[start:], line))
        return found

    def configuration(self) -> str | None:
        """The command-line text after `// configuration:`, which a reproducer starts with."""
        match = _CONFIGURATION.search(self.text)
        return None if match is None else match.group(1).strip()


def read_source(path: str) -> Source:
    """
    The text of the file `path`, or of standard input for `-`.

    Raises:
        InputError: if the file cannot be opened, or does not hold text.
    """
    name = "<stdin>" if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"aicc-opt: cannot read '{path}': {error.strerror}") from error
    what = "; 'aicc import' makes textual IR from an ONNX model" if path.endswith(".onnx") else ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}:{line}: error: not text in UTF-8, expected textual IR{what}") from error
    if (control := _CONTROL.search(data)) is not None:
        line = data.count(b"\n", 0, control.start()) + 1
        found = f"control character 0x{control.group()[0]:02x}"
        raise InputError(f"{name}:{line}: error: {found} in the input, expected textual IR{what}")
    return Source(name, text.removeprefix("\ufeff"))
