"""
Diagnostics that know where they belong: errors with the location of an op, and warnings and remarks from passes.

An error is raised (`fail`); a warning or remark goes to the handler in force (`diagnostic_handler`), which by default
prints one line to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, NoReturn

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import DiagnosticException, PassFailedException, VerifyException

Severity = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True)
class Message:
    """One diagnostic: what is said, about which place, and the notes that go with it."""

    severity: Severity
    text: str
    location: LocationAttr = UNKNOWN_LOC
    notes: tuple[Message, ...] = ()


class LocatedError(DiagnosticException):
    """An error about the op at `location`, with notes."""

    def __init__(self, text: str, location: LocationAttr, notes: tuple[Message, ...] = ()):
        super().__init__(text)
        self.text = text
        self.location = location
        self.notes = notes


class LocatedPassError(LocatedError, PassFailedException):
    """A pass that cannot do its required job, for the op at `location`."""


class LocatedVerifyError(LocatedError, VerifyException):
    """IR that breaks a rule of the op at `location`."""


def note(text: str, op: Operation | None = None) -> Message:
    """A note, at `op` where one is given."""
    return Message("note", text, UNKNOWN_LOC if op is None else op.location)


def fail(op: Operation, text: str, *notes: Message) -> NoReturn:
    """Raises `LocatedPassError` at `op`; `text` says what was found and what was expected."""
    raise LocatedPassError(text, op.location, notes)


Handler = Callable[[Message], None]


def _print_line(message: Message) -> None:
    print(f"{describe_location(message.location)}: {message.severity}: {message.text}", file=sys.stderr)


_handler: ContextVar[Handler] = ContextVar("diagnostic_handler", default=_print_line)


@contextmanager
def diagnostic_handler(handler: Handler) -> Generator[None, None, None]:
    """Sends the warnings and remarks of the enclosed code to `handler`."""
    token = _handler.set(handler)
    try:
        yield
    finally:
        _handler.reset(token)


def warn(op: Operation, text: str, *notes: Message) -> None:
    """A warning at `op`: the result is right, but probably not what was wanted."""
    _handler.get()(Message("warning", text, op.location, notes))


def remark(op: Operation, text: str, *notes: Message) -> None:
    """A remark at `op`: something worth knowing, such as why an optimisation did not apply."""
    _handler.get()(Message("remark", text, op.location, notes))


def file_location(location: Attribute) -> FileLineColLoc | None:
    """The first file position in `location`: callee before caller, fused locations in order. None if there is none."""
    pending = [location]
    while pending:
        match pending.pop():
            case FileLineColLoc() as found:
                return found
            case NameLoc(location=inner):
                pending.append(inner)
            case CallSiteLoc(callee=callee, caller=caller):
                pending += [caller, callee]
            case FusedLoc(locations=ArrayAttr(data=inner)):
                pending += reversed(inner)
            case _:
                pass
    return None


def location_names(location: Attribute) -> tuple[str, ...]:
    """The source names in `location` (nodes of the model, for an imported one), in order, each once."""
    names: dict[str, None] = {}
    pending = [location]
    while pending:
        match pending.pop():
            case NameLoc(desc=name, location=inner):
                names[name.data] = None
                pending.append(inner)
            case CallSiteLoc(callee=callee, caller=caller):
                pending += [caller, callee]
            case FusedLoc(locations=ArrayAttr(data=inner)):
                pending += reversed(inner)
            case _:
                pass
    return tuple(names)


def describe_location(location: Attribute) -> str:
    """`file:line:col`, else the quoted source names, else `<unknown>`."""
    if (found := file_location(location)) is not None:
        return f"{found.filename.data}:{found.line.data}:{found.column.data}"
    if names := location_names(location):
        return ", ".join(f'"{name}"' for name in names)
    return "<unknown>"
