"""
The `aicc` command: `aicc run` executes a model, `aicc compile` saves it compiled, `aicc check` says what is in one,
`aicc debug` where its numbers go wrong, `aicc reduce` makes one that fails smaller, `aicc import` turns one into
textual IR, `aicc schedules` prints how its kernels are run, `aicc cache` shows what is kept of compilations.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from aicc.tools.compile_options import OF_CODE, add_compile_options
from aicc.tools.deep_calls import deep_calls

_MODEL = "an ONNX or .mlir file, or - for textual IR on standard input"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aicc",
        description="Compiles and runs models. See 'aicc COMMAND --help'; passes are run one by one with aicc-opt.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    run = commands.add_parser("run", help="compile a model and run it", allow_abbrev=False)
    run.add_argument("model", help=f"a saved .aicc file, or {_MODEL}")
    _add_input_options(run)
    folder_help = "folder of the weight files that IR on standard input names (default: the current one)"
    run.add_argument("--weights-folder", metavar="DIR", help=folder_help)
    run.add_argument("--output-dir", metavar="DIR", help="write each output to DIR/<name>.npy instead of printing it")
    run.add_argument("--timing", action="store_true", help="print where compiling took its time, per pass and kernel")
    run.add_argument("--time", action="store_true", help="print compile time and time per run")
    run.add_argument("--trace", metavar="FILE.json", help="write the kernels of a run for Perfetto (with --profile)")
    run.add_argument(
        "--interpret",
        action="store_true",
        help="evaluate the numpy meaning of the graph or tensor_ops IR; compile nothing",
    )
    add_compile_options(
        run,
        [*OF_CODE, "hints", "threads", "cache", "profile"],
        {"profile": "print the time of each kernel, slowest first"},
    )

    compiler = commands.add_parser("compile", help="compile a model into one file", allow_abbrev=False)
    compiler.add_argument("model", help=_MODEL)
    compiler.add_argument("-o", dest="output", required=True, metavar="FILE.aicc", help="output file")
    add_compile_options(compiler, [*OF_CODE, "hints", "cache", "profile"])

    importer = commands.add_parser("import", help="turn an ONNX model into textual IR", allow_abbrev=False)
    importer.add_argument("model", help="an ONNX file")
    importer.add_argument("-o", dest="output", default="-", metavar="FILE.mlir", help="output file (default: stdout)")

    schedules = commands.add_parser(
        "schedules", help="print the schedule of each kernel, to be edited and given back", allow_abbrev=False
    )
    schedules.add_argument("model", help=_MODEL)
    schedules.add_argument("-o", dest="output", default="-", metavar="FILE.mlir", help="output file (default: stdout)")
    add_compile_options(schedules, ["target", "fast_math", "winograd", "bf16_dots", "shapes"])

    check = commands.add_parser(
        "check",
        help="say why a model cannot be compiled, or what it needs: sizes, memory, arithmetic, kernels",
        allow_abbrev=False,
    )
    check.add_argument("model", help="an ONNX or .mlir file")
    _add_size_option(check)
    check.add_argument("--json", action="store_true", help="print everything as JSON")
    check.add_argument("--all", action="store_true", help="show all kernels")
    add_compile_options(check, OF_CODE)

    debug = commands.add_parser(
        "debug",
        help="find the node or the pass that makes a model's numbers wrong, or not finite",
        description="Runs a model compiled and by the numpy meaning of its operators, side by side. Says which node's "
        "error is past the bound first, how much each node adds, and which pass of the compiler changes the result.",
        allow_abbrev=False,
    )
    debug.add_argument("model", help=_MODEL)
    _add_input_options(debug)
    debug.add_argument(
        "--bound",
        type=float,
        default=1e-3,
        metavar="SHARE",
        help="errors up to this share of the largest value are taken for rounding (default: 0.001)",
    )
    debug.add_argument(
        "--check-nan", action="store_true", help="say which nodes make NaN or infinity of finite numbers"
    )
    debug.add_argument("--json", action="store_true", help="print everything as JSON")
    debug.add_argument("--all", action="store_true", help="show all nodes")
    add_compile_options(debug, [*OF_CODE, "threads"])

    reduce = commands.add_parser(
        "reduce",
        help="make a smaller model that shows the same fault",
        description="Leaves out outputs, nodes, sizes, contents and attributes as long as the fault stays: by default "
        "whatever the whole model shows when it is compiled and run beside its numpy meaning.",
        allow_abbrev=False,
    )
    _add_reduce_options(reduce)

    cache = commands.add_parser("cache", help="show, empty or explain the cache of compiled code", allow_abbrev=False)
    _add_cache_parser(cache)

    for command in (cache, check, compiler, debug, reduce, run, importer, schedules):
        command.add_argument("--traceback", action="store_true", help="show where in aicc an error comes from")
    return parser


def _add_reduce_options(reduce: argparse.ArgumentParser) -> None:
    """Declares the arguments of `aicc reduce`."""
    reduce.add_argument("model", help="an ONNX or .mlir file")
    reduce.add_argument("-o", dest="output", metavar="FILE", help="output file (default: MODEL-reduced beside it)")
    reduce.add_argument(
        "--check", choices=("crash", "diagnostic", "difference"), help="what the model must show (default: anything)"
    )
    reduce.add_argument(
        "--command",
        dest="command_line",
        metavar="COMMAND",
        help="keep versions for which this ends with status 0; {} stands for the file, which else comes last",
    )
    reduce.add_argument("--pipeline", metavar="PASSES", help="passes to run on the IR instead of compiling it")
    _add_input_options(reduce)
    reduce.add_argument(
        "--bound", type=float, default=1e-3, help="share of the largest value that is a difference (default: 0.001)"
    )
    reduce.add_argument("--limit", type=float, default=30.0, help="seconds that one version may take (default: 30)")
    reduce.add_argument("--seconds", type=float, default=600.0, help="when to stop (default: 600)")
    add_compile_options(reduce, [*OF_CODE, "threads"])


def _add_input_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE.npy|random",
        help="value of an input; others are random (seed 0), of sizes that fit",
    )
    _add_size_option(parser)


def _add_size_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="SYMBOL=N",
        help="value of a symbol (default 1)",
    )


def _add_cache_parser(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of `aicc cache`."""
    actions = parser.add_subparsers(dest="action", metavar="info|clear|why", required=True)
    actions.add_parser("info", help="where the cache is and what it holds", allow_abbrev=False)
    actions.add_parser("clear", help="remove all entries", allow_abbrev=False)
    why = actions.add_parser("why", help="whether a model is there, and if not, what differs", allow_abbrev=False)
    why.add_argument("model", help="an ONNX or .mlir file")
    add_compile_options(why, [*OF_CODE, "profile"])


