"""The LLVM IR line of each op of the `llvm` dialect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation

from aicc.backends.llvm.state import Text
from aicc.backends.llvm.text import constant_text, symbol
from aicc.dialects.llvm import atomics, control, elementwise, intrinsics, memory, vectors
from aicc.dialects.llvm.attrs import LoopAnnotationAttr

Handler: TypeAlias = Callable[[Text, Any], None]

HANDLERS: dict[str, Handler] = {}
"""Op name -> what writes it."""

_CONSTANTS = {
    "llvm.mlir.constant",
    "llvm.mlir.undef",
    "llvm.mlir.poison",
    "llvm.mlir.zero",
    "llvm.mlir.addressof",
}


def write_constant(w: Text, op: Operation) -> bool:
    """Names the result of a constant by its text; False if `op` is none."""
    if op.name not in _CONSTANTS:
        return False
    result = op.results[0]
    match op:
        case llvm.ConstantOp():
            w.names[result] = constant_text(op.value, result.type)
        case llvm.AddressOfOp():
            w.names[result] = symbol(op.global_name.string_value())
        case llvm.ZeroOp():
            w.names[result] = "null" if isinstance(result.type, llvm.LLVMPointerType) else "zeroinitializer"
        case _:
            w.names[result] = "undef" if isinstance(op, llvm.UndefOp) else "poison"
    return True


def _nothing(w: Text, op: Operation) -> None:
    """Constants are operands, not instructions."""


for _name in _CONSTANTS:
    HANDLERS[_name] = _nothing


def _fast_math(op: Operation) -> str:
    """Fast-math flags with a leading space."""
    flags = op.properties.get("fastmathFlags") or op.attributes.get("fastmathFlags")
    if not isinstance(flags, llvm.FastMathAttr) or not flags.data:
        return ""
    return _fast_math_words(frozenset(flags.data))


@cache
def _fast_math_words(flags: frozenset[FastMathFlag]) -> str:
    words = sorted(flag.value for flag in flags)
    return " fast" if len(words) == 7 else " " + " ".join(words)


def _flags(op: Operation) -> str:
    """`nuw nsw exact disjoint nneg` as far as set, each with a leading space."""
    if not op.properties:
        return ""
    text = ""
    overflow = op.properties.get("overflowFlags")
    if isinstance(overflow, IntegerAttr):
        overflow = llvm.OverflowAttr.from_int(overflow.value.data)
    if isinstance(overflow, llvm.OverflowAttr):
        text = "".join(f" {flag.value}" for flag in sorted(overflow.data, reverse=True))
    for key, word in (("isExact", "exact"), ("isDisjoint", "disjoint"), ("nonNeg", "nneg")):
        if isinstance(op.properties.get(key), UnitAttr):
            text += f" {word}"
    return text


def _binary(word: str) -> Handler:
    def write(w: Text, op: Operation) -> None:
        lhs, rhs = op.operands
        w.lines.append(f"  {w.names[op.results[0]]} = {word}{_flags(op)} {w.typed(lhs)}, {w.names[rhs]}")

    return write


def _float_binary(word: str) -> Handler:
    def write(w: Text, op: Operation) -> None:
        lhs, rhs = op.operands
        w.lines.append(f"  {w.names[op.results[0]]} = {word}{_fast_math(op)} {w.typed(lhs)}, {w.names[rhs]}")

    return write


def _unary(word: str) -> Handler:
    def write(w: Text, op: Operation) -> None:
        w.lines.append(f"  {w.names[op.results[0]]} = {word}{_fast_math(op)} {w.typed(op.operands[0])}")

    return write


def _cast(word: str) -> Handler:
    def write(w: Text, op: Operation) -> None:
        result = op.results[0]
        line = f"{word}{_flags(op)} {w.typed(op.operands[0])} to {w.type(result.type)}"
        w.lines.append(f"  {w.names[result]} = {line}")

    return write


for _word in ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr"):
    HANDLERS[f"llvm.{_word}"] = _binary(_word)
for _word in ("fadd", "fsub", "fmul", "fdiv", "frem"):
    HANDLERS[f"llvm.{_word}"] = _float_binary(_word)
for _word in ("fneg", "freeze"):
    HANDLERS[f"llvm.{_word}"] = _unary(_word)
for _word in (
    *("trunc", "zext", "sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp"),
    *("ptrtoint", "inttoptr", "bitcast", "addrspacecast"),
):
    HANDLERS[f"llvm.{_word}"] = _cast(_word)


def _icmp(w: Text, op: llvm.ICmpOp) -> None:
    predicate = llvm.ICmpPredicateFlag.from_int(op.predicate.value.data)
    w.lines.append(f"  {w.result(op)} = icmp {predicate.value} {w.typed(op.lhs)}, {w.names[op.rhs]}")


def _fcmp(w: Text, op: elementwise.FCmpOp) -> None:
    predicate = llvm.FCmpPredicateFlag.from_int(op.predicate.value.data).value.lstrip("_")
    w.lines.append(f"  {w.result(op)} = fcmp{_fast_math(op)} {predicate} {w.typed(op.lhs)}, {w.names[op.rhs]}")


def _select(w: Text, op: Operation) -> None:
    w.lines.append(f"  {w.result(op)} = select{_fast_math(op)} {', '.join(map(w.typed, op.operands))}")


def _alignment(op: Operation) -> str:
    value = op.properties.get("alignment")
    return f", align {value.value.data}" if isinstance(value, IntegerAttr) else ""


def _ordering(op: Operation, key: str = "ordering") -> str:
    value = op.properties.get(key)
    number = value.value.data if isinstance(value, IntegerAttr) else 0
    return llvm.ATOMIC_ORDERING_KEYWORDS[number] if number else ""


def _load(w: Text, op: memory.LoadOp) -> None:
    ordering = _ordering(op)
    words = f"load {'atomic ' if ordering else ''}{'volatile ' if op.volatile_ is not None else ''}"
    words += f"{w.type(op.res.type)}, {w.typed(op.addr)}{' ' + ordering if ordering else ''}"
    w.lines.append(f"  {w.result(op)} = {words}{_alignment(op)}{w.metadata.access(op.properties)}")


def _store(w: Text, op: memory.StoreOp) -> None:
    ordering = _ordering(op)
    words = f"store {'atomic ' if ordering else ''}{'volatile ' if op.volatile_ is not None else ''}"
    words += f"{w.typed(op.value)}, {w.typed(op.addr)}{' ' + ordering if ordering else ''}"
    w.lines.append(f"  {words}{_alignment(op)}{w.metadata.access(op.properties)}")


def _alloca(w: Text, op: llvm.AllocaOp) -> None:
    w.lines.append(f"  {w.result(op)} = alloca {w.type(op.elem_type)}, {w.typed(op.size)}{_alignment(op)}")


_GEP_WORDS = {0: "", 1: " inbounds", 2: " nusw", 3: " inbounds", 4: " nuw", 6: " nusw nuw", 7: " inbounds nuw"}


def _gep(w: Text, op: memory.GEPOp) -> None:
    # A constant index of a struct must be an i32.
    indices = [f"i32 {index}" if isinstance(index, int) else w.typed(index) for index in op.indices()]
    words = f"getelementptr{_GEP_WORDS[op.noWrapFlags.value.data]} {w.type(op.elem_type)}, {w.typed(op.ptr)}"
    w.lines.append(f"  {w.result(op)} = {', '.join([words, *indices])}")


def _extract_value(w: Text, op: llvm.ExtractValueOp) -> None:
    position = "".join(f", {index}" for index in op.position.get_values())
    w.lines.append(f"  {w.result(op)} = extractvalue {w.typed(op.container)}{position}")


def _insert_value(w: Text, op: llvm.InsertValueOp) -> None:
    position = "".join(f", {index}" for index in op.position.get_values())
    w.lines.append(f"  {w.result(op)} = insertvalue {w.typed(op.container)}, {w.typed(op.value)}{position}")


def _extract_element(w: Text, op: vectors.ExtractElementOp) -> None:
    w.lines.append(f"  {w.result(op)} = extractelement {w.typed(op.vector)}, {w.typed(op.position)}")


def _insert_element(w: Text, op: llvm.InsertElementOp) -> None:
    operands = (op.vector, op.value, op.index)
    w.lines.append(f"  {w.result(op)} = insertelement {', '.join(map(w.typed, operands))}")


def _shuffle(w: Text, op: llvm.ShuffleVectorOp) -> None:
    mask = [f"i32 {'poison' if lane < 0 else lane}" for lane in cast(DenseArrayBase[Any], op.mask).get_values()]
    operands = f"{w.typed(op.v1)}, {w.typed(op.v2)}, <{len(mask)} x i32> <{', '.join(mask)}>"
    w.lines.append(f"  {w.result(op)} = shufflevector {operands}")


def _atomic_rmw(w: Text, op: atomics.AtomicRMWOp) -> None:
    word = atomics.ATOMIC_OPERATIONS[op.bin_op.value.data].lstrip("_")
    w.lines.append(f"  {w.result(op)} = atomicrmw {word} {w.typed(op.ptr)}, {w.typed(op.val)} {_ordering(op)}")


def _cmpxchg(w: Text, op: atomics.CmpXchgOp) -> None:
    orderings = f"{_ordering(op, 'success_ordering')} {_ordering(op, 'failure_ordering')}"
    w.lines.append(f"  {w.result(op)} = cmpxchg {', '.join(map(w.typed, op.operands))} {orderings}")


def _fence(w: Text, op: atomics.FenceOp) -> None:
    w.lines.append(f"  fence {_ordering(op)}")


def _call_line(w: Text, op: Operation, head: str, callee: str, arguments: str) -> None:
    """A call with the op's result, if it has one."""
    if op.results:
        w.lines.append(f"  {w.result(op)} = {head} {w.type(op.results[0].type)} {callee}({arguments})")
    else:
        w.lines.append(f"  {head} void {callee}({arguments})")


