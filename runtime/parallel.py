"""
How compiled code runs loops on several threads: `aicc_parallel(fn, context, total, grain, least, threads)`.

Calls `fn(context, begin, end)` for parts of the iterations `0 <= i < total` that cover each of them once; a part is a
multiple of `grain` iterations but for the last one. Iterations are independent, so results do not depend on the parts.

**Shares.** There are up to `CHUNKS` chunks for each thread. Thread `t` first takes its own share of them, the `t`-th
run of neighbours, so that it finds in its caches what it wrote in the loop before; then what the others have left. A
thread that is held up costs the others the chunk it has in hand, no more.

**Teams.** `aicc_run(main, buffers, sizes, threads, spins)` runs a whole program. The first loop of it that is shared
opens a region of the OpenMP runtime, which lasts until `main` ends: sizes at which no loop is worth sharing pay for no
region. Thread 0 runs `main`, the others wait for loops of it. A loop is published by a step of `sequence`, for which
the others watch, first by spinning, then asleep on a futex. `gate` counts the threads in a loop, which thread 0 waits
for after it has closed the gate: a thread that wakes up late finds the gate closed, and thread 0 has done all the work.

A loop outside of a team (a kernel that is called by itself) is a region of its own. With one thread, as without an
OpenMP runtime, for loops of less than two parts or of fewer than `least` iterations per thread, and within a loop that
a team shares, `fn(context, 0, total)` is called in place. The functions are part of each program.
"""

import ctypes
import platform
from functools import cache

from aicc.runtime.threads import OPENMP_FUNCTIONS, openmp_symbols

FUNCTIONS = ("aicc_parallel", "aicc_run")

CHUNKS = 8
"""Chunks of a loop for each thread, where they are large enough."""

_SERIAL = """
define void @aicc_parallel(ptr %fn, ptr %context, i64 %total, i64 %grain, i64 %least, i64 %threads) {
  call void %fn(ptr %context, i64 0, i64 %total)
  ret void
}
define void @aicc_run(ptr %main, ptr %buffers, ptr %sizes, i64 %threads, i64 %spins) {
  call void %main(ptr %buffers, ptr %sizes, i64 1)
  ret void
}
"""

