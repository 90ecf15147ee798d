"""ONNX operators in torch, for the peers `torch` (eager) and `torch-compiled`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from onnx import helper

from benchmarks.onnx_line import Attributes, Line, Op, ints, slice_index


def _window(a: Attributes, rank: int) -> tuple[list[int], list[int], list[int]]:
    """Strides, pads of one side (equal on both: torch knows no others) and dilations."""
    pads = list(a.get("pads", [0] * 2 * rank))
    if a.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID") or pads[:rank] != pads[rank:]:
        raise NotImplementedError("pads that differ between the sides")
    return list(a.get("strides", [1] * rank)), pads[:rank], list(a.get("dilations", [1] * rank))


def _conv(a: Attributes, x: Sequence[Any]) -> Any:
    rank = x[1].ndim - 2
    strides, pads, dilations = _window(a, rank)
    call = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    return call(x[0], x[1], x[2] if len(x) > 2 else None, strides, pads, dilations, a.get("group", 1))


def _conv_transpose(a: Attributes, x: Sequence[Any]) -> Any:
    rank = x[1].ndim - 2
    strides, pads, dilations = _window(a, rank)
    call = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
    extra = list(a.get("output_padding", [0] * rank))
    return call(x[0], x[1], x[2] if len(x) > 2 else None, strides, pads, extra, a.get("group", 1), dilations)


def _max_pool(a: Attributes, x: Sequence[Any]) -> Any:
    kernel = list(a["kernel_shape"])
    strides, pads, dilations = _window(a, len(kernel))
    call = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[len(kernel) - 1]
    return call(x[0], kernel, strides, pads, dilations, bool(a.get("ceil_mode", 0)))


def _average_pool(a: Attributes, x: Sequence[Any]) -> Any:
    kernel = list(a["kernel_shape"])
    strides, pads, _ = _window(a, len(kernel))
    counted = bool(a.get("count_include_pad", 0))
    return F.avg_pool2d(x[0], kernel, strides, pads, bool(a.get("ceil_mode", 0)), counted)


def _gemm(a: Attributes, x: Sequence[Any]) -> Any:
    lhs = x[0].t() if a.get("transA", 0) else x[0]
    rhs = x[1].t() if a.get("transB", 0) else x[1]
    if len(x) < 3:
        return a.get("alpha", 1.0) * torch.mm(lhs, rhs)
    return torch.addmm(x[2], lhs, rhs, beta=a.get("beta", 1.0), alpha=a.get("alpha", 1.0))


def _reduce(call: Callable[..., Any]) -> Op:
    def run(a: Attributes, x: Sequence[Any]) -> Any:
        axes = ints(x[1]) if len(x) > 1 else list(a.get("axes", range(x[0].ndim)))
        return call(x[0], axes, keepdim=bool(a.get("keepdims", 1)))

    return run


def _slice(a: Attributes, x: Sequence[Any]) -> Any:
    return x[0][slice_index(x)]


def _gather(a: Attributes, x: Sequence[Any]) -> Any:
    axis = a.get("axis", 0) % x[0].ndim
    if x[1].ndim == 0:
        return x[0].select(axis, int(x[1])) if isinstance(x[1], np.ndarray) else torch.select(x[0], axis, x[1])
    indices = torch.from_numpy(np.array(x[1])) if isinstance(x[1], np.ndarray) else x[1]
    if axis == 0 and x[0].ndim == 2:
        return F.embedding(indices, x[0])
    flat = x[0].index_select(axis, indices.reshape(-1))
    return flat.reshape(*x[0].shape[:axis], *indices.shape, *x[0].shape[axis + 1 :])


def _reshape(a: Attributes, x: Sequence[Any]) -> Any:
    return x[0].reshape([x[0].shape[i] if size == 0 else size for i, size in enumerate(ints(x[1]))])


def _unsqueeze(a: Attributes, x: Sequence[Any]) -> Any:
    result = x[0]
    for axis in sorted(ints(x[1]) if len(x) > 1 else a["axes"]):
        result = result.unsqueeze(axis)
    return result


def _squeeze(a: Attributes, x: Sequence[Any]) -> Any:
    return x[0].squeeze(tuple(ints(x[1]) if len(x) > 1 else a["axes"]))


def _split(a: Attributes, x: Sequence[Any]) -> Any:
    axis = a.get("axis", 0)
    sizes = ints(x[1]) if len(x) > 1 else list(a["split"]) if "split" in a else x[0].shape[axis] // a["results"]
    return torch.split(x[0], sizes, axis)


def _pad(a: Attributes, x: Sequence[Any]) -> Any:
    pads = ints(x[1])
    rank = len(pads) // 2
    pairs = [amount for i in reversed(range(rank)) for amount in (pads[i], pads[rank + i])]
    return F.pad(x[0], pairs, value=float(x[2]) if len(x) > 2 else 0.0)


def _layer_norm(a: Attributes, x: Sequence[Any]) -> Any:
    shape = list(x[0].shape)[a.get("axis", -1) :]
    return F.layer_norm(x[0], shape, x[1], x[2] if len(x) > 2 else None, a.get("epsilon", 1e-5))


def _softmax(a: Attributes, x: Sequence[Any]) -> Any:
    if a["opset"] >= 13:
        return F.softmax(x[0], a.get("axis", -1))
    rows = x[0].flatten(a.get("axis", 1))
    return F.softmax(rows, -1).reshape(x[0].shape)


def _clip(a: Attributes, x: Sequence[Any]) -> Any:
    low, high = (a.get(name, x[i] if len(x) > i else None) for i, name in ((1, "min"), (2, "max")))
    return torch.clamp(x[0], None if low is None else float(low), None if high is None else float(high))


def _cast(a: Attributes, x: Sequence[Any]) -> Any:
    return x[0].to(torch.from_numpy(np.zeros(0, helper.tensor_dtype_to_np_dtype(a["to"]))).dtype)


def _unary(call: Callable[[Any], Any]) -> Op:
    return lambda a, x: call(x[0])


def _binary(call: Callable[[Any, Any], Any]) -> Op:
    return lambda a, x: call(x[0], x[1])


OPS: dict[str, Op] = {
    "Add": _binary(operator.add),
    "AveragePool": _average_pool,
    "BatchNormalization": lambda a, x: F.batch_norm(x[0], x[3], x[4], x[1], x[2], False, 0.0, a.get("epsilon", 1e-5)),
    "Cast": _cast,
    "Clip": _clip,
    "Concat": lambda a, x: torch.cat([torch.as_tensor(part) for part in x], a["axis"]),
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "Div": _binary(operator.truediv),
    "Dropout": _unary(lambda x: x),
    "Erf": _unary(torch.erf),
    "Exp": _unary(torch.exp),
    "Expand": lambda a, x: x[0].expand(*np.broadcast_shapes(tuple(x[0].shape), tuple(ints(x[1])))),
    "Flatten": lambda a, x: x[0].flatten(a.get("axis", 1)),
    "Gather": _gather,
    "Gemm": _gemm,
    "GlobalAveragePool": _unary(lambda x: F.adaptive_avg_pool2d(x, 1)),
    "HardSigmoid": _unary(F.hardsigmoid),
    "HardSwish": _unary(F.hardswish),
    "Identity": _unary(lambda x: x),
    "InstanceNormalization": lambda a, x: F.instance_norm(x[0], None, None, x[1], x[2], eps=a.get("epsilon", 1e-5)),
    "LRN": lambda a, x: F.local_response_norm(x[0], a["size"], a["alpha"], a["beta"], a.get("bias", 1.0)),
    "LayerNormalization": _layer_norm,
    "Log": _unary(torch.log),
    "MatMul": _binary(torch.matmul),
    "MaxPool": _max_pool,
    "Mul": _binary(operator.mul),
    "Pad": _pad,
    "Pow": _binary(torch.pow),
    "ReduceL2": _reduce(lambda x, axes, keepdim: torch.linalg.vector_norm(x, 2, axes, keepdim)),
    "ReduceMax": _reduce(torch.amax),
    "ReduceMean": _reduce(torch.mean),
    "ReduceSum": _reduce(torch.sum),
    "Relu": _unary(F.relu),
    "Reshape": _reshape,
    "Sigmoid": _unary(torch.sigmoid),
    "Slice": _slice,
    "Softmax": _softmax,
    "Split": _split,
    "Sqrt": _unary(torch.sqrt),
    "Squeeze": _squeeze,
    "Sub": _binary(operator.sub),
    "Sum": lambda a, x: sum(x[1:], x[0]),
    "Tanh": _unary(torch.tanh),
    "Transpose": lambda a, x: x[0].permute(*a.get("perm", range(x[0].ndim)[::-1])),
    "Unsqueeze": _unsqueeze,
}


class _Torch:
    """How torch makes and keeps arrays."""

    ops: ClassVar[Mapping[str, Op]] = OPS

    @staticmethod
    def array(value: np.ndarray) -> Any:
        return torch.from_numpy(np.array(value))

    @staticmethod
    def numpy(value: Any) -> np.ndarray:
        return value.numpy()


def torch_runner(model: str, *, compiled: bool) -> Callable[[Mapping[str, np.ndarray]], Sequence[Any]]:
    """A function from inputs to tensors; it is built at its first call, whose shapes it keeps."""
    line = Line(model, _Torch)
    made: list[Callable[..., Any]] = []

    def plain(*inputs: Any) -> list[Any]:
        # Engines give results of their own, no views.
        return [value.contiguous() for value in line(*inputs)]

    def run(inputs: Mapping[str, np.ndarray]) -> Sequence[Any]:
        with torch.inference_mode():
            if not made:
                line.settle(inputs)
                made.append(torch.compile(plain, dynamic=False) if compiled else plain)
            return made[0](*(torch.from_numpy(inputs[name]) for name in line.inputs))

    return run
