"""
Times aicc beside numpy, onnxruntime and openvino: `python -m benchmarks [--help]`, or `make bench`.

Results are checked in the run that is timed. Times are medians over interleaved rounds, each engine in its own process.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from benchmarks import models
from benchmarks.fma_peak import fma_peak
from benchmarks.rounds import Measured, blas_of_numpy, compare

SIZE = 1024
TOLERANCE = 1e-3
"""Of the largest result, in f32."""

MATMUL_FLOOR = 0.70
"""Share of the FMA peak on one thread."""
MODEL_FLOOR = 2.5
"""Times onnxruntime's time on one thread, at most."""
COLD_FLOOR = 15.0
"""Seconds from the start of a process to a compiled ResNet-50."""


def matmul(size: int = SIZE) -> onnx.ModelProto:
    """`c = a @ b` with square f32 matrices, none of them constant."""
    shape = [size, size]
    a, b, c = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "abc")
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["c"], "matmul")], "matmul", [a, b], [c])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


WORKLOADS: dict[str, tuple[Callable[[], onnx.ModelProto], dict[str, int]]] = {
    "matmul": (matmul, {}),
    "squeezenet": (lambda: models.light("squeezenet"), {}),
    "resnet50": (lambda: models.light("resnet50"), {}),
    "mobilenet_v2": (models.mobilenet_v2, {"N": 1}),
    "encoder": (models.encoder_transformer, {"N": 1, "S": 128}),
}
"""Name -> how to build the model, and the sizes of its symbols."""


def cold_compile(model: Path, folder: Path) -> float:
    """Seconds from the start of a fresh process with an empty cache to the compiled model, imports counted."""
    cache = folder / "empty-cache"
    code = "import sys, aicc; aicc.compile(sys.argv[1])"
    environment = os.environ | {"AICC_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, str(model)], check=True, cwd=folder, env=environment)
    return time.perf_counter() - start


def row(workload: str, threads: int, measured: list[Measured], reference: str, peak: float) -> str:
    """One line of the table per engine: time, against the reference, share of the peak (matmul only), difference."""
    base = next(m.run for m in measured if m.engine == reference)
    lines: list[str] = []
    for m in measured:
        share = f"{2 * SIZE**3 / m.run / peak:9.0%}" if workload == "matmul" else " " * 9
        error = "reference" if m.engine == reference else f"{m.error:.1e}"
        lines.append(
            f"{workload:<13}{threads:>7}  {m.engine:<12}{m.run * 1e3:>11.3f}{m.run / base:>10.2f}{share}  {error:>10}"
            f"{m.load:>9.2f}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; default: all")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads (default: 1 2)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds over all engines (default: 5)")
    parser.add_argument("--no-cold", action="store_true", help="leave out the cold compilation of ResNet-50")
    arguments = parser.parse_args()
    for name in arguments.workloads:
        if name not in WORKLOADS:
            parser.error(f"unknown workload '{name}'; expected one of {', '.join(WORKLOADS)}")

    installed = [name for name in ("onnxruntime", "openvino") if find_spec(name)]
    peaks = {threads: fma_peak(threads) for threads in arguments.threads}
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print("FMA peak: " + ", ".join(f"{peak / 1e9:.0f} GFLOP/s on {t}" for t, peak in peaks.items()) + " thread(s)")
    floors: list[tuple[bool, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        header = f"{'workload':<13}{'threads':>7}  {'engine':<12}{'time [ms]':>11}{'relative':>10}{'of peak':>9}"
        print(f"{header}  {'difference':>10}{'load [s]':>9}")
        for workload in arguments.workloads or WORKLOADS:
            build, sizes = WORKLOADS[workload]
            model, path = build(), folder / f"{workload}.onnx"
            onnx.save(model, path)
            reference = "numpy" if workload == "matmul" else "onnxruntime"
            engines = ["aicc", *(["numpy"] if workload == "matmul" else []), *installed]
            inputs = models.sample_inputs(model, sizes)
            for threads in arguments.threads:
                measured = compare(engines, reference, path, inputs, threads, arguments.rounds)
                print(row(workload, threads, measured, reference, peaks[threads]), flush=True)
                ours, base = measured[0], next(m for m in measured if m.engine == reference)
                floors.append(
                    (ours.error <= TOLERANCE, f"{workload}: results within {TOLERANCE} on {threads} thread(s)")
                )
                if threads == 1 and workload == "matmul":
                    share = 2 * SIZE**3 / ours.run / peaks[1]
                    floors.append((share >= MATMUL_FLOOR, f"matmul: {share:.0%} of the peak, floor {MATMUL_FLOOR:.0%}"))
                elif threads == 1 and workload in ("squeezenet", "resnet50"):
                    ratio = ours.run / base.run
                    text = f"{workload}: {ratio:.2f} times onnxruntime's time, ceiling {MODEL_FLOOR}"
                    floors.append((ratio <= MODEL_FLOOR, text))
            if workload == "matmul":
                print(f"numpy's matrix product: {blas_of_numpy(path)}")
            if workload == "resnet50" and not arguments.no_cold:
                seconds = cold_compile(path, folder)
                floors.append(
                    (seconds <= COLD_FLOOR, f"resnet50: compiled cold in {seconds:.1f} s, ceiling {COLD_FLOOR:.0f}")
                )
            path.unlink()
    print()
    for met, text in floors:
        print(f"{'ok  ' if met else 'FAIL'} {text}")
    return 0 if all(met for met, _ in floors) else 1


if __name__ == "__main__":
    sys.exit(main())
