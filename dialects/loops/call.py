"""`loops.call`: running a kernel on buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, IntegerAttr, MemRefType, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.callees import find_callee
from aicc.dialects.graph.dims import Dim, provably_different, substitute, sym
from aicc.dialects.loops.attrs import AnyMemRef, memref_dims
from aicc.dialects.loops.functions import NUM_OUTPUTS, num_outputs, num_scratch, symbol_arguments, symbol_names
from aicc.dialects.loops.memory import SizeOp


def size_of_value(value: SSAValue) -> Dim | None:
    """The size that an index value is known to be: a constant, a symbol's value or `loops.size`."""
    owner = value.owner
    if isinstance(owner, SizeOp):
        return owner.dim
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    if isinstance(value, BlockArgument) and isinstance(function := value.block.parent_op(), FuncOp):
        for name, argument in symbol_arguments(function).items():
            if argument is value:
                return sym(name)
    return None


class _CalleeCheck(SymbolUserOpInterface):
    """Checks a call against its callee."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        callee = find_callee(op, op.callee)
        if not isinstance(callee, FuncOp):  # C1
            raise VerifyException(f"'{op.callee_name}' is no function of this module")
        expected = callee.function_type.inputs.data
        if len(op.arguments) != len(expected):  # C2
            raise VerifyException(f"@{op.callee_name} takes {len(expected)} arguments, got {len(op.arguments)}")
        if callee.function_type.outputs.data:  # C3
            raise VerifyException(f"@{op.callee_name} has results, expected a function that writes into its arguments")
        names = symbol_names(callee)
        known = zip(names, map(size_of_value, op.arguments[: len(names)]), strict=False)
        sizes = {name: size for name, size in known if size is not None}
        unknown = frozenset(names) - frozenset(sizes)
        for position, (argument, type) in enumerate(zip(op.arguments, expected, strict=True)):
            if not _fits(argument.type, type, sizes, unknown):  # C4
                raise VerifyException(
                    f"argument {position} is {argument.type}, but @{op.callee_name} takes {type}"
                    + (f" with {', '.join(f'{k} = {v}' for k, v in sizes.items())}" if sizes else "")
                )


def _fits(found: Attribute, expected: Attribute, sizes: dict[str, Dim], unknown: frozenset[str]) -> bool:
    if not isinstance(found, MemRefType) or not isinstance(expected, MemRefType):
        return found == expected
    given, wanted = cast(AnyMemRef, found), cast(AnyMemRef, expected)
    if given.element_type != wanted.element_type or given.get_num_dims() != wanted.get_num_dims():
        return False
    for dim, formal in zip(memref_dims(given), memref_dims(wanted), strict=True):
        if not isinstance(formal, int) and not unknown.isdisjoint(formal.symbols()):
            continue
        if provably_different(dim, substitute(formal, sizes)):
            return False
    return True


@irdl_op_definition
class CallOp(IRDLOperation):
    """
    Runs a function on indices and buffers: its last `aicc.num_outputs` arguments are filled, the others only read.

    Types are compared with the callee's symbols replaced by the sizes that are passed for them.

    - (C1) `callee` is a function of the module
    - (C2) one argument per argument of the callee
    - (C3) the callee has no results
    - (C4) each argument has the callee's type, up to dimensions that do not provably differ

    ```mlir
    loops.call @relu_0(%n, %x, %y) : index, memref<?xf32, #loops.dims<N>>, memref<?xf32, #loops.dims<N>>
    ```
    """

    name = "loops.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), _CalleeCheck())

    def __init__(self, callee: str | SymbolRefAttr, arguments: Sequence[SSAValue]):
        reference = SymbolRefAttr(callee) if isinstance(callee, str) else callee
        super().__init__(operands=[arguments], properties={"callee": reference})

    @property
    def callee_name(self) -> str:
        """The name of the function that is called."""
        return self.callee.string_value()

    def callee_function(self) -> FuncOp:
        """
        The function that is called.

        Raises:
            VerifyException: if the module has none of that name.
        """
        callee = find_callee(self, self.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"'{self.callee_name}' is no function of this module")
        return callee

    def num_written(self, callee: FuncOp) -> int:
        """How many of the last arguments the callee writes: its scratch and its outputs; all, where it does not say."""
        if NUM_OUTPUTS not in callee.attributes:
            return len(self.arguments)
        return num_outputs(callee) + num_scratch(callee)

    # By hand: a format string separates the types of variadic operands in a function type only.

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        printer.print_operands(self.arguments)
        printer.print_op_attributes(self.attributes)
        if self.arguments:
            printer.print_string(" : ")
            printer.print_list(self.arguments, lambda value: printer.print_attribute(value.type))

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        callee = parser.parse_symbol_name().data
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        types: Sequence[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        op = cls(callee, parser.resolve_operands(operands, types, position))
        op.attributes = attributes
        return op
