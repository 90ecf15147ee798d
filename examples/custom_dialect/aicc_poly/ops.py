"""The op of the `poly` dialect with all that aicc wants to know of it: types, meaning, fusion, cost and lowering."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, Float64Type, f32, f64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, dim_prod, dims_of
from aicc.dialects.graph.elementwise import widened
from aicc.dialects.graph.interfaces import (
    Arrays,
    ElementKind,
    ExecutableOp,
    FusionKind,
    GraphOp,
    OpBuilder,
    check_element_type,
    element_type_of,
    tensor_of,
)
from aicc.dialects.graph.scalars import ScalarBuilder
from aicc.dialects.tensor_ops.body_ops import YieldOp
from aicc.dialects.tensor_ops.interfaces import LowersToTensorOps
from aicc.dialects.tensor_ops.structured import StructuredOp


class HornerCanonicalization(HasCanonicalizationPatternsTrait):
    """The rewrites that `canonicalize` does."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from aicc_poly.canonicalization import DropLeadingZeros

        return (DropLeadingZeros(),)


@irdl_op_definition
class HornerOp(GraphOp, ExecutableOp, LowersToTensorOps):
    """
    A polynomial of every element: `result[i] = (...(cd * x[i] + c(d-1)) * x[i] + ...) * x[i] + c0` with `x = input`.

    `coefficients` is `c0, c1, ...`; `cd` is its last one that is not 0 (`c0` if all are). Computed in the element type,
    f16 and bf16 in f32 and rounded once; each product and each sum is rounded. A NaN gives NaN unless `d` is 0; an
    infinity gives what the formula gives, also NaN where terms cancel. Pure; lowers to one `tensor_ops.structured`.

    - (C1) `element_type(input)` is a float type
    - (C2) `coefficients` holds at least one f64
    - (C3) `type(result) == type(input)`

    ```mlir
    %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, -0.5>} : tensor<8xf32> -> tensor<8xf32>
    ```
    """

    name = "poly.horner"

    input = operand_def()
    coefficients = prop_def(DenseArrayBase[Float64Type])
    result = result_def()

    traits = traits_def(Pure(), HornerCanonicalization())

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.ELEMENTWISE

    def __init__(self, input: SSAValue, coefficients: Sequence[float]) -> None:
        self.build_self([input], {"coefficients": DenseArrayBase.from_list(f64, list(coefficients))})

    def coefficient_values(self) -> tuple[float, ...]:
        """`c0, ..., cd`."""
        values = list(self.coefficients.get_values())
        while len(values) > 1 and values[-1] == 0:
            values.pop()
        return tuple(values)

    def infer_types(self) -> Sequence[Attribute]:
        check_element_type("input", element_type_of(self.input), ElementKind.FLOAT)  # C1
        if self.coefficients.elt_type != f64 or not len(self.coefficients):  # C2
            raise VerifyException(f"coefficients is {self.coefficients}, expected array<f64> with at least one element")
        return [self.input.type]  # C3

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        (x,) = operands
        wide = widened(x)
        *rest, first = self.coefficient_values()
        value = np.full_like(wide, first)
        with np.errstate(all="ignore"):
            for coefficient in reversed(rest):
                value = value * wide + wide.dtype.type(coefficient)
            return [value.astype(x.dtype, copy=False)]

    def flops(self) -> Dim:
        degree = len(self.coefficient_values()) - 1
        return 2 * degree * dim_prod(dims_of(tensor_of(self.input.type)))

    def lower_to_tensor_ops(self, b: OpBuilder) -> Sequence[SSAValue]:
        type = tensor_of(self.input.type)
        element = type.element_type
        body = Block(arg_types=[element])
        scalars = ScalarBuilder(InsertPoint.at_end(body))
        wide = f64 if element == f64 else f32
        x = scalars.extend_float(body.args[0], wide)
        *rest, first = self.coefficient_values()
        value = scalars.const(first, wide)
        for coefficient in reversed(rest):
            value = scalars.add(scalars.mul(value, x), scalars.const(coefficient, wide))
        body.add_op(YieldOp(scalars.truncate_float(value, element)))
        dims = dims_of(type)
        each = AffineMap.identity(len(dims))
        return b.insert(StructuredOp([self.input], dims, len(dims), [each], Region(body), [element])).results
