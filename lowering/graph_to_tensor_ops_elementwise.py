"""Elementwise graph ops as structured ops without reduction: broadcasting is in the index maps."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.elementwise import ElementwiseOp
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.lowering.graph_to_tensor_ops_support import Read, broadcast_index, structured


def lower_elementwise(op: ElementwiseOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The op's own scalar expression as the body."""
    dims = dims_of(op.results[0].type)
    reads = [Read(operand, broadcast_index(operand, dims)) for operand in op.operands]
    element = element_type_of(op.results[0])
    return structured(b, reads, dims, [element], lambda s, args: [op.build_scalar(s, *args)])
