"""
The options of `aicc.compile` as flags, one table for every command of `aicc` that compiles or asks about it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

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
        "schedules": ("--schedules", {"metavar": "FILE.mlir", "help": "schedules for the kernels that the file names"}),
        "threads": ("--threads", {"type": int, "metavar": "N", "help": "most threads to use (default: all cores)"}),
        "cache": ("--no-cache", {"action": "store_false", "help": "neither read nor write what compilations keep"}),
        "profile": ("--profile", {"action": "store_true", "help": "let kernels note their times"}),
    }
)
"""Keyword of `aicc.compile` -> flag, and how argparse reads it."""

OF_CODE = ("opt_level", "target", "fast_math", "winograd", "schedules")
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
    """The keyword arguments for `aicc.compile` that a command line has given, or could have."""
    return {name: getattr(options, name) for name in OPTIONS if hasattr(options, name)}


def pipeline_options(options: argparse.Namespace) -> PipelineOptions:
    """What a command line asks of the pipeline."""
    from dataclasses import fields

    from aicc.lowering.pipelines import PipelineOptions

    wanted = {field.name for field in fields(PipelineOptions)}
    return PipelineOptions(**{name: value for name, value in compile_options(options).items() if name in wanted})
