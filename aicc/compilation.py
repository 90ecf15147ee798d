"""From a module, or what becomes one, to a compiled program: the part of `aicc.compile` that needs the compiler."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import DiagnosticException

from aicc.backends.llvm.targets import Target
from aicc.collector import paused_collector
from aicc.dialects.graph.buffers import Buffer, make_buffer, search_folder, settle_names
from aicc.faults import reproduced
from aicc.lowering.context import OWN_PASSES, make_context, registry
from aicc.lowering.levels import level_of
from aicc.lowering.pipelines import LEVELS, PipelineOptions, Step, pipeline_steps
from aicc.lowering.signature import main_function
from aicc.objects import emit_objects, split
from aicc.runtime.compiled import CompiledProgram, Machine
from aicc.runtime.signature import parse_signature
from aicc.source import load_module, model_folder
from aicc.tools.instruments import watching_instruments
from aicc.tools.pipeline import PassStep
from aicc.tools.runner import InternalFault, PipelineRunner
from aicc.transforms.verify import verify


def compile_model(
    model: Any, pipeline: str, options: PipelineOptions, machine: Target, *, cache: bool
) -> CompiledProgram:
    """
    The program of `model`, whatever `aicc.compile` takes.

    Raises:
        DiagnosticException, ModelError: the model is broken or holds what is not supported; all of it is listed.
        CompilerFault: a fault in aicc itself; the message says how to reproduce it.
    """
    with paused_collector():
        module = load_module(model)
    folder = model_folder(model)
    with paused_collector(), nullcontext() if folder is None else search_folder(folder):
        try:
            return compile_module(module, pipeline, options, machine, cache=cache)
        except InternalFault as fault:
            raise reproduced(fault, load_module(model), pipeline, options.target) from fault


def compile_module(
    module: ModuleOp,
    pipeline: str,
    options: PipelineOptions,
    machine: Target,
    *,
    cache: bool = True,
) -> CompiledProgram:
    """Takes `module` from the level it is at through `pipeline` to object code for `machine`; changes `module`."""
    buffers, parts = lowered(module, pipeline, options)
    entry_points = next(parts)
    text, has_prepare = signature_text(entry_points)
    objects = emit_objects(chain([entry_points], parts), machine, cache=cache)
    weights = {
        str(entry["name"]): _weight(entry, buffers)
        for entry in json.loads(text)["buffers"]
        if entry["kind"] == "weight"
    }
    return CompiledProgram(parse_signature(text), objects, weights, has_prepare, machine=_requirements(machine))


def lowered(module: ModuleOp, pipeline: str, options: PipelineOptions) -> tuple[dict[str, Buffer], Iterator[ModuleOp]]:
    """
    The weights of `module` by name, and the modules in the LLVM dialect that it becomes: entry points, then kernels.

    The last step goes kernel by kernel, so that object code is made while others are lowered. Uses `module` up.
    """
    verify(module)
    level = level_of(module)
    if level != LEVELS[-1]:
        main_function(module)
    steps = [PassStep(_load(step)) for step in pipeline_steps(pipeline, options, start=level)]
    PipelineRunner(make_context(), watching_instruments(), verify_borders=False).run(steps[:-1], module)
    # The llvm dialect knows weights by name only; until then passes make new ones, as folding does.
    buffers = settle_names(module)
    return buffers, _lowered(module) if steps else iter(split(module))


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


def _requirements(target: Target) -> Machine:
    """What a machine must have to run code for `target`."""
    enabled = (feature[1:] for feature in target.features.split(",") if feature.startswith("+"))
    return Machine(target.triple, tuple(sorted({*enabled, *target.needs})))


def signature_text(module: ModuleOp) -> tuple[str, bool]:
    """The signature of the program with these entry points, and whether it has a `prepare`."""
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
