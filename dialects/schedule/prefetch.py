"""The step that says what is fetched ahead."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.transform import AnyOpType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.schedule.ops import Integer, ScheduleOp


@irdl_op_definition
class PrefetchOp(ScheduleOp):
    """
    While an iteration of the loops of `around` runs, fetches what the next one reads of an input into a cache: each
    iteration of the loops of `within`, inside of them, its share of the cache lines, in the order of memory.

    After the last iteration comes the first one in the next iteration of the loop around. `argument` counts the
    kernel's buffers, without its symbols. `line` is a cache line in bytes. `locality` is 3 for the innermost cache, 2
    for the next one, 1 for the last one, 0 for what disturbs the caches the least. Steps that need perfectly nested
    loops, or vectorize those of `within`, come before.

    - (C1) `argument >= 0`
    - (C2) `line >= 1`
    - (C3) `0 <= locality <= 3`

    ```mlir
    schedule.prefetch %tiles, %rows {argument = 0 : i64, line = 64 : i64, locality = 2 : i64}
    ```
    """

    name = "schedule.prefetch"

    around = operand_def(AnyOpType)
    within = operand_def(AnyOpType)
    argument = prop_def(Integer)
    line = prop_def(Integer)
    locality = prop_def(Integer)

    assembly_format = "$around `,` $within attr-dict"

    def __init__(self, around: SSAValue, within: SSAValue, argument: int, line: int, locality: int):
        numbers = {"argument": argument, "line": line, "locality": locality}
        super().__init__(
            operands=[around, within], properties={name: IntegerAttr(number, i64) for name, number in numbers.items()}
        )

    def verify_(self) -> None:
        if (argument := self.argument.value.data) < 0:  # C1
            raise VerifyException(f"argument is {argument}, expected at least 0")
        if (line := self.line.value.data) < 1:  # C2
            raise VerifyException(f"line is {line}, expected at least 1")
        if not 0 <= (locality := self.locality.value.data) <= 3:  # C3
            raise VerifyException(f"locality is {locality}, expected 0 to 3")
