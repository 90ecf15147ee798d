"""One run of `aicc-opt`: read, split, parse, verify, run the pipeline, print, report."""

from __future__ import annotations

import shlex
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from aicc.lowering.context import load_dialects, make_context
from aicc.lowering.parse import parse_module
from aicc.tools.deep_calls import deep_calls
from aicc.tools.diagnostics import Diagnostic, from_exception, from_message, render
from aicc.tools.emit import emit
from aicc.tools.expected import check_expectations, find_expectations
from aicc.tools.instruments import IRPrinting, Timing
from aicc.tools.options import Options, UsageError
from aicc.tools.pipeline import Step, format_pipeline
from aicc.tools.pipeline_text import PipelineError
from aicc.tools.reproducer import weights_folder, write_reproducer
from aicc.tools.request import pipeline_error_lines, requested_steps, with_configuration
from aicc.tools.runner import BrokenIR, Instrument, InternalFault, PipelineRunner, op_count
from aicc.tools.source import Chunk, InputError, Source, read_source
from aicc.tools.weights import WeightKeeper
from aicc.transforms.diagnostics import diagnostic_handler
from aicc.transforms.kernel_clock import listening
from aicc.transforms.verify import tidy, verify

DIAGNOSTIC_STATUS = 1
USAGE_STATUS = 2

_T = TypeVar("_T")


@deep_calls()
def run(options: Options) -> int:
    """Does what `options` ask for; returns the exit status."""
    try:
        if options.show_dialects or options.show_passes:
            from aicc.tools.listing import dialect_listing, pass_listing

            print(dialect_listing() if options.show_dialects else pass_listing())
            return 0
        if options.run_reproducer:
            source = read_source(options.input_file)
            options = with_configuration(options, source)
            steps = requested_steps(options)
        else:
            # The pipeline first: a mistake in it is found without waiting for the input.
            steps = requested_steps(options)
            source = read_source(options.input_file)
    except PipelineError as error:
        print("\n".join(pipeline_error_lines(error)), file=sys.stderr)
        return USAGE_STATUS
    except UsageError as error:
        print(f"aicc-opt: {error}", file=sys.stderr)
        return USAGE_STATUS
    except InputError as error:
        print(error, file=sys.stderr)
        return DIAGNOSTIC_STATUS
    if options.dump_pass_pipeline:
        print(format_pipeline(steps), file=sys.stderr)
    return _Driver(options, source, steps).run()


class _Reported(Exception):
    """The chunk is given up; what was wrong has been reported."""


