"""What a random graph should compute, by the numpy meaning of its ops, and how far compiled code may be from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from aicc.dialects.graph import ops
from aicc.dialects.graph.dtypes import BFLOAT16
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.interfaces import Arrays, ExecutableOp, FusionKind
from aicc.dialects.graph.recurrent import RecurrentOp
from aicc.lowering.signature import main_function
from tests.unit.differential.graphs import (
    EXACT_BINARY,
    EXACT_REDUCTIONS,
    EXACT_UNARY,
    JUMPING_BINARY,
    JUMPING_UNARY,
)

EXACT = (
    *(*EXACT_UNARY, *EXACT_BINARY, *EXACT_REDUCTIONS, *JUMPING_UNARY, *JUMPING_BINARY, ops.WhereOp, ops.CastOp),
    *(ops.ArgMaxOp, ops.ArgMinOp, ops.GatherOp, ops.GatherElementsOp, ops.GatherNdOp, ops.ClipOp, ops.MaxPoolOp),
    *(ops.IsInfOp, ops.IotaOp),
)
EXACT_KINDS = (FusionKind.MOVEMENT, FusionKind.VIEW, FusionKind.CONSTANT)
EXACT_NAMES = {"graph.if", "graph.while", "graph.top_k", "graph.find", "graph.define_size", "graph.check_sizes"}
"""Ops whose result has no freedom: IEEE arithmetic element by element, choice and movement; by class, kind or name."""


LOGARITHMIC = (ops.LogSoftmaxOp, ops.ReduceLogSumExpOp)
"""A logarithm near 0 is a difference of larger numbers."""


def floor_of(op: Operation, operands: Arrays) -> float | np.ndarray:
    """The size of numbers whose difference the result of `op` is: it is as far off as they are."""
    if isinstance(op, LOGARITHMIC):
        return 1.0
    if isinstance(op, RecurrentOp):  # States are sums of what gates of up to 1 let through.
        return 1.0
    if isinstance(op, ops.GeluOp):  # `x * (1 + erf(..))`: of x far below 0, what is left of x - x.
        x = operands[0].astype(np.float64)
        return np.where(np.isfinite(x), np.abs(x), 0.0)
    return 0.0


def is_exact(op: Operation) -> bool:
    return isinstance(op, EXACT) or getattr(op, "FUSION_KIND", None) in EXACT_KINDS or op.name in EXACT_NAMES


TRIALS = 4
MORE_TRIALS = 32
"""Before anything is called wrong: in a few trials noise may cancel out in one of many elements."""

MARGIN = 24
"""Times the largest change that noise of one unit in the last place makes, in a few trials."""


def is_float(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" or array.dtype == BFLOAT16


def epsilon(array: np.ndarray) -> float:
    return 2.0**-8 if array.dtype == BFLOAT16 else float(np.finfo(array.dtype).eps)


def smallest(array: np.ndarray) -> float:
    """The smallest normal number: approximations may give 0 for what is below."""
    return 2.0**-126 if array.dtype == BFLOAT16 else float(np.finfo(array.dtype).tiny)


def noisy(array: np.ndarray, rng: np.random.Generator, floor: float | np.ndarray = 0.0) -> np.ndarray:
    """Each float changed by up to one unit in the last place, or that of `floor`; integers as they are."""
    if not is_float(array):
        return array
    wide = array.astype(np.float64)
    signs = epsilon(array) * rng.choice((-1.0, 1.0), array.shape)
    return (wide + signs * np.maximum(np.abs(wide), floor)).astype(array.dtype)


def run(module: ModuleOp, inputs: Sequence[np.ndarray], noise: np.random.Generator | None = None) -> list[np.ndarray]:
    """The outputs; with `noise`, operands and results of ops that round in an order of their own are disturbed."""

    def disturbed(op: Operation, operands: Arrays, symbols: Mapping[str, int], compute: Callable[[], Arrays]) -> Arrays:
        if noise is None or is_exact(op) or not isinstance(op, ExecutableOp):
            return compute()
        results = op.evaluate([noisy(operand, noise) for operand in operands], symbols)
        floor = floor_of(op, operands)
        return [noisy(result, noise, floor) for result in results]

    with np.errstate(all="ignore"):
        return evaluate_function(main_function(module), inputs, module, watch=disturbed)


def exact_outputs(module: ModuleOp) -> list[bool]:
    """Of each output, whether all that leads to it is exact."""
    exact: dict[SSAValue, bool] = {}
    for op in main_function(module).body.block.ops:
        if op.has_trait(IsTerminator):
            return [exact.get(value, True) for value in op.operands]
        here = all(exact.get(value, True) for value in op.operands)
        for inner in op.walk():
            here = here and (is_exact(inner) or inner.has_trait(IsTerminator))
            here = here and all(exact.get(value, True) for value in inner.operands)
        exact.update(dict.fromkeys(op.results, here))
    raise AssertionError("no return")


class Expected:
    """What a graph computes from some inputs, and how far noise moves it; worked out once."""

    def __init__(self, module: ModuleOp, inputs: Sequence[np.ndarray]) -> None:
        self._module, self._inputs = module, inputs
        self._values = run(module, inputs)
        self._exact = exact_outputs(module)
        self._trials: list[list[np.ndarray]] = []
        self._try(TRIALS)

    def _try(self, count: int) -> None:
        rngs = [np.random.default_rng(seed) for seed in range(len(self._trials), count)]
        self._trials += [run(self._module, self._inputs, rng) for rng in rngs]

    def check(self, found: Sequence[np.ndarray]) -> None:
        """
        Holds `found` against the meaning: to the bit where every op is exact, else within what noise explains.

        Elements where the noise decides between finite, infinite and NaN are not looked at, nor are results where it
        decides how many elements there are.
        """
        try:
            _check(self._values, self._exact, self._trials, found)
        except AssertionError:
            self._try(MORE_TRIALS)
            _check(self._values, self._exact, self._trials, found)


def check(module: ModuleOp, inputs: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> None:
    """Holds what was `found` for one set of inputs against the meaning, as `Expected.check`."""
    Expected(module, inputs).check(found)


def _check(
    expected: Sequence[np.ndarray],
    exact: Sequence[bool],
    trials: Sequence[Sequence[np.ndarray]],
    found: Sequence[np.ndarray],
) -> None:
    for position, (want, have) in enumerate(zip(expected, found, strict=True)):
        shapes = {want.shape, *(trial[position].shape for trial in trials)}
        assert have.dtype == want.dtype and have.shape in shapes, f"output {position}: {have.dtype} {have.shape}"
        if len(shapes) > 1:
            continue
        if not is_float(want):
            wrong = have != want
            for trial in trials:
                wrong &= trial[position] == want
            report(position, wrong, have, want, np.zeros(want.shape))
            continue
        wide, others = want.astype(np.float64), [trial[position].astype(np.float64) for trial in trials]
        settled = np.ones(want.shape, bool)
        spread = np.zeros(want.shape)
        with np.errstate(invalid="ignore"):
            for other in others:
                settled &= (np.isnan(other) == np.isnan(wide)) & (np.isinf(other) == np.isinf(wide))
                spread = np.fmax(spread, np.where(np.isfinite(wide), np.abs(other - wide), 0))
            allowed = MARGIN * spread + (0 if exact[position] else 4 * epsilon(want) * np.abs(wide) + smallest(want))
            wrong = ~((np.abs(have.astype(np.float64) - wide) <= allowed) | (have == want))
        wrong &= settled & ~(np.isnan(wide) & np.isnan(have.astype(np.float64)))
        report(position, wrong, have, want, allowed)


def report(position: int, wrong: np.ndarray, have: np.ndarray, want: np.ndarray, allowed: np.ndarray) -> None:
    """Fails where elements are wrong."""
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"output {position} differs in {int(wrong.sum())} of {want.size} elements, first at {place}: "
            f"found {have[place]}, expected {want[place]} within {allowed[place]:.3g}"
        )
