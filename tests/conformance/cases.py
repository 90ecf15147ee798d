"""The cases of the standard's own test suite, as the installed package `onnx` has them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
"""Of the suite's kinds of cases, those whose models come with the package."""

_RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")

EXPANDED = re.compile(r"_expanded(_ver\d+|_function)?$")
"""What the suite appends to the name of a case whose model is the definition of an operator by others."""


@dataclass(frozen=True)
class Case:
    """One model with inputs and expected outputs."""

    name: str
    model: onnx.ModelProto
    rtol: float
    atol: float
    folder: Path | None
    """Where the data lies; None if `data` holds it."""
    data: Sequence[tuple[Sequence[Any], Sequence[Any]]]

    @property
    def domain(self) -> str:
        """The operator set that the case is about: the standard one (empty) unless a node is from another."""
        return min({node.domain for node in self.model.graph.node} - {"", "ai.onnx"}, default="")

    @property
    def deterministic(self) -> bool:
        """Whether the operators define the results; a few draw random numbers instead."""
        return not any(
            node.op_type in _RANDOM or (node.op_type == "Dropout" and len(node.input) > 2 and bool(node.input[2]))
            for node in self.model.graph.node
        )

    def data_sets(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Inputs and expected outputs, each in the order of the model's: arrays, or lists of them for sequences."""
        if self.folder is None:
            for inputs, outputs in self.data:
                yield [_array(value) for value in inputs], [_array(value) for value in outputs]
            return
        graph = self.model.graph
        for folder in sorted(self.folder.glob("test_data_set_*")):
            yield _files(folder, "input", graph.input), _files(folder, "output", graph.output)


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _files(folder: Path, what: str, infos: Sequence[onnx.ValueInfoProto]) -> list[Any]:
    """The values `what_0.pb`, ...: fewer than `infos` where trailing inputs are initializers."""
    values: list[Any] = []
    for i, info in enumerate(infos):
        path = folder / f"{what}_{i}.pb"
        if not path.exists():
            break
        data = path.read_bytes()
        match info.type.WhichOneof("value"):
            case "sequence_type":
                values.append(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
            case "optional_type":
                values.append(numpy_helper.to_optional(onnx.OptionalProto.FromString(data)))
            case _:
                values.append(numpy_helper.to_array(onnx.TensorProto.FromString(data)))
    return values


def load_cases() -> list[Case]:
    """Every case of `KINDS`, in the suite's order."""
    cases: list[Case] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in KINDS:
            # Cases on disk come in the order of the file system.
            found = load_model_tests(kind=kind)
            for case in found if kind == "node" else sorted(found, key=lambda case: case.name):
                folder = None if case.model_dir is None else Path(case.model_dir)
                model = case.model
                if model is None:
                    assert folder is not None
                    model = onnx.load(folder / "model.onnx")
                cases.append(Case(case.name, model, case.rtol, case.atol, folder, case.data_sets or ()))
    return cases


Operator = tuple[str, str]
"""Domain and name."""


def operators_of(cases: Sequence[Case]) -> dict[str, list[Operator]]:
    """
    The operators that each case, by name, is about.

    Those of its model, without what only makes constants for others; an operator's definition by others counts for
    that operator alone.
    """
    result: dict[str, list[Operator]] = {}
    for case in cases:
        named = {("" if n.domain == "ai.onnx" else n.domain, n.op_type): None for n in case.model.graph.node}
        result[case.name] = [op for op in named if op[1] != "Constant"] or list(named)
    for name in result:
        if (short := EXPANDED.sub("", name)) != name and short in result:
            result[name] = result[short]
    return result
