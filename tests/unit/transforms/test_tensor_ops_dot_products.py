"""Narrow products in the forms that machines have instructions for: the numpy meaning stays, and the code has them."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import aicc
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.frontends.onnx import import_onnx
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.tools.driver_api import run_pipeline
from tests.unit.operators.helper import one_node

Array = np.ndarray[Any, Any]
TARGETS = {"x86-64-v3": "pmaddwd256", "cascadelake": "vpdpbusd512", "neoverse-n1": "sdot128"}
PAIRS = list(product((np.uint8, np.int8), repeat=2))


def pipeline(target: str, end: str) -> str:
    def text(name: str, options: dict[str, Any]) -> str:
        given = " ".join(f"{key.replace('_', '-')}={str(value).lower()}" for key, value in options.items())
        return f"{name}{{{given}}}" if given else name

    steps = pipeline_steps("O2", PipelineOptions(target=target, winograd=False), "graph", end)
    return f"builtin.module({','.join(text(step.name, dict(step.options)) for step in steps)})"


def after_dot_products(module: ModuleOp, target: str) -> None:
    steps = pipeline(target, "loops").removesuffix(")").removeprefix("builtin.module(")
    kept = steps[: steps.index("tensor-ops-materialize-padding")].rstrip(",")
    run_pipeline(module, f"builtin.module({kept})")


def extremes(rng: np.random.Generator, shape: tuple[int, ...], dtype: type) -> Array:
    limits = np.iinfo(dtype)
    ends = rng.choice([limits.min, limits.max], shape)
    return np.where(rng.random(shape) < 0.5, ends, rng.integers(limits.min, limits.max + 1, shape)).astype(dtype)


def evaluated(module: ModuleOp, inputs: list[Array]) -> Array:
    main = next(op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    (result,) = evaluate_function(main, inputs, module)
    return result


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_matrix_products(target: str, left: type, right: type) -> None:
    rng = np.random.default_rng(PAIRS.index((left, right)))
    for depth, zeros in ((16, False), (13, True)):
        a, b = extremes(rng, (40, depth), left), extremes(rng, (depth, 24), right)
        a_zero = extremes(rng, (), left) if zeros else None
        b_zero = extremes(rng, (24,), right) if zeros and right is np.int8 else None
        inputs = [a, b, a_zero, b_zero]
        model, feeds = one_node("MatMulInteger", inputs, constant=[k for k in (1, 3) if inputs[k] is not None])
        module = import_onnx(model)
        after_dot_products(module, target)
        text = str(module)
        expected = a.astype(np.int64) - (0 if a_zero is None else a_zero.astype(np.int64))
        expected = expected @ (b.astype(np.int64) - (0 if b_zero is None else b_zero.astype(np.int64)))
        np.testing.assert_array_equal(evaluated(module, list(feeds.values())), expected.astype(np.int32))
        # Where no operand is signed bytes, pairs of 16 bits are left, which AArch64 has not.
        fits = (right is np.int8 and b_zero is None) or (left is np.int8 and a_zero is None)
        wanted = TARGETS[target] if fits else {"cascadelake": "pmaddwd512"}.get(target, TARGETS[target])
        assert (wanted in text) is (fits or target != "neoverse-n1")


@pytest.mark.parametrize("target", TARGETS)
def test_convolutions(target: str) -> None:
    rng = np.random.default_rng(5)
    for pad, zero, kind, known in (
        (0, 77, np.uint8, True),
        (1, 0, np.uint8, True),
        (1, 77, np.uint8, True),
        (1, -77, np.int8, True),
        (1, 0, np.int8, True),
        (1, 77, np.uint8, False),
        (2, -5, np.int8, False),
    ):
        x, w = extremes(rng, (2, 8, 7, 6), kind), extremes(rng, (16, 8, 3, 3), np.int8)
        constant = [1, 2] if known else [1]
        model, feeds = one_node("ConvInteger", [x, w, np.array(zero, kind)], constant=constant, pads=[pad] * 4)
        module = import_onnx(model)
        after_dot_products(module, target)
        assert TARGETS[target] in str(module)
        padded = np.pad(x.astype(np.int64) - zero, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        rows, columns = padded.shape[2] - 2, padded.shape[3] - 2
        expected = np.zeros((2, 16, rows, columns), np.int64)
        for i, j in product(range(3), repeat=2):
            expected += np.einsum("nchw,mc->nmhw", padded[:, :, i : i + rows, j : j + columns], w[:, :, i, j])
        np.testing.assert_array_equal(evaluated(module, list(feeds.values())), expected.astype(np.int32))


@pytest.mark.parametrize("target", TARGETS)
def test_code_has_the_instruction(target: str) -> None:
    from aicc.backends.llvm.objects import emit_assembly
    from aicc.backends.llvm.targets import target_by_name
    from aicc.backends.llvm.writer import module_to_llvm_text

    x, w = np.zeros((64, 64), np.uint8), np.ones((64, 64), np.int8)
    model, _ = one_node("MatMulInteger", [x, w, np.array(3, np.uint8)], constant=[1])
    module = import_onnx(model)
    run_pipeline(module, pipeline(target, "llvm"))
    assembly = emit_assembly(module_to_llvm_text(module), target_by_name(target))
    assert TARGETS[target].rstrip("0123456789") in assembly


def halves(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)


def assert_close(result: Array, expected: Array) -> None:
    """Within the rounding of the result and of a sum in f32; NaN and infinities where they are expected."""
    with np.errstate(all="ignore"):
        largest = np.nanmax(np.abs(expected[np.isfinite(expected)]))
    np.testing.assert_allclose(result.astype(np.float64), expected, rtol=2.0**-8, atol=2.0**-16 * largest)


@pytest.mark.parametrize("target", ["znver4", "host"])
@pytest.mark.parametrize("depth", [16, 13])
@pytest.mark.parametrize("constant", [True, False])
def test_matrix_products_of_bf16(target: str, depth: int, constant: bool) -> None:
    rng = np.random.default_rng(depth)
    a, b = halves(rng, (2, 40, depth)), halves(rng, (depth, 24))
    # An infinity spoils its own row alone, also where the depth is filled up.
    a[1, 3, -1] = np.inf
    model, feeds = one_node("MatMul", [a, b], constant=[1] if constant else [])
    with np.errstate(invalid="ignore"):
        expected = a.astype(np.float64) @ b.astype(np.float64)
    if target == "host":
        assert_close(aicc.compile(model, cache=False)(*feeds.values())[0], expected)
        return
    module = import_onnx(model)
    after_dot_products(module, target)
    assert "vdpbf16ps512" in str(module)
    assert_close(evaluated(module, list(feeds.values())), expected)


@pytest.mark.parametrize("target", ["znver4", "host"])
@pytest.mark.parametrize(("channels", "stride"), [(8, 1), (3, 2)])
def test_convolutions_of_bf16(target: str, channels: int, stride: int) -> None:
    rng = np.random.default_rng(channels)
    x, w = halves(rng, (2, channels, 9, 10)), halves(rng, (16, channels, 3, 3))
    x[1, 0, 4, 5] = np.inf
    model, feeds = one_node("Conv", [x, w], constant=[1], pads=[1] * 4, strides=[stride] * 2)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = np.zeros((2, 16, -(-9 // stride), -(-10 // stride)))
    rows, columns = expected.shape[2:]
    with np.errstate(invalid="ignore"):
        for i, j in product(range(3), repeat=2):
            taps = padded[:, :, i : i + stride * rows : stride, j : j + stride * columns : stride][
                :, :, :rows, :columns
            ]
            expected += np.einsum("nchw,mc->nmhw", taps, w[:, :, i, j].astype(np.float64))
    if target == "host":
        # Winograd's algorithm spreads the infinity.
        assert_close(aicc.compile(model, cache=False, winograd=False)(*feeds.values())[0], expected)
        return
    module = import_onnx(model)
    after_dot_products(module, target)
    assert "vdpbf16ps512" in str(module)
    assert_close(evaluated(module, list(feeds.values())), expected)


def test_subnormal_bf16_counts_without_the_instruction() -> None:
    a = np.full((32, 32), 2.0**-130).astype(ml_dtypes.bfloat16)
    b = np.ones((32, 32), ml_dtypes.bfloat16)
    model, feeds = one_node("MatMul", [a, b])
    result = aicc.compile(model, cache=False, bf16_dots=False)(*feeds.values())[0]
    np.testing.assert_array_equal(result.astype(np.float64), np.full((32, 32), 2.0**-125))