def _call(w: Text, op: llvm.CallOp) -> None:
    operands = list(op.args)
    callee = symbol(op.callee.string_value()) if op.callee is not None else w.names[operands.pop(0)]
    words = [op.TailCallKind.data.value] if op.TailCallKind.data is not llvm.TailCallKind.NONE else []
    words.append("call" + _fast_math(op))
    if op.CConv.cconv_name != "ccc":
        words.append(op.CConv.cconv_name)
    arguments = ", ".join(map(w.typed, operands))
    if op.var_callee_type is not None:
        line = f"{' '.join(words)} {w.type(op.var_callee_type)} {callee}({arguments})"
        w.lines.append(f"  {w.result(op)} = {line}" if op.results else f"  {line}")
        return
    _call_line(w, op, " ".join(words), callee, arguments)


def _declare(w: Text, name: str, op: Operation, arguments: Sequence[str]) -> None:
    if name not in w.declarations:
        result = w.type(op.results[0].type) if op.results else "void"
        w.declarations[name] = f"declare {result} @{name}({', '.join(arguments)})"


def _intrinsic_call(w: Text, op: Operation, name: str, extra: Sequence[tuple[str, str]] = ()) -> None:
    """A call of the intrinsic `name` on the operands, then the immediates `extra` (type, value)."""
    types = [*(w.type(value.type) for value in op.operands), *(type_ for type_, _ in extra)]
    arguments = [*map(w.typed, op.operands), *(f"{type_} {value}" for type_, value in extra)]
    _declare(w, name, op, types)
    _call_line(w, op, f"call{_fast_math(op)}", f"@{name}", ", ".join(arguments))


