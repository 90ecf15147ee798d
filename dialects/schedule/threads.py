"""The step that shares out loops among threads."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.dialects.transform import AnyOpType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.schedule.ops import Integer, ScheduleOp


@irdl_op_definition
class ParallelizeOp(ScheduleOp):
    """
    Shares out the iterations of perfectly nested loops, outermost first, among threads: counted as one sequence, at
    least `grain` consecutive ones at a time, if there are `least` for each thread.

    Where sizes decide how much an iteration does, `work` says how much all of them do together, and `part` how much of
    it is worth a thread: with the sizes of the run, `part * iterations / work` iterations at a time, rounded and at
    least 1. `grain` is used where that must be a number.

    With `within`, iterations that a thread takes in one go run within the loops in the body of the innermost one, each
    of which then runs once for all of them.

    - (C1) `grain >= 1`, `least >= 1`, `part >= 1`
    - (C2) at least one loop
    - (C3) `work` with `part`, and only with it

    ```mlir
    schedule.parallelize %rows, %columns {grain = 4 : i64}
    schedule.parallelize %columns {within}
    schedule.parallelize %rows {grain = 2 : i64, part = 40000 : i64, work = #graph.shape<s0*s1>}
    ```
    """

    name = "schedule.parallelize"

    loops = var_operand_def(AnyOpType)
    grain = opt_prop_def(Integer)
    least = opt_prop_def(Integer)
    part = opt_prop_def(Integer)
    work = opt_prop_def()
    """One size, as the kernel's dialect writes it."""
    within = opt_prop_def(UnitAttr)

    assembly_format = "$loops attr-dict"

    def __init__(
        self,
        loops: Sequence[SSAValue],
        grain: int = 1,
        least: int = 0,
        part: int = 0,
        work: Attribute | None = None,
        within: bool = False,
    ):
        super().__init__(
            operands=[loops],
            properties={
                "grain": None if grain == 1 else IntegerAttr(grain, i64),
                "least": None if least == 0 else IntegerAttr(least, i64),
                "part": None if work is None else IntegerAttr(part, i64),
                "work": work,
                "within": UnitAttr() if within else None,
            },
        )

    @property
    def iterations(self) -> int:
        """Consecutive iterations that one thread takes at a time, at least."""
        return 1 if self.grain is None else self.grain.value.data

    @property
    def least_iterations(self) -> int:
        """Iterations per thread below which the loops stay on one thread; 0 if there is no such number."""
        return 0 if self.least is None else self.least.value.data

    def verify_(self) -> None:
        for name, given in (("grain", self.grain), ("least", self.least), ("part", self.part)):
            if given is not None and given.value.data < 1:  # C1
                raise VerifyException(f"{name} is {given.value.data}, expected at least 1")
        if not self.loops:  # C2
            raise VerifyException("no loops are given, expected at least one")
        if (self.work is None) != (self.part is None):  # C3
            found, missing = ("part", "work") if self.work is None else ("work", "part")
            raise VerifyException(f"{found} is given without {missing}, expected both or none")
