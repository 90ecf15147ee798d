"""
Functions and what they are called with.

A kernel takes its symbols (`i64`), its buffers (bare pointers that do not alias) and the number of threads. `@main` and
`@prepare` take a table of pointers, the values of the symbols, and the number of threads; what a pointer stands for is
listed under `buffers` in `aicc.signature`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from aicc.dialects.graph.buffers import BufferAttr
from aicc.dialects.graph.dims import Dim, parse_dim, symbols_of
from aicc.dialects.graph.symbolic import dim_prod
from aicc.dialects.loops.access import StoreOp, lanes_of
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.call import CallOp as KernelCallOp
from aicc.dialects.loops.functions import KERNEL, num_outputs, symbol_names
from aicc.dialects.loops.memory import AllocOp, ConstantOp, CopyOp, PreparedOp, ViewOp
from aicc.lowering.loops_to_llvm_buffers import ModuleState
from aicc.lowering.loops_to_llvm_emit import POINTER, Buffer, byte_size, register_type
from aicc.lowering.loops_to_llvm_index import ZERO
from aicc.lowering.loops_to_llvm_memory import lower_alloc
from aicc.lowering.loops_to_llvm_values import FunctionLowering
from aicc.transforms.diagnostics import fail

SIGNATURE = "aicc.signature"
ARENA = "aicc.arena"
PROFILE = "aicc.profile"
ENTRY_POINTS = ("main", "prepare")


class Function(FunctionLowering):
    """A function of a module with the state that its functions share."""

    def __init__(
        self,
        entry: Block,
        name: str,
        threads: SSAValue | None,
        state: ModuleState,
        defined: Mapping[str, func.FuncOp],
    ):
        super().__init__(entry, name, threads)
        self.state = state
        self.masked_bytes = state.masked_bytes
        self.defined = defined
        """Functions of the module by name."""
        self.table: SSAValue | None = None
        """The pointer table, in an entry point."""
        self.sizes: SSAValue | None = None
        """The address of the values of the symbols, in an entry point."""
        self.call_state: SSAValue | None = None
        """The address of the state of the call, once it has been read."""
        self.outlined: list[Operation] = []
        """Functions split off this one."""
        self.arenas = 0
        self.parallel_bodies = 0


def read_signature(main: func.FuncOp | None) -> dict[str, Any]:
    """`aicc.signature` of `@main`, or one made of its arguments for IR written by hand."""
    if main is None:
        return {}
    if isinstance(given := main.attributes.get(SIGNATURE), StringAttr):
        try:
            return json.loads(given.data)
        except ValueError as error:
            fail(main, f"{SIGNATURE} is no JSON: {error}")
    from aicc.dialects.graph.dtypes import numpy_dtype

    arguments = _arguments(main)
    memrefs = [pair for pair in arguments if isinstance(pair[0], MemRefType) and not {ARENA, PROFILE} & pair[1].keys()]
    outputs = num_outputs(main) or min(1, len(memrefs))
    tensors: list[dict[str, Any]] = []
    for position, (type_, attrs) in enumerate(memrefs):
        place = position - (len(memrefs) - outputs)
        default = f"input{position}" if place < 0 else f"output{place}"
        name = attrs.get("aicc.name")
        memref = cast(MemRefType[Attribute], type_)
        tensors.append(
            {
                "name": name.data if isinstance(name, StringAttr) else default,
                "dtype": numpy_dtype(memref.element_type).name,
                "dims": [str(dim) for dim in memref_dims(memref)],
            }
        )
    count = len(tensors) - outputs
    return {
        "version": 1,
        "symbols": list(symbol_names(main)),
        "inputs": tensors[:count],
        "outputs": tensors[count:],
        "checks": [],
    }


def _arguments(op: func.FuncOp) -> list[tuple[Attribute, Mapping[str, Attribute]]]:
    """Type and attributes of each argument."""
    types = op.function_type.inputs.data
    given = op.arg_attrs.data if op.arg_attrs is not None else ()
    return [(type_, given[index].data if index < len(given) else {}) for index, type_ in enumerate(types)]


def bytes_of(type_: MemRefType[Any]) -> Dim:
    """The size of a buffer."""
    return dim_prod([*memref_dims(type_), byte_size(type_.element_type)])


def lower_function(
    op: func.FuncOp,
    state: ModuleState,
    defined: Mapping[str, func.FuncOp],
    body: Callable[[Function], None],
) -> list[Operation]:
    """The `llvm.func` of a function, after what was split off it."""
    name = op.sym_name.data
    if not op.body.blocks:
        return [declaration(op)]
    if name in ENTRY_POINTS:
        return _lower_entry_point(op, state, defined, body)
    arguments = _arguments(op)
    types = [_argument_type(op, type_) for type_, _ in arguments]
    block = Block(arg_types=[*types, i64])
    fn = Function(block, name, block.args[-1], state, defined)
    fn.location = op.location
    _bind_symbols(fn, op, block)
    for argument, value in zip(op.args, block.args, strict=False):
        if argument in fn.values:
            continue
        if isinstance(argument.type, IndexType):
            fn.values[argument] = fn.atom(value, 0)
        elif isinstance(argument.type, MemRefType):
            fn.values[argument] = fn.buffer_at(value, memref_of(argument), 0)
        else:
            fn.take([argument], [value])
    body(fn)
    written = _written(op)
    attributes = [
        _pointer_attributes(memref_of(argument), argument in written)
        if isinstance(argument.type, MemRefType)
        else DictionaryAttr({})
        for argument in op.args
    ]
    results = [register_type(type_) for type_ in op.function_type.outputs.data]
    made = _function(name, [*types, i64], [*attributes, DictionaryAttr({})], fn.finish(), results)
    made.location = op.location
    return [*fn.outlined, made]


def _argument_type(op: func.FuncOp, type_: Attribute) -> Attribute:
    if isinstance(type_, MemRefType):
        return POINTER
    if lanes_of(type_):
        fail(op, f"@{op.sym_name.data} has an argument of type {type_}, expected scalars, indices and memrefs")
    return register_type(type_)


def _bind_symbols(fn: Function, op: func.FuncOp, block: Block) -> None:
    for symbol, argument, value in zip(symbol_names(op), op.args, block.args, strict=False):
        fn.symbols[symbol] = fn.values[argument] = fn.atom(value, 0, 0)


def _pointer_attributes(type_: MemRefType[Any], written: bool) -> DictionaryAttr:
    attributes: dict[str, Attribute] = {
        "llvm.noalias": UnitAttr(),
        "llvm.align": IntegerAttr(byte_size(type_.element_type), 64),
    }
    if not written:
        attributes["llvm.readonly"] = UnitAttr()
    return DictionaryAttr(attributes)


def _written(op: func.FuncOp) -> set[SSAValue]:
    """The arguments whose memory the function may write, itself or through functions that it calls."""
    sources: dict[SSAValue, SSAValue] = {}
    written: set[SSAValue] = set()
    for inner in op.body.walk():
        if isinstance(inner, ViewOp):
            sources[inner.result] = inner.source
        elif isinstance(inner, StoreOp):
            written.add(inner.memref)
        elif isinstance(inner, CopyOp):
            written.add(inner.target)
        elif inner.regions == () and inner.name == "func.call":
            written.update(inner.operands)
        elif inner.name.startswith("scf.") or inner.name.startswith("cf."):
            # A memref that is handed on may be written under another name.
            written.update(operand for operand in inner.operands if isinstance(operand.type, MemRefType))
    for value in list(written):
        while value in sources:
            value = sources[value]
            written.add(value)
    return written


def _function(
    name: str,
    types: list[Attribute],
    attributes: list[DictionaryAttr],
    blocks: list[Block],
    results: list[Attribute],
    linkage: str = "external",
) -> base.FuncOp:
    output = results[0] if results else base.LLVMVoidType()
    return base.FuncOp(
        name,
        base.LLVMFunctionType(types, output),
        linkage=base.LinkageAttr(linkage),
        body=Region(blocks),
        other_props={"arg_attrs": ArrayAttr(attributes), "no_unwind": UnitAttr()},
    )


def declaration(op: func.FuncOp) -> Operation:
    """The declaration of a function that is defined elsewhere; one that is lowered there also takes the threads."""
    types = [_argument_type(op, type_) for type_, _ in _arguments(op)]
    if op.body.blocks or KERNEL in op.attributes:
        types.append(i64)
    results = [register_type(type_) for type_ in op.function_type.outputs.data]
    output = results[0] if results else base.LLVMVoidType()
    made = base.FuncOp(op.sym_name.data, base.LLVMFunctionType(types, output), linkage=base.LinkageAttr("external"))
    made.location = op.location
    return made


def internal_function(name: str, types: list[Attribute], attributes: list[DictionaryAttr], fn: Function) -> base.FuncOp:
    """A function split off another one."""
    made = _function(name, types, attributes, fn.finish(), [], "internal")
    made.location = fn.location
    return made


# Entry points


def _lower_entry_point(
    op: func.FuncOp,
    state: ModuleState,
    defined: Mapping[str, func.FuncOp],
    body: Callable[[Function], None],
) -> list[Operation]:
    block = Block(arg_types=[POINTER, POINTER, i64])
    fn = Function(block, op.sym_name.data, block.args[2], state, defined)
    fn.location = op.location
    fn.table, fn.sizes = block.args[:2]
    names = symbol_names(op)
    for position, symbol in enumerate(names):
        address = fn.address(Buffer(block.args[1], 0, i64, (), (), None), ZERO, {(): position} if position else ZERO)
        fn.symbols[symbol] = fn.values[op.args[position]] = fn.atom(_load(fn, address, i64), 0, 0)
    # The table begins with the inputs and outputs in order.
    inputs = len(state.signature.get("inputs", ()))
    outputs = given_outputs(state.signature)
    seen = 0
    for argument, (type_, attributes) in list(zip(op.args, _arguments(op), strict=True))[len(names) :]:
        if not isinstance(type_, MemRefType):
            fail(op, f"@{op.sym_name.data} has an argument of type {type_}, expected symbols and memrefs")
        if ARENA in attributes:
            place = state.arena(fn.arenas, bytes_of(memref_of(argument)))
            fn.arenas += 1
        elif PROFILE in attributes:
            place = state.profile(bytes_of(memref_of(argument)), op.attributes.get(PROFILE))
        elif seen < inputs:
            place = state.slot({"kind": "input", "index": seen})
            seen += 1
        else:
            place = state.slot({"kind": "output", "index": outputs[seen - inputs]})
            seen += 1
        fn.values[argument] = fn.buffer_at(table_pointer(fn, place), memref_of(argument), 0)
    body(fn)
    made = _function(op.sym_name.data, [POINTER, POINTER, i64], [DictionaryAttr({})] * 3, fn.finish(), [])
    made.location = op.location
    return [*fn.outlined, made]


def given_outputs(signature: Mapping[str, Any]) -> list[int]:
    """The results that `@main` has an argument for, by position: all but those whose size data defines."""
    defined = set(signature.get("defined", ()))
    sizes = [[parse_dim(str(dim)) for dim in output["dims"]] for output in signature.get("outputs", ())]
    return [position for position, dims in enumerate(sizes) if defined.isdisjoint(symbols_of(dims))]


def _load(fn: Function, address: SSAValue, type_: Attribute) -> SSAValue:
    from aicc.dialects.llvm import memory

    return fn.emit(memory.LoadOp, (address,), type_, {"ordering": IntegerAttr(0, 64)}, 0)


def table_pointer(fn: Function, place: int) -> SSAValue:
    """The pointer at `place` of the table."""
    assert fn.table is not None
    address = fn.address(Buffer(fn.table, 0, i64, (), (), None), ZERO, {(): place} if place else ZERO)
    return _load(fn, address, POINTER)


def lower_constant(fn: Function, op: ConstantOp) -> None:
    """`loops.constant`: weights come from the table, small data is part of the code."""
    type_, value = memref_of(op.result), op.value
    if isinstance(value, BufferAttr):
        if fn.table is None:
            fn.not_lowered(op, "only @main and @prepare know weights; hand it to the kernel as an argument")
        place = fn.state.weight(value.data.name, value.data.file, kept=fn.name == "main")
        fn.values[op.result] = fn.buffer_at(table_pointer(fn, place), type_, 0)
        return
    assert isinstance(value, DenseIntOrFPElementsAttr)
    name = fn.state.constant(value, type_.element_type)
    pointer = fn.global_address(name)
    fn.values[op.result] = fn.buffer_at(pointer, type_, 0)


def lower_prepared(fn: Function, op: PreparedOp) -> None:
    """`loops.prepared`: a buffer of the table."""
    if fn.table is None:
        fn.not_lowered(op, "only @main and @prepare know prepared buffers; hand it to the kernel as an argument")
    type_ = memref_of(op.result)
    place = fn.state.slot({"kind": "prepared", "name": op.key.data, "bytes": str(bytes_of(type_))})
    fn.values[op.result] = fn.buffer_at(table_pointer(fn, place), type_, 0)


def lower_scratch(fn: Function, op: AllocOp) -> None:
    """`loops.alloc`: an arena of its own in an entry point, else stack memory."""
    if fn.table is None:
        lower_alloc(fn, op)
        return
    type_ = memref_of(op.result)
    place = fn.state.arena(fn.arenas, bytes_of(type_))
    fn.arenas += 1
    fn.values[op.result] = fn.buffer_at(table_pointer(fn, place), type_, 0)


def lower_call(fn: Function, op: func.CallOp) -> None:
    """`func.call`: functions of the module also take the number of threads."""
    name = op.callee.string_value()
    callee = fn.defined.get(name)
    if callee is None:
        fn.not_lowered(op, f"there is no function @{name}")
        return
    if len(op.results) > 1:
        fn.not_lowered(op, f"{len(op.results)} results, expected at most one scalar")
    operands = fn.flatten(op.arguments)
    if callee.body.blocks:
        operands.append(fn.integer(1) if fn.threads is None else fn.threads)
    results = [register_type(result.type) for result in op.results]
    call = base.CallOp(name, *operands, return_type=results[0] if results else None)
    call.location = fn.location
    fn.block.add_op(call)
    fn.take(op.results, call.results)


def lower_kernel_call(fn: Function, op: KernelCallOp) -> None:
    """`loops.call`: the kernel's arguments, then the number of threads."""
    operands = fn.flatten(op.arguments)
    operands.append(fn.integer(1) if fn.threads is None else fn.threads)
    call = base.CallOp(op.callee_name, *operands)
    call.location = fn.location
    fn.block.add_op(call)
