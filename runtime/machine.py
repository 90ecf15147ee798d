"""What this machine can run, by its own word where that is enough, else by LLVM's."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

from aicc.runtime.compiled import Machine

# LLVM's names of features that Linux calls otherwise.
_LINUX = {
    "64bit": "lm",
    "bmi": "bmi1",
    "crc32": "sse4_2",
    "lzcnt": "abm",
    "neon": "asimd",
    "pclmul": "pclmulqdq",
    "prfchw": "3dnowprefetch",
    "rdrnd": "rdrand",
    "sahf": "lahf_lm",
    "sha": "sha_ni",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "x87": "fpu",
}


@cache
def _flags() -> frozenset[str]:
    """What Linux says that all processors have."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    found = [set(line.partition(":")[2].split()) for line in lines if line.startswith(("flags\t", "Features\t"))]
    return frozenset(set[str].intersection(*found)) if found else frozenset()


def lacking(machine: Machine) -> str | None:
    """What this machine lacks to run code for `machine`; None if it can run it."""
    architecture = machine.triple.partition("-")[0]
    if architecture != platform.machine():
        return f"is no {architecture}"
    flags = _flags()
    if all(_LINUX.get(feature, feature) in flags for feature in machine.features):
        return None
    # Linux may have another name for it, or none.
    import llvmlite.binding as llvm

    have = llvm.get_host_cpu_features()
    missing = [feature for feature in machine.features if not have.get(feature)]
    return f"lacks {', '.join(missing)}" if missing else None
