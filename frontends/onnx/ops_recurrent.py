"""
`RNN`, `GRU` and `LSTM`: one op of the graph dialect for each direction.

The standard's operands have an axis for the directions, and with `layout` of 1 the batch before the steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.movement import ConcatOp, ReshapeOp, SliceOp, TransposeOp
from aicc.dialects.graph.quantized_recurrent import QuantizedLstmOp
from aicc.dialects.graph.recurrent_activations import NAMES, activation
from aicc.dialects.graph.recurrent_ops import GruOp, LstmOp, RnnOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


@dataclass(frozen=True)
class _Kind:
    """What differs between the three operators."""

    build: Callable[..., Operation]
    activations: tuple[str, ...]
    """The standard's names of those of one direction where none are given."""

    flags: tuple[str, ...] = ()
    """Attributes that are 0 or 1 and have a flag of that name on the op."""

    own_inputs: tuple[tuple[str, int], ...] = ()
    """Further inputs: name of the op's operand, position."""


_KINDS = {
    "RNN": _Kind(RnnOp, ("Tanh",)),
    "GRU": _Kind(GruOp, ("Sigmoid", "Tanh"), flags=("linear_before_reset",)),
    "LSTM": _Kind(
        LstmOp,
        ("Sigmoid", "Tanh", "Tanh"),
        flags=("input_forget",),
        own_inputs=(("initial_c", 6), ("peephole", 7)),
    ),
}


_RANKS = {1: 3, 2: 3, 5: 3, 6: 3}
"""Of weights and states, by position; others that each direction has a part of are of rank 2."""


def _recurrent(ctx: NodeContext) -> list[Result]:
    return _build(
        ctx, _KINDS[ctx.op_type], lambda position: (_direction(ctx, 1, position), _direction(ctx, 2, position))
    )


def _quantized_lstm(ctx: NodeContext) -> list[Result]:
    """`DynamicQuantizeLSTM`: scales and zero points of the weights follow the inputs of an `LSTM`."""

    def weights(position: int) -> list[tuple[SSAValue, SSAValue, SSAValue]]:
        found: list[tuple[SSAValue, SSAValue, SSAValue]] = []
        for data, scale in ((1, 8), (2, 10)):
            if not ctx.has(scale) or not ctx.has(scale + 1):
                ctx.fail("a scale or zero point of the weights is missing")
            integers = _direction(ctx, data, position)
            assert integers is not None
            found.append((integers, _per_direction(ctx, scale, position), _per_direction(ctx, scale + 1, position)))
        return found

    return _build(ctx, replace(_KINDS["LSTM"], build=QuantizedLstmOp), weights)


def _per_direction(ctx: NodeContext, index: int, position: int) -> SSAValue:
    """A scale or zero point of one direction, `[1]` or `[4*H]`."""
    dims = ctx.dims(index)
    if len(dims) == 2:
        found = _direction(ctx, index, position)
        assert found is not None
        return found
    if len(dims) != 1:
        ctx.fail(f"input {index} has rank {len(dims)}, expected 1 or 2")
    value = ctx.ssa(index)
    return value if dims == (1,) else ctx.emit(SliceOp.from_bounds(value, [position], [position + 1], [1]))


def _build(ctx: NodeContext, kind: _Kind, weights: Callable[[int], Sequence[Any]]) -> list[Result]:
    """The ops of all directions; `weights` gives those of one of them."""
    direction = ctx.attr_str("direction", "forward").lower()
    if direction not in _DIRECTIONS:
        ctx.fail(f"direction is '{direction}', expected forward, reverse or bidirectional")
    reverses = _DIRECTIONS[direction]
    if ctx.rank(0) != 3 or ctx.rank(1) != 3 or ctx.rank(2) != 3:
        ctx.fail("input, weights and recurrent weights have other ranks than 3")
    count = ctx.dims(1)[0]
    if count != len(reverses):
        ctx.fail(f"the weights are for {count} directions, expected {len(reverses)} for '{direction}'")
    batch_first = bool(ctx.attr_int("layout", 0))
    x = _transposed(ctx, ctx.ssa(0)) if batch_first else ctx.ssa(0)
    activations = _activations(ctx, kind, len(reverses))
    clip = ctx.attr_float("clip", 0.0) if ctx.has_attr("clip") else None
    flags = {name: bool(ctx.attr_int(name, 0)) for name in kind.flags}
    outputs: list[Sequence[SSAValue]] = []
    for position, reverse in enumerate(reverses):
        own = {
            name: _direction(ctx, index, position, batch_first and name.startswith("initial"))
            for name, index in kind.own_inputs
        }
        op = kind.build(
            x,
            *weights(position),
            _direction(ctx, 3, position),
            ctx.optional(4),
            _direction(ctx, 5, position, batch_first),
            activations=activations[position],
            clip=clip,
            reverse=reverse,
            **own,
            **flags,
        )
        outputs.append(ctx.emit_all(op))
    return [_joined(ctx, values, batch_first) for values in zip(*outputs, strict=True)]


