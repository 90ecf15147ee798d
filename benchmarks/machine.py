"""The machine's own limits, against which shares are taken."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.fma_peak import fma_peak


@dataclass(frozen=True)
class Bandwidth:
    """Bytes per second that a working set of `size` bytes can be read with, and copied with (read + written)."""

    size: int
    read: float
    copy: float


@dataclass(frozen=True)
class Limits:
    """The most one number of threads can do: f32 operations per second, and bandwidths by size of the working set."""

    flops: float
    bandwidths: tuple[Bandwidth, ...] = field(default=())

    def bandwidth(self, size: int) -> float:
        """Bytes per second for a working set of `size` bytes: that of the smallest level measured that holds it."""
        for level in self.bandwidths:
            if size <= level.size:
                return max(level.read, level.copy)
        last = self.bandwidths[-1]
        return max(last.read, last.copy)

    def bound(self, flops: int | None, size: int) -> float:
        """Seconds that no implementation can beat: the roofline."""
        seconds = (flops or 0) / self.flops
        return max(seconds, size / self.bandwidth(size)) if self.bandwidths else seconds


def measure_limits(threads: Sequence[int]) -> dict[int, Limits]:
    return {count: Limits(fma_peak(count)) for count in threads}
