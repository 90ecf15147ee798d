"""The recurrent layers: what one step of each does."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, result_def

from aicc.dialects.graph.arithmetic import AddOp, MulOp, SubOp
from aicc.dialects.graph.assembly import flag
from aicc.dialects.graph.constants import scalar_like
from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.elementwise import Array
from aicc.dialects.graph.interfaces import GraphOp, OpBuilder
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import SliceOp
from aicc.dialects.graph.recurrent import Product, RecurrentOp

_Operand = SSAValue | Operation


@irdl_op_definition
class RnnOp(RecurrentOp):
    """
    `h' = f(x w^T + h r^T + bias)`; results are `y` and the last `h`.

    - (C1) operands have the shapes that `recurrent.py` states; all but `lengths` have one float type
    - (C2) there is one activation, f

    ```mlir
    %y, %h = graph.rnn %x, %w, %r bias(%b) {activations = "tanh"}
        : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<8xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
    ```
    """

    name = "graph.rnn"
    GATES: ClassVar = 1
    ACTIVATIONS: ClassVar = 1

    def __init__(
        self,
        x: _Operand,
        w: _Operand,
        r: _Operand,
        bias: _Operand | None = None,
        lengths: _Operand | None = None,
        initial_h: _Operand | None = None,
        *,
        activations: str = "tanh",
        clip: float | None = None,
        reverse: bool = False,
    ):
        self.build_self(
            [x, w, r, bias, lengths, initial_h],
            self.shared_properties(activations, clip, reverse),
        )

    def compute_step(
        self, gates: list[Array], states: list[Array], product: Product, own: list[Array | None]
    ) -> list[Array]:
        bias = own[0]
        assert bias is not None
        return [self.functions[0].compute(self._limited(gates[0] + product(states[0], 0, 1) + bias))]

    def build_step(
        self, b: OpBuilder, gates: list[SSAValue], states: list[SSAValue], r: SSAValue, own: list[SSAValue | None]
    ) -> list[SSAValue]:
        total = b.add(AddOp(gates[0], b.add(MatmulOp(states[0], r, transpose_b=True))))
        return [self.functions[0].build(b, self.limited(b, total))]


@irdl_op_definition
class GruOp(RecurrentOp):
    """
    Gates update z, reset r and candidate n, in this order:

    `z = f(x wz^T + h rz^T + b)`, `r` likewise, `n = g(x wn^T + (r * h) rn^T + b)`, `h' = (1 - z) * n + z * h`.
    With `linear_before_reset`, `n = g(x wn^T + bw + r * (h rn^T + br))`. Results are `y` and the last `h`.

    - (C1) operands have the shapes that `recurrent.py` states; all but `lengths` have one float type
    - (C2) there are two activations, f and g

    ```mlir
    %y, %h = graph.gru %x, %w, %r {activations = "sigmoid,tanh"}
        : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
    ```
    """

    name = "graph.gru"
    GATES: ClassVar = 3
    ACTIVATIONS: ClassVar = 2

    linear_before_reset = opt_prop_def(UnitAttr)

    def __init__(
        self,
        x: _Operand,
        w: _Operand,
        r: _Operand,
        bias: _Operand | None = None,
        lengths: _Operand | None = None,
        initial_h: _Operand | None = None,
        *,
        activations: str = "sigmoid,tanh",
        clip: float | None = None,
        reverse: bool = False,
        linear_before_reset: bool = False,
    ):
        self.build_self(
            [x, w, r, bias, lengths, initial_h],
            self.shared_properties(activations, clip, reverse) | {"linear_before_reset": flag(linear_before_reset)},
        )

    def gates_with_bias_of_r(self) -> Sequence[bool]:
        return [True, True, self.linear_before_reset is None]

    def compute_step(
        self, gates: list[Array], states: list[Array], product: Product, own: list[Array | None]
    ) -> list[Array]:
        f, g = self.functions
        h = states[0]
        bz, br, bn = own[:3]
        assert bz is not None and br is not None and bn is not None
        z = f.compute(self._limited(gates[0] + product(h, 0, 1) + bz))
        reset = f.compute(self._limited(gates[1] + product(h, 1, 2) + br))
        whole = self.linear_before_reset is not None
        hidden = reset * (product(h, 2, 3) + bn) if whole else product(reset * h, 2, 3) + bn
        n = g.compute(self._limited(gates[2] + hidden))
        return [(1 - z) * n + z * h]

    def build_step(
        self, b: OpBuilder, gates: list[SSAValue], states: list[SSAValue], r: SSAValue, own: list[SSAValue | None]
    ) -> list[SSAValue]:
        f, g = self.functions
        h, units = states[0], self.units
        whole = self.linear_before_reset is not None
        taken = 3 if whole else 2
        columns = r if whole else _rows(b, r, 0, 2 * units)
        parts = self._parts(b, b.add(MatmulOp(h, columns, transpose_b=True)), taken)
        z, reset = (f.build(b, self.limited(b, b.add(AddOp(gates[k], parts[k])))) for k in range(2))
        if whole:
            hidden = parts[2] if own[2] is None else b.add(AddOp(parts[2], own[2]))
            hidden = b.add(MulOp(reset, hidden))
        else:
            hidden = b.add(MatmulOp(b.add(MulOp(reset, h)), _rows(b, r, 2 * units, 3 * units), transpose_b=True))
        n = g.build(b, self.limited(b, b.add(AddOp(gates[2], hidden))))
        kept = b.add(SubOp(scalar_like(b, 1.0, z), z))
        return [b.add(AddOp(b.add(MulOp(kept, n)), b.add(MulOp(z, h))))]


class LstmBase(RecurrentOp, ABC):
    """Base of LSTMs."""

    GATES: ClassVar = 4
    ACTIVATIONS: ClassVar = 3

    initial_c = opt_operand_def(AnyTensorTypeConstr)
    peephole = opt_operand_def(AnyTensorTypeConstr)
    input_forget = opt_prop_def(UnitAttr)
    c = result_def(AnyTensorTypeConstr)

    @classmethod
    def lstm_properties(
        cls, activations: str, clip: float | None, reverse: bool, input_forget: bool
    ) -> dict[str, Attribute | None]:
        """The properties of an LSTM."""
        return cls.shared_properties(activations, clip, reverse) | {"input_forget": flag(input_forget)}

    def _own_operands(self) -> dict[str, tuple[SSAValue | None, tuple[Dim, ...]]]:
        batch = dims_of(self.x.type)[1] if len(dims_of(self.x.type)) == 3 else 1
        return {
            "initial_c": (self.initial_c, (batch, self.units)),
            "peephole": (self.peephole, (3 * self.units,)),
        }

    def _own_initials(self) -> tuple[SSAValue | None, ...]:
        return (self.initial_c,)

    def compute_step(
        self, gates: list[Array], states: list[Array], product: Product, own: list[Array | None]
    ) -> list[Array]:
        f1, f2, f3 = self.functions
        h, c = states
        *biases, peephole = own
        products = np.split(product(h, 0, 4), 4, axis=1)
        parts = [gate + part + bias for gate, part, bias in zip(gates, products, biases, strict=True)]
        # Absent ones are no zeros: an infinite cell would become NaN.
        pi, po, pf = (None,) * 3 if peephole is None else np.split(peephole, 3)

        def gate(part: Array, weights: Array | None, cell: Array) -> Array:
            return f1.compute(self._limited(part if weights is None else part + weights * cell))

        i = gate(parts[0], pi, c)
        forget = 1 - i if self.input_forget is not None else gate(parts[2], pf, c)
        c = forget * c + i * f2.compute(self._limited(parts[3]))
        o = gate(parts[1], po, c)
        return [o * f3.compute(c), c]

    def build_step(
        self, b: OpBuilder, gates: list[SSAValue], states: list[SSAValue], r: SSAValue, own: list[SSAValue | None]
    ) -> list[SSAValue]:
        f1, f2, f3 = self.functions
        h, c = states
        products = self._parts(b, self.multiply(b, h, r), 4)
        parts = [b.add(AddOp(gate, product)) for gate, product in zip(gates, products, strict=True)]
        peephole = own[-1]
        seen = [None] * 3 if peephole is None else self._parts(b, peephole, 3)

        def gate(part: SSAValue, weights: SSAValue | None, cell: SSAValue) -> SSAValue:
            total = part if weights is None else b.add(AddOp(part, b.add(MulOp(weights, cell))))
            return f1.build(b, self.limited(b, total))

        i = gate(parts[0], seen[0], c)
        if self.input_forget is not None:
            forget = b.add(SubOp(scalar_like(b, 1.0, i), i))
        else:
            forget = gate(parts[2], seen[2], c)
        candidate = f2.build(b, self.limited(b, parts[3]))
        c = b.add(AddOp(b.add(MulOp(forget, c)), b.add(MulOp(i, candidate))))
        o = gate(parts[1], seen[1], c)
        return [b.add(MulOp(o, f3.build(b, c))), c]


@irdl_op_definition
class LstmOp(LstmBase):
    """
    Gates input i, output o, forget f and cell g, in this order, with optional peephole weights `p: [3*H]` of i, o, f:

    `i = f1(x wi^T + h ri^T + pi * c + b)`, `f` likewise, `g = f2(x wg^T + h rg^T + b)`, `c' = f * c + i * g`,
    `o = f1(x wo^T + h ro^T + po * c' + b)`, `h' = o * f3(c')`. With `input_forget`, `f = 1 - i`.
    Results are `y`, the last `h` and the last `c`.

    - (C1) operands have the shapes that `recurrent.py` states, `initial_c` that of `initial_h`; all but `lengths` have
      one float type
    - (C2) there are three activations, f1, f2 and f3

    ```mlir
    %y, %h, %c = graph.lstm %x, %w, %r {activations = "sigmoid,tanh,tanh"}
        : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>
        -> tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
    ```
    """

    name = "graph.lstm"

    # Declared again for the order: xDSL takes the operands and results of a subclass first.
    x = operand_def(AnyTensorTypeConstr)
    w = operand_def(AnyTensorTypeConstr)
    r = operand_def(AnyTensorTypeConstr)
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
        w: _Operand,
        r: _Operand,
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
        self.build_self(
            [x, w, r, bias, lengths, initial_h, initial_c, peephole],
            self.lstm_properties(activations, clip, reverse, input_forget),
        )


def _rows(b: OpBuilder, value: SSAValue, start: Dim, end: Dim) -> SSAValue:
    """Some rows of a matrix."""
    columns = dims_of(value.type)[1]
    return b.add(SliceOp.from_bounds(value, [start, 0], [end, columns], [1, 1]))


OPS: list[type[GraphOp]] = [GruOp, LstmOp, RnnOp]
