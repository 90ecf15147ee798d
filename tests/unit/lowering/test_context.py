"""Plug-ins beside our own dialects and passes."""

import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
from xdsl.dialects.arith import Arith
from xdsl.ir import Dialect
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.universe import Universe

from aicc.lowering import context
from aicc.lowering.context import make_context, registry

MINE = Universe(
    all_dialects={"mine": lambda: Dialect("mine"), "graph": lambda: Arith, "func": lambda: Arith},
    all_passes={"my-pass": lambda: CanonicalizePass, "canonicalize": lambda: CanonicalizePass},
)


@pytest.fixture
def plug_ins(monkeypatch: pytest.MonkeyPatch):
    def install(*values: str) -> context.Registry:
        entries = [EntryPoint(f"plug{index}", value, "xdsl.universe") for index, value in enumerate(values)]
        monkeypatch.setattr(context, "entry_points", lambda group: entries)
        return registry.__wrapped__()

    return install


def test_names_that_are_taken_are_left_out(plug_ins, monkeypatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "plug_in_under_test", SimpleNamespace(MINE=MINE))
    found = plug_ins("plug_in_under_test:MINE")
    assert found.origins["mine"] == "plug0"
    assert found.origins["graph"] == "aicc"
    assert found.origins["func"] == "xdsl"
    assert "my-pass" in found.passes
    warnings = capsys.readouterr().err.splitlines()
    assert warnings == [
        "aicc: warning: dialect 'graph' of plug-in 'plug0' left out: the name is taken",
        "aicc: warning: dialect 'func' of plug-in 'plug0' left out: the name is taken",
        "aicc: warning: pass 'canonicalize' of plug-in 'plug0' left out: the name is taken",
    ]


def test_broken_plug_ins_are_left_out(plug_ins, capsys: pytest.CaptureFixture[str]):
    plug_ins("no_such_module:X", "math:pi")
    warnings = capsys.readouterr().err
    assert "plug-in 'plug0' left out: ModuleNotFoundError" in warnings
    assert "plug-in 'plug1' left out: math:pi is a float, expected a Universe" in warnings


def test_our_extended_dialects_win():
    assert registry().origins["llvm"] == "aicc"
    assert make_context().get_dialect("llvm").name == "llvm"
