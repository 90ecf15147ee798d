"""
`graph-simplify`: algebra that is exact for all values, and ops that do nothing.

Before: %t = graph.transpose %x {permutation = [0, 2, 1]} ..      After: %r = graph.relu %x ..
        %r = graph.relu %t ..
        %u = graph.transpose %r {permutation = [0, 2, 1]} ..

The rules are in `graph_simplify_arithmetic.py`, `graph_simplify_movement.py` and `graph_simplify_transposes.py`. None
of them changes NaN, infinities, signed zeros or rounding. Ops that nothing uses are removed.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from aicc.transforms import graph_simplify_arithmetic, graph_simplify_movement, graph_simplify_transposes
from aicc.transforms.graph_functions import main_functions
from aicc.transforms.graph_rewrite import merged_rules, rewrite

RULES = merged_rules(graph_simplify_arithmetic.RULES, graph_simplify_movement.RULES, graph_simplify_transposes.RULES)


@dataclass(frozen=True)
class GraphSimplifyPass(ModulePass):
    """Removes ops that do nothing and applies algebra that is exact."""

    name = "graph-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Simplifies one function."""
        rewrite(func, RULES)
