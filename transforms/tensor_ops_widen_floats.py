"""
`tensor-ops-widen-floats`: operands of f16 and bf16 that are multiplied many times are converted to f32 once.

Before: @k(%x, %w):  %c = structured (%x, %w) over [m, n, reduction k] .. acc + ext(x) * ext(w) .. finish trunc
After:  @k(%x, %u):  %v = structured (%x) over [m, k] .. ext(x)                                  : tensor<m x k x f32>
                     %c = structured (%v, %u) over [m, n, reduction k] .. acc + x * u .. finish trunc
        @k_widened1(%w):  .. ext(w)                                                              : tensor<k x n x f32>
        main:             %u = call @k_widened1(%w)

The conversion is exact, so results stay the same. A contraction then is one of f32: it is tiled, packed and, as a
convolution, done by Winograd's algorithm like all others. Constants are converted in a kernel of their own, which moves
to `@prepare`. An operand of which each element is used only a few times stays as it is: reading it is what takes time,
and it has half the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, ModuleOp, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from aicc.dialects.graph.dims import dims_of, symbols_of
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.scalars import scalar_constant
from aicc.dialects.tensor_ops import StructuredOp, YieldOp
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.transforms.tensor_ops_editing import Operand, operands_of, set_operands
from aicc.transforms.tensor_ops_fuse import amount
from aicc.transforms.tensor_ops_layout_rules import is_contraction
from aicc.transforms.tensor_ops_prepare import Outliner

MIN_REUSE = 16
"""How often each element of an operand is multiplied at least, for its conversion to be done before."""


def widenable(op: StructuredOp) -> list[int]:
    """The inputs of a contraction that its body does nothing with but convert them to f32."""
    if 0 in op.dims or not is_contraction(op):
        return []
    found: list[int] = []
    for position, value in enumerate(op.inputs):
        if isinstance(element_type_of(value), Float16Type | BFloat16Type):
            users = [use.operation for use in op.body.block.args[position].uses]
            if users and all(isinstance(user, arith.ExtFOp) and user.result.type == f32 for user in users):
                found.append(position)
    return found


def is_reused(op: StructuredOp, position: int) -> bool:
    """Whether each element of an input takes part in many products."""
    return amount(op.dims) >= MIN_REUSE * amount(dims_of(op.inputs[position].type))


def widen(op: StructuredOp, position: int) -> StructuredOp:
    """Lets `op` read an input from a copy in f32 that is made right before it; returns what makes the copy."""
    inputs, finish = operands_of(op)
    value = inputs[position].value
    dims = dims_of(value.type)
    block = Block(arg_types=[element_scalar(value.type)])
    wide = arith.ExtFOp(block.args[0], f32)
    block.add_ops([wide, YieldOp(wide.result)])
    copy = StructuredOp([value], dims, len(dims), [AffineMap.identity(len(dims))], Region(block), [f32])
    parent = op.parent
    assert parent is not None
    parent.insert_op_before(copy, op)
    copy.location = op.location
    copy.res[0].name_hint = value.name_hint
    fill = inputs[position].fill
    if fill is not None:
        fill = scalar_constant(float(fill.value.data), f32)  # pyright: ignore
    inputs[position] = Operand(copy.res[0], inputs[position].map, fill)
    set_operands(op, inputs, finish, op.symbols.data)
    _retype_argument(op.body.block, position)
    return copy


def _retype_argument(body: Block, position: int) -> None:
    """Makes a scalar of a body one of f32, in place of its conversions."""
    old = body.args[position]
    new = body.insert_arg(f32, position)
    for user in [use.operation for use in old.uses]:
        user.results[0].replace_all_uses_with(new)
        user.detach()
        user.erase()
    body.erase_arg(old)


@dataclass(frozen=True)
class TensorOpsWidenFloatsPass(ModulePass):
    """Converts operands of contractions that are used many times to f32 before."""

    name = "tensor-ops-widen-floats"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        outliner: Outliner | None = None
        for function in list(op.body.block.ops):
            if not isinstance(function, FuncOp) or KERNEL_ATTRIBUTE not in function.attributes:
                continue
            copies = self._widen_in(function)
            if not copies:
                continue
            if outliner is None:
                outliner = Outliner(op)
            known = _arguments_at(function, outliner.constants(function))
            for copy in copies:
                # A part of a constant whose size is a symbol cannot move to where symbols have no values.
                if copy.inputs[0] in known and not symbols_of(copy.dims):
                    outliner.outline(function, copy, "widened")

    def _widen_in(self, function: FuncOp) -> list[StructuredOp]:
        return [
            widen(op, position)
            for op in list(function.body.block.ops)
            if isinstance(op, StructuredOp)
            for position in widenable(op)
            if is_reused(op, position)
        ]


def _arguments_at(function: FuncOp, positions: frozenset[int]) -> set[SSAValue]:
    """The arguments of a function at some positions."""
    arguments: tuple[BlockArgument, ...] = function.body.block.args
    return {argument for argument in arguments if argument.index in positions}
