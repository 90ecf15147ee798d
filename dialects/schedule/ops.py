"""The steps of a schedule. Handles are lists of loops; a step that takes several handles zips their lists."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import NamedTuple, Self

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.dialects.transform import AnyOpType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

_HANDLE = AnyOpType()
TAILS = ("peel", "pair", "mask")
"""What becomes of iterations that do not fill a tile: a nest of their own, or a shorter tile within the same nest."""


Integers = DenseArrayBase[I64]
Integer = IntegerAttr[I64]


def _integers(values: Sequence[int]) -> Integers:
    return DenseArrayBase.from_list(i64, list(values))


def _read(values: Integers) -> tuple[int, ...]:
    return tuple(values.get_values())


def _integer(value: int) -> Integer:
    return IntegerAttr(value, i64)


def _print_step(printer: Printer, op: Operation) -> None:
    """` %a, %b {properties}`."""
    printer.print_string(" ")
    printer.print_list(op.operands, printer.print_operand)
    printer.print_op_attributes({**op.properties, **op.attributes})


class _StepByHand(NamedTuple):
    """What `_print_step` prints."""

    operands: Sequence[SSAValue]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


def _parse_step(parser: Parser, step: type[IRDLOperation]) -> _StepByHand:
    loops = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parser.parse_operand(_HANDLE))
    given, known = parser.parse_optional_attr_dict(), step.get_irdl_definition().properties
    properties = {name: value for name, value in given.items() if name in known}
    return _StepByHand(loops, properties, {name: given[name] for name in given if name not in known})


class _NoOtherAttributes(OpTrait):
    """A misspelt property would be an attribute that nobody reads; those of a dialect, with a dot, are not ours."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, IRDLOperation)
        for name in op.attributes:
            if "." not in name:
                known = ", ".join(sorted(op.get_irdl_definition().properties))
                raise VerifyException(f"attribute '{name}' is not known, expected one of {known}")


class ScheduleOp(IRDLOperation, ABC):
    """
    A step of a schedule.

    - (C0) attributes are the step's own, or have the name of a dialect before a dot
    """

    traits = traits_def(_NoOtherAttributes())  # C0

    why = opt_prop_def(StringAttr)
    """What the step was chosen for; for people who read the schedule."""

    irdl_options = (ParsePropInAttrDict(),)


@irdl_op_definition
class LoopOp(ScheduleOp):
    """
    The loops with a label anywhere inside the ops of a handle, in program order; it is an error if there are none.

    ```mlir
    %rows = schedule.loop %kernel {label = "s0_d0"}
    ```
    """

    name = "schedule.loop"

    root = operand_def(AnyOpType)
    label = prop_def(StringAttr)
    result = result_def(AnyOpType)

    assembly_format = "$root attr-dict"

    def __init__(self, root: SSAValue, label: str):
        super().__init__(operands=[root], properties={"label": StringAttr(label)}, result_types=[_HANDLE])


@irdl_op_definition
class SelectOp(ScheduleOp):
    """
    The loops at some positions of a handle's list.

    - (C1) positions are at least 0

    ```mlir
    %main = schedule.select %o0 {positions = array<i64: 0>}
    ```
    """

    name = "schedule.select"

    handle = operand_def(AnyOpType)
    positions = prop_def(Integers)
    result = result_def(AnyOpType)

    assembly_format = "$handle attr-dict"

    def __init__(self, handle: SSAValue, positions: Sequence[int]):
        super().__init__(operands=[handle], properties={"positions": _integers(positions)}, result_types=[_HANDLE])

    @property
    def chosen(self) -> tuple[int, ...]:
        """The positions."""
        return _read(self.positions)

    def verify_(self) -> None:
        for position in self.chosen:
            if position < 0:  # C1
                raise VerifyException(f"position {position}, expected at least 0")


