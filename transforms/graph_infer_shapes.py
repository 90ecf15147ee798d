"""
`graph-infer-shapes`: gives every value the best type that is known, and lists what must be checked at run time.

Before: %r = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?xf32, #graph.dims<M>>
After:  %r = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<4xf32>
        and on the function  aicc.checks = [["N", "4", "graph.add: size N of axis 0 does not match 4"]]

A size is taken from the op's own inference; one that is only declared is kept where it is a constant and the inferred
one is not. Result types of functions follow those of the values they return. A check that names a symbol which data
defines, and one in the region of an op, which may not be run, becomes a `graph.check_sizes` before its op.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from aicc.dialects.graph.defined_sizes import CheckSizesOp
from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.graph.dims import Dim, check_tensor_type, dims_of, is_tensor, symbols_of, tensor_type
from aicc.dialects.graph.interfaces import Check, OpBuilder, TypedOp, may_be_same_type, set_type
from aicc.dialects.graph.size_bounds import symbol_bounds
from aicc.transforms.diagnostics import fail, location_names
from aicc.transforms.graph_functions import main_functions, return_op

CHECKS_ATTRIBUTE = "aicc.checks"
"""Attribute of a function: triples of two sizes that must be equal when it runs, and what is wrong otherwise."""


@dataclass(frozen=True)
class GraphInferShapesPass(ModulePass):
    """Infers the types of all values of the graph level and lists the checks that are left to the run."""

    name = "graph-infer-shapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Infers within one function."""
        for argument in func.body.block.args:
            if is_tensor(argument.type):
                _check_type(func, argument.type)
        typed = [op for op in func.walk(region_first=True) if isinstance(op, TypedOp)]
        for op in typed:
            infer_op(op)
        _update_result_types(func)
        _record_checks(func, typed)


def _check_type(op: Operation, type: Attribute) -> None:
    try:
        check_tensor_type(type)
    except VerifyException as error:
        fail(op, str(error))


def infer_op(op: TypedOp) -> None:
    """
    Gives the results of `op` the best types known.

    Raises:
        LocatedPassError: if the types of the operands break a rule of the op, or contradict a result.
    """
    try:
        inferred = op.infer_types()
    except VerifyException as error:
        fail(op, f"'{op.name}' op {error}")
    for result, type in zip(op.results, inferred, strict=True):
        if result.type != type:
            if not may_be_same_type(result.type, type):
                fail(op, f"'{op.name}' op result has type {result.type}, but {type} is inferred")
            set_type(result, refined(result.type, type))


def refined(declared: Attribute, inferred: Attribute) -> Attribute:
    """The inferred type, with constant sizes of the declared one where the inferred ones are symbolic."""
    if not is_tensor(declared) or not is_tensor(inferred):
        return inferred
    dims = [
        a if isinstance(a, int) and not isinstance(b, int) else b
        for a, b in zip(dims_of(declared), dims_of(inferred), strict=True)
    ]
    return tensor_type(dims, inferred.element_type)


def _update_result_types(function: FuncOp) -> None:
    returned = [value.type for value in return_op(function).arguments]
    if list(function.function_type.outputs.data) != returned:
        inputs = function.function_type.inputs.data
        function.properties["function_type"] = FunctionType.from_lists(inputs, returned)


def _record_checks(function: FuncOp, ops: Iterable[TypedOp]) -> None:
    defined = symbol_bounds(function).keys()
    entry = function.body.block
    checks: dict[tuple[Dim, Dim], Check] = {}
    inside: list[tuple[Operation, Check]] = []
    for op in ops:
        for check in op.runtime_checks():
            if op.parent is not entry:
                inside.append((op, check))
            elif defined and not defined.isdisjoint(symbols_of((check.lhs, check.rhs))):
                _check_while_running(op, check)
            else:
                checks.setdefault((check.lhs, check.rhs), replace(check, text=_with_node(op, check.text)))
    for op, check in inside:
        # What is checked before the run starts need not be checked again.
        if (check.lhs, check.rhs) not in checks:
            _check_while_running(op, check)
    function.attributes.pop(CHECKS_ATTRIBUTE, None)
    if checks:
        function.attributes[CHECKS_ATTRIBUTE] = checks_attr(list(checks.values()))


def _with_node(op: Operation, text: str) -> str:
    """`text`, with the node of the source model that it is about."""
    names = location_names(op.location)
    return f"node '{names[-1]}': {text}" if names else text


def _check_while_running(op: Operation, check: Check) -> None:
    """Puts the check before `op`, unless it stands there already."""
    before = op.prev_op
    while isinstance(before, CheckSizesOp):
        if before.sizes == (check.lhs, check.rhs):
            return
        before = before.prev_op
    OpBuilder.before(op).insert(CheckSizesOp(check.lhs, check.rhs, check.text))


def checks_attr(checks: Sequence[Check]) -> ArrayAttr[ArrayAttr[StringAttr]]:
    """`checks` as the attribute `aicc.checks`."""
    return ArrayAttr(
        ArrayAttr([StringAttr(str(check.lhs)), StringAttr(str(check.rhs)), StringAttr(check.text)]) for check in checks
    )


def checks_of(function: FuncOp) -> list[tuple[Dim, Dim]]:
    """The pairs of sizes in `aicc.checks` of a function: they are equal where it runs."""
    found = function.attributes.get(CHECKS_ATTRIBUTE)
    if not isa(found, ArrayAttr[ArrayAttr[StringAttr]]):
        return []
    return [(parse_dim(lhs.data), parse_dim(rhs.data)) for lhs, rhs, _ in found]
