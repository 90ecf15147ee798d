"""
Random ONNX models under construction: values with concrete content, nodes, initializers and inputs.

Each node is evaluated by itself, by the numpy meaning of what the importer makes of it, as soon as it is added, so that
later choices know shapes and values. What the importer refuses is not added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import onnx
from onnx import defs, helper, numpy_helper
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.evaluator import evaluate_function
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import function, names

BF16 = np.dtype(ml_dtypes.bfloat16)
F64, F32, F16 = (np.dtype(t) for t in (np.float64, np.float32, np.float16))
I64, I32, I16, I8 = (np.dtype(t) for t in (np.int64, np.int32, np.int16, np.int8))
U64, U32, U16, U8 = (np.dtype(t) for t in (np.uint64, np.uint32, np.uint16, np.uint8))
BOOL = np.dtype(np.bool_)

FLOATS = (F32, F32, F32, F64, F16, BF16)
INTEGERS = (I64, I64, I32, I32, I8, U8, I16, U16, U32, U64)
NUMBERS = (*FLOATS, *FLOATS, *INTEGERS)
ALL = (*NUMBERS, BOOL)

MOST_ELEMENTS = 3000


class Skip(Exception):
    """A choice that leads to no valid node."""


@dataclass(eq=False)
class Tensor:
    """A value of the model, and what it is for the inputs that were drawn."""

    name: str
    array: np.ndarray
    exact: bool
    """Whether every correct implementation gives the same bits."""
    known: bool = False
    """An initializer."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def rank(self) -> int:
        return self.array.ndim

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype


Watch = Callable[[onnx.ModelProto, Mapping[str, np.ndarray], Sequence[np.ndarray], bool], None]
"""Told of every node: a model of it alone, its inputs, its results by the numpy meaning, whether they are exact."""


@dataclass(eq=False)
class Shared:
    """What a graph and the graphs nested in it have in common."""

    rng: np.random.Generator
    opset: int
    sizes: Mapping[str, int]
    watch: Watch | None = None
    counter: int = 0
    inputs: dict[str, tuple[Tensor, list[int | str]]] = field(default_factory=dict)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    """How often each operator stands in the model."""
    control: bool = False
    """Whether much control flow is wanted."""
    controls: dict[str, list[np.ndarray]] = field(default_factory=dict)
    """Inputs that decide the way, and other values for them."""