# The team, in words: 0 sequence, 8 gate, 16 sleepers, 24.. the loop (fn, context, groups, grain, total, chunks), 32
# threads, 33 spins, 34 stop, 35 not 0 once the others have started, 36 not 0 while it shares a loop; from word 40 on
# the next chunk of each thread's share, a cache line apart. Bit 32 of the gate is set while it is closed. Each member
# has the team under the key.
_OPENMP = """
@aicc_thread_key = external global i8
declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare void @GOMP_parallel_start(ptr, ptr, i32)
declare void @GOMP_parallel_end()
declare i32 @omp_get_thread_num()
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare i32 @sched_yield()
declare i64 @syscall(i64, ...)
declare void @PAUSE

define internal ptr @word(ptr %team, i64 %index) alwaysinline {
  %address = getelementptr i64, ptr %team, i64 %index
  ret ptr %address
}

define internal i64 @get(ptr %team, i64 %index) alwaysinline {
  %address = getelementptr i64, ptr %team, i64 %index
  %value = load i64, ptr %address
  ret i64 %value
}

define internal void @set(ptr %team, i64 %index, i64 %value) alwaysinline {
  %address = getelementptr i64, ptr %team, i64 %index
  store i64 %value, ptr %address
  ret void
}

; The first iteration of a chunk.
define internal i64 @boundary(i64 %chunk, i64 %chunks, i64 %groups, i64 %grain, i64 %total) alwaysinline {
  %scaled = mul i64 %chunk, %groups
  %group = udiv i64 %scaled, %chunks
  %first = mul i64 %group, %grain
  %inside = icmp ult i64 %first, %total
  %result = select i1 %inside, i64 %first, i64 %total
  ret i64 %result
}

; Takes part in the loop of the team as thread `id`.
define internal void @work(ptr %team, i64 %id) {
entry:
  %fn.word = call i64 @get(ptr %team, i64 24)
  %fn = inttoptr i64 %fn.word to ptr
  %context.word = call i64 @get(ptr %team, i64 25)
  %context = inttoptr i64 %context.word to ptr
  %groups = call i64 @get(ptr %team, i64 26)
  %grain = call i64 @get(ptr %team, i64 27)
  %total = call i64 @get(ptr %team, i64 28)
  %chunks = call i64 @get(ptr %team, i64 29)
  %threads = call i64 @get(ptr %team, i64 32)
  br label %share
share:
  %step = phi i64 [0, %entry], [%step.next, %share.done]
  %sum = add i64 %id, %step
  %owner = urem i64 %sum, %threads
  %line = mul i64 %owner, 8
  %place = add i64 %line, 40
  %next = call ptr @word(ptr %team, i64 %place)
  %owner.next = add i64 %owner, 1
  %end.scaled = mul i64 %owner.next, %chunks
  %end = udiv i64 %end.scaled, %threads
  br label %look
look:
  %seen = load atomic i64, ptr %next monotonic, align 8
  %left = icmp ult i64 %seen, %end
  br i1 %left, label %take, label %share.done
take:
  %chunk = atomicrmw add ptr %next, i64 1 monotonic
  %mine = icmp ult i64 %chunk, %end
  br i1 %mine, label %run, label %share.done
run:
  %begin = call i64 @boundary(i64 %chunk, i64 %chunks, i64 %groups, i64 %grain, i64 %total)
  %following = add i64 %chunk, 1
  %stop = call i64 @boundary(i64 %following, i64 %chunks, i64 %groups, i64 %grain, i64 %total)
  call void %fn(ptr %context, i64 %begin, i64 %stop)
  br label %look
share.done:
  %step.next = add i64 %step, 1
  %more = icmp ult i64 %step.next, %threads
  br i1 %more, label %share, label %done
done:
  ret void
}

; Describes a loop of `groups` grains to the team.
define internal void @describe(
    ptr %team, ptr %fn, ptr %context, i64 %groups, i64 %grain, i64 %total, i64 %threads) {
entry:
  %most = mul i64 %threads, CHUNKS
  %few = icmp ult i64 %groups, %most
  %chunks = select i1 %few, i64 %groups, i64 %most
  %fn.word = ptrtoint ptr %fn to i64
  %context.word = ptrtoint ptr %context to i64
  call void @set(ptr %team, i64 24, i64 %fn.word)
  call void @set(ptr %team, i64 25, i64 %context.word)
  call void @set(ptr %team, i64 26, i64 %groups)
  call void @set(ptr %team, i64 27, i64 %grain)
  call void @set(ptr %team, i64 28, i64 %total)
  call void @set(ptr %team, i64 29, i64 %chunks)
  br label %share
share:
  %owner = phi i64 [0, %entry], [%owner.next, %share]
  %scaled = mul i64 %owner, %chunks
  %first = udiv i64 %scaled, %threads
  %line = mul i64 %owner, 8
  %place = add i64 %line, 40
  %next = call ptr @word(ptr %team, i64 %place)
  store atomic i64 %first, ptr %next monotonic, align 8
  %owner.next = add i64 %owner, 1
  %more = icmp ult i64 %owner.next, %threads
  br i1 %more, label %share, label %done
done:
  ret void
}

; The next step of the sequence; wakes up the threads that sleep.
define internal void @publish(ptr %team) {
  %old = atomicrmw add ptr %team, i64 1 seq_cst
  %sleepers.place = call ptr @word(ptr %team, i64 16)
  %sleepers = load atomic i64, ptr %sleepers.place seq_cst, align 8
  %asleep = icmp ne i64 %sleepers, 0
  br i1 %asleep, label %wake, label %done
wake:
  %woken = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %team, i32 129, i32 2147483647, ptr null, ptr null, i32 0)
  br label %done
done:
  ret void
}

; A thread of a region that is one loop.
define internal void @once(ptr %team) {
  %id.int = call i32 @omp_get_thread_num()
  %id = zext i32 %id.int to i64
  %set = call i32 @pthread_setspecific(i32 KEY, ptr %team)
  call void @work(ptr %team, i64 %id)
  %cleared = call i32 @pthread_setspecific(i32 KEY, ptr null)
  ret void
}

define void @aicc_parallel(ptr %fn, ptr %context, i64 %total, i64 %grain, i64 %least, i64 %threads) {
entry:
  %one = icmp slt i64 %threads, 2
  %two = shl i64 %grain, 1
  %small = icmp slt i64 %total, %two
  %wanted = mul i64 %least, %threads
  %rare = icmp slt i64 %total, %wanted
  %less = or i1 %small, %rare
  %here = or i1 %one, %less
  br i1 %here, label %serial, label %several
serial:
  call void %fn(ptr %context, i64 0, i64 %total)
  ret void
several:
  %rounded = add i64 %total, %grain
  %reduced = sub i64 %rounded, 1
  %groups = udiv i64 %reduced, %grain
  %team = call ptr @pthread_getspecific(i32 KEY)
  %alone = icmp eq ptr %team, null
  br i1 %alone, label %region, label %member
member:
  %busy = call i64 @get(ptr %team, i64 36)
  %inside.loop = icmp ne i64 %busy, 0
  br i1 %inside.loop, label %serial, label %publish
region:
  %few = icmp slt i64 %groups, %threads
  %count = select i1 %few, i64 %groups, i64 %threads
  %lines = mul i64 %count, 64
  %bytes = add i64 %lines, 320
  %own = alloca i8, i64 %bytes, align 64
  call void @set(ptr %own, i64 32, i64 %count)
  call void @set(ptr %own, i64 36, i64 1)
  call void @describe(
    ptr %own, ptr %fn, ptr %context, i64 %groups, i64 %grain, i64 %total, i64 %count)
  %count.int = trunc i64 %count to i32
  call void @GOMP_parallel(ptr @once, ptr %own, i32 %count.int, i32 0)
  ret void
publish:
  %members = call i64 @get(ptr %team, i64 32)
  call void @describe(
    ptr %team, ptr %fn, ptr %context, i64 %groups, i64 %grain, i64 %total, i64 %members)
  call void @set(ptr %team, i64 36, i64 1)
  %gate = call ptr @word(ptr %team, i64 8)
  %opened = atomicrmw and ptr %gate, i64 4294967295 release
  call void @publish(ptr %team)
  %started = call i64 @get(ptr %team, i64 35)
  %unstarted = icmp eq i64 %started, 0
  br i1 %unstarted, label %start, label %take.part
start:
  call void @set(ptr %team, i64 35, i64 1)
  %members.int = trunc i64 %members to i32
  call void @GOMP_parallel_start(ptr @member, ptr %team, i32 %members.int)
  br label %take.part
take.part:
  call void @work(ptr %team, i64 0)
  %closed = atomicrmw or ptr %gate, i64 4294967296 acq_rel
  br label %wait
wait:
  %tries = phi i64 [0, %take.part], [%tries.next, %again]
  %state = load atomic i64, ptr %gate acquire, align 8
  %inside = and i64 %state, 4294967295
  %all = icmp eq i64 %inside, 0
  br i1 %all, label %left, label %pause
pause:
  call void @PAUSE
  %tries.next = add i64 %tries, 1
  %patient = icmp ult i64 %tries.next, 4000
  br i1 %patient, label %again, label %yield
yield:
  %yielded = call i32 @sched_yield()
  br label %again
again:
  br label %wait
left:
  call void @set(ptr %team, i64 36, i64 0)
  br label %done
done:
  ret void
}

; A thread of a team but the first, which runs main: it waits for loops.
define internal void @member(ptr %team) {
entry:
  %id.int = call i32 @omp_get_thread_num()
  %id = zext i32 %id.int to i64
  %spins = call i64 @get(ptr %team, i64 33)
  %gate = call ptr @word(ptr %team, i64 8)
  %sleepers = call ptr @word(ptr %team, i64 16)
  %stop = call ptr @word(ptr %team, i64 34)
  %set = call i32 @pthread_setspecific(i32 KEY, ptr %team)
  br label %wait
wait:
  %last = phi i64 [0, %entry], [%last, %spin], [%last, %slept], [%now, %late], [%now, %worked]
  %tries = phi i64 [0, %entry], [%tries.next, %spin], [0, %slept], [0, %late], [0, %worked]
  %now = load atomic i64, ptr %team acquire, align 64
  %same = icmp eq i64 %now, %last
  br i1 %same, label %idle, label %called
idle:
  %patient = icmp ult i64 %tries, %spins
  br i1 %patient, label %spin, label %sleep
spin:
  call void @PAUSE
  %tries.next = add i64 %tries, 1
  br label %wait
sleep:
  %more = atomicrmw add ptr %sleepers, i64 1 seq_cst
  %expected = trunc i64 %last to i32
  %status = call i64 (i64, ...) @syscall(i64 FUTEX, ptr %team, i32 128, i32 %expected, ptr null, ptr null, i32 0)
  %fewer = atomicrmw sub ptr %sleepers, i64 1 seq_cst
  br label %slept
slept:
  br label %wait
called:
  %ended = load atomic i64, ptr %stop acquire, align 8
  %over = icmp ne i64 %ended, 0
  br i1 %over, label %leave, label %enter
enter:
  %state = atomicrmw add ptr %gate, i64 1 acquire
  %open = icmp ult i64 %state, 4294967296
  br i1 %open, label %join, label %late
late:
  %left = atomicrmw sub ptr %gate, i64 1 release
  br label %wait
join:
  call void @work(ptr %team, i64 %id)
  %finished = atomicrmw sub ptr %gate, i64 1 release
  br label %worked
worked:
  br label %wait
leave:
  %forgotten = call i32 @pthread_setspecific(i32 KEY, ptr null)
  ret void
}

define void @aicc_run(ptr %main, ptr %buffers, ptr %sizes, i64 %threads, i64 %spins) {
entry:
  %one = icmp slt i64 %threads, 2
  br i1 %one, label %serial, label %several
serial:
  call void %main(ptr %buffers, ptr %sizes, i64 1)
  ret void
several:
  %lines = mul i64 %threads, 64
  %bytes = add i64 %lines, 320
  %team = alloca i8, i64 %bytes, align 64
  call void @llvm.memset.p0.i64(ptr align 64 %team, i8 0, i64 %bytes, i1 false)
  call void @set(ptr %team, i64 8, i64 4294967296)
  call void @set(ptr %team, i64 32, i64 %threads)
  call void @set(ptr %team, i64 33, i64 %spins)
  %set = call i32 @pthread_setspecific(i32 KEY, ptr %team)
  call void %main(ptr %buffers, ptr %sizes, i64 %threads)
  %cleared = call i32 @pthread_setspecific(i32 KEY, ptr null)
  %started = call i64 @get(ptr %team, i64 35)
  %opened = icmp ne i64 %started, 0
  br i1 %opened, label %end, label %done
end:
  %stop = call ptr @word(ptr %team, i64 34)
  store atomic i64 1, ptr %stop release, align 8
  call void @publish(ptr %team)
  call void @GOMP_parallel_end()
  br label %done
done:
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""

_PAUSE = {"x86_64": "llvm.x86.sse2.pause()", "aarch64": "llvm.aarch64.hint(i32 1)"}
_FUTEX = {"x86_64": 202, "aarch64": 98}
"""Number of the system call."""


@cache
def imports() -> dict[str, int]:
    """
    What the functions refer to, by name: those of the OpenMP runtime, of which none is called where there is none and
    one thread is used, and, as if it were an address, a key under which each thread keeps its team.
    """
    key = ctypes.c_uint()
    if ctypes.CDLL(None).pthread_key_create(ctypes.byref(key), None):
        raise OSError("no pthread key is left for aicc's threads")
    return {"aicc_thread_key": key.value, **dict.fromkeys(OPENMP_FUNCTIONS, 0), **openmp_symbols()}


def shim_text() -> str:
    """The LLVM IR of `aicc_parallel` and `aicc_run` for this kind of machine."""
    machine = platform.machine()
    if machine not in _PAUSE:
        return _SERIAL
    pause = _PAUSE[machine]
    declaration = pause.replace("i32 1", "i32")
    text = _OPENMP.replace("declare void @PAUSE", f"declare void @{declaration}")
    text = text.replace("call void @PAUSE", f"call void @{pause}")
    key = "ptrtoint (ptr @aicc_thread_key to i32)"
    for name, value in (("KEY", key), ("CHUNKS", CHUNKS), ("FUTEX", _FUTEX[machine])):
        text = text.replace(name, str(value))
    return text
