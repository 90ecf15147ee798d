"""What a machine lacks to run code."""

import platform

import llvmlite.binding as llvm
import pytest

from aicc.runtime import machine
from aicc.runtime.compiled import Machine

HERE = llvm.get_process_triple()
FEATURES = [name for name, present in llvm.get_host_cpu_features().items() if present]


@pytest.mark.parametrize("known", [True, False])
def test_nothing_is_lacking_for_what_llvm_finds_here(known: bool, monkeypatch: pytest.MonkeyPatch):
    if not known:
        monkeypatch.setattr(machine, "_flags", frozenset)
    assert machine.lacking(Machine(HERE, tuple(FEATURES))) is None


def test_what_is_lacking_is_named():
    absent = "sve2" if platform.machine() == "x86_64" else "avx2"
    assert machine.lacking(Machine(HERE, (*FEATURES, absent))) == f"lacks {absent}"
    assert machine.lacking(Machine("sparc-unknown-linux", ())) == "is no sparc"