def _call_intrinsic(w: Text, op: llvm.CallIntrinsicOp) -> None:
    _intrinsic_call(w, op, op.intrin.data)


def _overloaded(overload: Callable[[Operation], Sequence[Attribute]]) -> Handler:
    """An intrinsic `llvm.intr.x` -> `llvm.x.<types>`."""

    def write(w: Text, op: Operation) -> None:
        suffix = "".join(f".{w.mangled(type_)}" for type_ in overload(op))
        _intrinsic_call(w, op, f"llvm.{op.name.removeprefix('llvm.intr.')}{suffix}")

    return write


def _first_operand(op: Operation) -> Sequence[Attribute]:
    return [op.operands[0].type]


def _last_operand(op: Operation) -> Sequence[Attribute]:
    return [op.operands[-1].type]


def _flagged(key: str, type_: str) -> Handler:
    """An intrinsic with one immediate that is a property."""

    def write(w: Text, op: Operation) -> None:
        value = cast(IntegerAttr, op.properties[key]).value.data
        text = ("true" if value else "false") if type_ == "i1" else str(value)
        name = f"llvm.{op.name.removeprefix('llvm.intr.')}.{w.mangled(op.operands[0].type)}"
        _intrinsic_call(w, op, name, [(type_, text)])

    return write


