"""What a random graph should compute, by the numpy meaning of its ops, and how far compiled code may be from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph import ops
from aicc.dialects.graph.dtypes import BFLOAT16
from aicc.dialects.graph.interfaces import ExecutableOp
from tests.unit.differential.graphs import EXACT_BINARY, EXACT_REDUCTIONS, EXACT_UNARY, Program

EXACT = (
    *(*EXACT_UNARY, *EXACT_BINARY, *EXACT_REDUCTIONS, ops.WhereOp, ops.CastOp, ops.ArgMaxOp, ops.ArgMinOp),
    *(ops.TransposeOp, ops.ReshapeOp, ops.SliceOp, ops.PadOp, ops.ConcatOp, ops.GatherOp, ops.MaxPoolOp),
    *(ops.ConstantOp, ops.FloorOp, ops.CeilOp, ops.RoundOp, ops.TruncOp, ops.SignOp, ops.IsNanOp),
)
"""Ops whose result has no freedom: IEEE arithmetic element by element, choice and movement."""

TRIALS = 4
MARGIN = 24
"""Times the largest change that noise of one unit in the last place makes, in a few trials."""


def is_float(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" or array.dtype == BFLOAT16


def epsilon(array: np.ndarray) -> float:
    return 2.0**-8 if array.dtype == BFLOAT16 else float(np.finfo(array.dtype).eps)


def noisy(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each float changed by up to one unit in the last place; integers as they are."""
    if not is_float(array):
        return array
    factor = 1 + epsilon(array) * rng.choice((-1.0, 1.0), array.shape)
    return (array.astype(np.float64) * factor).astype(array.dtype)


def run(program: Program, noise: np.random.Generator | None = None) -> list[np.ndarray]:
    """The outputs; with `noise`, operands and results of ops that round in an order of their own are disturbed."""
    (main,) = program.module.ops
    assert isinstance(main, func.FuncOp)
    values: dict[SSAValue, np.ndarray] = dict(zip(main.body.block.args, program.inputs, strict=True))
    with np.errstate(all="ignore"):
        for op in main.body.block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, func.ReturnOp):
                return operands
            values.update(zip(op.results, results_of(op, operands, program, noise), strict=True))
    raise AssertionError("no return")


def results_of(
    op: Operation, operands: Sequence[np.ndarray], program: Program, noise: np.random.Generator | None
) -> Sequence[np.ndarray]:
    assert isinstance(op, ExecutableOp)
    if noise is None or isinstance(op, EXACT):
        return op.evaluate(operands, program.sizes)
    results = op.evaluate([noisy(operand, noise) for operand in operands], program.sizes)
    return [noisy(result, noise) for result in results]


def check(program: Program, found: Sequence[np.ndarray]) -> None:
    """
    Holds `found` against the meaning: to the bit where every op is exact, else within what noise explains.

    Elements where the noise decides between finite, infinite and NaN are not looked at.
    """
    expected = run(program)
    trials = [run(program, np.random.default_rng(seed)) for seed in range(TRIALS)]
    for position, (want, have) in enumerate(zip(expected, found, strict=True)):
        assert (have.shape, have.dtype) == (want.shape, want.dtype)
        if not is_float(want):
            np.testing.assert_array_equal(have, want)
            continue
        wide, others = want.astype(np.float64), [trial[position].astype(np.float64) for trial in trials]
        settled = np.ones(want.shape, bool)
        spread = np.zeros(want.shape)
        with np.errstate(invalid="ignore"):
            for other in others:
                settled &= (np.isnan(other) == np.isnan(wide)) & (np.isinf(other) == np.isinf(wide))
                spread = np.fmax(spread, np.where(np.isfinite(wide), np.abs(other - wide), 0))
            # Trials may cancel by chance; where none of a whole output differs, it is exact.
            allowed = MARGIN * spread + (4 * epsilon(want) * np.abs(wide) if spread.any() else 0)
            wrong = ~((np.abs(have.astype(np.float64) - wide) <= allowed) | (have == want))
        wrong &= settled & ~(np.isnan(wide) & np.isnan(have.astype(np.float64)))
        if wrong.any():
            place = tuple(int(i[0]) for i in np.nonzero(wrong))
            raise AssertionError(
                f"output {position} differs in {int(wrong.sum())} of {want.size} elements, first at {place}: "
                f"found {have[place]}, expected {want[place]} within {allowed[place]:.3g}"
            )
