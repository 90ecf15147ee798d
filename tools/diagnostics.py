"""
Diagnostics as people read them: `file:line:col: error: message`, the source line, a caret, then the notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.utils.exceptions import DiagnosticException, MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span

from aicc.transforms.diagnostics import (
    LocatedError,
    Message,
    Severity,
    describe_location,
    file_location,
    location_names,
)
from aicc.transforms.verify import tidy


@dataclass(frozen=True)
class Diagnostic:
    """One message with its place; `line` and `column` count from 1 and are 0 where the place is not in a file."""

    severity: Severity
    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    width: int = 1
    """How many characters the caret underlines."""

    place: str = ""
    """What to say in the place of a file position when there is none, such as the name of a model's node."""

    notes: tuple[Diagnostic, ...] = ()


def from_message(message: Message) -> Diagnostic:
    """The diagnostic for a message at an IR location."""
    notes = tuple(from_message(note) for note in message.notes)
    found = file_location(message.location)
    if found is not None:
        if names := location_names(message.location):
            notes += (Diagnostic("note", f"source name: {', '.join(names)}"),)
        return Diagnostic(
            message.severity, message.text, found.filename.data, found.line.data, found.column.data, notes=notes
        )
    place = "" if message.location == UNKNOWN_LOC else describe_location(message.location)
    return Diagnostic(message.severity, message.text, place=place, notes=notes)


def from_span(text: str, span: Span[str] | Span[bytes], severity: Severity = "error") -> Diagnostic:
    """The diagnostic for a stretch of the input."""
    location = span.get_location()
    return Diagnostic(severity, text, location.file, location.line, location.col, max(len(span), 1))


def from_exception(error: DiagnosticException | ParseError) -> Diagnostic:
    """The diagnostic that an exception of xDSL's or ours stands for."""
    if isinstance(error, ParseError):
        found = from_span(tidy(error.msg), error.span)
        if isinstance(error, MultipleSpansParseError):
            reference = tidy(error.ref_text or "see also")
            notes = tuple(from_span(text or reference, span, "note") for span, text in error.refs)
            found = replace(found, notes=notes)
        return found
    if isinstance(error, LocatedError):
        return from_message(Message("error", error.text, error.location, error.notes))
    return Diagnostic("error", tidy(str(error)))


def render(
    diagnostic: Diagnostic, source: Callable[[str], str | None] | Mapping[str, str], *, tool: str = "aicc-opt"
) -> str:
    """
    The text of `diagnostic`, without a final newline.

    `source` gives the text of a file by name; a file it does not know is shown without its line. `tool` stands in the
    place of a position where there is none.
    """
    text_of = source if callable(source) else source.get
    lines = _render_one(diagnostic, text_of, tool)
    for note in diagnostic.notes:
        lines += _render_one(note, text_of, "")
    return "\n".join(lines)


def _render_one(diagnostic: Diagnostic, text_of: Callable[[str], str | None], tool: str) -> list[str]:
    head = f"{diagnostic.severity}: {diagnostic.text}"
    if diagnostic.line < 1:
        place = diagnostic.place or tool
        return [f"{place}: {head}" if place else head]
    lines = [f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: {head}"]
    source_line = _line(text_of(diagnostic.file), diagnostic.line)
    if source_line is not None:
        lines += show_span(source_line, diagnostic.column - 1, diagnostic.width)
    return lines


def show_span(line: str, start: int, width: int) -> list[str]:
    """`line` and below it a caret at `start` with `width` characters underlined, tabs kept so that both line up."""
    start = min(max(start, 0), len(line))
    width = max(1, min(width, len(line) - start))
    # A very long line (a spelt-out constant) is cut to a window around the place.
    if len(line) > 200:
        first = max(0, start - 80)
        line, start = line[first : first + 160], start - first
        width = min(width, max(1, len(line) - start))
    indent = "".join("\t" if character == "\t" else " " for character in line[:start])
    return [line, indent + "^" + "~" * (width - 1)]


def _line(text: str | None, number: int) -> str | None:
    if text is None:
        return None
    start = 0
    for _ in range(number - 1):
        start = text.find("\n", start) + 1
        if start == 0:
            return None
    end = text.find("\n", start)
    return text[start : len(text) if end < 0 else end].rstrip("\r")
