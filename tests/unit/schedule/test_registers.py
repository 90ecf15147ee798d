"""The machine code of a register tile keeps its sums in registers: the loop over steps touches no stack."""

from __future__ import annotations

import re

import pytest

from aicc.backends.llvm.objects import emit_assembly
from aicc.backends.llvm.targets import target_by_name
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.dialects.loops.functions import find_function
from aicc.lowering.context import make_context
from aicc.lowering.loops_to_llvm import lower_module
from aicc.transforms.loops_apply_schedules import LoopsApplySchedulesPass
from aicc.transforms.loops_auto_schedule import LoopsAutoSchedulePass
from tests.unit.schedule.nests import NestCase, conv, matmul, parsed

CASES = {
    "product": matmul(196, 512, 256, constant=True),
    "product of few rows": matmul(8, 256, 96, constant=True),
    "product of run-time operands": matmul(384, 384, 384),
    "first convolution": conv(1, 112, 3, 64, 7, 2),
    "convolution": conv(1, 28, 64, 128, 3, 2),
}


def innermost_loops(assembly: str) -> list[list[str]]:
    """The instructions of each block that ends with a jump to its own start."""
    found: list[list[str]] = []
    block = ["(before)"]
    for line in assembly.splitlines():
        if re.match(r"\S+:", line):
            block = [line]
        elif line.startswith("\t"):
            block.append(line)
            if re.match(r"\tj\w+\t", line):
                if line.split()[-1] + ":" == block[0].split()[0]:
                    found.append(block[1:])
                block = ["(fallen through)"]
    return found


def assembly_of(case: NestCase, target: str) -> str:
    module = parsed(case)
    LoopsAutoSchedulePass(target).apply(make_context(), module)
    LoopsApplySchedulesPass().apply(make_context(), module)
    main = find_function(module, "main")
    assert main is not None
    main.detach()
    main.erase()
    lower_module(module)
    return emit_assembly(module_to_llvm_text(module), target_by_name(target))


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", CASES)
def test_sums_stay_in_registers(name: str, target: str):
    loops = [loop for loop in innermost_loops(assembly_of(CASES[name], target)) if "vfmadd" in "".join(loop)]
    assert max(sum("vfmadd" in line for line in loop) for loop in loops) >= 8
    for loop in loops:
        assert not [line for line in loop if re.search(r"[yz]mm.*\(%rsp|\(%rsp.*[yz]mm", line)]
