"""The steps that do several rows at once, where sizes say so."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.transform import AnyOpType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.schedule.ops import Integer, ScheduleOp


@irdl_op_definition
class TileSomeOp(ScheduleOp):
    """
    Makes at most `most` tiles of `size` iterations, however many there could be, and a loop over all that is left over:
    a kernel has two ways to go through a loop then, and sizes decide between them when it runs.

    Results: the loop over tiles, labelled as the old one plus `.o`, the loop within a tile, `.i`, and the rest, `.t`.

    - (C1) `size >= 1`

    ```mlir
    %o, %i, %rest = schedule.tile_some %rows {size = 4 : i64, most = #graph.shape<n*min(1, floordiv(192, max(1, s)))>}
    ```
    """

    name = "schedule.tile_some"

    loop = operand_def(AnyOpType)
    size = prop_def(Integer)
    most = prop_def()
    outer = result_def(AnyOpType)
    inner = result_def(AnyOpType)
    rest = result_def(AnyOpType)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue, size: int, most: Attribute):
        super().__init__(
            operands=[loop],
            properties={"size": IntegerAttr(size, i64), "most": most},
            result_types=[AnyOpType()] * 3,
        )

    def verify_(self) -> None:
        if self.size.value.data < 1:  # C1
            raise VerifyException(f"size is {self.size.value.data}, expected at least 1")


@irdl_op_definition
class VectorizeRowsOp(ScheduleOp):
    """
    Runs all iterations of a loop, of a known trip count, at once, and with them those of loops inside it: each of
    `lanes`, wherever it stands in `rows`, becomes the last axis of vectors with one row for each iteration of `rows`.

    The loops along lanes are parallel or carry reductions, and may be cut short, as for `schedule.vectorize`. What
    stands between them has one lane for each row; buffers of one element that belong to a row become values.

    - (C1) at least one handle of loops along lanes

    ```mlir
    schedule.vectorize_rows %i, %j0, %j1
    ```
    """

    name = "schedule.vectorize_rows"

    rows = operand_def(AnyOpType)
    lanes = var_operand_def(AnyOpType)

    assembly_format = "$rows `,` $lanes attr-dict"

    def __init__(self, rows: SSAValue, lanes: Sequence[SSAValue]):
        super().__init__(operands=[rows, lanes])

    def verify_(self) -> None:
        if not self.lanes:  # C1
            raise VerifyException("no loop along the lanes, expected at least one")
