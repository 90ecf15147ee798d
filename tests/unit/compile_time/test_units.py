"""Kernels compiled by themselves are those of the whole module, and what callers must do for them is told in full."""

from collections.abc import Callable

import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp

from aicc.backends.llvm.targets import target_by_name
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.compilation import take_units, units_from
from aicc.frontends.onnx import import_onnx
from aicc.lowering.context import make_context, registry
from aicc.lowering.loops_to_llvm import lower_parts
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.objects import Made
from aicc.transforms.kernel_unit import Callers, CallersPass, Demands, UnitPass
from aicc.units import UnitWork
from benchmarks.models import encoder_transformer, light

MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "encoder": lambda: encoder_transformer(layers=1, width=64, heads=2),
    "squeezenet": lambda: light("squeezenet"),
}


def passes(pipeline: str, profile: bool):
    steps = pipeline_steps(pipeline, PipelineOptions(target="x86-64-v3", profile=profile))
    return [registry().passes[step.name]()(**step.options) for step in steps]


def lowered_together(module: ModuleOp, pipeline: str, profile: bool) -> list[str]:
    for one in passes(pipeline, profile)[:-1]:
        one.apply(make_context(), module)
    return sorted(module_to_llvm_text(part) for part in lower_parts(module))


def lowered_apart(
    module: ModuleOp, pipeline: str, profile: bool, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    def text_only(text: str, *_: object) -> Made:
        texts.append(text)
        return Made(b"")

    monkeypatch.setattr("aicc.units.make_object", text_only)
    all_passes = passes(pipeline, profile)
    first = units_from(all_passes)
    assert all_passes[first].name in ("loops-auto-schedule", "loops-note-work", "loops-hoist-allocs")
    for one in all_passes[:first]:
        one.apply(make_context(), module)
    units = take_units(module)
    assert units
    work = UnitWork(
        units, [one for one in all_passes[first:] if isinstance(one, UnitPass)], target_by_name("x86-64-v3"), None, ""
    )
    made = [Made.from_bytes(work(work.kernel_task(index))) for index in range(len(units))]
    callers = Callers(module, {unit.name: one.demands for unit, one in zip(units, made, strict=True)})
    for one in all_passes[first:-1]:
        if isinstance(one, CallersPass):
            one.apply_to_callers(callers)
        one.apply(make_context(), module)
    for packer in callers.packers:
        work(work.packer_task(packer))
    return sorted(texts + [module_to_llvm_text(part) for part in lower_parts(module)])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("pipeline", "profile"), [("O2", False), ("O2", True), ("O0", False)])
def test_apart_is_as_together(name: str, pipeline: str, profile: bool, monkeypatch: pytest.MonkeyPatch):
    module = import_onnx(MODELS[name]())
    other = module.clone()
    together = lowered_together(module, pipeline, profile)
    apart = lowered_apart(other, pipeline, profile, [], monkeypatch)
    assert len(apart) == len(together)
    for one, another in zip(apart, together, strict=True):
        assert one == another


def test_demands_survive_as_text():
    module = import_onnx(MODELS["squeezenet"]())
    all_passes = passes("O2", True)
    first = units_from(all_passes)
    for one in all_passes[:first]:
        one.apply(make_context(), module)
    seen = 0
    for unit in take_units(module):
        for one in all_passes[first:]:
            if isinstance(one, UnitPass):
                one.apply_to_unit(unit)
        assert Demands.from_json(unit.demands.to_json()) == unit.demands
        seen += len(unit.demands.packs)
    assert seen