@irdl_op_definition
class TileOp(ScheduleOp):
    """
    Splits perfectly nested loops `l0 > l1 > ...` into loops over tiles `o0 > o1 > ...` around loops within a tile
    `i0 > i1 > ...`: the old index is `lower + step * (size * o + i)`.

    Iterations that do not fill a tile go by the loop's entry in `tails`: `peel` makes separate nests for them (with a
    fixed trip count if the remainder is known, else at most one tile of `rest mod size` iterations), `pair` too, but
    one that is left over alone of an unknown number goes with the last full tile, `mask` keeps one nest whose tiles
    are `min(size, rest)` long. All nests made have the same structure. Results: per loop the list of the loops over
    tiles, one for each nest made, the nest of full tiles first; per loop the list of the loops within a tile (none
    where the size is 1, such a loop stays as it is); the list of the outermost loops of the peeled nests.
    New labels are the old one plus `.o`, `.i`, and `.t` for the loop over tiles of a peeled remainder.

    - (C1) as many `sizes`, and `tails` if given, as loops; at least one
    - (C2) `sizes[i] >= 1`
    - (C3) `tails[i]` is `peel`, `pair` or `mask`
    - (C4) `2 * n + 1` results for `n` loops

    ```mlir
    %o0, %o1, %i0, %i1, %t = schedule.tile %rows, %columns {sizes = array<i64: 6, 16>, tails = ["peel", "peel"]}
    ```
    """

    name = "schedule.tile"

    loops = var_operand_def(AnyOpType)
    sizes = prop_def(Integers)
    tails = opt_prop_def(ArrayAttr[StringAttr])
    results_ = var_result_def(AnyOpType)

    def __init__(self, loops: Sequence[SSAValue], sizes: Sequence[int], tails: Sequence[str] | None = None):
        super().__init__(
            operands=[loops],
            properties={
                "sizes": _integers(sizes),
                "tails": None if tails is None else ArrayAttr([StringAttr(tail) for tail in tails]),
            },
            result_types=[[_HANDLE] * (2 * len(loops) + 1)],
        )

    @property
    def tile_sizes(self) -> tuple[int, ...]:
        """Iterations per tile, outermost loop first."""
        return _read(self.sizes)

    @property
    def tile_tails(self) -> tuple[str, ...]:
        """`peel`, `pair` or `mask` per loop; `peel` where the op says nothing."""
        if self.tails is None:
            return ("peel",) * len(self.loops)
        return tuple(tail.data for tail in self.tails)

    @property
    def outers(self) -> Sequence[SSAValue]:
        """The loops over tiles, outermost first, each a list over all nests."""
        return self.results[: len(self.loops)]

    @property
    def inners(self) -> Sequence[SSAValue]:
        """The loops within a tile, outermost first, each a list over all nests."""
        return self.results[len(self.loops) : 2 * len(self.loops)]

    @property
    def peeled(self) -> SSAValue:
        """The outermost loops of the nests for what does not fill a tile."""
        return self.results[-1]

    def verify_(self) -> None:
        if not self.loops:  # C1
            raise VerifyException("no loop to tile, expected at least one")
        if len(sizes := self.tile_sizes) != len(self.loops):  # C1
            raise VerifyException(f"{len(sizes)} sizes for {len(self.loops)} loops, expected one each")
        if len(tails := self.tile_tails) != len(self.loops):  # C1
            raise VerifyException(f"{len(tails)} tails for {len(self.loops)} loops, expected one each")
        for index, size in enumerate(sizes):
            if size < 1:  # C2
                raise VerifyException(f"sizes[{index}] is {size}, expected at least 1")
        for index, tail in enumerate(tails):
            if tail not in TAILS:  # C3
                raise VerifyException(f"tails[{index}] is '{tail}', expected {' or '.join(map(repr, TAILS))}")
        if len(self.results) != 2 * len(self.loops) + 1:  # C4
            raise VerifyException(
                f"{len(self.results)} results for {len(self.loops)} loops, expected {2 * len(self.loops) + 1}: loops "
                "over tiles, loops within tiles, peeled nests"
            )

    # By hand, because a format string cannot count the results.

    def print(self, printer: Printer) -> None:
        _print_step(printer, self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        step = _parse_step(parser, cls)
        return cls.create(**step._asdict(), result_types=[_HANDLE] * (2 * len(step.operands) + 1))


@irdl_op_definition
class InterchangeOp(ScheduleOp):
    """
    Reorders perfectly nested loops: the new nest is `loops[order[0]] > loops[order[1]] > ...`; results in that order.

    - (C1) `order` is a permutation of the positions of the operands
    - (C2) as many results as loops

    ```mlir
    %c, %r = schedule.interchange %rows, %columns {order = array<i64: 1, 0>}
    ```
    """

    name = "schedule.interchange"

    loops = var_operand_def(AnyOpType)
    order = prop_def(Integers)
    results_ = var_result_def(AnyOpType)

    def __init__(self, loops: Sequence[SSAValue], order: Sequence[int]):
        super().__init__(
            operands=[loops], properties={"order": _integers(order)}, result_types=[[_HANDLE] * len(loops)]
        )

    @property
    def new_order(self) -> tuple[int, ...]:
        """Old position of each loop of the new nest, outermost first."""
        return _read(self.order)

    def verify_(self) -> None:
        if sorted(self.new_order) != list(range(len(self.loops))):  # C1
            raise VerifyException(
                f"order {list(self.new_order)} is not a permutation of the {len(self.loops)} loops' positions"
            )
        if len(self.results) != len(self.loops):  # C2
            raise VerifyException(f"{len(self.results)} results for {len(self.loops)} loops, expected one each")

    # By hand, because a format string cannot count the results.

    def print(self, printer: Printer) -> None:
        _print_step(printer, self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        step = _parse_step(parser, cls)
        return cls.create(**step._asdict(), result_types=[_HANDLE] * len(step.operands))


@irdl_op_definition
class FuseOp(ScheduleOp):
    """
    Makes one loop of two neighbours with equal bounds: the bodies follow each other in each iteration.

    ```mlir
    %f = schedule.fuse %a, %b
    ```
    """

    name = "schedule.fuse"

    first = operand_def(AnyOpType)
    second = operand_def(AnyOpType)
    result = result_def(AnyOpType)

    assembly_format = "$first `,` $second attr-dict"

    def __init__(self, first: SSAValue, second: SSAValue):
        super().__init__(operands=[first, second], result_types=[_HANDLE])


@irdl_op_definition
class CollapseOp(ScheduleOp):
    """
    Makes one loop of two perfectly nested ones; the old indices are its quotient and remainder by the inner trip count.

    Memrefs that the loops walk contiguously are read and written through a view with the two dimensions merged, so that
    the new loop has unit stride there.

    ```mlir
    %c = schedule.collapse %outer, %inner
    ```
    """

    name = "schedule.collapse"

    outer = operand_def(AnyOpType)
    inner = operand_def(AnyOpType)
    result = result_def(AnyOpType)

    assembly_format = "$outer `,` $inner attr-dict"

    def __init__(self, outer: SSAValue, inner: SSAValue):
        super().__init__(operands=[outer, inner], result_types=[_HANDLE])


@irdl_op_definition
class SplitOp(ScheduleOp):
    """
    Makes two perfectly nested loops of one; the old index is `size * outer + inner`, with `size` inner iterations.

    The inverse of `schedule.collapse`: memrefs that the loop walks by its index alone are read and written through a
    view with that dimension split, so that quotients and remainders by `size` disappear. `size` divides the trip count,
    which is a number.

    - (C1) `size >= 1`

    ```mlir
    %group, %channel = schedule.split %channels {size = 68 : i64}
    ```
    """

    name = "schedule.split"

    loop = operand_def(AnyOpType)
    size = prop_def(Integer)
    outer = result_def(AnyOpType)
    inner = result_def(AnyOpType)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue, size: int):
        super().__init__(operands=[loop], properties={"size": _integer(size)}, result_types=[_HANDLE, _HANDLE])

    def verify_(self) -> None:
        if self.size.value.data < 1:  # C1
            raise VerifyException(f"size is {self.size.value.data}, expected at least 1")


@irdl_op_definition
class UnrollOp(ScheduleOp):
    """
    Repeats a loop's body `factor` times per iteration, the rest in a loop after it; a loop that is known to have at
    most `factor` iterations disappears.

    - (C1) `factor >= 1`

    ```mlir
    schedule.unroll %l {factor = 4 : i64}
    ```
    """

    name = "schedule.unroll"

    loop = operand_def(AnyOpType)
    factor = prop_def(Integer)

    assembly_format = "$loop attr-dict"

    def __init__(self, loop: SSAValue, factor: int):
        super().__init__(operands=[loop], properties={"factor": _integer(factor)})

    def verify_(self) -> None:
        if self.factor.value.data < 1:  # C1
            raise VerifyException(f"factor is {self.factor.value.data}, expected at least 1")


@irdl_op_definition
class VectorizeOp(ScheduleOp):
    """
    Runs all iterations of perfectly nested loops at once: they become the axes of vector values, outermost first.

    Loops inside them stay and carry vectors. The last one may be shorter than the vector at run time (`min(16, ...)`):
    its missing lanes are neither read nor written. Others need a known trip count, else they stay loops. A
    loop that carries a reduction accumulates lane by lane and combines the lanes at the end; it is the only one, or the
    last one, with other ops around it in the loop before.

    - (C1) at least one loop

    ```mlir
    schedule.vectorize %i0, %i1
    ```
    """

    name = "schedule.vectorize"

    loops = var_operand_def(AnyOpType)

    assembly_format = "$loops attr-dict"

    def __init__(self, loops: Sequence[SSAValue]):
        super().__init__(operands=[loops])

    def verify_(self) -> None:
        if not self.loops:  # C1
            raise VerifyException("no loop to vectorize, expected at least one")


def _verify_layout(argument: Integer, tiles: Sequence[int], order: Sequence[int]) -> None:
    """C1 to C3 of packing and staging."""
    if argument.value.data < 0:  # C1
        raise VerifyException(f"argument is {argument.value.data}, expected at least 0")
    if sorted(order) != list(range(len(tiles))):  # C2
        raise VerifyException(f"order {list(order)} is not a permutation of the {len(tiles)} dimensions of tiles")
    for index, size in enumerate(tiles):
        if size < 0:  # C3
            raise VerifyException(f"tiles[{index}] is {size}, expected at least 1, or 0 for none")


class _LayoutOp(ScheduleOp):
    """A step that lays out a copy of a kernel's input, on the kernel or loops that its one operand stands for."""

    argument = prop_def(Integer)
    tiles = prop_def(Integers)
    order = prop_def(Integers)

    def __init__(self, handle: SSAValue, argument: int, tiles: Sequence[int], order: Sequence[int]):
        super().__init__(
            operands=[handle],
            properties={"argument": _integer(argument), "tiles": _integers(tiles), "order": _integers(order)},
        )

    @property
    def tile_sizes(self) -> tuple[int, ...]:
        """Tile per dimension, 0 for none."""
        return _read(self.tiles)

    @property
    def new_order(self) -> tuple[int, ...]:
        """Dimensions of what is copied in the order of the copy."""
        return _read(self.order)

    def verify_(self) -> None:
        _verify_layout(self.argument, self.tile_sizes, self.new_order)


@irdl_op_definition
class PackOp(_LayoutOp):
    """
    Reads an argument of the kernel from a packed copy, which a new kernel `@<kernel>_pack<argument>` makes in callers.

    For argument `A` of rank `r`, `tiles[d] = t > 0` splits dimension `d` into `ceildiv(size, t)` tiles of `t`, padded
    with zeros; the copy has the (outer parts of the) dimensions in the order `order`, then the inner parts of the split
    ones: `A'[..., i_d floordiv t, ..., i_d mod t] = A[..., i_d, ...]`. `argument` counts the kernel's buffers, without
    its symbols.

    - (C1) `argument >= 0`
    - (C2) `order` is a permutation of the dimensions, and `tiles` has an entry for each
    - (C3) `tiles[d] >= 0`

    ```mlir
    schedule.pack %k {argument = 1 : i64, tiles = array<i64: 16, 0, 0, 0>, order = array<i64: 0, 2, 3, 1>}
    ```
    """

    name = "schedule.pack"

    kernel = operand_def(AnyOpType)

    assembly_format = "$kernel attr-dict"


@irdl_op_definition
class StageOp(_LayoutOp):
    """
    In each iteration of the loops of a handle, copies the part of a kernel's input that their body needs, and reads
    that.

    `argument` counts the kernel's buffers, without its symbols. The copy is laid out as `schedule.pack` says, by
    `tiles` and `order`, from the part's first element on; its size must be known.

    - (C1) `argument >= 0`
    - (C2) `order` is a permutation of the dimensions, and `tiles` has an entry for each
    - (C3) `tiles[d] >= 0`

    ```mlir
    schedule.stage %blocks {argument = 1 : i64, tiles = array<i64: 0, 16>, order = array<i64: 1, 0>}
    ```
    """

    name = "schedule.stage"

    loop = operand_def(AnyOpType)

    assembly_format = "$loop attr-dict"
