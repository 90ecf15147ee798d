"""
The options of `aicc.compile` as flags, one table for every command of `aicc` that compiles or asks about it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aicc.tools.cli_values import UsageError, named_values

if TYPE_CHECKING:
    from aicc.lowering.pipelines import PipelineOptions

OPTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "opt_level": ("-O", {"default": 2, "type": int, "choices": (0, 2), "help": "optimisation level (default: 2)"}),
        "target": (
            "--target",
            {"default": "host", "metavar": "MACHINE", "help": "machine to compile for (default: host)"},
        ),
        "fast_math": (
            "--fast-math",
            {"action": "store_true", "help": "let arithmetic be reassociated, contracted and approximated"},
        ),
        "winograd": (
            "--winograd",
            {
                "default": True,
                "action": argparse.BooleanOptionalAction,
                "help": "permit fast convolution, with a larger error (default: permitted)",
            },
        ),
        "bf16_dots": (
            "--bf16-dots",
            {
                "default": True,
                "action": argparse.BooleanOptionalAction,
                "help": "permit instructions on bf16 that take subnormal numbers for 0 (default: permitted)",
            },
        ),
        "schedules": ("--schedules", {"metavar": "FILE.mlir", "help": "schedules for the kernels that the file names"}),
        "shapes": (
            "--shape",
            {
                "default": None,
                "action": "append",
                "metavar": "SYMBOL=N",
                "help": "fix a symbol of the inputs' sizes; the model takes no other size then",
            },
        ),
        "hints": (
            "--hint",
            {
                "default": None,
                "action": "append",
                "metavar": "SYMBOL=N,N,..",
                "help": "add programs for these sizes, which run when the arrays have them",
            },
        ),
        "threads": ("--threads", {"type": int, "metavar": "N", "help": "most threads to use (default: all cores)"}),
        "cache": ("--no-cache", {"action": "store_false", "help": "neither read nor write what compilations keep"}),
        "profile": ("--profile", {"action": "store_true", "help": "let kernels note their times"}),
    }
)
"""Keyword of `aicc.compile` -> flag, and how argparse reads it."""

OF_CODE = ("opt_level", "target", "fast_math", "winograd", "bf16_dots", "schedules", "shapes")
"""Those that decide what code a model becomes."""


def add_compile_options(
    parser: argparse.ArgumentParser, names: Iterable[str], helps: Mapping[str, str] | None = None
) -> None:
    """Declares the flags of these keywords; `helps` has other texts for some."""
    group = parser.add_argument_group("options of the compiler")
    for name in names:
        flag, settings = OPTIONS[name]
        adapted: dict[str, Any] = {**settings, "help": (helps or {}).get(name, settings["help"])}
        group.add_argument(flag, dest=name, **adapted)


def compile_options(options: argparse.Namespace) -> dict[str, Any]:
    """
    The keyword arguments for `aicc.compile` that a command line has given, or could have.

    Raises:
        UsageError: sizes are not given as `SYMBOL=N`.
    """
    found = {name: getattr(options, name) for name in OPTIONS if hasattr(options, name)}
    for name, flag, read in (("shapes", "--shape", _one_size), ("hints", "--hint", _several_sizes)):
        if found.get(name) is not None:
            values = named_values(found[name], flag)
            found[name] = {symbol: read(f"{flag} {symbol}={value}", value) for symbol, value in values.items()}
    return found


def _one_size(flag: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{flag}: expected a size of at least 0")
    return int(text)


def _several_sizes(flag: str, text: str) -> list[int]:
    if not all(part.isdecimal() for part in text.split(",")):
        raise UsageError(f"{flag}: expected sizes of at least 0, with commas between them")
    return [int(part) for part in text.split(",")]


def pipeline_options(options: argparse.Namespace) -> PipelineOptions:
    """
    What a command line asks of the pipeline.

    Raises:
        UsageError: sizes are not given as `SYMBOL=N`.
        TargetError: there is no target of the name given.
    """
    from dataclasses import fields

    from aicc.backends.llvm.targets import target_by_name
    from aicc.lowering.pipelines import PipelineOptions
    from aicc.sizes import fixed_sizes

    wanted = {field.name for field in fields(PipelineOptions)}
    given = compile_options(options)
    target_by_name(given.get("target", "host"))
    given["shapes"] = fixed_sizes(given.get("shapes"))
    return PipelineOptions(**{name: value for name, value in given.items() if name in wanted})
