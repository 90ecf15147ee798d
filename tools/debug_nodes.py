"""
Which of a model's nodes make how much of its error, and which make NaN or infinity first.

The program is compiled so that it gives the results of all its kernels as well, and run once. Then the module is walked
with numpy: each kernel is computed, in f64 where its meaning allows, from what the compiled kernels before it gave, and
compared with what the compiled one gave. So each kernel answers for its own error alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from aicc.backends.llvm.targets import Target
from aicc.dialects.graph.dims import is_tensor
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.interfaces import Arrays, RegionExecutableOp
from aicc.dialects.graph.unify import integer_symbol_values
from aicc.dialects.tensor_ops.ops import CallOp, KernelOp
from aicc.lowering.pipelines import Step
from aicc.lowering.signature import NAME, main_function, tensor_infos
from aicc.tools.debug_compare import NONE, Difference, difference
from aicc.tools.debug_native import compile_through, load_passes, run_model, run_passes
from aicc.tools.debug_wide import is_discontinuous, wide_function, wide_results
from aicc.transforms.diagnostics import describe_location, location_names
from aicc.transforms.symbols import SymbolSubstitution

FUSE = "graph-fuse"


@dataclass(frozen=True)
class Made:
    """A NaN or infinity that comes from finite numbers."""

    what: str
    """`NaN` or `infinity`."""
    nodes: tuple[str, ...]
    op: str
    place: tuple[int, ...]
    operands: tuple[float, ...]
    """Elements of the operands at that place, for an op that goes element by element."""
    compiled_only: bool
    """Whether the numpy meaning of the op gives something else."""

    def __str__(self) -> str:
        of = f" of {', '.join(f'{value:.6g}' for value in self.operands)}" if self.operands else ""
        only = "; its numpy meaning does not" if self.compiled_only else ""
        return f"{', '.join(self.nodes)} ({self.op}) makes {self.what} at {list(self.place)}{of}{only}"


@dataclass(frozen=True)
class NodeError:
    """The error of one kernel: of one node of the model, or of several fused."""

    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    own: Difference
    """From the meaning of the kernel on what it was given."""
    total: Difference
    """From the meaning of the whole model up to here."""
    within: bool
    """Whether `own` is within the bound."""
    made: tuple[Made, ...] = ()


@dataclass(frozen=True)
class Setting:
    """How modules are compiled and judged."""

    steps: tuple[Step, ...]
    """Of the pipeline."""
    machine: Target
    threads: int | None
    bound: float
    """Of an error, as a share of the largest value expected."""

    def bound_of(self, array: np.ndarray) -> float:
        """The bound for a result: at least a few units in the last place."""
        if array.dtype.kind == "f":
            return max(self.bound, 4 * float(np.finfo(array.dtype).eps))
        # bfloat16 is no float to numpy.
        return max(self.bound, 2.0**-6) if array.dtype.name == "bfloat16" else self.bound


def names_of(op: Operation) -> tuple[str, ...]:
    """The source model's nodes that `op` computes; else where it stands in the text."""
    return location_names(op.location) or (describe_location(op.location),)


def node_errors(module: ModuleOp, inputs: Mapping[str, np.ndarray], setting: Setting) -> list[NodeError]:
    """
    The kernels of `module`, which is at the level graph or tensor_ops, in order; changes `module`.

    The fusion of `setting.steps` decides what is a kernel.
    """
    names = [step.name for step in setting.steps]
    fused = names.index(FUSE) + 1 if FUSE in names else 0
    passes = load_passes(setting.steps)
    run_passes(module, passes[:fused])
    tapped = module.clone()
    originals = _add_taps(main_function(tapped))
    results = run_model(compile_through(tapped, passes[fused:], setting.machine, setting.threads), inputs)
    return list(_Walk(module, inputs, results[originals:], setting, passes[fused:]).errors())


def _is_kernel(op: Operation) -> bool:
    return isinstance(op, KernelOp | CallOp) or (isinstance(op, RegionExecutableOp) and bool(op.regions))


def _add_taps(main: FuncOp) -> int:
    """Makes `main` return the results of its kernels too; how many it returned before."""
    block = main.body.block
    end = block.last_op
    assert isinstance(end, ReturnOp)
    taps = [v for op in block.ops if _is_kernel(op) for v in op.results if is_tensor(v.type)]
    names = [info.name for info in tensor_infos(main)[1]] + [f"aicc tap {i}" for i in range(len(taps))]
    values = [*end.operands, *taps]
    block.insert_op_before(new := ReturnOp(*values), end)
    new.location = end.location
    count = len(end.operands)
    end.detach()
    end.erase()
    main.properties["function_type"] = FunctionType.from_lists(
        list(main.function_type.inputs.data), [value.type for value in values]
    )
    main.properties["res_attrs"] = ArrayAttr([DictionaryAttr({NAME: StringAttr(name)}) for name in names])
    return count


