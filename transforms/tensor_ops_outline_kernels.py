"""
`tensor-ops-outline-kernels`: each `tensor_ops.kernel` becomes a private function and a call of it.

Before: %r = tensor_ops.kernel (%a = %x : tensor<?xf32, #graph.dims<N>>) -> (tensor<?xf32, #graph.dims<N>>) { .. }
After:  %r = tensor_ops.call @relu_0(%x) symbols [N] : ...
        func.func private @relu_0(%0: tensor<?xf32, #graph.dims<s0>>) .. attributes {aicc.kernel, aicc.symbols = ["s0"]}

Symbols get canonical names in order of first appearance, and so do sizes such as `floordiv(N,8)` where no other size of
the kernel has a symbol of theirs; kernels whose text is then the same (names of values and locations left out) are one
function. A constant of one element, or of equal elements, becomes part of the kernel;
larger ones stay arguments. Numbers that alone tell otherwise equal kernels apart, such as the scales of a quantised
model's layers, stay arguments too: one function is compiled, not one for each layer. The call has the location of the
group.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Region
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter

from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import SymExpr, tensor_of
from aicc.dialects.graph.interfaces import FusionKind, TypedOp
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, SYMBOLS_ATTRIBUTE, CallOp, KernelOp
from aicc.transforms.graph_functions import main_functions
from aicc.transforms.symbols import independent_sizes, renaming, sizes_in_block

_MOST_NAMES = 4
"""Ops that a kernel is named after, at most."""

_MOST_VARIANTS = 2
"""Kernels that differ in numbers only and become functions of their own; of more, one function takes the numbers."""


@dataclass(frozen=True)
class TensorOpsOutlineKernelsPass(ModulePass):
    """Makes functions of kernels, one for all equal ones."""

    name = "tensor-ops-outline-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        outliner = Outliner(op)
        functions = main_functions(op)
        kernels = [inner for function in functions for inner in function.walk() if isinstance(inner, KernelOp)]
        kept = outliner.varying_numbers(kernels)
        for kernel in kernels:
            outliner.outline(kernel, kept.get(kernel, ()))


@dataclass
class Outliner:
    """Turns kernels of one module into functions, and remembers those it has made."""

    module: ModuleOp
    made: dict[str, str] = field(default_factory=dict[str, str])
    """Text of a kernel function without its name -> the name."""

    types: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    """Texts of tensor types."""

    def __post_init__(self) -> None:
        self.taken = {op.sym_name.data for op in self.module.body.block.ops if isinstance(op, FuncOp)}
        self.counts: dict[str, int] = {}

    def varying_numbers(self, kernels: Sequence[KernelOp]) -> dict[KernelOp, Sequence[int]]:
        """The positions of the operands in which more than `_MOST_VARIANTS` otherwise equal kernels differ."""
        alike: dict[str, list[KernelOp]] = {}
        numbers: dict[KernelOp, dict[int, Attribute]] = {}
        for kernel in kernels:
            if found := _numbers(kernel):
                _drop_names(kernel.body)
                numbers[kernel] = found
                alike.setdefault(_text(kernel.body, self.types), []).append(kernel)
        kept: dict[KernelOp, Sequence[int]] = {}
        for group in alike.values():
            if len({tuple(numbers[kernel].items()) for kernel in group}) > _MOST_VARIANTS:
                varying = [at for at in numbers[group[0]] if len({numbers[kernel].get(at) for kernel in group}) > 1]
                kept |= dict.fromkeys(group, varying)
        return kept

    def outline(self, kernel: KernelOp, kept: Collection[int] = ()) -> None:
        """Replaces `kernel` by a call, which passes the constants at the positions `kept`."""
        move_in_constants(kernel, kept)
        block = kernel.body.block
        sizes = independent_sizes(sizes_in_block(block))
        stem = kernel_stem(block)
        function = self._make_function(kernel, sizes)
        text = _text(function, self.types)
        if text not in self.made:
            self.made[text] = name = self._fresh_name(stem)
            function.properties["sym_name"] = StringAttr(name)
            self.module.body.block.add_op(function)
        call = CallOp(self.made[text], kernel.inputs, kernel.result_types, sizes)
        call.location = kernel.location
        for old, new in zip(kernel.results, call.results, strict=True):
            new.name_hint = old.name_hint
        Rewriter.replace_op(kernel, call)

    def _make_function(self, kernel: KernelOp, sizes: Sequence[SymExpr]) -> FuncOp:
        """Moves the body of `kernel` into a function with canonical symbols in the place of `sizes`."""
        block = kernel.body.block
        kernel.body.detach_block(block)
        last = block.last_op
        assert last is not None
        returned = ReturnOp(*last.operands)
        returned.location = last.location
        Rewriter.replace_op(last, returned, [])
        canonical = [f"s{i}" for i in range(len(sizes))]
        input_types = [arg.type for arg in block.args]
        function = FuncOp("", (input_types, kernel.result_types), Region(block), StringAttr("private"))
        renaming(sizes, canonical).apply(function)
        _drop_names(function.body)
        function.attributes[KERNEL_ATTRIBUTE] = UnitAttr()
        function.attributes[SYMBOLS_ATTRIBUTE] = ArrayAttr([StringAttr(name) for name in canonical])
        function.location = kernel.location
        return function

    def _fresh_name(self, stem: str) -> str:
        while True:
            number = self.counts.get(stem, 0)
            self.counts[stem] = number + 1
            if (name := f"{stem}_{number}") not in self.taken:
                self.taken.add(name)
                return name


class _Printer(Printer):
    """A printer that remembers the texts of tensor types, which are most of what a kernel's text is made of."""

    types: dict[Attribute, str]

    def print_attribute(self, attribute: Attribute) -> None:
        if type(attribute) is not TensorType:
            super().print_attribute(attribute)
            return
        if (text := self.types.get(attribute)) is None:
            text = self.types[attribute] = str(attribute)
        self.print_string(text)


