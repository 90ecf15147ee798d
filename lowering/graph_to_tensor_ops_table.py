"""Which function lowers which class of graph ops; a subclass is found through its bases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation

from aicc.dialects.graph.arg_reductions import ArgReductionOp
from aicc.dialects.graph.constants import ConstantOp, IotaOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.elementwise import ElementwiseOp
from aicc.dialects.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import (
    ConcatOp,
    ExpandOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    SplitOp,
    TransposeOp,
)
from aicc.dialects.graph.pooling import AvgPoolOp, MaxPoolOp
from aicc.dialects.graph.reductions import ReductionOp
from aicc.dialects.graph.scan import CumsumOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.lowering.graph_to_tensor_ops_contractions import (
    lower_avg_pool,
    lower_conv,
    lower_matmul,
    lower_max_pool,
)
from aicc.lowering.graph_to_tensor_ops_elementwise import lower_elementwise
from aicc.lowering.graph_to_tensor_ops_indirect import (
    lower_cumsum,
    lower_gather,
    lower_gather_elements,
    lower_gather_nd,
    lower_scatter_elements,
    lower_scatter_nd,
)
from aicc.lowering.graph_to_tensor_ops_movement import (
    lower_concat,
    lower_constant,
    lower_expand,
    lower_iota,
    lower_pad,
    lower_reshape,
    lower_sizes,
    lower_slice,
    lower_split,
    lower_transpose,
)
from aicc.lowering.graph_to_tensor_ops_reductions import lower_arg_reduction, lower_reduction, lower_softmax

LOWERINGS: Mapping[type[Operation], Any] = {
    ConcatOp: lower_concat,
    ConstantOp: lower_constant,
    ExpandOp: lower_expand,
    IotaOp: lower_iota,
    PadOp: lower_pad,
    ReshapeOp: lower_reshape,
    SizesOp: lower_sizes,
    SliceOp: lower_slice,
    SplitOp: lower_split,
    TransposeOp: lower_transpose,
    CumsumOp: lower_cumsum,
    GatherElementsOp: lower_gather_elements,
    GatherNdOp: lower_gather_nd,
    GatherOp: lower_gather,
    ScatterElementsOp: lower_scatter_elements,
    ScatterNdOp: lower_scatter_nd,
    ArgReductionOp: lower_arg_reduction,
    AvgPoolOp: lower_avg_pool,
    ConvOp: lower_conv,
    ElementwiseOp: lower_elementwise,
    MatmulOp: lower_matmul,
    MaxPoolOp: lower_max_pool,
    ReductionOp: lower_reduction,
    SoftmaxOp: lower_softmax,
}
