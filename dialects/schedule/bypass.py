"""The step that says which results of a kernel do not go through the caches."""

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
