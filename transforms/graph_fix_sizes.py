"""
`graph-fix-sizes{symbol=N,S size=1,128}`: sizes that symbols stand for become numbers.

Before: func.func @main(%x: tensor<?x?xf32, #graph.dims<N, 2*S>>) ..
After:  func.func @main(%x: tensor<1x256xf32>) ..                       in all types and shapes of @main

The symbols are those of `@main`'s inputs; another one is an error that lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, PassFailedException
from xdsl.utils.hints import isa

from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.graph.dims import Dim, dims_of, is_tensor, substitute, symbols_of
from aicc.dialects.graph.symbol_names import check_symbols
from aicc.transforms.symbols import SymbolSubstitution

_CHECKS = "aicc.checks"


def fix_sizes(module: ModuleOp, sizes: Mapping[str, int]) -> None:
    """
    Puts numbers in the place of symbols.

    Raises:
        UnknownSymbolError: listing the symbols there are.
        DiagnosticException: the sizes contradict what the module says of them.
    """
    mains = [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"]
    types = [type for main in mains for type in main.function_type.inputs if is_tensor(type)]
    known = symbols_of(dim for type in types for dim in dims_of(type))
    for name, size in sizes.items():
        if size < 0:
            raise DiagnosticException(f"size {size} of '{name}' is negative")
    check_symbols(sizes, known)
    values: dict[str, Dim] = dict(sizes)
    for main in mains:
        _fix_checks(main, values)
        # Other functions have symbols of their own, which only look the same.
        SymbolSubstitution(values).apply(main)


def _fix_checks(main: FuncOp, values: Mapping[str, Dim]) -> None:
    """What is checked at run time, with the numbers put in; what holds is dropped."""
    checks = main.attributes.get(_CHECKS)
    if not isa(checks, ArrayAttr[ArrayAttr[StringAttr]]):
        return
    left: list[ArrayAttr[StringAttr]] = []
    for check in checks:
        lhs, rhs, text = (part.data for part in check)
        one, other = (substitute(parse_dim(side), values) for side in (lhs, rhs))
        if isinstance(one, int) and isinstance(other, int) and one != other:
            raise DiagnosticException(f"{text}: {lhs} is {one}, but {rhs} is {other} with the sizes given")
        if one != other:
            left.append(ArrayAttr([StringAttr(str(one)), StringAttr(str(other)), StringAttr(text)]))
    main.attributes[_CHECKS] = ArrayAttr(left)


@dataclass(frozen=True)
class GraphFixSizesPass(ModulePass):
    """Puts numbers in the place of symbols of sizes."""

    name = "graph-fix-sizes"

    symbol: tuple[str, ...] = field(default=())
    """The symbols."""
    size: tuple[int, ...] = field(default=())
    """As many sizes, at least 0."""

    def __post_init__(self) -> None:
        if len(self.symbol) != len(self.size):
            raise PassFailedException(
                f"{self.name}: {len(self.symbol)} symbols and {len(self.size)} sizes, expected a size for each symbol"
            )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fix_sizes(op, dict(zip(self.symbol, self.size, strict=True)))
