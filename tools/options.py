"""
The command line of `aicc-opt`.

Nothing here imports xDSL: `--help` and `--version` answer at once, and a flag that is not an option of the driver is
kept as text to be looked up among the passes later.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn, cast

DESCRIPTION = "Runs passes over textual IR: parse, verify, transform, verify, print."
EPILOG = """\
Every pass is also a flag, with options after '=':  aicc-opt model.mlir --graph-fuse="max-ops=8" --canonicalize
Pipelines, passes as flags and -O levels run in the order given. Flags may be written with one or two dashes.
--show-passes and --show-dialects list what there is. Exit status: 1 for a diagnostic, 2 for wrong usage.
"""


class UsageError(Exception):
    """A command line that cannot be used."""


class Options(argparse.Namespace):
    """The parsed command line, with the defaults."""

    input_file: str = "-"
    output_file: str = "-"
    steps: list[tuple[str, str]]
    """What to run, in order: (`pipeline`, its text), (`pass`, `name` or `name=options`) or (`level`, `O2`)."""

    target: str = "host"
    fast_math: bool = False
    winograd: bool = True
    bf16_dots: bool = True
    schedules: str | None = None
    emit: str = "mlir"
    split_input_file: bool = False
    verify_diagnostics: bool = False
    verify_each: bool | None = None
    """None: the input, the borders between levels and the end."""

    allow_unregistered_dialect: bool = False
    weights_folder: str | None = None
    print_ir_before: list[str]
    print_ir_after: list[str]
    print_ir_before_all: bool = False
    print_ir_after_all: bool = False
    print_ir_after_change: bool = False
    print_ir_after_failure: bool = False
    print_ir_module_scope: bool = False
    timing: bool = False
    crash_reproducer: str | None = None
    run_reproducer: bool = False
    elide_larger_than: int | None = None
    inline_constants: bool = False
    print_op_generic: bool = False
    print_debuginfo: bool = False
    show_dialects: bool = False
    show_passes: bool = False
    dump_pass_pipeline: bool = False
    traceback: bool = False
    version: bool = False

    def __init__(self) -> None:
        super().__init__()
        self.steps = []
        self.print_ir_before = []
        self.print_ir_after = []


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


class _Step(argparse.Action):
    """Adds to `steps`, so that pipelines, pass flags and levels keep their order."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        kind = cast(str, self.const)
        text = (option_string or "").lstrip("-") if kind == "level" else cast(str, values)
        cast(Options, namespace).steps.append((kind, text))


