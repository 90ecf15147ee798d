"""
Which pass changes what a model computes.

At the levels graph and tensor_ops a module is run by its numpy meaning after the passes so far. Below, it is compiled:
with the first of the passes that make loops faster, and with those that compiling cannot do without. Where even the
plain loops come out wrong, and are few enough, they are run by the interpreter of loops. A search by halves needs few
runs; it finds one pass that makes a right result wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.graph.dims import evaluate_dims
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.interfaces import Arrays
from aicc.dialects.graph.unify import integer_symbol_values
from aicc.dialects.loops.functions import kernels, symbol_names
from aicc.dialects.loops.interpreter import Interpreter
from aicc.lowering.levels import level_of
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.lowering.signature import main_function, tensor_infos
from aicc.tools.debug_compare import difference, same_values
from aicc.tools.debug_native import compile_through, load_passes, run_model, run_passes
from aicc.tools.debug_nodes import Setting, names_of
from aicc.transforms.loops_note_work import float_operations

_MOST_OPERATIONS = 300_000
"""On floats, that the interpreter of loops is asked to do."""


@dataclass(frozen=True)
class Blame:
    """The pass after which results are wrong that were right before."""

    passes: tuple[str, ...]
    """One, or several that could not be told apart."""
    position: int
    """Of the first of them in the pipeline, from 1."""
    of: int
    nodes: tuple[str, ...] = ()
    """The first node whose value it changes, where that can be told."""
    error: float = 0.0
    """Of the results after it."""


class PassSearch:
    """A module at the level graph or tensor_ops, its inputs, and its right results: those of its numpy meaning."""

    def __init__(self, module: ModuleOp, inputs: Mapping[str, np.ndarray], setting: Setting) -> None:
        self.inputs = inputs
        self.setting = setting
        self.names = [step.name for step in setting.steps]
        self.passes = load_passes(setting.steps)
        self._snapshots = [module.clone()]
        self._errors: dict[int, float | None] = {}
        self.expected = self._evaluated(self._snapshots[0])

    def error(self, results: Sequence[np.ndarray]) -> float:
        """The largest of the errors that pass their bound; 0 if none does."""
        pairs = zip(results, self.expected, strict=True)
        errors = [(difference(found, right).error, self.setting.bound_of(right)) for found, right in pairs]
        return max((error for error, bound in errors if not error <= bound), default=0.0)

    def search(self) -> Blame | None:
        """None if results are right to the end."""
        module = self._snapshots[0].clone()
        for one in self.passes:
            run_passes(module, [one])
            if level_of(module) not in ("graph", "tensor_ops"):
                break
            self._snapshots.append(module.clone())
        start = upper = len(self._snapshots) - 1
        # What a later pass makes may have no numpy meaning.
        while upper and self._error_after(upper) is None:
            upper -= 1
        found = _first_wrong(0, upper, lambda k: self._error_after(k) or 0.0)
        if found is not None:
            position, error = found
            before, after = self._snapshots[position - 1 : position + 1]
            return self._blame([position - 1], error, self._changed_node(before, after))
        return self._search_loops(start, upper)

    def _error_after(self, count: int) -> float | None:
        """The error of the meaning after the first `count` passes; None where it has none."""
        if count not in self._errors:
            try:
                self._errors[count] = self.error(self._evaluated(self._snapshots[count]))
            except (DiagnosticException, NotImplementedError, KeyError, TypeError, ValueError):
                self._errors[count] = None
        return self._errors[count]

    def _blame(self, positions: Sequence[int], error: float, nodes: tuple[str, ...] = ()) -> Blame:
        return Blame(
            tuple(self.names[position] for position in positions), positions[0] + 1, len(self.names), nodes, error
        )

    def _search_loops(self, start: int, known: int) -> Blame | None:
        """
        Among the passes from the one at `start` on, which goes from tensor_ops to loops, and those from `known` on,
        after which the module has no numpy meaning.
        """
        plain = {step.name for step in pipeline_steps("O0", PipelineOptions(), start="loops")}
        positions = range(start + 1, len(self.passes))
        needed = [k for k in positions if self.names[k] in plain]
        optional = [k for k in positions if self.names[k] not in plain]

        def error(count: int) -> float:
            chosen = [start, *optional[:count], *needed]
            module = self._snapshots[start].clone()
            run_passes(module, [self.passes[k] for k in chosen if k < needed[0]])
            _drop_schedules(module)
            passes = [self.passes[k] for k in chosen if k >= needed[0]]
            return self.error(
                run_model(compile_through(module, passes, self.setting.machine, self.setting.threads), self.inputs)
            )

        if (plainest := error(0)) > 0:
            if known < start:
                return self._blame([*range(known, start + 1), *needed], plainest)
            return self._search_plain([start, *needed], plainest)
        found = _first_wrong(0, len(optional), error)
        return None if found is None else self._blame([optional[found[0] - 1]], found[1])

    def _search_plain(self, positions: Sequence[int], error: float) -> Blame:
        """Among the passes that every program goes through below tensor_ops."""
        module = self._snapshots[-1].clone()
        for number, position in enumerate(positions[:-1]):
            run_passes(module, [self.passes[position]])
            results = self._interpreted(module)
            if results is None:
                return self._blame(positions[number:], error)
            if (wrong := self.error(results)) > 0:
                return self._blame([position], wrong)
        return self._blame(positions[-1:], error)

    def _evaluated(self, module: ModuleOp) -> list[np.ndarray]:
        main = main_function(module)
        return evaluate_function(main, [self.inputs[info.name] for info in tensor_infos(main)[0]], module)

    def _interpreted(self, module: ModuleOp) -> list[np.ndarray] | None:
        """The results of a module at the level loops; None if that takes too long."""
        source = main_function(self._snapshots[0])
        inputs = [self.inputs[info.name] for info in tensor_infos(source)[0]]
        values = integer_symbol_values(source.function_type.inputs.data, [array.shape for array in inputs])
        main = main_function(module)
        symbols = symbol_names(main)
        if any(name not in values for name in symbols):
            return None
        work = [evaluate_dims([float_operations(kernel)], _largest(kernel, values))[0] for kernel in kernels(module)]
        if sum(work) > _MOST_OPERATIONS:
            return None
        # The meaning of a transposition is a view, in whose order an array like it would be.
        outputs = [np.zeros(array.shape, array.dtype) for array in self.expected]
        arguments: list[int | np.ndarray] = [*(values[name] for name in symbols), *map(np.ascontiguousarray, inputs)]
        arguments += outputs
        for argument in main.body.block.args[len(arguments) :]:
            size = None if main.arg_attrs is None else main.arg_attrs.data[argument.index].data.get("aicc.arena")
            if not isinstance(size, StringAttr):
                return None
            arguments.append(np.zeros(evaluate_dims([parse_dim(size.data)], values)[0], np.int8))
        Interpreter(module).call("main", *arguments)
        return outputs

    def _changed_node(self, before: ModuleOp, after: ModuleOp) -> tuple[str, ...]:
        """
        The first node whose last value in `after` is none of its values in `before`.

        A pass may make new values on the way to a node's result, in other layouts too; the last op that stands for a
        node gives its result.
        """
        known: dict[str, list[np.ndarray]] = {}
        for names, arrays in self._values(before):
            for name in names:
                known.setdefault(name, []).extend(arrays)
        for names, arrays in dict(self._values(after)).items():
            for array in arrays:
                rivals = [other for name in names for other in known.get(name, ()) if other.size == array.size]
                if rivals and not any(same_values(array, other, self.setting.bound_of(other)) for other in rivals):
                    return names
        return ()

    def _values(self, module: ModuleOp) -> list[tuple[tuple[str, ...], list[np.ndarray]]]:
        """The names and results of each op that runs, in the order of the last time that it did."""
        found: dict[Operation, list[np.ndarray]] = {}

        def watch(op: Operation, _: Arrays, __: Mapping[str, int], meaning: Callable[[], Arrays]) -> Arrays:
            results = meaning()
            found.pop(op, None)
            found[op] = [np.asarray(array) for array in results]
            return results

        main = main_function(module)
        evaluate_function(main, [self.inputs[info.name] for info in tensor_infos(main)[0]], module, watch=watch)
        return [(names_of(op), arrays) for op, arrays in found.items()]


def _first_wrong(right: int, last: int, error: Callable[[int], float]) -> tuple[int, float] | None:
    """A number from `right+1` to `last` with an error, and the number before without; None if `last` has none."""
    wrong, size = last, error(last) if last > right else 0.0
    if not size:
        return None
    while wrong - right > 1:
        middle = (right + wrong) // 2
        if found := error(middle):
            wrong, size = middle, found
        else:
            right = middle
    return wrong, size


def _drop_schedules(module: ModuleOp) -> None:
    """Schedules that were written, but not carried out."""
    for op in list(module.body.block.ops):
        if isinstance(op, NamedSequenceOp):
            op.detach()
            op.erase()


def _largest(kernel: FuncOp, values: Mapping[str, int]) -> dict[str, int]:
    """The sizes of a kernel for an estimate: its own symbols have the largest value that any has."""
    most = max(values.values(), default=1)
    return dict.fromkeys(symbol_names(kernel), most)
