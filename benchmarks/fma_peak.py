"""
The most f32 arithmetic one core, or several at once, can do: fused multiply-adds that never leave the registers.

`python -m benchmarks.fma_peak` prints it. The figure is the yardstick for every "share of the peak" in the benchmarks.
"""

import ctypes
import threading
import time

import llvmlite.binding as llvm

ITERATIONS = 2_000_000
REPEATS = 12


def _source(lanes: int, chains: int) -> str:
    """A loop over `chains` independent FMA chains of `lanes` lanes; enough of them hide the latency of the unit."""
    vector = f"<{lanes} x float>"
    fma = f"@llvm.fma.v{lanes}f32"
    lines = ["define void @chains(i64 %n, ptr %p) {", "entry:"]
    lines += [f"  %a = load {vector}, ptr %p", f"  %b = load {vector}, ptr %p", "  br label %loop", "loop:"]
    lines += ["  %i = phi i64 [0, %entry], [%next, %loop]"]
    lines += [f"  %c{k} = phi {vector} [zeroinitializer, %entry], [%d{k}, %loop]" for k in range(chains)]
    operands = f"{vector} %a, {vector} %b"
    lines += [f"  %d{k} = call {vector} {fma}({operands}, {vector} %c{k})" for k in range(chains)]
    lines += ["  %next = add i64 %i, 1", "  %done = icmp eq i64 %next, %n", "  br i1 %done, label %end, label %loop"]
    lines += ["end:"]
    for k in range(chains):
        lines += [f"  %q{k} = getelementptr {vector}, ptr %p, i64 {k}", f"  store {vector} %d{k}, ptr %q{k}"]
    lines += ["  ret void", "}", f"declare {vector} {fma}({vector}, {vector}, {vector})"]
    return "\n".join(lines)


def _measure(lanes: int, chains: int, threads: int) -> float:
    """Operations per second of all threads together, the best of `REPEATS`; an FMA counts as two."""
    module = llvm.parse_assembly(_source(lanes, chains))
    features = llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3, jit=True
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(engine.get_function_address("chains"))
    buffers = [(ctypes.c_float * 4096)() for _ in range(threads)]
    best = float("inf")
    for _ in range(REPEATS):
        # ctypes lets go of the interpreter's lock, so the threads run at once.
        workers = [
            threading.Thread(target=run, args=(ITERATIONS, -(-ctypes.addressof(buffer) // 64) * 64))
            for buffer in buffers
        ]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        best = min(best, time.perf_counter() - start)
    return threads * ITERATIONS * chains * lanes * 2 / best


def fma_peak(threads: int = 1) -> float:
    """f32 operations per second in registers: the best of the vector widths and numbers of chains worth trying."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return max(_measure(lanes, chains, threads) for lanes, chains in ((4, 12), (8, 12), (16, 12), (16, 24)))


if __name__ == "__main__":
    for count in (1, 2):
        print(f"{count} thread{'s' * (count > 1)}: {fma_peak(count) / 1e9:.1f} GFLOP/s")
