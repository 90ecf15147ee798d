"""Convolutions by Winograd's algorithm give the numbers of direct ones within the stated bound, for all sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

import aicc
from aicc.dialects.graph.dims import Dim, sym, tensor_type
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.ops import AddOp, ConcatOp, ConstantOp, ConvOp, MulOp, ReluOp, SigmoidOp
from aicc.dialects.tensor_ops import BlocksOp
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.tools.driver_api import run_pipeline
from aicc.transforms import tensor_ops_winograd
from aicc.transforms.target_facts import GENERIC, TargetFacts
from aicc.transforms.winograd_cost import MOST_GROWTH, ConvolutionSize, choose_for_all, choose_outputs
from aicc.transforms.winograd_matrices import TAPS, Linear, winograd

Array = np.ndarray[Any, np.dtype[Any]]
Insert = Callable[[Operation], SSAValue]

TO_TENSOR_OPS = (
    "graph-infer-shapes,graph-decompose,graph-fold-constants,graph-fuse,tensor-ops-outline-kernels,"
    "convert-graph-to-tensor-ops,tensor-ops-fuse,tensor-ops-assign-layouts"
)
UNIT = 2.0**-24
"""Half a unit in the last place of f32, relative."""

TYPICAL = 8
"""What the docstring of the pass says errors stay below in practice, in units of `UNIT * X * W`."""


def direct(x: Array, w: Array, pads: Sequence[int], dilations: tuple[int, int] = (1, 1)) -> Array:
    """The convolution of stride 1, in f64."""
    top, left, bottom, right = pads
    down, across = dilations
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    rows, columns = padded.shape[2] - 2 * down, padded.shape[3] - 2 * across
    result = np.zeros((x.shape[0], w.shape[0], rows, columns))
    for i in range(3):
        for j in range(3):
            window = padded[:, :, i * down : i * down + rows, j * across : j * across + columns]
            result += np.einsum("nchw,oc->nohw", window, w[:, :, i, j].astype(np.float64))
    return result


def model(
    shape: Sequence[Dim],
    w: Array,
    pads: Sequence[int],
    rest: Callable[[Insert, SSAValue, list[SSAValue]], SSAValue] | None = None,
    others: Sequence[Sequence[Dim]] = (),
    dilations: tuple[int, int] = (1, 1),
) -> ModuleOp:
    """`@main(x, others...)` that convolves x by w and does the rest with it."""
    types = [tensor_type(dims, f32) for dims in (shape, *others)]
    block = Block(arg_types=types)
    builder = Builder(InsertPoint.at_end(block))

    def insert(op: Operation) -> SSAValue:
        return builder.insert(op).results[0]

    weight = insert(ConstantOp.from_array(w, "w"))
    y = insert(ConvOp(block.args[0], weight, pads=tuple(pads), dilations=dilations))
    if rest is not None:
        y = rest(insert, y, list(block.args[1:]))
    builder.insert(ReturnOp(y))
    return ModuleOp([FuncOp("main", (types, [y.type]), Region(block))])


def arrays(shape: Sequence[int], out: int, seed: int = 0) -> tuple[Array, Array]:
    """An image of this shape and weights for `out` result channels."""
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal(shape).astype(np.float32),
        rng.standard_normal((out, shape[1], 3, 3)).astype(np.float32),
    )


def unit(x: Array, w: Array) -> float:
    """`u * X * W` of the docstring."""
    return UNIT * float(np.abs(x).max(initial=0.0)) * float(np.abs(w).sum(axis=(1, 2, 3)).max())


@pytest.fixture(params=[2, 3, 4])
def outputs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Every convolution that can be is done with tiles of so many outputs."""
    chosen: int = request.param

    def choose(sizes: Sequence[ConvolutionSize], weights: Sequence[object], facts: TargetFacts) -> list[int]:
        del weights, facts
        return [chosen] * len(sizes)

    monkeypatch.setattr(tensor_ops_winograd, "choose_for_all", choose)
    return chosen


