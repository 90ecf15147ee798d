"""
Runs functions by the numpy meaning of their ops, at the graph and tensor_ops levels.

Ops say what they mean through `ExecutableOp` and `RegionExecutableOp`; control flow of `scf` and `func` is known here.
Sizes are checked against types as they are met, so an assumption that does not hold is an error that names the op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.buffers import attribute_array
from aicc.dialects.graph.dims import Dim, dims_of, evaluate, is_tensor, shape_text
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import Arrays, ExecutableOp, RegionExecutableOp, TypedOp
from aicc.dialects.graph.unify import integer_symbol_values

_MAX_CALL_DEPTH = 100
"""Calls within calls before a recursion is taken to be endless."""


class EvaluationError(DiagnosticException):
    """A run that cannot go on: wrong inputs, an op without meaning, or sizes that do not match."""

    def __init__(self, text: str, op: Operation | None = None):
        super().__init__(text)
        self.op = op


Watch = Callable[[Operation, Arrays, Mapping[str, int], Callable[[], Arrays]], Arrays]
"""
Stands between the evaluator and each op: given the op, the values of its operands, the symbols, and what computes the
values of its results, it says which values the run goes on with.
"""


def evaluate_function(
    func: FuncOp,
    inputs: Sequence[np.ndarray],
    module: ModuleOp,
    *,
    symbols: Mapping[str, int] | None = None,
    watch: Watch | None = None,
) -> list[np.ndarray]:
    """
    The results of `func` for `inputs`; functions it calls are looked up in `module`.

    `symbols` has values for those that no input has as a size. `watch` sees every op that runs.

    Raises:
        EvaluationError: naming the argument, op or size that is wrong.
    """
    return list(_Program(module, watch).call(func, inputs, symbols, 0))


class _Program:
    """The functions of a module."""

    def __init__(self, module: ModuleOp, watch: Watch | None = None):
        self.watch = watch
        self.functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}

    def find(self, name: str) -> FuncOp:
        if (function := self.functions.get(name)) is None or not function.body.blocks:
            raise EvaluationError(f"there is no function @{name} with a body in the module")
        return function

    def call(self, function: FuncOp, inputs: Arrays, symbols: Mapping[str, int] | None, depth: int) -> Arrays:
        if depth > _MAX_CALL_DEPTH:
            raise EvaluationError(f"calls are nested more than {_MAX_CALL_DEPTH} deep, up to @{function.sym_name.data}")
        types = function.function_type.inputs.data
        if len(inputs) != len(types):
            raise EvaluationError(f"@{function.sym_name.data} got {len(inputs)} inputs, expected {len(types)}")
        for i, (array, type) in enumerate(zip(inputs, types, strict=True)):
            _check_input(f"input {i} of @{function.sym_name.data}", array, type)
        bound = integer_symbol_values(types, [array.shape for array in inputs])
        frame = _Frame(self, {**bound, **(symbols or {})}, depth)
        for i, (array, type) in enumerate(zip(inputs, types, strict=True)):
            frame.check_shape(f"input {i} of @{function.sym_name.data}", array, type, None)
        return frame.run_block(function.body.block, inputs)


def _check_input(what: str, array: np.ndarray, type: Attribute) -> None:
    if not is_tensor(type):
        return
    if array.ndim != len(type.shape):
        raise EvaluationError(f"{what} has shape {list(array.shape)}, expected {shape_text(dims_of(type))}")
    if array.dtype != (dtype := numpy_dtype(type.element_type)):
        raise EvaluationError(f"{what} has dtype {array.dtype}, expected {dtype}")


class _Frame:
    """One running function: the values computed so far and the symbols. A `Frame` for ops with regions."""

    def __init__(self, program: _Program, symbols: Mapping[str, int], depth: int):
        self.program = program
        self.symbols = dict(symbols)
        self.depth = depth
        self.values: dict[SSAValue, Any] = {}

    def call(self, name: str, arguments: Arrays, symbols: Mapping[str, int] | None = None) -> Arrays:
        return self.program.call(self.program.find(name), arguments, symbols, self.depth + 1)

    def value(self, value: SSAValue) -> np.ndarray:
        return self.values[value]

    def define_symbol(self, op: Operation, name: str, value: int, most: Dim | None) -> None:
        if value < 0:
            raise EvaluationError(f"size {name} is {value}, expected at least 0", op)
        if most is not None and value > (limit := evaluate(most, self.symbols)):
            raise EvaluationError(f"size {name} is {value}, expected at most {most}, which is {limit}", op)
        self.symbols[name] = value

    def check_sizes(self, op: Operation, lhs: Dim, rhs: Dim, text: str) -> None:
        left, right = evaluate(lhs, self.symbols), evaluate(rhs, self.symbols)
        if left != right:
            raise EvaluationError(f"{text} ({lhs} is {left}, {rhs} is {right})", op)

    def run_block(self, block: Block, arguments: Arrays) -> Arrays:
        self.values.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = [self.values[operand] for operand in op.operands]
            if op.has_trait(IsTerminator):
                return operands
            results = self.run_op(op, operands) if self.program.watch is None else self.watched(op, operands)
            for result, value in zip(op.results, results, strict=True):
                self.check_shape(f"result of {op.name}", value, result.type, op)
                self.values[result] = value
        return []

    def watched(self, op: Operation, operands: Arrays) -> Arrays:
        assert self.program.watch is not None
        return self.program.watch(op, operands, self.symbols, lambda: list(self.run_op(op, operands)))

    def run_op(self, op: Operation, operands: Arrays) -> Iterable[Any]:
        if isinstance(op, TypedOp):
            self.check_assumptions(op)
        if isinstance(op, RegionExecutableOp):
            return op.evaluate_in(self, operands)
        if isinstance(op, ExecutableOp):
            return op.evaluate(operands, self.symbols)
        if (meaning := _MEANING.get(type(op))) is not None:
            return meaning(self, op, operands)
        raise EvaluationError(f"{op.name} has no executable meaning", op)

    def check_assumptions(self, op: TypedOp) -> None:
        for check in op.runtime_checks():
            try:
                lhs, rhs = evaluate(check.lhs, self.symbols), evaluate(check.rhs, self.symbols)
            except KeyError:
                continue
            if lhs != rhs:
                raise EvaluationError(f"{check.text} ({check.lhs} is {lhs}, {check.rhs} is {rhs})", op)

    def check_shape(self, what: str, value: Any, type: Attribute, op: Operation | None) -> None:
        """A symbol without a value (one that no input has as a size) is not checked."""
        if not is_tensor(type):
            return
        for axis, (dim, found) in enumerate(zip(dims_of(type), value.shape, strict=True)):
            try:
                expected = evaluate(dim, self.symbols)
            except KeyError:
                continue
            if found != expected:
                raise EvaluationError(
                    f"{what} has size {found} on axis {axis}, expected {dim}, which is {expected}", op
                )


def _run_if(frame: _Frame, op: Operation, operands: Arrays) -> Iterable[Any]:
    assert isinstance(op, scf.IfOp)
    region = op.true_region if bool(operands[0]) else op.false_region
    return frame.run_block(region.block, []) if region.blocks else []


def _run_while(frame: _Frame, op: Operation, operands: Arrays) -> Iterable[Any]:
    assert isinstance(op, scf.WhileOp)
    state = operands
    while True:
        goes_on, *passed = frame.run_block(op.before_region.block, state)
        if not bool(goes_on):
            return passed
        state = frame.run_block(op.after_region.block, passed)


def _run_call(frame: _Frame, op: Operation, operands: Arrays) -> Iterable[Any]:
    assert isinstance(op, func.CallOp)
    return frame.call(op.callee.string_value(), operands)


def _run_constant(frame: _Frame, op: Operation, operands: Arrays) -> Iterable[Any]:
    del frame, operands
    assert isinstance(op, arith.ConstantOp)
    match op.value:
        case IntegerAttr(value=number) | FloatAttr(value=number):
            return [numpy_dtype(op.result.type).type(number.data)]
        case DenseIntOrFPElementsAttr():
            return [attribute_array(op.value, op.result.type)]
        case _:
            raise EvaluationError(f"constant {op.value} has no executable meaning", op)


def _run_index_cast(frame: _Frame, op: Operation, operands: Arrays) -> Iterable[Any]:
    """Sizes have 64 bits."""
    del frame
    dtype = np.dtype(np.int64) if op.results[0].type == IndexType() else numpy_dtype(op.results[0].type)
    return [dtype.type(operands[0])]


_MEANING: dict[type[Operation], Callable[[_Frame, Operation, Arrays], Iterable[Any]]] = {
    scf.IfOp: _run_if,
    scf.WhileOp: _run_while,
    func.CallOp: _run_call,
    arith.ConstantOp: _run_constant,
    arith.IndexCastOp: _run_index_cast,
}
