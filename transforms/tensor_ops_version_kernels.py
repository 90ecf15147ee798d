"""
`tensor-ops-version-kernels`: a second kernel for small sizes, where a size is only known at run time
(`kernel_versions` shows the choice).

Of kernels that suit large sizes, those waste most of their work on small ones that vectorise along such a size:
products whose columns are of unknown number (queries by keys) are computed in several vectors of columns, and packed
for that. Images of one or two rows or columns are other such sizes, of convolutions (`convolution_versions`), and 1 is
one of what moves data from one order into another, where that makes both orders the same. A kernel whose constants are
too large to be kept in another order, too, is left alone (`SpareWeights`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass

from aicc.dialects.graph.dims import sym, symbol_of
from aicc.dialects.tensor_ops import StructuredOp
from aicc.transforms.convolution_versions import add_thin_versions, thin_images
from aicc.transforms.kernel_versions import KernelVersions, Sizes, SpareWeights, calls_of, kernels_of
from aicc.transforms.target_facts import facts_of
from aicc.transforms.tensor_ops_constants import constant_arguments

MOST_SIZE = 4
"""The largest size that is small."""


def small_symbol(op: StructuredOp) -> str | None:
    """The symbol that is the number of columns of a reduction of two inputs, where vectors would lie, if one is."""
    if not op.is_reduction or len(op.input_maps) < 2:
        return None
    return symbol_of(op.parallel_dims[-1]) if op.parallel_dims else None


def _small_symbols(function: FuncOp) -> Iterator[str]:
    for op in function.body.block.ops:
        if isinstance(op, StructuredOp) and (symbol := small_symbol(op)) is not None:
            yield symbol


def _fastest(op: StructuredOp, but: str | None = None) -> set[int]:
    """
    The parallel dimensions along which elements lie beside each other, where the symbol `but` is 1: in the results, and
    in the inputs that have an axis for that dimension.
    """
    along = [position for position, dim in enumerate(op.dims) if dim != 1 and (but is None or symbol_of(dim) != but)]
    results = [position for position in along if position < op.parallel_count]
    found = set(results[-1:])
    for affine_map in (*op.input_maps, *op.finish_maps):
        read = [expr for expr in affine_map.results if expr.used_dims().intersection(along)]
        if found and any(results[-1] in expr.used_dims() for expr in read):
            last = read[-1]
            if isinstance(last, AffineDimExpr) and last.position < op.parallel_count:
                found.add(last.position)
    return found


def _flat_symbols(function: FuncOp) -> Iterator[str]:
    """Symbols that are the fastest index of some tensors and not of others, where this ends if they are 1."""
    for op in function.body.block.ops:
        if isinstance(op, StructuredOp) and len(fastest := _fastest(op)) > 1:
            for position in sorted(fastest):
                if (symbol := symbol_of(op.dims[position])) is not None and len(_fastest(op, symbol)) == 1:
                    yield symbol


@dataclass(frozen=True)
class TensorOpsVersionKernelsPass(ModulePass):
    """Gives kernels a second version for small sizes, chosen at run time."""

    name = "tensor-ops-version-kernels"

    most: int = MOST_SIZE
    """The largest size that is small."""

    target: str = "host"
    """Machine to decide for: `host`, `generic`, or a name that the back end knows."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants, calls, versions = constant_arguments(op), calls_of(op), KernelVersions(op)
        spare = SpareWeights(facts_of(self.target))
        for function in kernels_of(op):
            given = constants.get(function.sym_name.data, frozenset[int]())
            here = calls.get(function.sym_name.data, [])
            small, flat = next(_small_symbols(function), None), next(_flat_symbols(function), None)
            thin = any(True for _ in thin_images(function, given))
            if not here or not (thin or small or flat) or not spare.suffice_for(function, here, given):
                continue
            if small is not None:
                versions.add(function, here, Sizes(sym(small), self.most), "small")
            elif not add_thin_versions(versions, function, here, given) and flat is not None:
                versions.add(function, here, Sizes(sym(flat), 1, alone=True), "flat")
        versions.merge_equal()
