"""Operators with parameters per channel, of an unknown number of channels, in compiled code."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import aicc


def compiled(operator: str, parameters: dict[str, list[str | int]], opset: int = 21, **attributes: float):
    """A model of one operator on `x: [N, C, W]` whose parameters have sizes of their own."""
    inputs: dict[str, list[str | int]] = {"x": ["N", "C", "W"], **parameters}
    graph = helper.make_graph(
        [helper.make_node(operator, list(inputs), ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "C", "W"])],
    )
    return aicc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10))


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def standardised(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + 1e-5)


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_instance_normalization():
    model = compiled("InstanceNormalization", {"s": ["C"], "b": ["C"]})
    for channels in (1, 3, 40):
        x, s, b = drawn(2, channels, 7), drawn(channels), drawn(channels)
        close(model.run({"x": x, "s": s, "b": b})["y"], standardised(x, (2,)) * s[:, None] + b[:, None])
    with pytest.raises(aicc.InputError, match="'s'"):
        model.run({"x": drawn(2, 3, 7), "s": drawn(4), "b": drawn(3)})


@pytest.mark.parametrize("opset", [18, 21])
def test_group_normalization(opset: int):
    size = 2 if opset < 21 else "C"
    model = compiled("GroupNormalization", {"s": [size], "b": [size]}, opset, num_groups=2)
    for channels in (2, 6, 40):
        count = 2 if opset < 21 else channels
        x, s, b = drawn(3, channels, 5), drawn(count), drawn(count)
        expected = standardised(x.reshape(3, 2, -1), (2,)).reshape(x.shape)
        wide = [np.repeat(value, channels // count)[:, None] for value in (s, b)]
        close(model.run({"x": x, "s": s, "b": b})["y"], expected * wide[0] + wide[1])
    with pytest.raises(aicc.InputError, match=r"5 channels in 2 groups|s of size 4|leave"):
        count = 2 if opset < 21 else 5
        model.run({"x": drawn(3, 5, 5), "s": drawn(count), "b": drawn(count)})


def test_batch_normalization():
    model = compiled("BatchNormalization", {name: ["C"] for name in "sbmv"})
    for channels in (1, 5, 40):
        x, s, b, m = drawn(2, channels, 7), drawn(channels), drawn(channels), drawn(channels)
        v = np.abs(drawn(channels)) + 0.5
        scale = s / np.sqrt(v.astype(np.float64) + 1e-5)
        close(
            model.run({"x": x, "s": s, "b": b, "m": m, "v": v})["y"],
            (x - m[:, None]) * scale[:, None] + b[:, None],
        )


def test_slopes_of_prelu():
    model = compiled("PRelu", {"s": ["C", 1]})
    for channels in (1, 5, 40):
        x, s = drawn(2, channels, 7), drawn(channels, 1)
        close(model.run({"x": x, "s": s})["y"], np.where(x < 0, x * s, x))
