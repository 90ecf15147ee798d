"""
The named pipelines `O0` and `O2`: the passes from `graph` to the LLVM dialect, and why each stands where it does.

A pipeline is a tuple of stages, one per level; a module that is already at a later level enters at that stage.
Steps name passes instead of holding them, so that asking for a pipeline imports no pass.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

PRIVATE_BYTES = 1 << 18
"""Buffers of one thread up to which they lie on its stack, as far as the lowering lets them."""

LEVELS = ("graph", "tensor_ops", "loops", "llvm")


@dataclass(frozen=True)
class PipelineOptions:
    """What a user can ask of a whole pipeline."""

    target: str = "host"
    """Name of a target description."""

    fast_math: bool = False
    """Arithmetic may be reassociated, contracted and approximated, and the sign of zero ignored."""

    winograd: bool = True
    """Convolutions may use Winograd's algorithm, which has a larger (stated) error and spreads NaN and infinity."""

    bf16_dots: bool = True
    """Products of bf16 may be summed by instructions that take subnormal numbers for 0."""

    schedules: str | None = None
    """A file of schedules, for kernels that are not to get the automatic scheduler's."""

    profile: bool = False
    """Main notes how long each kernel call takes."""

    shapes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Numbers that symbols of the inputs' sizes are to be; they are put in when the model is loaded."""


@dataclass(frozen=True)
class Step:
    """One pass with its options, as in pipeline text (option names with underscores)."""

    name: str
    options: Mapping[str, str | int | bool | tuple[str, ...]] = field(
        default_factory=dict[str, str | int | bool | tuple[str, ...]]
    )


@dataclass(frozen=True)
class Stage:
    """The steps that work on one level and end by leaving it."""

    level: str
    steps: tuple[Step, ...]


def _steps(*items: str | Step) -> tuple[Step, ...]:
    return tuple(item if isinstance(item, Step) else Step(item) for item in items)


def _o0(options: PipelineOptions) -> tuple[Stage, ...]:
    """The plainest road: one kernel per operator, plain nests, one thread."""
    return (
        Stage(
            "graph",
            _steps(
                # First: the levels below know calls of kernels only.
                "graph-inline-calls",
                "graph-infer-shapes",
                # Norms, attention and the like have no lowering of their own.
                "graph-decompose",
                Step("graph-fuse", {"max_ops": 1}),
                "tensor-ops-outline-kernels",
                "convert-graph-to-tensor-ops",
            ),
        ),
        Stage("tensor_ops", _steps("convert-tensor-ops-to-loops")),
        Stage("loops", _fast_math(options) + _steps(*_note_work(options)) + _loops_to_llvm(options)),
    )


def _o2(options: PipelineOptions) -> tuple[Stage, ...]:
    """Everything that makes models fast."""
    return (
        Stage(
            "graph",
            _steps(
                # First: the levels below know calls of kernels only.
                "graph-inline-calls",
                "graph-infer-shapes",
                # Constants that loops carry are constants for all that follows.
                "graph-simplify-control",
                # While operands are as the model has them.
                "graph-quantised-products",
                # Before decomposition, which would hide the pattern convolution + batch normalisation.
                "graph-simplify",
                "graph-fold-batch-norm",
                "graph-decompose",
                "graph-fold-constants",
                "graph-simplify",
                # Ops are in pieces, and constants computed, so that what is left in a loop changes.
                "graph-hoist-invariants",
                "graph-merge-equal",
                "dce",
                "graph-fuse",
                # Kernels are shared here, so each later pass sees a distinct one once.
                "tensor-ops-outline-kernels",
                "convert-graph-to-tensor-ops",
            ),
        ),
        Stage(
            "tensor_ops",
            _steps(
                "tensor-ops-fuse",
                # After fusion, which decides the values that are stored at all.
                "tensor-ops-assign-layouts",
                # Both versions of a kernel read and write the same layouts; all that follows may tell them apart.
                Step("tensor-ops-version-kernels", {"target": options.target}),
                # Before padded copies, which its transform of tiles does without.
                *_winograd(options),
                # In the final layouts, and before padded copies, into which operands are packed.
                Step("tensor-ops-dot-products", {"target": options.target, "bf16": options.bf16_dots}),
                # Of contractions that have no such instruction.
                "tensor-ops-widen-floats",
                # After layouts, so that the padded copy has the layout of the convolution.
                "tensor-ops-materialize-padding",
                "convert-tensor-ops-to-loops",
            ),
        ),
        Stage(
            "loops",
            _fast_math(options)
            # Padding before schedules: kernels are plain nests still, and lose one.
            + _steps("loops-simplify", "loops-store-padded")
            + _given_schedules(options)
            + _steps(
                Step("loops-auto-schedule", {"target": options.target}),
                *_note_work(options),
                "loops-apply-schedules",
                "loops-join-rests",
                # After schedules, which decide where a sum waits for its next terms.
                "loops-sum-in-blocks",
                # Before scalar functions are spelt out, for as few lanes as there are.
                Step("loops-narrow-lanes", {"target": options.target}),
                # After schedules, which add the packing of weights.
                "loops-hoist-constants",
            )
            + _loops_to_llvm(options),
        ),
    )


def _fast_math(options: PipelineOptions) -> tuple[Step, ...]:
    """
    Frees all arithmetic to be reassociated, contracted and approximated, where the user allows it.

    Not `nnan` and `ninf`: they would make the infinities that maxima start from undefined.
    """
    flags = ("reassoc", "contract", "arcp", "nsz", "afn")
    return (Step("arith-add-fastmath", {"flags": flags}),) if options.fast_math else ()


def _given_schedules(options: PipelineOptions) -> tuple[Step, ...]:
    """Before the automatic scheduler, which leaves kernels that have a schedule alone."""
    return () if options.schedules is None else (Step("loops-load-schedules", {"file": options.schedules}),)


def _note_work(options: PipelineOptions) -> tuple[str, ...]:
    """While kernels are plain nests and have schedules."""
    return ("loops-note-work",) if options.profile else ()


def _winograd(options: PipelineOptions) -> tuple[Step, ...]:
    given = {"target": options.target, "bf16": options.bf16_dots}
    return _steps(Step("tensor-ops-winograd", given)) if options.winograd else ()


def _loops_to_llvm(options: PipelineOptions) -> tuple[Step, ...]:
    return _steps(
        # Scratch of kernels becomes main's, so that one plan covers all memory.
        # What a thread works in stays in its cache; that of several threads would go through the shared one.
        Step("loops-hoist-allocs", {"private": PRIVATE_BYTES}),
        "loops-plan-memory",
        # Last in main, so that nothing has to know clocks.
        *(["loops-profile"] if options.profile else []),
        "loops-expand-math",
        Step("convert-loops-to-llvm", {"target": options.target}),
    )


PIPELINES: dict[str, Callable[[PipelineOptions], tuple[Stage, ...]]] = {"O0": _o0, "O2": _o2}


def pipeline_steps(name: str, options: PipelineOptions, start: str = "graph", end: str = "llvm") -> tuple[Step, ...]:
    """
    The steps of pipeline `name` that take a module from level `start` to level `end`.

    Raises:
        KeyError: there is no such pipeline.
        ValueError: a level is unknown.
    """
    first, last = LEVELS.index(start), LEVELS.index(end)
    return tuple(
        step for stage in PIPELINES[name](options) if first <= LEVELS.index(stage.level) < last for step in stage.steps
    )
