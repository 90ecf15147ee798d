"""Random graphs for hypothesis: straight-line `graph` programs over all kinds of ops, shapes, dtypes and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph import ops
from aicc.dialects.graph.buffers import array_to_constant_attr
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, evaluate, sym, tensor_type
from aicc.dialects.graph.dtypes import is_float, numpy_dtype
from aicc.dialects.graph.elementwise import ElementwiseOp
from aicc.dialects.graph.interfaces import TypedOp, element_kind

Draw = Callable[[st.SearchStrategy[Any]], Any]

ELEMENT_TYPES = (f32, f32, f32, f64, f16, bf16, i64, i32, i8, i1)
SIZES = (0, 1, 2, 3, 5, 8, 17)
MOST_ELEMENTS = 4096

EXACT_UNARY = (ops.AbsOp, ops.NegOp, ops.ReluOp, ops.LeakyReluOp, ops.SqrtOp, ops.NotOp, ops.BitNotOp)
INEXACT_UNARY = (
    *(ops.ExpOp, ops.LogOp, ops.Log1pOp, ops.Expm1Op, ops.SinOp, ops.CosOp, ops.TanhOp, ops.ErfOp, ops.RsqrtOp),
    *(ops.SigmoidOp, ops.SiluOp, ops.GeluOp, ops.SoftplusOp, ops.MishOp, ops.EluOp, ops.SeluOp, ops.HardSwishOp),
    *(ops.AtanOp, ops.AsinhOp, ops.SinhOp, ops.ReciprocalOp, ops.SoftsignOp, ops.HardSigmoidOp, ops.CeluOp),
)
# A rounding error in the operand may change their results altogether: for exact operands only.
JUMPING_UNARY = (ops.FloorOp, ops.CeilOp, ops.RoundOp, ops.TruncOp, ops.SignOp, ops.IsNanOp, ops.ThresholdedReluOp)
EXACT_BINARY = (
    *(ops.AddOp, ops.SubOp, ops.MulOp, ops.DivOp, ops.MinOp, ops.MaxOp, ops.PreluOp),
    *(ops.AndOp, ops.OrOp, ops.XorOp, ops.ShiftLeftOp, ops.ShiftRightOp),
)
JUMPING_BINARY = (ops.EqOp, ops.NeOp, ops.LtOp, ops.LeOp, ops.GtOp, ops.GeOp, ops.ModOp, ops.RemOp)
INEXACT_BINARY = (ops.Atan2Op, ops.PowOp)
EXACT_REDUCTIONS = (ops.ReduceMaxOp, ops.ReduceMinOp)
INEXACT_REDUCTIONS = (
    *(ops.ReduceSumOp, ops.ReduceMeanOp, ops.ReduceProdOp, ops.ReduceL1Op, ops.ReduceL2Op, ops.ReduceSumSquareOp),
    ops.ReduceLogSumExpOp,
)


@dataclass
class Graph:
    """A program under construction, with sizes for its symbols."""

    draw: Draw
    sizes: Mapping[str, int]
    block: Block = field(default_factory=Block)
    exact: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """Whether compiled code must agree to the bit."""

    def __post_init__(self) -> None:
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.rng = np.random.default_rng(self.draw(st.integers(0, 2**16)))

    def add(self, op: Operation, *, exact: bool) -> SSAValue:
        """
        Appends `op`; its results are exact if it is and its float operands are.

        Raises:
            VerifyException: if a result would be large, or the sizes do not go together.
        """
        for result in op.results:
            elements = evaluate(dim_prod(dims_of(result.type)), self.sizes)
            if elements > MOST_ELEMENTS:
                raise VerifyException("too large")
        if isinstance(op, TypedOp) and any(
            evaluate(check.lhs, self.sizes) != evaluate(check.rhs, self.sizes) for check in op.runtime_checks()
        ):
            raise VerifyException("sizes would be refused at run time")
        self.builder.insert(op)
        exact = exact and all(self.exact[operand] for operand in op.operands)
        for result in op.results:
            self.exact[result] = exact or not is_float(element_of(result))
        return op.results[0]

    def constant(self, array: np.ndarray) -> SSAValue:
        name = f"w{len(self.exact)}"
        attr = array_to_constant_attr(array, name)
        return self.add(ops.ConstantOp(attr, tensor_type(array.shape, element_type_like(array))), exact=True)

    def weights(self, shape: tuple[int, ...], element: Attribute) -> SSAValue:
        """A constant with values near 1."""
        return self.constant(random_array(self.rng, shape, element))

    def pick(self, condition: Callable[[SSAValue], bool] = lambda _: True) -> SSAValue | None:
        """One of the values so far that meets a condition; later ones first when hypothesis shrinks."""
        found = [value for value in self.exact if condition(value)]
        return self.draw(st.sampled_from(found[::-1])) if found else None

    def axis(self, x: SSAValue) -> int:
        return self.draw(st.integers(0, len(dims_of(x.type)) - 1))


def element_of(value: SSAValue) -> Attribute:
    assert isinstance(value.type, TensorType)
    return value.type.element_type


def element_type_like(array: np.ndarray) -> Attribute:
    return next(element for element in set(ELEMENT_TYPES) if numpy_dtype(element) == array.dtype)


def random_array(rng: np.random.Generator, shape: tuple[int, ...], element: Attribute) -> np.ndarray:
    """Values near 1 in size."""
    dtype = numpy_dtype(element)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(-9, 10, shape)).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    return np.asarray(1.5 * rng.standard_normal(shape)).astype(dtype)


def unary(g: Graph, x: SSAValue) -> None:
    kinds = (*EXACT_UNARY, *INEXACT_UNARY, *(JUMPING_UNARY if g.exact[x] else ()))
    allowed = [cls for cls in kinds if element_kind(element_of(x)) in cls.ALLOWED]
    if allowed:
        cls: type[ElementwiseOp] = g.draw(st.sampled_from(allowed))
        g.add(cls(x), exact=cls not in INEXACT_UNARY)  # pyright: ignore[reportCallIssue]


def binary(g: Graph, x: SSAValue) -> None:
    jumping = JUMPING_BINARY if g.exact[x] else ()
    allowed = [c for c in (*EXACT_BINARY, *INEXACT_BINARY, *jumping) if element_kind(element_of(x)) in c.ALLOWED]
    if not allowed:
        return
    cls = g.draw(st.sampled_from(allowed))
    exact_only = cls in JUMPING_BINARY
    y = g.pick(lambda v: element_of(v) == element_of(x) and (g.exact[v] or not exact_only))
    if y is None or g.draw(st.booleans()):
        shape = tuple(d if isinstance(d, int) and g.draw(st.booleans()) else 1 for d in dims_of(x.type))
        y = g.weights(shape, element_of(x))
    first, second = (x, y) if g.draw(st.booleans()) else (y, x)
    g.add(cls(first, second), exact=cls not in INEXACT_BINARY)


def choose(g: Graph, x: SSAValue) -> None:
    condition = g.pick(lambda v: element_of(v) == i1)
    if condition is not None:
        g.add(ops.WhereOp(condition, x, g.weights((), element_of(x))), exact=True)


def cast(g: Graph, x: SSAValue) -> None:
    # Out of the range of integers, languages differ; the importer's tests have those.
    targets = [t for t in (f32, f64, f16, bf16, i64, i32, i8) if not is_float(element_of(x)) or is_float(t)]
    g.add(ops.CastOp(x, g.draw(st.sampled_from(targets))), exact=True)


def reduction(g: Graph, x: SSAValue) -> None:
    rank = len(dims_of(x.type))
    allowed = [c for c in (*EXACT_REDUCTIONS, *INEXACT_REDUCTIONS) if element_kind(element_of(x)) in c.ALLOWED]
    axes = g.draw(st.lists(st.integers(0, rank - 1), min_size=1, unique=True))
    cls = g.draw(st.sampled_from(allowed))
    g.add(cls(x, sorted(axes), keepdims=g.draw(st.booleans())), exact=cls in EXACT_REDUCTIONS)


def arg_reduction(g: Graph, x: SSAValue) -> None:
    if g.exact[x] and element_of(x) != i1:
        cls = g.draw(st.sampled_from((ops.ArgMaxOp, ops.ArgMinOp)))
        axis = g.axis(x)
        if evaluate(dims_of(x.type)[axis], g.sizes) > 0:
            g.add(cls(x, axis, keepdims=g.draw(st.booleans()), select_last=g.draw(st.booleans())), exact=True)


def transpose(g: Graph, x: SSAValue) -> None:
    g.add(ops.TransposeOp(x, g.draw(st.permutations(range(len(dims_of(x.type)))))), exact=True)


def reshape(g: Graph, x: SSAValue) -> None:
    dims = dims_of(x.type)
    split = g.draw(st.integers(0, len(dims)))
    shape: list[Dim] = [dim_prod(dims[:split]), *((1,) if g.draw(st.booleans()) else ()), dim_prod(dims[split:])]
    g.add(ops.ReshapeOp(x, shape), exact=True)


def slice_(g: Graph, x: SSAValue) -> None:
    starts: list[Dim] = []
    sizes: list[Dim] = []
    steps: list[int] = []
    for dim in dims_of(x.type):
        step = g.draw(st.sampled_from((1, 1, 2, 3, -1, -2))) if isinstance(dim, int) else 1
        if not isinstance(dim, int) or dim == 0:
            starts.append(0), sizes.append(dim), steps.append(1)
            continue
        start = g.draw(st.integers(0, dim - 1))
        most = (dim - 1 - start) // step + 1 if step > 0 else start // -step + 1
        starts.append(start), sizes.append(g.draw(st.integers(0, most))), steps.append(step)
    g.add(ops.SliceOp(x, starts, sizes, steps), exact=True)


def pad(g: Graph, x: SSAValue) -> None:
    rank = len(dims_of(x.type))
    low, high = (g.draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank)) for _ in range(2))
    value = g.weights((), element_of(x)) if g.draw(st.booleans()) else None
    g.add(ops.PadOp(x, low, high, value=value), exact=True)


def concat(g: Graph, x: SSAValue) -> None:
    y = g.pick(lambda v: v.type == x.type)
    assert y is not None
    g.add(ops.ConcatOp([x, y, x] if g.draw(st.booleans()) else [x, y], g.axis(x)), exact=True)


def gather(g: Graph, x: SSAValue) -> None:
    axis = g.axis(x)
    size = evaluate(dims_of(x.type)[axis], g.sizes)
    if size > 0:
        shape = tuple(g.draw(st.lists(st.sampled_from((1, 2, 5)), max_size=2)))
        g.add(ops.GatherOp(x, g.constant(g.rng.integers(-size, size, shape)), axis), exact=True)


def cumsum(g: Graph, x: SSAValue) -> None:
    if element_of(x) != i1:
        op = ops.CumsumOp(x, g.axis(x), exclusive=g.draw(st.booleans()), reverse=g.draw(st.booleans()))
        g.add(op, exact=False)


def matmul(g: Graph, x: SSAValue) -> None:
    dims = dims_of(x.type)
    if len(dims) < 2 or element_of(x) == i1:
        return
    if g.draw(st.booleans()) and isinstance(dims[-1], int):
        columns = g.draw(st.sampled_from(SIZES))
        transposed = g.draw(st.booleans())
        shape = (columns, dims[-1]) if transposed else (dims[-1], columns)
        g.add(ops.MatmulOp(x, g.weights(shape, element_of(x)), transpose_b=transposed), exact=False)
    else:
        g.add(ops.MatmulOp(x, x, transpose_b=True), exact=False)


def convolution(g: Graph, x: SSAValue) -> None:
    dims = dims_of(x.type)
    if len(dims) not in (3, 4) or not is_float(element_of(x)) or not isinstance(dims[1], int) or dims[1] == 0:
        return
    rank = len(dims) - 2
    groups = g.draw(st.sampled_from([n for n in (1, dims[1]) if dims[1] % n == 0]))
    kernel = tuple(g.draw(st.sampled_from((1, 2, 3))) for _ in range(rank))
    weight = g.weights((groups * g.draw(st.sampled_from((1, 2, 3))), dims[1] // groups, *kernel), element_of(x))
    strides, dilations = ([g.draw(st.sampled_from((1, 2))) for _ in range(rank)] for _ in range(2))
    pads = [g.draw(st.sampled_from((0, 1, 2))) for _ in range(2 * rank)]
    g.add(ops.ConvOp(x, weight, None, strides, pads, dilations, groups), exact=False)


def pooling(g: Graph, x: SSAValue) -> None:
    dims = dims_of(x.type)
    if len(dims) not in (3, 4) or not is_float(element_of(x)):
        return
    rank = len(dims) - 2
    kernel = [g.draw(st.sampled_from((1, 2, 3))) for _ in range(rank)]
    strides = [g.draw(st.sampled_from((1, 2))) for _ in range(rank)]
    pads = [g.draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)]
    ceil_mode = g.draw(st.booleans())
    if g.draw(st.booleans()):
        g.add(ops.MaxPoolOp(x, kernel, strides, pads, None, ceil_mode), exact=True)
    else:
        g.add(ops.AvgPoolOp(x, kernel, strides, pads, None, ceil_mode, g.draw(st.booleans())), exact=False)


def normalisation(g: Graph, x: SSAValue) -> None:
    if is_float(element_of(x)):
        cls = g.draw(st.sampled_from((ops.SoftmaxOp, ops.LogSoftmaxOp, ops.LayerNormOp)))
        # A layer norm of axes without elements has no mean.
        axis = len(dims_of(x.type)) - 1 if cls is ops.LayerNormOp else g.axis(x)
        g.add(cls(x, axis=axis), exact=False)


ANY_RANK = (unary, unary, binary, binary, choose, cast, reshape)
RANKED = (
    *(reduction, arg_reduction, transpose, slice_, pad, concat, gather, cumsum),
    *(matmul, matmul, convolution, convolution, pooling, normalisation),
)


class Program:
    """A finished graph, sizes for its symbols, and its inputs."""

    # No dataclass: hypothesis would print all fields of the module.
    def __init__(self, module: ModuleOp, sizes: Mapping[str, int], inputs: list[np.ndarray]) -> None:
        self.module, self.sizes, self.inputs = module, sizes, inputs

    def __repr__(self) -> str:
        return f"{dict(self.sizes)}\n{self.module}"


@st.composite
def programs(draw: Draw, max_ops: int = 12) -> Program:
    """A program of up to `max_ops` ops over one to three inputs."""
    sizes = {"N": draw(st.sampled_from((0, 1, 2, 3, 7))), "M": draw(st.sampled_from((1, 4, 9)))}
    dims = (*SIZES, sym("N"), sym("M"))
    g = Graph(draw, sizes)
    for _ in range(draw(st.integers(1, 3))):
        element = draw(st.sampled_from(ELEMENT_TYPES))
        shape = draw(st.lists(st.sampled_from(dims), max_size=4))
        while evaluate(dim_prod(shape), sizes) > MOST_ELEMENTS:
            shape.pop()
        argument = g.block.insert_arg(tensor_type(shape, element), len(g.block.args))
        g.exact[argument] = True
    for _ in range(draw(st.integers(1, max_ops))):
        x = g.pick()
        assert x is not None
        step = draw(st.sampled_from((*ANY_RANK, *RANKED) if dims_of(x.type) else ANY_RANK))
        try:
            step(g, x)
        except VerifyException:
            # Sizes that do not go together, or no longer small: the graph goes on without this op.
            continue
    made = [value for value in g.exact if isinstance(value.owner, Operation)]
    if not made:
        reshape(g, g.block.args[0])
        made = [value for value in g.exact if isinstance(value.owner, Operation)]
    used = {operand for op in g.block.ops for operand in op.operands}
    results = [value for value in made if value not in used][-4:] or made[-1:]
    g.builder.insert(func.ReturnOp(*results))
    types = FunctionType.from_lists([a.type for a in g.block.args], [r.type for r in results])
    module = ModuleOp([func.FuncOp("main", types, Region(g.block))])
    inputs = [
        special(g, random_array(g.rng, tuple(evaluate(d, sizes) for d in dims_of(a.type)), element_of(a)))
        for a in g.block.args
    ]
    return Program(module, sizes, inputs)


def special(g: Graph, array: np.ndarray) -> np.ndarray:
    """Sometimes puts NaN, infinities and zeros of both signs into floats."""
    if array.dtype.kind in "iub" or not array.size or g.draw(st.integers(0, 3)):
        return array
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]).astype(array.dtype)
    flat = array.reshape(-1).copy()
    places = g.rng.integers(0, flat.size, max(1, flat.size // 8))
    flat[places] = g.rng.choice(values, places.shape)
    return flat.reshape(array.shape)
