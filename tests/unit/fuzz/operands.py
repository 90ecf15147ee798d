"""
Operators with operands and attributes that do not fit: `python -m tests.unit.fuzz.operands --count 1000 --seed 1`.

Each operator that has an importer is given inputs of random number, rank, type and content, and random values for the
attributes that it is seen to ask for. A model of such a node must be imported, or refused as unsupported.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import onnx
from onnx import AttributeProto, defs, helper
from xdsl.utils.exceptions import DiagnosticException

from aicc.frontends.onnx import import_onnx
from aicc.frontends.onnx.context import NodeContext
from aicc.frontends.onnx.table import HANDLERS
from tests.unit.frontends.onnx.helper import Shape, model
from tests.unit.fuzz import mutants
from tests.unit.fuzz.builder import ALL, F32, I64
from tests.unit.fuzz.models import warm

OPSET = defs.onnx_opset_version()
ATTRIBUTES: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
"""The attributes that each operator has asked for so far, and of which kind."""

INTEGERS = (-(1 << 63), -1 << 31, -3, -2, -1, 0, 1, 2, 3, 4, 7, 1 << 40, (1 << 63) - 1)
FLOATS = (float("nan"), float("inf"), -1.0, 0.0, 0.5, 1e30)
WORDS = ("", "linear", "reflect", "nearest", "SAME_UPPER", "VALID", "bilinear", "cubic", "ij,jk->ik", "...i->", "none")


@contextmanager
def recorded() -> Iterator[None]:
    """Notes in `ATTRIBUTES` what importers ask for."""
    plain = NodeContext._attribute  # pyright: ignore[reportPrivateUsage]

    def asked(self: NodeContext, name: str, kind: int, default: object) -> AttributeProto | None:
        ATTRIBUTES[self.node.domain, self.op_type][name] = kind
        return plain(self, name, kind, default)

    with mock.patch.object(NodeContext, "_attribute", asked):
        yield


def _array(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [min(max(value, info.min), info.max) for value in (*INTEGERS, *range(-4, 8))]
        return rng.choice(np.array(values, dtype), shape)
    with np.errstate(all="ignore"):
        return rng.choice(np.array((*FLOATS, 1, 2, 3)), shape).astype(dtype)


def _attribute(rng: np.random.Generator, kind: int, operands: int) -> Any:
    """A value of a kind for an attribute of a node that has so many operands."""

    def some(options: tuple[Any, ...]) -> list[Any]:
        return [options[int(rng.integers(len(options)))] for _ in range(int(rng.integers(5)))]

    match kind:
        case AttributeProto.FLOAT:
            return float(rng.choice(FLOATS))
        case AttributeProto.INT:
            return int(rng.choice(INTEGERS))
        case AttributeProto.STRING:
            return str(rng.choice(WORDS))
        case AttributeProto.FLOATS:
            return some(FLOATS)
        case AttributeProto.INTS:
            return some(INTEGERS)
        case AttributeProto.TENSOR:
            shape = tuple(int(n) for n in rng.integers(0, 3, int(rng.integers(3))))
            return onnx.numpy_helper.from_array(_array(rng, I64 if rng.random() < 0.5 else F32, shape), "t")
        case AttributeProto.GRAPH:
            return _body(rng, operands)
        case _:
            return None


def _body(rng: np.random.Generator, operands: int) -> onnx.GraphProto:
    """
    A graph that often has as many inputs as the node has operands, or none; its outputs are inputs of its own or of the
    node, constants, or computed from these.
    """
    number = (operands, 0, int(rng.integers(6)))[int(rng.choice(3, p=(0.6, 0.3, 0.1)))]
    inputs = [f"b{i}" for i in range(number)]
    known = [*inputs, "x0", "x1", "stored"]
    nodes: list[onnx.NodeProto] = []
    for i in range(int(rng.integers(4))):
        operator = str(rng.choice(("Identity", "Not", "Neg", "Add", "Concat", "Shape")))
        read = [str(rng.choice(known)) for _ in range(2 if operator in ("Add", "Concat") else 1)]
        nodes.append(helper.make_node(operator, read, [f"n{i}"]))
        if operator == "Concat":
            nodes[-1].attribute.append(helper.make_attribute("axis", 0))
        known.append(f"n{i}")
    outputs = [str(rng.choice(known)) for _ in range(int(rng.integers(5)))]
    outputs = ["stored", *outputs] if rng.random() < 0.4 else outputs
    stored = onnx.numpy_helper.from_array(np.array(rng.random() < 0.5), "stored")
    taken, given = ([helper.make_value_info(name, onnx.TypeProto()) for name in names] for names in (inputs, outputs))
    return helper.make_graph(nodes, "body", taken, given, [stored])


def random_node(domain: str, op: str, seed: int) -> onnx.ModelProto:
    """A model of one node of an operator, whose operands fit or, mostly, do not."""
    rng = np.random.default_rng([seed, len(op), *op.encode()])
    most, least, results = 8, 0, 1
    if not domain:
        version = OPSET if defs.has(op, OPSET) else 9
        with_schema = defs.get_schema(op, version) if defs.has(op, version) else None
        if with_schema is not None:
            least, most, results = with_schema.min_input, min(with_schema.max_input, 8), with_schema.min_output
    favourite = ALL[int(rng.integers(len(ALL)))] if rng.random() < 0.5 else F32
    rank = int(rng.integers(6))
    inputs: dict[str, tuple[np.dtype, Shape]] = {}
    weights: dict[str, np.ndarray] = {}
    names: list[str] = []
    for i in range(int(rng.integers(min(least, most), most + 1))):
        if rng.random() < 0.08:
            names.append("")
            continue
        names.append(f"x{i}")
        dtype = favourite if rng.random() < 0.6 else ALL[int(rng.integers(len(ALL)))]
        dtype = I64 if rng.random() < 0.15 else dtype
        dims = rng.choice(
            (0, 1, 2, 3, 4), int(rng.choice((rank, rank, rank, 0, 1, 1, 2, 3, 4, 5))), p=(0.05, *[0.2375] * 4)
        )
        if rng.random() < 0.5:
            weights[names[-1]] = _array(rng, dtype, tuple(int(n) for n in dims))
        else:
            inputs[names[-1]] = dtype, [f"D{n}" if rng.random() < 0.2 else int(n) for n in dims]
    attributes = [
        helper.make_attribute(name, value, attr_type=kind)
        for name, kind in sorted(ATTRIBUTES[domain, op].items())
        if rng.random() < (0.95 if kind == AttributeProto.GRAPH else 0.4)
        and (value := _attribute(rng, kind, len(names))) is not None
    ]
    outputs = [f"y{i}" for i in range(results if rng.random() < 0.8 else int(rng.integers(1, 5)))]
    node = helper.make_node(op, names, outputs, "node", domain=domain)
    node.attribute.extend(attributes)
    opset = OPSET if rng.random() < 0.6 else int(rng.integers(6, OPSET + 1))
    return model([node], inputs, outputs, opset, weights, {domain: 1} if domain else None)


def import_fault(proto: onnx.ModelProto) -> str | None:
    """What is wrong with how a model was imported or refused, if anything; empty if it was refused."""
    try:
        module = import_onnx(proto)
        module.verify()
    except DiagnosticException as error:
        return str(error) if "internal fault" in str(error) else ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def faults(seeds: range, compiled: bool = False) -> Mapping[str, str]:
    """What is wrong, by operator and seed: with the import, and with compiling what was imported."""
    found: dict[str, str] = {}
    with recorded(), np.errstate(all="ignore"):
        for domain, op in sorted(HANDLERS):
            for seed in seeds:
                proto = random_node(domain, op, seed)
                fault = import_fault(proto)
                if fault is None and compiled:
                    fault = mutants.fault_of(mutants.outcome_of(seed, proto.SerializeToString()))
                if fault:
                    found[f"{domain}:{op} {seed}"] = fault
                    print(f"{domain}:{op} {seed}: {fault}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="nodes of each operator (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; others follow (default: 0)")
    parser.add_argument("--compile", action="store_true", help="compile and run what is imported, in limited processes")
    options = parser.parse_args()
    warm()
    found = faults(range(options.seed, options.seed + options.count), options.compile)
    print(f"{options.count * len(HANDLERS)} nodes, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
