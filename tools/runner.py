"""Runs a pipeline on a module, with hooks around every pass."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException, ParseError, PassFailedException

from aicc.lowering.levels import level_of
from aicc.lowering.table import PASSES as LOWERING_PASSES
from aicc.tools.pipeline import ANY, NamedStep, NestStep, PassStep, Step
from aicc.transforms.locations import fill_locations
from aicc.transforms.verify import verify


@runtime_checkable
class FunctionPass(Protocol):
    """A pass that can work on one function by itself."""

    def apply_to_function(self, ctx: Context, func: FuncOp, /) -> None: ...


class Instrument:
    """Hooks around the steps of a pipeline; the base class does nothing."""

    def before_nest(self, step: NestStep) -> None: ...

    def after_nest(self, step: NestStep) -> None: ...

    def before_pass(self, module_pass: ModulePass, op: Operation) -> None: ...

    def after_pass(self, module_pass: ModulePass, op: Operation) -> None: ...

    def failed_pass(self, module_pass: ModulePass, op: Operation) -> None: ...


class InternalFault(Exception):
    """A pass that ended in an exception which is not a diagnostic; `__cause__` is that exception."""

    def __init__(self, what: str):
        super().__init__(what)
        self.what = what


class BrokenIR(DiagnosticException):
    """A pass that left IR which does not verify; `error` says what is wrong with it."""

    def __init__(self, what: str, error: DiagnosticException):
        super().__init__(str(error))
        self.what = what
        self.error = error


_DEEP = 100
"""Regions within regions from which on it is them that a pass runs out of calls for, and no fault of its own."""


@contextmanager
def internal_faults(what: str, op: Operation) -> Generator[None, None, None]:
    """
    Around a pass on `op`.

    Raises:
        DiagnosticException, ParseError: as they come, the latter from a pass that reads a file.
        PassFailedException: if regions are nested more deeply than Python calls functions.
        InternalFault: for any other exception.
    """
    try:
        yield
    except (DiagnosticException, ParseError):
        raise
    except Exception as error:
        if isinstance(error, RecursionError) and (depth := _depth(op)) >= _DEEP:
            raise PassFailedException(f"regions are nested {depth} deep, which is too deep for {what}") from error
        raise InternalFault(what) from error


def _depth(root: Operation) -> int:
    """How many regions of ops are within each other."""
    deepest, pending = 0, [(root, 0)]
    while pending:
        op, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += ((inner, depth + 1) for region in op.regions for block in region.blocks for inner in block.ops)
    return deepest


@dataclass
class PipelineRunner:
    """
    Runs steps in order.

    A nested step on a function calls the pass's `apply_to_function` where it has one. Other passes know modules only:
    the op is moved to a scratch module for it, and what the pass leaves there is moved back to where the op stood.
    """

    context: Context
    instruments: Sequence[Instrument] = ()
    verify_each: bool = False
    verify_borders: bool = True
    """Verify after passes that go from one level to the next."""

    current: str = field(default="", init=False)
    """Name of the pass that runs or ran last."""

    def run(self, steps: Sequence[Step], module: ModuleOp) -> None:
        """
        Applies `steps` to `module` in place.

        Raises:
            DiagnosticException: from a pass that cannot do its job.
            ParseError: from a pass that reads a file, for text that is no valid IR.
            BrokenIR: from the verifier, after a pass.
            InternalFault: for any other exception in a pass.
        """
        for step in steps:
            self._run_step(step, module)

    def _run_step(self, step: Step, op: Operation) -> None:
        if isinstance(step, PassStep):
            self._run_pass(step.module_pass, op)
            return
        if isinstance(step, NamedStep):
            if not isinstance(op, ModuleOp):
                raise PassFailedException(f"pipeline '{step.name}' runs on builtin.module, not on '{op.name}'")
            for inner in step.passes(level_of(op)):
                self._run_pass(inner.module_pass, op)
            return
        for instrument in self.instruments:
            instrument.before_nest(step)
        for child in _children(op, step.anchor):
            for inner in step.steps:
                if child.parent is None:
                    break  # A pass removed the op.
                self._run_step(inner, child)
        for instrument in self.instruments:
            instrument.after_nest(step)

    def _run_pass(self, module_pass: ModulePass, op: Operation) -> None:
        self.current = module_pass.name
        for instrument in self.instruments:
            instrument.before_pass(module_pass, op)
        try:
            with internal_faults(f"pass '{module_pass.name}'", op):
                self._apply(module_pass, op)
                fill_locations(op)
        except Exception:
            self._failed(module_pass, op)
            raise
        if self.verify_each or (self.verify_borders and module_pass.name in LOWERING_PASSES):
            try:
                verify(op)
            except DiagnosticException as error:
                self._failed(module_pass, op)
                raise BrokenIR(f"pass '{module_pass.name}'", error) from error
        for instrument in self.instruments:
            instrument.after_pass(module_pass, op)

    def _failed(self, module_pass: ModulePass, op: Operation) -> None:
        for instrument in self.instruments:
            instrument.failed_pass(module_pass, op)

    def _apply(self, module_pass: ModulePass, op: Operation) -> None:
        if isinstance(op, ModuleOp):
            module_pass.apply(self.context, op)
        elif isinstance(op, FuncOp) and isinstance(module_pass, FunctionPass):
            module_pass.apply_to_function(self.context, op)
        else:
            apply_in_scratch_module(lambda scratch: module_pass.apply(self.context, scratch), op)


def apply_in_scratch_module(apply: Callable[[ModuleOp], None], op: Operation) -> None:
    """Runs `apply` on a module that holds `op` alone, and puts what is left in it where `op` stood, also on failure."""
    block = op.parent
    if block is None:
        raise ValueError(f"{op.name} stands in no block")
    following = op.next_op
    outer = op.parent_op()
    op.detach()
    scratch = ModuleOp([op], {} if outer is None else outer.attributes.copy())
    scratch.location = op.location
    try:
        apply(scratch)
    finally:
        for left in list(scratch.body.block.ops):
            left.detach()
            if following is None:
                block.add_op(left)
            else:
                block.insert_op_before(left, following)


def _children(op: Operation, anchor: str) -> list[Operation]:
    found = [child for region in op.regions for block in region.blocks for child in block.ops]
    if anchor == ANY:
        return [child for child in found if child.has_trait(IsolatedFromAbove)]
    return [child for child in found if child.name == anchor]


def op_count(op: Operation) -> int:
    """The number of ops in `op`, itself included."""
    return sum(1 for _ in op.walk())
