"""
`graph-simplify-control`: loops carry what changes and is read, branches give what is read.

Before: %r, %w2 = graph.while %x, %w while { .. } do {
        ^bb0(%s: .., %u: ..):
          %n = graph.add %s, %u
          graph.yield %n, %u } : ..
After:  %r = graph.while %x while { .. } do {
        ^bb0(%s: ..):
          %n = graph.add %s, %w
          graph.yield %n } : ..

- A carried value that each iteration leaves as it is, is what it was before the loop, also behind it.
- A carried value that is not read behind the loop, in its condition, or for one that is, is gone.
- A result of an `if` that is not read is gone, and one that is the same value in both branches is that.

The symbols that a loop or branch defines stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.graph.control import IfOp, WhileOp, YieldOp
from aicc.dialects.graph.interfaces import set_type
from aicc.transforms.graph_functions import main_functions
from aicc.transforms.graph_unused import erase_unused, is_pure, is_unused


@dataclass(frozen=True)
class GraphSimplifyControlPass(ModulePass):
    """Removes what loops carry and branches give for nothing."""

    name = "graph-simplify-control"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Simplifies in one function, until nothing changes: what one op gives up, another may have needed alone."""
        changed = True
        while changed:
            changed = False
            for op in list(func.walk(reverse=True)):
                if isinstance(op, IfOp | WhileOp):
                    changed = simplify(op) or changed


def simplify(op: IfOp | WhileOp) -> bool:
    """Whether a loop or branch, which may be gone afterwards, was changed."""
    if op.parent is None:
        return False
    if is_unused(op):
        erase_unused(op)
        return True
    return simplify_if(op) if isinstance(op, IfOp) else simplify_while(op)


def _last(region: Region) -> YieldOp:
    last = region.block.last_op
    assert isinstance(last, YieldOp)
    return last


def simplify_if(op: IfOp) -> bool:
    """Whether results were removed."""
    ends = _last(op.then_region), _last(op.else_region)
    for a, b, result in zip(*(end.values for end in ends), op.results, strict=True):
        if a is b and a.type == result.type:
            result.replace_all_uses_with(a)
    kept = [k for k, result in enumerate(op.results) if result.first_use is not None]
    if len(kept) == len(op.results):
        return False
    for end in ends:
        _keep_yielded(end, kept)
    then_region, else_region = (op.detach_region(region) for region in list(op.regions))
    types = [op.result_types[k] for k in kept]
    new = IfOp(op.condition, then_region, else_region, types)
    _replace(op, new, kept)
    return True


def simplify_while(op: WhileOp) -> bool:
    """Whether carried values were removed."""
    end, (before, after) = _last(op.body_region), (op.condition_region.block, op.body_region.block)
    needed = _needed(op)
    kept: list[int] = []
    for k, (first, argument, following) in enumerate(zip(op.inputs, after.args, end.values, strict=True)):
        stays = following in (argument, first) and first.type == argument.type == op.results[k].type
        if stays:
            for value in (argument, before.args[k], op.results[k]):
                value.replace_all_uses_with(first)
        elif k in needed:
            kept.append(k)
    if len(kept) == len(op.inputs):
        return False
    _keep_yielded(end, kept)
    for block in (before, after):
        for argument in [argument for argument in block.args if argument.index not in kept]:
            _erase_readers(argument)
            block.erase_arg(argument)
    inputs = [op.inputs[k] for k in kept]
    condition, body = (op.detach_region(region) for region in list(op.regions))
    new = WhileOp(inputs, condition, body)
    _replace(op, new, kept)
    return True


def _keep_yielded(end: YieldOp, kept: Sequence[int]) -> None:
    end.operands = [end.values[k] for k in kept]


def _replace(op: IfOp | WhileOp, new: IfOp | WhileOp, kept: Sequence[int]) -> None:
    """Puts `new`, whose results are some of those of `op`, in its place; with its types, properties and location."""
    new.properties = dict(op.properties)
    new.attributes = dict(op.attributes)
    new.location = op.location
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    for result, k in zip(new.results, kept, strict=True):
        set_type(result, op.results[k].type)
        result.name_hint = op.results[k].name_hint
        op.results[k].replace_all_uses_with(result)
    op.detach()
    op.erase()


def _needed(op: WhileOp) -> set[int]:
    """The carried values that something reads which is read itself."""
    end, arguments = _last(op.body_region), op.body_region.block.args
    needed = {
        k
        for k, (result, argument) in enumerate(zip(op.results, op.condition_region.block.args, strict=True))
        if result.first_use is not None or argument.first_use is not None
    }
    pending = [operand for inner in op.body_region.block.ops if not is_pure(inner) for operand in _read_by(inner)]
    pending += [end.values[k] for k in needed]
    seen = set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument) and value in arguments:
            if value.index not in needed:
                needed.add(value.index)
                pending.append(end.values[value.index])
        elif isinstance(value, OpResult):
            pending += _read_by(value.op)
    return needed


def _read_by(op: Operation) -> list[SSAValue]:
    return [operand for inner in op.walk() for operand in inner.operands]


def _erase_readers(argument: BlockArgument) -> None:
    """Removes the ops of a block that read an argument which is not needed: none of their results is."""
    block = argument.block
    found: dict[Operation, None] = {}
    pending = [use.operation for use in argument.uses]
    while pending:
        op = block.find_ancestor_op_in_block(pending.pop())
        assert op is not None
        if op not in found:
            found[op] = None
            pending += [use.operation for result in op.results for use in result.uses]
    for op in found:
        op.detach()
    for op in found:
        op.erase(safe_erase=False)
