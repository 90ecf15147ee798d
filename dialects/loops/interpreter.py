"""
The meaning of functions at the loops level, executed on numpy arrays: slow, and strict about what is undefined.

It exists to prove passes: a function is run before and after one on the same small inputs. Memrefs are C-contiguous
arrays that share memory with the caller's; vectors are arrays of their shape. Fresh buffers are filled with a pattern
that no right program reads. An index outside its memref, two lanes that write one element, or dimensions that break
the types' symbolic sizes are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.utils.exceptions import InterpretationError
from xdsl.utils.hints import isa

from aicc.dialects.graph.buffers import BufferAttr
from aicc.dialects.graph.dims import Dim, dim_prod, evaluate
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.loops.access import ApplyOp, LoadOp, StoreOp, lanes_of, scalar_of
from aicc.dialects.loops.affine_text import canonical_access
from aicc.dialects.loops.attrs import AnyMemRef, memref_dims, memref_of
from aicc.dialects.loops.call import CallOp
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.functions import symbol_names
from aicc.dialects.loops.memory import AllocOp, ConstantOp, CopyOp, PreparedOp, SizeOp, ViewOp
from aicc.dialects.loops.prefetch import PrefetchOp
from aicc.dialects.loops.vectors import BroadcastOp, ReduceOp, TransposeOp
from aicc.dialects.packed import DotOp
from aicc.dialects.tensor_ops.scalar_eval import scalar_array, to_body_storage
from aicc.dialects.tensor_ops.scalar_tables import CASTS, FLOAT_COMPARISONS, FUNCTIONS, INTEGER_COMPARISONS

Array = np.ndarray[Any, np.dtype[Any]]
Step = Callable[["Frame"], None]
Order = Callable[[range], Sequence[int]]
"""The order in which a parallel loop runs its iterations."""

_REDUCTIONS: dict[str, Callable[[Array, Array], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": FUNCTIONS[arith.MinUIOp.name],
    "maxui": FUNCTIONS[arith.MaxUIOp.name],
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


class Frame:
    """The values of one call of a function."""

    def __init__(self, symbols: Mapping[str, int]):
        self.symbols = symbols
        self.values: dict[SSAValue, Array] = {}

    def index(self, value: SSAValue) -> int:
        """An index value as an integer."""
        return int(self.values[value])


class Interpreter:
    """
    Runs functions of one module. `prepared` holds the buffers of `loops.prepared` by key, made when first asked for.

    `order` says in which order the iterations of parallel loops run, which must not matter.
    """

    def __init__(self, module: ModuleOp, order: Order = lambda iterations: iterations):
        self.functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, func.FuncOp)}
        self.prepared: dict[str, Array] = {}
        self.order = order
        self._blocks: dict[Block, list[Step]] = {}

    def call(self, name: str, *arguments: int | Array) -> list[Array]:
        """
        Runs the function on integers for its indices and arrays for its memrefs, which it fills in place.

        Raises:
            InterpretationError: if the arguments do not fit the function's type, or something undefined happens.
        """
        if (function := self.functions.get(name)) is None:
            raise InterpretationError(f"no function @{name}")
        values = [to_body_storage(np.asarray(argument)) for argument in arguments]
        with np.errstate(all="ignore"):
            return self._call(function, values)

    def _call(self, function: func.FuncOp, arguments: Sequence[Array]) -> list[Array]:
        if len(arguments) != len(function.args):
            raise InterpretationError(
                f"@{function.sym_name.data} takes {len(function.args)} arguments, got {len(arguments)}"
            )
        frame = Frame({name: int(value) for name, value in zip(symbol_names(function), arguments, strict=False)})
        for position, (argument, value) in enumerate(zip(function.args, arguments, strict=True)):
            if isinstance(argument.type, MemRefType):
                _check_memref(value, memref_of(argument), frame, f"argument {position} of @{function.sym_name.data}")
            frame.values[argument] = value
        self.run(function.body.block, frame)
        last = function.body.block.last_op
        assert last is not None
        return [frame.values[value] for value in last.operands]

    def run(self, block: Block, frame: Frame) -> None:
        """Runs the ops of a block but its terminator."""
        if (steps := self._blocks.get(block)) is None:
            steps = [self._step(op) for op in block.ops if not isinstance(op, _TERMINATORS)]
            self._blocks[block] = steps
        for step in steps:
            step(frame)

    def _step(self, op: Operation) -> Step:
        match op:
            case ForOp():
                return self._for(op)
            case LoadOp():
                return _load(op)
            case StoreOp():
                return _store(op)
            case PrefetchOp():
                return lambda frame: None
            case ApplyOp():
                return _apply(op)
            case SizeOp():
                dim, result = op.dim, op.result
                return lambda frame: frame.values.update({result: np.asarray(evaluate(dim, frame.symbols))})
            case AllocOp():
                return _alloc(op)
            case ViewOp():
                return _view(op)
            case ConstantOp():
                return _constant(op)
            case PreparedOp():
                return self._prepared(op)
            case CopyOp():
                source, target = op.source, op.target
                return lambda frame: np.copyto(frame.values[target], frame.values[source])
            case func.CallOp() | CallOp():
                return self._call_step(op)
            case scf.IfOp():
                return self._if(op)
            case scf.WhileOp():
                return self._while(op)
            case _:
                return _compute_step(op)

    def _for(self, op: ForOp) -> Step:
        lower = _access(op.lower_map.data.results, op.lower_operands)
        upper = _access(op.upper_map.data.results, op.upper_operands)
        step, parallel, block, induction = op.step_value, op.is_parallel, op.block, op.induction
        yielded = op.yielded if isinstance(block.last_op, YieldOp) else ()

        def run(frame: Frame) -> None:
            iterations = range(max(map(int, lower(frame, ()))), min(map(int, upper(frame, ()))), step)
            carried = [frame.values[value] for value in op.inits]
            for index in self.order(iterations) if parallel else iterations:
                frame.values[induction] = np.asarray(index)
                frame.values.update(zip(op.iter_args, carried, strict=True))
                self.run(block, frame)
                carried = [frame.values[value] for value in yielded]
            frame.values.update(zip(op.results, carried, strict=True))

        return run

    def _prepared(self, op: PreparedOp) -> Step:
        type, key, result = memref_of(op.result), op.key.data, op.result

        def run(frame: Frame) -> None:
            if key not in self.prepared:
                self.prepared[key] = fresh_array(type.get_shape(), numpy_dtype(type.element_type))
            frame.values[result] = self.prepared[key]
            _check_memref(self.prepared[key], type, frame, f'prepared buffer "{key}"')

        return run

    def _call_step(self, op: func.CallOp | CallOp) -> Step:
        callee = self.functions.get(op.callee.string_value())
        if callee is None:
            raise InterpretationError(f"no function {op.callee}")

        def run(frame: Frame) -> None:
            results = self._call(callee, [frame.values[value] for value in op.arguments])
            frame.values.update(zip(op.results, results, strict=True))

        return run

    def _if(self, op: scf.IfOp) -> Step:
        def run(frame: Frame) -> None:
            region = op.true_region if frame.values[op.cond] else op.false_region
            if region.blocks:
                self.run(region.block, frame)
                last = region.block.last_op
                assert last is not None
                frame.values.update(zip(op.results, [frame.values[value] for value in last.operands], strict=True))

        return run

    def _while(self, op: scf.WhileOp) -> Step:
        before, after = op.before_region.block, op.after_region.block
        condition, again = before.last_op, after.last_op
        assert isinstance(condition, scf.ConditionOp) and again is not None

        def run(frame: Frame) -> None:
            carried = [frame.values[value] for value in op.arguments]
            while True:
                frame.values.update(zip(before.args, carried, strict=True))
                self.run(before, frame)
                passed = [frame.values[value] for value in condition.args]
                if not frame.values[condition.condition]:
                    frame.values.update(zip(op.results, passed, strict=True))
                    return
                frame.values.update(zip(after.args, passed, strict=True))
                self.run(after, frame)
                carried = [frame.values[value] for value in again.operands]

        return run


_TERMINATORS = (YieldOp, func.ReturnOp, scf.YieldOp, scf.ConditionOp)


def fresh_array(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """A buffer of undefined content: NaN, or a number that stands out."""
    array = np.empty(shape, dtype)
    if dtype.kind in "iub":
        array[...] = np.array(0x5A).astype(dtype)
    else:
        array[...] = np.nan
    return array


def _check_memref(value: Array, type: AnyMemRef, frame: Frame, what: str) -> None:
    expected = tuple(evaluate(dim, frame.symbols) for dim in memref_dims(type))
    if value.shape != expected or value.dtype != numpy_dtype(type.element_type):
        raise InterpretationError(f"{what} is {value.dtype}{list(value.shape)}, expected {type} = {list(expected)}")
    if not value.flags.c_contiguous:
        raise InterpretationError(f"{what} is not contiguous")


def _grid(shape: Sequence[int]) -> tuple[Array, ...]:
    """The index of each lane along each dimension, to be broadcast."""
    return tuple(
        np.arange(size).reshape([-1 if d == axis else 1 for d in range(len(shape))]) for axis, size in enumerate(shape)
    )


def _expression(expr: AffineExpr) -> Callable[[Sequence[Any]], Any]:
    """A function from the values of the dimensions to that of `expr`."""
    match expr:
        case AffineConstantExpr(value=value):
            return lambda dims: value
        case AffineDimExpr(position=position):
            return lambda dims: dims[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            a, b = _expression(lhs), _expression(rhs)
            match kind:
                case AffineBinaryOpKind.Add:
                    return lambda dims: a(dims) + b(dims)
                case AffineBinaryOpKind.Mul:
                    return lambda dims: a(dims) * b(dims)
                case AffineBinaryOpKind.FloorDiv:
                    return lambda dims: a(dims) // b(dims)
                case AffineBinaryOpKind.CeilDiv:
                    return lambda dims: -(-a(dims) // b(dims))
                case AffineBinaryOpKind.Mod:
                    return lambda dims: a(dims) % b(dims)
        case _:
            raise InterpretationError(f"no meaning for the affine expression {expr}")


def _access(
    results: Sequence[AffineExpr], operands: Sequence[SSAValue]
) -> Callable[[Frame, Sequence[Array]], list[Any]]:
    """The results of a map without symbols for given lanes."""
    functions = [_expression(expr) for expr in results]

    def run(frame: Frame, lanes: Sequence[Array]) -> list[Any]:
        dims = [*(int(frame.values[value]) for value in operands), *lanes]
        return [function(dims) for function in functions]

    return run


def _apply(op: ApplyOp) -> Step:
    shape = lanes_of(op.result.type)
    affine_map, operands = canonical_access(op.map.data, op.indices, len(shape))
    access, grid = _access(affine_map.results, operands), _grid(shape)

    def run(frame: Frame) -> None:
        frame.values[op.result] = np.broadcast_to(np.asarray(access(frame, grid)[0], np.int64), shape)

    return run


def _addresses(
    op: LoadOp | StoreOp, shape: Sequence[int]
) -> Callable[[Frame, Array], tuple[tuple[Array, ...], Array, Array]]:
    """The index of each lane in each dimension, which lanes are not masked, and which lie inside the memref."""
    affine_map, operands = canonical_access(op.map.data, op.indices, len(shape))
    access, grid, lanes = _access(affine_map.results, operands), _grid(shape), op.lanes

    def run(frame: Frame, array: Array) -> tuple[tuple[Array, ...], Array, Array]:
        indices = tuple(np.broadcast_to(np.asarray(index), shape) for index in access(frame, grid))
        wanted = np.ones(shape, np.bool_)
        if lanes is not None:
            wanted &= grid[-1] < frame.index(lanes)
        inside = np.ones(shape, np.bool_)
        for index, size in zip(indices, array.shape, strict=True):
            inside &= (index >= 0) & (index < size)
        return indices, wanted, inside

    return run


def _load(op: LoadOp) -> Step:
    type = memref_of(op.memref)
    shape, dtype = lanes_of(op.result.type), numpy_dtype(type.element_type)
    addresses = _addresses(op, shape)
    fill = scalar_array(op.fill) if op.fill is not None else np.zeros((), dtype)

    def run(frame: Frame) -> None:
        array = frame.values[op.memref]
        indices, wanted, inside = addresses(frame, array)
        if op.fill is None and np.any(wanted & ~inside):
            raise InterpretationError(f"{_describe(op)} reads {_outside(indices, wanted & ~inside, array)}")
        result = np.full(shape, fill, dtype)
        touched = wanted & inside
        result[touched] = array[tuple(index[touched] for index in indices)] if indices else array
        frame.values[op.result] = result

    return run


def _store(op: StoreOp) -> Step:
    shape = lanes_of(op.value.type)
    addresses = _addresses(op, shape)

    def run(frame: Frame) -> None:
        array = frame.values[op.memref]
        indices, wanted, inside = addresses(frame, array)
        if op.inside is not None:
            wanted &= inside
        elif np.any(wanted & ~inside):
            raise InterpretationError(f"{_describe(op)} writes {_outside(indices, wanted & ~inside, array)}")
        if not array.flags.writeable:
            raise InterpretationError(f"{_describe(op)} writes to a constant")
        where = tuple(index[wanted] for index in indices)
        if shape and (count := int(wanted.sum())) > 1:
            flat = np.ravel_multi_index(where, array.shape) if where else np.zeros(count, np.int64)
            if len(np.unique(flat)) != count:
                raise InterpretationError(f"{_describe(op)} writes one element from several lanes")
        if wanted.any():
            array[where] = np.asarray(frame.values[op.value])[wanted] if where else frame.values[op.value]

    return run


def _describe(op: Operation) -> str:
    loops: list[str] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            loops.append(parent.label.data)
        parent = parent.parent_op()
    return f"{op.name} in the loops {', '.join(reversed(loops)) or 'none'}"


def _outside(indices: Sequence[Array], bad: Array, array: Array) -> str:
    first = [int(index[bad][0]) for index in indices]
    return f"element {first} of a memref of shape {list(array.shape)}"


def _alloc(op: AllocOp) -> Step:
    type = memref_of(op.result)
    dims, dtype = memref_dims(type), numpy_dtype(type.element_type)

    def run(frame: Frame) -> None:
        frame.values[op.result] = fresh_array([evaluate(dim, frame.symbols) for dim in dims], dtype)

    return run


def _view(op: ViewOp) -> Step:
    type = memref_of(op.result)
    dims, dtype = memref_dims(type), numpy_dtype(type.element_type)
    size: Dim = dim_prod(dims)

    def run(frame: Frame) -> None:
        raw = frame.values[op.source].reshape(-1).view(np.uint8)
        start = 0 if op.offset is None else frame.index(op.offset)
        stop = start + evaluate(size, frame.symbols) * dtype.itemsize
        if not 0 <= start <= stop <= raw.size:
            raise InterpretationError(f"{_describe(op)} takes bytes {start} to {stop} of {raw.size}")
        shape = [evaluate(dim, frame.symbols) for dim in dims]
        frame.values[op.result] = raw[start:stop].view(dtype).reshape(shape)

    return run


def _constant(op: ConstantOp) -> Step:
    type = memref_of(op.result)
    dtype = numpy_dtype(type.element_type)
    array: Array | None = None

    def run(frame: Frame) -> None:
        nonlocal array
        if array is None:
            array = _constant_array(op.value, type, dtype)
            array.flags.writeable = False
            _check_memref(array, type, frame, "a constant")
        frame.values[op.result] = array

    return run


def _constant_array(value: Attribute, type: AnyMemRef, dtype: np.dtype[Any]) -> Array:
    if isinstance(value, BufferAttr):
        return to_body_storage(np.ascontiguousarray(value.data.array())).view()
    return _dense_array(value, dtype).reshape(type.get_shape())


def _dense_array(value: Attribute, dtype: np.dtype[Any]) -> Array:
    """The elements in a row; a splat is repeated."""
    if not isa(value, DenseIntOrFPElementsAttr):
        raise InterpretationError(f"no meaning for the constant {value}")
    raw = np.frombuffer(value.data.data, np.uint8 if dtype == np.bool_ else dtype.newbyteorder("<"))
    elements = (raw != 0 if dtype == np.bool_ else raw.astype(dtype)).reshape(-1)
    count = int(np.prod(value.get_shape()))
    return np.repeat(elements, count) if elements.size == 1 and count != 1 else elements


def _compute_step(op: Operation) -> Step:
    """A step for an op that computes one scalar or vector from others."""
    if len(op.results) != 1:
        raise InterpretationError(f"{op.name} has no meaning at the loops level")
    compute = _compute(op)
    operands, result = tuple(op.operands), op.results[0]

    def run(frame: Frame) -> None:
        frame.values[result] = np.asarray(compute(*[frame.values[value] for value in operands]))

    return run


def _compute(op: Operation) -> Callable[..., Any]:
    match op:
        case arith.ConstantOp():
            constant = _scalar_or_vector(op.value, op.result.type)
            return lambda: constant
        case BroadcastOp():
            return partial(_broadcast, lanes_of(op.result.type))
        case TransposeOp():
            return partial(_transpose, [int(axis) for axis in op.permutation.get_values()])
        case ReduceOp():
            return _reduce(op)
        case DotOp():
            return op.compute
        case arith.CmpiOp(predicate=predicate):
            return INTEGER_COMPARISONS[predicate.value.data]
        case arith.CmpfOp(predicate=predicate):
            return FLOAT_COMPARISONS[predicate.value.data]
        case _:
            pass
    if (cast := CASTS.get(op.name)) is not None:
        return partial(_cast, cast, numpy_dtype(scalar_of(op.results[0].type)))
    if (function := FUNCTIONS.get(op.name)) is not None:
        return function
    raise InterpretationError(f"{op.name} has no meaning at the loops level")


def _scalar_or_vector(value: Attribute, type: Attribute) -> Array:
    if shape := lanes_of(type):
        return _dense_array(value, numpy_dtype(scalar_of(type))).reshape(shape)
    return scalar_array(value)


def _broadcast(shape: Sequence[int], x: Array) -> Array:
    missing = (1,) * (len(shape) - np.ndim(x))
    return np.broadcast_to(np.reshape(x, (*np.shape(x), *missing)), shape)


def _transpose(permutation: Sequence[int], x: Array) -> Array:
    return np.transpose(x, permutation)


def _cast(convert: Callable[[Array, np.dtype[Any]], Array], dtype: np.dtype[Any], x: Array) -> Array:
    return convert(x, dtype)


def _reduce(op: ReduceOp) -> Callable[[Array], Array]:
    combine = _REDUCTIONS[op.kind.data]
    axes = [int(axis) for axis in op.axes.get_values()]

    def run(x: Array) -> Array:
        dtype = x.dtype
        for axis in reversed(axes):
            parts = np.moveaxis(x, axis, 0)
            x = parts[0]
            for part in parts[1:]:
                x = np.asarray(combine(x, part)).astype(dtype)
        return x

    return run
