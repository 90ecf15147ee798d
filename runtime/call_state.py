"""
What a call of a program needs whose sizes data defines: a way out of it, and memory that it asks for while it runs.

The state of a call is a table of words:

    0        number of the check that ended the run, from 1 on; 0: it came to its end; -1: there was no memory
    1, 2     the two values that were compared, or the bytes that were asked for
    4..67    where the run is left to (`jmp_buf`)
    68..     of each pooled buffer its address and bytes

`aicc_guard` runs `main` so that `aicc_stop` can leave it, from the thread that called it and outside of its loops;
`aicc_reserve` makes a pooled buffer large enough, and `aicc_extend` keeps what it holds. Before the values of the
symbols that a program is called with lie the addresses of `main` and of the state.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from aicc.runtime.memory import address_of, aligned_empty

BUFFERS = 68
"""The first word of the first pooled buffer."""

OUT_OF_MEMORY = -1

TEXT = """
declare i32 @_setjmp(ptr) returns_twice
declare void @longjmp(ptr, i32) noreturn
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)
declare ptr @memcpy(ptr, ptr, i64)

define void @aicc_guard(ptr %buffers, ptr %sizes, i64 %threads) {
entry:
  %main.place = getelementptr i64, ptr %sizes, i64 -2
  %main = load ptr, ptr %main.place
  %state.place = getelementptr i64, ptr %sizes, i64 -1
  %state = load ptr, ptr %state.place
  %environment = getelementptr i64, ptr %state, i64 4
  %left = call i32 @_setjmp(ptr %environment) returns_twice
  %first = icmp eq i32 %left, 0
  br i1 %first, label %run, label %done
run:
  call void %main(ptr %buffers, ptr %sizes, i64 %threads)
  br label %done
done:
  ret void
}

define void @aicc_stop(ptr %state, i64 %number, i64 %lhs, i64 %rhs) noreturn {
entry:
  store i64 %number, ptr %state
  %lhs.place = getelementptr i64, ptr %state, i64 1
  store i64 %lhs, ptr %lhs.place
  %rhs.place = getelementptr i64, ptr %state, i64 2
  store i64 %rhs, ptr %rhs.place
  %environment = getelementptr i64, ptr %state, i64 4
  call void @longjmp(ptr %environment, i32 1)
  unreachable
}

define ptr @aicc_reserve(ptr %state, i64 %buffer, i64 %bytes, double %estimate) {
  %place = call ptr @aicc_sized(ptr %state, i64 %buffer, i64 %bytes, double %estimate, i1 0)
  ret ptr %place
}

define ptr @aicc_extend(ptr %state, i64 %buffer, i64 %bytes, double %estimate) {
  %place = call ptr @aicc_sized(ptr %state, i64 %buffer, i64 %bytes, double %estimate, i1 1)
  ret ptr %place
}

define internal ptr @aicc_sized(ptr %state, i64 %buffer, i64 %bytes, double %estimate, i1 %keeping) {
entry:
  %made = alloca ptr
  %index = shl i64 %buffer, 1
  %word = add i64 %index, 68
  %place = getelementptr i64, ptr %state, i64 %word
  %capacity.place = getelementptr i64, ptr %place, i64 1
  %old = load ptr, ptr %place
  %capacity = load i64, ptr %capacity.place
  ; More than 2^46 bytes: `bytes` may have overflowed.
  %absurd = fcmp ogt double %estimate, 0x42D0000000000000
  br i1 %absurd, label %fail, label %look
look:
  %fits = icmp ule i64 %bytes, %capacity
  %there = icmp ne ptr %old, null
  %enough = and i1 %fits, %there
  br i1 %enough, label %found, label %grow
found:
  ret ptr %old
grow:
  %half = lshr i64 %capacity, 1
  %more = add i64 %capacity, %half
  %larger = icmp ugt i64 %bytes, %more
  %wanted = select i1 %larger, i64 %bytes, i64 %more
  %raised = add i64 %wanted, 64
  %rounded = and i64 %raised, -64
  br i1 %keeping, label %get, label %drop
drop:
  call void @free(ptr %old)
  store ptr null, ptr %place
  store i64 0, ptr %capacity.place
  br label %get
get:
  %status = call i32 @posix_memalign(ptr %made, i64 64, i64 %rounded)
  %worked = icmp eq i32 %status, 0
  br i1 %worked, label %done, label %fail
done:
  %new = load ptr, ptr %made
  br i1 %keeping, label %copy, label %keep
copy:
  %content = call ptr @memcpy(ptr %new, ptr %old, i64 %capacity)
  call void @free(ptr %old)
  br label %keep
keep:
  store ptr %new, ptr %place
  store i64 %rounded, ptr %capacity.place
  ret ptr %new
fail:
  call void @aicc_stop(ptr %state, i64 -1, i64 %bytes, i64 0)
  unreachable
}
"""
"""The functions, which are part of each program that needs them."""

_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None


class _Block:
    """Memory of the C library's, given back with the last array that shows it."""

    def __init__(self, address: int, size: int) -> None:
        self._address = address
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}

    def __del__(self) -> None:
        _free(self._address)


class CallState:
    """The state of one call at a time; pooled buffers are used again by the next one."""

    def __init__(self, main: int, sizes: int, buffers: int) -> None:
        """`sizes` is the number of symbols, with those that the program defines."""
        self._words = aligned_empty([BUFFERS + 2 * buffers], np.dtype(np.int64))
        self._words[:] = 0
        self._buffers = buffers
        values = np.zeros(2 + sizes, np.int64)
        values[:2] = main, address_of(self._words)
        self.sizes = values[2:]
        """The values of the symbols."""
        # Of `values`: numpy lets an empty slice begin where the whole does.
        self.address = address_of(values) + values[:2].nbytes
        """What the program is called with."""

    @property
    def stopped(self) -> tuple[int, int, int] | None:
        """What ended the last run, if it did not come to its end; it is forgotten then."""
        number, lhs, rhs = self._words[:3].tolist()
        self._words[0] = 0
        return (number, lhs, rhs) if number else None

    def take(self, buffer: int, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> np.ndarray:
        """A pooled buffer as an array of `size` bytes that owns its memory."""
        place = BUFFERS + 2 * buffer
        address = int(self._words[place])
        self._words[place : place + 2] = 0
        raw = np.asarray(_Block(address, size))
        return np.ndarray(shape, dtype, raw)

    def __del__(self) -> None:
        for address in self._words[BUFFERS::2].tolist():
            if address:
                _free(address)