def _direction(ctx: NodeContext, index: int, position: int, batch_first: bool = False) -> SSAValue | None:
    """The part of an input that belongs to one direction, which its first axis counts."""
    if not ctx.has(index):
        return None
    ctx.expect_rank(index, _RANKS.get(index, 2))
    value = ctx.ssa(index)
    if batch_first:
        value = _transposed(ctx, value)
    dims = dims_of(value.type)
    if dims[0] != 1:
        bounds = ([position, *[0] * (len(dims) - 1)], [position + 1, *dims[1:]], [1] * len(dims))
        value = ctx.emit(SliceOp.from_bounds(value, *bounds))
    return ctx.emit(ReshapeOp(value, dims[1:]))


def _transposed(ctx: NodeContext, value: SSAValue) -> SSAValue:
    """A tensor of rank 3 with its first two axes swapped."""
    return ctx.emit(TransposeOp(value, (1, 0, 2)))


def _joined(ctx: NodeContext, values: Sequence[SSAValue], batch_first: bool) -> SSAValue:
    """One result for all directions: `[S, D, B, H]` or `[D, B, H]`, or with the batch first."""
    *steps, batch, units = dims_of(values[0].type)
    parts = [ctx.emit(ReshapeOp(value, (*steps, 1, batch, units))) for value in values]
    joined = parts[0] if len(parts) == 1 else ctx.emit(ConcatOp(parts, len(steps)))
    if not batch_first:
        return joined
    return ctx.emit(TransposeOp(joined, (2, 0, 1, 3) if steps else (1, 0, 2)))


def _activations(ctx: NodeContext, kind: _Kind, directions: int) -> list[str]:
    """The activations of each direction, as the op's property lists them."""
    names = _strings(ctx, "activations") or list(kind.activations) * directions
    expected = len(kind.activations) * directions
    if len(names) != expected:
        ctx.fail(f"there are {len(names)} activations, expected {expected}")
    alphas = list(ctx.attr_floats("activation_alpha", ()))
    betas = list(ctx.attr_floats("activation_beta", ()))
    items: list[str] = []
    for name in names:
        own = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        # The standard takes any spelling of the names, which are one word each in its own.
        own = next((known for known in NAMES if known.replace("_", "") == own.replace("_", "")), own)
        if own not in NAMES:
            ctx.fail(f"activation '{name}' is not supported; expected one of {', '.join(NAMES)}")
        # The lists hold values for those activations only that have parameters, in order.
        parameters: list[float] = []
        for values, _ in zip((alphas, betas), activation(own).parameters, strict=False):
            if not values:
                break
            parameters.append(values.pop(0))
        items.append(str(activation(own, *parameters)))
    size = len(kind.activations)
    return [",".join(items[k * size : (k + 1) * size]) for k in range(directions)]


def _strings(ctx: NodeContext, name: str) -> list[str]:
    attribute: Any = next((found for found in ctx.node.attribute if found.name == name), None)
    return [] if attribute is None else [text.decode("utf-8", "replace") for text in attribute.strings]


MICROSOFT: Mapping[str, Handler] = {"DynamicQuantizeLSTM": _quantized_lstm}
"""Recurrent operators of `com.microsoft` by name."""

HANDLERS: Mapping[str, Handler] = dict.fromkeys(_KINDS, _recurrent)
"""Recurrent operators by name."""
