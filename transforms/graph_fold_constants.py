"""
`graph-fold-constants`: what small constants alone decide is computed now, by the numpy meaning of the ops.

Before: %a = graph.constant dense<[1, 2]> : tensor<2xi64>      After: %b = graph.constant dense<[2, 4]> : tensor<2xi64>
        %b = graph.add %a, %a ..

Only where operands and results together have at most `limit` elements, and where results of more than 64 elements are
no larger than the operands; what depends on larger constants is computed once by kernels before the model first runs.
An `if` with a constant condition is replaced by the region that is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.buffers import DENSE_LIMIT, BufferAttr
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.control import IfOp
from aicc.dialects.graph.dims import dims_of, is_tensor
from aicc.dialects.graph.free_names import FreeNames
from aicc.dialects.graph.interfaces import GraphOp, OpBuilder, element_type_of
from aicc.transforms.graph_functions import main_functions
from aicc.transforms.graph_rewrite import rewrite
from aicc.transforms.graph_rule_helpers import dense_value
from aicc.transforms.symbols import symbols_in_attribute


@dataclass(frozen=True)
class GraphFoldConstantsPass(ModulePass):
    """Computes what depends on small constants alone."""

    name = "graph-fold-constants"

    limit: int = 4096
    """Most elements of an op's operands and results together; at least 0."""

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise PassFailedException(f"{self.name}: limit must be at least 0, got {self.limit}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Folds in one function."""
        folder = _Folder(self.limit, FreeNames(_buffer_names(func), "."))
        rewrite(func, {GraphOp: [folder.fold], IfOp: [take_branch]})


def _buffer_names(root: Operation) -> set[str]:
    names = set[str]()
    for op in root.walk():
        if isinstance(op, ConstantOp) and isinstance(op.value, BufferAttr):
            names.add(op.value.data.name)
    return names


def static_size(value: SSAValue) -> int | None:
    """The number of elements; None if that is symbolic, or the value no tensor."""
    if not is_tensor(value.type):
        return None
    dims = dims_of(value.type)
    sizes = [dim for dim in dims if isinstance(dim, int)]
    return prod(sizes) if len(sizes) == len(dims) else None


def has_symbols(op: Operation) -> bool:
    """Whether a property holds a symbolic size, as the start of a slice may."""
    found: dict[str, None] = {}
    for attribute in op.properties.values():
        symbols_in_attribute(attribute, found)
    return bool(found)


def _is_readable(constant: ConstantOp) -> bool:
    """Whether the data is there: a buffer may be a name only."""
    value = constant.value
    return not isinstance(value, BufferAttr) or value.data.is_loaded or value.data.file is not None


@dataclass
class _Folder:
    limit: int
    names: FreeNames
    """Names of buffers that are taken."""

    def fold(self, op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
        """The results of `op` as constants, if its operands are constants and all is small."""
        if not isinstance(op, GraphOp) or isinstance(op, ConstantOp):
            return None
        sources = [operand.owner for operand in op.operands]
        constants = [source for source in sources if isinstance(source, ConstantOp)]
        if len(constants) != len(sources) or not self._is_small(op):
            return None
        if has_symbols(op) or not all(map(_is_readable, constants)):
            return None
        results = op.evaluate([constant.array() for constant in constants], {})
        values: list[SSAValue] = []
        for result, array in zip(op.results, results, strict=True):
            name = self.names.take(f"{result.name_hint or op.name.partition('.')[2]}.folded")
            values.append(b.add(ConstantOp.from_array(array, name, element_type_of(result))))
        return values

    def _is_small(self, op: Operation) -> bool:
        before = [static_size(operand) for operand in op.operands]
        after = [static_size(result) for result in op.results]
        read, written = sum(size or 0 for size in before), sum(size or 0 for size in after)
        if None in before or None in after or read + written > self.limit:
            return False
        return written <= max(read, DENSE_LIMIT)


def take_branch(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """The ops of the region that a constant condition chooses, in the place of the `if`."""
    assert isinstance(op, IfOp)
    condition = dense_value(op.condition)
    if condition is None:
        return None
    block = (op.then_region if bool(condition) else op.else_region).block
    last = block.last_op
    assert last is not None
    results = list(last.operands)
    if any(a.type != r.type for a, r in zip(results, op.results, strict=True)):
        return None
    for inner in list(block.ops):
        if inner is not last:
            location = inner.location
            inner.detach()
            b.insert(inner)
            inner.location = location
    return results