class Builder:
    """A graph; one with a `parent` is the body of a control-flow node and sees what its parents hold."""

    def __init__(self, shared: Shared, parent: Builder | None = None, depth: int = 0) -> None:
        self.shared = shared
        self.rng = shared.rng
        self.opset = shared.opset
        self.parent = parent
        self.depth = depth
        self.nodes: list[onnx.NodeProto] = []
        self.values: list[Tensor] = []
        self.read: set[str] = set()

    # Choices

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def integer(self, low: int, high: int) -> int:
        """One of `low` to `high`, both included."""
        return int(self.rng.integers(low, high + 1))

    def choose(self, options: Sequence) -> object:
        if not options:
            raise Skip("nothing to choose from")
        return options[int(self.rng.integers(len(options)))]

    def some(self, options: Sequence, low: int = 0, high: int | None = None) -> list:
        """Some of the options in any order, each at most once."""
        most = len(options) if high is None else min(high, len(options))
        count = self.integer(min(low, most), most)
        return [options[int(i)] for i in self.rng.permutation(len(options))[:count]]

    # Tensors

    def fresh(self, prefix: str = "v") -> str:
        self.shared.counter += 1
        return f"{prefix}{self.shared.counter}"

    def size(self, least: int = 0) -> int:
        """0 and 1 now and then, else small, often the value of a symbol."""
        if self.chance(0.4):
            size = self.choose([n for n in self.shared.sizes.values() if n >= least] or [max(2, least)])
        else:
            size = self.choose([n for n in (0, 1, 1, 2, 3, 3, 4, 5, 8, 9, 16, 17) if n >= least])
        assert isinstance(size, int)
        return size

    def shape(self, rank: int | None = None, least: int = 0) -> tuple[int, ...]:
        rank = int(self.rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))) if rank is None else rank
        shape = [self.size(least if self.chance(0.1) else max(1, least)) for _ in range(rank)]
        while np.prod(shape, dtype=np.int64) > MOST_ELEMENTS // 4:
            shape[int(np.argmax(shape))] = max(1, least)
        return tuple(shape)

    def content(self, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """Values near 1 in size, now and then with zeros, infinities and NaN, or extreme integers."""
        rng, shape = self.rng, tuple(shape)
        if dtype == BOOL:
            return np.asarray(rng.random(shape) < 0.5)
        if dtype.kind in "iu":
            low = 0 if dtype.kind == "u" else -9
            array = np.asarray(rng.integers(low, 10, shape)).astype(dtype)
            special = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1], dtype)
            odds = 0.12
        else:
            array = np.asarray(1.5 * rng.standard_normal(shape)).astype(dtype)
            special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 2.5, -1.5]).astype(dtype)
            odds = 0.12
        if array.size and self.chance(odds):
            flat = array.reshape(-1).copy()
            places = rng.integers(0, flat.size, max(1, flat.size // 8))
            flat[places] = rng.choice(special, places.shape)
            array = flat.reshape(shape)
        return array

    def weight(self, array: np.ndarray) -> Tensor:
        """An initializer of the main graph."""
        name = self.fresh("w")
        self.shared.weights[name] = array
        return Tensor(name, array, exact=True, known=True)

    def input(self, array: np.ndarray, open_sizes: bool = True) -> Tensor:
        """An input of the model; sizes that are the value of a symbol may become that symbol."""
        tensor = Tensor(self.fresh("x"), array, exact=True)
        dims: list[int | str] = []
        for size in array.shape:
            symbols = [name for name, value in self.shared.sizes.items() if value == size]
            named = open_sizes and bool(symbols) and self.chance(0.7)
            dims.append(str(self.choose(symbols)) if named else size)
        self.shared.inputs[tensor.name] = (tensor, dims)
        root = self
        while root.parent is not None:
            root = root.parent
        root.values.append(tensor)
        return tensor

    def new(self, shape: Sequence[int], dtype: np.dtype) -> Tensor:
        """An input or initializer of random content."""
        array = self.content(shape, dtype)
        return self.weight(array) if self.chance(0.4) else self.input(array)

    def seen(self) -> list[Tensor]:
        """All values a node may read."""
        return self.values if self.parent is None else [*self.parent.seen(), *self.values]

    def pick(
        self,
        dtypes: Sequence[np.dtype] = ALL,
        rank: int | None = None,
        least_rank: int = 0,
        least: int = 0,
        exact: bool = False,
        condition: Callable[[Tensor], bool] = lambda _: True,
    ) -> Tensor:
        """A value so far that meets the conditions, later ones rather; a new one if there is none, or by chance."""
        found = [
            value
            for value in self.seen()
            if value.dtype in dtypes
            and (rank is None or value.rank == rank)
            and value.rank >= least_rank
            and min(value.shape, default=least) >= least
            and (value.exact or not exact)
            and condition(value)
        ]
        if found and self.chance(0.85):
            place = min(int(self.rng.exponential(3.0)), len(found) - 1)
            return found[-1 - place]
        dtype = self.choose(dtypes)
        assert isinstance(dtype, np.dtype)
        if rank is None:
            rank = max(least_rank, int(self.rng.choice((0, 1, 2, 2, 3, 3, 4))))
        tensor = self.new(self.shape(rank, least), dtype)
        if not condition(tensor):
            raise Skip("a new tensor does not meet the condition")
        return tensor

    def matching(self, shape: Sequence[int], dtype: np.dtype, exact: bool = False) -> Tensor:
        """A value of this shape and dtype."""
        found = [
            value
            for value in self.seen()
            if value.shape == tuple(shape) and value.dtype == dtype and (value.exact or not exact)
        ]
        if found and self.chance(0.6):
            chosen = self.choose(found)
            assert isinstance(chosen, Tensor)
            return chosen
        return self.new(shape, dtype)

    def fixed(self, shape: Sequence[int], dtype: np.dtype) -> Tensor:
        """A value whose sizes are no symbols: weights, as a rule."""
        array = self.content(shape, dtype)
        return self.weight(array) if self.chance(0.7) else self.input(array, open_sizes=False)

    def broadcasting(self, shape: Sequence[int], dtype: np.dtype, exact: bool = False) -> Tensor:
        """A value whose shape broadcasts with `shape`."""
        if self.chance(0.4):
            return self.matching(shape, dtype, exact)
        cut = self.integer(0, len(shape))
        return self.matching([n if self.chance(0.6) else 1 for n in shape[cut:]], dtype, exact)

    def integers(self, values: Sequence[int], dtype: np.dtype = I64) -> Tensor:
        """A constant list of integers."""
        return self.weight(np.array(values, dtype))

    def number(self, value: float, dtype: np.dtype) -> Tensor:
        """A constant of rank 0."""
        return self.weight(np.array(value, dtype))

    # Nodes

    def has(self, op: str, domain: str = "") -> bool:
        """Whether the model's operator set has the operator."""
        return since(op, self.opset, domain) > 0

    def add(
        self,
        op: str,
        inputs: Sequence[Tensor | None],
        outputs: int = 1,
        exact: bool = True,
        unnamed: Sequence[int] = (),
        domain: str = "",
        **attributes: object,
    ) -> list[Tensor]:
        """
        Adds a node; its results are exact if it is and its inputs are. Outputs at the places `unnamed` have no name.

        Raises:
            Skip: if the importer or evaluator refuses it, or a result is large.
        """
        if not self.has(op, domain):
            raise Skip(f"{op} is no operator of opset {self.opset}")
        results = ["" if i in unnamed else self.fresh() for i in range(outputs)]
        given = [value for value in attributes.items() if value[1] is not None]
        operands = ["" if value is None else value.name for value in inputs]
        while operands and not operands[-1]:
            operands.pop()
        node = helper.make_node(op, operands, results, domain=domain, **dict(given))
        return self.add_node(node, [value for value in inputs if value is not None], exact)

    def add_node(self, node: onnx.NodeProto, inputs: Sequence[Tensor], exact: bool) -> list[Tensor]:
        """Adds a node that reads `inputs`, also by way of its subgraphs."""
        return self.add_nodes([node], [name for name in node.output if name], inputs, exact)

    def add_nodes(
        self, nodes: Sequence[onnx.NodeProto], results: Sequence[str], inputs: Sequence[Tensor], exact: bool
    ) -> list[Tensor]:
        """Adds nodes that make `results` of `inputs`; what is between them (a sequence, say) need be no tensor."""
        exact = exact and all(value.exact for value in inputs)
        alone = self.alone(nodes, inputs, results)
        feeds = {value.name: value.array for value in inputs if not value.known}
        arrays = meaning(alone, feeds)
        if any(array.size > MOST_ELEMENTS for array in arrays):
            raise Skip("the result is large")
        if self.shared.watch is not None:
            self.shared.watch(alone, feeds, arrays, exact)
        self.nodes += nodes
        self.read.update(value.name for value in inputs)
        for node in nodes:
            self.shared.used[node.op_type] = self.shared.used.get(node.op_type, 0) + 1
        made = [Tensor(name, array, exact) for name, array in zip(results, arrays, strict=True)]
        self.values += made
        return made

    def alone(
        self, nodes: Sequence[onnx.NodeProto], inputs: Sequence[Tensor], results: Sequence[str]
    ) -> onnx.ModelProto:
        """A model of these nodes alone, all sizes fixed."""
        infos = {
            value.name: helper.make_tensor_value_info(
                value.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
            )
            for value in inputs
            if not value.known
        }
        tensors = {value.name: numpy_helper.from_array(value.array, value.name) for value in inputs if value.known}
        outputs = [helper.make_value_info(name, onnx.TypeProto()) for name in results]
        graph = helper.make_graph(list(nodes), "g", list(infos.values()), outputs, list(tensors.values()))
        return self._model(graph)

    def _model(self, graph: onnx.GraphProto) -> onnx.ModelProto:
        imports = [helper.make_opsetid("", self.opset)]
        domains = set(_domains(graph)) - {""}
        imports += [helper.make_opsetid(domain, 1) for domain in sorted(domains)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def model(self, outputs: Sequence[Tensor]) -> onnx.ModelProto:
        """The whole model; initializers that nothing reads are left out."""
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(tensor.dtype), dims)
            for name, (tensor, dims) in self.shared.inputs.items()
        ]
        results = [helper.make_value_info(value.name, onnx.TypeProto()) for value in outputs]
        used = {name for name in self.shared.weights if name in self.all_read()} | {value.name for value in outputs}
        tensors = [numpy_helper.from_array(a, name) for name, a in self.shared.weights.items() if name in used]
        return self._model(helper.make_graph(self.nodes, "fuzz", infos, results, tensors))

    def all_read(self) -> set[str]:
        return self.read


def _domains(graph: onnx.GraphProto) -> Iterator[str]:
    """Of the operators of a graph and of those inside."""
    for node in graph.node:
        yield node.domain
        for attribute in node.attribute:
            yield from _domains(attribute.g)


def since(op: str, opset: int, domain: str = "") -> int:
    """The version that defines an operator in an operator set; 0 if none does."""
    if domain:
        return 1
    try:
        schema = defs.get_schema(op, opset, domain)
    except defs.SchemaError:
        return 0
    return 0 if schema.deprecated else schema.since_version


def meaning(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """
    The results of a model by the numpy meaning of what the importer makes of it.

    Raises:
        Skip: if the model is refused.
    """
    try:
        module = import_onnx(model)
        main = function(module)
        with np.errstate(all="ignore"):
            return evaluate_function(main, [feeds[name] for name in names(main.arg_attrs)], module)
    except DiagnosticException as error:
        if "internal fault" in str(error):
            raise
        raise Skip(str(error)) from error