def compiled(module: ModuleOp, threads: int = 1) -> Callable[..., Array]:
    """The module's @main as a function of its arguments."""
    program = aicc.compile(module, threads=threads, cache=False)
    return lambda *inputs: next(iter(program.run({f"input{k}": a for k, a in enumerate(inputs)}).values()))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_matrices_are_exact(m: int) -> None:
    algorithm = winograd(m)
    data = [Fraction(k * k - 3, 7) for k in range(m + 2)]
    taps = [Fraction(5), Fraction(-2, 3), Fraction(1, 9)]
    count = 0

    def scaled(value: Fraction, factor: Fraction) -> Fraction:
        nonlocal count
        count += 1
        return value * factor

    def plus(value: Fraction, other: Fraction, factor: Fraction) -> Fraction:
        nonlocal count
        count += 1
        return value + other * factor

    linear: Linear[Fraction] = Linear(scaled, plus)
    v = linear.rows(algorithm.input, data)
    assert count == {2: 4, 3: 10, 4: 12}[m]
    u = linear.rows(algorithm.weight, taps)
    count = 0
    y = linear.columns(algorithm.output, [a * b for a, b in zip(u, v, strict=True)])
    assert count == {2: 4, 3: 9, 4: 12}[m]
    assert y == [sum((data[i + k] * taps[k] for k in range(TAPS)), Fraction(0)) for i in range(m)]
    for matrix in (algorithm.input, algorithm.output):
        assert all(
            float(entry) == entry and Fraction(np.float32(float(entry)).item()) == entry for r in matrix for entry in r
        )


@pytest.mark.parametrize("size", range(1, 10))
def test_sizes_natively_and_by_meaning(size: int, outputs: int) -> None:
    pads = [(1, 1, 1, 1), (0, 0, 2, 1), (2, 1, 0, 3)][size % 3]
    shape = (1 + size % 2, 5 + size, max(size, 3 - pads[0] - pads[2]), 10 - size)
    x, w = arrays(shape, 11 + size, size)
    expected = direct(x, w, pads)
    module = model(shape, w, pads)
    found = compiled(module.clone())(x)
    assert np.abs(found - expected).max() <= TYPICAL * unit(x, w)
    run_pipeline(module, f"{TO_TENSOR_OPS},tensor-ops-winograd{{outputs={outputs}}}")
    # A result of one row or column has no such dimension to tile.
    assert sum(isinstance(op, BlocksOp) for op in module.walk()) == (0 if 1 in expected.shape[2:] else 6)
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    (meant,) = evaluate_function(main, [x], module)
    assert np.abs(meant - expected).max() <= TYPICAL * unit(x, w)


def test_symbolic_sizes(outputs: int) -> None:
    _, w = arrays((1, 13, 1, 1), 10)
    run = compiled(model((sym("N"), 13, sym("H"), sym("W")), w, (1, 1, 1, 1)), threads=2)
    for n, h, columns in ((1, 1, 1), (2, 3, 9), (1, 8, 4), (3, 5, 17), (1, 30, 61), (2, 2, 128)):
        x, _ = arrays((n, 13, h, columns), 10, h)
        assert np.abs(run(x) - direct(x, w, (1, 1, 1, 1))).max() <= TYPICAL * unit(x, w)
    run = compiled(model((sym("N"), 13, 9, 14), w, (0, 0, 0, 0)))
    for n in (1, 2, 5):
        x, _ = arrays((n, 13, 9, 14), 10, n)
        assert np.abs(run(x) - direct(x, w, (0, 0, 0, 0))).max() <= TYPICAL * unit(x, w)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    "dilations, pads, sizes",
    [
        ((2, 2), (2, 2, 2, 2), [(1, 14, 28), (3, 7, 9)]),
        ((3, 1), (3, 0, 1, 1), [(2, 11, 8)]),
        ((1, 5), (1, 4, 1, 5), [(1, 3, 29), (2, 9, 14)]),
        ((6, 6), (6, 6, 6, 6), [(1, 28, 9), (1, 7, 8)]),
    ],
)
def test_dilations(
    dilations: tuple[int, int],
    pads: tuple[int, int, int, int],
    sizes: Sequence[tuple[int, int, int]],
    symbolic: bool,
    outputs: int,
) -> None:
    """Every d-th row and column is an image of its own; the last ones may have fewer of them."""
    _, w = arrays((1, 5, 1, 1), 7)
    shape = (sym("N"), 5, sym("H"), sym("W"))
    run = compiled(model(shape, w, pads, dilations=dilations), threads=2) if symbolic else None
    for n, h, columns in sizes:
        x, _ = arrays((n, 5, h, columns), 7, h)
        found = (run or compiled(model(x.shape, w, pads, dilations=dilations)))(x)
        assert np.abs(found - direct(x, w, pads, dilations)).max() <= TYPICAL * unit(x, w)
    module = model(shape if symbolic else x.shape, w, pads, dilations=dilations)
    run_pipeline(module, f"{TO_TENSOR_OPS},tensor-ops-winograd{{outputs={outputs}}}")
    assert sum(isinstance(op, BlocksOp) for op in module.walk()) == 6


