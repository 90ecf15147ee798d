"""
Object code of parts of a program, from the cache or emitted, and what the cache keeps of each.

Each kernel is an object of its own, so that a change in one leaves the others' cache entries good.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from aicc.backends.llvm.objects import PASSES, emit_object
from aicc.backends.llvm.targets import Target, plain_target
from aicc.content import digest_of
from aicc.runtime.cache import Cache
from aicc.runtime.call_state import TEXT as STATE_FUNCTIONS
from aicc.runtime.parallel import shim_text
from aicc.runtime.profile import CLOCK_SHIM
from aicc.runtime.python_call import call_text
from aicc.runtime.signature import Signature
from aicc.transforms.kernel_clock import kernel_time
from aicc.transforms.kernel_unit import Demands
from aicc.versions import library_versions

ENTRY_POINTS = ("main", "prepare")

_HEAD = struct.Struct("<I")

LONG_TEXT = 250_000
"""Characters of LLVM text (about 700 calls of kernels) from which an entry point is long."""


def effort_for(name: str, text: str) -> int:
    """
    The effort of LLVM on a part of a program, 0 to 3.

    Long entry points are calls one after the other: there is nothing to gain, and registers are given to values in time
    that grows with the square of their number.
    """
    return 0 if name in ENTRY_POINTS and len(text) > LONG_TEXT else 2


def object_key(text: str, target: str, effort: int = 2) -> str:
    """The entry's name: an object depends on LLVM text, target, passes, effort and the versions of the tools alone."""
    versions = library_versions()
    return digest_of(f"{versions['llvmlite']} {versions['LLVM']} {target} {PASSES} {effort}\0{text}".encode())


@dataclass
class Made:
    """What came of a kernel or packing kernel."""

    image: bytes
    demands: Demands = field(default_factory=Demands)
    object_key: str = ""
    """Where the object is, or belongs, in the cache; empty without one."""

    unit_key: str = ""
    """Where `demands` and `object_key` are, or belong."""

    new: bool = True
    """Whether the object is not in the cache yet."""

    new_unit: bool = True
    times: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])
    """Kind of work, kernel and seconds, as `kernel_clock` tells them."""

    def to_bytes(self) -> bytes:
        """What `from_bytes` reads back."""
        head = json.dumps(
            [self.demands.to_json(), self.object_key, self.unit_key, self.new, self.new_unit, self.times]
        ).encode()
        return _HEAD.pack(len(head)) + head + self.image

    @staticmethod
    def from_bytes(data: bytes) -> Made:
        """What `to_bytes` made."""
        (size,) = _HEAD.unpack_from(data)
        demands, object_key, unit_key, new, new_unit, times = json.loads(data[_HEAD.size : _HEAD.size + size])
        image = data[_HEAD.size + size :]
        return Made(image, Demands.from_json(demands), object_key, unit_key, new, new_unit, list(map(tuple, times)))


def make_object(text: str, name: str, target: Target, cache: Cache | None, effort: int | None = None) -> Made:
    """The object of LLVM text, from the cache where it is there."""
    effort = effort_for(name, text) if effort is None else effort
    key = "" if cache is None else object_key(text, repr(target), effort)
    image = None if cache is None else cache.read_object(key)
    if image is not None:
        return Made(image, object_key=key, new=False)
    with kernel_time("emit", name):
        return Made(emit_object(text, target, effort), object_key=key)


def runtime_objects(signature: Signature, target: Target, cache: Cache | None = None) -> list[Made]:
    """The runtime's functions that a program calls, for any machine of the kind of `target`."""
    texts = [shim_text()]
    if signature.profile:
        texts.append(CLOCK_SHIM)
    if signature.needs_state:
        texts.append(STATE_FUNCTIONS)
    made = [make_object(text, "runtime", plain_target(target), cache) for text in texts]
    # One call after the other and nothing to optimise: it takes a third of the time so.
    return [*made, make_object(call_text(), "runtime", plain_target(target), cache, effort=0)]


def keep(made: Sequence[Made], cache: Cache) -> None:
    """Adds to the cache what is new."""
    for item in made:
        if item.new:
            cache.write_object(item.object_key, item.image)
        if item.unit_key and item.new_unit:
            cache.write_unit(item.unit_key, json.dumps([item.object_key, item.demands.to_json()]).encode())
    if any(item.new for item in made):
        cache.prune()


def _referenced(operation: Operation) -> list[str]:
    """Names of the symbols that `operation` and the ops in it refer to, each once, in order."""
    names: dict[str, None] = {}
    for op in operation.walk():
        for attribute in (*op.properties.values(), *op.attributes.values()):
            if isinstance(attribute, SymbolRefAttr):
                names[attribute.root_reference.data] = None
    return list(names)


def split(module: ModuleOp) -> list[ModuleOp]:
    """
    Moves the content of `module` into parts that compile by themselves: the entry points, and one part for each kernel.

    A kernel is a function that an entry point calls; its part has what it refers to (outlined loop bodies, constants).
    Definitions that several parts need are private to each; between parts, functions are declared.
    """
    symbols: dict[str, Operation] = {}
    for op in module.ops:
        if isinstance(name := op.properties.get("sym_name"), StringAttr):
            symbols[name.data] = op
    references = {name: [r for r in _referenced(op) if r in symbols and r != name] for name, op in symbols.items()}
    entries = [name for name in ENTRY_POINTS if name in symbols]
    kernels = list(dict.fromkeys(r for e in entries for r in references[e] if _is_defined_function(symbols[r])))
    outside = {*entries, *kernels}
    parts: list[ModuleOp] = []
    for roots in ([k] for k in kernels) if not entries else ([*entries], *([k] for k in kernels)):
        members: dict[str, None] = dict.fromkeys(roots)
        declared: dict[str, None] = {}
        pending = list(roots)
        while pending:
            for name in references[pending.pop()]:
                if name in members:
                    continue
                if name in outside:
                    declared[name] = None
                else:
                    members[name] = None
                    pending.append(name)
        ops: list[Operation] = [_declaration(symbols[name]) for name in declared]
        ops += [symbols[name].clone() for name in members]
        parts.append(ModuleOp(ops))
    return parts or [module]


def _is_defined_function(op: Operation) -> bool:
    return isinstance(op, llvm.FuncOp) and bool(op.body.blocks)


def _declaration(op: Operation) -> Operation:
    assert isinstance(op, llvm.FuncOp)
    return llvm.FuncOp(op.sym_name.data, op.function_type, llvm.LinkageAttr("external"))
