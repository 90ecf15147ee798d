"""What `aicc debug` finds: whether results are right, each node's share of the error, and the pass at fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from aicc.backends.llvm.targets import target_by_name
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.lowering.levels import level_of
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.lowering.signature import main_function, tensor_infos
from aicc.tools.debug_compare import Difference, difference
from aicc.tools.debug_native import compile_through, load_passes, run_model
from aicc.tools.debug_nodes import Made, NodeError, Setting, node_errors
from aicc.tools.debug_passes import Blame, PassSearch


@dataclass(frozen=True)
class Finding:
    """All that was found."""

    outputs: tuple[tuple[str, Difference, bool], ...]
    """Of each output: name, difference of the compiled program from the numpy meaning, whether that is in bounds."""
    nodes: tuple[NodeError, ...]
    """The kernels in order."""
    blame: Blame | None
    """The pass at fault; None if results are right, or right again once all passes ran one by one."""

    @property
    def right(self) -> bool:
        """Whether all outputs are within their bounds."""
        return all(within for _, _, within in self.outputs)

    @property
    def first_wrong(self) -> NodeError | None:
        """The first kernel whose own error is past the bound."""
        return next((node for node in self.nodes if not node.within), None)

    @property
    def made(self) -> tuple[Made, ...]:
        """NaN and infinities that come from finite numbers, in the order of the program."""
        return tuple(made for node in self.nodes for made in node.made)

    def share(self, node: NodeError) -> float:
        """The part that a kernel's own error has in the sum of all."""
        finite = [other.own.error for other in self.nodes if np.isfinite(other.own.error)]
        if not np.isfinite(node.own.error):
            return 1.0
        return node.own.error / sum(finite) if node.own.error else 0.0


def debug_module(
    module: ModuleOp,
    inputs: Mapping[str, np.ndarray],
    pipeline: str,
    options: PipelineOptions,
    *,
    threads: int | None,
    bound: float,
) -> Finding:
    """
    Runs `module`, of the level graph or tensor_ops, compiled and by its numpy meaning.

    Raises:
        DiagnosticException: it cannot be compiled or run.
    """
    steps = pipeline_steps(pipeline, options, start=level_of(module))
    setting = Setting(steps, target_by_name(options.target), threads, bound)
    main = main_function(module)
    infos, outputs = tensor_infos(main)
    expected = evaluate_function(main, [inputs[info.name] for info in infos], module)
    found = run_model(compile_through(module.clone(), load_passes(steps), setting.machine, threads), inputs)
    judged: list[tuple[str, Difference, bool]] = []
    for info, one, other in zip(outputs, found, expected, strict=True):
        apart = difference(one, other)
        judged.append((info.name, apart, apart.error <= setting.bound_of(one)))
    nodes = tuple(node_errors(module.clone(), inputs, setting))
    wrong = not all(within for _, _, within in judged)
    blame = PassSearch(module, inputs, setting).search() if wrong or not all(node.within for node in nodes) else None
    return Finding(tuple(judged), nodes, blame)
