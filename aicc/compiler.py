"""`aicc.compile`: a model to a program that is ready to run."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import DiagnosticException

from aicc.backends.llvm.targets import Target, TargetError, lacking_here, target_by_name
from aicc.collector import paused_collector
from aicc.dialects.graph.buffers import Buffer, make_buffer, search_folder, settle_names
from aicc.faults import reproduced
from aicc.lowering.context import OWN_PASSES, make_context, registry
from aicc.lowering.levels import level_of
from aicc.lowering.pipelines import LEVELS, PipelineOptions, Step, pipeline_steps
from aicc.lowering.signature import main_function
from aicc.objects import emit_objects, split
from aicc.runtime.compiled import CompiledProgram
from aicc.runtime.model import Model
from aicc.runtime.signature import parse_signature
from aicc.source import load_module, model_folder
from aicc.tools.pipeline import PassStep
from aicc.tools.runner import InternalFault, PipelineRunner
from aicc.transforms.verify import verify

OPT_LEVELS = {0: "O0", 2: "O2"}


def compile(
    model: Any,
    *,
    threads: int | None = None,
    target: str = "host",
    opt_level: int = 2,
    fast_math: bool = False,
    winograd: bool = True,
    schedules: str | Path | None = None,
    cache: bool = True,
    profile: bool = False,
) -> Model:
    """
    Compiles `model` and loads the result.

    `model` is a path to an ONNX or `.mlir` file, ONNX bytes or a `ModelProto`, the text of IR at any level (a `str`
    with a newline), or a `ModuleOp`. `threads` is the most threads one call uses (None: all cores of this process);
    results do not depend on it. `opt_level` is 2, or 0 for the plainest code. `fast_math` lets arithmetic be
    reassociated, contracted and approximated and the sign of zero be ignored; `winograd` permits fast convolution
    (no pass makes use of that yet). `schedules` is a file of schedules, as `aicc schedules` prints them, for kernels
    that are not to get the automatic scheduler's (opt_level 2 only). `cache` keeps object code in `$AICC_CACHE_DIR`
    (else the user's cache folder).

    Raises:
        DiagnosticException, ModelError: the model is broken or holds what is not supported; all of it is listed.
        ValueError: an option is out of range.
        CompilerFault: a fault in aicc itself; the message says how to reproduce it.
    """
    if opt_level not in OPT_LEVELS:
        raise ValueError(f"opt_level is {opt_level}, expected one of {', '.join(map(str, OPT_LEVELS))}")
    if schedules is not None and opt_level != 2:
        raise ValueError(f"schedules are given, but opt_level is {opt_level}, expected 2")
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}, expected at least 1")
    machine = target_by_name(target)
    if (lacking := lacking_here(machine)) is not None:
        other = f"aicc-opt -O2 --target={target} --emit=obj writes it"
        raise TargetError(f"code for '{target}' cannot run here: this machine {lacking}; {other}")
    with paused_collector():
        module = load_module(model)
    options = PipelineOptions(
        target=target,
        fast_math=fast_math,
        winograd=winograd,
        profile=profile,
        schedules=None if schedules is None else str(schedules),
    )
    pipeline = OPT_LEVELS[opt_level]
    folder = model_folder(model)
    with paused_collector(), nullcontext() if folder is None else search_folder(folder):
        try:
            program = compile_module(module, pipeline, options, machine, cache=cache)
        except InternalFault as fault:
            raise reproduced(fault, load_module(model), pipeline, target) from fault
    return Model(program, threads=threads)


def compile_module(
    module: ModuleOp,
    pipeline: str,
    options: PipelineOptions,
    machine: Target,
    *,
    cache: bool = True,
) -> CompiledProgram:
    """Takes `module` from the level it is at through `pipeline` to object code for `machine`; changes `module`."""
    verify(module)
    level = level_of(module)
    if level != LEVELS[-1]:
        main_function(module)
    steps = [PassStep(_load(step)) for step in pipeline_steps(pipeline, options, start=level)]
    PipelineRunner(make_context(), verify_borders=False).run(steps[:-1], module)
    # The llvm dialect knows weights by name only; until then passes make new ones, as folding does.
    buffers = settle_names(module)
    # The last step goes kernel by kernel, so that object code is made while further kernels are lowered.
    parts = _lowered(module) if steps else iter(split(module))
    entry_points = next(parts)
    text, has_prepare = _signature_text(entry_points)
    objects = emit_objects(chain([entry_points], parts), machine, cache=cache)
    weights = {
        str(entry["name"]): _weight(entry, buffers)
        for entry in json.loads(text)["buffers"]
        if entry["kind"] == "weight"
    }
    return CompiledProgram(parse_signature(text), objects, weights, has_prepare)


def _lowered(module: ModuleOp) -> Iterator[ModuleOp]:
    """
    `lower_parts`, which is imported when it is needed.

    Raises:
        InternalFault: for an exception that is no diagnostic, as from any pass.
    """
    from aicc.lowering.loops_to_llvm import ConvertLoopsToLLVMPass, lower_parts

    try:
        yield from lower_parts(module)
    except DiagnosticException:
        raise
    except Exception as error:
        raise InternalFault(f"pass '{ConvertLoopsToLLVMPass.name}'") from error


def _load(step: Step) -> Any:
    assert step.name in OWN_PASSES or step.name in registry().passes, step.name
    return registry().passes[step.name]()(**step.options)


def _signature_text(module: ModuleOp) -> tuple[str, bool]:
    text: str | None = None
    has_prepare = False
    for op in module.ops:
        name = op.properties.get("sym_name")
        if name == StringAttr("main"):
            signature = op.attributes.get("aicc.signature")
            text = signature.data if isinstance(signature, StringAttr) else None
        elif name == StringAttr("prepare"):
            has_prepare = True
    if text is None:
        raise ValueError("the module has no function @main with an aicc.signature")
    return text, has_prepare


def _weight(entry: dict[str, Any], buffers: dict[str, Buffer]) -> np.ndarray:
    name = str(entry["name"])
    buffer = buffers.get(name)
    return (buffer or make_buffer(name, entry.get("file"))).array()
