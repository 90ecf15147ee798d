"""
Seeded random weights of sensible scale, so that results are finite, well spread and depend on the input.

Every layer keeps the scale of its input (He et al. 2015, section 2.2, by the fan-in) and a batch norm is near the
identity. Filters are centred as well: otherwise the common positive mean of rectified values drowns everything else
within ten layers.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx


def weight_roles(nodes: Sequence[onnx.NodeProto], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[str, int]]:
    """Role and fan-in of each weight in `shapes`, by the operand it is; weights of no known role are absent."""
    summed = {name for node in nodes if node.op_type == "Sum" for name in node.input}
    roles: dict[str, tuple[str, int]] = {}
    source = {name: name for name in shapes}
    for node in nodes:
        op, operands = node.op_type, [source.get(name, "") for name in node.input]
        if op in ("Unsqueeze", "Reshape") and operands[0]:
            source[node.output[0]] = operands[0]
            continue
        transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
        for position, weight in enumerate(operands):
            if not weight:
                continue
            if op == "Conv":
                roles[weight] = ("kernel", math.prod(shapes[weight][1:])) if position == 1 else ("offset", 0)
            elif op == "Gemm":
                roles[weight] = ("kernel", shapes[weight][-1 if transposed else -2]) if position == 1 else ("offset", 0)
            elif op == "BatchNormalization":
                gain = "branch" if node.output[0] in summed else "scale"
                roles[weight] = (("", gain, "offset", "offset", "scale")[position], 0)
            elif op in ("Mul", "Add"):
                roles[weight] = ("scale" if op == "Mul" else "offset", 0)
    return roles


def draw(rng: np.random.Generator, role: str, shape: Sequence[int], fan_in: int = 0) -> np.ndarray:
    """
    Random f32 weights of one role.

    - `kernel`: filters `[out, in...]` between ReLUs, each of mean 0; rectified N(0, 1) has variance 1/2 - 1/(2 pi).
    - `linear`: N(0, 1 / fan_in).
    - `offset`: N(0, 0.1^2).
    - `scale`: U(0.8, 1.2).
    - `branch`: U(0.4, 0.6), the last batch norm of a residual branch, so that sixteen blocks do not add up.
    """
    if role in ("scale", "branch"):
        return rng.uniform(0.8, 1.2, shape).astype(np.float32) * np.float32(1.0 if role == "scale" else 0.5)
    value = rng.standard_normal(shape, dtype=np.float32)
    if role == "offset":
        return value * np.float32(0.1)
    if role == "linear":
        return value * np.float32(math.sqrt(1 / fan_in))
    value -= value.mean(axis=tuple(range(1, value.ndim)), keepdims=True)
    return value * np.float32(math.sqrt(1 / fan_in / (0.5 - 0.5 / math.pi)))
