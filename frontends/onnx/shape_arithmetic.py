"""
What a model computes from the shapes of its inputs, on sizes instead of tensors.

`evaluate(op, ...)` takes the contents of a node's inputs (object arrays of `Dim` and `bool`, or numeric arrays) and
gives the content of its result, or None where the answer is not a size for all values of the symbols; the node then
becomes ops like any other. Divisors that are symbols count as at least 1, as everywhere in symbolic sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from aicc.dialects.graph.dims import (
    Dim,
    SymExpr,
    dim_max,
    dim_min,
    floordiv,
    lower_bound,
    mod,
    provably_at_least,
    provably_different,
    provably_equal,
    upper_bound,
)

Content: TypeAlias = np.ndarray
"""An array of numbers, or an object array of sizes."""


class Undecided(Exception):
    """The answer depends on the values of symbols in a way that sizes cannot express."""


class Attributes(Protocol):
    """What the functions here need of a node."""

    @property
    def version(self) -> int: ...

    def attr_int(self, name: str, default: int | None = None) -> int: ...

    def attr_ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]: ...

    def has_attr(self, name: str) -> bool: ...


Function: TypeAlias = Callable[[Attributes, Sequence[Content | None]], Content]


def evaluate(op: str, node: Attributes, contents: Sequence[Content | None]) -> Content | None:
    """The content of the single result of node `op`, or None; missing optional inputs are None in `contents`."""
    function = _FUNCTIONS.get(op)
    if function is None:
        return None
    try:
        return function(node, contents)
    except (Undecided, ZeroDivisionError):
        return None
    except (IndexError, ValueError):  # Such as an axis out of range: the handler of the operator says it better.
        return None


def result_dtype(op: str, node: Attributes, dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """The dtype of the result of an operator that `evaluate` knows, from those of its inputs."""
    if op in _PREDICATES:
        return np.dtype(np.bool_)
    if op == "Cast":
        return _CAST_DTYPES[node.attr_int("to")]
    return dtypes[1 if op == "Where" else 0]


_PREDICATES = frozenset({"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or"})
_CAST_DTYPES: Mapping[int, np.dtype[Any]] = {
    6: np.dtype(np.int32),
    7: np.dtype(np.int64),
    9: np.dtype(np.bool_),
}
"""`TensorProto.DataType` -> dtype, for the types that sizes are converted to."""


def _elementwise(function: Callable[..., Dim], operands: int) -> Function:
    ufunc = np.frompyfunc(function, operands, 1)

    def apply(node: Attributes, contents: Sequence[Content | None]) -> Content:
        return _objects(ufunc(*(_objects(content) for content in contents)))

    return apply


def _unary(function: Callable[[Dim], Dim]) -> Function:
    return _elementwise(function, 1)


def _binary(function: Callable[[Dim, Dim], Dim]) -> Function:
    return _elementwise(function, 2)


def _objects(content: Any) -> Content:
    """An object array of Python numbers; scalars become arrays of rank 0."""
    array = np.asarray(content)
    if array.dtype != object:
        if array.dtype.kind not in "iub":
            raise Undecided
        array = array.astype(object)
    return array


def _present(content: Content | None) -> Content:
    if content is None:
        raise Undecided
    return content


def _numbers(content: Content | None) -> list[int]:
    """Contents that must be plain numbers, such as axes."""
    values = _objects(_present(content)).ravel().tolist()
    if not all(isinstance(value, int) for value in values):
        raise Undecided
    return values


def _div(a: Dim, b: Dim) -> Dim:
    """Truncates as ONNX does; the same as rounding down where nothing is negative."""
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient
    if not provably_at_least(a, 0) or not _positive(b):
        raise Undecided
    return floordiv(a, b)


def _positive(divisor: Dim) -> bool:
    return provably_at_least(divisor, 1 if isinstance(divisor, int) else 0)


def _mod(a: Dim, b: Dim) -> Dim:
    """Right for both kinds of remainder, which differ for negative numbers."""
    if not provably_at_least(a, 0) or not _positive(b):
        raise Undecided
    return mod(a, b)


def _equal(a: Dim | bool, b: Dim | bool) -> bool:
    if provably_equal(a, b):
        return True
    if provably_different(a, b):
        return False
    raise Undecided


def _less(a: Dim, b: Dim) -> bool:
    low, high = lower_bound(b - a), upper_bound(b - a)
    if low is not None and low > 0:
        return True
    if high is not None and high <= 0:
        return False
    raise Undecided


def _abs(a: Dim) -> Dim:
    if provably_at_least(a, 0):
        return a
    if provably_at_least(-a, 0):
        return -a
    raise Undecided


def _select(condition: Dim | bool, a: Dim, b: Dim) -> Dim:
    return a if _equal(condition, True) else b


def _variadic(combine: Callable[[Dim, Dim], Dim]) -> Function:
    ufunc = np.frompyfunc(combine, 2, 1)

    def apply(node: Attributes, contents: Sequence[Content | None]) -> Content:
        result = _objects(_present(contents[0]))
        for content in contents[1:]:
            result = _objects(ufunc(result, _objects(content)))
        return result

    return apply


def _identity(node: Attributes, contents: Sequence[Content | None]) -> Content:
    return _present(contents[0])


def _cast(node: Attributes, contents: Sequence[Content | None]) -> Content:
    content = _objects(contents[0])
    target = _CAST_DTYPES.get(node.attr_int("to"))
    if target is None:
        raise Undecided
    if target == np.bool_:
        return _objects(np.frompyfunc(_is_nonzero, 1, 1)(content))
    return content


def _is_nonzero(value: Dim) -> bool:
    return not _equal(value, 0)


def _gather(node: Attributes, contents: Sequence[Content | None]) -> Content:
    indices = _present(contents[1])
    if indices.dtype == object:
        raise Undecided
    return _objects(np.take(_objects(contents[0]), indices, axis=node.attr_int("axis", 0)))


def _concat(node: Attributes, contents: Sequence[Content | None]) -> Content:
    return np.concatenate([_objects(content) for content in contents], axis=node.attr_int("axis"))


def _axes(node: Attributes, contents: Sequence[Content | None], position: int) -> tuple[int, ...] | None:
    if len(contents) > position and contents[position] is not None:
        return tuple(_numbers(contents[position]))
    return node.attr_ints("axes") if node.has_attr("axes") else None


def _unsqueeze(node: Attributes, contents: Sequence[Content | None]) -> Content:
    axes = _axes(node, contents, 1)
    if axes is None:
        raise Undecided
    return np.expand_dims(_objects(contents[0]), axes)


def _squeeze(node: Attributes, contents: Sequence[Content | None]) -> Content:
    return np.squeeze(_objects(contents[0]), _axes(node, contents, 1))


def _reshape(node: Attributes, contents: Sequence[Content | None]) -> Content:
    content, shape = _objects(contents[0]), _numbers(contents[1])
    if not node.attr_int("allowzero", 0):
        shape = [content.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return content.reshape(shape)


def _slice(node: Attributes, contents: Sequence[Content | None]) -> Content:
    content = _objects(contents[0])
    if node.version < 10:
        starts, ends = node.attr_ints("starts"), node.attr_ints("ends")
        axes, steps = node.attr_ints("axes", tuple(range(len(starts)))), [1] * len(starts)
    else:
        starts, ends = _numbers(contents[1]), _numbers(contents[2])
        rest = [*contents[3:], None, None]
        axes = range(len(starts)) if rest[0] is None else _numbers(rest[0])
        steps = [1] * len(starts) if rest[1] is None else _numbers(rest[1])
    selection = [slice(None)] * content.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = content.shape[axis]
        # Python counts negative ends from the back; going down, one below 0 means "all of them".
        stop = None if step < 0 and end < -size else end
        selection[axis] = slice(start, stop, step)
    return content[tuple(selection)]


def _expand(node: Attributes, contents: Sequence[Content | None]) -> Content:
    content = _objects(contents[0])
    return np.broadcast_to(content, np.broadcast_shapes(content.shape, tuple(_numbers(contents[1]))))


def _tile(node: Attributes, contents: Sequence[Content | None]) -> Content:
    return np.tile(_objects(contents[0]), _numbers(contents[1]))


def _transpose(node: Attributes, contents: Sequence[Content | None]) -> Content:
    content = _objects(contents[0])
    return content.transpose(node.attr_ints("perm", tuple(reversed(range(content.ndim)))))


def _reduction(combine: Callable[[Dim, Dim], Dim], start: Dim | None) -> Function:
    def apply(node: Attributes, contents: Sequence[Content | None]) -> Content:
        content = _objects(contents[0])
        axes = _axes(node, contents, 1)
        if content.ndim != 1 or (not axes and node.attr_int("noop_with_empty_axes", 0)):
            raise Undecided
        values = content.tolist()
        total = start if start is not None else values.pop(0) if values else None
        if total is None:
            raise Undecided
        for value in values:
            total = combine(total, value)
        result = np.empty((1,) if node.attr_int("keepdims", 1) else (), dtype=object)
        result[...] = total
        return result

    return apply


_FUNCTIONS: Mapping[str, Function] = {
    "Abs": _unary(_abs),
    "Add": _binary(lambda a, b: a + b),
    "And": _binary(lambda a, b: _equal(a, True) and _equal(b, True)),
    "Cast": _cast,
    "Concat": _concat,
    "Div": _binary(_div),
    "Equal": _binary(_equal),
    "Expand": _expand,
    "Gather": _gather,
    "Greater": _binary(lambda a, b: _less(b, a)),
    "GreaterOrEqual": _binary(lambda a, b: not _less(a, b)),
    "Identity": _identity,
    "Less": _binary(_less),
    "LessOrEqual": _binary(lambda a, b: not _less(b, a)),
    "Max": _variadic(dim_max),
    "Min": _variadic(dim_min),
    "Mod": _binary(_mod),
    "Mul": _binary(lambda a, b: a * b),
    "Neg": _unary(lambda a: -a),
    "Not": _unary(lambda a: not _equal(a, True)),
    "Or": _binary(lambda a, b: _equal(a, True) or _equal(b, True)),
    "ReduceMax": _reduction(dim_max, None),
    "ReduceMin": _reduction(dim_min, None),
    "ReduceProd": _reduction(lambda a, b: a * b, 1),
    "ReduceSum": _reduction(lambda a, b: a + b, 0),
    "Reshape": _reshape,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Sub": _binary(lambda a, b: a - b),
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _elementwise(_select, 3),
}


def sizes_in(content: Content) -> tuple[Dim, ...]:
    """The elements as sizes, in row-major order."""
    return tuple(value if isinstance(value, SymExpr) else int(value) for value in content.ravel().tolist())
