"""
The `graph` dialect: what a model computes, as operators on whole tensors.

Values are tensors with value semantics; shapes may be symbolic (`tensor<?x3xf32, #graph.dims<N>>`); weights are buffers
referred to by name. Elementwise ops broadcast as in numpy. There are no loops, buffers, layouts or facts about a target
here. Functions are `func.func`. Lowers to `tensor_ops`.
"""

from xdsl.ir import Attribute, Dialect, Operation

from aicc.dialects.graph import (
    activations,
    arg_reductions,
    arithmetic,
    attention,
    bitcast,
    choice,
    comparison,
    constants,
    control,
    conv,
    defined_sizes,
    find,
    functions,
    indexing,
    integer_products,
    log_sum_exp,
    matmul,
    movement,
    non_max_suppression,
    normalization,
    pooling,
    quantized_recurrent,
    recurrent_ops,
    reductions,
    scan,
    sizes,
    softmax,
    top_k,
)
from aicc.dialects.graph.buffers import BufferAttr
from aicc.dialects.graph.dims import DimsAttr, ShapeAttr

_FAMILIES = (
    activations.OPS,
    arg_reductions.OPS,
    arithmetic.OPS,
    attention.OPS,
    bitcast.OPS,
    choice.OPS,
    comparison.OPS,
    constants.OPS,
    control.OPS,
    conv.OPS,
    defined_sizes.OPS,
    find.OPS,
    functions.OPS,
    indexing.OPS,
    integer_products.OPS,
    log_sum_exp.OPS,
    matmul.OPS,
    movement.OPS,
    non_max_suppression.OPS,
    normalization.OPS,
    pooling.OPS,
    quantized_recurrent.OPS,
    reductions.OPS,
    recurrent_ops.OPS,
    scan.OPS,
    sizes.OPS,
    softmax.OPS,
    top_k.OPS,
)

OPS: list[type[Operation]] = sorted((op for family in _FAMILIES for op in family), key=lambda op: op.name)
ATTRIBUTES: list[type[Attribute]] = [BufferAttr, DimsAttr, ShapeAttr]

Graph = Dialect("graph", OPS, ATTRIBUTES)
