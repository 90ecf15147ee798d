"""From a module, or what becomes one, to a compiled program: the part of `aicc.compile` that needs the compiler."""

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from aicc.backends.llvm.targets import Target
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.collector import paused_collector
from aicc.dialects.graph.buffers import Buffer, make_buffer, search_folder, settle_names
from aicc.dialects.loops.call import CallOp as KernelCallOp
from aicc.dialects.loops.functions import kernels
from aicc.faults import reproduced
from aicc.forks import Forks
from aicc.lowering.context import OWN_PASSES, make_context, registry
from aicc.lowering.levels import level_of
from aicc.lowering.loops_to_llvm import ConvertLoopsToLLVMPass, lower_parts
from aicc.lowering.pipelines import LEVELS, PipelineOptions, Step, pipeline_steps
from aicc.lowering.signature import main_function
from aicc.objects import Made, keep, make_object, runtime_objects, split
from aicc.runtime.cache import Cache
from aicc.runtime.compiled import CompiledProgram, Machine
from aicc.runtime.signature import parse_signature
from aicc.source import load_module, model_folder
from aicc.tools.deep_calls import deep_calls
from aicc.tools.instruments import watching_instruments
from aicc.tools.pipeline import PassStep
from aicc.tools.runner import InternalFault, PipelineRunner, internal_faults, op_count
from aicc.transforms.auto_schedule_callers import constant_buffers
from aicc.transforms.kernel_clock import tell
from aicc.transforms.kernel_unit import Callers, CallersPass, EntryPointsPass, KernelUnit, UnitPass
from aicc.transforms.loops_apply_schedules import schedules
from aicc.transforms.schedule_writer import SUFFIX
from aicc.transforms.target_facts import TargetFacts, facts_of
from aicc.transforms.verify import verify
from aicc.units import UnitWork
from aicc.versions import aicc_version, library_versions, plug_in_versions


@deep_calls()
def compile_model(
    model: Any,
    pipeline: str,
    options: PipelineOptions,
    machine: Target,
    *,
    cache: bool,
    processes: int = 1,
    version: str | None = None,
) -> CompiledProgram:
    """
    The program of `model`, whatever `aicc.compile` takes; see `compile_module`.

    Raises:
        DiagnosticException, ModelError: the model is broken or holds what is not supported; all of it is listed.
        CompilerFault: a fault in aicc itself; the message says how to reproduce it.
    """
    with paused_collector():
        module = load_module(model, options.shapes)
    folder = model_folder(model)
    with paused_collector(), nullcontext() if folder is None else search_folder(folder):
        try:
            return compile_module(module, pipeline, options, machine, cache=cache, processes=processes, version=version)
        except InternalFault as fault:
            raise reproduced(fault, load_module(model, options.shapes), pipeline, options.target) from fault


