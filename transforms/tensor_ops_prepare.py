"""Work on the constants of kernels, taken out of them so that it moves to `@prepare`."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Region

from aicc.dialects.tensor_ops import StructuredOp
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, SYMBOLS_ATTRIBUTE, CallOp
from aicc.transforms.tensor_ops_constants import constant_arguments


class Outliner:
    """
    Takes work on constants out of the kernels of a module, and knows which of their arguments are constants.

    What it keeps of the module it keeps up to date, so that each kernel costs its own size alone.
    """

    def __init__(self, module: ModuleOp):
        self._module = module
        self._constants = constant_arguments(module)
        self._names = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}
        self._calls: dict[str, list[CallOp]] = {}
        for op in module.walk():
            if isinstance(op, CallOp):
                self._calls.setdefault(op.callee_name, []).append(op)

    def constants(self, function: FuncOp) -> frozenset[int]:
        """The positions of the arguments of a kernel that only constants are passed for; none if nothing calls it."""
        return self._constants.get(function.sym_name.data, frozenset())

    def outline(self, function: FuncOp, op: StructuredOp, what: str) -> None:
        """
        Makes `op`, which reads nothing but arguments of a kernel, a kernel of its own, `<kernel>_<what><number>`.

        Its result becomes the kernel's last argument; all calls of the kernel get it from a call right before.
        Arguments that nothing reads any more are removed.
        """
        arguments = [value for value in dict.fromkeys(op.operands) if isinstance(value, BlockArgument)]
        body = Block(arg_types=[argument.type for argument in arguments])
        result = op.res[0]
        last = len(function.body.block.args)
        argument = function.body.block.insert_arg(result.type, last)
        argument.name_hint = result.name_hint
        result.replace_all_uses_with(argument)
        op.detach()
        places = dict(zip(arguments, body.args, strict=True))
        op.operands = [places[value] for value in op.operands if isinstance(value, BlockArgument)]
        body.add_ops([op, ReturnOp(op.res[0])])
        name = self._name(f"{function.sym_name.data}_{what}", arguments[0].index)
        types = [argument.type for argument in arguments]
        made = FuncOp(name, (types, [result.type]), Region(body), visibility="private")
        made.attributes.update({KERNEL_ATTRIBUTE: UnitAttr(), SYMBOLS_ATTRIBUTE: ArrayAttr([])})
        made.location = op.location
        self._module.body.block.add_op(made)
        unused = [value for value in arguments if value.first_use is None]
        gone = {value.index for value in unused}
        for call in self._calls.get(function.sym_name.data, []):
            make = CallOp(name, [call.arguments[value.index] for value in arguments], [result.type])
            make.location = call.location
            parent = call.parent
            assert parent is not None
            parent.insert_op_before(make, call)
            self._calls.setdefault(name, []).append(make)
            call.operands = [*(v for i, v in enumerate(call.arguments) if i not in gone), make.res[0]]
        self._note_constants(function, name, arguments, gone, last)
        for value in unused:
            function.body.block.erase_arg(value)
        function.function_type = FunctionType.from_lists(
            [arg.type for arg in function.body.block.args], function.function_type.outputs.data
        )

    def _name(self, prefix: str, number: int) -> str:
        """`prefix` with the first number from `number` on that no function's name has."""
        while f"{prefix}{number}" in self._names:
            number += 1
        self._names.add(f"{prefix}{number}")
        return f"{prefix}{number}"

    def _note_constants(
        self, function: FuncOp, made: str, arguments: list[BlockArgument], gone: set[int], last: int
    ) -> None:
        """Which arguments are constants: of what was made, and of what is left, whose argument `last` is new."""
        before = self._constants.get(function.sym_name.data)
        if before is None:
            return
        self._constants[made] = frozenset(i for i, value in enumerate(arguments) if value.index in before)
        if len(self._constants[made]) == len(arguments):
            before |= {last}
        left = [i for i in range(last + 1) if i not in gone]
        self._constants[function.sym_name.data] = frozenset(new for new, old in enumerate(left) if old in before)
