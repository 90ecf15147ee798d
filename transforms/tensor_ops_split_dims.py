"""Giving a structured op another parallel space, so that a view of its result becomes the result itself."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, tensor_type
from aicc.dialects.graph.interfaces import set_type
from aicc.dialects.tensor_ops import IndexOp, StructuredOp, ViewOp
from aicc.dialects.tensor_ops.affine import Simplifier, substitute
from aicc.transforms.tensor_ops_editing import IndexMaterializer, Operand, dim_bounds, operands_of, set_operands
from aicc.transforms.tensor_ops_inline import view_map


def absorb_view(producer: StructuredOp, view: ViewOp) -> bool:
    """
    Makes `producer` yield what `view` of its one result gives, and erases the view; says whether that was possible.

    Possible where the view only splits parallel dimensions or adds and removes ones of size 1.

    Before: %p = structured .. over [parallel 384]       After: %v = structured .. over [parallel 12, parallel 32]
            %v = view %p : 384 to 12x32
    """
    (result,) = producer.res
    found = view_map(view)
    if found is None or not result.has_one_use():
        return False
    dims = dims_of(view.result.type)
    simplifier = Simplifier(dim_bounds(dims))
    indices = [simplifier.simplify(expr) for expr in found.results]
    if not all(simplifier.linear(expr).is_pure_linear for expr in indices):
        return False
    set_parallel_space(producer, dims, indices)
    view.result.replace_all_uses_with(result)
    view.detach()
    view.erase()
    return True


def set_parallel_space(op: StructuredOp, dims: Sequence[Dim], indices: Sequence[AffineExpr]) -> None:
    """
    Lets the parallel dimensions of `op` be `dims`; `indices` are its old parallel indices over them.

    The results change their types with it; the caller adapts their users.
    """
    elements = op.element_types
    inputs, finish = operands_of(op)
    old_count, shift = op.parallel_count, len(dims) - op.parallel_count
    extents = [*dims, *op.reduction_dims]
    renamed: dict[int, AffineExpr] = dict(enumerate(indices))
    renamed |= {d: AffineDimExpr(d + shift) for d in range(old_count, len(op.dims))}

    def over_new(operand: Operand) -> Operand:
        results = tuple(substitute(result, renamed) for result in operand.map.results)
        return Operand(operand.value, AffineMap(len(extents), operand.map.num_symbols, results), operand.fill)

    symbols = op.symbols.data
    op.properties["extents"] = ShapeAttr(extents)
    op.properties["num_parallel"] = IntegerAttr(len(dims), i64)
    set_operands(op, [over_new(i) for i in inputs], [over_new(f) for f in finish], symbols)
    for block in (op.body.block, *((op.finish_block,) if op.finish_block is not None else ())):
        for inner in list(block.ops):
            if isinstance(inner, IndexOp):
                materializer = IndexMaterializer(Builder(InsertPoint.before(inner)), extents, ())
                inner.result.replace_all_uses_with(materializer.value(renamed[inner.position]))
                inner.detach()
                inner.erase()
    for result, element in zip(op.res, elements, strict=True):
        set_type(result, tensor_type(dims, element))
