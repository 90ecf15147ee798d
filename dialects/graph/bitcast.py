"""The bits of elements, read as another type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyTensorTypeConstr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import dims_of, tensor_type
from aicc.dialects.graph.dtypes import bit_width, is_bool, is_narrow, numpy_dtype, signless
from aicc.dialects.graph.elementwise import Array, ElementwiseOp
from aicc.dialects.graph.interfaces import Arrays, GraphOp, element_type_of
from aicc.dialects.graph.scalars import ScalarBuilder


@irdl_op_definition
class BitcastOp(ElementwiseOp):
    """
    `result = ` the bits of `x` as another element type. A boolean is a byte: 0 or 1, and true for any other than 0.

    - (C1) elements of both types take as many bytes, and as many bits if either type has fewer than 8

    ```mlir
    %r = graph.bitcast %x : tensor<4xf32> -> tensor<4xi32>
    ```
    """

    name = "graph.bitcast"

    x = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, element_type: Attribute):
        result = tensor_type(dims_of(SSAValue.get(x).type), element_type)
        IRDLOperation.__init__(self, operands=[x], result_types=[result])
        self.infer_types()  # C1

    def infer_types(self) -> Sequence[Attribute]:
        source, target = element_type_of(self.x), self.result_element_type()
        if _width(source) != _width(target):  # C1
            raise VerifyException(
                f"elements of {source} have {_width(source)} bits, but those of {target} have {_width(target)}"
            )
        return [tensor_type(dims_of(self.x.type), target)]

    def result_element_type(self) -> Attribute:
        return element_type_of(self.result)

    def compute(self, *operands: Array) -> Array:
        source, target = numpy_dtype(element_type_of(self.x)), numpy_dtype(self.result_element_type())
        bits = np.ascontiguousarray(operands[0]).view(np.uint8 if source == np.bool_ else source)
        return bits.view(np.uint8) != 0 if target == np.bool_ else bits.view(target)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        # Nothing is widened.
        return [self.compute(operands[0]).reshape(operands[0].shape)]

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        (x,) = args
        target = signless(self.result_element_type())
        if x.type == target:
            return x
        if is_bool(x.type):
            return b.resize_integer(x, target, unsigned=True)
        return b.cmp("ne", x, b.const_like(0, x)) if is_bool(target) else b.insert(arith.BitcastOp(x, target))

    def build_scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return self.scalar(b, *args)


def _width(element: Attribute) -> int:
    """Bits of an element: of a boolean those of its byte, of a narrow type its own."""
    if is_narrow(element):
        return {"int4": 4, "uint4": 4, "float4_e2m1fn": 4, "int2": 2, "uint2": 2}.get(numpy_dtype(element).name, 8)
    return 8 if is_bool(element) else bit_width(element)


OPS: list[type[GraphOp]] = [BitcastOp]
