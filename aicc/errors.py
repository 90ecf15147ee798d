"""What `aicc.compile` raises for a model that it cannot compile."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from xdsl.utils.exceptions import DiagnosticException, ParseError


class CompileError(Exception):
    """
    A model that is damaged, breaks a rule or holds what is not supported.

    The text is what the command line shows: `file:line:col`, what was found and expected, the source line and a caret;
    or the names of nodes where the model is no text. What is raised also has the class of the compiler's own error,
    such as `ParseError` or `ModelError`.
    """

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        """The file of the place; `<string>` for a model that is given as text, empty where there is no place."""
        self.line = line
        """Counts from 1; 0 where there is no place."""
        self.column = column

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # The class of what is raised is made as the program runs.
        return CompileError, (self.message, self.file, self.line, self.column)


@contextmanager
def compile_errors(model: Any) -> Generator[None]:
    """Errors of the enclosed code that are about the content of `model` become `CompileError`s that tell the place."""
    try:
        yield
    except Exception as error:
        # Without the compiler there is nothing that could have looked at the content.
        if isinstance(error, CompileError) or "xdsl" not in sys.modules:
            raise
        from xdsl.utils.exceptions import DiagnosticException, ParseError

        from aicc.dialects.graph.symbol_names import UnknownSymbolError

        # What names a symbol that there is not, is an argument of the caller's.
        if not isinstance(error, DiagnosticException | ParseError) or isinstance(error, UnknownSymbolError):
            raise
        raise _placed(error, model).with_traceback(error.__traceback__) from error.__cause__


def _placed(error: DiagnosticException | ParseError, model: Any) -> CompileError:
    """A `CompileError` that is an error of the class of `error`, too, with all it holds."""
    from aicc.tools.diagnostics import from_exception, render
    from aicc.tools.source import Source

    found = from_exception(error)
    message = str(error)
    if found.line or found.place or found.notes:
        text = model if isinstance(model, str) and "\n" in model else ""
        message = render(found, Source("<string>", text).text_of, tool="")
    kind = _also(type(error))
    placed = kind.__new__(kind, *error.args)
    placed.__dict__ |= error.__dict__
    placed.message, placed.file, placed.line, placed.column = message, found.file, found.line, found.column
    return placed


@cache
def _also(kind: type[Exception]) -> type[CompileError]:
    return cast("type[CompileError]", type("CompileError", (CompileError, kind), {"__module__": "aicc"}))