class _Names(argparse.Action):
    """A comma-separated list of pass names; without one, all passes."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if values == _OPTIONAL_VALUE:
            setattr(namespace, f"{self.dest}_all", True)
        else:
            getattr(namespace, self.dest).extend(name for name in cast(str, values).split(",") if name)


def _boolean(text: str) -> bool:
    if text.lower() in ("1", "true", "on"):
        return True
    if text.lower() in ("0", "false", "off"):
        return False
    raise argparse.ArgumentTypeError(f"'{text}' is not true or false")


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="aicc-opt",
        usage="aicc-opt [options] [--<pass>[=<options>]]... [file.mlir | -]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "input_file", nargs="?", default="-", metavar="file", help="textual IR; '-' or nothing: standard input"
    )

    def flag(group: Any, *names: str, dest: str, help: str) -> None:
        group.add_argument(*names, dest=dest, nargs="?", type=_boolean, const=True, metavar="bool", help=help)

    run = parser.add_argument_group("what to run")
    run.add_argument(
        *("-p", "--pass-pipeline", "--passes"),
        action=_Step,
        const="pipeline",
        dest="steps",
        metavar="TEXT",
        help="passes to run: 'builtin.module(func.func(canonicalize),graph-fuse{max-ops=8})' or 'a{x=1},b'",
    )
    run.add_argument("--pass-flag", action=_Step, const="pass", dest="steps", help=argparse.SUPPRESS)
    for level, text in (("O0", "the plainest road from any level to the llvm dialect"), ("O2", "the optimising one")):
        run.add_argument(f"-{level}", action=_Step, const="level", dest="steps", nargs=0, help=text)
    run.add_argument("--target", metavar="NAME", help="machine to compile for (default: host)")
    flag(run, "--fast-math", dest="fast_math", help="-O levels: reassociate, contract and approximate arithmetic")
    flag(
        run,
        "--winograd",
        dest="winograd",
        help="-O levels: allow Winograd convolutions, whose error is larger (default: true)",
    )
    flag(
        run,
        "--bf16-dots",
        dest="bf16_dots",
        help="-O levels: allow instructions that take subnormal numbers in products of bf16 for 0 (default: true)",
    )
    run.add_argument(
        "--apply-schedules",
        dest="schedules",
        metavar="FILE",
        help="schedules for the kernels that FILE names: in -O2, or without an -O level at once",
    )
    flag(run, "--run-reproducer", dest="run_reproducer", help="run the pipeline in the file's 'configuration:' comment")

    verify = parser.add_argument_group("input and checks")
    flag(verify, "--split-input-file", dest="split_input_file", help="treat the parts between '// -----' lines alone")
    flag(verify, "--verify-diagnostics", dest="verify_diagnostics", help="match diagnostics with 'expected-' comments")
    flag(verify, "--verify-each", dest="verify_each", help="verify after each pass (default: at borders of levels)")
    flag(
        verify,
        "--allow-unregistered-dialect",
        dest="allow_unregistered_dialect",
        help="accept ops and types of unknown dialects",
    )
    verify.add_argument(
        "--weights-folder", metavar="DIR", help="where files of weights are (default: the input's folder)"
    )

    output = parser.add_argument_group("output")
    output.add_argument("-o", "--output-file", metavar="FILE", help="where to write; '-' or nothing: standard output")
    output.add_argument("--emit", choices=("mlir", "llvm", "asm", "obj"), help="what to write (default: mlir)")
    flag(
        output, "--print-op-generic", "--mlir-print-op-generic", dest="print_op_generic", help="print the generic form"
    )
    flag(output, "--print-debuginfo", "--mlir-print-debuginfo", dest="print_debuginfo", help="print locations")
    output.add_argument(
        *("--elide-elementsattrs-if-larger", "--mlir-elide-elementsattrs-if-larger"),
        dest="elide_larger_than",
        type=int,
        metavar="N",
        help="print constants of more than N elements without their data",
    )
    output.add_argument(
        "--elide-large-constants",
        dest="elide_larger_than",
        action="store_const",
        const=16,
        help="the same with N = 16",
    )
    flag(output, "--inline-constants", dest="inline_constants", help="spell out weights that stand in other files")

    debug = parser.add_argument_group("looking inside")
    for when in ("before", "after"):
        debug.add_argument(
            *(f"--print-ir-{when}", f"--mlir-print-ir-{when}"),
            action=_Names,
            dest=f"print_ir_{when}",
            nargs="?",
            metavar="PASS,...",
            help=f"print the IR {when} these passes to standard error; without names, {when} all",
        )
    for name, text in (
        ("print-ir-before-all", "print the IR before every pass"),
        ("print-ir-after-all", "print the IR after every pass"),
        ("print-ir-after-change", "print after a pass only if it changed something (alone: after all that did)"),
        ("print-ir-after-failure", "print the IR after a pass that failed"),
        ("print-ir-module-scope", "print the whole module around the op that a pass runs on"),
    ):
        flag(debug, f"--{name}", f"--mlir-{name}", dest=name.replace("-", "_"), help=text)
    flag(debug, "--timing", "--mlir-timing", dest="timing", help="time and op counts per pass, on standard error")
    debug.add_argument(
        *("--crash-reproducer", "--mlir-pass-pipeline-crash-reproducer"),
        dest="crash_reproducer",
        metavar="FILE",
        help="where to write a reproducer when a pass fails",
    )
    flag(debug, "--traceback", dest="traceback", help="show Python tracebacks")
    flag(debug, "--dump-pass-pipeline", dest="dump_pass_pipeline", help="print the pipeline in canonical form first")

    lists = parser.add_argument_group("listing")
    flag(lists, "--show-passes", dest="show_passes", help="list passes with their options, and named pipelines")
    flag(lists, "--show-dialects", dest="show_dialects", help="list dialects with the number of ops and types")
    flag(lists, "--version", dest="version", help="print versions")
    return parser


def known_flags() -> tuple[str, ...]:
    """The long flags of the driver itself."""
    return tuple(_option_names(_make_parser()))


def _option_names(parser: argparse.ArgumentParser) -> list[str]:
    # argparse offers no public list; the usage of one group's actions is stable since Python 2.7.
    actions = parser._actions  # pyright: ignore[reportPrivateUsage]
    return [name for action in actions for name in action.option_strings if name.startswith("--")]


def parse_arguments(arguments: Sequence[str]) -> Options:
    """
    The options that `arguments` (without the program's name) spell.

    A flag that the driver does not know becomes a `pass` step. `--help` prints and exits.

    Raises:
        UsageError: for a value that is missing or wrong.
    """
    parser = _make_parser()
    known = set(_option_names(parser))
    return parser.parse_args(_normalised(arguments, known), namespace=Options())


_SHORT_WITH_VALUE = ("-o", "-p")
_OPTIONAL_VALUE = "true"


def _normalised(arguments: Sequence[str], known: set[str]) -> list[str]:
    """One dash to two, unknown flags to `--pass-flag=`, and a value of their own for flags that may have one."""
    found: list[str] = []
    takes_next = False
    for position, argument in enumerate(arguments):
        if takes_next:
            found.append(argument)
            takes_next = False
        elif argument == "--":
            return found + list(arguments[position:])
        elif argument == "-" or not argument.startswith("-"):
            found.append(argument)
        elif argument[:2] in _SHORT_WITH_VALUE and argument[2:3] in ("", "="):
            takes_next = argument[2:] == ""
            found.append(argument[:2] if takes_next else f"{_LONG[argument[:2]]}{argument[2:]}")
        elif argument in ("-O0", "-O2", "-h"):
            found.append(argument)
        elif argument.startswith("-O"):
            raise UsageError(f"unknown level '{argument}'; the levels are -O0 and -O2")
        else:
            name, equals, value = ("-" + argument if argument[1] != "-" else argument).partition("=")
            if name not in known:
                found.append(f"--pass-flag={name.removeprefix('--')}{equals}{value}")
            elif name in _VALUED:
                takes_next = not equals
                found.append(f"{name}{equals}{value}")
            elif equals or name in _BARE:
                found.append(f"{name}{equals}{value}")
            else:
                # argparse would take a following file name for the optional value.
                found.append(f"{name}={_OPTIONAL_VALUE}")
    return found


_LONG = {"-o": "--output-file", "-p": "--pass-pipeline"}
_VALUED = frozenset(
    (
        *("--pass-pipeline", "--passes", "--target", "--output-file", "--emit", "--weights-folder"),
        "--apply-schedules",
        *("--elide-elementsattrs-if-larger", "--mlir-elide-elementsattrs-if-larger"),
        *("--crash-reproducer", "--mlir-pass-pipeline-crash-reproducer"),
    )
)
_BARE = frozenset(("--help", "--elide-large-constants"))
