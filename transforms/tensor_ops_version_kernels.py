"""
`tensor-ops-version-kernels`: a second kernel for small sizes, where a size is only known at run time.

Before: %r = call @k(%x) symbols [S]
After:  %r = scf.if S <= 4 {
          %x1 = view %x : tensor<..S..> to tensor<..min(S, 4)..>
          %r1 = call @k_small(%x1) symbols [S]
          yield (view %r1)
        } else { %r0 = call @k(%x) symbols [S]; yield %r0 }

Both kernels say the same; in the small one the symbol is `min(S, 4)` wherever it stands, so that all passes that follow
know its range and decide by it. Which one runs, `main` decides.

Of kernels that suit large sizes, those waste most of their work on small ones that vectorise along such a size:
products whose columns are of unknown number (queries by keys) are computed in several vectors of columns, and packed
for that. A kernel with more than `MOST_WEIGHTS` bytes of constants is left alone, as the second one might keep them in
an order of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, dim_min, dims_of, is_tensor, lower_bound, sym, symbols_of, tensor_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.tensor_ops import CallOp, SizeOp, StructuredOp, ViewOp
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, VERSION_ATTRIBUTE, function_symbols
from aicc.transforms.symbols import SymbolSubstitution
from aicc.transforms.tensor_ops_constants import constant_arguments

MOST_SIZE = 4
"""The largest size that is small."""

MOST_WEIGHTS = 1 << 18
"""Bytes of constants that may be kept twice."""


def small_symbol(op: StructuredOp) -> str | None:
    """The symbol that is the number of columns of a reduction of two inputs, where vectors would lie, if one is."""
    if not op.is_reduction or len(op.input_maps) < 2:
        return None
    last = op.parallel_dims[-1] if op.parallel_dims else 1
    symbols = symbols_of([last])
    return symbols[0] if len(symbols) == 1 and last == sym(symbols[0]) else None


@dataclass
class _Versions:
    """The versions of the kernels of one module."""

    module: ModuleOp
    most: int

    def run(self) -> None:
        constants = constant_arguments(self.module)
        functions = [op for op in self.module.body.block.ops if isinstance(op, FuncOp)]
        self._names = {op.sym_name.data for op in functions}
        calls: dict[str, list[CallOp]] = {}
        for op in self.module.walk():
            if isinstance(op, CallOp):
                calls.setdefault(op.callee_name, []).append(op)
        for function in functions:
            here = calls.get(function.sym_name.data, [])
            if KERNEL_ATTRIBUTE not in function.attributes or not function.body.blocks or not here:
                continue
            types = function.function_type.inputs.data
            given = [types[place] for place in constants.get(function.sym_name.data, ())]
            symbol = next(_small_symbols(function), None)
            if symbol is not None and sum(map(_bytes, given)) <= MOST_WEIGHTS:
                self._version(function, here, symbol)

    def _version(self, function: FuncOp, calls: Sequence[CallOp], symbol: str) -> None:
        small = function.clone()
        small.properties["sym_name"] = StringAttr(self._name(f"{function.sym_name.data}_small"))
        place = function_symbols(function).index(symbol)
        SymbolSubstitution({symbol: dim_min(sym(symbol), self.most)}).apply(small)
        self.module.body.block.insert_op_after(small, function)
        for call in calls:
            size = call.symbols.data[place]
            if (lower_bound(size) or 0) <= self.most:
                self._choose(call, small, size)

    def _choose(self, call: CallOp, small: FuncOp, size: Dim) -> None:
        """Replaces a call by a choice between it and one of `small`."""
        b = Builder(InsertPoint.before(call))
        value = b.insert(SizeOp(size)).result
        most = b.insert(arith.ConstantOp.from_int_and_width(self.most, IndexType())).result
        condition = b.insert(arith.CmpiOp(value, most, "ule")).result
        formal = SymbolSubstitution(dict(zip(function_symbols(small), call.symbols.data, strict=True)))
        types = call.result_types
        first, second = Region(Block()), Region(Block())
        inner = Builder(InsertPoint.at_end(first.block))
        inputs = [
            _as_type(inner, given, formal.attribute(type))
            for given, type in zip(call.arguments, small.function_type.inputs.data, strict=True)
        ]
        results = list(map(formal.attribute, small.function_type.outputs.data))
        made = inner.insert(CallOp(small.sym_name.data, inputs, results, call.symbols.data))
        made.attributes = dict(call.attributes) | {VERSION_ATTRIBUTE: UnitAttr()}
        made.location = call.location
        inner.insert(scf.YieldOp(*[_as_type(inner, r, type) for r, type in zip(made.res, types, strict=True)]))
        choice = b.insert(scf.IfOp(condition, types, first, second))
        for old, new in zip(call.res, choice.results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        call.detach()
        second.block.add_op(call)
        second.block.add_op(scf.YieldOp(*call.res))

    def _name(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self._names:
            number += 1
            name = f"{wanted}{number}"
        self._names.add(name)
        return name


def _small_symbols(function: FuncOp) -> Iterator[str]:
    for op in function.body.block.ops:
        if isinstance(op, StructuredOp) and (symbol := small_symbol(op)) is not None:
            yield symbol


def _as_type(b: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    return value if value.type == type else b.insert(ViewOp(value, dims_of(type))).result


def _bytes(type: Attribute) -> int:
    """Of a tensor of known size; 0 for others."""
    if not is_tensor(type):
        return 0
    known = [dim for dim in dims_of(type) if isinstance(dim, int)]
    return prod(known) * numpy_dtype(tensor_of(type).element_type).itemsize if len(known) == len(dims_of(type)) else 0


@dataclass(frozen=True)
class TensorOpsVersionKernelsPass(ModulePass):
    """Gives kernels a second version for small sizes, chosen at run time."""

    name = "tensor-ops-version-kernels"

    most: int = MOST_SIZE
    """The largest size that is small."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Versions(op, self.most).run()
