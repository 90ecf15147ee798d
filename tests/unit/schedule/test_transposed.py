"""Transposes in registers: any permutation and element size, odd sizes, symbolic sizes; against numpy."""

import numpy as np
import pytest

import aicc

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
