"""Einstein sums: pairs of operands as matrix products over the labels that they alone still need."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import MulOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, provably_different, provably_equal
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ReshapeOp, SliceOp, TransposeOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula


@dataclass(frozen=True)
class _Term:
    """A tensor with one label per axis."""

    value: SSAValue
    labels: tuple[str, ...]

    def size(self, label: str) -> Dim:
        return dims_of(self.value.type)[self.labels.index(label)]


def _einsum(ctx: NodeContext) -> SSAValue:
    equation = ctx.attr_str("equation")
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    subscripts = inputs.split(",")
    if not re.fullmatch(r"[A-Za-z.,]*", inputs) or not re.fullmatch(r"[A-Za-z.]*", output):
        ctx.fail(f"equation '{equation}' is malformed")
    values = ctx.every()
    if len(subscripts) != len(values):
        ctx.fail(f"equation '{equation}' has {len(subscripts)} operands for {len(values)} inputs")
    terms = [_term(ctx, value, text) for value, text in zip(values, subscripts, strict=True)]
    # The axes of an ellipsis are numbered from the last.
    rank = max((sum(label.isdigit() for label in term.labels) for term in terms), default=0)
    ellipsis = tuple(str(i) for i in reversed(range(rank)))
    if arrow:
        if output.count("...") > 1 or "." in output.replace("...", ""):
            ctx.fail(f"equation '{equation}' is malformed")
        before, dots, after = output.partition("...")
        result = (*before, *(ellipsis if dots else ()), *after)
    else:
        letters = re.sub(r"[^A-Za-z]", "", inputs)
        result = (*ellipsis, *sorted(label for label in set(letters) if letters.count(label) == 1))
    known = {label for term in terms for label in term.labels}
    if len(set(result)) != len(result) or not known.issuperset(result):
        ctx.fail(f"equation '{equation}' has a result that repeats a label or has one of its own")
    while len(terms) > 1:
        first, second, *rest = terms
        needed = {label for term in rest for label in term.labels}.union(result)
        terms = [_product(ctx, first, second, needed), *rest]
    last = _summed(ctx, terms[0], set(result))
    return _ordered(ctx, last, result).value


def _term(ctx: NodeContext, value: SSAValue, text: str) -> _Term:
    rank = len(dims_of(value.type))
    before, dots, after = text.partition("...")
    hidden = rank - len(before) - len(after)
    labels = (*before, *(str(i) for i in reversed(range(max(hidden, 0)))), *after)
    if "." in before + after or len(labels) != rank or (hidden > 0 and not dots):
        ctx.fail(f"subscripts '{text}' do not fit an operand of rank {rank}")
    term = _Term(value, labels)
    while (twice := next((label for label in term.labels if term.labels.count(label) > 1), None)) is not None:
        term = _diagonal(ctx, term, twice)
    return term


def _diagonal(ctx: NodeContext, term: _Term, label: str) -> _Term:
    """Of two axes of one label, which become one in front, the elements with the same index on both."""
    first, second = [axis for axis, name in enumerate(term.labels) if name == label][:2]
    dims = dims_of(term.value.type)
    size, other = dims[first], dims[second]
    if provably_different(size, other):
        ctx.fail(f"label '{label}' names axes {first} and {second} of sizes {size} and {other}")
    if not provably_equal(size, other):
        text = f"node '{ctx.name}': label '{label}' names axes {first} and {second} of sizes {size} and {other}"
        ctx.check_sizes(size, other, text)
    rest = [axis for axis in range(len(dims)) if axis not in (first, second)]
    value = ctx.emit(TransposeOp(term.value, [first, second, *rest]))
    sizes = [dims[axis] for axis in rest]
    square = ctx.emit(ReshapeOp(value, (size * size, *sizes)))
    if isinstance(size, int):
        zeros, ones = [0] * len(rest), [1] * len(rest)
        picked = ctx.emit(SliceOp(square, [0, *zeros], [size, *sizes], [size + 1, *ones]))
    else:
        f = Formula(ctx)
        picked = ctx.emit(GatherOp(square, f(MulOp, f.places(size, 0, 1), f.size(size + 1)), 0))
    return _Term(picked, (label, *(term.labels[axis] for axis in rest)))


def _summed(ctx: NodeContext, term: _Term, needed: set[str]) -> _Term:
    """The sum over all labels that nobody needs."""
    axes = [i for i, label in enumerate(term.labels) if label not in needed]
    if not axes:
        return term
    kept = tuple(label for label in term.labels if label in needed)
    return _Term(ctx.emit(ReduceSumOp(term.value, axes)), kept)


def _ordered(ctx: NodeContext, term: _Term, labels: Sequence[str]) -> _Term:
    """The term with its axes in the order of `labels`, which are the same."""
    if term.labels == tuple(labels):
        return term
    order = [term.labels.index(label) for label in labels]
    return _Term(ctx.emit(TransposeOp(term.value, order)), tuple(labels))


def _product(ctx: NodeContext, first: _Term, second: _Term, needed: set[str]) -> _Term:
    """`[batch.., rows, depth] x [batch.., depth, columns]`; sizes of 1 among the batch axes broadcast."""
    first = _summed(ctx, first, needed.union(second.labels))
    second = _summed(ctx, second, needed.union(first.labels))
    shared = [label for label in first.labels if label in second.labels]
    batch = [label for label in shared if label in needed]
    depth = [label for label in shared if label not in needed]
    rows = [label for label in first.labels if label not in shared]
    columns = [label for label in second.labels if label not in shared]
    left = _ordered(ctx, first, [*batch, *rows, *depth])
    right = _ordered(ctx, second, [*batch, *depth, *columns])
    row_sizes, column_sizes = [left.size(label) for label in rows], [right.size(label) for label in columns]
    depth_sizes = [left.size(label) for label in depth], [right.size(label) for label in depth]
    a = _merged(ctx, left, batch, dim_prod(row_sizes), dim_prod(depth_sizes[0]))
    b = _merged(ctx, right, batch, dim_prod(depth_sizes[1]), dim_prod(column_sizes))
    product = ctx.emit(MatmulOp(a, b)) if depth else ctx.emit(MulOp(a, b))
    sizes = dims_of(product.type)[: len(batch)]
    result = ctx.emit(ReshapeOp(product, (*sizes, *row_sizes, *column_sizes)))
    return _Term(result, (*batch, *rows, *columns))


def _merged(ctx: NodeContext, term: _Term, batch: Sequence[str], rows: Dim, columns: Dim) -> SSAValue:
    shape = (*(term.size(label) for label in batch), rows, columns)
    return term.value if shape == dims_of(term.value.type) else ctx.emit(ReshapeOp(term.value, shape))


HANDLERS: Mapping[str, Handler] = {"Einsum": _einsum}
"""The one operator of this file by name."""
