"""Which function lowers which class of graph ops; a subclass is found through its bases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation

from aicc.dialects.graph.arg_reductions import ArgReductionOp
from aicc.dialects.graph.constants import ConstantOp, IotaOp
from aicc.dialects.graph.control import CallOp, IfOp, WhileOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.defined_sizes import CheckSizesOp, DefineSizeOp
from aicc.dialects.graph.elementwise import ElementwiseOp
from aicc.dialects.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from aicc.dialects.graph.integer_products import ConvIntegerOp, MatmulIntegerOp
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
from aicc.dialects.graph.non_max_suppression import NonMaxSuppressionOp
from aicc.dialects.graph.pooling import ArgMaxPoolOp, AvgPoolOp, MaxPoolOp, SumPoolOp
from aicc.dialects.graph.reductions import ReductionOp
from aicc.dialects.graph.scan import RunningOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.dialects.graph.top_k import TopKOp
from aicc.lowering.graph_to_tensor_ops_contractions import (
    lower_conv,
    lower_conv_integer,
    lower_matmul,
    lower_matmul_integer,
)
from aicc.lowering.graph_to_tensor_ops_control import (
    lower_call,
    lower_check_sizes,
    lower_define_size,
    lower_if,
    lower_while,
)
from aicc.lowering.graph_to_tensor_ops_elementwise import lower_elementwise
from aicc.lowering.graph_to_tensor_ops_indirect import (
    lower_gather,
    lower_gather_elements,
    lower_gather_nd,
    lower_running,
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
from aicc.lowering.graph_to_tensor_ops_pooling import (
    lower_arg_max_pool,
    lower_avg_pool,
    lower_max_pool,
    lower_sum_pool,
)
from aicc.lowering.graph_to_tensor_ops_reductions import lower_arg_reduction, lower_reduction, lower_softmax
from aicc.lowering.graph_to_tensor_ops_suppression import lower_non_max_suppression
from aicc.lowering.graph_to_tensor_ops_top_k import lower_top_k

LOWERINGS: Mapping[type[Operation], Any] = {
    ArgReductionOp: lower_arg_reduction,
    ArgMaxPoolOp: lower_arg_max_pool,
    AvgPoolOp: lower_avg_pool,
    CallOp: lower_call,
    CheckSizesOp: lower_check_sizes,
    DefineSizeOp: lower_define_size,
    ConcatOp: lower_concat,
    ConstantOp: lower_constant,
    ConvIntegerOp: lower_conv_integer,
    ConvOp: lower_conv,
    ElementwiseOp: lower_elementwise,
    ExpandOp: lower_expand,
    GatherElementsOp: lower_gather_elements,
    GatherNdOp: lower_gather_nd,
    GatherOp: lower_gather,
    IfOp: lower_if,
    IotaOp: lower_iota,
    MatmulIntegerOp: lower_matmul_integer,
    MatmulOp: lower_matmul,
    MaxPoolOp: lower_max_pool,
    NonMaxSuppressionOp: lower_non_max_suppression,
    PadOp: lower_pad,
    ReductionOp: lower_reduction,
    ReshapeOp: lower_reshape,
    RunningOp: lower_running,
    ScatterElementsOp: lower_scatter_elements,
    ScatterNdOp: lower_scatter_nd,
    SizesOp: lower_sizes,
    SliceOp: lower_slice,
    SoftmaxOp: lower_softmax,
    SplitOp: lower_split,
    SumPoolOp: lower_sum_pool,
    TopKOp: lower_top_k,
    TransposeOp: lower_transpose,
    WhileOp: lower_while,
}