def _text(what: FuncOp | Region, types: dict[Attribute, str]) -> str:
    stream = StringIO()
    printer = _Printer(stream=stream)
    printer.types = types
    if isinstance(what, Region):
        printer.print_region(what)
    else:
        printer.print_op(what)
    return stream.getvalue()


def _drop_names(region: Region) -> None:
    for block in region.blocks:
        for argument in block.args:
            argument.name_hint = None
        for op in block.ops:
            for result in op.results:
                result.name_hint = None
            for inner in op.regions:
                _drop_names(inner)


def _numbers(kernel: KernelOp) -> dict[int, Attribute]:
    """Constant operands of `kernel` for which elementwise code is the same whatever float they are, by position."""
    found: dict[int, Attribute] = {}
    for argument in kernel.body.block.args:
        source = kernel.inputs[argument.index].owner
        if (
            isinstance(source, ConstantOp)
            and isinstance(tensor_of(argument.type).element_type, AnyFloat)
            and tensor_of(argument.type).get_num_dims() <= 1
            and belongs_inside(source, argument)
            and _is_elementwise(argument)
        ):
            found[argument.index] = source.value
    return found


def _is_elementwise(argument: BlockArgument) -> bool:
    return all(
        isinstance(use.operation, TypedOp) and use.operation.fusion_kind is FusionKind.ELEMENTWISE
        for use in argument.uses
    )


def kernel_stem(block: Block) -> str:
    """The names of the ops in a kernel, without dialect, repetitions and constants: `conv_add_relu`."""
    names: dict[str, None] = {}
    for op in block.ops:
        if op.results and not isinstance(op, ConstantOp):
            names[op.name.partition(".")[2]] = None
    return "_".join(list(names)[:_MOST_NAMES]) or "copy"


def belongs_inside(constant: ConstantOp, argument: BlockArgument) -> bool:
    """
    Whether a constant is to be part of the kernel that gets it as `argument`.

    One element is; more are if they are all equal and only go into elementwise ops, where they become one scalar.
    """
    value = constant.value
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return False
    size = prod(tensor_of(constant.result.type).get_shape())
    raw = value.data.data
    if size == 0 or raw != raw[: len(raw) // size] * size:
        return False
    return size == 1 or _is_elementwise(argument)


def move_in_constants(kernel: KernelOp, outside: Collection[int] = ()) -> None:
    """Copies the small constants among the operands of `kernel` into its region, but for those at `outside`."""
    block = kernel.body.block
    kept = list(kernel.inputs)
    moved: list[ConstantOp] = []
    for argument in reversed(block.args):
        source = kernel.inputs[argument.index].owner
        if argument.index in outside:
            continue
        if isinstance(source, ConstantOp) and belongs_inside(source, argument):
            copy = source.clone()
            copy.location = source.location
            if block.first_op is not None:
                block.insert_op_before(copy, block.first_op)
            argument.replace_all_uses_with(copy.result)
            del kept[argument.index]
            block.erase_arg(argument)
            moved.append(source)
    if moved:
        kernel.operands = kept
    for source in moved:
        if source.result.first_use is None:
            source.detach()
            source.erase()
