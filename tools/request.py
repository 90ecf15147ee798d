"""What the command line asks to be run, as steps; mistakes name the nearest thing that exists."""

from __future__ import annotations

import shlex

from aicc.lowering.context import registry
from aicc.lowering.parse import nearest
from aicc.lowering.pipelines import PipelineOptions
from aicc.tools.diagnostics import show_span
from aicc.tools.options import Options, UsageError, known_flags, parse_arguments
from aicc.tools.pipeline import Step, build_pipeline, build_steps
from aicc.tools.pipeline_text import PipelineError, parse_options_text
from aicc.tools.source import Source


def requested_steps(options: Options) -> tuple[Step, ...]:
    """
    The steps of pipelines, pass flags and levels, in the order given.

    Raises:
        UsageError: for an unknown flag, target or name of a pass to print around.
        PipelineError: for a pipeline text or options of a pass that cannot be used.
    """
    passes = registry().passes
    pipeline_options = PipelineOptions(
        target=options.target,
        fast_math=options.fast_math,
        winograd=options.winograd,
        bf16_dots=options.bf16_dots,
        schedules=options.schedules,
    )
    for name in (*options.print_ir_before, *options.print_ir_after):
        if name not in passes:
            raise UsageError(f"unknown pass '{name}' in a --print-ir flag{nearest(name, passes)}")
    if options.target != "host":
        _check_target(options.target)
    if options.schedules is not None and all(kind != "level" for kind, _ in options.steps):
        load = f'loops-load-schedules{{file="{options.schedules}"}}'
        options.steps.insert(0, ("pipeline", f"{load},loops-apply-schedules"))
    steps: list[Step] = []
    for kind, text in options.steps:
        if kind == "pass":
            steps += _flag_steps(text, pipeline_options)
        else:
            steps += build_pipeline(text, pipeline_options)
    return tuple(steps)


def _check_target(name: str) -> None:
    from aicc.backends.llvm.targets import TargetError, target_by_name

    try:
        target_by_name(name)
    except TargetError as error:
        raise UsageError(str(error)) from error


def _flag_steps(text: str, options: PipelineOptions) -> tuple[Step, ...]:
    """The step for a pass written as a flag, `name` or `name=options`."""
    name, _, spelling = text.partition("=")
    flag = f"--{text}"
    try:
        return build_steps([parse_options_text(name, flag, len(flag) - len(spelling))], flag, options)
    except PipelineError as error:
        if error.message.startswith("unknown pass"):
            flags = [*known_flags(), *(f"--{known}" for known in registry().passes)]
            raise UsageError(f"unknown flag '--{name}'{nearest('--' + name, flags)}") from error
        raise


def pipeline_error_lines(error: PipelineError) -> list[str]:
    """The message, then the pipeline with a caret and the column."""
    head = f"aicc-opt: {error.message}"
    if not error.text:
        return [head]
    text, caret = show_span(error.text.replace("\n", " "), error.start, error.end - error.start)
    column = f"column {error.start + 1} | "
    return [head, column + text, " " * (len(column) - 2) + "| " + caret]


def with_configuration(options: Options, source: Source) -> Options:
    """`options` with what the `// configuration:` comment of a reproducer asks for, where they leave it open."""
    configuration = source.configuration()
    if configuration is None:
        raise UsageError(f"'{source.name}' has no '// configuration:' comment to run")
    try:
        found = parse_arguments(shlex.split(configuration))
    except ValueError as error:
        raise UsageError(f"the '// configuration:' comment of '{source.name}' cannot be read: {error}") from error
    options.steps = found.steps + options.steps
    options.target = found.target if options.target == "host" else options.target
    options.verify_each = found.verify_each if options.verify_each is None else options.verify_each
    options.fast_math |= found.fast_math
    options.winograd &= found.winograd
    options.bf16_dots &= found.bf16_dots
    options.schedules = options.schedules or found.schedules
    options.allow_unregistered_dialect |= found.allow_unregistered_dialect
    options.weights_folder = options.weights_folder or found.weights_folder
    return options
