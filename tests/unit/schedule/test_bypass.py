"""Results written past the caches: the same values wherever arrays begin and rows end, on any number of threads."""

import numpy as np
import pytest

import aicc

ELEMENTS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8}

KERNEL = """
func.func @main(%x: memref<{rows}x{columns}x{type}>, %y: memref<{rows}x{columns}x{type}>)
    attributes {{aicc.num_outputs = 1 : i64}} {{
  loops.call @k(%x, %y) : memref<{rows}x{columns}x{type}>, memref<{rows}x{columns}x{type}>
  func.return
}}
func.func private @k(%x: memref<{rows}x{columns}x{type}>, %y: memref<{rows}x{columns}x{type}>)
    attributes {{aicc.kernel, aicc.num_outputs = 1 : i64}} {{
  loops.for "i" %i = 0 to {rows} parallel {{
    loops.for "j" %j = 0 to {columns} parallel {{
      %v = loops.load %x[%i, %j] : memref<{rows}x{columns}x{type}> to {type}
      loops.store %v, %y[%i, %j] : {type} to memref<{rows}x{columns}x{type}>
    }}
  }}
  func.return
}}
transform.named_sequence @k_schedule(%k: !transform.any_op) {{
  %i = schedule.loop %k {{label = "i"}}
  %j = schedule.loop %k {{label = "j"}}
  %io, %jo, %ii, %ji, %t = schedule.tile %i, %j {{sizes = array<i64: 2, 64>}}
  schedule.vectorize %ii, %ji
  schedule.parallelize %io
  schedule.bypass_caches %k {{argument = 1 : i64}}
  transform.yield
}}
"""


def shifted(shape: tuple[int, ...], dtype: type, elements: int) -> np.ndarray:
    """Zeros that begin so many elements after a cache line."""
    size = np.dtype(dtype).itemsize
    memory = np.zeros(int(np.prod(shape)) * size + 256, np.uint8)
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % 64 + elements * size)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("columns", [64, 100, 192, 3])
@pytest.mark.parametrize("element", ELEMENTS)
def test_any_address(element: str, columns: int, threads: int):
    rows, dtype = 21, ELEMENTS[element]
    text = KERNEL.format(rows=rows, columns=columns, type=element)
    model = aicc.compile(text, threads=threads, cache=False)
    x = np.random.default_rng(0).integers(-100, 100, (rows, columns)).astype(dtype)
    for elements in (0, 1, 4, 16):
        out = shifted(x.shape, dtype, elements)
        model(x, out=[out])
        np.testing.assert_array_equal(out, x)


def test_large_result_of_a_model():
    """The scheduler's own choice, for this machine; an uneven row length, and results that outlive the next call."""
    rows, columns = 4099, 8191
    text = f"""
    func.func @main(%x: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
      %r = graph.relu %x : tensor<{rows}x{columns}xf32> -> tensor<{rows}x{columns}xf32>
      func.return %r : tensor<{rows}x{columns}xf32>
    }}
    """
    model = aicc.compile(text, threads=2, cache=False)
    x = np.random.default_rng(0).standard_normal((rows, columns), np.float32)
    (first,), (second,) = model(x), model(-x)
    np.testing.assert_array_equal(first, np.maximum(x, 0))
    np.testing.assert_array_equal(second, np.maximum(-x, 0))
