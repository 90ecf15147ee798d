"""
Walks the graph of an ONNX model and makes `func.func @main` of `graph` ops from it.

What cannot be imported is collected over the whole model: a node that reads the result of such a node is only checked
for whether its operator is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, NameLoc, StringAttr, UnknownLoc, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.buffers import array_to_constant_attr
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import is_tensor
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import ExecutableOp
from aicc.dialects.graph.movement import ReshapeOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx.context import NodeContext, Result, Unsupported
from aicc.frontends.onnx.loading import Source, load, tensor_array
from aicc.frontends.onnx.ordering import node_name, sorted_nodes
from aicc.frontends.onnx.shape_arithmetic import evaluate, result_dtype, sizes_in
from aicc.frontends.onnx.signature import Symbols
from aicc.frontends.onnx.table import HANDLERS
from aicc.frontends.onnx.values import FOLD_ELEMENTS, Value, constant_value, sizes_value

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

OLDEST_OPSET, NEWEST_OPSET = 9, 28
"""Versions of the standard operator set whose meaning the handlers know."""


def import_onnx(model: str | Path | bytes | ModelProto, *, shapes: Mapping[str, int] | None = None) -> ModuleOp:
    """
    The model as a module with one function `@main`.

    Symbolic dimensions become symbols of the same name, or the integer given in `shapes`; ones without a name are
    called after the input and position, as in `x_d0`. Inputs and outputs keep their names in the attribute `aicc.name`,
    nodes theirs in locations. Weights are buffers that refer to the memory (or mapped file) they were found in.

    Raises:
        ModelError: if the model cannot be read or is not valid, or listing all in it that is not supported.
        ModuleNotFoundError: if the package `onnx` is not installed.
    """
    source = load(model)
    try:
        return _Importer(source, shapes or {}).run()
    except ModelError as error:
        text = str(error)
        raise ModelError(text if text.startswith(source.name) else f"{source.name}: {text}") from None


@dataclass(frozen=True)
class _Problem:
    node: str
    operator: str
    reason: str

    def __str__(self) -> str:
        return f"node '{self.node}' ({self.operator}): {self.reason}"


@dataclass(frozen=True)
class _Missing:
    """Stands for the result of a node that was not imported; `problem` is what to report once somebody reads it."""

    problem: _Problem | None = None


_Names = dict[str, "Value | _Missing"]


class _Importer:
    """The state of one import; the `Scope` that handlers see."""

    def __init__(self, source: Source, shapes: Mapping[str, int]) -> None:
        self.source = source
        self._shapes = shapes
        self._opsets: dict[str, int] = {}
        self._scopes: list[_Names] = []
        self._constants: list[Operation] = []
        self._buffer_names: set[str] = set()
        self._problems: dict[_Problem, None] = {}

    def run(self) -> ModuleOp:
        """The whole model."""
        proto = self._inlined(self.source.proto)
        if not proto.HasField("graph"):
            raise ModelError("the model holds no graph")
        self._opsets = _opsets(proto)
        graph = proto.graph
        symbols = Symbols(graph, self._shapes)
        stored = {tensor.name for tensor in graph.initializer}
        names: dict[str, None] = {}
        for value in graph.input:
            if value.name in names:
                raise ModelError(f"two inputs are called '{value.name}'")
            names[value.name] = None
        inputs = [value for value in graph.input if value.name not in stored]
        types = [symbols.input_type(value) for value in inputs]
        symbols.check_fixed()

        block = Block(arg_types=types)
        arguments = [Value(type, value.name, ssa) for value, type, ssa in zip(inputs, types, block.args, strict=True)]
        for argument in arguments:
            _name_value(argument)
        results = self.import_subgraph(graph, block, arguments, [value.name for value in inputs])
        if self._problems:
            raise ModelError(_list_of(list(self._problems)))
        returned = [self.materialise(value) for value in results]
        block.add_op(ReturnOp(*returned))
        self._place_constants(block)
        function = FuncOp(
            "main",
            (types, [value.type for value in returned]),
            Region(block),
            arg_attrs=_names_attr([value.name for value in inputs]),
            res_attrs=_names_attr([value.name for value in graph.output]),
        )
        return ModuleOp([function])

    @staticmethod
    def _inlined(proto: ModelProto) -> ModelProto:
        """The model with its local functions put in place of the nodes that call them."""
        if not proto.functions:
            return proto
        from onnx.inliner import inline_local_functions

        return inline_local_functions(proto)

    # Values

    def materialise(self, value: Value) -> SSAValue:
        """An SSA value for a tensor; constants go to the start of the function, so that they are visible everywhere."""
        if value.ssa is not None:
            return value.ssa
        assert value.content is not None
        if value.symbolic:
            ops = _sizes_ops(value)
        else:
            name = self._buffer_name(value.name)
            ops = [ConstantOp(array_to_constant_attr(value.content, name), value.type)]
        location = NameLoc(StringAttr(value.name), UnknownLoc())
        for op in ops:
            op.location = location
        self._constants += ops
        value.ssa = ops[-1].results[0]
        _name_value(value)
        return value.ssa

    def _buffer_name(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self._buffer_names:
            number += 1
            name = f"{wanted}_{number}"
        self._buffer_names.add(name)
        return name

    def _place_constants(self, block: Block) -> None:
        """Those that are used, before everything else."""
        used: list[Operation] = []
        for op in reversed(self._constants):
            if any(result.first_use for result in op.results):
                used.append(op)
            else:
                op.drop_all_references()
        first = block.first_op
        assert first is not None
        block.insert_ops_before(used[::-1], first)

    def _lookup(self, name: str) -> Value | _Missing | None:
        for names in reversed(self._scopes):
            if (found := names.get(name)) is not None:
                return found
        return None

    # Graphs

    def import_subgraph(
        self,
        graph: GraphProto,
        block: Block,
        arguments: Sequence[Value] = (),
        argument_names: Sequence[str] | None = None,
    ) -> list[Value]:
        """The nodes of `graph` as ops at the end of `block`; values for its outputs."""
        names: _Names = {}
        main = not self._scopes
        if argument_names is None:
            argument_names = [value.name for value in graph.input]
        names.update(zip(argument_names, arguments, strict=True))
        self._scopes.append(names)
        for tensor in graph.initializer:
            names[tensor.name] = constant_value(self._initializer(tensor, main), tensor.name)
        for sparse in graph.sparse_initializer:
            problem = _Problem(sparse.values.name, "sparse initializer", "sparse tensors are not supported")
            names[sparse.values.name] = _Missing(problem)
        for node in sorted_nodes(graph):
            self._import_node(node, names, block)
        results: list[Value] = []
        for output in graph.output:
            found = self._lookup(output.name)
            if isinstance(found, Value):
                results.append(found)
            elif found is None:
                raise ModelError(f"output '{output.name}' is no result of a node, input or initializer")
            elif found.problem is not None:
                self._problems[found.problem] = None
        self._scopes.pop()
        if len(results) != len(graph.output) and not self._problems:
            raise ModelError("an output could not be imported")
        return results

    def _initializer(self, tensor: TensorProto, main: bool) -> np.ndarray:
        return tensor_array(tensor, self.source, self.source.weights.get(tensor.name) if main else None)

    def _import_node(self, node: NodeProto, names: _Names, block: Block) -> None:
        name = node_name(node)
        domain = "" if node.domain == "ai.onnx" else node.domain
        version = self._opsets.get(domain)
        operator = f"{domain}::{node.op_type}" if domain else node.op_type
        operator += f", opset {version}" if version is not None else ", no opset given"
        results: Sequence[Value | None] = ()
        try:
            handler = HANDLERS.get((domain, node.op_type))
            if version is None:
                raise Unsupported(f"the model names no opset for domain '{domain}'")
            if handler is None:
                raise Unsupported("the operator is not supported")
            inputs = self._inputs(node)
            if inputs is not None:
                context = NodeContext(node, name, version, inputs, self, block, NameLoc(StringAttr(name), UnknownLoc()))
                results = self._results(context, _as_list(handler, context))
        except Unsupported as reason:
            self._problems[_Problem(name, operator, str(reason))] = None
        except VerifyException as error:
            self._problems[_Problem(name, operator, _first_line(error))] = None
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            fault = f"internal fault of the importer ({type(error).__name__}: {_first_line(error)})"
            self._problems[_Problem(name, operator, fault)] = None
        for i, output in enumerate(node.output):
            if not output:
                continue
            if output in names:
                raise ModelError(f"the result '{output}' of node '{name}' is also an input or initializer")
            value = results[i] if i < len(results) else None
            if value is not None:
                names[output] = value
            elif results:
                names[output] = _Missing(_Problem(name, operator, f"output {i} ('{output}') is not supported"))
            else:
                names[output] = _Missing()

    def _inputs(self, node: NodeProto) -> list[Value | None] | None:
        """The node's inputs; None if one of them was not imported."""
        inputs: list[Value | None] = []
        complete = True
        for name in node.input:
            found = self._lookup(name) if name else None
            if isinstance(found, _Missing):
                complete = False
                if found.problem is not None:
                    self._problems[found.problem] = None
            elif found is None and name:
                raise Unsupported(f"its input '{name}' is no result of a node, input or initializer")
            else:
                inputs.append(found)
        return inputs if complete else None

    def _results(self, context: NodeContext, made: Sequence[Result | None]) -> list[Value | None]:
        """Names what a handler made, or replaces it by constants where all it reads are small constants."""
        for op in context.emitted:
            if op.regions:  # All others have checked their operands when they were made.
                op.verify(verify_nested_ops=False)
        outputs = list(context.node.output) + [""] * (len(made) - len(context.node.output))
        results: list[Value | None] = []
        folded = _folded(context, made)
        for i, (result, name) in enumerate(zip(made, outputs, strict=False)):
            if folded is not None:
                results.append(constant_value(folded[i], name))
            elif isinstance(result, SSAValue):
                value = Value(result.type, name, result)  # pyright: ignore[reportArgumentType]
                _name_value(value)
                results.append(value)
            else:
                results.append(result)
        return results