class _Driver:
    """The work on one input."""

    def __init__(self, options: Options, source: Source, steps: Sequence[Step]):
        self.options = options
        self.source = source
        self.steps = steps
        self.context = make_context(allow_unregistered=options.allow_unregistered_dialect)
        self.timing = Timing() if options.timing else None
        self.keeper = WeightKeeper()
        self.instruments: list[Instrument] = [self.keeper] if self.timing is None else [self.keeper, self.timing]
        if (
            options.print_ir_before
            or options.print_ir_after
            or options.print_ir_before_all
            or options.print_ir_after_all
            or options.print_ir_after_change
            or options.print_ir_after_failure
        ):
            self.instruments.insert(0, IRPrinting(options))
        self.found: list[Diagnostic] = []
        """Diagnostics of the chunk at hand."""

    def run(self) -> int:
        status = 0
        outputs: list[str | bytes] = []
        for chunk in self.source.chunks(self.options.split_input_file):
            self.found = []
            output = self._run_chunk(chunk)
            if output is not None:
                outputs.append(output)
            status = max(status, self._conclude(chunk))
        try:
            self._write(outputs)
        except OSError as error:
            print(f"aicc-opt: cannot write '{self.options.output_file}': {error.strerror}", file=sys.stderr)
            return DIAGNOSTIC_STATUS
        if self.timing is not None:
            print(self.timing.report(), file=sys.stderr)
        return status

    def _run_chunk(self, chunk: Chunk) -> str | bytes | None:
        """The output for `chunk`, or None after an error."""
        with diagnostic_handler(lambda message: self._report(from_message(message))):
            try:
                with self._weights(chunk):
                    module = self._parse(chunk)
                self._verify(module)
                self._transform(module, chunk)
                return self._timed("Output", lambda: emit(module, self.options, self.context, self.keeper.buffers))
            except InternalFault as fault:
                self._report_fault(fault, chunk)
            except _Reported:
                pass
            except (DiagnosticException, ParseError) as error:
                self._traceback(error)
                self._report(from_exception(error))
            except Exception as error:
                fault = InternalFault("the output" if self.options.emit != "mlir" else "the printer")
                fault.__cause__ = error
                self._report_fault(fault, chunk)
        return None

    def _weights(self, chunk: Chunk) -> AbstractContextManager[object]:
        folder = weights_folder(self.options) or Path(".")
        if "#graph.buffer" not in chunk.text:
            return nullcontext()
        from aicc.dialects.graph.buffers import search_folder

        return search_folder(folder)

    def _parse(self, chunk: Chunk) -> ModuleOp:
        if self.timing is not None:
            # The parser loads dialects as it meets them; their time is not its own.
            self._timed("Import of dialects", lambda: load_dialects(self.context, chunk.text))
        started = time.perf_counter()
        module = parse_module(chunk.text, self.source.name, context=self.context, first_line=chunk.first_line)
        if self.timing is not None:
            self.timing.add("Parser", time.perf_counter() - started, op_count(module))
        return module

    def _verify(self, module: ModuleOp) -> None:
        if self.options.verify_each is not False:
            self._timed("Verifier", lambda: verify(module))

    def _timed(self, name: str, call: Callable[[], _T]) -> _T:
        started = time.perf_counter()
        result = call()
        if self.timing is not None:
            self.timing.add(name, time.perf_counter() - started)
        return result

    def _transform(self, module: ModuleOp, chunk: Chunk) -> None:
        if not self.steps:
            return
        each = self.options.verify_each
        runner = PipelineRunner(self.context, self.instruments, verify_each=each is True, verify_borders=each is None)
        heard = nullcontext() if self.timing is None else listening(self.timing.add_kernel)
        try:
            with heard:
                runner.run(self.steps, module)
            if each is None:
                self._verify_end(module, runner.current)
        except BrokenIR as error:
            self._traceback(error)
            path = write_reproducer(self.steps, chunk.text, self.options, f"{error.what} left IR that does not verify")
            note = Diagnostic("note", f"{error.what} left this, a fault of the pass; to see it: {_command(path)}")
            found = from_exception(error.error)
            self._report(replace(found, notes=(*found.notes, note)))
            raise _Reported from error
        except DiagnosticException as error:
            if self.options.crash_reproducer is None:
                raise
            self._traceback(error)
            path = write_reproducer(self.steps, chunk.text, self.options, f"pass '{runner.current}' failed: {error}")
            found = from_exception(error)
            self._report(replace(found, notes=(*found.notes, Diagnostic("note", f"to see it: {_command(path)}"))))
            raise _Reported from error

    def _verify_end(self, module: ModuleOp, last_pass: str) -> None:
        try:
            self._timed("Verifier", lambda: verify(module))
        except DiagnosticException as error:
            raise BrokenIR(f"the pipeline up to pass '{last_pass}'", error) from error

    def _report_fault(self, fault: InternalFault, chunk: Chunk) -> None:
        cause = fault.__cause__
        self._traceback(fault)
        what = f"internal fault in {fault.what}: {type(cause).__name__}: {cause}"
        path = write_reproducer(self.steps, chunk.text, self.options, what)
        notes = [Diagnostic("note", f"to see it: {_command(path)}")]
        if not self.options.traceback:
            notes.append(Diagnostic("note", "--traceback shows where in the compiler"))
        self._report(Diagnostic("error", tidy(what), place=self.source.name, notes=tuple(notes)))

    def _traceback(self, error: BaseException) -> None:
        if self.options.traceback:
            traceback.print_exception(error)

    def _report(self, diagnostic: Diagnostic) -> None:
        self.found.append(diagnostic)
        if not self.options.verify_diagnostics:
            print(render(diagnostic, self.source.text_of), file=sys.stderr)

    def _conclude(self, chunk: Chunk) -> int:
        """The exit status for the chunk; with --verify-diagnostics after its diagnostics are matched."""
        if not self.options.verify_diagnostics:
            return DIAGNOSTIC_STATUS if any(found.severity == "error" for found in self.found) else 0
        expectations, failures = find_expectations(chunk.text, self.source.name, chunk.first_line)
        failures += check_expectations(expectations, self.found, self.source.name)
        for failure in failures:
            print(render(failure, self.source.text_of), file=sys.stderr)
        return DIAGNOSTIC_STATUS if failures else 0

    def _write(self, outputs: list[str | bytes]) -> None:
        binary = any(isinstance(output, bytes) for output in outputs)
        data = b"".join(output for output in outputs if isinstance(output, bytes))
        text = "// -----\n".join(output for output in outputs if isinstance(output, str))
        if self.options.output_file == "-":
            if binary:
                sys.stdout.buffer.write(data)
            else:
                sys.stdout.write(text)
            sys.stdout.flush()
        elif outputs:
            # A failed run leaves the old file alone.
            path = Path(self.options.output_file)
            if binary:
                path.write_bytes(data)
            else:
                path.write_text(text, encoding="utf-8")


def _command(path: str) -> str:
    return f"aicc-opt {shlex.quote(path)} --run-reproducer"
