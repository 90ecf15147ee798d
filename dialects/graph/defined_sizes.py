"""
Sizes that only data tells: symbols that are defined while a function runs, and facts about them that are checked then.

An op that defines a symbol stands before everything whose types or properties name it: later in its block, or in the
regions of what comes later there. Such a symbol is a size like any other for the ops that use it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, ShapeAttr, SymExpr, provably_different, tensor_type
from aicc.dialects.graph.interfaces import Arrays, Frame, RegionExecutableOp


class SizeEffect(MemoryEffect):
    """An op that defines sizes is not unused where nothing reads its results: others may name the sizes."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        defines = isinstance(op, DefinesSymbols) and op.defined_symbols()
        return {EffectInstance(MemoryEffectKind.WRITE)} if defines else set()


class DefinesSymbols(Operation, ABC):
    """An op that gives symbols their values."""

    @abstractmethod
    def defined_symbols(self) -> Mapping[str, Dim | None]:
        """The symbols, each with a size that it never exceeds where one is known."""


class SizeDefinition(IRDLOperation, DefinesSymbols, RegionExecutableOp, ABC):
    """
    Gives `symbol` the value of `value`, which must be at least 0, and at most `most` where that is given.

    That is checked when the op runs; a run with another value ends there, in one error, which begins with `text`.

    - (C1) `value` has the type that the level has for it: `tensor<i64>` in `graph`, `index` below
    - (C2) `symbol` is not empty, and `most` is one size that does not name it
    """

    VALUE_TYPE: ClassVar[Attribute] = IndexType()

    value = operand_def()
    symbol = prop_def(StringAttr)
    most = opt_prop_def(ShapeAttr)
    text = opt_prop_def(StringAttr)

    assembly_format = "$symbol `is` $value (`most` qualified($most)^)? (`text` $text^)? attr-dict `:` type($value)"

    def __init__(self, value: SSAValue | Operation, symbol: str, most: Dim | None = None, text: str | None = None):
        super().__init__(
            operands=[value],
            properties={
                "symbol": StringAttr(symbol),
                "most": None if most is None else ShapeAttr([most]),
                "text": None if text is None else StringAttr(text),
            },
        )

    @property
    def bound(self) -> Dim | None:
        """`most` as a size."""
        return None if self.most is None else self.most.data[0]

    @property
    def message(self) -> str | None:
        """`text` as a string."""
        return None if self.text is None else self.text.data

    def verify_(self) -> None:
        if self.value.type != self.VALUE_TYPE:  # C1
            raise VerifyException(f"value has type {self.value.type}, expected {self.VALUE_TYPE}")
        symbol = self.symbol.data
        if not symbol:  # C2
            raise VerifyException("symbol is empty, expected a name")
        if self.most is not None and len(self.most.data) != 1:
            raise VerifyException(f"most has {len(self.most.data)} sizes, expected one")
        if isinstance(bound := self.bound, SymExpr) and symbol in bound.symbols():
            raise VerifyException(f"most is {bound}, which names '{symbol}' itself")

    def defined_symbols(self) -> Mapping[str, Dim | None]:
        return {self.symbol.data: self.bound}

    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        frame.define_symbol(self, self.symbol.data, int(operands[0]), self.bound)
        return []


class SizeCheck(IRDLOperation, RegionExecutableOp, ABC):
    """
    The sizes `lhs` and `rhs` are equal: a run in which they are not ends there, in an error that begins with `text`.

    For what ops assume of sizes that data defines; all else is checked before a run starts.

    - (C1) `lhs` and `rhs` are one size each, and may be equal
    """

    lhs = prop_def(ShapeAttr)
    rhs = prop_def(ShapeAttr)
    text = prop_def(StringAttr)

    assembly_format = "qualified($lhs) `is` qualified($rhs) `text` $text attr-dict"

    def __init__(self, lhs: Dim, rhs: Dim, text: str):
        super().__init__(
            properties={"lhs": ShapeAttr([lhs]), "rhs": ShapeAttr([rhs]), "text": StringAttr(text)},
        )

    @property
    def sizes(self) -> tuple[Dim, Dim]:
        """`lhs` and `rhs` as sizes."""
        return self.lhs.data[0], self.rhs.data[0]

    def verify_(self) -> None:
        if len(self.lhs.data) != 1 or len(self.rhs.data) != 1:  # C1
            raise VerifyException(
                f"it has {len(self.lhs.data)} and {len(self.rhs.data)} sizes, expected one on each side"
            )
        if provably_different(*self.sizes):
            raise VerifyException(f"sizes {self.sizes[0]} and {self.sizes[1]} are never equal")

    def evaluate_in(self, frame: Frame, operands: Arrays) -> Arrays:
        del operands
        frame.check_sizes(self, *self.sizes, self.text.data)
        return []


@irdl_op_definition
class DefineSizeOp(SizeDefinition):
    """
    ```mlir
    graph.define_size "rows" is %count most #graph.shape<N> : tensor<i64>
    ```
    """

    name = "graph.define_size"
    VALUE_TYPE: ClassVar[Attribute] = tensor_type([], i64)


@irdl_op_definition
class CheckSizesOp(SizeCheck):
    """
    ```mlir
    graph.check_sizes #graph.shape<rows> is #graph.shape<4> text "graph.add: size rows of axis 0 does not match 4"
    ```
    """

    name = "graph.check_sizes"


OPS: list[type[Operation]] = [CheckSizesOp, DefineSizeOp]