def _as_list(handler: object, context: NodeContext) -> Sequence[Result | None]:
    """Runs the arithmetic on sizes if the node is such, else its handler."""
    contents = [None if value is None else value.content for value in context.inputs]
    present = [value for value in context.inputs if value is not None]
    if any(value.symbolic for value in present) and all(value.content is not None for value in present):
        content = evaluate(context.op_type, context, contents)
        if content is not None:
            dtypes = [numpy_dtype(value.type.element_type) for value in present]
            return [sizes_value(content, result_dtype(context.op_type, context, dtypes), context.node.output[0])]
    made = handler(context)  # pyright: ignore
    return [made] if isinstance(made, SSAValue | Value) else list(made)  # pyright: ignore


def _folded(context: NodeContext, made: Sequence[Result | None]) -> list[np.ndarray] | None:
    """The results of a node as arrays, if all its inputs are small constants; its ops are then removed."""
    ops = context.emitted
    if not ops or not all(isinstance(result, SSAValue) for result in made):
        return None
    for value in context.inputs:
        if value is not None and not _is_small_constant(value):
            return None
    for op in ops:
        if not isinstance(op, ExecutableOp) or not all(map(_is_small_type, op.result_types)):
            return None
    known: dict[SSAValue, np.ndarray] = {}
    for op in ops:
        for operand in op.operands:
            if operand not in known:
                owner = operand.owner
                assert isinstance(owner, ConstantOp)  # Everything else a node reads is its own, or was checked above.
                known[operand] = owner.array()
        assert isinstance(op, ExecutableOp)
        known.update(zip(op.results, op.evaluate([known[operand] for operand in op.operands], {}), strict=True))
    results = [known[result] for result in made if isinstance(result, SSAValue)]
    for op in reversed(ops):
        op.detach()
        op.erase()
    return results


