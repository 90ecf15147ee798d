"""Passes on modules and on single functions, and what happens when one fails."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.lowering.context import make_context
from aicc.lowering.parse import parse_module
from aicc.tools.deep_calls import deep_calls
from aicc.tools.pipeline import NestStep, PassStep
from aicc.tools.runner import BrokenIR, Instrument, InternalFault, PipelineRunner

TEXT = """
func.func @a() { func.return }
func.func @b() { func.return }
module { func.func @inner() { func.return } }
func.func @c() { func.return }
"""


def symbols(op: Operation) -> list[str]:
    found: list[str] = []
    for child in op.regions[0].block.ops:
        name = child.get_attr_or_prop("sym_name")
        found.append(name.data if isinstance(name, StringAttr) else child.name)
    return found


@dataclass(frozen=True)
class RecordPass(ModulePass):
    """Notes the names of what it is run on."""

    name = "record"
    seen: list[list[str]] = field(default_factory=list[list[str]])

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.seen.append(symbols(op))


@dataclass(frozen=True)
class FunctionRecordPass(RecordPass):
    """Can work on a function without a module around it."""

    name = "record-function"

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        assert func.parent is not None
        self.seen.append([func.sym_name.data])


@dataclass(frozen=True)
class TwinPass(ModulePass):
    """Replaces each function by two."""

    name = "twin"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.body.block.ops):
            assert isinstance(func, FuncOp)
            twin = func.clone()
            twin.properties["sym_name"] = StringAttr(func.sym_name.data + "2")
            op.body.block.insert_op_after(twin, func)


@dataclass(frozen=True)
class RaisePass(ModulePass):
    """Fails."""

    name = "raise"
    error: type[Exception] = ValueError

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise self.error("no")


@dataclass(frozen=True)
class BreakPass(ModulePass):
    """Takes the terminators away."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.walk():
            if isinstance(func, FuncOp) and (last := func.body.block.last_op) is not None:
                last.detach()
                last.erase()


@pytest.fixture
def module() -> Iterator[ModuleOp]:
    yield parse_module(TEXT)


def run(module: ModuleOp, *steps: PassStep | NestStep, **options: bool) -> None:
    PipelineRunner(make_context(), **options).run(steps, module)


def test_pass_on_the_module(module: ModuleOp):
    record = RecordPass()
    run(module, PassStep(record))
    assert record.seen == [["a", "b", "builtin.module", "c"]]


def test_nested_pass_sees_each_function_alone_and_in_order(module: ModuleOp):
    record = RecordPass()
    before = symbols(module)
    run(module, NestStep("func.func", (PassStep(record),)))
    assert record.seen == [["a"], ["b"], ["c"]]
    assert symbols(module) == before
    assert all(child.parent is module.body.block for child in module.body.block.ops)


def test_nested_module_is_not_wrapped(module: ModuleOp):
    record = RecordPass()
    run(module, NestStep("builtin.module", (NestStep("func.func", (PassStep(record),)), PassStep(record))))
    assert record.seen == [["inner"], ["inner"]]


def test_any_takes_every_isolated_op(module: ModuleOp):
    record = RecordPass()
    run(module, NestStep("any", (PassStep(record),)))
    assert record.seen == [["a"], ["b"], ["inner"], ["c"]]


def test_function_method_is_preferred(module: ModuleOp):
    record = FunctionRecordPass()
    run(module, NestStep("func.func", (PassStep(record),)))
    assert record.seen == [["a"], ["b"], ["c"]]


def test_attributes_of_the_module_are_seen_by_nested_passes(module: ModuleOp):
    module.attributes["flag"] = UnitAttr()
    seen: list[bool] = []

    @dataclass(frozen=True)
    class LookPass(ModulePass):
        name = "look"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            seen.append("flag" in op.attributes)

    run(module, NestStep("func.func", (PassStep(LookPass()),)))
    assert seen == [True] * 3


def test_what_a_nested_pass_adds_stands_beside_its_function(module: ModuleOp):
    run(module, NestStep("func.func", (PassStep(TwinPass()),)))
    assert symbols(module) == ["a", "a2", "b", "b2", "builtin.module", "c", "c2"]


def test_other_exceptions_are_internal_faults(module: ModuleOp):
    with pytest.raises(InternalFault, match="pass 'raise'") as caught:
        run(module, NestStep("func.func", (PassStep(RaisePass()),)))
    assert isinstance(caught.value.__cause__, ValueError)
    assert symbols(module) == ["a", "b", "builtin.module", "c"]


@pytest.mark.parametrize("depth", [10, 200])
def test_only_deep_regions_are_to_blame_for_deep_calls(depth: int):
    with deep_calls():
        module = parse_module("module {" * (depth + 1) + "}" * (depth + 1))
        error = PassFailedException if depth > 100 else InternalFault
        with pytest.raises(error, match=f"nested {depth} deep.* for pass 'raise'" if depth > 100 else "pass 'raise'"):
            run(module, PassStep(RaisePass(RecursionError)))


def test_deep_calls_are_as_before_afterwards():
    before = sys.getrecursionlimit()
    with deep_calls():
        with deep_calls():
            assert sys.getrecursionlimit() > before
        assert sys.getrecursionlimit() > before
    assert sys.getrecursionlimit() == before


def test_diagnostics_pass_through(module: ModuleOp):
    with pytest.raises(PassFailedException, match="no"):
        run(module, PassStep(RaisePass(PassFailedException)))


def test_verify_each_names_the_pass(module: ModuleOp):
    with pytest.raises(BrokenIR, match="terminator") as caught:
        run(module, PassStep(BreakPass()), verify_each=True)
    assert caught.value.what == "pass 'break'"


def test_instruments_see_passes_in_order(module: ModuleOp):
    events: list[str] = []

    class Log(Instrument):
        def before_pass(self, module_pass: ModulePass, op: Operation) -> None:
            events.append(f"before {module_pass.name}")

        def after_pass(self, module_pass: ModulePass, op: Operation) -> None:
            events.append(f"after {module_pass.name}")

        def failed_pass(self, module_pass: ModulePass, op: Operation) -> None:
            events.append(f"failed {module_pass.name}")

    with pytest.raises(InternalFault):
        PipelineRunner(make_context(), [Log()]).run([PassStep(RecordPass()), PassStep(RaisePass())], module)
    assert events == ["before record", "after record", "before raise", "failed raise"]
