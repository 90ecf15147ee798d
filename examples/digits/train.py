"""
Trains the digits network with plain numpy and writes `digits.onnx` and `heldout.npz` beside this file.

The data are scikit-learn's 1797 handwritten digits of 8x8 pixels (E. Alpaydin and C. Kaynak, UCI, CC BY 4.0), 1437 to
train on and 360 held out. Needs `scikit-learn` and `onnx`; takes about a minute:

    python examples/digits/train.py
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
SEED = 7
HELD_OUT = 360
EPOCHS = 60
BATCH = 48
EPSILON = 1e-5

Array = np.ndarray
Weights = dict[str, Array]


def split() -> tuple[Array, Array, Array, Array]:
    """Training images and labels, then the held-out ones; images are `[n, 8, 8]` bytes from 0 (paper) to 16 (ink)."""
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    images, labels = digits.images.astype(np.uint8)[order], digits.target.astype(np.uint8)[order]
    return images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT]


def initial_weights(rng: np.random.Generator) -> Weights:
    """He initialisation, by the fan-in of each filter."""

    def he(*shape: int) -> Array:
        return rng.normal(0.0, np.sqrt(2.0 / np.prod(shape[1:])), shape).astype(np.float32)

    def zeros(size: int) -> Array:
        return np.zeros(size, np.float32)

    return {
        "conv1.weight": he(16, 1, 3, 3),
        "bn1.scale": np.ones(16, np.float32),
        "bn1.bias": zeros(16),
        "conv2.weight": he(32, 16, 3, 3),
        "conv2.bias": zeros(32),
        "conv3.weight": he(32, 32, 3, 3),
        "conv3.bias": zeros(32),
        "fc.weight": he(10, 512),
        "fc.bias": zeros(10),
    }


def columns(x: Array) -> Array:
    """The 3x3 windows of `x` padded by 1: `[n, c, h, w]` to `[n * h * w, c * 9]`."""
    n, c, h, w = x.shape
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)


def convolve(x: Array, weight: Array) -> Array:
    n, _, h, w = x.shape
    return (columns(x) @ weight.reshape(len(weight), -1).T).reshape(n, h, w, -1).transpose(0, 3, 1, 2)


def convolve_gradients(x: Array, weight: Array, gradient: Array) -> tuple[Array, Array]:
    """Gradients of a convolution with respect to its input and its weight."""
    rows = gradient.transpose(0, 2, 3, 1).reshape(-1, len(weight))
    to_input = convolve(gradient, weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3))
    return to_input, (rows.T @ columns(x)).reshape(weight.shape)


def step(weights: Weights, running: Weights, x: Array, labels: Array) -> Weights:
    """Gradients of the mean cross entropy on one batch; updates the running mean and variance of the batch norm."""
    channel = (slice(None), None, None)
    a1 = convolve(x, weights["conv1.weight"])
    mean, variance = a1.mean((0, 2, 3)), a1.var((0, 2, 3))
    running["bn1.mean"] += 0.1 * (mean - running["bn1.mean"])
    running["bn1.variance"] += 0.1 * (variance - running["bn1.variance"])
    deviation = np.sqrt(variance + EPSILON)[channel]
    unit = (a1 - mean[channel]) / deviation
    h1 = np.maximum(unit * weights["bn1.scale"][channel] + weights["bn1.bias"][channel], 0)
    h2 = np.maximum(convolve(h1, weights["conv2.weight"]) + weights["conv2.bias"][channel], 0)
    blocks = h2.reshape(len(x), 32, 4, 2, 4, 2)
    pooled = blocks.max((3, 5))
    h3 = np.maximum(convolve(pooled, weights["conv3.weight"]) + weights["conv3.bias"][channel], 0)
    flat = h3.reshape(len(x), -1)
    logits = flat @ weights["fc.weight"].T + weights["fc.bias"]
    exponentials = np.exp(logits - logits.max(1, keepdims=True))

    g = exponentials / exponentials.sum(1, keepdims=True)
    g[np.arange(len(x)), labels] -= 1
    g /= len(x)
    gradients: Weights = {"fc.weight": g.T @ flat, "fc.bias": g.sum(0)}
    g = (g @ weights["fc.weight"]).reshape(h3.shape) * (h3 > 0)
    gradients["conv3.bias"] = g.sum((0, 2, 3))
    g, gradients["conv3.weight"] = convolve_gradients(pooled, weights["conv3.weight"], g)
    g = (g[:, :, :, None, :, None] * (blocks == pooled[:, :, :, None, :, None])).reshape(h2.shape) * (h2 > 0)
    gradients["conv2.bias"] = g.sum((0, 2, 3))
    g, gradients["conv2.weight"] = convolve_gradients(h1, weights["conv2.weight"], g)
    g *= h1 > 0
    gradients["bn1.bias"], gradients["bn1.scale"] = g.sum((0, 2, 3)), (g * unit).sum((0, 2, 3))
    g *= weights["bn1.scale"][channel] / deviation
    g -= g.mean((0, 2, 3))[channel] + unit * (g * unit).mean((0, 2, 3))[channel]
    _, gradients["conv1.weight"] = convolve_gradients(x, weights["conv1.weight"], g)
    return gradients


def shifted(x: Array, rng: np.random.Generator) -> Array:
    """Each image moved by up to one pixel in both directions."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.integers(0, 3, (len(x), 2))
    return np.stack([image[:, i : i + 8, j : j + 8] for image, (i, j) in zip(padded, moves, strict=True)])


