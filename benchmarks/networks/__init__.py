"""Whole networks: built by script, the light ones of the `onnx` package, and those of a folder."""

from functools import partial
from pathlib import Path

from benchmarks.cases import Case
from benchmarks.models import LIGHT, encoder_transformer, light, mobilenet_v2


def network_cases(folder: Path | None = None) -> list[Case]:
    """All networks, in the order of the tables."""
    cases = [Case(f"light/{name}", partial(light, name)) for name in LIGHT]
    cases.append(Case("net/mobilenet_v2", mobilenet_v2, {"N": 1}))
    cases.append(Case("net/encoder", encoder_transformer, {"N": 1, "S": 128}))
    return cases