def _is_small_constant(value: Value) -> bool:
    return value.content is not None and not value.symbolic and value.content.size <= FOLD_ELEMENTS


def _is_small_type(type: Attribute) -> bool:
    return is_tensor(type) and type.has_static_shape() and type.element_count() <= FOLD_ELEMENTS


def _sizes_ops(value: Value) -> list[Operation]:
    """Ops that make a tensor of sizes."""
    assert value.content is not None
    ops: list[Operation] = [SizesOp(sizes_in(value.content))]
    if value.content.ndim != 1:
        ops.append(ReshapeOp(ops[-1], value.content.shape))
    if value.type.element_type != i64:
        ops.append(CastOp(ops[-1], value.type.element_type))
    return ops


def _name_value(value: Value) -> None:
    """Gives the SSA value the tensor's name, as far as IR can write it."""
    assert value.ssa is not None
    if value.ssa.name_hint is None:
        name = re.sub(r"[^A-Za-z0-9_]+", "_", value.name).strip("_")
        if name and not value.name.isdigit():
            value.ssa.name_hint = f"_{name}" if name[0].isdigit() else name


def _names_attr(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"aicc.name": StringAttr(name)}) for name in names])


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _list_of(problems: Sequence[_Problem]) -> str:
    if len(problems) == 1:
        return str(problems[0])
    return f"{len(problems)} nodes cannot be imported:\n" + "\n".join(f"  {problem}" for problem in problems)


def _opsets(proto: ModelProto) -> dict[str, int]:
    opsets: dict[str, int] = {}
    for entry in proto.opset_import:
        opsets["" if entry.domain == "ai.onnx" else entry.domain] = entry.version
    version = opsets.get("")
    if version is None and not opsets:
        raise ModelError("the model names no operator set (opset_import is empty)")
    if version is not None and not OLDEST_OPSET <= version <= NEWEST_OPSET:
        raise ModelError(
            f"the model uses opset {version} of the standard operators, expected {OLDEST_OPSET} to {NEWEST_OPSET}"
        )
    return opsets
