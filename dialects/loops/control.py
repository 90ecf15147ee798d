"""`loops.for` and its terminator: affine loops over indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Self

from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, StringAttr, UnitAttr
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_attr_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    ensure_terminator,
)
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.loops.affine_text import Access, canonical_access, parse_access, print_access
from aicc.dialects.loops.attrs import LoopKind, segment_sizes
from aicc.dialects.loops.segments import quick_operands

Bound = AffineMap | int | SSAValue

_INDEX = IndexType()


@lru_cache(maxsize=1024)
def _step_attr(step: int) -> IntegerAttr[IndexType]:
    return IntegerAttr.from_index_int_value(step)


@lru_cache(maxsize=4096)
def _string_attr(text: str) -> StringAttr:
    return StringAttr(text)


def bound_access(bound: Bound, operands: Sequence[SSAValue]) -> Access:
    """A bound given as a map over `operands`, an integer, or one index value, in canonical form."""
    if isinstance(bound, int):
        return AffineMap.constant_map(bound), ()
    if isinstance(bound, SSAValue):
        return AffineMap.identity(1), (bound,)
    return canonical_access(bound, operands)


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends an iteration of `loops.for`; its operands are the next values of the loop's iteration arguments."""

    name = "loops.yield"

    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(ForOp), Pure()))


