"""Objects are made in order, whoever makes them, and a fault is that of the part."""

import threading

import pytest

from aicc.backends.llvm import pool
from aicc.backends.llvm.objects import CodegenError, emit_object
from aicc.backends.llvm.pool import Emitter
from aicc.backends.llvm.targets import host_target


def text(name: str) -> str:
    return f"define i32 @{name}(i32 %x) {{\n  %y = add i32 %x, {len(name)}\n  ret i32 %y\n}}\n"


NAMES = ["a" * length for length in (3, 1, 7, 5, 2)]


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers start for the smallest parts."""
    monkeypatch.setattr(pool, "_WORTH", 50)


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.usefixtures("eager")
def test_objects_come_in_the_order_of_the_parts(processes: int):
    target = host_target()
    with Emitter(target, processes) as emitter:
        for name in NAMES:
            emitter.add(text(name))
        objects = emitter.finish()
    assert objects == [emit_object(text(name), target) for name in NAMES]


@pytest.mark.usefixtures("eager")
def test_a_lost_worker_is_replaced_by_the_caller(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool.sys, "executable", "/bin/false")
    with Emitter(host_target(), 3) as emitter:
        for name in NAMES:
            emitter.add(text(name))
        assert len(emitter.finish()) == len(NAMES)


@pytest.mark.usefixtures("eager")
def test_the_fault_of_a_part_ends_the_emission():
    before = threading.active_count()
    with pytest.raises(CodegenError, match="LLVM refuses"), Emitter(host_target(), 2) as emitter:
        emitter.add(text("good"))
        emitter.add("define void @bad( {")
        emitter.finish()
    assert threading.active_count() == before


def test_leaving_without_finishing_ends_the_workers():
    before = threading.active_count()
    with Emitter(host_target(), 2) as emitter:
        emitter.add(text("a"))
    assert threading.active_count() == before
