"""Pipelines as pass instances: built from text, printed as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import PassFailedException

from aicc.lowering.context import make_context, registry
from aicc.lowering.parse import nearest
from aicc.lowering.pipelines import PIPELINES, PipelineOptions, pipeline_steps
from aicc.lowering.pipelines import Step as PipelineStep
from aicc.tools.pass_options import build_pass, format_pass
from aicc.tools.pipeline_text import NestText, PassText, PipelineError, parse_pipeline_text

MODULE = "builtin.module"
ANY = "any"
DEFAULTS = PipelineOptions()


@dataclass(frozen=True)
class PassStep:
    """One pass on the op at hand."""

    module_pass: ModulePass


@dataclass(frozen=True)
class NestStep:
    """Steps on each op named `anchor` (`any`: of whatever name) that stands directly in a region of the op at hand."""

    anchor: str
    steps: tuple[PassStep | NestStep | NamedStep, ...]


@dataclass(frozen=True)
class NamedStep:
    """A named pipeline; which of its passes run depends on the level of the module at hand."""

    name: str
    options: PipelineOptions

    def passes(self, level: str = "graph") -> tuple[PassStep, ...]:
        """
        The passes from `level` on.

        Raises:
            PassFailedException: if one cannot be loaded.
        """
        return tuple(PassStep(self._load(step)) for step in pipeline_steps(self.name, self.options, start=level))

    def _load(self, step: PipelineStep) -> ModulePass:
        try:
            return registry().passes[step.name]()(**step.options)
        except (KeyError, ImportError) as error:
            raise PassFailedException(f"pass '{step.name}' of pipeline '{self.name}' cannot be loaded") from error


Step = PassStep | NestStep | NamedStep


def build_pipeline(text: str, options: PipelineOptions = DEFAULTS) -> tuple[Step, ...]:
    """
    The steps on the top-level module that `text` spells; `options` are for named pipelines such as `O2`.

    Raises:
        PipelineError: for wrong syntax, an unknown pass or option, or a name that cannot be an anchor.
    """
    elements = parse_pipeline_text(text)
    match elements:
        case (NestText(anchor="builtin.module", elements=inner),):
            elements = inner
        case _:
            pass
    return _build(elements, text, options)


def build_steps(elements: Iterable[PassText], text: str, options: PipelineOptions = DEFAULTS) -> tuple[Step, ...]:
    """The steps for passes given as flags, whose text is `text`."""
    return _build(tuple(elements), text, options)


def _build(elements: tuple[PassText | NestText, ...], text: str, options: PipelineOptions) -> tuple[Step, ...]:
    steps: list[Step] = []
    for element in elements:
        if isinstance(element, PassText):
            steps.append(_build_named(element, text, options))
        else:
            _check_anchor(element, text)
            steps.append(NestStep(element.anchor, _build(element.elements, text, options)))
    return tuple(steps)


def _build_named(spelling: PassText, text: str, options: PipelineOptions) -> Step:
    loaders = registry().passes
    if spelling.name in loaders:
        try:
            module_pass = loaders[spelling.name]()
        except ImportError as error:
            message = f"pass '{spelling.name}' cannot be loaded: {error}"
            raise PipelineError(message, text, spelling.start, spelling.end) from error
        return PassStep(build_pass(module_pass, spelling, text))
    if spelling.name in PIPELINES:
        if spelling.options:
            option = spelling.options[0]
            raise PipelineError(f"pipeline '{spelling.name}' takes no options", text, option.start, option.end)
        return NamedStep(spelling.name, options)
    hint = nearest(spelling.name, [*loaders, *PIPELINES])
    raise PipelineError(f"unknown pass '{spelling.name}'{hint}", text, spelling.start, spelling.end)


def _check_anchor(element: NestText, text: str) -> None:
    if element.anchor == ANY:
        return
    start, end = element.start, element.start + len(element.anchor)
    if element.anchor in registry().passes:
        message = f"'{element.anchor}' is a pass, expected the name of an op before '('; options go in braces"
        raise PipelineError(message, text, start, end)
    context = make_context()
    op = context.get_optional_op(element.anchor)
    if op is None:
        dialect = context.get_optional_dialect(element.anchor.partition(".")[0])
        known = {MODULE, "func.func", ANY, *(() if dialect is None else (op.name for op in dialect.operations))}
        raise PipelineError(f"unknown op '{element.anchor}'{nearest(element.anchor, known)}", text, start, end)
    if not op.has_trait(IsolatedFromAbove):
        message = f"'{element.anchor}' is not isolated from above, so a pipeline cannot run on it alone"
        raise PipelineError(message, text, start, end)


def format_steps(steps: Iterable[Step], *, expand: bool = True) -> str:
    """The steps in nested form, such as `func.func(canonicalize),graph-fuse{max-ops=8}`."""
    parts: list[str] = []
    for step in steps:
        match step:
            case PassStep():
                parts.append(format_pass(step.module_pass))
            case NestStep():
                parts.append(f"{step.anchor}({format_steps(step.steps, expand=expand)})")
            case NamedStep():
                parts.append(format_steps(step.passes()) if expand else step.name)
    return ",".join(parts)


def format_pipeline(steps: Iterable[Step], *, expand: bool = True) -> str:
    """
    The canonical text of a pipeline, which `build_pipeline` reads back to equal steps.

    `expand` spells out named pipelines from the first level on.
    """
    return f"{MODULE}({format_steps(steps, expand=expand)})"
