"""
What can be said of a model without running it: why it cannot be compiled, where its sizes come from, memory, arithmetic
and the kernels it becomes. The model is taken through the whole pipeline, but no object code is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from aicc.collector import paused_collector
from aicc.compilation import lowered, signature_text
from aicc.dialects.graph.buffers import BufferAttr, search_folder
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.graph.dims import dim_sum, dims_of, evaluate_dims, symbols_of, tensor_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.symbol_names import check_symbols
from aicc.frontends.errors import ModelError, Problem
from aicc.lowering.pipelines import PipelineOptions
from aicc.runtime.signature import Signature, TensorInfo, parse_signature
from aicc.source import load_module, model_folder, refuse_programs
from aicc.tools.diagnostics import from_exception
from aicc.transforms.diagnostics import LocatedError, location_names


@dataclass(frozen=True)
class SymbolFact:
    """A size that is known when the model runs."""

    name: str
    sources: tuple[str, ...]
    """Where its value comes from, in words; those that come later must agree with the first."""


@dataclass(frozen=True)
class Amount:
    """A number of bytes or operations: a formula over the symbols, and its value for the sizes asked for."""

    formula: str
    value: int | None
    """None where it depends on sizes that only data tells."""


@dataclass(frozen=True)
class KernelFact:
    """A kernel after fusion."""

    name: str
    calls: int
    nodes: tuple[str, ...]
    """The source model's nodes in all its calls."""
    flops: Amount | None
    """Of all calls; None where the operations are not known."""
    bytes: Amount
    """Read and written by all calls, each buffer once per call."""
    schedule: str


@dataclass(frozen=True)
class Memory:
    """What the model occupies."""

    weights: int
    """Bytes of the model's constants."""
    kept: int
    """Of these, what the compiled program reads as it is."""
    packed: int
    """Bytes of what is computed of constants when the program is loaded, such as packed weights."""
    arena: Amount
    """Intermediate values of a call."""
    results: Amount
    """The outputs of a call."""
    pooled: int
    """Number of buffers whose size only data tell, beside the arena."""


