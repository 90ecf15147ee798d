"""Transposes in registers: any permutation and element size, odd sizes, symbolic sizes; against numpy."""

from dataclasses import replace

import numpy as np
import pytest

import aicc
from aicc.backends.llvm.targets import Target
from aicc.dialects.loops.interpreter import Interpreter
from aicc.lowering.parse import parse_module
from aicc.transforms.target_facts import TargetFacts

SHAPES = [
    ((64, 48), (1, 0)),
    ((67, 45), (1, 0)),
    ((16, 8), (1, 0)),
    ((15, 7), (1, 0)),
    ((3, 33, 40), (0, 2, 1)),
    ((20, 3, 37), (2, 1, 0)),
    ((2, 19, 5, 33), (0, 3, 1, 2)),
    ((0, 16), (1, 0)),
]
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i64": np.int64, "i1": np.bool_}


def transpose(shape: tuple[int | str, ...], permutation: tuple[int, ...], element: str) -> aicc.Model:
    def type_of(sizes: list[int | str]) -> str:
        names = [size for size in sizes if isinstance(size, str)]
        encoding = f", #graph.dims<{', '.join(names)}>" if names else ""
        return f"tensor<{'x'.join('?' if isinstance(s, str) else str(s) for s in sizes)}x{element}{encoding}>"

    source, target = type_of(list(shape)), type_of([shape[axis] for axis in permutation])
    return aicc.compile(
        f"""
        func.func @main(%x: {source}) -> {target} {{
          %t = graph.transpose %x {{permutation = {list(permutation)}}} : {source} -> {target}
          func.return %t : {target}
        }}
        """,
        threads=1,
        cache=False,
    )


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("shape, permutation", SHAPES[1:2] + SHAPES[5:7])
def test_element_types(shape: tuple[int, ...], permutation: tuple[int, ...], element: str):
    x = np.random.default_rng(0).integers(0, 2 if element == "i1" else 100, shape).astype(TYPES[element])
    (result,) = transpose(shape, permutation, element).run({"input0": x}).values()
    np.testing.assert_array_equal(result, x.transpose(permutation))


@pytest.mark.parametrize("shape, permutation", SHAPES)
def test_sizes(shape: tuple[int, ...], permutation: tuple[int, ...]):
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    (result,) = transpose(shape, permutation, "f32").run({"input0": x}).values()
    np.testing.assert_array_equal(result, x.transpose(permutation))


def test_symbolic_sizes():
    model = transpose(("M", "N"), (1, 0), "f32")
    for shape in [(1, 1), (7, 100), (16, 8), (33, 47), (100, 3), (0, 5)]:
        x = np.random.default_rng(0).standard_normal(shape, np.float32)
        (result,) = model.run({"input0": x}).values()
        np.testing.assert_array_equal(result, x.T)


SMALL_CACHES = {"l3_bytes": 1 << 14, "l2_bytes": 1 << 20, "l1_bytes": 32 << 10}
AHEAD = [
    ((128, 256), (1, 0)),
    ((131, 323), (1, 0)),
    ((64, 515), (1, 0)),
    ((257, 64), (1, 0)),
    ((3, 130, 200), (0, 2, 1)),
    ((130, 3, 96), (2, 1, 0)),
    ((70, 3, 5, 65), (2, 3, 1, 0)),
]


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "i8"])
@pytest.mark.parametrize("shape, permutation", AHEAD)
def test_parts_fetched_ahead(
    shape: tuple[int, ...], permutation: tuple[int, ...], element: str, monkeypatch: pytest.MonkeyPatch
):
    """Results larger than the last cache, whatever the machine's: full parts, and what does not fill one."""
    facts = Target.facts

    def small(target: Target) -> TargetFacts:
        return replace(facts(target), **SMALL_CACHES)

    monkeypatch.setattr(Target, "facts", small)
    model = transpose(shape, permutation, element)
    values = np.random.default_rng(0).integers(0, 100, shape).astype(TYPES[element])
    # Inputs that begin with a cache line, and in the middle of one.
    for start in (0, 16 // values.itemsize):
        memory = np.zeros(values.nbytes + 256, np.uint8)
        x = np.ndarray(shape, values.dtype, memory, -memory.ctypes.data % 64 + start * values.itemsize)
        x[...] = values
        (result,) = model.run({"input0": x}).values()
        np.testing.assert_array_equal(result, values.transpose(permutation))


def test_hint_has_no_meaning():
    """Outside of the buffer too, and after the last iteration."""
    text = """
    func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {aicc.num_outputs = 1 : i64} {
      loops.for "i" %i = 0 to 4 {
        loops.prefetch %x[%i * 1000000 - 7] locality 3 : memref<4xf32>
        loops.prefetch %y[%i + 1] write locality 0 : memref<4xf32>
        %v = loops.load %x[3 - %i] : memref<4xf32> to f32
        loops.store %v, %y[%i] : f32 to memref<4xf32>
      }
      func.return
    }
    """
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    Interpreter(parse_module(text)).call("main", x, y)
    np.testing.assert_array_equal(y, x[::-1])
    (result,) = aicc.compile(text, cache=False)(x)
    np.testing.assert_array_equal(result, x[::-1])
