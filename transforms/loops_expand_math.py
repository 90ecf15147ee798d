"""
`loops-expand-math`: transcendental `math` ops on f32 scalars and n-D vectors become polynomials.

Before: %r = math.exp %x : vector<6x16xf32>      After: %t = math.fma ... (polynomials in `arith` and `math.fma`)

f16 and bf16 are computed in f32 and rounded. f64, and the functions that have no expansion here, are left for
`convert-loops-to-llvm`, which calls the mathematical library lane by lane. What machines have instructions for
(`math.sqrt`, `math.fma`, roundings) stays as it is. Errors: see the two modules with the expansions.
With the flag `afn`, exponentials that are no normal numbers come out as 0 or infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import BFloat16Type, Float16Type, ModuleOp, UnitAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.loops.access import lanes_of, scalar_of
from aicc.dialects.loops.vectors import ReduceOp
from aicc.dialects.tensor_ops.body_ops import AT_MOST_ZERO
from aicc.transforms import loops_expand_math_exponential as exponential
from aicc.transforms import loops_expand_math_trigonometric as trigonometric
from aicc.transforms.kernel_unit import KernelUnit
from aicc.transforms.loops_expand_math_builder import MathBuilder

EXPANSIONS: dict[str, Callable[..., SSAValue]] = {
    "math.atan": trigonometric.atan,
    "math.cosh": exponential.cosh,
    "math.erf": exponential.erf,
    "math.exp": exponential.exp,
    "math.exp2": exponential.exp2,
    "math.expm1": exponential.expm1,
    "math.log": exponential.log,
    "math.log10": exponential.log10,
    "math.log1p": exponential.log1p,
    "math.log2": exponential.log2,
    "math.powf": exponential.pow,
    "math.sinh": exponential.sinh,
    "math.tanh": exponential.tanh,
}
"""Op name -> what builds its f32 result from its f32 operands."""

APPROXIMATIONS: dict[str, Callable[..., SSAValue]] = {"math.exp": exponential.exp_approximate}
"""Shorter ones for ops with the flag `afn`, which may know that operands are at most 0."""

LIBRARY = "aicc.library"
"""Unit attribute of an op that is left for the mathematical library."""


def expand(op: Operation) -> list[Operation] | None:
    """The ops that replace a `math` op, the last one with its result; None where it stays."""
    if op.name not in EXPANSIONS and op.name not in trigonometric.REDUCED:
        return None
    if LIBRARY in op.attributes:
        return None
    element = scalar_of(op.results[0].type)
    short = isinstance(element, Float16Type | BFloat16Type)
    if element != f32 and not short:
        return None
    builder = MathBuilder(lanes_of(op.results[0].type), op.location)
    operands = [builder.widen(operand, f32) if short else operand for operand in op.operands]
    if op.name in APPROXIMATIONS and _may_approximate(op):
        result = APPROXIMATIONS[op.name](builder, *operands, AT_MOST_ZERO in op.attributes)
    elif op.name in EXPANSIONS:
        result = EXPANSIONS[op.name](builder, *operands)
    else:
        result = _reduced_or_library(builder, op, operands[0])
    if short:
        builder.narrow(result, element)
    return builder.ops


def _may_approximate(op: Operation) -> bool:
    flags = op.properties.get("fastmath")
    return isinstance(flags, FastMathFlagsAttr) and FastMathFlag.APPROX_FUNC in flags.data


def _reduced_or_library(builder: MathBuilder, op: Operation, x: SSAValue) -> SSAValue:
    """The expansion where all lanes are small enough, else the op itself, marked for the library."""
    large = builder.compare("ogt", builder.abs(x), builder.const(trigonometric.LARGEST_REDUCED))
    if builder.shape:
        large = builder.add_op(ReduceOp(large, "or", range(len(builder.shape))))
    fast = MathBuilder(builder.shape, op.location)
    result = trigonometric.REDUCED[op.name](fast, x)
    slow = type(op).create(operands=[x], result_types=[x.type], properties=op.properties)
    slow.location = op.location
    slow.attributes[LIBRARY] = UnitAttr()
    choice = scf.IfOp(
        large,
        [x.type],
        Region(Block([slow, scf.YieldOp(slow.results[0])])),
        Region(Block([*fast.ops, scf.YieldOp(result)])),
    )
    return builder.add_op(choice)


def expand_all(op: Operation) -> None:
    """Expands every `math` op in `op`."""
    for inner in list(op.walk()):
        if not inner.name.startswith("math."):
            continue
        ops = expand(inner)
        if ops is None:
            continue
        block = inner.parent
        assert block is not None
        block.insert_ops_before(ops, inner)
        result = ops[-1].results[0]
        result.name_hint = inner.results[0].name_hint
        inner.results[0].replace_all_uses_with(result)
        inner.detach()
        inner.erase()


@dataclass(frozen=True)
class LoopsExpandMathPass(ModulePass):
    """Replaces transcendental functions on f32, f16 and bf16 by polynomials."""

    name = "loops-expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        expand_all(op)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """The pass on one function."""
        expand_all(func)

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """The pass on one kernel."""
        expand_all(unit.kernel)
