"""
The `loops` dialect: in which order a kernel computes, and where its data lies.

Affine loops over indices, loads and stores of elements and n-D vectors in row-major memrefs whose unknown dimensions
are symbolic expressions, hints to the caches, scratch buffers, views and constants. Scalars and vectors are computed
with `arith` and `math`; control flow in `main` is `scf.if` and `scf.while` over memrefs; kernels are functions that
`main` calls with their destinations. No whole-tensor operators. Lowered by `convert-loops-to-llvm`.
"""

from xdsl.ir import Dialect

from aicc.dialects.loops.access import ApplyOp, LoadOp, StoreOp
from aicc.dialects.loops.attrs import MemRefDimsAttr
from aicc.dialects.loops.call import CallOp
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.defined_sizes import CheckSizesOp, DefineSizeOp, ExchangeOp, ReservedOp, ReserveOp
from aicc.dialects.loops.memory import AllocOp, ConstantOp, CopyOp, PreparedOp, SizeOp, ViewOp
from aicc.dialects.loops.prefetch import PrefetchOp
from aicc.dialects.loops.vectors import BroadcastOp, ReduceOp, TransposeOp

Loops = Dialect(
    "loops",
    [
        AllocOp,
        ApplyOp,
        BroadcastOp,
        CallOp,
        CheckSizesOp,
        ConstantOp,
        CopyOp,
        DefineSizeOp,
        ExchangeOp,
        ForOp,
        LoadOp,
        PrefetchOp,
        PreparedOp,
        ReduceOp,
        ReservedOp,
        ReserveOp,
        SizeOp,
        StoreOp,
        TransposeOp,
        ViewOp,
        YieldOp,
    ],
    [MemRefDimsAttr],
)
