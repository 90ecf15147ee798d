"""Compiles and runs a module that stands somewhere within a pipeline, in this process, for `aicc debug`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from aicc.backends.llvm.targets import Target
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.collector import paused_collector
from aicc.compilation import signature_text
from aicc.dialects.graph.buffers import make_buffer, settle_names
from aicc.lowering.context import make_context, registry
from aicc.lowering.loops_to_llvm import lower_parts
from aicc.lowering.pipelines import Step
from aicc.objects import keep, make_object, runtime_objects
from aicc.runtime.cache import Cache
from aicc.runtime.compiled import CompiledProgram
from aicc.runtime.model import Model
from aicc.runtime.signature import parse_signature
from aicc.tools.pipeline import PassStep
from aicc.tools.runner import PipelineRunner


def load_passes(steps: Sequence[Step]) -> list[ModulePass]:
    """The passes that steps name, with their options."""
    loaders = registry().passes
    return [loaders[step.name]()(**step.options) for step in steps]


def run_passes(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    """
    Runs `passes` on `module`.

    Raises:
        DiagnosticException, InternalFault: from a pass.
    """
    PipelineRunner(make_context(), verify_borders=False).run([PassStep(one) for one in passes], module)


def compile_through(module: ModuleOp, passes: Sequence[ModulePass], machine: Target, threads: int | None) -> Model:
    """
    The program that `module` becomes by exactly these passes, of which the last one goes to LLVM; uses `module` up.

    Objects of kernels come from the cache where they are there: their keys are their LLVM text.
    """
    store = Cache.open()
    with paused_collector():
        run_passes(module, passes[:-1])
        buffers = settle_names(module)
        parts = list(lower_parts(module, machine.facts().masked_bytes))
        text, has_prepare = signature_text(parts[0])
        signature = parse_signature(text)
        made = [make_object(module_to_llvm_text(part), "", machine, store) for part in parts]
        made += runtime_objects(signature, machine, store)
        if store is not None:
            keep(made, store)
    weights: dict[str, np.ndarray] = {}
    for entry in json.loads(text)["buffers"]:
        if entry["kind"] == "weight":
            buffer = buffers.get(entry["name"]) or make_buffer(entry["name"], entry.get("file"))
            weights[entry["name"]] = buffer.array()
    images = [one.image for one in made]
    return Model(CompiledProgram(signature, images, weights, has_prepare), threads=threads)


def run_model(model: Model, inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """The results in order."""
    return list(model.run(inputs).values())
