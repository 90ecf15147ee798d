"""
Second kernels for sizes that are only known at run time, and the choice between them in `main`.

Before: %r = call @k(%x) symbols [S]
After:  %r = scf.if S <= 4 {
          %x1 = view %x : tensor<..S..> to tensor<..min(S, 4)..>
          %r1 = call @k_small(%x1) symbols [S]
          yield (view %r1)
        } else { %r0 = call @k(%x) symbols [S]; yield %r0 }

Both kernels say the same; in the second one the symbol is `min(S, 4)` wherever it stands, or the number where it is one
size only, so that all passes that follow know its range and decide by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, dim_min, dims_of, is_tensor, lower_bound, substitute, symbol_of, tensor_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.tensor_ops import CallOp, SizeOp, ViewOp
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, VERSION_ATTRIBUTE, function_symbols
from aicc.transforms.symbols import SymbolSubstitution
from aicc.transforms.target_facts import TargetFacts

FREE_WEIGHTS = 1 << 18
"""Bytes of one kernel's constants that may be kept twice: a version may keep them in an order of its own."""

CACHE_SHARE = 2
"""Larger constants kept twice may take this part of the last-level cache together: they are read in each run."""


@dataclass(frozen=True)
class Sizes:
    """The sizes that a version is for."""

    size: Dim
    """Of the kernel: a symbol, or what several make together."""
    most: int
    """The largest one."""
    alone: bool = False
    """Whether it is the only one."""
    told: bool = True
    """Whether the version is told so: kernels that are not are the same for all such sizes."""
    below: Dim | None = None
    """A size of the kernel that it must be less than, too."""

    @property
    def symbol(self) -> str | None:
        """The symbol that is of that size, if it is one."""
        return symbol_of(self.size)

    def known(self) -> dict[str, Dim]:
        """What stands for symbols in the version."""
        if not self.told or self.symbol is None:
            return {}
        return {self.symbol: self.most if self.alone else dim_min(self.size, self.most)}


@dataclass(frozen=True)
class Version:
    """A kernel that was made, and its calls."""

    function: FuncOp
    calls: list[CallOp]


def calls_of(module: ModuleOp) -> dict[str, list[CallOp]]:
    """The calls of each kernel, by its name."""
    calls: dict[str, list[CallOp]] = {}
    for op in module.walk():
        if isinstance(op, CallOp):
            calls.setdefault(op.callee_name, []).append(op)
    return calls


def kernels_of(module: ModuleOp) -> list[FuncOp]:
    """The kernels that have bodies."""
    return [
        op
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and KERNEL_ATTRIBUTE in op.attributes and op.body.blocks
    ]


def constant_bytes(function: FuncOp, constants: Iterable[int]) -> int:
    """Bytes of the inputs at these places."""
    types = function.function_type.inputs.data
    return sum(_bytes(types[place]) for place in constants)


class SpareWeights:
    """What kernels with versions may still keep twice of their constants."""

    def __init__(self, facts: TargetFacts):
        self._left = facts.l3_bytes // CACHE_SHARE

    def suffice_for(self, function: FuncOp, calls: Sequence[CallOp], constants: Iterable[int]) -> bool:
        """Whether a kernel, which has these calls, may keep its constants twice; counts them if so."""
        given = list(constants)
        if constant_bytes(function, given) <= FREE_WEIGHTS:
            return True
        wanted = sum(constant_bytes(function, [at]) * len({call.arguments[at] for call in calls}) for at in given)
        if wanted > self._left:
            return False
        self._left -= wanted
        return True


class KernelVersions:
    """Makes versions of the kernels of one module."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._names = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}
        self._made: list[Version] = []

    def add(self, function: FuncOp, calls: Sequence[CallOp], sizes: Sizes, suffix: str) -> Version | None:
        """
        Gives a kernel a version, behind it in the module; those of `calls` that may be of such sizes choose. The
        version, `None` if none of them may be.

        `suffix` is what its name ends in.
        """
        formal = function_symbols(function)
        given = {call: substitute(sizes.size, dict(zip(formal, call.symbols.data, strict=True))) for call in calls}
        chosen = {call: size for call, size in given.items() if (lower_bound(size) or 0) <= sizes.most}
        if not chosen:
            return None
        version = function.clone()
        version.properties["sym_name"] = StringAttr(self._name(f"{function.sym_name.data}_{suffix}"))
        SymbolSubstitution(sizes.known()).apply(version)
        self._module.body.block.insert_op_after(version, function)
        made = Version(version, [_choose(call, version, size, sizes) for call, size in chosen.items()])
        self._made.append(made)
        return made

    def merge_equal(self) -> None:
        """Of versions that are equal, leaves the first."""
        first: dict[str, FuncOp] = {}
        for version in self._made:
            name = version.function.sym_name
            version.function.properties["sym_name"] = StringAttr("")
            kept = first.setdefault(str(version.function), version.function)
            version.function.properties["sym_name"] = name
            if kept is not version.function:
                for call in version.calls:
                    call.properties["callee"] = SymbolRefAttr(kept.sym_name)
                version.function.detach()
                version.function.erase()

    def _name(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self._names:
            number += 1
            name = f"{wanted}{number}"
        self._names.add(name)
        return name


def _choose(call: CallOp, version: FuncOp, size: Dim, sizes: Sizes) -> CallOp:
    """Replaces a call by a choice between it and one of `version`, which it returns."""
    b = Builder(InsertPoint.before(call))
    value = b.insert(SizeOp(size)).result
    most = b.insert(arith.ConstantOp.from_int_and_width(sizes.most, IndexType())).result
    condition = b.insert(arith.CmpiOp(value, most, "eq" if sizes.alone else "ule")).result
    actual = dict(zip(function_symbols(version), call.symbols.data, strict=True))
    if sizes.below is not None:
        other = b.insert(SizeOp(substitute(sizes.below, actual))).result
        less = b.insert(arith.CmpiOp(value, other, "ult")).result
        condition = b.insert(arith.AndIOp(condition, less)).result
    formal = SymbolSubstitution(actual)
    types = call.result_types
    first, second = Region(Block()), Region(Block())
    inner = Builder(InsertPoint.at_end(first.block))
    inputs = [
        _as_type(inner, given, formal.attribute(type))
        for given, type in zip(call.arguments, version.function_type.inputs.data, strict=True)
    ]
    results = list(map(formal.attribute, version.function_type.outputs.data))
    made = inner.insert(CallOp(version.sym_name.data, inputs, results, call.symbols.data))
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
    return made


def _as_type(b: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    return value if value.type == type else b.insert(ViewOp(value, dims_of(type))).result


def _bytes(type: Attribute) -> int:
    """Of a tensor of known size; 0 for others."""
    if not is_tensor(type):
        return 0
    known = [dim for dim in dims_of(type) if isinstance(dim, int)]
    return prod(known) * numpy_dtype(tensor_of(type).element_type).itemsize if len(known) == len(dims_of(type)) else 0
