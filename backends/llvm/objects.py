"""Object code and assembly from LLVM IR text, through LLVM's pass pipeline."""

from __future__ import annotations

from functools import cache

import llvmlite.binding as llvm
from xdsl.utils.exceptions import DiagnosticException

from aicc.backends.llvm.targets import Target

PASSES = ("sroa", "simplify_cfg", "instruction_combine", "new_gvn", "simplify_cfg")
"""
LLVM passes before code generation, by llvmlite's names.

What `-O2` does beyond these gained nothing in run time on the networks of `benchmarks/models.py`, and made emission
four times as slow: schedules decide on tiles, vectors and unrolling, and the lowering computes index arithmetic as far
out as it can.
"""


class CodegenError(DiagnosticException):
    """LLVM refuses the text; a fault of the compiler or of IR written by hand."""


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@cache
def _machine(target: Target, opt: int) -> llvm.TargetMachine:
    """Position-independent code, so that an object can be linked anywhere and saved."""
    _initialize()
    try:
        base = llvm.Target.from_triple(target.triple)
    except RuntimeError as error:
        raise CodegenError(f"target '{target.name}' is not in this build of LLVM: {error}") from error
    return base.create_target_machine(cpu=target.cpu, features=target.features, opt=opt, reloc="pic", codemodel="small")


def optimize(text: str, target: Target, opt: int = 2) -> llvm.ModuleRef:
    """
    The module of `text` after `PASSES` (none at level 0); `opt` (0 to 3) is the effort of code generation.

    Raises:
        CodegenError: if LLVM refuses the text.
    """
    machine = _machine(target, opt)
    try:
        module = llvm.parse_assembly(text)
        module.triple = target.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise CodegenError(f"LLVM refuses the module: {str(error).strip()}") from error
    if opt:
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=opt))
        passes = llvm.create_new_module_pass_manager()
        for name in PASSES:
            getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
        passes.close()
        builder.close()
    return module


def emit_object(text: str, target: Target, opt: int = 2) -> bytes:
    """
    An ELF object of the module in `text`.

    Raises:
        CodegenError: if LLVM refuses the text.
    """
    module = optimize(text, target, opt)
    try:
        return _machine(target, opt).emit_object(module)
    finally:
        module.close()


def emit_assembly(text: str, target: Target, opt: int = 2) -> str:
    """
    The assembly of the module in `text`.

    Raises:
        CodegenError: if LLVM refuses the text.
    """
    module = optimize(text, target, opt)
    try:
        return _machine(target, opt).emit_assembly(module)
    finally:
        module.close()