@dataclass(frozen=True)
class Report:
    """All facts; after `problems` that stop the compiler, the later ones are missing."""

    model: str
    facts: Mapping[str, Any]
    """Of the model's file: producer, operator sets, operators with their number."""
    problems: tuple[Problem, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """The values that the symbols have in `Amount.value`."""
    notes: tuple[str, ...] = ()
    """What the model says of itself and is not so."""
    inputs: tuple[Mapping[str, Any], ...] = ()
    """Name, dtype and shape of each."""
    outputs: tuple[Mapping[str, Any], ...] = ()
    symbols: tuple[SymbolFact, ...] = ()
    relations: tuple[str, ...] = ()
    """What is checked when the model runs."""
    memory: Memory | None = None
    flops: Amount | None = None
    kernels: tuple[KernelFact, ...] = ()


def check_model(model: str, options: PipelineOptions, pipeline: str, sizes: Mapping[str, int]) -> Report:
    """
    The report on the file `model`, compiled with `options`. Symbols that `sizes` has no value for are 1.

    Raises:
        ParseError, DiagnosticException: the file is no model at all, or what is wrong is not about a node of it.
        UnknownSymbolError: `sizes` names what is no symbol of the model.
    """
    refuse_programs(Path(model))
    facts = _onnx_facts(Path(model)) if Path(model).suffix != ".mlir" else dict[str, Any]()
    with paused_collector():
        try:
            module = load_module(model, options.shapes)
        except ModelError as error:
            if not error.problems:
                raise
            return Report(model, facts, error.problems)
        facts = facts or {"operators": _counted(op.name for op in module.walk() if op.name.startswith("graph."))}
        weights = _weight_bytes(module)
        with search_folder(model_folder(model) or Path()):
            try:
                # Kernels note their work for a profile.
                buffers, parts = lowered(module, pipeline, replace(options, profile=True))
                signature = parse_signature(signature_text(next(parts))[0])
            except LocatedError as error:
                if not (nodes := location_names(error.location)):
                    raise
                return Report(model, facts, (Problem(", ".join(nodes), "compiler", None, from_exception(error).text),))
        names = [buffer.name for buffer in signature.buffers if buffer.kind == "weight" and buffer.kept]
        kept = sum(buffers[name].array().nbytes for name in names)
    notes = tuple(_contradictions(Path(model), signature)) if Path(model).suffix != ".mlir" else ()
    return _report(Report(model, facts, notes=notes), weights, kept, signature, sizes)


def _onnx_facts(path: Path) -> dict[str, Any]:
    from aicc.frontends.onnx.loading import load

    proto = load(path).proto
    producer = f"{proto.producer_name} {proto.producer_version}".strip()
    opsets = {entry.domain or "ai.onnx": entry.version for entry in proto.opset_import}
    operators: list[str] = []
    pending = [proto.graph]
    while pending:
        for node in pending.pop().node:
            standard = node.domain in ("", "ai.onnx")
            operators.append(node.op_type if standard else f"{node.domain}::{node.op_type}")
            for attribute in node.attribute:
                pending += [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
    return {"producer": producer, "opsets": opsets, "operators": _counted(operators)}


def _contradictions(path: Path, signature: Signature) -> Iterator[str]:
    """Outputs for which the model declares another shape than its nodes give."""
    from aicc.frontends.onnx.loading import load

    found = {info.name: info.shape for info in signature.outputs}
    for value in load(path).proto.graph.output:
        type = value.type.tensor_type
        if value.name not in found or not type.HasField("shape"):
            continue
        shape = found[value.name]
        declared = [dim.dim_param or (dim.dim_value if dim.HasField("dim_value") else "?") for dim in type.shape.dim]
        fits = len(declared) == len(shape) and all(
            isinstance(one, str) or isinstance(other, str) or one == other
            for one, other in zip(declared, shape, strict=True)
        )
        if not fits:
            texts = (f"[{', '.join(map(str, dims))}]" for dims in (declared, shape))
            yield "output '{}' is declared {}, but its nodes give {}".format(value.name, *texts)


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _weight_bytes(module: ModuleOp) -> int:
    """Of all constants; a buffer that several share counts once."""
    sizes: dict[object, int] = {}
    for op in module.walk():
        if isinstance(op, ConstantOp):
            value = op.properties["value"]
            dtype = numpy_dtype(tensor_of(op.results[0].type).element_type)
            shape = evaluate_dims(dims_of(op.results[0].type), {})
            sizes[value.data.name if isinstance(value, BufferAttr) else op] = dtype.itemsize * prod(shape)
    return sum(sizes.values())


def _report(begun: Report, weights: int, kept: int, signature: Signature, sizes: Mapping[str, int]) -> Report:
    check_symbols(sizes, signature.symbols)
    values = {name: sizes.get(name, 1) for name in signature.symbols}

    def amount(texts: Iterable[str]) -> Amount:
        total = dim_sum([parse_dim(text) for text in texts])
        known = all(name in values for name in symbols_of([total]))
        return Amount(str(total), evaluate_dims([total], values)[0] if known else None)

    def of_kind(kind: str) -> list[str]:
        return [buffer.size for buffer in signature.buffers if buffer.kind == kind]

    def bytes_of(infos: Iterable[TensorInfo]) -> Iterator[str]:
        for info in infos:
            yield "*".join([str(info.dtype.itemsize), *(f"({dim})" for dim in info.shape)])

    rows: dict[str, list[int]] = {}
    for number, call in enumerate(signature.profile):
        if call.version:
            continue
        rows.setdefault(call.kernel, []).append(number)
    kernels: list[KernelFact] = []
    for name, numbers in rows.items():
        calls = [signature.profile[number] for number in numbers]
        known = [call.flops for call in calls if call.flops is not None]
        kernels.append(
            KernelFact(
                name,
                len(calls),
                tuple(dict.fromkeys(node for call in calls for node in call.nodes)),
                amount(known) if len(known) == len(calls) else None,
                amount(call.bytes for call in calls),
                calls[0].schedule,
            )
        )
    return replace(
        begun,
        sizes=values,
        inputs=tuple(map(_described, signature.inputs)),
        outputs=tuple(map(_described, signature.outputs)),
        symbols=_symbols(signature),
        relations=tuple(_relations(signature)),
        memory=Memory(
            weights,
            kept,
            sum(int(size) for size in of_kind("prepared")),
            amount(of_kind("arena")),
            amount(bytes_of(signature.outputs)),
            signature.pooled,
        ),
        flops=amount(call.flops for call in signature.profile if call.flops is not None and not call.version),
        kernels=tuple(kernels),
    )


def _described(info: TensorInfo) -> dict[str, Any]:
    return {"name": info.name, "dtype": info.dtype.name, "shape": list(info.shape)}


def _symbols(signature: Signature) -> tuple[SymbolFact, ...]:
    found: list[SymbolFact] = []
    for name in signature.symbols:
        sources = [
            f"'{info.name}' dim {axis}{'' if dim == name else f' ({dim})'}"
            for info in signature.inputs
            for axis, dim in enumerate(info.shape)
            if isinstance(dim, str) and name in symbols_of([parse_dim(dim)])
        ]
        found.append(SymbolFact(name, tuple(sources)))
    stops = {stop.size: stop for stop in signature.stops if stop.size}
    for name in dict.fromkeys([*signature.defined, *stops]):
        stop = stops.get(name)
        most = f", at most {stop.most}" if stop is not None and stop.most else ""
        nodes = f" of {', '.join(stop.nodes)}" if stop is not None and stop.nodes else ""
        found.append(SymbolFact(name, (f"the data{nodes}{most}",)))
    return tuple(found)


def _relations(signature: Signature) -> Iterator[str]:
    seen: dict[tuple[str, str], list[str]] = {}
    checks: Sequence[tuple[str, str, str]] = [
        *((check.lhs, check.rhs, check.text) for check in signature.checks),
        *((stop.lhs, stop.rhs, stop.text) for stop in signature.stops if not stop.size),
    ]
    for lhs, rhs, text in checks:
        seen.setdefault((lhs, rhs), []).append(text)
    for (lhs, rhs), texts in seen.items():
        more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
        yield f"{lhs} == {rhs} ({texts[0]}{more})"
