"""Attention as one kernel: the numbers of numpy, whatever the sizes, masks and element types."""

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import aicc
from aicc.dialects.loops.functions import kernels
from aicc.tools.driver_api import parse_module, run_pipeline

HEADS, WIDTH = 3, 16


def attention(element: str = "f32", queries: str = "S", keys: str = "S", batch: str = "N") -> str:
    """`softmax(q k^T / 4 + mask) v` with heads apart, read from and written to `[batch, length, heads, width]`."""
    names = [name for name in dict.fromkeys((batch, queries, keys)) if not name.isdigit()]

    def tensor(*dims: str | int) -> str:
        shape = "x".join("?" if str(dim) in names else str(dim) for dim in dims)
        symbols = ", ".join(str(dim) for dim in dims if str(dim) in names)
        return f"tensor<{shape}x{element}{f', #graph.dims<{symbols}>' if symbols else ''}>"

    b, s, t, h, d = batch, queries, keys, HEADS, WIDTH
    q, k, mask = tensor(b, s, h, d), tensor(b, t, h, d), tensor(b, 1, s, t)
    qt, kt, kk, p = tensor(b, h, s, d), tensor(b, h, t, d), tensor(b, h, d, t), tensor(b, h, s, t)
    return f"""
func.func @main(%q: {q}, %k: {k}, %v: {k}, %m: {mask}) -> {q} {{
  %c = graph.constant dense<2.500000e-01> : tensor<{element}>
  %a = graph.transpose %q {{permutation = [0, 2, 1, 3]}} : {q} -> {qt}
  %b = graph.transpose %k {{permutation = [0, 2, 3, 1]}} : {k} -> {kk}
  %d = graph.transpose %v {{permutation = [0, 2, 1, 3]}} : {k} -> {kt}
  %s = graph.matmul %a, %b : {qt}, {kk} -> {p}
  %t = graph.mul %s, %c : {p}, tensor<{element}> -> {p}
  %u = graph.add %t, %m : {p}, {mask} -> {p}
  %w = graph.softmax %u {{axis = 3}} : {p} -> {p}
  %o = graph.matmul %w, %d : {p}, {kt} -> {qt}
  %r = graph.transpose %o {{permutation = [0, 2, 1, 3]}} : {qt} -> {q}
  func.return %r : {q}
}}
"""


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    q, k, v = (x.astype(np.float64).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / 4 + mask.astype(np.float64)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)


def arrays(batch: int, queries: int, keys: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = [(batch, length, HEADS, WIDTH) for length in (queries, keys, keys)]
    mask = np.where(rng.random((batch, 1, queries, keys)) < 0.2, -1e4, 0.0)
    return [*(rng.standard_normal(shape, dtype=np.float32) for shape in shapes), mask.astype(np.float32)]


def kernel_names(text: str) -> list[str]:
    module = parse_module(text)
    run_pipeline(module, "graph-simplify,graph-fuse,tensor-ops-outline-kernels")
    return [kernel.sym_name.data for kernel in kernels(module) if isinstance(kernel, FuncOp)]


def test_is_one_kernel():
    assert len(kernel_names(attention())) == 1


@pytest.fixture(scope="module")
def symbolic() -> aicc.Model:
    return aicc.compile(parse_module(attention(queries="S", keys="T")), threads=2)


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 1),
        (2, 3, 3),
        (1, 5, 4),
        (2, 2, 1),
        (1, 1, 40),
        (2, 5, 5),
        (1, 97, 97),
        (1, 6, 130),
        (3, 100, 7),
        (1, 128, 64),
        (0, 4, 4),
        (1, 0, 3),
    ],
)
def test_all_sizes_of_one_compilation(symbolic: aicc.Model, sizes: tuple[int, int, int]):
    inputs = arrays(*sizes)
    np.testing.assert_allclose(symbolic(*inputs)[0], expected(*inputs), atol=2e-6)


@pytest.mark.parametrize("length", [1, 31, 48, 197])
def test_known_sizes(length: int):
    text = attention(queries=str(length), keys=str(length), batch="1")
    inputs = arrays(1, length, length)
    np.testing.assert_allclose(aicc.compile(parse_module(text))(*inputs)[0], expected(*inputs), atol=2e-6)


def test_rows_without_a_key_are_nan_and_no_others(symbolic: aicc.Model):
    inputs = arrays(2, 50, 33)
    inputs[3][:] = np.where(np.random.default_rng(1).random(inputs[3].shape) < 0.5, -np.inf, 0.0)
    inputs[3][1, 0, 7] = -np.inf
    inputs[3][0, 0, 49] = -np.inf
    (result,), wanted = symbolic(*inputs), expected(*inputs)
    rows = np.isnan(result)
    assert rows[1, 7].all() and rows[0, 49].all() and rows.sum() == 2 * HEADS * WIDTH
    np.testing.assert_allclose(result, wanted, atol=2e-6)


def test_same_bits_on_any_number_of_threads():
    text = attention()
    inputs = arrays(2, 150, 150)
    one, two = (aicc.compile(parse_module(text), threads=threads)(*inputs)[0] for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(("element", "dtype", "error"), [("f16", np.float16, 2e-3), ("bf16", ml_dtypes.bfloat16, 2e-2)])
def test_narrow_elements(element: str, dtype: type, error: float):
    inputs = [array.astype(dtype) for array in arrays(1, 40, 40)]
    (result,) = aicc.compile(parse_module(attention(element)))(*inputs)
    np.testing.assert_allclose(result.astype(np.float64), expected(*inputs), atol=error)