def batches(count: int, rng: np.random.Generator) -> Iterator[Array]:
    order = rng.permutation(count)
    yield from (order[i : i + BATCH] for i in range(0, count, BATCH))


def train(images: Array, labels: Array) -> Weights:
    """Adam (Kingma and Ba 2015) with a learning rate that falls to 0 along a cosine."""
    rng = np.random.default_rng(SEED)
    weights = initial_weights(rng)
    running: Weights = {"bn1.mean": np.zeros(16, np.float32), "bn1.variance": np.ones(16, np.float32)}
    first, second = ({key: np.zeros_like(value) for key, value in weights.items()} for _ in range(2))
    x = (images[:, None] / 16).astype(np.float32)
    count, total = 0, EPOCHS * -(-len(x) // BATCH)
    for _ in range(EPOCHS):
        for chosen in batches(len(x), rng):
            gradients = step(weights, running, shifted(x[chosen], rng), labels[chosen])
            count += 1
            rate = 0.003 * 0.5 * (1 + np.cos(np.pi * count / total))
            for key, gradient in gradients.items():
                first[key] += 0.1 * (gradient - first[key])
                second[key] += 0.001 * (gradient**2 - second[key])
                unbiased = np.sqrt(second[key] / (1 - 0.999**count)) + 1e-8
                weights[key] -= (rate * (first[key] / (1 - 0.9**count)) / unbiased).astype(np.float32)
    return weights | running


def to_onnx(weights: Weights) -> onnx.ModelProto:
    """The network as ONNX: `image` `[N, 1, 8, 8]` from 0 to 1 in, `probabilities` `[N, 10]` out."""
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    batch_norm = ["conv1_out", "bn1.scale", "bn1.bias", "bn1.mean", "bn1.variance"]
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight"], ["conv1_out"], "conv1", **window),
        helper.make_node("BatchNormalization", batch_norm, ["bn1_out"], "bn1", epsilon=EPSILON),
        helper.make_node("Relu", ["bn1_out"], ["relu1_out"], "relu1"),
        helper.make_node("Conv", ["relu1_out", "conv2.weight", "conv2.bias"], ["conv2_out"], "conv2", **window),
        helper.make_node("Relu", ["conv2_out"], ["relu2_out"], "relu2"),
        helper.make_node("MaxPool", ["relu2_out"], ["pool_out"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["pool_out", "conv3.weight", "conv3.bias"], ["conv3_out"], "conv3", **window),
        helper.make_node("Relu", ["conv3_out"], ["relu3_out"], "relu3"),
        helper.make_node("Flatten", ["relu3_out"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(value, key) for key, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> None:
    images, labels, heldout_images, heldout_labels = split()
    onnx.save(to_onnx(train(images, labels)), HERE / "digits.onnx")
    np.savez_compressed(HERE / "heldout.npz", images=heldout_images, labels=heldout_labels)


if __name__ == "__main__":
    main()
