"""The driver as Python functions, for tools and tests: parse, run a pipeline, render what went wrong."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from aicc.lowering.context import make_context
from aicc.lowering.parse import parse_module
from aicc.lowering.pipelines import PipelineOptions
from aicc.tools import diagnostics
from aicc.tools.pipeline import build_pipeline
from aicc.tools.runner import PipelineRunner
from aicc.transforms.verify import verify

__all__ = ["make_context", "parse_module", "render", "run_pipeline"]


def run_pipeline(module: ModuleOp, text: str, *, target: str = "host", verify_each: bool = False) -> None:
    """
    Verifies `module`, applies the pipeline that `text` spells in place, and verifies again.

    Raises:
        PipelineError: for a text that is not a pipeline.
        DiagnosticException: from the verifier or a pass.
        InternalFault: for another exception in a pass.
    """
    steps = build_pipeline(text, PipelineOptions(target=target))
    verify(module)
    PipelineRunner(make_context(), verify_each=verify_each).run(steps, module)
    verify(module)


def render(error: DiagnosticException | ParseError, source: str = "", filename: str = "<string>") -> str:
    """The text of a diagnostic with source lines, given the `source` that was parsed under the name `filename`."""
    return diagnostics.render(diagnostics.from_exception(error), {filename: source})
