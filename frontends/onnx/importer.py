"""
Walks the graph of an ONNX model and makes `func.func @main` of `graph` ops from it.

What cannot be imported is collected over the whole model: a node that reads the result of such a node, and the nodes in
its subgraphs, are only checked for whether their operators are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, NameLoc, StringAttr, UnknownLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import dims_of, symbols_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.free_names import FreeNames
from aicc.frontends.errors import ModelError, Problem
from aicc.frontends.onnx.context import (
    Handler,
    Incomplete,
    NodeContext,
    Output,
    Unavailable,
    Unsupported,
    UseDefinition,
)
from aicc.frontends.onnx.folding import content_ops, folded, run_handler, set_name_hint
from aicc.frontends.onnx.functions import arity_fault, has_function, standard_function
from aicc.frontends.onnx.loading import NUMPY_DTYPES, Source, data_type_name, load, tensor_array
from aicc.frontends.onnx.local_functions import inlined
from aicc.frontends.onnx.ordering import node_name, sorted_nodes, subgraphs
from aicc.frontends.onnx.shape_arithmetic import sizes_in
from aicc.frontends.onnx.signature import Symbols
from aicc.frontends.onnx.table import HANDLERS
from aicc.frontends.onnx.values import AnyValue, Value, constant_value, tensors_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

OLDEST_OPSET, NEWEST_OPSET = 6, 28
"""
Versions of the standard operator set whose meaning the handlers know.

