"""Smaller versions of textual IR of any level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from aicc.tools.reduce import Step, chunks


def ir_steps() -> Sequence[Step[ModuleOp]]:
    """What is tried, in this order in every round."""
    return (_fewer_functions, _fewer_results, _fewer_ops, _bypassed, _unused, _fewer_attributes)


def ir_text(module: ModuleOp) -> str:
    """The module as text."""
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue() + "\n"


def _ops(module: ModuleOp) -> list[Operation]:
    """All ops but the module itself and terminators; the same in every clone."""
    return [op for op in module.walk() if op is not module and not op.has_trait(IsTerminator)]


def _erase(ops: Sequence[Operation]) -> None:
    for op in reversed(ops):
        op.detach()
        op.erase(safe_erase=False)


def _fewer_functions(module: ModuleOp) -> Iterator[ModuleOp]:
    count = len(list(module.body.block.ops))
    for part in chunks(count):
        if len(part) < count:
            smaller = module.clone()
            _erase([*smaller.body.block.ops][part.start : part.stop])
            yield smaller


def _fewer_results(module: ModuleOp) -> Iterator[ModuleOp]:
    """Functions that nobody calls return less."""
    for number, function in enumerate(op for op in module.walk() if isinstance(op, FuncOp)):
        last = function.body.blocks[-1].last_op if function.body.blocks else None
        if not isinstance(last, ReturnOp):
            continue
        for part in chunks(len(last.operands)):
            smaller = module.clone()
            func = [op for op in smaller.walk() if isinstance(op, FuncOp)][number]
            end = func.body.blocks[-1].last_op
            assert isinstance(end, ReturnOp)
            kept = [i for i in range(len(end.operands)) if i not in part]
            end.operands = [end.operands[i] for i in kept]
            _retype(func, func.function_type.inputs.data, [func.function_type.outputs.data[i] for i in kept])
            if func.res_attrs is not None:
                func.res_attrs = ArrayAttr([func.res_attrs.data[i] for i in kept])
            yield smaller


def _retype(func: FuncOp, inputs: Sequence[object], outputs: Sequence[object]) -> None:
    func.function_type = FunctionType.from_lists(list(inputs), list(outputs))  # pyright: ignore[reportArgumentType]


def _fewer_ops(module: ModuleOp) -> Iterator[ModuleOp]:
    """Ops left out; what others read of them becomes an argument of the function around."""
    ops = _ops(module)
    for part in chunks(len(ops)):
        smaller = module.clone()
        chosen = [op for op in _ops(smaller)[part.start : part.stop] if not isinstance(op, FuncOp)]
        inside = {inner for op in chosen for inner in op.walk() if inner is not op}
        chosen = [op for op in chosen if op not in inside]
        if chosen and all(_to_arguments(op) for op in chosen):
            _erase(chosen)
            yield smaller


def _to_arguments(op: Operation) -> bool:
    """Makes arguments of the enclosing function of the results that are read; False if there is no function."""
    function: Operation | None = op
    while function is not None and not isinstance(function, FuncOp):
        function = function.parent_op()
    if function is None:
        return not any(result.first_use for result in op.results)
    for result in op.results:
        if result.first_use is None:
            continue
        block = function.body.blocks[0]
        result.replace_all_uses_with(block.insert_arg(result.type, len(block.args)))
        _retype(function, [a.type for a in block.args], function.function_type.outputs.data)
        if function.arg_attrs is not None:
            function.arg_attrs = ArrayAttr([*function.arg_attrs.data, DictionaryAttr({})])
    return True


def _bypassed(module: ModuleOp) -> Iterator[ModuleOp]:
    """An op's result replaced by an operand of the same type."""
    for i, op in enumerate(_ops(module)):
        for r, result in enumerate(op.results):
            for o, operand in enumerate(op.operands):
                if operand.type == result.type and result.first_use is not None:
                    smaller = module.clone()
                    other = _ops(smaller)[i]
                    other.results[r].replace_all_uses_with(other.operands[o])
                    if not any(value.first_use for value in other.results):
                        _erase([other])
                    yield smaller


def _unused(module: ModuleOp) -> Iterator[ModuleOp]:
    """Without ops nobody reads, and without arguments nobody reads."""
    smaller = module.clone()
    unread = [op for op in _ops(smaller) if op.results and not any(value.first_use for value in op.results)]
    if unread:
        _erase([op for op in unread if not any(op is not other and op.is_ancestor(other) for other in unread)][-1:])
        yield smaller
    for number, function in enumerate(op for op in module.walk() if isinstance(op, FuncOp)):
        if not function.body.blocks:
            continue
        for i in reversed(range(len(function.body.blocks[0].args))):
            if function.body.blocks[0].args[i].first_use is None:
                smaller = module.clone()
                func = [op for op in smaller.walk() if isinstance(op, FuncOp)][number]
                block = func.body.blocks[0]
                unread_argument: SSAValue = block.args[i]
                assert unread_argument.first_use is None
                block.erase_arg(block.args[i])
                _retype(func, [a.type for a in block.args], func.function_type.outputs.data)
                if func.arg_attrs is not None:
                    func.arg_attrs = ArrayAttr([a for j, a in enumerate(func.arg_attrs.data) if j != i])
                yield smaller


def _fewer_attributes(module: ModuleOp) -> Iterator[ModuleOp]:
    """Attributes that are no properties, and properties that are flags."""
    for i, op in enumerate(_ops(module)):
        for name in list(op.attributes):
            smaller = module.clone()
            del _ops(smaller)[i].attributes[name]
            yield smaller
        for name, value in list(op.properties.items()):
            if isinstance(value, UnitAttr):
                smaller = module.clone()
                del _ops(smaller)[i].properties[name]
                yield smaller
