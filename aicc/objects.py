"""
From a module in the LLVM dialect to object code: split by kernel, each found in the cache or emitted.

Each kernel is an object of its own, so that a change in one leaves the others' cache entries good.
"""

from collections.abc import Iterable

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from aicc.backends.llvm.objects import PASSES
from aicc.backends.llvm.pool import Emitter
from aicc.backends.llvm.targets import Target
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.content import digest_of
from aicc.runtime.cache import Cache
from aicc.runtime.threads import default_threads
from aicc.transforms.kernel_clock import tell
from aicc.versions import library_versions

ENTRY_POINTS = ("main", "prepare")


def object_key(text: str, target: str) -> str:
    """The entry's name: all that the object depends on is LLVM text, target, passes and the versions of the tools."""
    versions = library_versions()
    return digest_of(f"{versions['llvmlite']} {versions['LLVM']} {target} {PASSES}\0{text}".encode())


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


def _name(part: ModuleOp) -> str:
    """The kernel or entry point that a part is made for: the last function that others can call."""
    names = [op.sym_name.data for op in part.ops if isinstance(op, llvm.FuncOp) and op.body.blocks]
    return names[-1] if names else ""


def emit_objects(parts: Iterable[ModuleOp], target: Target, *, cache: bool) -> list[bytes]:
    """
    Object code of `parts`; from the cache where `cache` is set and an intact entry exists.

    A part is taken up as soon as `parts` yields it, while the next one is still being made.
    """
    store = Cache.open() if cache else None
    images: list[bytes | None] = []
    missing: list[tuple[int, str]] = []
    names: list[str] = []
    with Emitter(target, default_threads()) as emitter:
        for part in parts:
            text = module_to_llvm_text(part)
            key = "" if store is None else object_key(text, repr(target))
            image = None if store is None else store.read_object(key)
            if image is None:
                missing.append((len(images), key))
                names.append(_name(part))
                emitter.add(text)
            images.append(image)
        for (index, key), image in zip(missing, emitter.finish(), strict=True):
            images[index] = image
            if store is not None:
                store.write_object(key, image)
    for index, name in enumerate(names):
        tell("emit", name, emitter.seconds[index])
    if store is not None and missing:
        store.prune()
    return [image for image in images if image is not None]
