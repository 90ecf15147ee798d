"""Integer products in the forms that machines have instructions for: the numpy meaning stays, and the code has them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

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
        given = " ".join(f"{key.replace('_', '-')}={value}" for key, value in options.items())
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