def _masked(w: Text, op: Operation) -> None:
    """Masked accesses; the alignment is an attribute of the pointer parameter."""
    word = op.name.removeprefix("llvm.intr.")
    store = word.endswith(("store", "scatter"))
    place = 1 if store else 0
    value = op.operands[0] if store else op.results[0]
    name = f"llvm.{word}.{w.mangled(value.type)}.{w.mangled(op.operands[place].type)}"
    _declare(w, name, op, [w.type(operand.type) for operand in op.operands])
    align = cast(IntegerAttr, op.properties["alignment"]).value.data
    arguments = [w.typed(operand) for operand in op.operands]
    pointer = op.operands[place]
    arguments[place] = f"{w.type(pointer.type)} align {align} {w.names[pointer]}"
    _call_line(w, op, "call", f"@{name}", ", ".join(arguments))


def _block_copy(w: Text, op: Operation) -> None:
    volatile = cast(IntegerAttr, op.properties["isVolatile"]).value.data
    types = [operand.type for operand in op.operands]
    overload = [types[0], types[2]] if op.name.endswith("memset") else types
    name = f"llvm.{op.name.removeprefix('llvm.intr.')}" + "".join(f".{w.mangled(type_)}" for type_ in overload)
    _intrinsic_call(w, op, name, [("i1", "true" if volatile else "false")])


def _prefetch(w: Text, op: memory.PrefetchOp) -> None:
    numbers = (op.rw, op.hint, op.cache)
    _intrinsic_call(w, op, "llvm.prefetch.p0", [("i32", str(number.value.data)) for number in numbers])


def _plain_intrinsic(w: Text, op: Operation) -> None:
    _intrinsic_call(w, op, f"llvm.{op.name.removeprefix('llvm.intr.')}")


def _stack_save(w: Text, op: Operation) -> None:
    _intrinsic_call(w, op, f"llvm.{op.name.removeprefix('llvm.intr.')}.p0")


def _loop(w: Text, op: Operation) -> str:
    annotation = op.attributes.get("loop_annotation")
    return w.metadata.loop(annotation) if isinstance(annotation, LoopAnnotationAttr) else ""


def _br(w: Text, op: llvm.BrOp) -> None:
    w.lines.append(f"  br label %{w.edge(op.successor, op.arguments)}{_loop(w, op)}")


def _cond_br(w: Text, op: control.CondBrOp) -> None:
    taken = w.edge(op.trueDest, op.trueDestOperands)
    other = w.edge(op.falseDest, op.falseDestOperands)
    weights = w.metadata.weights(op.branch_weights.get_values()) if op.branch_weights is not None else ""
    w.lines.append(f"  br {w.typed(op.condition)}, label %{taken}, label %{other}{weights}{_loop(w, op)}")


