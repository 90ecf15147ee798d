"""
The ops of one function at the tensor_ops level over memrefs: who writes into which buffer.

Going through a block, each tensor gets a buffer. A tensor that the block ends with (a result of the function, a value
of `scf.yield`) is written into the buffer that waits for it, if an op of the block makes it and nothing else claims it,
also through views; otherwise it is copied there at the end.

`scf.if`: the results have buffers outside, which both branches fill. `scf.while`: each carried tensor has a buffer,
which the values for the next iteration are copied into at the end of each one, but for those that are made there by
an update of the value before.

A tensor whose size is known only when it has been made (symbols that `scf.if` and `scf.while` give values to) is looked
at anew wherever it is read: in the buffer of the largest size, or in the pooled buffer that it was written into. A
loop has two pooled buffers for such a tensor, which change names at the end of each iteration; one alone, which grows,
for a tensor that is only appended to.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import func, scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, is_tensor, provably_equal, symbols_of, tensor_of
from aicc.dialects.graph.dtypes import signless
from aicc.dialects.graph.size_bounds import Bounds, largest
from aicc.dialects.loops.access import LoadOp
from aicc.dialects.loops.attrs import AnyMemRef, memref_dims, memref_of, memref_type
from aicc.dialects.loops.call import CallOp
from aicc.dialects.loops.defined_sizes import CheckSizesOp, DefineSizeOp, ExchangeOp, ReservedOp, ReserveOp
from aicc.dialects.loops.memory import AllocOp, ConstantOp, CopyOp, ViewOp
from aicc.dialects.tensor_ops import defined_sizes as tensor_sizes
from aicc.dialects.tensor_ops import ops as tensor_ops
from aicc.dialects.tensor_ops.body_ops import ExtractOp, SizeOp
from aicc.dialects.tensor_ops.structured import StructuredOp
from aicc.lowering.tensor_ops_to_loops_nests import BodyEmitter, Emitter
from aicc.lowering.tensor_ops_to_loops_ops import LOWERED, lower_op, made_for_concat
from aicc.lowering.tensor_ops_to_loops_updates import updated_in_place

_PRODUCERS = (*LOWERED, tensor_ops.CallOp, scf.IfOp, scf.WhileOp)
"""Ops that write their results into buffers they are given."""


@dataclass(frozen=True)
class Pooled:
    """A buffer that is reserved under a name when its size is known."""

    key: str
    keeping: bool = False
    """Whether it holds the first part of what is to be written."""


Target = SSAValue | Pooled
"""Where a tensor is to be written."""


def buffer_type(type: Attribute) -> AnyMemRef:
    """The memref that holds a tensor of this type."""
    return memref_type(dims_of(type), signless(tensor_of(type).element_type))


def buffer_of(target: Target) -> SSAValue:
    """A target that is a buffer already."""
    assert not isinstance(target, Pooled)
    return target


def root_of(memref: SSAValue) -> SSAValue:
    """The buffer that a chain of views looks at."""
    while isinstance(view := memref.owner, ViewOp):
        memref = view.source
    return memref


class BlockConverter:
    """Converts blocks of one function; `buffers` maps tensors to the memrefs that hold them."""

    def __init__(self, emitter: Emitter, buffers: dict[SSAValue, SSAValue], updates: Mapping[str, Mapping[int, int]]):
        """`updates` are the `updated_arguments` of the kernels, by name."""
        self.emitter = emitter
        self.buffers = buffers
        self.updates = updates
        self.values: dict[SSAValue, SSAValue] = {}
        """Values that are no tensors, and what they became."""

        self.targets: dict[SSAValue, Target] = {}
        """Tensors still to be made, and the buffers that wait for them."""

        self.unsized: dict[SSAValue, Target] = {}
        """Tensors whose size control flow tells, and where they are."""

        self.views: dict[SSAValue, SSAValue] = {}
        """Views of tensors that are not where they were when they are read: such buffers may have grown."""

        self._keys = 0

    def buffer(self, tensor: SSAValue) -> SSAValue:
        """The memref that holds a tensor."""
        if (viewed := self.views.get(tensor)) is not None:
            return self._view(self.buffer(viewed), buffer_type(tensor.type))
        match self.unsized.get(tensor):
            case None:
                return self.buffers[tensor]
            case Pooled(key=key):
                return self.emitter.value(ReservedOp(key, buffer_type(tensor.type)))
            case SSAValue() as memref:
                return self._view(memref, buffer_type(tensor.type))

    def _pooled(self) -> Pooled:
        """A pooled buffer of a new name."""
        self._keys += 1
        return Pooled(f"value {self._keys}")

    def convert_function_body(self, block: Block, outputs: Sequence[Target]) -> None:
        """Fills `outputs` with what the block returns, and ends the function."""
        self._convert_block(block, dict(enumerate(outputs)))
        self.emitter.add(func.ReturnOp())

    # Blocks

    def _convert_block(self, block: Block, outputs: Mapping[int, Target]) -> Operation:
        """
        Converts the ops of a block but its terminator, which is returned.

        `outputs` holds the buffers that wait for some of the terminator's operands, by position.
        """
        last = block.last_op
        assert last is not None
        placed = {
            position for position, target in outputs.items() if self._claim(last.operands[position], target, block)
        }
        for op in block.ops:
            if op is not last:
                with self.emitter.located(op):
                    self._convert(op)
        with self.emitter.located(last):
            for position, target in outputs.items():
                if position not in placed:
                    tensor = last.operands[position]
                    self._copy(self.buffer(tensor), self._memref(target, buffer_type(tensor.type)))
        return last

    def _claim(self, tensor: SSAValue, target: Target, block: Block) -> bool:
        """
        Has `tensor` written into `target` when it is made, if an op of `block` makes it.

        Not where it could be larger than the target: where the check that follows of sizes that data defines may fail,
        and where a loop makes it that changes its size.
        """
        made = tensor
        while isinstance(view := made.owner, tensor_ops.ViewOp) and view.parent is block:
            made = view.input
        owner = made.owner
        if made in self.targets or not isinstance(owner, _PRODUCERS) or owner.parent is not block:
            return False
        known = all(map(self.emitter.is_known, dims_of(made.type)))
        if not isinstance(target, Pooled) and not known:
            sizes = (dim_prod(dims_of(value.type)) for value in (made, tensor))
            grows = isinstance(owner, scf.WhileOp) and _names_any(made, _own_sizes(owner))
            if grows or not provably_equal(*sizes):
                return False
        if not isinstance(target, Pooled) and known:
            # At the start of the block, so that it does not stand between the loops.
            target = self._view(target, buffer_type(made.type))
        self.targets[made] = target
        return True

    def _memref(self, target: Target, type: AnyMemRef) -> SSAValue:
        """The buffer itself, for a tensor of this type."""
        if isinstance(target, Pooled):
            return self.emitter.value(ReserveOp(target.key, type, target.keeping))
        return self._view(target, type)

    def _copy(self, source: SSAValue, target: SSAValue) -> None:
        if source is not target:
            self.emitter.add(CopyOp(source, target))

    def _view(self, memref: SSAValue, type: AnyMemRef) -> SSAValue:
        return memref if memref.type == type else self.emitter.value(ViewOp(memref, type))

    def _alloc(self, type: AnyMemRef, hint: str | None = None) -> SSAValue:
        return self.emitter.value(AllocOp(type), hint)

    def _target(self, tensor: SSAValue) -> SSAValue:
        """The buffer that `tensor` is written into: the one that waits for it, else a fresh one."""
        type = buffer_type(tensor.type)
        waiting = self.targets.get(tensor)
        target = self._alloc(type, tensor.name_hint) if waiting is None else self._memref(waiting, type)
        self.buffers[tensor] = target
        return target

    # Ops

    def _convert(self, op: Operation) -> None:
        match op:
            case tensor_ops.ViewOp() if op.input in self.unsized or op.input in self.views:
                self.views[op.result] = op.input
            case tensor_ops.ViewOp():
                self.buffers[op.result] = self._view(self.buffer(op.input), buffer_type(op.result.type))
            case tensor_ops.ConstantOp():
                constant = ConstantOp(op.value, buffer_type(op.result.type))
                self.buffers[op.result] = self.emitter.value(constant, op.result.name_hint)
            case tensor_ops.CallOp():
                self._convert_call(op)
            case ExtractOp():
                self.values[op.result] = self._extract(op)
            case SizeOp():
                self.values[op.result] = self.emitter.size(op.size)
            case tensor_sizes.DefineSizeOp():
                value = self.values[op.value]
                self.emitter.add(DefineSizeOp(value, op.symbol.data, op.bound, op.message))
            case tensor_sizes.CheckSizesOp():
                self.emitter.add(CheckSizesOp(*op.sizes, op.text.data))
            case scf.IfOp():
                self._convert_if(op)
            case scf.WhileOp():
                self._convert_while(op)
            case StructuredOp() if made_for_concat(op.results[0]) is not None:
                # Where the concat is.
                pass
            case _ if isinstance(op, LOWERED):
                targets = [self._target(result) for result in op.results]
                lower_op(op, self.emitter, self.buffer, targets)
            case _:
                copy = op.clone(self.values)
                self.emitter.add(copy)
                self.values.update(zip(op.results, copy.results, strict=True))

    def _convert_call(self, op: tensor_ops.CallOp) -> None:
        targets = [self._target(result) for result in op.res]
        sizes = [self.emitter.size(dim) for dim in op.symbols.data]
        updates = self.updates.get(op.callee.string_value(), {})
        for result, argument in updates.items():
            waiting = self.targets.get(op.res[result])
            if not isinstance(waiting, Pooled) or not waiting.keeping:
                base = self.buffer(op.arguments[argument])
                self._copy(base, self._view(targets[result], memref_of(base)))
        updated = set(updates.values())
        inputs = [self.buffer(value) for position, value in enumerate(op.arguments) if position not in updated]
        call = CallOp(op.callee, [*sizes, *inputs, *targets])
        call.attributes = dict(op.attributes)
        self.emitter.add(call)

    def _extract(self, op: ExtractOp) -> SSAValue:
        memref = self.buffer(op.tensor)
        indices = [self.values[index] for index in op.indices]
        clamped = BodyEmitter(self.emitter, (), self.buffer).clamp(indices, memref_dims(memref_of(memref)))
        return self.emitter.value(LoadOp.at(memref, clamped), op.result.name_hint)

    # Control flow

    def _convert_if(self, op: scf.IfOp) -> None:
        own = _own_sizes(op)
        tensors: dict[int, Target] = {}
        for k, result in enumerate(op.results):
            if _is_tensor(result):
                if _names_any(result, own):
                    tensors[k] = self.unsized[result] = self._unsized_target(result, own)
                else:
                    tensors[k] = self._target(result)
        regions: list[Region] = []
        for region in op.regions:
            block = Block()
            if region.blocks:
                with self.emitter.into(block):
                    last = self._convert_block(region.block, tensors)
                    self._end(scf.YieldOp, last, last.operands)
            regions.append(Region(block) if region.blocks else Region())
        results = [result for result in op.results if not _is_tensor(result)]
        new = scf.IfOp(self.values[op.cond], [result.type for result in results], regions[0], regions[1])
        self.emitter.add(new)
        self.values.update(zip(results, new.results, strict=True))

    def _unsized_target(self, result: SSAValue, bounds: Bounds) -> Target:
        """Where a result is written whose size depends on the way that is taken."""
        if (waiting := self.targets.get(result)) is not None:
            return waiting
        most = [largest(dim, bounds) for dim in dims_of(result.type)]
        known = [size for size in most if size is not None]
        if len(known) < len(most):
            return self._pooled()
        return self._alloc(memref_type(known, signless(tensor_of(result.type).element_type)), result.name_hint)

    def _end(self, terminator: type[scf.YieldOp], last: Operation, operands: Sequence[SSAValue]) -> None:
        """Ends a block with the operands that are no tensors."""
        with self.emitter.located(last):
            self.emitter.add(terminator(*[self.values[value] for value in operands if not _is_tensor(value)]))

    def _convert_while(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        condition = before.last_op
        assert isinstance(condition, scf.ConditionOp)
        own = _own_sizes(op)
        growing = {k: self._growing(op, k) for k, v in enumerate(before.args) if _names_any(v, own)}
        carried = self._carried_buffers(op, condition, growing)
        passed = self._passed_buffers(op, condition, carried, growing)
        inits = [self.values[value] for value in op.arguments if not _is_tensor(value)]

        first = Block(arg_types=[value.type for value in before.args if not _is_tensor(value)])
        self._bind(before, first)
        with self.emitter.into(first):
            fresh = {k: passed[k] for k, v in enumerate(condition.args) if _is_tensor(v) and v not in before.args}
            # Operand 0 of the terminator is the condition itself.
            self._convert_block(before, {k + 1: buffer for k, buffer in fresh.items()})
            with self.emitter.located(condition):
                scalars = [self.values[value] for value in condition.args if not _is_tensor(value)]
                self.emitter.add(scf.ConditionOp(self.values[condition.condition], *scalars))

        second = Block(arg_types=[value.type for value in after.args if not _is_tensor(value)])
        self._bind(after, second)
        self.buffers.update({value: passed[k] for k, value in enumerate(after.args) if k in passed})
        self.unsized.update({value: growing[k] for k, value in enumerate(after.args) if k in growing})
        grown = set[int]()
        if after.last_op is not None and list[SSAValue](condition.args) == list[SSAValue](before.args):
            in_place = updated_in_place(after.last_op, after.args, self.updates)
            for value, argument in in_place.items():
                if (target := growing.get(argument.index)) is not None:
                    self.targets[value] = replace(target, keeping=True)
                    grown.add(argument.index)
                elif argument in self.buffers:
                    self.targets[value] = self.buffers[argument]
        with self.emitter.into(second):
            following = {k: Pooled(f"next {target.key}") for k, target in growing.items() if k not in grown}
            last = self._convert_block(after, following)
            with self.emitter.located(last):
                self._carry(last, carried)
                for k, target in following.items():
                    self.emitter.add(ExchangeOp(growing[k].key, target.key))
            self._end(scf.YieldOp, last, last.operands)

        results = [result for result in op.results if not _is_tensor(result)]
        new = scf.WhileOp(inits, [result.type for result in results], Region(first), Region(second))
        self.emitter.add(new)
        self.values.update(zip(results, new.results, strict=True))
        for k, result in enumerate(op.results):
            if k in growing:
                self.unsized[result] = growing[k]
            elif _is_tensor(result):
                self.buffers[result] = passed[k]
                if (target := self.targets.get(result)) is not None and target is not passed[k]:
                    self.buffers[result] = self._memref(target, memref_of(passed[k]))
                    self._copy(passed[k], self.buffers[result])

    def _growing(self, op: scf.WhileOp, position: int) -> Pooled:
        """
        The pooled buffer of a carried tensor that changes its size, holding the first value.

        Such loops pass their state through the first region unchanged.
        """
        waiting = self.targets.get(op.results[position])
        target = waiting if isinstance(waiting, Pooled) else self._pooled()
        init = op.arguments[position]
        self._copy(self.buffer(init), self._memref(target, buffer_type(init.type)))
        self.unsized[op.before_region.block.args[position]] = target
        return target

    def _bind(self, old: Block, new: Block) -> None:
        scalars = [value for value in old.args if not _is_tensor(value)]
        for value, argument in zip(scalars, new.args, strict=True):
            argument.name_hint = value.name_hint
            self.values[value] = argument

    def _carried_buffers(
        self, op: scf.WhileOp, condition: scf.ConditionOp, growing: Container[int]
    ) -> dict[int, SSAValue]:
        """
        A buffer per carried tensor of constant size that holds its first value; the one that waits for a result where
        one does.
        """
        before = op.before_region.block
        carried: dict[int, SSAValue] = {}
        for position, (argument, init) in enumerate(zip(before.args, op.arguments, strict=True)):
            if not _is_tensor(argument) or position in growing:
                continue
            waiting = [
                target
                for result, value in zip(op.results, condition.args, strict=True)
                if value is argument and isinstance(target := self.targets.get(result), SSAValue)
            ]
            type = buffer_type(argument.type)
            buffer = self._view(waiting[0], type) if waiting else self._alloc(type, argument.name_hint)
            self._copy(self.buffer(init), buffer)
            self.buffers[argument] = carried[position] = buffer
        return carried

    def _passed_buffers(
        self,
        op: scf.WhileOp,
        condition: scf.ConditionOp,
        carried: Mapping[int, SSAValue],
        growing: Container[int],
    ) -> dict[int, SSAValue]:
        """For each tensor that the first region passes on: the carried buffer it is, else one of its own."""
        arguments = list[SSAValue](op.before_region.block.args)
        passed: dict[int, SSAValue] = {}
        for position, (value, result) in enumerate(zip(condition.args, op.results, strict=True)):
            if not _is_tensor(value) or position in growing:
                continue
            if value in arguments:
                passed[position] = carried[arguments.index(value)]
            else:
                passed[position] = self._target(result)
        return passed

    def _carry(self, last: Operation, carried: dict[int, SSAValue]) -> None:
        """Copies the next values into the carried buffers, as if all at once."""
        overwritten = set(carried.values())
        sources: dict[int, SSAValue] = {}
        for position, buffer in carried.items():
            source = self.buffer(last.operands[position])
            if source is not buffer and root_of(source) in overwritten:
                temporary = self._alloc(memref_of(buffer))
                self._copy(source, temporary)
                source = temporary
            sources[position] = source
        for position, buffer in carried.items():
            self._copy(sources[position], buffer)


def _is_tensor(value: SSAValue) -> bool:
    return is_tensor(value.type)


def _own_sizes(op: Operation) -> dict[str, Dim | None]:
    """The symbols that the results of a control op give values to, with their bounds."""
    uses = [use.operation for result in op.results if not _is_tensor(result) for use in result.uses]
    return {use.symbol.data: use.bound for use in uses if isinstance(use, tensor_sizes.DefineSizeOp)}


def _names_any(value: SSAValue, symbols: Mapping[str, Dim | None]) -> bool:
    return _is_tensor(value) and not symbols.keys().isdisjoint(symbols_of(dims_of(value.type)))