@quick_operands
@irdl_op_definition
class ForOp(IRDLOperation):
    """
    Runs the body for `iv = max(lower), max(lower) + step, ...` while `iv < min(upper)`, carrying values along.

    The body's block arguments are `iv` and one value per operand of `inits`; `loops.yield` gives their next values;
    the results are the last ones (`inits` itself after no iterations). `kind = parallel` states that the iterations
    are independent; `threads` asks for several threads; `label` names the loop for schedules.

    - (C1) `step >= 1`
    - (C2) `lower_map` and `upper_map` have at least one result, and an operand for each dimension and symbol
    - (C3) block arguments: an index, then the types of `inits`; results: the types of `inits`
    - (C4) `loops.yield` has the types of `inits`
    - (C5) `kind` is sequential, parallel, simd or unroll
    - (C6) `threads` needs `kind = parallel`
    - (C7) a parallel loop carries no values

    ```mlir
    loops.for "s0_d0" %i = 0 to min(%n, %t + 16) step 4 parallel {
      %sum = loops.for "s0_d1" %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
        ...
        loops.yield %next : f32
      }
    }
    ```
    """

    name = "loops.for"

    lower_operands = var_operand_def(IndexType)
    upper_operands = var_operand_def(IndexType)
    inits = var_operand_def()
    res = var_result_def()
    lower_map = prop_def(AffineMapAttr)
    upper_map = prop_def(AffineMapAttr)
    step = prop_def(IntegerAttr[IndexType])
    kind = prop_def(StringAttr)
    label = prop_def(StringAttr)
    threads = opt_attr_def(UnitAttr)
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

    def __init__(
        self,
        lower: Bound,
        lower_operands: Sequence[SSAValue],
        upper: Bound,
        upper_operands: Sequence[SSAValue],
        step: int = 1,
        body: Region | Block | None = None,
        iter_args: Sequence[SSAValue] = (),
        kind: str = LoopKind.SEQUENTIAL,
        label: str = "i",
        attributes: dict[str, Attribute] | None = None,
    ):
        """
        Without `body`, a block with its arguments and nothing else is made, to be filled in and ended by a
        `loops.yield`.
        """
        lower_map, lower_values = bound_access(lower, lower_operands)
        upper_map, upper_values = bound_access(upper, upper_operands)
        types = [value.type for value in iter_args]
        if body is None:
            body = Block(arg_types=[_INDEX, *types])
        # Straight to the base: finding out the segments of operands takes most of the time otherwise.
        Operation.__init__(
            self,
            operands=[*lower_values, *upper_values, *iter_args],
            result_types=types,
            properties={
                "lower_map": AffineMapAttr(lower_map),
                "upper_map": AffineMapAttr(upper_map),
                "step": _step_attr(step),
                "kind": _string_attr(kind),
                "label": _string_attr(label),
                "operandSegmentSizes": segment_sizes(len(lower_values), len(upper_values), len(iter_args)),
            },
            attributes=attributes or {},
            regions=[Region(body) if isinstance(body, Block) else body],
        )

    def carrying(self, inits: Sequence[SSAValue]) -> ForOp:
        """A loop of the same iterations that carries `inits`, with an empty body to be filled in."""
        loop = ForOp(
            self.lower_map.data,
            self.lower_operands,
            self.upper_map.data,
            self.upper_operands,
            self.step_value,
            None,
            inits,
            self.kind.data,
            self.label.data,
            dict(self.attributes),
        )
        loop.location = self.location
        loop.induction.name_hint = self.induction.name_hint
        return loop

    @property
    def block(self) -> Block:
        """The one block of the body."""
        return self.body.block

    @property
    def induction(self) -> BlockArgument:
        """The index that counts."""
        return self.body.block.args[0]

    @property
    def iter_args(self) -> tuple[BlockArgument, ...]:
        """The values carried from one iteration to the next, as the body sees them."""
        return tuple(self.body.block.args[1:])

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The next values of the iteration arguments."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp), "loops.for without loops.yield"
        return last.arguments

    @property
    def step_value(self) -> int:
        """The distance between two values of the induction variable."""
        return self.step.value.data

    @property
    def is_parallel(self) -> bool:
        """Whether the iterations are known to be independent."""
        return self.kind.data == LoopKind.PARALLEL

    def constant_bound(self, upper: bool) -> int | None:
        """The lower or upper bound if it is one integer."""
        results = (self.upper_map if upper else self.lower_map).data.results
        values = [expr.value for expr in results if isinstance(expr, AffineConstantExpr)]
        if len(values) != len(results):
            return None
        return min(values) if upper else max(values)

    @property
    def trip_count(self) -> int | None:
        """The number of iterations if both bounds are integers."""
        lower, upper = self.constant_bound(upper=False), self.constant_bound(upper=True)
        if lower is None or upper is None:
            return None
        return max(0, -((lower - upper) // self.step_value))

    def verify_(self) -> None:
        if self.step_value < 1:  # C1
            raise VerifyException(f"step is {self.step_value}, expected at least 1")
        self._verify_bound("lower", self.lower_map.data, len(self.lower_operands))
        self._verify_bound("upper", self.upper_map.data, len(self.upper_operands))
        types = [value.type for value in self.inits]
        expected = [IndexType(), *types]
        if (found := list(self.body.block.arg_types)) != expected:  # C3
            raise VerifyException(f"block arguments are {_types(found)}, expected {_types(expected)}")
        if (found := list(self.result_types)) != types:  # C3
            raise VerifyException(f"results are {_types(found)}, expected the types of inits {_types(types)}")
        last = self.body.block.last_op
        if isinstance(last, YieldOp) and (found := [value.type for value in last.arguments]) != types:  # C4
            raise VerifyException(f"loops.yield gives {_types(found)}, expected the types of inits {_types(types)}")
        if self.kind.data not in set(LoopKind):  # C5
            raise VerifyException(f"kind is '{self.kind.data}', expected one of {', '.join(LoopKind)}")
        if self.threads is not None and not self.is_parallel:  # C6
            raise VerifyException(f"threads on a {self.kind.data} loop; only a parallel loop can run on threads")
        if self.is_parallel and types:  # C7
            raise VerifyException(f"a parallel loop carries {_types(types)}; its iterations must be independent")

    def _verify_bound(self, which: str, bound: AffineMap, operands: int) -> None:
        if not bound.results:  # C2
            raise VerifyException(f"the {which} bound has no value, expected at least one")
        if (inputs := bound.num_dims + bound.num_symbols) != operands:  # C2
            raise VerifyException(f"the {which} bound's map takes {inputs} operands, got {operands}")

    # By hand, because bounds print as expressions over their operands' names.

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.print_string(" ")
        printer.print_operand(self.induction)
        printer.print_string(" = ")
        _print_bound(printer, "max", self.lower_map.data, self.lower_operands)
        printer.print_string(" to ")
        _print_bound(printer, "min", self.upper_map.data, self.upper_operands)
        if self.step_value != 1:
            printer.print_string(f" step {self.step_value}")
        if self.inits:
            printer.print_string(" iter_args(")
            for index, (argument, init) in enumerate(zip(self.iter_args, self.inits, strict=True)):
                printer.print_string(", " if index else "")
                printer.print_operand(argument)
                printer.print_string(" = ")
                printer.print_operand(init)
            printer.print_string(") -> ")
            with printer.in_parens():
                printer.print_list(self.inits, lambda value: printer.print_attribute(value.type))
        if self.kind.data != LoopKind.SEQUENTIAL:
            printer.print_string(f" {self.kind.data}")
        attributes = dict(self.attributes)
        if attributes.pop("threads", None) is not None:
            printer.print_string(" threads")
        printer.print_op_attributes(attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=bool(self.inits),
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        label = parser.parse_str_literal(" with the label of the loop")
        induction = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        lower, lower_operands = _parse_bound(parser, "max")
        parser.parse_keyword("to")
        upper, upper_operands = _parse_bound(parser, "min")
        step = parser.parse_integer(allow_boolean=False) if parser.parse_optional_keyword("step") else 1
        names: list[Parser.UnresolvedArgument] = []
        inits: Sequence[SSAValue] = ()
        if parser.parse_optional_keyword("iter_args"):
            pos = parser.pos
            pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_iter_arg(parser))
            parser.parse_punctuation("->")
            types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            names = [name for name, _ in pairs]
            inits = parser.resolve_operands([value for _, value in pairs], types, pos)
        kind = parser.parse_optional_keyword_in(tuple(LoopKind)) or LoopKind.SEQUENTIAL
        threads = parser.parse_optional_keyword("threads") is not None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(
            [
                induction.resolve(IndexType()),
                *(name.resolve(init.type) for name, init in zip(names, inits, strict=True)),
            ]
        )
        op = cls.build(
            operands=[lower_operands, upper_operands, inits],
            result_types=[[init.type for init in inits]],
            properties={
                "lower_map": AffineMapAttr(lower),
                "upper_map": AffineMapAttr(upper),
                "step": _step_attr(step),
                "kind": _string_attr(kind),
                "label": _string_attr(label),
            },
            attributes={} if attributes is None else attributes.data,
            regions=[body],
        )
        if threads:
            op.threads = UnitAttr()
        if not inits:
            for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
                ensure_terminator(op, trait)
        return op


def _parse_iter_arg(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_unresolved_operand()


def _print_bound(printer: Printer, combine: str, bound: AffineMap, operands: Sequence[SSAValue]) -> None:
    if len(bound.results) == 1:
        print_access(printer, bound, operands)
        return
    printer.print_string(combine)
    with printer.in_parens():
        print_access(printer, bound, operands)


def _parse_bound(parser: Parser, combine: str) -> Access:
    if parser.parse_optional_keyword(combine) is None:
        return parse_access(parser, single=True)()
    with parser.in_parens():
        return parse_access(parser)()


def _types(types: Sequence[Attribute]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"
