"""
Verification that says which op is wrong, and that every value is defined before it is used.

xDSL's own `Operation.verify` reports a broken op by printing the whole module, and does not look at the order of
definitions and uses.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import StringAttr, UnregisteredOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from aicc.transforms.diagnostics import LocatedVerifyError, note
from aicc.transforms.dominance import Dominance


def verify(root: Operation) -> None:
    """
    Checks `root` and all ops in it, innermost first.

    Raises:
        LocatedVerifyError: for the first op that breaks a rule.
    """
    for op in root.walk(region_first=True):
        _verify_op(op)
    _verify_order(root)


def _verify_op(op: Operation) -> None:
    if op.has_trait(SymbolTable):
        _verify_symbols(op)
    try:
        op.verify(verify_nested_ops=False)
        if op.successors and op.name.startswith("cf."):
            _verify_branch(op)
        for region in op.regions:
            for block in region.blocks:
                _verify_block(op, region, block)
    except Exception as error:
        if (cause := _verify_exception_in(error)) is None:
            raise
        text = tidy(str(cause)).removeprefix(f"operation {op.name} ").removeprefix(f"'{op.name}' ")
        raise LocatedVerifyError(f"'{_op_name(op)}' op {text}", op.location) from error


def _verify_exception_in(error: BaseException) -> VerifyException | None:
    """The verifier's own exception: xDSL prints the broken IR next, which may raise another one on top of it."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, VerifyException):
        found = found.__context__
    return found


def _verify_block(op: Operation, region: Region, block: Block) -> None:
    if block.last_op is None and len(region.blocks) == 1 and not op.has_trait(NoTerminator):
        raise VerifyException("has an empty block, expected at least a terminator")


def _op_name(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def tidy(text: str) -> str:
    """xDSL's messages in our form: on one line, lower case, without a final full stop."""
    line = " ".join(part.strip() for part in text.splitlines() if part.strip())
    first = line.partition(" ")[0]
    if first[:1].isupper() and first[1:].islower():
        line = line[:1].lower() + line[1:]
    return line.removesuffix(".").removesuffix("!")


def _verify_symbols(op: Operation) -> None:
    """Each symbol once per table. xDSL checks that too, but reports it at the table."""
    seen: dict[str, Operation] = {}
    for child in op.regions[0].block.ops if op.regions and op.regions[0].first_block is not None else ():
        name = child.get_attr_or_prop("sym_name")
        if not isinstance(name, StringAttr):
            continue
        if (first := seen.setdefault(name.data, child)) is not child:
            text = f"'{_op_name(child)}' op redefines symbol @{name.data}"
            raise LocatedVerifyError(text, child.location, (note("first defined here", first),))


def _verify_branch(op: Operation) -> None:
    """The operands of a `cf` branch fit the arguments of the blocks it goes to, which xDSL does not check."""
    from xdsl.dialects.cf import BranchOp, ConditionalBranchOp

    match op:
        case BranchOp():
            edges = ((op.successor, op.arguments),)
        case ConditionalBranchOp():
            edges = ((op.then_block, op.then_arguments), (op.else_block, op.else_arguments))
        case _:
            return
    for block, operands in edges:
        expected, found = block.arg_types, [operand.type for operand in operands]
        if list(expected) != found:
            to = f" to ^{block.name_hint}" if block.name_hint else ""
            raise VerifyException(f"passes{to} {_types(found)}, expected {_types(expected)}")


def _types(types: Iterable[Attribute]) -> str:
    return f"({', '.join(str(type) for type in types)})"


def _is_graph_region(region: Region) -> bool:
    """Regions without a terminator are lists of declarations, in which order carries no meaning."""
    parent = region.parent
    return parent is None or isinstance(parent, UnregisteredOp) or parent.has_trait(NoTerminator)


def _verify_order(root: Operation) -> None:
    """Each operand is defined before its use: earlier in the block, or in a block that dominates it."""
    dominance: dict[Region, Dominance] = {}
    visited = set[Operation]()
    for op in root.walk():
        visited.add(op)
        for index, operand in enumerate(op.operands):
            owner = operand.owner
            if isinstance(owner, Block):
                home, defined = owner, True
            elif owner.parent is not None:
                home, defined = owner.parent, owner in visited
            else:
                continue
            region = home.parent
            if region is None:
                continue
            user = _ancestor_in(op, region)
            if user is owner:
                defined = False
            elif user is not None and user.parent is not home and user.parent is not None:
                if region not in dominance:
                    dominance[region] = Dominance(region)
                defined = dominance[region].dominates(home, user.parent)
            if user is None or not (defined or _is_graph_region(region)):
                _raise_order(op, index, operand)


def _ancestor_in(op: Operation, region: Region) -> Operation | None:
    """`op` or the op around it that stands directly in `region`; None if `region` does not hold `op`."""
    found: Operation | None = op
    while found is not None and found.parent_region() is not region:
        found = found.parent_op()
    return found


def _raise_order(op: Operation, index: int, operand: SSAValue) -> None:
    name = f"%{operand.name_hint}" if operand.name_hint else f"#{index}"
    match operand:
        case OpResult(op=owner):
            notes = (note("defined here", owner),)
        case BlockArgument(block=block) if (parent := block.parent_op()) is not None:
            notes = (note("defined as a block argument in this op", parent),)
        case _:
            notes = ()
    text = f"'{_op_name(op)}' op operand {name} does not dominate this use"
    raise LocatedVerifyError(text, op.location, notes)
