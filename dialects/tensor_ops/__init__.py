"""
The `tensor_ops` level: how each element of a result is defined, and in which layout.

Its core is `tensor_ops.structured`: an iteration space of parallel and reduction dimensions, an index map per input,
and a scalar body of `arith` and `math` ops. Groups of ops stand in `tensor_ops.kernel` regions, which become functions
that `main` calls with `tensor_ops.call`. Nothing here speaks of memory or of an order of execution; it is lowered to
`loops`. Every op has a meaning on numpy arrays.
"""

from xdsl.ir import Dialect

from aicc.dialects.tensor_ops.blocks import BlocksOp
from aicc.dialects.tensor_ops.body_ops import ExtractOp, IndexOp, SizeOp, YieldOp
from aicc.dialects.tensor_ops.defined_sizes import CheckSizesOp, DefineSizeOp
from aicc.dialects.tensor_ops.indirect import ScanOp, ScatterOp
from aicc.dialects.tensor_ops.ops import CallOp, ConcatOp, ConstantOp, KernelOp, ViewOp
from aicc.dialects.tensor_ops.selection import NonMaxSuppressionOp, TopKOp
from aicc.dialects.tensor_ops.structured import StructuredOp

TensorOps = Dialect(
    "tensor_ops",
    [
        BlocksOp,
        CallOp,
        CheckSizesOp,
        ConcatOp,
        ConstantOp,
        DefineSizeOp,
        ExtractOp,
        IndexOp,
        KernelOp,
        NonMaxSuppressionOp,
        ScanOp,
        ScatterOp,
        SizeOp,
        StructuredOp,
        TopKOp,
        ViewOp,
        YieldOp,
    ],
)