class _Walk:
    """Computes the kernels of a module one by one, beside what the compiled ones gave."""

    def __init__(
        self,
        module: ModuleOp,
        inputs: Mapping[str, np.ndarray],
        captured: Sequence[np.ndarray],
        setting: Setting,
        passes: Sequence[ModulePass],
    ) -> None:
        self.module = module
        self.main = main_function(module)
        self.inputs = [inputs[info.name] for info in tensor_infos(self.main)[0]]
        self.captured = captured
        self.setting = setting
        self.passes = passes
        self._found: list[NodeError] = []
        self._inside: dict[Operation, tuple[Arrays, Mapping[str, int]]] = {}
        """What kernels in loops and branches were given first, in the numpy meaning."""
        self._makers: dict[str, tuple[KernelOp, Arrays, Mapping[str, int]]] = {}
        """The kernel in the loop or branch at hand that makes a NaN or infinity first, and what it was given."""
        self._references: list[list[np.ndarray]] = []

    def errors(self) -> Iterator[NodeError]:
        evaluate_function(self.main, self.inputs, self.module, watch=self._reference)
        rest = iter(self.captured)
        references = iter(self._references)

        def compare(
            op: Operation, operands: Arrays, symbols: Mapping[str, int], meaning: Callable[[], Arrays]
        ) -> Arrays:
            if op.parent is not self.main.body.block or not _is_kernel(op):
                return self._watched_inside(op, operands, symbols, meaning())
            self._makers.clear()
            given = [next(rest) if is_tensor(result.type) else None for result in op.results]
            expected = self._meaning(op, operands, symbols, meaning)
            results = [e if g is None else g for g, e in zip(given, expected, strict=True)]
            self._found.append(self._judged(op, operands, symbols, results, expected, next(references)))
            return results

        evaluate_function(self.main, self.inputs, self.module, watch=compare)
        yield from self._found

    def _watched_inside(self, op: Operation, operands: Arrays, symbols: Mapping[str, int], results: Arrays) -> Arrays:
        """Notes what a kernel in a loop or branch was given."""
        if isinstance(op, KernelOp):
            seen = operands, dict(symbols)
            self._inside.setdefault(op, seen)
            for what, test in _NOT_FINITE.items():
                if any(map(test, results)) and not any(map(test, operands)):
                    self._makers.setdefault(what, (op, *seen))
        return results

    def _reference(
        self, op: Operation, operands: Arrays, symbols: Mapping[str, int], meaning: Callable[[], Arrays]
    ) -> Arrays:
        if op.parent is not self.main.body.block or not _is_kernel(op):
            return meaning()
        results = self._meaning(op, operands, symbols, meaning)
        self._references.append(results)
        return results

    @staticmethod
    def _meaning(
        op: Operation, operands: Arrays, symbols: Mapping[str, int], meaning: Callable[[], Arrays]
    ) -> list[np.ndarray]:
        """In f64, rounded once, where that can be told; else as the ops say."""
        if isinstance(op, KernelOp) and (function := wide_function(op)) is not None:
            wide = wide_results(function, op, operands, symbols)
            if wide is not None:
                return wide
        return list(meaning())

    def _judged(
        self,
        op: Operation,
        operands: Arrays,
        symbols: Mapping[str, int],
        found: Sequence[np.ndarray],
        expected: Sequence[np.ndarray],
        reference: Sequence[np.ndarray],
    ) -> NodeError:
        inner = [inner for inner in op.walk() if inner is not op]
        steps = any(is_discontinuous(other) for other in inner)
        own, total, within = NONE, NONE, True
        for one, other, whole in zip(found, expected, reference, strict=True):
            apart = difference(one, other, steps=1.0 if steps and one.dtype.kind in "iub" else 0.0)
            within &= apart.error <= self.setting.bound_of(one)
            own = max(own, apart, key=lambda d: d.error)
            total = max(total, difference(one, whole), key=lambda d: d.error)
        ops = tuple(other.name for other in inner if other.name != "tensor_ops.yield")[:8] or (op.name,)
        error = NodeError(names_of(op), ops, own, total, within)
        if not within:
            error = self._refined(op, operands, symbols, error)
        made = tuple(self._made(op, operands, symbols, found))
        return replace(error, made=made) if made else error

    def _refined(self, op: Operation, operands: Arrays, symbols: Mapping[str, int], error: NodeError) -> NodeError:
        """
        The node in a kernel, or in those of a loop or branch in the first iteration, that is wrong when each op is a
        kernel of its own; else all of them.
        """
        if isinstance(op, KernelOp):
            several = len(op.body.block.ops) > 2
            kernels = [(op, operands, symbols)] if several else []
        else:
            kernels = [(k, *self._inside[k]) for k in op.walk() if isinstance(k, KernelOp) and k in self._inside]
        for kernel in kernels:
            for inner in self._apart(*kernel):
                if not inner.within:
                    return replace(error, nodes=inner.nodes, ops=inner.ops, own=inner.own)
        return error

    def _apart(self, op: KernelOp, operands: Arrays, symbols: Mapping[str, int]) -> list[NodeError]:
        """The errors of the ops of a kernel, each compiled as a kernel of its own."""
        module = _as_module(op, operands, symbols)
        steps = (Step(FUSE, {"max_ops": 1}), *self.setting.steps[len(self.setting.steps) - len(self.passes) :])
        names = [info.name for info in tensor_infos(main_function(module))[0]]
        return node_errors(module, dict(zip(names, operands, strict=True)), replace(self.setting, steps=steps))

    def _made(
        self, op: Operation, operands: Arrays, symbols: Mapping[str, int], found: Sequence[np.ndarray]
    ) -> Iterator[Made]:
        """What is not finite in `found`, although it is in `operands`, and the op within that makes it."""
        for what, test in _NOT_FINITE.items():
            if not any(map(test, found)) or any(map(test, operands)):
                continue
            inner = self._maker(op, operands, symbols, what, test)
            if inner is None and isinstance(op, KernelOp) and len(op.body.block.ops) > 2:
                inner = next((m for e in self._apart(op, operands, symbols) for m in e.made if m.what == what), None)
            if inner is None:
                array = next(filter(test, found))
                inner = Made(what, names_of(op), op.name, _first(array, test), (), True)
            yield inner

    def _maker(
        self,
        op: Operation,
        operands: Arrays,
        symbols: Mapping[str, int],
        what: str,
        test: Callable[[np.ndarray], bool],
    ) -> Made | None:
        """The first op in `op` whose numpy meaning makes it."""
        if not isinstance(op, KernelOp) and what in self._makers:
            return self._maker(*self._makers[what], what, test)
        makers: list[Made] = []

        def watch(inner: Operation, given: Arrays, symbols: Mapping[str, int], meaning: Callable[[], Arrays]) -> Arrays:
            results = meaning()
            if makers or inner.regions or any(map(test, given)) or not inner.operands:
                return results
            for array in filter(test, results):
                place = _first(array, test)
                values = tuple(float(g[place]) for g in given if g.shape == array.shape and g.dtype.kind != "V")
                makers.append(Made(what, names_of(inner), inner.name, place, values, False))
            return results

        if isinstance(op, KernelOp):
            module = _as_module(op, operands, symbols)
            evaluate_function(main_function(module), operands, module, symbols=symbols, watch=watch)
        return makers[0] if makers else None


