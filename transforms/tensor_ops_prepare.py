"""Work on the constants of kernels, taken out of them so that it moves to `@prepare`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Region

from aicc.dialects.tensor_ops import StructuredOp
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, SYMBOLS_ATTRIBUTE, CallOp


def outline(module: ModuleOp, function: FuncOp, op: StructuredOp, calls: Sequence[CallOp], what: str) -> None:
    """
    Makes `op`, which reads nothing but arguments of a kernel, a kernel of its own, called `<kernel>_<what><argument>`.

    Its result becomes the kernel's last argument; all `calls` of the kernel get it from a call right before. Arguments
    that nothing reads any more are removed.
    """
    arguments = [value for value in dict.fromkeys(op.operands) if isinstance(value, BlockArgument)]
    body = Block(arg_types=[argument.type for argument in arguments])
    result = op.res[0]
    argument = function.body.block.insert_arg(result.type, len(function.body.block.args))
    argument.name_hint = result.name_hint
    result.replace_all_uses_with(argument)
    op.detach()
    places = dict(zip(arguments, body.args, strict=True))
    op.operands = [places[value] for value in op.operands if isinstance(value, BlockArgument)]
    body.add_ops([op, ReturnOp(op.res[0])])
    name = f"{function.sym_name.data}_{what}{arguments[0].index}"
    types = [argument.type for argument in arguments]
    made = FuncOp(name, (types, [result.type]), Region(body), visibility="private")
    made.attributes.update({KERNEL_ATTRIBUTE: UnitAttr(), SYMBOLS_ATTRIBUTE: ArrayAttr([])})
    made.location = op.location
    module.body.block.add_op(made)
    unused = [value for value in arguments if value.first_use is None]
    gone = {value.index for value in unused}
    for call in calls:
        make = CallOp(name, [call.arguments[value.index] for value in arguments], [result.type])
        make.location = call.location
        parent = call.parent
        assert parent is not None
        parent.insert_op_before(make, call)
        call.operands = [*(v for i, v in enumerate(call.arguments) if i not in gone), make.res[0]]
    for value in unused:
        function.body.block.erase_arg(value)
    function.function_type = FunctionType.from_lists(
        [arg.type for arg in function.body.block.args], function.function_type.outputs.data
    )
