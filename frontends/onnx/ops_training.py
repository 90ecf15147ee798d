"""Steps of optimisers (`ai.onnx.preview.training`): each tensor is updated for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp, PowOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import GtOp
from aicc.dialects.graph.functions import SqrtOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.ops_loop import scalar_input

Step = Callable[[SSAValue, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""The new tensor and the new state, of a tensor, its regularised gradient and its state."""


def _updated(ctx: NodeContext, states: int, step: Step) -> list[SSAValue]:
    """Inputs behind the rate and the count are all tensors, all gradients, and each kind of state of all."""
    f = Formula(ctx)
    count, rest = divmod(len(ctx.inputs) - 2, 2 + states)
    if rest or not count:
        ctx.fail(f"it has {len(ctx.inputs)} inputs, expected 2 and {2 + states} for each tensor")
    norm = ctx.attr_float("norm_coefficient", 0.0)
    results: list[Sequence[SSAValue]] = []
    for i in range(count):
        x, gradient, *state = (ctx.ssa(2 + i + k * count) for k in range(2 + states))
        results.append(step(x, f(AddOp, f(MulOp, x, norm), gradient), state))
    return [made[k] for k in range(1 + states) for made in results]


def _rate(ctx: NodeContext, x: SSAValue) -> SSAValue:
    return Formula(ctx).cast(scalar_input(ctx, 0), element_type_of(x))


def _adagrad(ctx: NodeContext) -> Sequence[SSAValue]:
    f, number = Formula(ctx), scalar_input(ctx, 1)

    def step(x: SSAValue, gradient: SSAValue, state: Sequence[SSAValue]) -> Sequence[SSAValue]:
        decay = f(AddOp, f(MulOp, f.cast(number, element_type_of(x)), ctx.attr_float("decay_factor", 0.0)), 1.0)
        squares = f(AddOp, state[0], f(MulOp, gradient, gradient))
        scale = f(AddOp, f(SqrtOp, squares), ctx.attr_float("epsilon", 1e-6))
        moved = f(DivOp, f(MulOp, f(DivOp, _rate(ctx, x), decay), gradient), scale)
        return [f(SubOp, x, moved), squares]

    return _updated(ctx, 1, step)


def _adam(ctx: NodeContext) -> Sequence[SSAValue]:
    f, number = Formula(ctx), scalar_input(ctx, 1)
    alpha, beta = ctx.attr_float("alpha", 0.9), ctx.attr_float("beta", 0.999)

    def left(base: float) -> SSAValue:
        """`1 - base ** T`."""
        return f(SubOp, 1.0, f(PowOp, ctx.scalar(base, f32), f.cast(number, f32)))

    def step(x: SSAValue, gradient: SSAValue, state: Sequence[SSAValue]) -> Sequence[SSAValue]:
        element = element_type_of(x)
        mean = f(AddOp, f(MulOp, state[0], alpha), f(MulOp, gradient, 1 - alpha))
        squares = f(AddOp, f(MulOp, state[1], beta), f(MulOp, f(MulOp, gradient, gradient), 1 - beta))
        scale = f(AddOp, f(SqrtOp, squares), ctx.attr_float("epsilon", 1e-6))
        factor = f.cast(f(WhereOp, f(GtOp, number, 0), f(DivOp, f(SqrtOp, left(beta)), left(alpha)), 1.0), element)
        moved = f(DivOp, f(MulOp, f(MulOp, _rate(ctx, x), factor), mean), scale)
        after = 1 - ctx.attr_float("norm_coefficient_post", 0.0)
        return [f(MulOp, f(SubOp, x, moved), after), mean, squares]

    return _updated(ctx, 2, step)


def _momentum(ctx: NodeContext) -> Sequence[SSAValue]:
    f, number = Formula(ctx), scalar_input(ctx, 1)
    alpha, beta, mode = ctx.attr_float("alpha"), ctx.attr_float("beta"), ctx.attr_str("mode")
    if mode not in ("standard", "nesterov"):
        ctx.fail(f"mode is '{mode}', expected standard or nesterov")

    def step(x: SSAValue, gradient: SSAValue, state: Sequence[SSAValue]) -> Sequence[SSAValue]:
        scale = f(WhereOp, f(GtOp, number, 0), ctx.scalar(beta, element_type_of(x)), 1.0)
        momentum = f(AddOp, f(MulOp, state[0], alpha), f(MulOp, gradient, scale))
        moved = f(AddOp, f(MulOp, momentum, alpha), gradient) if mode == "nesterov" else momentum
        return [f(SubOp, x, f(MulOp, moved, _rate(ctx, x))), momentum]

    return _updated(ctx, 1, step)


HANDLERS: Mapping[str, Handler] = {"Adagrad": _adagrad, "Adam": _adam, "Momentum": _momentum}
"""Of the domain `ai.onnx.preview.training`."""
