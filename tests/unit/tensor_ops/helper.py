"""Building and running small modules of `graph` and `tensor_ops` ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.builder import Builder, InsertPoint
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from aicc.dialects.graph.dims import dims_of, evaluate_dims
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import ExecutableOp, RegionExecutableOp, element_type_of

Array = np.ndarray[Any, Any]


def module_of(
    arguments: Sequence[Attribute], build: Callable[..., Operation | Sequence[Operation | SSAValue]], name: str = "main"
) -> ModuleOp:
    """A module with one function that returns the results of the op (or the values) that `build` makes."""
    block = Block(arg_types=arguments)
    builder = Builder(InsertPoint.at_end(block))

    def insert(op: Operation) -> SSAValue:
        builder.insert(op)
        return op.results[0]

    made = build(insert, *block.args)
    if isinstance(made, Operation):
        if made.parent is None:
            builder.insert(made)
        values = list(made.results)
    else:
        values = [SSAValue.get(value) for value in made]
    builder.insert(ReturnOp(*values))
    function = FuncOp(name, (list(arguments), [value.type for value in values]), Region(block))
    return ModuleOp([function])


def function_of(module: ModuleOp) -> FuncOp:
    """The first function of a module."""
    return next(op for op in module.ops if isinstance(op, FuncOp))


class StraightFrame:
    """Runs the ops of one block in order."""

    def __init__(self, symbols: Mapping[str, int]):
        self.symbols = symbols
        self.values: dict[SSAValue, Array] = {}

    def value(self, value: SSAValue) -> Array:
        return self.values[value]

    def run_block(self, block: Block, arguments: Sequence[Array]) -> list[Array]:
        self.values.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = [self.values[operand] for operand in op.operands]
            if op is block.last_op:
                return operands
            if isinstance(op, RegionExecutableOp):
                results = op.evaluate_in(self, operands)  # pyright: ignore[reportArgumentType]
            elif isinstance(op, ExecutableOp):
                results = op.evaluate(operands, self.symbols)
            else:
                results = op.evaluate(operands, self.symbols)  # pyright: ignore
            for result, array in zip(op.results, results, strict=True):
                expected = evaluate_dims(dims_of(result.type), self.symbols)
                assert array.shape == expected, f"{op.name} gave shape {array.shape}, its type says {expected}"
                assert array.dtype == numpy_dtype(element_type_of(result)), f"{op.name} gave {array.dtype}"
                self.values[result] = array
        raise AssertionError("block without terminator")


def run(module: ModuleOp, inputs: Sequence[Array], symbols: Mapping[str, int] | None = None) -> list[Array]:
    """The results of the module's first function by the numpy meaning of its ops."""
    return StraightFrame(symbols or {}).run_block(function_of(module).body.blocks[0], inputs)


def assert_same(found: Sequence[Array], expected: Sequence[Array], tolerance: float = 0.0) -> None:
    """Equal shapes, dtypes and elements; floats within `tolerance` of the largest element of the expected array."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b)
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.abs(b[np.isfinite(b)])
        scale = max(float(finite.max()), 1.0) if finite.size else 1.0
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
