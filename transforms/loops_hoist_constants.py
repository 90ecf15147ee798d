"""
`loops-hoist-constants`: kernels that read nothing but constants run once, in `@prepare`, and not each time in `@main`.

Before: func.func @main(...) {
          %w = loops.constant #graph.buffer<"w"> : memref<64x64xf32>
          %p = loops.alloc : memref<4x64x16xf32>
          loops.call @k_pack1(%w, %p) : ...
          loops.call @k(%x, %p, %y) : ...
After:  func.func @prepare() {
          %w = loops.constant #graph.buffer<"w"> : memref<64x64xf32>
          %p = loops.prepared "k_pack1.0" : memref<4x64x16xf32>
          loops.call @k_pack1(%w, %p) : ...
        func.func @main(...) {
          %p = loops.prepared "k_pack1.0" : memref<4x64x16xf32>
          loops.call @k(%x, %p, %y) : ...

A call moves if its inputs and sizes are constants, prepared buffers, or results of moved calls, and each buffer that it
fills is an allocation of known size which nothing else writes. Two calls that are alike become one. Buffers that only
moved calls read are allocations of `@prepare`. Everything else is left alone, and so are calls whose results are out of
all proportion to the weights: what a small constant is repeated to is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from aicc.dialects.graph.buffers import BufferAttr
from aicc.dialects.loops.access import LoadOp
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.call import CallOp
from aicc.dialects.loops.memory import AllocOp, ConstantOp, CopyOp, PreparedOp, SizeOp, ViewOp
from aicc.transforms.kernel_unit import EntryPointsPass
from aicc.transforms.loops_sizes import buffer_bytes

PREPARE = "prepare"

MOST_BYTES = 64 << 20
MOST_TIMES_WEIGHTS = 8
"""Results of moved calls may take this much, and this many times the bytes of all weights, together."""


Functions = Mapping[str, func.FuncOp]


def _known_bytes(value: SSAValue) -> int:
    size = buffer_bytes(value)
    return size if isinstance(size, int) else 0


def buffers_only_written_by(call: CallOp, buffers: Sequence[SSAValue], functions: Functions) -> bool:
    """Whether each buffer is an allocation of known size that only `call` writes, and nothing lets out of sight."""
    for buffer in buffers:
        if not isinstance(buffer.owner, AllocOp) or not memref_of(buffer).has_static_shape():
            return False
        if not _only_read_but_by(call, buffer, functions):
            return False
    return len(set(buffers)) == len(buffers)


def _only_read_but_by(call: CallOp, buffer: SSAValue, functions: Functions) -> bool:
    pending = [buffer]
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.operation
            match user:
                case ViewOp():
                    pending.append(user.result)
                case LoadOp():
                    pass
                case CopyOp():
                    if use.index != 0:
                        return False
                case CallOp():
                    written = use.index >= len(user.arguments) - user.num_written(functions[user.callee_name])
                    if written and (user is not call or value is not buffer):
                        return False
                case _:
                    return False
    return True


@dataclass
class Hoisting:
    """The moves from `main` to `prepare`."""

    main: func.FuncOp
    prepare: func.FuncOp
    functions: Functions
    moved: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Constant values of main and what they are in prepare."""

    calls: dict[tuple[object, ...], CallOp] = field(default_factory=dict[tuple[object, ...], CallOp])
    """Moved calls of main by callee and inputs."""

    spared: int = 0
    """Bytes of results that may still move."""

    hoisted: set[Operation] = field(default_factory=set[Operation])
    """Those calls."""

    filled: dict[SSAValue, CallOp] = field(default_factory=dict[SSAValue, CallOp])
    """Buffers of main that moved calls fill, in order."""

    def run(self) -> bool:
        """Moves what can be moved; whether there was anything."""
        ops = list(self.main.walk())
        weights = sum(_known_bytes(op.result) for op in ops if isinstance(op, ConstantOp))
        self.spared = MOST_BYTES + MOST_TIMES_WEIGHTS * weights
        for op in ops:
            if isinstance(op, CallOp):
                self._try_call(op)
        if not self.calls:
            return False
        for call in self.calls.values():
            call.detach()
        self._provide_results()
        for call in self.calls.values():
            call.erase()
        _erase_unused(self.main)
        return True

    def _try_call(self, call: CallOp) -> None:
        split = len(call.arguments) - call.num_written(self.functions[call.callee_name])
        inputs, outputs = call.arguments[:split], call.arguments[split:]
        if not outputs or not all(self._is_constant(value) for value in inputs):
            return
        if not buffers_only_written_by(call, outputs, self.functions):
            return
        key = (call.callee, *(self._identity(value) for value in inputs), *(output.type for output in outputs))
        if (same := self.calls.get(key)) is not None:
            for old, new in zip(outputs, same.arguments[split:], strict=True):
                old.replace_uses_with_if(new, lambda use: use.operation is not call)
            call.detach()
            call.erase()
            return
        size = sum(map(_known_bytes, outputs))
        if size > self.spared:
            return
        # What only moved calls read is gone when `@prepare` is.
        for value in {value for value in inputs if value in self.filled}:
            if all(use.operation in self.hoisted for use in value.uses if use.operation is not call):
                self.spared += _known_bytes(value)
        self.spared -= size
        self.calls[key] = call
        self.hoisted.add(call)
        self.filled.update(dict.fromkeys(outputs, call))

    def _is_constant(self, value: SSAValue) -> bool:
        while isinstance(view := value.owner, ViewOp) and (view.offset is None or self._is_constant(view.offset)):
            value = view.source
        owner = value.owner
        if isinstance(owner, SizeOp):
            return isinstance(owner.dim, int)
        return isinstance(owner, ConstantOp | PreparedOp | arith.ConstantOp) or value in self.filled

    def _identity(self, value: SSAValue) -> object:
        """Equal for values that hold the same constant."""
        owner = value.owner
        match owner:
            case ConstantOp(value=BufferAttr() as buffer):
                # Two buffers of one name may hold different data.
                return (id(buffer.data), value.type)
            case ConstantOp() | arith.ConstantOp():
                return (owner.value, value.type)
            case PreparedOp():
                return owner.key
            case SizeOp():
                return owner.dim
            case _:
                return value

    def _provide_results(self) -> None:
        """Rebuilds the calls in prepare; buffers that main still reads become prepared ones on both sides."""
        counts: dict[str, int] = {}
        end = self.prepare.body.block.last_op
        assert end is not None
        for buffer, call in self.filled.items():
            name, type = call.callee_name, memref_of(buffer)
            if self._read_in_main(buffer):
                counts[name] = counts.get(name, -1) + 1
                key = f"{name}.{counts[name]}"
                self._replace(buffer, PreparedOp(key, type))
                self._add(PreparedOp(key, type), end, buffer)
            else:
                self._add(AllocOp(type), end, buffer)
        for call in self.calls.values():
            copy = CallOp(call.callee, [self._in_prepare(value, end) for value in call.arguments])
            copy.attributes = dict(call.attributes)
            copy.location = call.location
            self.prepare.body.block.insert_op_before(copy, end)

    def _read_in_main(self, buffer: SSAValue) -> bool:
        pending = [buffer]
        while pending:
            for use in pending.pop().uses:
                if isinstance(use.operation, ViewOp):
                    pending.append(use.operation.result)
                elif use.operation not in self.hoisted:
                    return True
        return False

    def _replace(self, buffer: SSAValue, op: PreparedOp) -> None:
        alloc = buffer.owner
        assert isinstance(alloc, AllocOp)
        # At the start, because a use may stand before the allocation of the call that this one was merged with.
        entry = self.main.body.block
        first = entry.first_op
        assert first is not None
        op.location = alloc.location
        op.result.name_hint = buffer.name_hint
        entry.insert_op_before(op, first)
        buffer.replace_uses_with_if(op.result, lambda use: use.operation not in self.hoisted)

    def _add(self, op: Operation, end: Operation, old: SSAValue) -> SSAValue:
        assert isinstance(old, OpResult)
        op.location = old.op.location
        op.results[0].name_hint = old.name_hint
        block = end.parent
        assert block is not None
        block.insert_op_before(op, end)
        self.moved[old] = op.results[0]
        return op.results[0]

    def _in_prepare(self, value: SSAValue, end: Operation) -> SSAValue:
        """The value of prepare for a constant value of main, made there if need be."""
        if value not in self.moved:
            assert isinstance(value, OpResult)
            operands = [self._in_prepare(operand, end) for operand in value.op.operands]
            self._add(value.op.clone(dict(zip(value.op.operands, operands, strict=True))), end, value)
        return self.moved[value]


def _erase_unused(main: func.FuncOp) -> None:
    """Removes allocations, constants, sizes and views that nothing uses any more."""
    for op in reversed(list(main.walk())):
        if isinstance(op, AllocOp | ConstantOp | PreparedOp | SizeOp | ViewOp) and not op.results[0].uses:
            op.detach()
            op.erase()


def empty_function(name: str) -> func.FuncOp:
    """A function without arguments that only returns."""
    return func.FuncOp(name, ((), ()), Region(Block([func.ReturnOp()])))


@dataclass(frozen=True)
class LoopsHoistConstantsPass(EntryPointsPass):
    """Moves calls that depend on constants alone from `@main` to `@prepare`."""

    name = "loops-hoist-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, func.FuncOp)}
        if (main := functions.get("main")) is None or not main.body.blocks:
            return
        if (prepare := functions.get(PREPARE)) is not None:
            Hoisting(main, prepare, functions).run()
            return
        prepare = empty_function(PREPARE)
        prepare.location = main.location
        if Hoisting(main, prepare, functions).run():
            op.body.block.insert_op_before(prepare, main)