Of older sets, they know the operators that have not changed up to the oldest one.
"""

OLDEST_IR, NEWEST_IR = 3, 14
"""Versions of the format of models that name operator sets."""

_MOST_VERSION = 2**31 - 1
"""The largest version of any operator set: the package `onnx` counts them in 32 bits."""


def import_onnx(model: str | Path | bytes | ModelProto, *, shapes: Mapping[str, int] | None = None) -> ModuleOp:
    """
    The model as a module with one function `@main`.

    Symbolic dimensions become symbols of the same name, or the integer given in `shapes`; ones without a name are
    called after the input and position, as in `x_d0`. Inputs and outputs keep their names in the attribute `aicc.name`,
    nodes theirs in locations. Weights are buffers that refer to the memory (or mapped file) they were found in.

    Raises:
        ModelError: if the model is not valid, or listing all in it that is not supported.
        UnknownSymbolError: `shapes` names what is no dimension of the inputs.
        OSError: if its file cannot be read.
    """
    source = load(model)
    try:
        return _Importer(source, shapes or {}).run()
    except ModelError as error:
        text = str(error)
        named = text if text.startswith(source.name) else f"{source.name}: {text}"
        raise ModelError(named, error.problems) from None


@dataclass(frozen=True)
class _Missing:
    """Stands for the result of a node that was not imported; `problem` is what to report once somebody reads it."""

    problem: Problem | None = None


_Names = dict[str, "AnyValue | _Missing"]


class _Importer:
    """The state of one import; the `Scope` that handlers see."""

    def __init__(self, source: Source, shapes: Mapping[str, int]) -> None:
        self.source = source
        self._shapes = shapes
        self._opsets: dict[str, int] = {}
        self._scopes: list[_Names] = []
        self._constants: list[Operation] = []
        self._buffer_names = FreeNames()
        self._symbol_names = FreeNames()
        self._defined: set[str] = set()
        self._active: list[NodeContext] = []
        self._declared: dict[str, int] | None = None
        self._problems: dict[Problem, None] = {}

    def run(self) -> ModuleOp:
        """The whole model."""
        if not self.source.proto.HasField("graph"):
            raise ModelError("the model holds no graph")
        _check_format(self.source.proto)
        proto = inlined(self.source.proto)
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
        self._symbol_names.update(symbols_of(dim for type in types for dim in dims_of(type)))

        self._block = block = Block(arg_types=types)
        arguments = [Value(type, value.name, ssa) for value, type, ssa in zip(inputs, types, block.args, strict=True)]
        for argument in arguments:
            set_name_hint(argument)
        try:
            results = self.import_subgraph(graph, block, arguments, [value.name for value in inputs])
        except Incomplete:
            results = []
        if self._problems:
            problems = tuple(self._problems)
            raise ModelError(_list_of(problems), problems)
        _check_declared(graph.output, results)
        outputs = list(_named_tensors([value.name for value in graph.output], results))
        returned = [self.materialise(value) for _, value in outputs]
        block.add_op(ReturnOp(*returned))
        self._place_constants(block)
        function = FuncOp(
            "main",
            (types, [value.type for value in returned]),
            Region(block),
            arg_attrs=_names_attr([value.name for value in inputs]),
            res_attrs=_names_attr([name for name, _ in outputs]),
        )
        return ModuleOp([function])

    # Values

    def materialise(self, value: Value) -> SSAValue:
        """
        An SSA value for a tensor; constants go to the start of the function, so that they are visible everywhere.

        Sizes that data defines are known only from there on, and are put where they are read.
        """
        if value.ssa is not None:
            return value.ssa
        ops = content_ops(value, self._buffer_names.take(value.name))
        location = NameLoc(StringAttr(value.name), UnknownLoc())
        for op in ops:
            op.location = location
        content = value.content
        if content is not None and value.symbolic and not self._defined.isdisjoint(symbols_of(sizes_in(content))):
            (self._active[-1].block if self._active else self._block).add_ops(ops)
            return ops[-1].results[0]
        self._constants += ops
        value.ssa = ops[-1].results[0]
        set_name_hint(value)
        return value.ssa

    def fresh_symbol(self, wanted: str) -> str:
        """`wanted`, or that with a number where another size has the name."""
        name = self._symbol_names.take(wanted)
        self._defined.add(name)
        return name

    @property
    def symbols(self) -> frozenset[str]:
        """The names of all sizes so far."""
        return frozenset(self._symbol_names)

    def discard(self, block: Block) -> None:
        """Lets go of the ops of a block that is to be imported anew."""
        for op in reversed(list(block.ops)):
            op.detach()
            op.erase(safe_erase=False)

    def tensor(self, tensor: TensorProto) -> np.ndarray:
        """The elements of a tensor of the model."""
        return tensor_array(tensor, self.source)

    def declared_rank(self, name: str) -> int | None:
        """The rank that the model's main graph declares for a tensor, if it does."""
        if self._declared is None:
            graph = self.source.proto.graph
            types = {value.name: value.type.tensor_type for value in (*graph.value_info, *graph.output)}
            self._declared = {name: len(type.shape.dim) for name, type in types.items() if type.HasField("shape")}
        return self._declared.get(name)

    def find(self, name: str) -> Value | None:
        """The tensor of this name that a node sees."""
        found = self._lookup(name)
        return found if isinstance(found, Value) else None

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

    def _lookup(self, name: str) -> AnyValue | _Missing | None:
        for names in reversed(self._scopes):
            if (found := names.get(name)) is not None:
                return found
        return None

    # Graphs

    def import_subgraph(
        self,
        graph: GraphProto,
        block: Block,
        arguments: Sequence[AnyValue] = (),
        argument_names: Sequence[str] | None = None,
    ) -> list[AnyValue]:
        """
        The nodes of `graph` as ops at the end of `block`; values for its outputs.

        Raises:
            Unsupported: it has another number of inputs than there are arguments.
            Incomplete: something in it is not supported.
        """
        names: _Names = {}
        main = not self._scopes
        if argument_names is None:
            argument_names = [value.name for value in graph.input]
        if len(argument_names) != len(arguments):
            found, expected = len(argument_names), len(arguments)
            raise Unsupported(f"the number of inputs of its graph '{graph.name}' is {found}, expected {expected}")
        names.update(zip(argument_names, arguments, strict=True))
        self._scopes.append(names)
        stored = Counter(tensor.name for tensor in graph.initializer)
        for tensor in graph.initializer:
            if stored[tensor.name] > 1:
                raise ModelError(f"{stored[tensor.name]} initializers are called '{tensor.name}', expected one")
            names[tensor.name] = constant_value(self._initializer(tensor, main), tensor.name)
        for sparse in graph.sparse_initializer:
            problem = Problem(sparse.values.name, "sparse initializer", None, "sparse tensors are not supported")
            names[sparse.values.name] = _Missing(problem)
        for node in sorted_nodes(graph):
            self._import_node(node, node_name(node), names, block)
        return self._outputs([value.name for value in graph.output])

    def _outputs(self, outputs: Sequence[str]) -> list[AnyValue]:
        """The values of these names; leaves the innermost scope."""
        results: list[AnyValue] = []
        for name in outputs:
            found = self._lookup(name)
            if found is None:
                raise ModelError(f"output '{name}' is no result of a node, input or initializer")
            if not isinstance(found, _Missing):
                results.append(found)
            elif found.problem is not None:
                self._problems[found.problem] = None
        self._scopes.pop()
        if len(results) != len(outputs):
            raise Incomplete
        return results

    def _initializer(self, tensor: TensorProto, main: bool) -> np.ndarray:
        return tensor_array(tensor, self.source, self.source.weights.get(tensor.name) if main else None)

    def _import_node(self, node: NodeProto, name: str, names: _Names, block: Block) -> None:
        operator, opset = self._operator(node)
        made: Sequence[AnyValue | Unavailable] | None = None
        try:
            handler, version = self._handler(node)
            if (fault := arity_fault(node, version)) is not None:
                raise Unsupported(fault)
            inputs = self._inputs(node)
            if inputs is None:
                self._note_unknown_operators(node)
            else:
                location = NameLoc(StringAttr(name), UnknownLoc())
                context = NodeContext(node, name, version, inputs, self, block, location)
                self._active.append(context)
                try:
                    if handler is None:
                        raise UseDefinition
                    made = self._results(context, run_handler(handler, context))
                except UseDefinition:
                    if not has_function(node, version):
                        raise Unsupported("the operator is not supported in this operator set") from None
                    made = self._import_function(context)
                finally:
                    self._active.pop()
        except Incomplete:
            pass
        except Unsupported as reason:
            self._problems[Problem(name, operator, opset, str(reason))] = None
            self._note_unknown_operators(node)
        except VerifyException as error:
            self._problems[Problem(name, operator, opset, _first_line(error))] = None
        except MemoryError as error:
            reason = f"it needs more memory than there is ({_first_line(error)})"
            self._problems[Problem(name, operator, opset, reason)] = None
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            fault = f"internal fault of the importer ({type(error).__name__}: {_first_line(error)})"
            self._problems[Problem(name, operator, opset, fault)] = None
        results = made or ()
        for i, output in enumerate(node.output):
            if not output:
                continue
            if output in names:
                raise ModelError(f"the result '{output}' of node '{name}' is also an input or initializer")
            value = results[i] if i < len(results) else Unavailable("is not supported")
            if not isinstance(value, Unavailable):
                names[output] = value
            elif made is not None:
                names[output] = _Missing(Problem(name, operator, opset, f"output {i} ('{output}') {value.reason}"))
            else:
                names[output] = _Missing()

    def _operator(self, node: NodeProto) -> tuple[str, int | None]:
        """What errors call the operator of a node, and the version of the set that the model takes it from."""
        domain = _domain(node)
        return f"{domain}::{node.op_type}" if domain else node.op_type, self._opsets.get(domain)

    def _handler(self, node: NodeProto) -> tuple[Handler | None, int]:
        """
        What makes the ops of a node, None if only the standard's definition can, and the operator set it is taken from.

        Raises:
            Unsupported: if the operator is not known, whatever its inputs are.
        """
        domain = _domain(node)
        version = self._opsets.get(domain)
        if version is None:
            raise Unsupported(f"the model names no opset for domain '{domain}'")
        if domain == "" and version < OLDEST_OPSET:
            version = _known_version(node.op_type, version)
        handler = HANDLERS.get((domain, node.op_type))
        if handler is None and not has_function(node, version):
            raise Unsupported("the operator is not supported")
        return handler, version

    def _note_unknown_operators(self, node: NodeProto) -> None:
        """Notes those in the subgraphs of a node that is not imported; as nested as protobuf lets graphs be."""
        for attribute in node.attribute:
            for graph in subgraphs(attribute):
                for inner in graph.node:
                    try:
                        self._handler(inner)
                    except Unsupported as reason:
                        self._problems[Problem(node_name(inner), *self._operator(inner), str(reason))] = None
                    self._note_unknown_operators(inner)

    def _import_function(self, context: NodeContext) -> list[AnyValue | Unavailable]:
        """An operator by its definition; what is not supported in it is told of the node itself."""
        function = standard_function(context.node, context.version, context.inputs)
        if not function.node:
            raise Unsupported("the operator has no definition for operands of these types and ranks")
        names: _Names = {
            name: value for name, value in zip(function.input, context.inputs, strict=False) if value is not None
        }
        scopes, opsets, problems = self._scopes, self._opsets, self._problems
        self._scopes, self._problems = [names], {}
        # Definitions of other domains may leave the version of the standard set to the model.
        self._opsets = opsets | {_plain(entry.domain): entry.version for entry in function.opset_import}
        try:
            for node in function.node:
                self._import_node(node, context.name, names, context.block)
            wanted = [name for name, given in zip(function.output, context.node.output, strict=False) if given]
            found = dict(zip(wanted, self._outputs(wanted), strict=True))
            return [found.get(name, Unavailable("is not read")) for name in function.output]
        except Incomplete:
            inner = next(iter(self._problems), None)
            why = f" (its definition needs {inner.what}: {inner.reason})" if inner is not None else ""
            raise Unsupported(f"the operator is not supported{why}") from None
        finally:
            self._scopes, self._opsets, self._problems = scopes, opsets, problems

    def _inputs(self, node: NodeProto) -> list[AnyValue | None] | None:
        """The node's inputs; None if one of them was not imported."""
        inputs: list[AnyValue | None] = []
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

    def _results(self, context: NodeContext, made: Sequence[Output]) -> list[AnyValue | Unavailable]:
        """Names what a handler made, or replaces it by constants where all it reads are small constants."""
        for op in context.emitted:
            if op.regions:  # All others have checked their operands when they were made.
                op.verify(verify_nested_ops=False)
        outputs = list(context.node.output) + [""] * (len(made) - len(context.node.output))
        results: list[AnyValue | Unavailable] = []
        arrays = folded(context, made)
        for i, (result, name) in enumerate(zip(made, outputs, strict=False)):
            if arrays is not None:
                results.append(constant_value(arrays[i], name))
            elif isinstance(result, SSAValue):
                value = Value(result.type, name, result)  # pyright: ignore[reportArgumentType]
                set_name_hint(value)
                results.append(value)
            else:
                results.append(result)
        return results