def _switch(w: Text, op: control.SwitchOp) -> None:
    default = w.edge(op.defaultDestination, op.defaultOperands)
    kind = w.type(op.value.type)
    cases = [f"{kind} {value}, label %{w.edge(block, operands)}" for value, block, operands in op.cases()]
    w.lines.append(f"  switch {w.typed(op.value)}, label %{default} [ {' '.join(cases)} ]")


def _return(w: Text, op: llvm.ReturnOp) -> None:
    w.lines.append("  ret void" if op.arg is None else f"  ret {w.typed(op.arg)}")


def _unreachable(w: Text, op: Operation) -> None:
    w.lines.append("  unreachable")


def _inline_asm(w: Text, op: llvm.InlineAsmOp) -> None:
    words = "asm"
    if op.has_side_effects is not None:
        words += " sideeffect"
    if op.is_align_stack is not None:
        words += " alignstack"
    if op.asm_dialect is not None and op.asm_dialect.value.data:
        words += " inteldialect"
    callee = f'{words} "{op.asm_string.data}", "{op.constraints.data}"'
    _call_line(w, op, "call", callee, ", ".join(map(w.typed, op.operands)))


HANDLERS.update(
    {
        "llvm.alloca": _alloca,
        "llvm.atomicrmw": _atomic_rmw,
        "llvm.br": _br,
        "llvm.call": _call,
        "llvm.call_intrinsic": _call_intrinsic,
        "llvm.cmpxchg": _cmpxchg,
        "llvm.cond_br": _cond_br,
        "llvm.extractelement": _extract_element,
        "llvm.extractvalue": _extract_value,
        "llvm.fcmp": _fcmp,
        "llvm.fence": _fence,
        "llvm.getelementptr": _gep,
        "llvm.icmp": _icmp,
        "llvm.inline_asm": _inline_asm,
        "llvm.insertelement": _insert_element,
        "llvm.insertvalue": _insert_value,
        "llvm.intr.abs": _flagged("is_int_min_poison", "i1"),
        "llvm.intr.assume": _plain_intrinsic,
        "llvm.intr.ctlz": _flagged("is_zero_poison", "i1"),
        "llvm.intr.cttz": _flagged("is_zero_poison", "i1"),
        "llvm.intr.is.fpclass": _flagged("bit", "i32"),
        "llvm.intr.masked.gather": _masked,
        "llvm.intr.masked.load": _masked,
        "llvm.intr.masked.scatter": _masked,
        "llvm.intr.masked.store": _masked,
        "llvm.intr.memcpy": _block_copy,
        "llvm.intr.memmove": _block_copy,
        "llvm.intr.memset": _block_copy,
        "llvm.intr.prefetch": _prefetch,
        "llvm.intr.stackrestore": _stack_save,
        "llvm.intr.stacksave": _stack_save,
        "llvm.load": _load,
        "llvm.return": _return,
        "llvm.select": _select,
        "llvm.shufflevector": _shuffle,
        "llvm.store": _store,
        "llvm.switch": _switch,
        "llvm.unreachable": _unreachable,
    }
)
for _op in (*vars(elementwise).values(), *vars(intrinsics).values(), *vars(llvm).values(), *vars(vectors).values()):
    # Not `issubclass`, which for an abstract class asks about every subclass: 50 ms of each start.
    _op_name = getattr(_op, "name", "") if isinstance(_op, type) and Operation in _op.__mro__ else ""
    if isinstance(_op_name, str) and _op_name.startswith("llvm.intr.") and _op_name not in HANDLERS:
        # Overloaded on the one type of operands and result, or on the vector that is reduced.
        HANDLERS[_op_name] = _overloaded(_last_operand if ".reduce." in _op_name else _first_operand)
