"""The recurrent layer with quantised weights: an LSTM whose products are of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.arithmetic import MulOp
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.dtypes import bit_width
from aicc.dialects.graph.elementwise import Array
from aicc.dialects.graph.integer_products import MatmulIntegerOp
from aicc.dialects.graph.interfaces import ElementKind, GraphOp, OpBuilder, check_element_type, element_type_of
from aicc.dialects.graph.operands import common_element_type, dims_of_rank
from aicc.dialects.graph.quantization import dynamic_quantize, dynamic_quantize_array
from aicc.dialects.graph.recurrent import Product
from aicc.dialects.graph.recurrent_ops import LstmBase

_Operand = SSAValue | Operation


@irdl_op_definition
class QuantizedLstmOp(LstmBase):
    """
    An LSTM (see `graph.lstm`) with weights in 8 bits, `w: [I, 4*H]` and `r: [H, 4*H]`, a column per gate and unit.

    A product `x w` is `(q - q_zero) (w - w_zero) * (q_scale * w_scale)`, where `q` is `x` quantised by its own range
    (`quantization.dynamic_quantize`): all steps together for `w`, the state of each step for `r`. Scales and zero
    points of the weights are for all of them, `[1]`, or per column, `[4*H]`.

    - (C1) `x`, `bias`, initial states and peepholes are f32, or f64, in the shapes of `graph.lstm`; so are the scales
    - (C2) weights are integers of 8 bits, their zero points of the same type
    - (C3) there are three activations

    ```mlir
    %y, %h, %c = graph.quantized_lstm %x, %w, %r, %ws, %wz, %rs, %rz {activations = "sigmoid,tanh,tanh"}
        : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>
        -> tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
    ```
    """

    name = "graph.quantized_lstm"
    CONTINUOUS: ClassVar[bool] = False

    # All again for the order: xDSL takes the operands and results of a subclass first.
    x = operand_def(AnyTensorTypeConstr)
    w = operand_def(AnyTensorTypeConstr)
    r = operand_def(AnyTensorTypeConstr)
    w_scale = operand_def(AnyTensorTypeConstr)
    w_zero = operand_def(AnyTensorTypeConstr)
    r_scale = operand_def(AnyTensorTypeConstr)
    r_zero = operand_def(AnyTensorTypeConstr)
    bias = opt_operand_def(AnyTensorTypeConstr)
    lengths = opt_operand_def(AnyTensorTypeConstr)
    initial_h = opt_operand_def(AnyTensorTypeConstr)
    initial_c = opt_operand_def(AnyTensorTypeConstr)
    peephole = opt_operand_def(AnyTensorTypeConstr)
    y = result_def(AnyTensorTypeConstr)
    h = result_def(AnyTensorTypeConstr)
    c = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: _Operand,
        w: tuple[_Operand, _Operand, _Operand],
        r: tuple[_Operand, _Operand, _Operand],
        bias: _Operand | None = None,
        lengths: _Operand | None = None,
        initial_h: _Operand | None = None,
        initial_c: _Operand | None = None,
        peephole: _Operand | None = None,
        *,
        activations: str = "sigmoid,tanh,tanh",
        clip: float | None = None,
        reverse: bool = False,
        input_forget: bool = False,
    ):
        """`w` and `r` are the integers, their scales and their zero points."""
        (w_data, *w_how), (r_data, *r_how) = w, r
        self.build_self(
            [x, w_data, r_data, *w_how, *r_how, bias, lengths, initial_h, initial_c, peephole],
            self.lstm_properties(activations, clip, reverse, input_forget),
        )

    def unit_count(self) -> Dim:
        return dims_of_rank("r", self.r, 2, 2)[0]

    def weight_shapes(self, inputs: Dim, units: Dim) -> dict[str, tuple[SSAValue | None, tuple[Dim, ...]]]:
        width = self.GATES * units
        shapes: dict[str, tuple[SSAValue | None, tuple[Dim, ...]]] = {
            "w": (self.w, (inputs, width)),
            "r": (self.r, (units, width)),
        }
        for name in ("w_scale", "w_zero", "r_scale", "r_zero"):
            value: SSAValue = getattr(self, name)
            alone = dims_of(value.type) == (1,)
            shapes[name] = value, (1 if alone else width,)
        return shapes

    def float_weights(self) -> dict[str, SSAValue | None]:
        return {"w_scale": self.w_scale, "r_scale": self.r_scale}

    def infer_types(self) -> Sequence[Attribute]:
        if (element := element_type_of(self.x)) not in (f32, f64):
            raise VerifyException(f"x has element type {element}, expected f32 or f64")
        for name, value, zero in (("w", self.w, self.w_zero), ("r", self.r, self.r_zero)):
            element = element_type_of(value)
            check_element_type(name, element, ElementKind.INTEGER)
            if bit_width(element) != 8:
                raise VerifyException(f"{name} has element type {element}, expected integers of 8 bits")
            common_element_type(ElementKind.INTEGER, (name, value), {f"{name}_zero": zero})
        return super().infer_types()

    def multiply(self, b: OpBuilder, value: SSAValue, weights: SSAValue) -> SSAValue:
        scale, zero = (self.w_scale, self.w_zero) if weights is self.w else (self.r_scale, self.r_zero)
        q, q_scale, q_zero = dynamic_quantize(b.add, value)
        product = b.add(CastOp(b.add(MatmulIntegerOp(q, weights, q_zero, zero)), element_type_of(scale)))
        return b.add(MulOp(product, b.add(MulOp(q_scale, scale))))

    def products(self, named: Mapping[str, Array | None], x: Array, units: int) -> tuple[Array, Product]:
        def multiply(value: Array, which: str) -> Array:
            weights, scale, zero = named[which], named[f"{which}_scale"], named[f"{which}_zero"]
            assert weights is not None and scale is not None and zero is not None
            q, q_scale, q_zero = dynamic_quantize_array(value)
            total = (q.astype(np.float64) - q_zero) @ (weights.astype(np.float64) - zero)
            return total.astype(scale.dtype) * (q_scale * scale)

        return multiply(x, "w"), lambda h, start, end: multiply(h, "r")[:, start * units : end * units]


OPS: list[type[GraphOp]] = [QuantizedLstmOp]
