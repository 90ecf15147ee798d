"""Non-maximum suppression: keys in the order of the scores, boxes by their corners."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.dtypes import accumulator_type, bit_width
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.non_max_suppression import NonMaxSuppressionOp
from aicc.dialects.graph.scalars import ScalarBuilder
from aicc.dialects.tensor_ops import ConcatOp
from aicc.dialects.tensor_ops import NonMaxSuppressionOp as TensorNonMaxSuppressionOp
from aicc.lowering.graph_to_tensor_ops_support import Read, identity, structured
from aicc.lowering.graph_to_tensor_ops_top_k import ordered_key


def lower_non_max_suppression(op: NonMaxSuppressionOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The op of the same name on keys and corners."""
    made = TensorNonMaxSuppressionOp(_keys(op, b), *_corners(op, b), op.count)
    b.insert(made)
    return made.results


def _keys(op: NonMaxSuppressionOp, b: OpBuilder) -> SSAValue:
    element = element_type_of(op.scores)
    key, wide = i64 if bit_width(element) == 64 else i32, accumulator_type(element)

    def keys(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        score, *least = (s.extend_float(arg, wide) for arg in args)
        kept = s.cmp("gt", score, least[0]) if least else s.cmp("eq", score, score)
        lowest = s.const(-(1 << (bit_width(key) - 1)), key)
        return [s.select(kept, ordered_key(s, score, element, key), lowest)]

    reads = [Read(op.scores, identity(3)), *([] if op.least is None else [Read(op.least, [])])]
    return structured(b, reads, dims_of(op.scores.type), [key], keys)[0]


def _corners(op: NonMaxSuppressionOp, b: OpBuilder) -> tuple[SSAValue, SSAValue]:
    """The boxes, and the overlap in their type."""
    element = element_type_of(op.boxes)
    wide = accumulator_type(element)
    batches, _, boxes = dims_of(op.scores.type)
    edges = [AffineExpr.dimension(0), AffineExpr.dimension(1)]
    axis = AffineExpr.dimension(2)
    center = op.center is not None

    def corner(high: bool) -> SSAValue:
        def scalar(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            first, second = (s.extend_float(arg, wide) for arg in args)
            if center:
                half = s.div(second, s.const(2.0, wide))
                return [s.add(first, half) if high else s.sub(first, half)]
            return [s.max(first, second) if high else s.min(first, second)]

        reads = [Read(op.boxes, [*edges, axis]), Read(op.boxes, [*edges, axis + 2])]
        return structured(b, reads, [batches, boxes, 2], [wide], scalar)[0]

    corners = b.add(ConcatOp([corner(False), corner(True)], 2))
    if element == wide:
        return corners, op.overlap
    widened = structured(b, [Read(op.overlap, [])], [], [f32], lambda s, args: [s.extend_float(args[0], f32)])
    return corners, widened[0]
