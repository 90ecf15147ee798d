"""What can be watched while a pipeline runs: the IR around passes, and where time and ops go."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from aicc.tools.options import Options
from aicc.tools.pipeline import NestStep
from aicc.tools.printing import op_text
from aicc.tools.runner import Instrument, op_count
from aicc.transforms.kernel_clock import listening


class IRPrinting(Instrument):
    """Prints the IR before and after passes to standard error, under MLIR's banners."""

    def __init__(self, options: Options):
        self._options = options
        self._before = set(options.print_ir_before)
        self._after = set(options.print_ir_after)
        # Alone, "after change" means after every pass that changed something.
        self._after_all = options.print_ir_after_all or (options.print_ir_after_change and not self._after)
        self._digests: list[bytes] = []

    def before_pass(self, module_pass: ModulePass, op: Operation) -> None:
        if self._options.print_ir_before_all or module_pass.name in self._before:
            self._print("Before", module_pass, op)
        if self._options.print_ir_after_change:
            self._digests.append(self._digest(op))

    def after_pass(self, module_pass: ModulePass, op: Operation) -> None:
        changed = not self._options.print_ir_after_change or self._digests.pop() != self._digest(op)
        if changed and (self._after_all or module_pass.name in self._after):
            self._print("After", module_pass, op)

    def failed_pass(self, module_pass: ModulePass, op: Operation) -> None:
        if self._options.print_ir_after_failure:
            self._print("After", module_pass, op, " Failed")

    def _digest(self, op: Operation) -> bytes:
        return blake2b(op_text(op, self._options).encode()).digest()

    def _print(self, when: str, module_pass: ModulePass, op: Operation, outcome: str = "") -> None:
        title = f"IR Dump {when} {type(module_pass).__name__}{outcome} ({module_pass.name})"
        shown = op
        if self._options.print_ir_module_scope:
            name = op.get_attr_or_prop("sym_name")
            if isinstance(name, StringAttr):
                title += f" ('{op.name}' operation: @{name.data})"
            while (parent := shown.parent_op()) is not None:
                shown = parent
        print(f"// -----// {title} //----- //\n{op_text(shown, self._options)}", file=sys.stderr)


_watching: ContextVar[tuple[Instrument, ...]] = ContextVar("instruments", default=())


def watching_instruments() -> tuple[Instrument, ...]:
    """The instruments of the enclosing `Timing.watching`."""
    return _watching.get()


@dataclass
class _Row:
    """One line of the report; a nested pipeline holds further rows."""

    name: str
    seconds: float = 0.0
    ops_before: int | None = None
    ops_after: int | None = None
    rows: list[_Row] = field(default_factory=list["_Row"])


class Timing(Instrument):
    """
    Wall time and op counts per pass, as a tree.

    A pass that runs on several ops (functions, say) has one row with sums over them. Counting ops is not in the times.
    Below the passes stand the kernels, with what making and carrying out schedules and lowering took of each.
    """

    def __init__(self) -> None:
        self._root = _Row("Total")
        self._kernels: dict[str, dict[str, float]] = {}
        self._open = [self._root]
        self._starts: list[float] = []

    def before_nest(self, step: NestStep) -> None:
        row = self._row(f"'{step.anchor}' Pipeline")
        self._open.append(row)

    def after_nest(self, step: NestStep) -> None:
        self._open.pop()

    def before_pass(self, module_pass: ModulePass, op: Operation) -> None:
        row = self._row(module_pass.name)
        row.ops_before = (row.ops_before or 0) + op_count(op)
        self._open.append(row)
        self._starts.append(time.perf_counter())

    def after_pass(self, module_pass: ModulePass, op: Operation) -> None:
        row = self._open.pop()
        row.seconds += time.perf_counter() - self._starts.pop()
        row.ops_after = (row.ops_after or 0) + op_count(op)

    def failed_pass(self, module_pass: ModulePass, op: Operation) -> None:
        self.after_pass(module_pass, op)

    def add(self, name: str, seconds: float, ops: int | None = None) -> None:
        """A row for work outside the passes, such as parsing."""
        self._root.rows.append(_Row(name, seconds, ops_after=ops))

    def add_kernel(self, work: str, kernel: str, seconds: float) -> None:
        """Time spent on one kernel, as `aicc.transforms.kernel_clock` tells it."""
        times = self._kernels.setdefault(kernel, {})
        times[work] = times.get(work, 0.0) + seconds

    def _row(self, name: str) -> _Row:
        row = _Row(name)
        self._open[-1].rows.append(row)
        return row

    @contextmanager
    def watching(self) -> Generator[None]:
        """Pipelines and kernels in this context are timed."""
        token = _watching.set((self,))
        try:
            with listening(self.add_kernel):
                yield
        finally:
            _watching.reset(token)

    def report(self) -> str:
        """The table, widest numbers first, in the order in which things ran."""
        rows = _merged(self._root.rows)
        total = sum(row.seconds for row in rows)
        rule = f"===-{'-' * 73}-==="
        lines = [rule, f"{'... Execution time report ...':^81}".rstrip(), rule]
        lines.append(f"  Total Execution Time: {total:.4f} seconds")
        lines += ["", "  ----Wall Time----  ------Ops------  ----Name----"]
        pending = [(row, 0) for row in reversed(rows)]
        while pending:
            row, depth = pending.pop()
            lines.append(_line(row, depth, total))
            pending += [(inner, depth + 1) for inner in reversed(row.rows)]
        lines.append(_line(_Row("Total", total), 0, total))
        return "\n".join([*lines, *self._kernel_lines()])

    def _kernel_lines(self) -> list[str]:
        """A line for each kernel, the longest first."""
        if not self._kernels:
            return []
        columns = ("schedule", "apply", "lower", "emit")
        lines = ["", f"  {'  '.join(f'{name:>9}' for name in columns)}  ----Kernel----"]
        for name, times in sorted(self._kernels.items(), key=lambda item: -sum(item[1].values())):
            lines.append(f"  {'  '.join(f'{times.get(column, 0.0):9.4f}' for column in columns)}  @{name}")
        return lines


def _merged(rows: list[_Row]) -> list[_Row]:
    """Rows of one nested pipeline, which repeat per op it ran on, summed by name."""
    for row in rows:
        if row.rows:
            summed: dict[str, _Row] = {}
            for inner in _merged(row.rows):
                if inner.name not in summed:
                    summed[inner.name] = inner
                    continue
                first = summed[inner.name]
                first.seconds += inner.seconds
                first.ops_before = _sum(first.ops_before, inner.ops_before)
                first.ops_after = _sum(first.ops_after, inner.ops_after)
            row.rows = list(summed.values())
            row.seconds = sum(inner.seconds for inner in row.rows)
    return rows


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None and right is None else (left or 0) + (right or 0)


def _line(row: _Row, depth: int, total: float) -> str:
    share = 100 * row.seconds / total if total else 0.0
    if row.ops_before is not None:
        ops = f"{row.ops_before} -> {row.ops_after}"
    else:
        ops = "" if row.ops_after is None else str(row.ops_after)
    return f"  {row.seconds:9.4f} ({share:5.1f}%)  {ops:>15}  {'  ' * depth}{row.name}"
