"""ONNX operators in jax, for the peer `jax` (compiled by `jax.jit`)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from onnx import helper

from benchmarks.onnx_line import Attributes, Line, Op, ints, slice_index


def _pads(a: Attributes, rank: int) -> list[tuple[int, int]]:
    if a.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID") or a.get("ceil_mode", 0):
        raise NotImplementedError("auto_pad and ceil_mode")
    pads = list(a.get("pads", [0] * 2 * rank))
    return list(zip(pads[:rank], pads[rank:], strict=True))


def _biased(result: Any, x: Sequence[Any]) -> Any:
    return result if len(x) < 3 else result + x[2].reshape(-1, *[1] * (result.ndim - 2))


def _conv(a: Attributes, x: Sequence[Any]) -> Any:
    rank = x[1].ndim - 2
    strides, dilations = (list(a.get(name, [1] * rank)) for name in ("strides", "dilations"))
    pads, groups = _pads(a, rank), a.get("group", 1)
    result = lax.conv_general_dilated(x[0], x[1], strides, pads, rhs_dilation=dilations, feature_group_count=groups)
    return _biased(result, x)


def _conv_transpose(a: Attributes, x: Sequence[Any]) -> Any:
    rank = x[1].ndim - 2
    if a.get("group", 1) != 1:
        raise NotImplementedError("grouped transposed convolution")
    strides, dilations = (list(a.get(name, [1] * rank)) for name in ("strides", "dilations"))
    kernel = [(size - 1) * dilation for size, dilation in zip(x[1].shape[2:], dilations, strict=True)]
    pads = [(k - low, k - high) for k, (low, high) in zip(kernel, _pads(a, rank), strict=True)]
    weight = jnp.flip(x[1], range(2, 2 + rank)).swapaxes(0, 1)
    ones = [1] * rank
    result = lax.conv_general_dilated(x[0], weight, ones, pads, lhs_dilation=strides, rhs_dilation=dilations)
    return _biased(result, x)


def _pool(combine: Any, start: float) -> Op:
    def run(a: Attributes, x: Sequence[Any]) -> Any:
        kernel = list(a["kernel_shape"])
        strides = list(a.get("strides", [1] * len(kernel)))
        pads = [(0, 0), (0, 0), *_pads(a, len(kernel))]
        return lax.reduce_window(x[0], start, combine, (1, 1, *kernel), (1, 1, *strides), pads)

    return run


_sum_pool = _pool(lax.add, 0.0)


def _average_pool(a: Attributes, x: Sequence[Any]) -> Any:
    total = _sum_pool(a, x)
    if a.get("count_include_pad", 0):
        return total / np.prod(a["kernel_shape"])
    return total / _sum_pool(a, [jnp.ones_like(x[0])])


def _gemm(a: Attributes, x: Sequence[Any]) -> Any:
    lhs, rhs = (v.T if a.get(name, 0) else v for name, v in (("transA", x[0]), ("transB", x[1])))
    result = a.get("alpha", 1.0) * (lhs @ rhs)
    return result if len(x) < 3 else result + a.get("beta", 1.0) * x[2]


def _reduce(call: Callable[..., Any]) -> Op:
    def run(a: Attributes, x: Sequence[Any]) -> Any:
        axes = ints(x[1]) if len(x) > 1 else list(a.get("axes", range(x[0].ndim)))
        return call(x[0], axis=tuple(axes), keepdims=bool(a.get("keepdims", 1)))

    return run


def _slice(a: Attributes, x: Sequence[Any]) -> Any:
    return x[0][slice_index(x)]


def _split(a: Attributes, x: Sequence[Any]) -> Any:
    sizes = ints(x[1]) if len(x) > 1 else list(a.get("split", []))
    axis = a.get("axis", 0)
    return jnp.split(x[0], list(np.cumsum(sizes)[:-1]) if sizes else a["results"], axis)


def _layer_norm(a: Attributes, x: Sequence[Any]) -> Any:
    axes = tuple(range(a.get("axis", -1) % x[0].ndim, x[0].ndim))
    mean, variance = x[0].mean(axes, keepdims=True), x[0].var(axes, keepdims=True)
    unit = (x[0] - mean) * lax.rsqrt(variance + a.get("epsilon", 1e-5))
    return unit * x[1] + x[2] if len(x) > 2 else unit * x[1]


def _instance_norm(a: Attributes, x: Sequence[Any]) -> Any:
    axes = tuple(range(2, x[0].ndim))
    mean, variance = x[0].mean(axes, keepdims=True), x[0].var(axes, keepdims=True)
    scale, offset = (v.reshape(-1, *[1] * len(axes)) for v in x[1:3])
    return (x[0] - mean) * lax.rsqrt(variance + a.get("epsilon", 1e-5)) * scale + offset


def _batch_norm(a: Attributes, x: Sequence[Any]) -> Any:
    scale, offset, mean, variance = (v.reshape(-1, *[1] * (x[0].ndim - 2)) for v in x[1:5])
    return (x[0] - mean) * lax.rsqrt(variance + a.get("epsilon", 1e-5)) * scale + offset


def _softmax(a: Attributes, x: Sequence[Any]) -> Any:
    if a["opset"] >= 13:
        return jax.nn.softmax(x[0], a.get("axis", -1))
    axis = a.get("axis", 1)
    return jax.nn.softmax(x[0], tuple(range(axis % x[0].ndim, x[0].ndim)))


def _clip(a: Attributes, x: Sequence[Any]) -> Any:
    low, high = (a.get(name, x[i] if len(x) > i else None) for i, name in ((1, "min"), (2, "max")))
    return jnp.clip(x[0], low, high)


def _pad(a: Attributes, x: Sequence[Any]) -> Any:
    pads = ints(x[1])
    rank = len(pads) // 2
    return jnp.pad(x[0], list(zip(pads[:rank], pads[rank:], strict=True)))


def _unary(call: Callable[[Any], Any]) -> Op:
    return lambda a, x: call(x[0])


def _binary(call: Callable[[Any, Any], Any]) -> Op:
    return lambda a, x: call(x[0], x[1])


OPS: dict[str, Op] = {
    "Add": _binary(operator.add),
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Cast": lambda a, x: x[0].astype(helper.tensor_dtype_to_np_dtype(a["to"])),
    "Clip": _clip,
    "Concat": lambda a, x: jnp.concatenate(x, a["axis"]),
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Div": _binary(operator.truediv),
    "Dropout": _unary(lambda x: x),
    "Erf": _unary(lax.erf),
    "Exp": _unary(jnp.exp),
    "Expand": lambda a, x: jnp.broadcast_to(x[0], np.broadcast_shapes(x[0].shape, tuple(ints(x[1])))),
    "Flatten": lambda a, x: x[0].reshape(int(np.prod(x[0].shape[: a.get("axis", 1)])), -1),
    "Gather": lambda a, x: jnp.take(x[0], x[1], axis=a.get("axis", 0), mode="clip"),
    "Gemm": _gemm,
    "GlobalAveragePool": _unary(lambda x: x.mean(tuple(range(2, x.ndim)), keepdims=True)),
    "HardSigmoid": lambda a, x: jnp.clip(a.get("alpha", 0.2) * x[0] + a.get("beta", 0.5), 0, 1),
    "HardSwish": _unary(jax.nn.hard_swish),
    "Identity": _unary(lambda x: x),
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "Log": _unary(jnp.log),
    "MatMul": _binary(operator.matmul),
    "MaxPool": _pool(lax.max, -np.inf),
    "Mul": _binary(operator.mul),
    "Pad": _pad,
    "Pow": _binary(operator.pow),
    "ReduceL2": _reduce(lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims))),
    "ReduceMax": _reduce(jnp.max),
    "ReduceMean": _reduce(jnp.mean),
    "ReduceSum": _reduce(jnp.sum),
    "Relu": _unary(jax.nn.relu),
    "Reshape": lambda a, x: x[0].reshape([x[0].shape[i] if n == 0 else n for i, n in enumerate(ints(x[1]))]),
    "Sigmoid": _unary(jax.nn.sigmoid),
    "Slice": _slice,
    "Softmax": _softmax,
    "Split": _split,
    "Sqrt": _unary(jnp.sqrt),
    "Squeeze": lambda a, x: jnp.squeeze(x[0], tuple(ints(x[1]) if len(x) > 1 else a["axes"])),
    "Sub": _binary(operator.sub),
    "Sum": lambda a, x: sum(x[1:], x[0]),
    "Tanh": _unary(jnp.tanh),
    "Transpose": lambda a, x: x[0].transpose(a.get("perm", range(x[0].ndim)[::-1])),
    "Unsqueeze": lambda a, x: jnp.expand_dims(x[0], tuple(ints(x[1]) if len(x) > 1 else a["axes"])),
}


class _Jax:
    """How jax makes and keeps arrays."""

    ops: ClassVar[Mapping[str, Op]] = OPS

    @staticmethod
    def array(value: np.ndarray) -> Any:
        return jnp.asarray(value)

    @staticmethod
    def numpy(value: Any) -> np.ndarray:
        return np.asarray(value)


def jax_runner(model: str) -> Callable[[Mapping[str, np.ndarray]], Sequence[Any]]:
    """A function from inputs to arrays that are ready; it is built at its first call, whose shapes it keeps."""
    line = Line(model, _Jax)
    made: list[Callable[..., Any]] = []

    def run(inputs: Mapping[str, np.ndarray]) -> Sequence[Any]:
        if not made:
            line.settle(inputs)
            made.append(jax.jit(line))
        return jax.block_until_ready(made[0](*(inputs[name] for name in line.inputs)))

    return run
