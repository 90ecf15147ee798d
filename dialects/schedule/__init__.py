"""
The `schedule` dialect: how a kernel's plain loop nest is to be run.

Ops work on handles (`!transform.any_op`) inside a `transform.named_sequence @<kernel>_schedule`; a handle stands for a
list of loops, or for the kernel itself. Each op names one step (tile, interchange, vectorize, pack, ...), which
`loops-apply-schedules` carries out after asking the dependence analysis. Nothing here computes values: a schedule never
changes what a kernel means. `loops-auto-schedule` writes schedules; people edit them. Lowers to nothing: a schedule is
removed once it has been applied.
"""

from xdsl.ir import Dialect

from aicc.dialects.schedule.bypass import BypassCachesOp, PrivatizeOp, ReadAheadOp
from aicc.dialects.schedule.ops import (
    CollapseOp,
    FuseOp,
    InterchangeOp,
    LoopOp,
    PackOp,
    SelectOp,
    SplitOp,
    StageOp,
    TileOp,
    UnrollOp,
    VectorizeOp,
)
from aicc.dialects.schedule.prefetch import PrefetchOp
from aicc.dialects.schedule.reductions import PartialResultsOp, SplitReductionOp
from aicc.dialects.schedule.rows import TileSomeOp, VectorizeRowsOp
from aicc.dialects.schedule.threads import ParallelizeOp

Schedule = Dialect(
    "schedule",
    [
        BypassCachesOp,
        CollapseOp,
        FuseOp,
        InterchangeOp,
        LoopOp,
        PackOp,
        ParallelizeOp,
        PartialResultsOp,
        PrivatizeOp,
        ReadAheadOp,
        PrefetchOp,
        SelectOp,
        SplitOp,
        SplitReductionOp,
        StageOp,
        TileOp,
        TileSomeOp,
        UnrollOp,
        VectorizeOp,
        VectorizeRowsOp,
    ],
)
