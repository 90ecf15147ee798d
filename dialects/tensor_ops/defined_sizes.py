"""Definitions and checks of sizes that data tells, as in `graph`, on scalars; they stand outside of kernels."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from aicc.dialects.graph.defined_sizes import SizeCheck, SizeDefinition


@irdl_op_definition
class DefineSizeOp(SizeDefinition):
    """
    From here on in its block the symbol has this value: one that changes in a loop is defined again in each iteration.

    ```mlir
    tensor_ops.define_size "rows" is %count most #graph.shape<N> : index
    ```
    """

    name = "tensor_ops.define_size"


@irdl_op_definition
class CheckSizesOp(SizeCheck):
    """
    ```mlir
    tensor_ops.check_sizes #graph.shape<rows> is #graph.shape<4> text "graph.add: sizes do not match"
    ```
    """

    name = "tensor_ops.check_sizes"