def test_finish(outputs: int) -> None:
    """A bias, a residual, a row that is broadcast, an activation, in the last nest."""
    shape, out = (2, 9, 7, 10), 17
    x, w = arrays(shape, out)
    rng = np.random.default_rng(5)
    bias, residual, row, column = (
        rng.standard_normal(s).astype(np.float32) for s in ((out, 1, 1), (2, out, 7, 10), (1, 1, 7, 1), (10,))
    )

    def rest(insert: Insert, y: SSAValue, others: list[SSAValue]) -> SSAValue:
        for other in others:
            y = insert(AddOp(y, other))
        return insert(ReluOp(y))

    run = compiled(model(shape, w, (1, 1, 1, 1), rest, [a.shape for a in (bias, residual, row, column)]))
    expected = np.maximum(direct(x, w, (1, 1, 1, 1)) + bias + residual + row + column, 0)
    found = run(x, bias, residual, row, column)
    assert np.abs(found - expected).max() <= TYPICAL * unit(x, w)


def test_in_a_larger_model(outputs: int) -> None:
    """Two convolutions that read one another, concatenation, an activation that stays apart."""
    x, w = arrays((1, 8, 13, 11), 8)
    w2 = arrays((1, 8, 1, 1), 8, 3)[1]

    def rest(insert: Insert, y: SSAValue, others: list[SSAValue]) -> SSAValue:
        del others
        y = insert(MulOp(y, insert(SigmoidOp(y))))
        second = insert(ConvOp(y, insert(ConstantOp.from_array(w2, "w2")), pads=(1, 1, 1, 1)))
        return insert(ConcatOp([y, second], axis=1))

    found = compiled(model((1, 8, 13, 11), w, (1, 1, 1, 1), rest))(x)
    y = direct(x, w, (1, 1, 1, 1))
    y = y / (1 + np.exp(-y))
    expected = np.concatenate([y, direct(y, w2, (1, 1, 1, 1))], axis=1)
    assert np.abs(found - expected).max() <= 64 * UNIT * np.abs(y).max() * np.abs(w2).sum(axis=(1, 2, 3)).max()


def test_threads_give_the_same_bits(outputs: int) -> None:
    x, w = arrays((1, 32, 40, 36), 48)
    module = model(x.shape, w, (1, 1, 1, 1))
    one, two = (compiled(module.clone(), threads)(x) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", ["normal", "offset", "signs"])
def test_error_bound(kind: str, outputs: int) -> None:
    """Errors of typical data, of data with an offset, and of equal magnitudes stay below those of the docstring."""
    x, w = arrays((1, 96, 24, 24), 24)
    if kind == "offset":
        x = np.abs(x) + np.float32(10)
    if kind == "signs":
        x, w = np.sign(x), np.sign(w)
    found = compiled(model(x.shape, w, (1, 1, 1, 1)))(x)
    error = float(np.abs(found - direct(x, w, (1, 1, 1, 1))).max())
    assert error <= float(winograd(outputs).error_factor) * (96 + 32) * unit(x, w)
    assert error <= TYPICAL * unit(x, w)


def test_switched_off() -> None:
    """Without the option no convolution is done that way, and the pipeline has no such pass."""
    names = [step.name for step in pipeline_steps("O2", PipelineOptions(winograd=False))]
    assert "tensor-ops-winograd" not in names
    x, w = arrays((1, 64, 28, 28), 64)
    direct_run = aicc.compile(model(x.shape, w, (1, 1, 1, 1)), winograd=False, cache=False)
    x[0, 0, 0, 0] = np.inf
    (found,) = direct_run.run({"input0": x}).values()
    # Only the windows that hold the infinity are touched.
    assert np.isfinite(found[:, :, 2:, :]).all() and not np.isfinite(found[0, 0, 0, 0])


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (ConvolutionSize(1, 56, 56, 64, 64), 3),  # More exact than F(4x4).
        (ConvolutionSize(1, 56, 56, 128, 128), 4),
        (ConvolutionSize(1, 28, 28, 128, 128), 4),
        # Fewer tiles: weights of 36 products each are too many, then those of 16 are.
        (ConvolutionSize(1, 14, 14, 256, 256), 2),
        (ConvolutionSize(1, 7, 7, 512, 512), 2),
        (ConvolutionSize(1, 4, 4, 512, 512), None),
        (ConvolutionSize(1, 224, 224, 64, 64), 3),
        (ConvolutionSize(1, 224, 224, 16, 64), 2),  # More exact than F(3x3).
        (ConvolutionSize(1, 224, 224, 3, 64), None),
        (ConvolutionSize(1, 1, 1, 512, 512), None),
        (ConvolutionSize(1, 4, 4, 2, 2), None),
    ],
)
def test_choices(size: ConvolutionSize, expected: int | None) -> None:
    assert choose_outputs(size, GENERIC) == expected


