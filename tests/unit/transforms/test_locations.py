"""Locations through rewrites, fused and filled in."""

from xdsl.dialects.arith import AddiOp, ConstantOp, MuliOp
from xdsl.dialects.builtin import UNKNOWN_LOC, FusedLoc, LocationAttr, ModuleOp, NameLoc, NoneAttr, StringAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.utils.exceptions import PassFailedException

from aicc.lowering.context import make_context
from aicc.lowering.parse import parse_module
from aicc.transforms.diagnostics import LocatedPassError, describe_location, location_names
from aicc.transforms.locations import fill_locations, fuse_locations, located_walker, set_locations

TEXT = """func.func @f(%a: i32) -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %s = arith.addi %one, %two : i32 loc("sum")
  %r = arith.muli %a, %s : i32
  func.return %r : i32
}
"""


def named(name: str) -> LocationAttr:
    return NameLoc(StringAttr(name), NoneAttr())


class DoublePattern(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MuliOp, rewriter: PatternRewriter, /) -> None:
        first = AddiOp(op.lhs, op.rhs)
        rewriter.replace(op, [first, AddiOp(first, first)])


class RefusePattern(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MuliOp, rewriter: PatternRewriter, /) -> None:
        raise PassFailedException("cannot")


def locations(module: ModuleOp) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for op in module.walk():
        found.setdefault(op.name, []).append(describe_location(op.location))
    return found


def test_inserted_ops_take_the_place_of_the_matched_op():
    module = parse_module(TEXT, "m")
    located_walker(DoublePattern()).rewrite_module(module)
    assert locations(module)["arith.addi"] == ['"sum"', "m:5:8", "m:5:8"]


def test_errors_of_patterns_are_located():
    module = parse_module(TEXT, "m")
    try:
        located_walker(RefusePattern()).rewrite_module(module)
    except LocatedPassError as error:
        assert describe_location(error.location) == "m:5:8"
    else:
        raise AssertionError("no error")


def test_ops_of_upstream_passes_are_filled_in():
    module = parse_module(TEXT, "m")
    CanonicalizePass().apply(make_context(), module)
    assert any(op.location == UNKNOWN_LOC for op in module.walk())
    fill_locations(module)
    assert locations(module)["arith.constant"] == ["m:5:8"]


def test_fuse_drops_unknown_and_repeated_places():
    a, b, c = named("a"), named("b"), named("c")
    fused = fuse_locations([a, UNKNOWN_LOC, fuse_locations([b, a]), c])
    assert isinstance(fused, FusedLoc)
    assert location_names(fused) == ("a", "b", "c")
    assert fuse_locations([a, a]) == a
    assert fuse_locations([UNKNOWN_LOC]) == UNKNOWN_LOC
    assert fuse_locations([]) == UNKNOWN_LOC


def test_set_keeps_known_places():
    op = ConstantOp.from_int_and_width(1, 32)
    set_locations([op], named("a"))
    set_locations([op], named("b"))
    assert op.location == named("a")
