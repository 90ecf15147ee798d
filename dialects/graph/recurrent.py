"""
Recurrent layers: `rnn`, `gru` and `lstm`, one direction each.

All of them take `x: [S, B, I]` (steps, batch, inputs), weights `w: [G*H, I]` and `r: [G*H, H]` of G gates with H units,
an optional `bias: [2*G*H]` (of `w`, then of `r`), the optional `lengths: [B]` of the sequences and the state before the
first step. They give `y: [S, B, H]`, the state `h` after each step, and the last state. With `reverse` the steps are
gone through from the last to the first. Steps at or past a sequence's length leave its state alone, and `y` is 0 there.

They decompose into one product for all steps and a `while` over the steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, FloatAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, opt_prop_def, prop_def, result_def
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.arithmetic import AddOp, SubOp
from aicc.dialects.graph.assembly import flag, float_attr
from aicc.dialects.graph.choice import ClipOp, WhereOp
from aicc.dialects.graph.comparison import LtOp
from aicc.dialects.graph.constants import scalar_like, scalar_of
from aicc.dialects.graph.control import WhileOp, YieldOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, evaluate_dims, tensor_of, tensor_type
from aicc.dialects.graph.elementwise import Array
from aicc.dialects.graph.indexing import GatherOp, ScatterNdOp
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    OpBuilder,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ConcatOp, ExpandOp, ReshapeOp, SliceOp, SplitOp
from aicc.dialects.graph.operands import common_element_type, dims_of_rank, expect_size
from aicc.dialects.graph.recurrent_activations import Activation, float_of, parse_activations
from aicc.dialects.graph.sizes import SizesOp
from aicc.dialects.graph.wide import accumulator_dtype, converted, widened

Product = Callable[[Array, int, int], Array]
"""The product of a state with the columns of `r` for gates `start` to `end`: `product(h, start, end)`."""


class RecurrentOp(GraphOp, ABC):
    """What `rnn`, `gru` and `lstm` share; `states` are `h` and, for an LSTM, `c`."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTROL
    GATES: ClassVar[int]
    ACTIVATIONS: ClassVar[int]
    """How many activations there are."""

    x = operand_def(AnyTensorTypeConstr)
    w = operand_def(AnyTensorTypeConstr)
    r = operand_def(AnyTensorTypeConstr)
    bias = opt_operand_def(AnyTensorTypeConstr)
    lengths = opt_operand_def(AnyTensorTypeConstr)
    initial_h = opt_operand_def(AnyTensorTypeConstr)
    activations = prop_def(StringAttr)
    clip = opt_prop_def(FloatAttr)
    """Arguments of activations are limited to `[-clip, clip]`."""

    reverse = opt_prop_def(UnitAttr)
    y = result_def(AnyTensorTypeConstr)
    h = result_def(AnyTensorTypeConstr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def shared_properties(activations: str, clip: float | None, reverse: bool) -> dict[str, Attribute | None]:
        """The properties that all of the ops have."""
        return {
            "activations": StringAttr(activations),
            "clip": None if clip is None else float_attr(clip),
            "reverse": flag(reverse),
        }

    @property
    def functions(self) -> tuple[Activation, ...]:
        """The activations."""
        return parse_activations(self.activations.data)

    @property
    def units(self) -> Dim:
        """The number of units H."""
        return self.unit_count()

    def unit_count(self) -> Dim:
        """`units`, from the shape of `r`."""
        return dims_of_rank("r", self.r, 2, 2)[1]

    def weight_shapes(self, inputs: Dim, units: Dim) -> dict[str, tuple[SSAValue | None, tuple[Dim, ...]]]:
        """The weights by name, with the shapes they must have."""
        return {"w": (self.w, (self.GATES * units, inputs)), "r": (self.r, (self.GATES * units, units))}

    def float_weights(self) -> dict[str, SSAValue | None]:
        """The operands for weights that have the element type of `x`."""
        return {"w": self.w, "r": self.r}

    def _own_operands(self) -> dict[str, tuple[SSAValue | None, tuple[Dim, ...]]]:
        """Further operands by name, with the shapes they must have."""
        return {}

    def _own_initials(self) -> tuple[SSAValue | None, ...]:
        """The initial values of states but `h`."""
        return ()

    def _operand_shapes(self) -> dict[str, tuple[SSAValue | None, tuple[Dim, ...]]]:
        """All operands but `x` by name, with the shapes they must have by those of `x` and `r`."""
        _, batch, inputs = dims_of_rank("x", self.x, 3, 3)
        units = self.units
        return {
            **self.weight_shapes(inputs, units),
            "bias": (self.bias, (2 * self.GATES * units,)),
            "lengths": (self.lengths, (batch,)),
            "initial_h": (self.initial_h, (batch, units)),
            **self._own_operands(),
        }

    def infer_types(self) -> Sequence[Attribute]:
        optional = {"bias": self.bias, "initial_h": self.initial_h}
        optional |= {name: value for name, (value, _) in self._own_operands().items()}
        element = common_element_type(ElementKind.FLOAT, ("x", self.x), {**self.float_weights(), **optional})
        for name, (value, expected) in self._operand_shapes().items():
            if value is None:
                continue
            found = dims_of_rank(name, value, len(expected), len(expected))
            for axis, (size, wanted) in enumerate(zip(found, expected, strict=True)):
                expect_size(f"size {axis} of {name}", size, wanted, "by the sizes of x and r")
        if self.lengths is not None:
            check_element_type("lengths", element_type_of(self.lengths), ElementKind.INTEGER)
        if len(self.functions) != self.ACTIVATIONS:
            raise VerifyException(f"there are {len(self.functions)} activations, expected {self.ACTIVATIONS}")
        steps, batch, _ = dims_of(self.x.type)
        state = tensor_type([batch, self.units], element)
        return (tensor_type([steps, batch, self.units], element), *[state] * (1 + len(self._own_initials())))

    def runtime_checks(self) -> Sequence[Check]:
        checks = [*super().runtime_checks()]
        for name, (value, expected) in self._operand_shapes().items():
            if value is None:
                continue
            for axis, (size, wanted) in enumerate(zip(dims_of(value.type), expected, strict=True)):
                if size != wanted:
                    checks.append(Check(size, wanted, f"{self.name}: size {axis} of {name} does not match x and r"))
        return checks

    def flops(self) -> Dim:
        return (
            2 * dim_prod(dims_of(self.x.type)[:2]) * (dim_prod(dims_of(self.w.type)) + dim_prod(dims_of(self.r.type)))
        )

    # Meaning

    @abstractmethod
    def compute_step(
        self, gates: list[Array], states: list[Array], product: Product, own: list[Array | None]
    ) -> list[Array]:
        """
        The states after a step. `gates` are `x w^T` and the bias, `product` is that of a state with `r`, `own` is the
        bias of `r` by gates that is not in them (for a GRU's candidate), then the op's own operands.
        """

    def products(self, named: Mapping[str, Array | None], x: Array, units: int) -> tuple[Array, Product]:
        """`x w^T` of rows of inputs, and the product of a state with `r`; `named` has the operands."""
        w, r = named["w"], named["r"]
        assert w is not None and r is not None
        r = r.astype(x.dtype)
        return x @ w.astype(x.dtype).T, lambda h, start, end: h @ r[start * units : end * units].T

    def _limited(self, value: Array) -> Array:
        clip = float_of(self.clip)
        return value if clip is None else np.clip(value, -clip, clip).astype(value.dtype)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        given = iter(operands)
        named = {
            name: next(given) if getattr(self, name) is not None else None
            for name in (
                "x",
                *self.weight_shapes(0, 0),
                "bias",
                "lengths",
                "initial_h",
                *self._own_operands(),
            )
        }
        x = named["x"]
        assert x is not None
        dtype, wide = x.dtype, accumulator_dtype(x.dtype)
        steps, batch, _ = x.shape
        units = int(evaluate_dims([self.units], symbols)[0])
        zeros = np.zeros((batch, units), wide)
        names = ["initial_h", *(name for name in self._own_operands() if name.startswith("initial"))]
        initials = [named[name] for name in names]
        states = [zeros if array is None else array.astype(wide) for array in initials]
        bias = named["bias"]
        bias = np.zeros(2 * self.GATES * units, wide) if bias is None else bias.astype(wide)
        lengths = named["lengths"]
        own = [
            None if (array := named[name]) is None else array.astype(wide)
            for name in self._own_operands()
            if name not in names
        ]
        y = np.zeros((steps, batch, units), wide)
        with np.errstate(all="ignore"):
            inputs, product = self.products(named, x.reshape(steps * batch, -1).astype(wide), units)
            inputs = inputs.reshape(steps, batch, self.GATES * units)
            for step in reversed(range(steps)) if self.reverse is not None else range(steps):
                gates = inputs[step] + bias[: self.GATES * units]
                parts = [gates[:, k * units : (k + 1) * units] for k in range(self.GATES)]
                biases = [bias[(self.GATES + k) * units : (self.GATES + k + 1) * units] for k in range(self.GATES)]
                new = self.compute_step(parts, states, product, [*biases, *own])
                running = np.ones((batch, 1), np.bool_) if lengths is None else (step < lengths)[:, None]
                states = [np.where(running, after, before) for after, before in zip(new, states, strict=True)]
                y[step] = np.where(running, states[0], 0)
        return tuple(array.astype(dtype) for array in (y, *states))

    # Decomposition

    @abstractmethod
    def build_step(
        self, b: OpBuilder, gates: list[SSAValue], states: list[SSAValue], r: SSAValue, own: list[SSAValue | None]
    ) -> list[SSAValue]:
        """The ops of a step, as `compute_step`; the biases in `own` are None where they are in `gates`."""

    def gates_with_bias_of_r(self) -> Sequence[bool]:
        """For each gate whether the bias of `r` can be added to that of `w`."""
        return [True] * self.GATES

    def multiply(self, b: OpBuilder, value: SSAValue, weights: SSAValue) -> SSAValue:
        """The product of rows of inputs with `w`, or of a state with `r`."""
        return b.add(MatmulOp(value, weights, transpose_b=True))

    def limited(self, b: OpBuilder, value: SSAValue) -> SSAValue:
        """The argument of an activation, clipped if the op asks for it."""
        clip = float_of(self.clip)
        if clip is None:
            return value
        return b.add(ClipOp(value, scalar_like(b, -clip, value), scalar_like(b, clip, value)))

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        steps, batch, inputs = dims_of(self.x.type)
        units, element = self.units, element_type_of(self.x)
        x, w, r = (widened(b, operand) for operand in (self.x, self.w, self.r))
        width = self.GATES * units
        gates = self.multiply(b, b.add(ReshapeOp(x, [steps * batch, inputs])), w)
        biases: list[SSAValue | None] = [None] * self.GATES
        if self.bias is not None:
            gates, biases = self._add_bias(b, gates, widened(b, self.bias))
        gates = b.add(ReshapeOp(gates, [steps, batch, width]))
        state_type = tensor_type([batch, units], element_type_of(x))
        initials = [self._initial(b, value, state_type) for value in (self.initial_h, *self._own_initials())]
        y = b.add(ExpandOp(scalar_like(b, 0.0, x), [steps, batch, units]))
        own = [
            None if value is None else widened(b, value)
            for name, (value, _) in self._own_operands().items()
            if not name.startswith("initial")
        ]
        count = b.add(ReshapeOp(b.add(SizesOp([steps])), []))
        lengths = None if self.lengths is None else converted(b, self.lengths, i64)
        if lengths is not None:
            lengths = b.add(ReshapeOp(lengths, [batch, 1]))

        start: list[SSAValue] = [scalar_of(b, 0, i64), *initials, y]
        types = [value.type for value in start]
        condition = Block(arg_types=types)
        inner = OpBuilder(InsertPoint.at_end(condition), self)
        inner.insert(YieldOp([inner.add(LtOp(condition.args[0], count))]))
        body = Block(arg_types=types)
        inner = OpBuilder(InsertPoint.at_end(body), self)
        number, *states, y = body.args
        one = scalar_of(inner, 1, i64)
        next_number = inner.add(AddOp(number, one))
        step = number if self.reverse is None else inner.add(SubOp(count, next_number))
        row = inner.add(GatherOp(gates, step, 0))
        parts = self._parts(inner, row, self.GATES)
        new = self.build_step(inner, parts, list(states), r, [*biases, *own])
        shown = new[0]
        if lengths is not None:
            running = inner.add(LtOp(step, lengths))
            new = [inner.add(WhereOp(running, a, s)) for a, s in zip(new, states, strict=True)]
            shown = inner.add(WhereOp(running, new[0], scalar_like(inner, 0.0, new[0])))
        place = inner.add(ReshapeOp(step, [1, 1]))
        y = inner.add(ScatterNdOp(y, place, inner.add(ReshapeOp(shown, [1, batch, units]))))
        inner.insert(YieldOp([next_number, *new, y]))
        loop = WhileOp(start, Region(condition), Region(body))
        b.insert(loop)
        _, *last, y = loop.results
        return [converted(b, value, element) for value in (y, *last)]

    def _parts(self, b: OpBuilder, value: SSAValue, count: int) -> list[SSAValue]:
        """Equal parts of the last axis."""
        if count == 1:
            return [value]
        dims = dims_of(value.type)
        split = SplitOp(value, len(dims) - 1, [dims[-1] // count] * count)
        b.insert(split)
        return list(split.results)

    def _add_bias(self, b: OpBuilder, gates: SSAValue, bias: SSAValue) -> tuple[SSAValue, list[SSAValue | None]]:
        of_w, of_r = self._parts(b, bias, 2)
        together = self.gates_with_bias_of_r()
        if all(together):
            return b.add(AddOp(gates, b.add(AddOp(of_w, of_r)))), [None] * self.GATES
        units = self.units
        # Only the last gate may keep its bias apart.
        assert list(together) == [True] * (self.GATES - 1) + [False]
        size = (self.GATES - 1) * units
        first = b.add(SliceOp.from_bounds(of_r, [0], [size], [1]))
        last = b.add(SliceOp.from_bounds(of_r, [size], [self.GATES * units], [1]))
        own_first = b.add(SliceOp.from_bounds(of_w, [0], [size], [1]))
        own_last = b.add(SliceOp.from_bounds(of_w, [size], [self.GATES * units], [1]))
        whole = b.add(ConcatOp([b.add(AddOp(own_first, first)), own_last], 0))
        return b.add(AddOp(gates, whole)), [*[None] * (self.GATES - 1), last]

    def _initial(self, b: OpBuilder, value: SSAValue | None, type: Attribute) -> SSAValue:
        if value is not None:
            return widened(b, value)
        return b.add(ExpandOp(scalar_of(b, 0.0, tensor_of(type).element_type), dims_of(type)))
