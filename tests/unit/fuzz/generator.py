"""Random valid ONNX models, each made from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from tests.unit.fuzz import (
    recipes_control,
    recipes_elementwise,
    recipes_microsoft,
    recipes_more,
    recipes_movement,
    recipes_nn,
    recipes_quantized,
    recipes_sizes,
)
from tests.unit.fuzz.builder import Builder, Shared, Skip, Tensor, Watch

RECIPES = {
    **recipes_elementwise.RECIPES,
    **recipes_movement.RECIPES,
    **recipes_nn.RECIPES,
    **recipes_more.RECIPES,
    **recipes_quantized.RECIPES,
    **recipes_microsoft.RECIPES,
    **recipes_sizes.RECIPES,
    **recipes_control.RECIPES,
}
NAMES = tuple(sorted(RECIPES))
CONTROL = (*sorted(recipes_sizes.RECIPES), *4 * sorted(recipes_control.RECIPES))
"""What models of control flow have much of."""

OPSETS = (8, 9, 10, 11, 12, 13, 13, 14, 15, 16, 17, 17, 18, 18, 19, 20, 21, 21, 22, 23, 24, 26, 28)


@dataclass(frozen=True)
class RandomModel:
    """A model, inputs for it, and which of its outputs have no freedom of rounding."""

    model: onnx.ModelProto
    feeds: Mapping[str, np.ndarray]
    exact: Mapping[str, bool]
    used: Mapping[str, int]
    """How often each operator stands in it."""
    controls: Mapping[str, Sequence[np.ndarray]]
    """Inputs that decide the way, and other values for them."""


def step(g: Builder, skipped: Counter[str] | None = None) -> None:
    """Adds one random node, of any operator alike; much control flow where it is wanted. A few tries."""
    for _ in range(20):
        names = CONTROL if g.shared.control and g.chance(0.4) else NAMES
        name = names[int(g.rng.integers(len(names)))]
        before = len(g.values), len(g.nodes), set(g.read)
        try:
            RECIPES[name](g)
            return
        except Skip as reason:
            # Nodes that were added on the way are valid by themselves, and stay.
            del before
            if skipped is not None:
                skipped[f"{name}: {str(reason)[:120]}"] += 1


def random_model(
    seed: int, most_nodes: int = 7, watch: Watch | None = None, skipped: Counter[str] | None = None
) -> RandomModel:
    """
    The model of a seed: up to `most_nodes` nodes or so, not counting those in subgraphs. Every third has much control
    flow and many sizes that data tells.
    """
    rng = np.random.default_rng([seed, 4])
    sizes = {"N": int(rng.choice((0, 1, 2, 3, 5, 7, 16), p=(0.04, 0.08, 0.2, 0.23, 0.2, 0.15, 0.1)))}
    sizes["seq len"] = int(rng.choice((2, 3, 4, 9)))
    shared = Shared(rng, int(rng.choice(OPSETS)), sizes, watch, control=seed % 3 == 2)
    g = Builder(shared)
    for _ in range(int(rng.integers(1, most_nodes + 1))):
        step(g, skipped)
    made = [value for value in g.values if value.name.startswith("v")]
    if not made:
        made = g.add("Identity", [g.pick()])
    unread = [value for value in made if value.name not in g.read]
    outputs: list[Tensor] = unread[:6] or made[-1:]
    if rng.random() < 0.2:
        outputs += [value for value in made if value.name not in {v.name for v in outputs}][:1]
    feeds = {name: tensor.array for name, (tensor, _) in shared.inputs.items()}
    exact = {value.name: value.exact for value in outputs}
    controls = {name: others for name, others in shared.controls.items() if name in feeds}
    return RandomModel(g.model(outputs), feeds, exact, shared.used, controls)
