"""
Locations that survive rewriting: new ops take the place of the ops they come from.

xDSL's rewriters leave the ops they insert without a location; use `located_walker` in the place of
`PatternRewriteWalker(GreedyRewritePatternApplier(...))`, and `set_locations` or `fuse_locations` where ops are built
directly. `fill_locations` repairs what a pass of xDSL's left unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    FusedLoc,
    LocationAttr,
    NoneAttr,
)
from xdsl.ir import Attribute, Block, Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.utils.exceptions import PassFailedException

from aicc.transforms.diagnostics import LocatedError, LocatedPassError

_MOST_FUSED = 64
"""Fused locations longer than this are cut, so that repeated fusion stays linear."""


def set_locations(ops: Iterable[Operation], location: LocationAttr) -> None:
    """Gives `location` to each of `ops`, and to the ops in them, that has none."""
    for op in ops:
        for inner in op.walk():
            if inner.location == UNKNOWN_LOC:
                inner.location = location


def fuse_locations(locations: Iterable[LocationAttr]) -> LocationAttr:
    """The location of something made from several: `fused[...]` of the different known ones, in order."""
    parts: dict[Attribute, None] = {}
    for location in locations:
        fused = cast(ArrayAttr[Attribute], location.locations).data if isinstance(location, FusedLoc) else (location,)
        for part in fused:
            if part != UNKNOWN_LOC:
                parts[part] = None
    found = tuple(parts)[:_MOST_FUSED]
    if len(found) > 1:
        return FusedLoc(found, NoneAttr())
    # A part of a fused location is itself a location, by that attribute's verifier.
    return cast(LocationAttr, found[0]) if found else UNKNOWN_LOC


@dataclass(frozen=True)
class _LocatedPattern(RewritePattern):
    """Runs `pattern`; ops that it inserts take the matched op's location, and so do its errors."""

    pattern: RewritePattern

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        location = op.location
        if location == UNKNOWN_LOC:
            self.pattern.match_and_rewrite(op, rewriter)
            return

        def inserted(new_op: Operation) -> None:
            set_locations((new_op,), location)

        rewriter.operation_insertion_handler.append(inserted)
        try:
            self.pattern.match_and_rewrite(op, rewriter)
        except LocatedError:
            raise
        except PassFailedException as error:
            raise LocatedPassError(str(error), location) from error
        finally:
            rewriter.operation_insertion_handler.remove(inserted)


def located_walker(
    *patterns: RewritePattern,
    apply_recursively: bool = True,
    walk_reverse: bool = False,
    walk_regions_first: bool = False,
    dce_enabled: bool = False,
    listener: PatternRewriterListener | None = None,
) -> PatternRewriteWalker:
    """A `PatternRewriteWalker` over `patterns`, tried in order, that keeps locations."""
    pattern = patterns[0] if len(patterns) == 1 else GreedyRewritePatternApplier(list(patterns))
    if dce_enabled:
        pattern = GreedyRewritePatternApplier(list(patterns), dce_enabled=True)
    return PatternRewriteWalker(
        _LocatedPattern(pattern),
        apply_recursively=apply_recursively,
        walk_reverse=walk_reverse,
        walk_regions_first=walk_regions_first,
        listener=PatternRewriterListener() if listener is None else listener,
    )


def fill_locations(root: Operation) -> None:
    """
    Gives each op in `root` without a location one from nearby: of a user of its results, else of the op that defines an
    operand, else of the op around it. For ops that a pass inserted without one, this is where they were put to use.
    """
    unknown = [op for op in root.walk() if op.location == UNKNOWN_LOC]
    # Users before definitions, so that a chain of new ops takes the location of the known op at its end.
    for op in reversed(unknown):
        op.location = _user_location(op)
    for op in unknown:
        if op.location == UNKNOWN_LOC:
            op.location = _operand_location(op)
        if op.location == UNKNOWN_LOC and (parent := op.parent_op()) is not None:
            op.location = parent.location


def _user_location(op: Operation) -> LocationAttr:
    for result in op.results:
        for use in result.uses:
            if use.operation.location != UNKNOWN_LOC:
                return use.operation.location
    return UNKNOWN_LOC


def _operand_location(op: Operation) -> LocationAttr:
    for operand in op.operands:
        owner = operand.owner
        if not isinstance(owner, Block) and owner.location != UNKNOWN_LOC:
            return owner.location
    return UNKNOWN_LOC
