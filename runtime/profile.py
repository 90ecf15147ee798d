"""What a profiled program notes of each of its kernel calls."""

import numpy as np

RUNS, TOTAL, SHORTEST, LAST = range(4)
"""Columns of the counters: runs, nanoseconds in all, of the shortest run, and the clock when the last run began."""

CLOCK_SHIM = """
declare i32 @clock_gettime(i32, ptr)
define i64 @aicc_clock() {
  %t = alloca [2 x i64]
  %status = call i32 @clock_gettime(i32 1, ptr %t)
  %seconds = load i64, ptr %t
  %rest = getelementptr i64, ptr %t, i64 1
  %nanoseconds = load i64, ptr %rest
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %nanoseconds
  ret i64 %now
}
"""
"""Nanoseconds of the steady clock (number 1 on Linux)."""


def new_counters(calls: int) -> np.ndarray:
    """Counters of that many calls, none of which has run."""
    counters = np.empty((calls, 4), np.int64)
    reset_counters(counters)
    return counters


def reset_counters(counters: np.ndarray) -> None:
    """Forgets all runs."""
    counters[:] = 0
    counters[:, SHORTEST] = np.iinfo(np.int64).max
