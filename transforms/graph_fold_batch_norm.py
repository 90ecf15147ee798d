"""
`graph-fold-batch-norm`: a batch normalisation with constant parameters goes into the weights before it.

Before: %c = graph.conv %x, %w ..               After: %s = scale / sqrt(var + epsilon)
        %r = graph.batch_norm %c, %scale, ..           %r = graph.conv %x, (%w * %s) bias((%b - mean) * %s + bias)

With `s = scale / sqrt(var + epsilon)` the result `(conv(x, w) + b - mean) * s + bias` is `conv(x, w*s) + (b - mean)*s +
bias`, since `s` is one number per output channel. The new weights are graph ops on constants, which are computed once,
before the model first runs. Rounding differs from the spelt-out form, as in any reordering of a contraction.

Applies to convolutions and linear layers in f32 or f64 whose result nothing else uses; anything else is left as it is
(weights in f16 or bf16 would be rounded twice).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp, SubOp
from aicc.dialects.graph.assembly import array_values
from aicc.dialects.graph.constants import scalar_like
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import dims_of, rank_of
from aicc.dialects.graph.functions import SqrtOp
from aicc.dialects.graph.interfaces import FusionKind, GraphOp, OpBuilder, TypedOp, element_type_of
from aicc.dialects.graph.matmul import LinearOp, MatmulOp
from aicc.dialects.graph.movement import ReshapeOp
from aicc.dialects.graph.normalization import BatchNormOp
from aicc.transforms.graph_functions import main_functions
from aicc.transforms.graph_rewrite import rewrite
from aicc.transforms.graph_rule_helpers import sole_user


@dataclass(frozen=True)
class GraphFoldBatchNormPass(ModulePass):
    """Folds batch normalisations with constant parameters into the weights of the op before."""

    name = "graph-fold-batch-norm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Folds in one function."""
        rewrite(func, {BatchNormOp: [fold_batch_norm]})


def depends_on_constants_only(value: SSAValue) -> bool:
    """Whether `value` is computed from constants alone, by tensor ops."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        owner = current.owner
        if not isinstance(owner, GraphOp):
            return False
        if owner.fusion_kind is not FusionKind.CONSTANT:
            if not owner.operands:
                return False
            pending += owner.operands
    return True


def fold_batch_norm(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """`batch_norm(f(x, w) + b)` as `f(x, w * s) + t`."""
    assert isinstance(op, BatchNormOp)
    producer = op.x.owner
    if not isinstance(producer, ConvOp | LinearOp | MatmulOp) or sole_user(op.x) is not op:
        return None
    if element_type_of(op.x) not in (f32, f64):
        return None
    axis = output_axis(producer)
    parameters = [op.scale, op.bias, op.mean, op.variance]
    bias = None if isinstance(producer, MatmulOp) else producer.bias
    weight = producer.operands[1]
    if axis is None or not all(map(depends_on_constants_only, [weight, *parameters, *([bias] if bias else [])])):
        return None
    # Only of rank 2 is a linear layer's result [rows, channels], with the channels where batch_norm has them.
    if not isinstance(producer, ConvOp) and rank_of(producer.results[0].type) != 2:
        return None
    shifted = b.add(AddOp(op.variance, scalar_like(b, op.epsilon_value, op.variance)))
    factor = b.add(DivOp(op.scale, b.add(SqrtOp(shifted))))
    centre = op.mean if bias is None else b.add(SubOp(op.mean, bias))
    new_bias = b.add(SubOp(op.bias, b.add(MulOp(centre, factor))))
    rank = rank_of(weight.type)
    aligned = b.add(ReshapeOp(factor, [size if i == axis else 1 for i, size in enumerate(dims_of(weight.type))]))
    new_weight = b.add(MulOp(weight, aligned if rank > 1 else factor))
    return [b.add(with_weights(producer, new_weight, new_bias))]


def output_axis(op: TypedOp) -> int | None:
    """The axis of the weight that is the channel of the result; None if the op has no such."""
    match op:
        case ConvOp():
            return 0
        case LinearOp():
            return 0 if op.transpose_w is not None else 1
        case MatmulOp():
            if rank_of(op.rhs.type) != 2 or op.transpose_a is not None:
                return None
            return 0 if op.transpose_b is not None else 1
        case _:
            return None


def with_weights(op: ConvOp | LinearOp | MatmulOp, weight: SSAValue, bias: SSAValue) -> TypedOp:
    """A copy of `op` with other weights and a bias; a matmul becomes linear."""
    if isinstance(op, ConvOp):
        strides, dilations = array_values(op.strides), array_values(op.dilations)
        return ConvOp(op.x, weight, bias, strides, op.pads.data, dilations, op.group_count)
    if isinstance(op, LinearOp):
        return LinearOp(op.x, weight, bias, transpose_w=op.transpose_w is not None)
    return LinearOp(op.lhs, weight, bias, transpose_w=op.transpose_b is not None)
