"""The steps that cut a reduction into blocks of steps, one after the other or independent of each other."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.dialects.transform import AnyOpType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
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


@irdl_op_definition
class SplitReductionOp(ScheduleOp):
    """
    Takes a reduction `size` steps at a time, around the parallel loops over its results that `around` is the outermost
    of; between blocks of steps, the results wait where they are stored to. The order of accumulation stays.

    Results: the loop over blocks of steps, labelled as the reduction plus `.b`; and the loops in the place of `around`
    for a known number of steps that is left over. A number of steps that is not known makes a last, shorter block, and
    with `mask` so does a known one.

    - (C1) `size >= 1`

    ```mlir
    %blocks, %rest = schedule.split_reduction %k, %rows {size = 256 : i64}
    ```
    """

    name = "schedule.split_reduction"

    loop = operand_def(AnyOpType)
    around = operand_def(AnyOpType)
    size = prop_def(Integer)
    mask = opt_prop_def(UnitAttr)
    blocks = result_def(AnyOpType)
    rest = result_def(AnyOpType)

    assembly_format = "$loop `,` $around attr-dict"

    def __init__(self, loop: SSAValue, around: SSAValue, size: int, mask: bool = False):
        super().__init__(
            operands=[loop, around],
            properties={"size": IntegerAttr(size, i64), "mask": UnitAttr() if mask else None},
            result_types=[AnyOpType(), AnyOpType()],
        )

    def verify_(self) -> None:
        if self.size.value.data < 1:  # C1
            raise VerifyException(f"size is {self.size.value.data}, expected at least 1")
