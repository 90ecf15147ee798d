"""Steps that say how the buffers of a kernel go through the caches."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.transform import AnyOpType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.schedule.ops import Integer, ScheduleOp


@irdl_op_definition
class BypassCachesOp(ScheduleOp):
    """
    Writes a buffer of the kernel past the caches: all stores to it become `nontemporal`.

    `argument` counts the kernel's buffers, without its symbols.

    - (C1) `argument >= 0`

    ```mlir
    schedule.bypass_caches %kernel {argument = 1 : i64}
    ```
    """

    name = "schedule.bypass_caches"

    kernel = operand_def(AnyOpType)
    argument = prop_def(Integer)

    assembly_format = "$kernel attr-dict"

    def __init__(self, kernel: SSAValue, argument: int):
        super().__init__(operands=[kernel], properties={"argument": IntegerAttr(argument, i64)})

    def verify_(self) -> None:
        if self.argument.value.data < 0:  # C1
            raise VerifyException(f"argument is {self.argument.value.data}, expected at least 0")


@irdl_op_definition
class PrivatizeOp(ScheduleOp):
    """
    Gives each iteration of a loop scratch of its own for what it writes to a buffer of the kernel and reads again.

    Only what the last nest in the loop writes goes to the buffer itself. `argument` counts the kernel's buffers,
    without its symbols.

    - (C1) `argument >= 0`

    ```mlir
    schedule.privatize %rows {argument = 1 : i64}
    ```
    """

    name = "schedule.privatize"

    loop = operand_def(AnyOpType)
    argument = prop_def(Integer)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue, argument: int):
        super().__init__(operands=[loop], properties={"argument": IntegerAttr(argument, i64)})

    def verify_(self) -> None:
        if self.argument.value.data < 0:  # C1
            raise VerifyException(f"argument is {self.argument.value.data}, expected at least 0")


@irdl_op_definition
class ReadAheadOp(ScheduleOp):
    """
    The last nest that loads from a buffer of the kernel also fetches, into the cache of a core, what lies `elements`
    further on.

    `argument` counts the kernel's buffers, without its symbols.

    - (C1) `argument >= 0`
    - (C2) `elements >= 1`

    ```mlir
    schedule.read_ahead %kernel {argument = 0 : i64, elements = 4096 : i64}
    ```
    """

    name = "schedule.read_ahead"

    kernel = operand_def(AnyOpType)
    argument = prop_def(Integer)
    elements = prop_def(Integer)

    assembly_format = "$kernel attr-dict"

    def __init__(self, kernel: SSAValue, argument: int, elements: int):
        properties = {"argument": IntegerAttr(argument, i64), "elements": IntegerAttr(elements, i64)}
        super().__init__(operands=[kernel], properties=properties)

    def verify_(self) -> None:
        if self.argument.value.data < 0:  # C1
            raise VerifyException(f"argument is {self.argument.value.data}, expected at least 0")
        if self.elements.value.data < 1:  # C2
            raise VerifyException(f"elements is {self.elements.value.data}, expected at least 1")