LARGE, WIDE = ConvolutionSize(1, 56, 56, 256, 256), ConvolutionSize(1, 28, 28, 512, 512)


def weight_bytes(size: ConvolutionSize, outputs: int | None) -> int:
    width = 3 if outputs is None else outputs + 2
    return width * width * size.channels * size.result_channels * 4


def test_weights_of_a_module_are_bounded() -> None:
    """The layers of fewer tiles, which gain less for each byte, give way first."""
    sizes, uses = [LARGE, WIDE], [2, 3]
    assert [choose_outputs(size, GENERIC) for size in sizes] == [4, 4]
    chosen = choose_for_all(sizes, [{"a", "b"}, {"c", "d", "e"}], GENERIC)
    assert chosen[0] == 4
    assert chosen[1] in (2, 3)
    plain = sum(n * weight_bytes(size, None) for n, size in zip(uses, sizes, strict=True))
    taken = sum(n * weight_bytes(size, o) for n, size, o in zip(uses, sizes, chosen, strict=True))
    assert taken <= MOST_GROWTH * plain


def test_weights_that_the_cache_holds_are_not_bounded() -> None:
    cached = replace(GENERIC, l3_bytes=weight_bytes(WIDE, 4))
    assert choose_for_all([WIDE], [{1}], cached) == [4]
    less = choose_for_all([WIDE], [{1}], replace(cached, l3_bytes=cached.l3_bytes - 1))
    assert less != [4]
    assert choose_for_all([WIDE], [{1, 2}], cached) == less


def test_versions_that_share_weights_count_them_once() -> None:
    """Two convolutions with the same array and as many outputs take no more than one; two arrays do."""
    cached = replace(GENERIC, l3_bytes=weight_bytes(WIDE, 4))
    assert choose_for_all([WIDE, WIDE], [{1}, {1}], cached) == [4, 4]
    assert choose_for_all([WIDE, WIDE], [{1}, {2}], cached) != [4, 4]


def test_weights_are_counted_once_for_each_array() -> None:
    """Two calls with the same weights are one array, with two arrays twice as much."""

    def products(arrays_of_weights: int) -> set[tuple[int, ...]]:
        w = np.zeros((512, 512, 3, 3), np.float32)
        block = Block(arg_types=[tensor_type((1, 512, 28, 28), f32)])
        builder = Builder(InsertPoint.at_end(block))
        weights = [builder.insert(ConstantOp.from_array(w + i, f"w{i}")).results[0] for i in range(arrays_of_weights)]
        value: SSAValue = block.args[0]
        for i in range(2):
            value = builder.insert(ConvOp(value, weights[i % arrays_of_weights], pads=(1, 1, 1, 1))).results[0]
        builder.insert(ReturnOp(value))
        module = ModuleOp([FuncOp("main", (block.arg_types, [value.type]), Region(block))])
        run_pipeline(module, TO_TENSOR_OPS)
        facts = replace(GENERIC, l3_bytes=weight_bytes(WIDE, 4))
        tensor_ops_winograd.Rewriting(module, facts).run()
        return {op.block_shapes[0] for op in module.walk() if isinstance(op, BlocksOp)}

    assert (6,) in products(1)
    assert (6,) not in products(2)


@pytest.mark.parametrize("channels", [64, 256])
def test_errors_are_little_above_those_of_a_chain(channels: int) -> None:
    """Of direct summation term by term in f32, root mean square."""
    x, w = arrays((1, channels, 24, 24), 16)
    x = np.maximum(x, 0)
    exact = direct(x, w, (1, 1, 1, 1))
    padded = np.pad(x[0], ((0, 0), (1, 1), (1, 1)))
    chain = np.zeros(exact.shape, np.float32)
    for c, i, j in np.ndindex(channels, 3, 3):
        chain[0] += w[:, c, i, j, None, None] * padded[c, i : i + 24, j : j + 24]
    found = compiled(model(x.shape, w, (1, 1, 1, 1)))(x)

    def error(result: np.ndarray) -> float:
        return float(np.sqrt(np.mean((result.astype(np.float64) - exact) ** 2)))

    assert error(found) <= 1.2 * error(chain)


def test_context_is_not_needed() -> None:
    """A module without kernels is left alone."""
    module = ModuleOp([])
    tensor_ops_winograd.TensorOpsWinogradPass(target="generic").apply(Context(), module)
    assert not list(module.ops)
