"""The step that computes a reduction in parts."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.transform import AnyOpType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.schedule.ops import Integer, ScheduleOp


@irdl_op_definition
class PartialResultsOp(ScheduleOp):
    """
    Computes a reduction in parts of `size` steps, each from the start, and combines their results in order.

    Results: the parallel loop over parts, labelled as the reduction plus `.p`, around the reduction itself; and the
    loop that combines them, labelled with `.c`.

    - (C1) `size >= 1`

    ```mlir
    %parts, %combine = schedule.partial_results %k {size = 4096 : i64}
    ```
    """

    name = "schedule.partial_results"

    loop = operand_def(AnyOpType)
    size = prop_def(Integer)
    parts = result_def(AnyOpType)
    combine = result_def(AnyOpType)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue, size: int):
        super().__init__(
            operands=[loop],
            properties={"size": IntegerAttr(size, i64)},
            result_types=[AnyOpType(), AnyOpType()],
        )

    def verify_(self) -> None:
        if self.size.value.data < 1:  # C1
            raise VerifyException(f"size is {self.size.value.data}, expected at least 1")
