"""
The machines that code is made for: what LLVM is told, and what schedules need to know.

`host` is the machine at hand, with its exact processor and caches. The others are fixed descriptions, so that code for
them does not depend on where it is compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from aicc.transforms.target_facts import TargetFacts


class TargetError(ValueError):
    """There is no target of this name."""


@dataclass(frozen=True)
class Target:
    """One machine. Cache sizes in bytes, per core but for the last level."""

    name: str
    triple: str
    cpu: str
    features: str
    """LLVM's feature string, such as `+avx2,-avx512f`; empty for what the processor's name implies."""
    vector_bits: int
    num_vector_registers: int
    l1_bytes: int = 32 << 10
    l2_bytes: int = 512 << 10
    l3_bytes: int = 8 << 20
    l1_ways: int = 8
    l2_ways: int = 8
    cores: int = 2
    has_fma: bool = True
    fma_ports: int = 2
    """Multiply-adds of whole vector registers that a core starts in each cycle."""
    has_dot_product: bool = False
    """Multiplies 8-bit integers and adds them up in groups of four."""
    has_bf16_dot_product: bool = False
    """Multiplies bf16 and adds them up in pairs, in f32."""
    has_masked: bool = False
    """Masked loads and stores cost about as much as plain ones."""
    needs: tuple[str, ...] = ()
    """What a machine that runs the code must have, by LLVM's names of features."""

    def facts(self) -> TargetFacts:
        """What schedules are chosen by."""
        return TargetFacts(
            name=self.name,
            vector_bits=self.vector_bits,
            vector_registers=self.num_vector_registers,
            l1_bytes=self.l1_bytes,
            l1_ways=self.l1_ways,
            l2_bytes=self.l2_bytes,
            l2_ways=self.l2_ways,
            l3_bytes=self.l3_bytes,
            cores=self.cores,
            has_fma=self.has_fma,
            fma_ports=self.fma_ports,
            masked=self.has_masked,
            dot_products=self._dot_products(),
        )

    def _dot_products(self) -> tuple[str, ...]:
        """Every x86-64 multiplies pairs of 16 bits."""
        x86 = self.triple.startswith("x86_64")
        quads = ("vpdpbusd" if x86 else "sdot",) if self.has_dot_product else ()
        if not x86:
            return quads
        return (*quads, "pmaddwd", *(["vdpbf16ps"] if self.has_bf16_dot_product else []))


_X86 = "x86_64-unknown-linux-gnu"
_ARM = "aarch64-unknown-linux-gnu"
_V3 = ("avx2", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")

_NAMED = {
    target.name: target
    for target in (
        Target("x86-64-v2", _X86, "x86-64-v2", "", 128, 16, has_fma=False, needs=("sse4.2", "popcnt")),
        Target("x86-64-v3", _X86, "x86-64-v3", "", 256, 16, needs=_V3),
        Target("x86-64-v4", _X86, "x86-64-v4", "", 512, 32, l2_bytes=1 << 20, has_masked=True, needs=(*_V3, *_V4)),
        Target(
            "cascadelake",
            _X86,
            "cascadelake",
            "",
            512,
            32,
            l2_bytes=1 << 20,
            has_dot_product=True,
            has_masked=True,
            needs=(*_V3, *_V4, "avx512vnni"),
        ),
        Target(
            "znver4",
            _X86,
            "znver4",
            "",
            512,
            32,
            l2_bytes=1 << 20,
            fma_ports=1,
            has_dot_product=True,
            has_bf16_dot_product=True,
            has_masked=True,
            needs=(*_V3, *_V4, "avx512vnni", "avx512bf16"),
        ),
        Target("aarch64", _ARM, "generic", "+neon", 128, 32, l1_bytes=64 << 10, l2_bytes=1 << 20),
        Target("neoverse-n1", _ARM, "neoverse-n1", "", 128, 32, 64 << 10, 1 << 20, l1_ways=4, has_dot_product=True),
    )
}


_HALF_WIDTH = frozenset(["znver4"])
"""Processors that take 512 bits in two halves."""


def target_names() -> tuple[str, ...]:
    """The names that `target_by_name` knows."""
    return ("host", *_NAMED)


def target_by_name(name: str) -> Target:
    """
    The target `name`.

    Raises:
        TargetError: if there is none; says which there are.
    """
    if name == "host":
        return host_target()
    if name in _NAMED:
        return _NAMED[name]
    near = get_close_matches(name, target_names(), n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"expected one of {', '.join(target_names())}"
    raise TargetError(f"unknown target '{name}'; {hint}")


def plain_target(target: Target) -> Target:
    """Any machine of the kind of `target`."""
    return replace(target, name="plain", cpu="x86-64" if target.triple.startswith("x86_64") else "generic", features="")


@cache
def host_target() -> Target:
    """The machine that this process runs on."""
    import llvmlite.binding as llvm

    have = {name for name, present in llvm.get_host_cpu_features().items() if present}
    triple = llvm.get_process_triple()
    (l1, l2, l3), (l1_ways, l2_ways) = _caches()
    arm = triple.startswith("aarch64")
    wide = "avx512f" in have
    return Target(
        name="host",
        triple=triple,
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        vector_bits=512 if wide else 256 if "avx2" in have else 128,
        num_vector_registers=32 if wide or arm else 16,
        l1_bytes=l1,
        l2_bytes=l2,
        l3_bytes=l3,
        l1_ways=l1_ways,
        l2_ways=l2_ways,
        cores=len(os.sched_getaffinity(0)),
        has_fma=arm or "fma" in have,
        fma_ports=1 if wide and llvm.get_host_cpu_name() in _HALF_WIDTH else 2,
        has_dot_product=bool(have & {"avx512vnni", "avxvnni", "dotprod"}),
        has_bf16_dot_product="avx512bf16" in have,
        has_masked=wide,
    )


def host_facts() -> dict[str, str | int]:
    """What `host_target` follows from, found without LLVM, which takes long to load."""
    (l1, l2, l3), (l1_ways, l2_ways) = _caches()
    lines: set[str] = set()
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text()
        lines = {line for line in text.splitlines() if line.partition(":")[0].strip() in _IDENTITY}
    digest = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
    sizes = {"l1_bytes": l1, "l2_bytes": l2, "l3_bytes": l3, "l1_ways": l1_ways, "l2_ways": l2_ways}
    sizes["cores"] = len(os.sched_getaffinity(0))
    return {"name": "host", "machine": platform.machine(), "processor": digest, **sizes}


_IDENTITY = frozenset(
    ["vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features"]
    + [f"CPU {part}" for part in ("implementer", "architecture", "variant", "part", "revision")]
)
"""Lines in Linux's list of processors that tell what they can do."""


def _caches() -> tuple[tuple[int, int, int], tuple[int, int]]:
    """
    Bytes of the first-level data cache, the second level and the last level, and the ways of the first two; typical
    ones where unknown.
    """
    sizes, ways = {1: 32 << 10, 2: 512 << 10, 3: 8 << 20}, {1: 8, 2: 8}
    for entry in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind = int((entry / "level").read_text()), (entry / "type").read_text().strip()
            text, found = (entry / "size").read_text().strip(), int((entry / "ways_of_associativity").read_text())
        except (OSError, ValueError):
            continue
        if kind != "Instruction" and level in sizes and text.endswith("K"):
            sizes[level] = int(text[:-1]) << 10
            ways[level] = found if found > 0 else 8
    return (sizes[1], sizes[2], sizes[3]), (ways[1], ways[2])
