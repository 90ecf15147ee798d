"""What a process holds in memory, as Linux counts it."""

import re
from pathlib import Path


def _status(field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def resident_bytes() -> int:
    """The resident set of this process now."""
    return _status("VmRSS")


def resident_peak_bytes() -> int:
    """The largest resident set of this process so far."""
    return _status("VmHWM")
