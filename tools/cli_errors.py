"""Turns what a command of `aicc` ended in into one message and an exit status."""

from __future__ import annotations

import sys
from pathlib import Path

from xdsl.utils.exceptions import DiagnosticException, ParseError

from aicc.backends.llvm.targets import TargetError
from aicc.dialects.graph.symbol_names import UnknownSymbolError
from aicc.errors import CompileError
from aicc.faults import CompilerFault
from aicc.frontends.errors import ModelError
from aicc.runtime.errors import InputError, ProgramError
from aicc.tools.cli_values import UsageError
from aicc.tools.diagnostics import from_exception, render


def _source(name: str) -> str | None:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def report(error: Exception) -> int:
    """
    Prints `error` on standard error.

    The status is 2 for wrong usage: what the command line says is malformed, contradicts itself, or names what neither
    aicc nor the model has. It is 1 for what is wrong with files and what is in them.
    """
    if isinstance(error, UsageError | UnknownSymbolError):
        print(f"aicc: error: {error}", file=sys.stderr)
        return 2
    if isinstance(error, CompileError) and error.line:
        print(error, file=sys.stderr)
        return 1
    # The list in an error of an importer has a line for each thing; a rendered diagnostic is one line.
    if isinstance(error, DiagnosticException | ParseError) and not isinstance(error, ModelError):
        print(render(from_exception(error), _source, tool="aicc"), file=sys.stderr)
        return 1
    if isinstance(error, OSError) and error.filename is not None:
        print(f"aicc: error: {error.strerror}: '{error.filename}'", file=sys.stderr)
        return 1
    if isinstance(error, ModelError | InputError | ProgramError | ValueError | OSError):
        print(f"aicc: error: {error}", file=sys.stderr)
        # Functions that a user calls raise it for their arguments, which here are those of the command line.
        return 2 if type(error) is ValueError or isinstance(error, TargetError) else 1
    if isinstance(error, MemoryError):
        print(f"aicc: error: not enough memory{f': {error}' if str(error) else ''}", file=sys.stderr)
        return 1
    if isinstance(error, CompilerFault):
        print(f"aicc: error: {error}", file=sys.stderr)
        return 1
    print(
        f"aicc: internal error: {type(error).__name__}: {error}\n"
        "aicc: note: this is a fault in aicc, not in the model; run again with --traceback and report the output",
        file=sys.stderr,
    )
    return 1