@deep_calls()
def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status: 0, 1 for a diagnostic, 2 for wrong usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.version:
        from importlib.metadata import version

        print(f"aicc {version('aicc')}")
        return 0
    if options.command is None:
        parser.print_usage(sys.stderr)
        commands = "run, compile, check, debug, reduce, import, schedules or cache"
        print(f"aicc: error: expected a command: {commands}", file=sys.stderr)
        return 2
    try:
        if options.command == "run":
            from aicc.tools.cli_run import run_command

            return run_command(options)
        if options.command == "compile":
            from aicc.tools.cli_compile import compile_command

            return compile_command(options)
        if options.command == "check":
            from aicc.tools.cli_check import check_command

            return check_command(options)
        if options.command == "debug":
            from aicc.tools.cli_debug import debug_command

            return debug_command(options)
        if options.command == "reduce":
            from aicc.tools.cli_reduce import reduce_command

            return reduce_command(options)
        if options.command == "schedules":
            from aicc.tools.cli_schedules import schedules_command

            return schedules_command(options)
        if options.command == "cache":
            from aicc.tools.cli_cache import cache_command

            return cache_command(options)
        from aicc.tools.cli_import import import_command

        return import_command(options)
    except BrokenPipeError:
        return 1
    except Exception as error:
        if options.traceback:
            raise
        from aicc.tools.cli_errors import report

        return report(error)


if __name__ == "__main__":
    sys.exit(main())