def _named_tensors(names: Sequence[str], values: Sequence[AnyValue]) -> Iterator[tuple[str, Value]]:
    """The tensors of a model's outputs; those of a sequence `y` are `y[0]`, `y[1]`, ..."""
    for name, value in zip(names, values, strict=True):
        for i, tensor in enumerate(tensors_of(value)):
            yield name if isinstance(value, Value) else f"{name}[{i}]", tensor


def _check_declared(outputs: Iterable[ValueInfoProto], results: Sequence[AnyValue]) -> None:
    """
    Checks the element types that a model declares for its outputs. Shapes are what the nodes give: many models declare
    those that they had before a size was changed.

    Raises:
        ModelError: one is another than the nodes give.
    """
    for value, result in zip(outputs, results, strict=True):
        declared = value.type.tensor_type.elem_type
        if isinstance(result, Value) and declared:
            found = numpy_dtype(result.type.element_type)
            if NUMPY_DTYPES.get(declared, found) != found:
                raise ModelError(
                    f"output '{value.name}' is declared {data_type_name(declared)}, but its nodes give {found}"
                )


def _names_attr(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"aicc.name": StringAttr(name)}) for name in names])


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _list_of(problems: Sequence[Problem]) -> str:
    if len(problems) == 1:
        return str(problems[0])
    return f"{len(problems)} nodes cannot be imported:\n" + "\n".join(f"  {problem}" for problem in problems)