def _as_module(op: KernelOp, operands: Arrays, symbols: Mapping[str, int]) -> ModuleOp:
    """A module whose `@main` is the kernel; symbols that its operands do not tell are put in as numbers."""
    region = op.body.clone()
    block = region.block
    end = block.last_op
    assert end is not None
    block.insert_op_before(ReturnOp(*end.operands), end)
    end.detach()
    end.erase()
    types = ([argument.type for argument in block.args], [result.type for result in op.results])
    main = FuncOp("main", types, region)
    main.location = op.location
    module = ModuleOp([main])
    told = integer_symbol_values(types[0], [array.shape for array in operands])
    SymbolSubstitution({name: value for name, value in symbols.items() if name not in told}).apply(module)
    return module


def _has_nan(array: np.ndarray) -> bool:
    return _is_floating(array) and bool(np.isnan(array).any())


def _has_infinity(array: np.ndarray) -> bool:
    return _is_floating(array) and bool(np.isinf(array).any())


_NOT_FINITE: Mapping[str, Callable[[np.ndarray], bool]] = MappingProxyType({"NaN": _has_nan, "infinity": _has_infinity})
"""What is not finite, and whether there is such an element."""


def _is_floating(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" or array.dtype.name == "bfloat16"


def _first(array: np.ndarray, test: Callable[[np.ndarray], bool]) -> tuple[int, ...]:
    """The index of the first element that is not finite in the sense of `test`."""
    bad = np.isnan(array) if test is _has_nan else np.isinf(array)
    return tuple(map(int, np.unravel_index(int(np.argmax(bad)), array.shape)))
