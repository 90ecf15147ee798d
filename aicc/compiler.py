"""
`aicc.compile`: a model to a program that is ready to run.

The compiler itself is imported only when the cache has no program for the model.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aicc.errors import compile_errors
from aicc.model_content import content_of
from aicc.runtime.cache_folder import surely_missing
from aicc.sizes import combinations, fixed_sizes, hinted_sizes

if TYPE_CHECKING:
    from aicc.model_content import Content
    from aicc.outside import Outside
    from aicc.runtime.model import Model
    from aicc.runtime.program import LoadedProgram

OPT_LEVELS = {0: "O0", 2: "O2"}


def compile(
    model: Any,
    *,
    threads: int | None = None,
    target: str = "host",
    opt_level: int = 2,
    fast_math: bool = False,
    winograd: bool = True,
    bf16_dots: bool = True,
    schedules: str | Path | None = None,
    shapes: Mapping[str, int] | None = None,
    hints: Mapping[str, int | Sequence[int]] | None = None,
    cache: bool = True,
    profile: bool = False,
) -> Model:
    """
    Compiles `model` and loads the result.

    `model` is a path to an ONNX or `.mlir` file, ONNX bytes or a `ModelProto`, the text of IR at any level (a `str`
    with a newline), or a `ModuleOp`. `threads` is the most threads one call uses (None: all cores of this process);
    results do not depend on it. `opt_level` is 2, or 0 for the plainest code. `fast_math` lets arithmetic be
    reassociated, contracted and approximated and the sign of zero be ignored; `winograd` permits fast convolution (a
    larger error, stated in docs/architecture.md for finite input), `bf16_dots` instructions that take subnormal numbers
    in products of bf16 for 0. `schedules` is a file of schedules, as `aicc
    schedules` prints them, for kernels that are not to get the automatic scheduler's (opt_level 2 only). `cache` keeps
    programs and object code in `$AICC_CACHE_DIR` (else the user's cache folder); a model that is there is ready without
    the compiler.

    A model is compiled once for all sizes of its inputs. `shapes={"N": 1}` fixes symbols of these sizes: the model
    takes no other ones then. `hints={"N": [1, 8, 64]}` adds programs for these sizes (of several symbols: for each
    combination), which run when the arrays of a call have them; any other size still goes. `Model.stats` counts.

    Raises:
        CompileError: the model is broken or holds what is not supported; all of it is listed, with its place.
        TypeError: the model or an option is of a kind that is not taken.
        ValueError: an option is out of range, or names what the model or this machine does not have.
        OSError: the file of the model cannot be read.
        CompilerFault: a fault in aicc itself; the message says how to reproduce it.
    """
    from aicc.runtime.threads import thread_count

    flags = {"fast_math": fast_math, "winograd": winograd, "bf16_dots": bf16_dots, "profile": profile}
    for name, flag in {**flags, "cache": cache}.items():
        _check_kind(name, flag, bool, "True or False")
    _check_kind("target", target, str, "the name of a machine")
    _check_kind("schedules", schedules, str | PathLike | None, "a path or None")
    thread_count(threads)
    _check_kind("opt_level", opt_level, int, "an integer")
    if opt_level not in OPT_LEVELS:
        raise ValueError(f"opt_level is {opt_level}, expected one of {', '.join(map(str, OPT_LEVELS))}")
    if schedules is not None and opt_level != 2:
        raise ValueError(f"schedules are given, but opt_level is {opt_level}, expected 2")
    fixed = fixed_sizes(shapes)
    wanted = hinted_sizes(hints, fixed)

    def load(sizes: Mapping[str, int]) -> tuple[LoadedProgram, bool]:
        options = {"target": target, **flags}
        given = None if schedules is None else str(schedules)
        return _load(model, OPT_LEVELS[opt_level], {**options, "schedules": given, "shapes": sizes}, cache=cache)

    with compile_errors(model):
        general = load(fixed)
        others = [(sizes, load({**fixed, **sizes})) for sizes in combinations(wanted, general[0].signature.symbols)]
    from aicc.runtime.model import Model

    hits = [found for _, found in (general, *(one for _, one in others))]
    variants = [(sizes, program) for sizes, (program, _) in others]
    return Model(
        general[0], threads=threads, variants=variants, compiles=hits.count(False), cache_hits=hits.count(True)
    )


def _check_kind(name: str, value: object, kind: Any, expected: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}, expected {expected}")


def _load(model: Any, pipeline: str, chosen: Mapping[str, Any], *, cache: bool) -> tuple[LoadedProgram, bool]:
    """The program of `model` with the options `chosen` for the pipeline, and whether it was in the cache."""
    from aicc.runtime.threads import default_threads

    content = content_of(model)
    with ExitStack() as stack:
        outside = _start_outside(model) if not cache or content is None or _surely_missing(content) else None
        if outside is not None:
            stack.enter_context(outside)
        if cache and content is not None:
            with suppress(OSError):
                content.hash()
        # Imported while the model is being hashed.
        from aicc.backends.llvm.targets import TargetError, target_by_name
        from aicc.lowering.pipelines import PipelineOptions
        from aicc.model_cache import ModelCache
        from aicc.runtime.compiled import Machine
        from aicc.runtime.machine import lacking
        from aicc.runtime.program import LoadedProgram

        options = PipelineOptions(**chosen)
        if options.target != "host":
            named = target_by_name(options.target)
            if (missing := lacking(Machine(named.triple, named.needs))) is not None:
                other = f"aicc-opt -O2 --target={options.target} --emit=obj writes it"
                raise TargetError(f"code for '{options.target}' cannot run here: this machine {missing}; {other}")
        entry: ModelCache | None = None
        if outside is None:
            entry = ModelCache.of(model, content, pipeline, options) if cache else None
            program = None if entry is None else entry.find()
            if program is not None:
                return LoadedProgram(program), True
            if (outside := _start_outside(model)) is not None:
                stack.enter_context(outside)
        made = None
        if outside is not None:
            outside.begin(model, content, pipeline, options, cache=cache, processes=default_threads())
            if entry is None and cache:
                entry = ModelCache.of(model, content, pipeline, options)
            made = outside.finish()
    if made is None:
        from aicc.compilation import compile_model

        made = compile_model(model, pipeline, options, target_by_name(options.target), cache=cache), None
    program, version = made
    loaded = LoadedProgram(program)
    if content is not None:
        # Weights that have been packed are not read again.
        content.forget()
    if entry is not None:
        entry.keep(loaded.program, version)
    return loaded, False


def _surely_missing(content: Content) -> bool:
    try:
        return surely_missing(content.bytes())
    except OSError:
        return True


def _start_outside(model: Any) -> Outside | None:
    """A process that can compile `model`; None where the compiler is here already, or there can be no such."""
    from aicc.outside import Outside, can_send

    if "xdsl" in sys.modules or not can_send(model):
        return None
    try:
        return Outside()
    except OSError:
        return None