def _check_format(proto: ModelProto) -> None:
    if not OLDEST_IR <= proto.ir_version <= NEWEST_IR:
        found = f"is {proto.ir_version}" if proto.HasField("ir_version") else "is not given"
        raise ModelError(f"the version of the model's format (ir_version) {found}, expected {OLDEST_IR} to {NEWEST_IR}")


def _opsets(proto: ModelProto) -> dict[str, int]:
    opsets: dict[str, int] = {}
    for entry in proto.opset_import:
        domain, version = _plain(entry.domain), entry.version
        name = f"domain '{domain}'" if domain else "the standard operators"
        if opsets.setdefault(domain, version) != version:
            raise ModelError(f"the model names opsets {opsets[domain]} and {version} of {name}, expected one")
        newest = _MOST_VERSION if domain else NEWEST_OPSET
        if not 1 <= version <= newest:
            oldest = 1 if domain else OLDEST_OPSET
            raise ModelError(f"the model uses opset {version} of {name}, expected {oldest} to {newest}")
    if not opsets:
        raise ModelError("the model names no operator set (opset_import is empty)")
    return opsets


def _domain(node: NodeProto) -> str:
    return _plain(node.domain)


def _plain(domain: str) -> str:
    """A domain, the standard's one by its shorter name."""
    return "" if domain == "ai.onnx" else domain


def _known_version(operator: str, version: int) -> int:
    """
    The oldest known opset, which means the same as the older `version` for an operator.

    Raises:
        Unsupported: if the operator was changed in between.
    """
    from onnx import defs

    if defs.has(operator, OLDEST_OPSET, ""):
        changed = defs.get_schema(operator, OLDEST_OPSET, "").since_version
        if version < changed:
            raise Unsupported(f"the operator is only supported from opset {changed} on")
    return OLDEST_OPSET
