"""Matrix products: squares, and the shapes that networks have, with a constant and with a run-time second operand."""

from collections.abc import Sequence
from functools import partial

import onnx

from benchmarks.builder import F32, Builder
from benchmarks.cases import Case

SQUARES = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)

SHAPES = (
    # Tall and wide.
    (4096, 64, 64),
    (64, 64, 4096),
    (64, 4096, 64),
    (2048, 256, 32),
    (32, 256, 2048),
    # Networks: classifiers, transformers, windows of attention.
    (1, 768, 3072),
    (1, 2048, 1000),
    (1000, 1, 512),
    (49, 64, 576),
    (128, 768, 768),
    (128, 768, 3072),
    (128, 3072, 768),
    (197, 768, 2304),
    (197, 3072, 768),
    # Few rows.
    (2, 768, 768),
    (4, 768, 768),
    (7, 768, 768),
    (16, 768, 768),
    # No size that a tile divides.
    (17, 33, 65),
    (101, 103, 107),
    (255, 257, 511),
    (1023, 1025, 1021),
)
"""`m, k, n` of `[m, k] @ [k, n]`."""

BATCHES = (
    (12, 128, 64, 128),
    (12, 128, 128, 64),
    (12, 197, 64, 197),
    (64, 49, 32, 49),
    (8, 256, 256, 256),
    (96, 17, 33, 65),
)
"""`b, m, k, n`."""

VECTORS = ((768, 3072), (4096, 4096), (512, 512))
"""`k, n` of `[k] @ [k, n]` and `[n, k] @ [k]`."""


def matmul(a: Sequence[int], b: Sequence[int], *, constant: bool) -> onnx.ModelProto:
    """`c = a @ b`, with `b` an initializer or an input."""
    build = Builder()
    inputs = {"a": (F32, a)}
    if constant:
        build.weight("b", "linear", b, b[-2] if len(b) > 1 else b[0])
    else:
        inputs["b"] = (F32, b)
    result = build.node("MatMul", "matmul", "a", "b")
    return build.model("matmul", 17, inputs, {"c": (result, None)})


def matmul_cases() -> list[Case]:
    cases: list[Case] = []

    def add(name: str, a: Sequence[int], b: Sequence[int], *, constant: bool) -> None:
        kind = "const" if constant else "runtime"
        cases.append(Case(f"matmul/{name}/{kind}", partial(matmul, a, b, constant=constant)))

    for constant in (True, False):
        for n in SQUARES:
            add(f"{n}", (n, n), (n, n), constant=constant)
        for m, k, n in SHAPES:
            add(f"{m}x{k}x{n}", (m, k), (k, n), constant=constant)
        for k, n in VECTORS:
            add(f"vector-{k}x{n}", (k,), (k, n), constant=constant)
        for k, n in VECTORS:
            add(f"{n}x{k}-vector", (n, k), (k,), constant=constant)
    for batch, m, k, n in BATCHES:
        add(f"batch{batch}x{m}x{k}x{n}", (batch, m, k), (batch, k, n), constant=False)
    return cases
