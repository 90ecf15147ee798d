"""Steps of optimisers against their text, in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from onnx.helper import make_node

import aicc
from aicc.frontends.errors import ModelError
from tests.unit.operators.helper import check, model, one_node

F32 = np.float32
DOMAIN = "ai.onnx.preview.training"
RATE = 0.1


def tensors(kinds: int) -> list[np.ndarray]:
    """Values, gradients and states of two tensors of unlike shapes; those of one kind beside each other."""
    rng = np.random.default_rng(3)
    return [rng.uniform(0.1, 1, shape).astype(F32) for _ in range(kinds) for shape in ((2, 3), (4,))]


def check_step(op: str, count: int, inputs: list[np.ndarray], expected: list[np.ndarray], **attributes: object) -> None:
    given = [np.array(RATE, F32), np.array(count, np.int64), *inputs]
    proto, feeds = one_node(op, given, outputs=len(expected), domain=DOMAIN, **attributes)
    check(proto, feeds, [array.astype(F32) for array in expected], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_adagrad(count: int):
    x1, x2, g1, g2, h1, h2 = tensors(3)
    norm, decay, epsilon = 0.01, 0.2, 1e-3
    found = []
    for x, g, h in ((x1, g1, h1), (x2, g2, h2)):
        g = norm * x + g
        h = h + g * g
        found.append((x - RATE / (1 + count * decay) * g / (np.sqrt(h) + epsilon), h))
    wanted = [pair[k] for k in (0, 1) for pair in found]
    attributes = {"norm_coefficient": norm, "decay_factor": decay, "epsilon": epsilon}
    check_step("Adagrad", count, [x1, x2, g1, g2, h1, h2], wanted, **attributes)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_adam(count: int):
    x1, x2, g1, g2, v1, v2, h1, h2 = tensors(4)
    alpha, beta, norm, after, epsilon = 0.95, 0.85, 0.01, 0.02, 1e-2
    found = []
    for x, g, v, h in ((x1, g1, v1, h1), (x2, g2, v2, h2)):
        g = norm * x + g
        v, h = alpha * v + (1 - alpha) * g, beta * h + (1 - beta) * g * g
        rate = RATE * np.sqrt(1 - beta**count) / (1 - alpha**count) if count > 0 else RATE
        found.append(((1 - after) * (x - rate * v / (np.sqrt(h) + epsilon)), v, h))
    wanted = [made[k] for k in (0, 1, 2) for made in found]
    attributes = {"norm_coefficient": norm, "norm_coefficient_post": after, "epsilon": epsilon}
    check_step("Adam", count, [x1, x2, g1, g2, v1, v2, h1, h2], wanted, alpha=alpha, beta=beta, **attributes)


@pytest.mark.parametrize("mode", ["standard", "nesterov"])
@pytest.mark.parametrize("count", [0, 3])
def test_momentum(mode: str, count: int):
    x1, x2, g1, g2, v1, v2 = tensors(3)
    alpha, beta, norm = 0.95, 0.8, 0.01
    found = []
    for x, g, v in ((x1, g1, v1), (x2, g2, v2)):
        g = norm * x + g
        v = alpha * v + (beta if count > 0 else 1) * g
        found.append((x - RATE * (g + alpha * v if mode == "nesterov" else v), v))
    wanted = [pair[k] for k in (0, 1) for pair in found]
    attributes = {"alpha": alpha, "beta": beta, "norm_coefficient": norm, "mode": mode}
    check_step("Momentum", count, [x1, x2, g1, g2, v1, v2], wanted, **attributes)


def test_numbers_of_inputs():
    nodes = [make_node("Adagrad", ["r", "t", "x", "x"], ["y", "h"], "n", domain=DOMAIN)]
    inputs = {"r": (F32, []), "t": (np.int64, []), "x": (F32, [3])}
    with pytest.raises(ModelError, match="it has 4 inputs, expected 2 and 3 for each tensor"):
        aicc.compile(model(nodes, inputs, ["y"], 24, domains={DOMAIN: 1}))
