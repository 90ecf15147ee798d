"""A compiled program as data: what the compiler hands over, what a file holds, and what is linked to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aicc.runtime.signature import Signature


@dataclass(frozen=True)
class Machine:
    """What a processor must be to run the code."""

    triple: str
    """LLVM's name of the architecture and system, such as `x86_64-unknown-linux-gnu`."""
    features: tuple[str, ...]
    """LLVM's names of the processor's features that the code may use."""


@dataclass(frozen=True)
class CompiledProgram:
    """Position-independent objects, and the data they refer to."""

    signature: Signature
    objects: Sequence[bytes]
    weights: Mapping[str, np.ndarray]
    """Contents of `weight` buffers by name; those that only `prepare` reads may be missing once it has run."""
    has_prepare: bool
    prepared: Mapping[str, np.ndarray] | None = None
    """Contents of `prepared` buffers by name, as `prepare` left them; None: `prepare` is still to be run."""
    machine: Machine | None = None
    """None for code that is known to be for the machine at hand."""
    variants: tuple[Variant, ...] = ()
    """Programs of the same model for known sizes; the first that fits the arrays of a call runs instead of this one."""


@dataclass(frozen=True)
class Variant:
    """A program for which some symbols are numbers."""

    sizes: Mapping[str, int]
    """Symbol -> the value that it has been compiled for."""
    program: CompiledProgram