def compile_module(
    module: ModuleOp,
    pipeline: str,
    options: PipelineOptions,
    machine: Target,
    *,
    cache: bool = True,
    processes: int = 1,
    version: str | None = None,
) -> CompiledProgram:
    """
    Takes `module` from the level it is at through `pipeline` to object code for `machine`; changes `module`.

    Kernels are made in up to `processes` processes; with more than one, this one must have no threads. `version` is
    that of aicc before it was imported, if it is known.
    """
    store = Cache.open() if cache else None
    version = version or ("" if store is None else aicc_version())
    passes, runner = _passes_for(module, pipeline, options)
    first = units_from(passes)
    runner.run([PassStep(one) for one in passes[:first]], module)
    units = take_units(module)
    work = UnitWork(
        units, [one for one in passes[first:] if isinstance(one, UnitPass)], machine, store, _versions(version)
    )
    order = sorted(range(len(units)), key=lambda index: -op_count(units[index].kernel))
    with Forks(work, min(processes - 1, len(units) // _UNITS_PER_PROCESS)) as forks:
        numbers = {index: forks.add(work.kernel_task(index)) for index in order}
        made = [Made.from_bytes(result) for result in forks.results(numbers[index] for index in range(len(units)))]
        callers = Callers(module, {unit.name: one.demands for unit, one in zip(units, made, strict=True)})
        packers: list[int] = []
        for one in passes[first:-1]:
            if isinstance(one, CallersPass):
                one.apply_to_callers(callers)
                packers += [forks.add(work.packer_task(unit)) for unit in callers.packers]
                callers.packers.clear()
            runner.run([PassStep(one)], module)
        # The llvm dialect knows weights by name only; until then passes make new ones, as folding does.
        buffers = settle_names(module)
        parts = list(_lowered(module, machine.facts()) if passes else split(module))
        text, has_prepare = signature_text(parts[0])
        signature = parse_signature(text)
        rest = [make_object(module_to_llvm_text(part), _name(part), machine, store) for part in parts]
        rest += runtime_objects(signature, machine, store)
        made = [*rest, *made, *(Made.from_bytes(result) for result in forks.results(packers))]
    for work_kind, name, seconds in (time for one in made for time in one.times):
        tell(work_kind, name, seconds)
    # Modules that were imported after the sources had changed are not those of the keys.
    if store is not None and version == aicc_version():
        keep(made, store)
    weights = {
        str(entry["name"]): _weight(entry, buffers)
        for entry in json.loads(text)["buffers"]
        if entry["kind"] == "weight"
    }
    objects = [one.image for one in made]
    return CompiledProgram(signature, objects, weights, has_prepare, machine=_requirements(machine))


def lowered(module: ModuleOp, pipeline: str, options: PipelineOptions) -> tuple[dict[str, Buffer], Iterator[ModuleOp]]:
    """
    The weights of `module` by name, and the modules in the LLVM dialect that it becomes: entry points, then kernels.

    Uses `module` up.
    """
    passes, runner = _passes_for(module, pipeline, options)
    runner.run([PassStep(one) for one in passes[:-1]], module)
    return settle_names(module), _lowered(module, facts_of(options.target)) if passes else iter(split(module))


def _passes_for(module: ModuleOp, pipeline: str, options: PipelineOptions) -> tuple[list[ModulePass], PipelineRunner]:
    """What takes `module`, which is verified, from the level it is at to LLVM, and what runs it."""
    verify(module)
    level = level_of(module)
    if level != LEVELS[-1]:
        main_function(module)
    passes = [_load(step) for step in pipeline_steps(pipeline, options, start=level)]
    return passes, PipelineRunner(make_context(), watching_instruments(), verify_borders=False)


def units_from(passes: Sequence[ModulePass]) -> int:
    """The position of the first of the last passes all of which can do their work with kernels apart."""
    position = len(passes)
    while position and isinstance(passes[position - 1], UnitPass | EntryPointsPass):
        position -= 1
    return position


_UNITS_PER_PROCESS = 4
"""Kernels for each of which one more process pays: it costs as much as making one."""


def _versions(version: str) -> str:
    return json.dumps([version, library_versions(), plug_in_versions()])


def take_units(module: ModuleOp) -> list[KernelUnit]:
    """Leaves declarations in the place of the kernels of `module` that call nothing, and gives these."""
    constants = constant_buffers(module)
    sequences = {op.sym_name.data.removesuffix(SUFFIX): op for op in schedules(module)}
    units: list[KernelUnit] = []
    for kernel in list(kernels(module)):
        if any(isinstance(op, CallOp | KernelCallOp) for op in kernel.walk()):
            continue
        name = kernel.sym_name.data
        declaration = FuncOp(name, kernel.function_type, Region(), kernel.sym_visibility, arg_attrs=kernel.arg_attrs)
        declaration.attributes = dict(kernel.attributes)
        declaration.location = kernel.location
        module.body.block.insert_op_before(declaration, kernel)
        kernel.detach()
        sequence = sequences.get(name)
        if sequence is not None:
            sequence.detach()
        units.append(KernelUnit(kernel, sequence, constants.get(name, frozenset())))
    return units


def _name(part: ModuleOp) -> str:
    """The kernel or entry point that a part is made for: the last function that others can call."""
    names = [op.sym_name.data for op in part.ops if isinstance(op, llvm.FuncOp) and op.body.blocks]
    return names[-1] if names else ""


def _lowered(module: ModuleOp, facts: TargetFacts) -> Iterator[ModuleOp]:
    """
    The entry points and the functions left in `module`, each by itself, for a machine.

    Raises:
        InternalFault: for an exception that is no diagnostic, as from any pass.
    """
    with internal_faults(f"pass '{ConvertLoopsToLLVMPass.name}'", module):
        yield from lower_parts(module, facts.masked_bytes)


def _load(step: Step) -> ModulePass:
    assert step.name in OWN_PASSES or step.name in registry().passes, step.name
    return registry().passes[step.name]()(**step.options)


def _requirements(target: Target) -> Machine:
    """What a machine must have to run code for `target`."""
    enabled = (feature[1:] for feature in target.features.split(",") if feature.startswith("+"))
    return Machine(target.triple, tuple(sorted({*enabled, *target.needs} - _NOT_IN_CODE)))


_NOT_IN_CODE = frozenset({"ibt", "shstk"})
"""Features that processors have, but code is not made for."""


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
        raise DiagnosticException("the module has no function @main with an aicc.signature")
    return text, has_prepare


def _weight(entry: dict[str, Any], buffers: dict[str, Buffer]) -> np.ndarray:
    name = str(entry["name"])
    buffer = buffers.get(name)
    return (buffer or make_buffer(name, entry.get("file"))).array()
