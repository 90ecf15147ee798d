"""
`convert-tensor-ops-to-loops`: kernels become plain loop nests, `@main` calls them over memrefs.

Assumes: kernels are outlined (`func.func` with `aicc.kernel`) and no op of the `graph` level is left.
Guarantees: no op of `tensor_ops` and no tensor is left.

The calling convention of this level: a function has no results. Its arguments are the values of its symbols (index, in
the order of `aicc.symbols`), then its inputs, then the buffers for its results; `aicc.num_outputs` counts those. A
callee reads its inputs and writes every element of its outputs, which overlap neither each other nor the inputs.
A kernel that replaces elements of an
argument (`tensor_ops_to_loops_updates`) gets its data in the buffer of the result instead.
Tensors become row-major memrefs of the signless element type. A result that is also an input, a constant or another
result is copied. `@main` gets the attribute `aicc.signature`. It has no argument for a result whose size data defines:
that is the pooled buffer `output <k>`.

Before: func.func private @k(%x: tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>>
After:  func.func private @k(%s0: index, %x: memref<?xf32, #loops.dims<s0>>, %out: memref<?xf32, #loops.dims<s0>>)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import SymExpr, dims_of, is_tensor, symbols_of
from aicc.dialects.loops.defined_sizes import OUTPUT
from aicc.dialects.loops.functions import KERNEL, NUM_OUTPUTS, SYMBOLS, symbol_names, symbols_attr
from aicc.dialects.tensor_ops.body_ops import ExtractOp, SizeOp
from aicc.dialects.tensor_ops.defined_sizes import CheckSizesOp, DefineSizeOp
from aicc.dialects.tensor_ops.ops import CallOp, ConstantOp, ViewOp
from aicc.lowering.signature import MAIN, SIGNATURE, signature_attr
from aicc.lowering.tensor_ops_to_loops_blocks import BlockConverter, Pooled, Target, buffer_of, buffer_type
from aicc.lowering.tensor_ops_to_loops_nests import Emitter
from aicc.lowering.tensor_ops_to_loops_ops import LOWERED
from aicc.lowering.tensor_ops_to_loops_updates import updated_arguments
from aicc.transforms.diagnostics import LocatedPassError, fail, note

_KNOWN = (*LOWERED, CallOp, ConstantOp, ViewOp, ExtractOp, SizeOp, DefineSizeOp, CheckSizesOp, scf.IfOp, scf.WhileOp)
_TERMINATORS = (func.ReturnOp, scf.YieldOp, scf.ConditionOp)


def symbols_of_function(function: func.FuncOp) -> tuple[str, ...]:
    """The symbols in `aicc.symbols`, else those in the types of the arguments in order of appearance."""
    if SYMBOLS in function.attributes:
        return symbol_names(function)
    found: dict[str, None] = {}
    for type in function.function_type.inputs.data:
        for dim in dims_of(type) if is_tensor(type) else ():
            if isinstance(dim, SymExpr):
                found.update(dict.fromkeys(dim.symbols()))
    return tuple(found)


def convert_function(function: func.FuncOp, updates: Mapping[str, Mapping[int, int]]) -> func.FuncOp:
    """
    The loops-level function for one at the tensor_ops level, which is left as it is. `updates` are the
    `updated_arguments` of the module's kernels, by name.

    Raises:
        LocatedPassError: for an argument or result that is no tensor.
    """
    symbols = symbols_of_function(function)
    types = function.function_type
    for type in (*types.inputs.data, *types.outputs.data):
        if not is_tensor(type):
            fail(function, f"@{function.sym_name.data} has an argument or result of type {type}, expected tensors")
    allocated = allocated_outputs(function, symbols)
    own: Mapping[int, int] = updates.get(function.sym_name.data) or {}
    source = function.body.block
    read = [argument for argument in source.args if argument.index not in own.values()]
    given = [position for position in range(len(types.outputs.data)) if position not in allocated]
    inputs = [buffer_type(argument.type) for argument in read]
    outputs = [buffer_type(types.outputs.data[position]) for position in given]
    arguments: list[Attribute] = [*([IndexType()] * len(symbols)), *inputs, *outputs]
    entry = Block(arg_types=arguments)
    _name_arguments(read, symbols, entry.args)
    emitter = Emitter(entry, dict(zip(symbols, entry.args, strict=False)))
    memrefs = dict[SSAValue, SSAValue](zip(read, entry.args[len(symbols) :], strict=False))
    filled = dict[int, Target](zip(given, entry.args[len(symbols) + len(inputs) :], strict=True))
    filled.update({position: Pooled(f"{OUTPUT}{position}") for position in allocated})
    memrefs.update({source.args[argument]: buffer_of(filled[result]) for result, argument in own.items()})
    BlockConverter(emitter, memrefs, updates).convert_function_body(source, [filled[k] for k in range(len(filled))])
    result = func.FuncOp(
        function.sym_name.data, FunctionType.from_lists(arguments, []), Region(entry), function.sym_visibility
    )
    result.attributes = _attributes(function, symbols, len(outputs))
    result.location = function.location
    return result


def allocated_outputs(function: func.FuncOp, symbols: Sequence[str]) -> list[int]:
    """
    The results of `@main` whose sizes data defines, so that it must find memory for them itself.

    Raises:
        LocatedPassError: if a size names a symbol that is neither one of the function's nor defined in its block.
    """
    defined = set[str]()
    if function.sym_name.data == MAIN and KERNEL not in function.attributes:
        defined.update(op.symbol.data for op in function.body.block.ops if isinstance(op, DefineSizeOp))
    found: list[int] = []
    for position, type in enumerate(function.function_type.outputs.data):
        names = set(symbols_of(dims_of(type))) - set(symbols)
        if names:
            found.append(position)
        for unknown in sorted(names - defined):
            dim = next(dim for dim in dims_of(type) if unknown in symbols_of([dim]))
            fail(
                function,
                f"result {position} of @{function.sym_name.data} has size {dim}, but no input tells what {unknown} "
                "is; expected symbols that occur in the inputs' types",
            )
    return found


def _name_arguments(
    inputs: Sequence[BlockArgument], symbols: Sequence[str], arguments: Sequence[BlockArgument]
) -> None:
    count = len(arguments) - len(symbols) - len(inputs)
    outputs = ["out"] if count == 1 else [f"out{position}" for position in range(count)]
    hints = [*symbols, *(argument.name_hint for argument in inputs), *outputs]
    for argument, hint in zip(arguments, hints, strict=True):
        argument.name_hint = hint if hint is None or SSAValue.is_valid_name(hint) else None


def _attributes(function: func.FuncOp, symbols: Sequence[str], outputs: int) -> dict[str, Attribute]:
    attributes = dict(function.attributes)
    attributes[SYMBOLS] = symbols_attr(symbols)
    attributes[NUM_OUTPUTS] = IntegerAttr(outputs, i64)
    if function.sym_name.data == MAIN and KERNEL not in attributes:
        attributes[SIGNATURE] = signature_attr(function, symbols)
    return attributes


def check_lowerable(module: ModuleOp) -> None:
    """
    Raises:
        LocatedPassError: that lists all ops which this step does not lower.
    """
    found: Counter[str] = Counter()
    first: Operation | None = None
    for function in module.body.block.ops:
        if not isinstance(function, func.FuncOp) or not function.body.blocks:
            continue
        for op in _outside_bodies(function):
            if isinstance(op, (*_KNOWN, *_TERMINATORS)) or not _touches_tensors(op):
                continue
            found[op.name] += 1
            first = op if first is None else first
    if first is not None:
        names = ", ".join(f"{name} (x{count})" for name, count in sorted(found.items()))
        raise LocatedPassError(f"not lowered: {names}", first.location, (note("the first of them", first),))


def _outside_bodies(function: func.FuncOp) -> list[Operation]:
    """The ops of a function but those in the scalar bodies of others."""
    ops: list[Operation] = []
    pending = [function.body]
    while pending:
        for block in pending.pop().blocks:
            for op in block.ops:
                ops.append(op)
                if isinstance(op, scf.IfOp | scf.WhileOp):
                    pending += op.regions
    return ops


def _touches_tensors(op: Operation) -> bool:
    dialect = op.name.partition(".")[0]
    return dialect in ("graph", "tensor_ops") or any(is_tensor(value.type) for value in (*op.operands, *op.results))


@dataclass(frozen=True)
class ConvertTensorOpsToLoopsPass(ModulePass):
    """Lowers kernels to plain loop nests and `@main` to calls over memrefs."""

    name = "convert-tensor-ops-to-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_lowerable(op)
        functions = [f for f in op.body.block.ops if isinstance(f, func.FuncOp) and f.body.blocks]
        calls: dict[str, list[CallOp]] = {}
        for call in op.walk():
            if isinstance(call, CallOp):
                calls.setdefault(call.callee.string_value(), []).append(call)
        named = {f.sym_name.data: f for f in functions}
        updates = {name: found for name, f in named.items() if (found := updated_arguments(f, calls.get(name, ())))}
        for function in functions:
            self._replace(function, updates)

    def _replace(self, function: func.FuncOp, updates: Mapping[str, Mapping[int, int]]) -> None:
        block = function.parent
        assert block is not None
        try:
            converted = convert_function(function, updates)
        except VerifyException as error:
            fail(function, f"@{function.sym_name.data} cannot be lowered: {error}")
        block.insert_op_before(converted, function)
        function.detach()
        function.erase(safe_erase=False)
