"""Products in blocks: odd, transposed, batched and symbolic sizes against numpy, on one thread and two."""

import numpy as np
import pytest

import aicc


def product(left: str, right: str, result: str, attributes: str) -> str:
    a, b, c = f"tensor<{left}>", f"tensor<{right}>", f"tensor<{result}>"
    return f"""
func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %m = graph.matmul %a, %b {attributes} : {a}, {b} -> {c}
  %r = graph.relu %m : {c} -> {c}
  func.return %r : {c}
}}
"""


@pytest.mark.parametrize("transposed", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize(("rows", "steps", "columns"), [(131, 1300, 197), (64, 1031, 80), (25, 97, 300), (48, 800, 64)])
def test_sizes(rows: int, steps: int, columns: int, transposed: tuple[int, int]):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((steps, rows) if transposed[0] else (rows, steps), dtype=np.float32)
    b = rng.standard_normal((columns, steps) if transposed[1] else (steps, columns), dtype=np.float32)
    flags = [name for name, flag in zip(("transpose_a", "transpose_b"), transposed, strict=True) if flag]
    shapes = ["x".join(map(str, (*shape, "f32"))) for shape in (a.shape, b.shape, (rows, columns))]
    _check(product(*shapes, f"{{{', '.join(flags)}}}" if flags else ""), a, b, transposed)


@pytest.mark.parametrize("rows", [0, 1, 5, 6, 130])
def test_symbolic_rows(rows: int):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((rows, 900), dtype=np.float32), rng.standard_normal((900, 130), dtype=np.float32)
    text = product("?x900xf32, #graph.dims<M>", "900x130xf32", "?x130xf32, #graph.dims<M>", "")
    _check(text, a, b, (0, 0))


def test_batches():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 65, 70), dtype=np.float32), rng.standard_normal((3, 70, 200), dtype=np.float32)
    _check(product("3x65x70xf32", "3x70x200xf32", "3x65x200xf32", ""), a, b, (0, 0))


def _check(text: str, a: np.ndarray, b: np.ndarray, transposed: tuple[int, int]) -> None:
    model = aicc.compile(text, threads=1, cache=False)
    (found,) = model(a, b)
    left, right = (x.swapaxes(-1, -2) if flag else x for x, flag in zip((a, b), transposed, strict=True))
    expected = np.maximum(left.astype(np.float64) @ right, 0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * left.shape[-1] ** 0.5)
    (other,) = model.with_threads(2)(a, b)
    assert np.array_equal(found, other)
