"""What a compiled program says of itself: its inputs, outputs, symbols, checks and buffers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from aicc.runtime.dtypes import dtype_of
from aicc.runtime.errors import ProgramError

VERSION = 1


@dataclass(frozen=True)
class TensorInfo:
    """One input or output of a model."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | str, ...]
    """Sizes; a dynamic one is the text of its expression over the model's symbols."""

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype.name}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Check:
    """Two expressions that must be equal when the program runs."""

    lhs: str
    rhs: str
    text: str


@dataclass(frozen=True)
class BufferInfo:
    """One entry of the pointer table that the program is called with."""

    kind: str
    """`weight`, `prepared`, `input`, `output`, `arena` or `profile`."""
    name: str = ""
    """Of weights and prepared buffers."""
    index: int = 0
    """Of inputs and outputs."""
    size: str = "0"
    """Bytes of prepared buffers and the arena, as an expression over the symbols."""
    kept: bool = True
    """Of weights: whether `main` reads it; `prepare` alone reads the others."""


@dataclass(frozen=True)
class KernelCall:
    """One call of a kernel in `main`."""

    kernel: str
    nodes: tuple[str, ...]
    """Names of the source model's nodes that it computes."""
    bytes: str
    """Bytes of the buffers it is given, as an expression over the symbols."""
    flops: str | None
    """Operations on floats, likewise; None where they are not known."""
    schedule: str
    """How the kernel is run; empty where it is run as it stands."""
    counted: bool = False
    """Whether its runs add up `bytes` and `flops`, which name sizes that the program gives values to."""
    version: bool = False
    """Whether it runs instead of another call, for some sizes."""


@dataclass(frozen=True)
class Stop:
    """A check of sizes that data defines: a run in which it fails ends there."""

    text: str
    """What is wrong then, or what the size is."""
    nodes: tuple[str, ...]
    """Names of the source model's nodes that it belongs to."""
    size: str = ""
    """The symbol that gets a value; empty where `lhs` and `rhs` must be equal."""
    most: str = ""
    """What `size` must not exceed."""
    lhs: str = ""
    rhs: str = ""


@dataclass(frozen=True)
class Signature:
    """The calling contract of a compiled program."""

    symbols: tuple[str, ...]
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    checks: tuple[Check, ...]
    buffers: tuple[BufferInfo, ...]
    profile: tuple[KernelCall, ...] = ()
    """The kernel calls that a profiled program times."""
    text: str = field(default="", compare=False, repr=False)
    """The JSON form that all this was read from."""
    defined: tuple[str, ...] = ()
    """Symbols in the sizes of outputs that the program gives values to, behind those of `symbols`."""
    results: Mapping[int, int] = field(default_factory=dict[int, int])
    """Outputs whose size the program defines, and the pooled buffers that it leaves them in."""
    pooled: int = 0
    """The number of pooled buffers."""
    stops: tuple[Stop, ...] = ()
    """What may end a run early, by number from 1 on."""

    @property
    def needs_state(self) -> bool:
        """Whether the program is called with a state (`aicc.runtime.call_state`)."""
        return bool(self.pooled or self.stops)


def _tensor(entry: Mapping[str, Any]) -> TensorInfo:
    dims = cast(Sequence[str | int], entry["dims"])
    shape = tuple(int(d) if isinstance(d, int) or d.isdigit() else d for d in dims)
    return TensorInfo(str(entry["name"]), dtype_of(entry["dtype"]), shape)


def _stop(entry: Mapping[str, Any]) -> Stop:
    texts = [str(entry.get(name, "")) for name in ("size", "most", "lhs", "rhs")]
    return Stop(str(entry["text"]), tuple(entry["nodes"]), *texts)


def parse_signature(text: str) -> Signature:
    """
    Reads the JSON form.

    Raises:
        ProgramError: not JSON, of another version, or with fields missing.
    """
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            raise ProgramError(f"program signature has version {data['version']}, this runtime reads {VERSION}")
        return Signature(
            symbols=tuple(data["symbols"]),
            inputs=tuple(_tensor(e) for e in data["inputs"]),
            outputs=tuple(_tensor(e) for e in data["outputs"]),
            checks=tuple(Check(e["lhs"], e["rhs"], e["text"]) for e in data.get("checks", ())),
            buffers=tuple(
                BufferInfo(
                    e["kind"], e.get("name", ""), e.get("index", 0), str(e.get("bytes", "0")), e.get("kept", True)
                )
                for e in data["buffers"]
            ),
            profile=tuple(
                KernelCall(
                    e["kernel"],
                    tuple(e["nodes"]),
                    e["bytes"],
                    e.get("flops"),
                    e.get("schedule", ""),
                    "counted" in e,
                    "version" in e,
                )
                for e in data.get("profile", ())
            ),
            text=text,
            defined=tuple(data.get("defined", ())),
            results={int(position): int(number) for position, number in data.get("results", {}).items()},
            pooled=int(data.get("pooled", 0)),
            stops=tuple(map(_stop, data.get("stops", ()))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ProgramError(f"program signature is malformed: {error!r}") from error
