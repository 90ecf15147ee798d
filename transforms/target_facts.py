"""What loop transformations need to know of a machine; back ends fill it in from their target descriptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from math import gcd

MASKED_BYTES = 32
"""
Bytes that one masked load reads at most, on any machine: the registers of AVX2.

LLVM cuts what is wider than a register itself, and goes wrong at it (22.1): where a mask is `and` of others and no lane
of a part can be active, as in `splat(condition) & lane < 8` with 16 lanes of f32, that part is loaded without a mask,
or the code generator aborts.
"""


@dataclass(frozen=True)
class TargetFacts:
    """Sizes that schedules are chosen by. The defaults are those of a common x86-64 core with AVX2."""

    name: str = "generic"
    vector_bits: int = 256
    """Bits of one vector register."""
    vector_registers: int = 16
    l1_bytes: int = 32 << 10
    """Data cache of one core, innermost level."""
    l1_ways: int = 8
    """Lines that it holds of those at the same place modulo `l1_bytes / l1_ways`."""
    l2_bytes: int = 512 << 10
    l2_ways: int = 8
    l3_bytes: int = 8 << 20
    """Last level, shared by all cores."""
    cache_line_bytes: int = 64
    """Read from memory at once."""
    cores: int = 2
    region_cycles: int = 5000
    """What it costs to have other threads take part in a loop, and to wait for them."""
    has_fma: bool = True
    fma_ports: int = 2
    """Multiply-adds of whole vector registers that a core starts in each cycle."""
    masked: bool = False
    """Masked loads and stores cost about as much as plain ones."""
    dot_products: tuple[str, ...] = ()
    """Instructions that multiply narrow numbers and add neighbours up: pmaddwd, vpdpbusd, sdot, vdpbf16ps."""

    @property
    def masked_bytes(self) -> int:
        """Bytes that one masked load reads at most: a register where there are masks, else one of AVX2."""
        return max(MASKED_BYTES, self.vector_bits // 8) if self.masked else MASKED_BYTES

    def cache_places(self, distance: int) -> int:
        """Places, of `l1_ways` lines each, that the innermost cache has for lines which lie `distance` bytes apart."""
        way = self.l1_bytes // self.l1_ways
        return max(1, way // max(gcd(distance, way), self.cache_line_bytes))

    def second_places(self, distance: int) -> tuple[int, int]:
        """Places that the second-level cache has for lines `distance` bytes apart, and how far apart these lie."""
        way = self.l2_bytes // self.l2_ways
        apart = max(gcd(distance, way), self.cache_line_bytes)
        return max(1, way // apart), apart

    def without_bf16_dots(self) -> TargetFacts:
        """The same machine, whose dot products are of integers alone."""
        kept = tuple(name for name in self.dot_products if name not in BF16_DOT_PRODUCTS)
        return replace(self, dot_products=kept)

    def lanes(self, element_bits: int) -> int:
        """Elements of that many bits in one register; at least 1."""
        return max(1, self.vector_bits // max(element_bits, 8))

    def slots(self, lanes: int, width: int) -> float:
        """
        Arithmetic on so many lanes, in that of whole registers of `width`: half of a register is half of the work where
        a whole one keeps all units busy.
        """
        full, rest = divmod(lanes, width)
        return full + (0.0 if not rest else 0.5 if self.fma_ports == 1 and 2 * rest <= width else 1.0)


GENERIC = TargetFacts()
"""The facts used where no target is named."""

BF16_DOT_PRODUCTS = frozenset(["vdpbf16ps"])
"""Those of bf16, two at a time, in f32."""

_TARGETS = "aicc.backends.llvm.targets"
"""Where names of targets are known; looked up when a name is used, since back ends are built on transforms."""


def facts_of(target: str) -> TargetFacts:
    """
    The facts of a target by name, `host` for this machine, `generic` for none in particular.

    Raises:
        DiagnosticException: if no back end knows the name.
    """
    if target == GENERIC.name:
        return GENERIC
    try:
        return import_module(_TARGETS).target_by_name(target).facts()
    except ValueError as error:
        # Cached programs are found by their target, without xDSL.
        from xdsl.utils.exceptions import DiagnosticException

        raise DiagnosticException(str(error)) from error
