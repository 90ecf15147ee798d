"""Writes docs/onnx-support.md from the importer's tables, the standard's schemas and the outcomes of a whole run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import defs

from aicc.frontends.onnx.importer import NEWEST_OPSET, OLDEST_OPSET
from aicc.frontends.onnx.loading import data_type_name
from aicc.frontends.onnx.table import HANDLERS
from tests.conformance.cases import Case, Operator
from tests.conformance.judge import STATUSES, Outcome

_SHORT = {"float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool", "string": "string"}

_REASON = re.compile(r"\): (.+)$")
"""The part of a diagnostic behind the node and its operator."""

_MOST_LIMITS = 3


def support_text(
    cases: Sequence[Case], outcomes: Sequence[Outcome], operators: Mapping[str, Sequence[Operator]]
) -> str:
    """The document."""
    by_name = {outcome.name: outcome for outcome in outcomes}
    about: dict[Operator, list[Case]] = {}
    for case in cases:
        for operator in operators[case.name]:
            about.setdefault(operator, []).append(case)
    rows = {operator: _row(operator, about.get(operator, []), by_name) for operator in _known_operators(about)}
    lines = [
        "# ONNX operators",
        "",
        "Written by `make conformance`, which runs the test suite that the package `onnx` comes with; not by hand.",
        "",
        f"Operator sets {OLDEST_OPSET} to {NEWEST_OPSET} of the standard are taken. The counts are those of the suite"
        f" of onnx {onnx.__version__}, of its cases whose results the operators define (some draw random numbers). A"
        " case is *unsupported* if the model is refused with a diagnostic that names node, operator and reason;"
        " everything else but *pass* is a fault.",
        "",
        *_totals(cases, by_name),
        "",
        "In the tables, *versions* are those of the operator, *types* the element types of the inputs and outputs of"
        " cases that pass, and *limits* the reasons why others do not. An operator without *cases* is not in the"
        " suite; the project's own tests cover it.",
    ]
    domains = sorted({domain for domain, _ in rows})
    for domain in domains:
        mine = {name: row for (of, name), row in sorted(rows.items()) if of == domain}
        lines += ["", f"## {domain or 'ai.onnx'}", ""]
        lines += ["| operator | versions | cases | pass | types | limits |", "|---|---|---:|---:|---|---|"]
        lines += [f"| {name} | {row} |" for name, row in mine.items()]
    return "\n".join(lines) + "\n"


def _known_operators(about: Mapping[Operator, object]) -> list[Operator]:
    """Those with a handler, those the suite has cases of, and the rest of the standard operator set."""
    standard = [("", schema.name) for schema in defs.get_all_schemas() if schema.domain == "" and not schema.deprecated]
    return sorted({*HANDLERS, *about, *standard})


def _totals(cases: Sequence[Case], by_name: Mapping[str, Outcome]) -> list[str]:
    """A table with the counts of each operator set."""
    counts: dict[str, Counter[str]] = {}
    for case in cases:
        counts.setdefault(case.domain or "ai.onnx", Counter())[by_name[case.name].status] += 1
    lines = [f"| operator set | cases | {' | '.join(STATUSES)} |", "|---|---:|" + "---:|" * len(STATUSES)]
    for domain, of in sorted(counts.items()):
        numbers = " | ".join(str(of[status]) for status in STATUSES)
        lines.append(f"| {domain} | {of.total()} | {numbers} |")
    return lines


def _row(operator: Operator, cases: Sequence[Case], by_name: Mapping[str, Outcome]) -> str:
    ended = [(case, by_name[case.name]) for case in cases]
    passed = [case for case, outcome in ended if outcome.status == "pass"]
    types: dict[str, None] = {}
    for case in passed:
        for value in (*case.model.graph.input, *case.model.graph.output):
            types.update(dict.fromkeys(_type_names(value.type)))
    limits: Counter[str] = Counter()
    for _, outcome in ended:
        if outcome.status == "unsupported":
            limits.update(_reasons(outcome.message))
        elif outcome.status != "pass":
            limits[outcome.status] += 1
    if not cases and operator not in HANDLERS:
        limits["not supported, unless its definition by other operators is"] += 1
    shown = [reason.replace("|", "\\|") for reason, _ in limits.most_common(_MOST_LIMITS)]
    shown += ["..."] * (len(limits) > _MOST_LIMITS)
    columns = (
        ", ".join(map(str, _versions(operator))),
        str(len(cases) or ""),
        str(len(passed)) if cases else "",
        " ".join(sorted(types)),
        "; ".join(shown),
    )
    return " | ".join(columns)


def _versions(operator: Operator) -> list[int]:
    """The versions of an operator that models of the operator sets that are taken may hold."""
    domain, name = operator
    schemas: Sequence[Any] = defs.get_all_schemas_with_history()
    found = sorted(s.since_version for s in schemas if s.domain == domain and s.name == name)
    newest = NEWEST_OPSET if domain == "" else max(found, default=0)
    before = [version for version in found if version <= OLDEST_OPSET][:-1] if domain == "" else []
    return [version for version in found if version <= newest and version not in before]


def _type_names(kind: onnx.TypeProto) -> list[str]:
    match kind.WhichOneof("value"):
        case "tensor_type":
            return [_short(kind.tensor_type.elem_type)]
        case "sequence_type":
            return [f"sequence({name})" for name in _type_names(kind.sequence_type.elem_type)]
        case "optional_type":
            return [f"optional({name})" for name in _type_names(kind.optional_type.elem_type)]
        case _:
            return []


def _short(data_type: int) -> str:
    name = data_type_name(data_type)
    if name in _SHORT:
        return _SHORT[name]
    return name.replace("uint", "u").replace("int", "i")


def _reasons(message: str) -> list[str]:
    """Why nodes, or inputs, of a case are not supported, without their names."""
    reasons: dict[str, None] = {}
    for line in message.splitlines():
        if (found := _REASON.search(line)) is not None:
            reasons[found.group(1)] = None
        elif "input '" in line:
            reasons[line.split("' has ", 1)[-1]] = None
    return list(reasons)
