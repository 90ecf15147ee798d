"""A transformer decoder with random weights: one step alone, and a `Loop` that generates with it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper

from benchmarks.builder import F32, I64, Builder


@dataclass(frozen=True)
class Decoder:
    """
    A decoder as GPT-2's (Radford et al. 2019) that generates one sequence, the likeliest token in each step.

    Keys and values of the steps before are one tensor `[1, heads, past, width / heads]` per layer each. With `most`
    they have room for that many steps and are written to at the step's place (`ScatterElements`); without, each
    step appends to them.
    """

    layers: int = 4
    width: int = 384
    heads: int = 6
    vocabulary: int = 4000
    positions: int = 256
    most: int | None = None

    def step(self, seed: int = 0) -> onnx.ModelProto:
        """
        One step: `token` and `position` (`[1]` i64) and `past0, past1, ...` to `next` and `present0, present1, ...`.
        """
        b = Builder(seed)
        pasts = [f"past{i}" for i in range(2 * self.layers)]
        after = self._step(b, "token", "position", pasts)
        names = ["next", *(f"present{i}" for i in range(len(pasts)))]
        b.nodes += [helper.make_node("Identity", [value], [name]) for value, name in zip(after, names, strict=True)]
        scalars = [_token("token"), _token("position")]
        outputs = [_token("next"), *(self._cache(name, None) for name in names[1:])]
        inputs = [*scalars, *(self._cache(name, "P") for name in pasts)]
        return _model(helper.make_graph(b.nodes, "step", inputs, outputs, b.weights))

    def loop(self, seed: int = 0) -> onnx.ModelProto:
        """`steps` steps (`[]` i64) from token `start` (`[1]` i64) on; result `tokens`: `[steps, 1]` i64."""
        b = Builder(seed)
        states = [f"state{i}" for i in range(2 * self.layers)]
        place = helper.make_node("Unsqueeze", ["number", "axis"], ["place"])
        b.nodes.append(place)
        after = self._step(b, "token", "place", states)
        b.nodes.append(helper.make_node("Identity", ["go_on"], ["again"]))
        b.nodes.append(helper.make_node("Identity", [after[0]], ["generated"]))
        inputs = [
            helper.make_tensor_value_info("number", I64, []),
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            _token("token"),
            *(self._cache(name, None) for name in states),
        ]
        outputs = [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            _token(after[0]),
            *(self._cache(name, None) for name in after[1:]),
            _token("generated"),
        ]
        body = helper.make_graph(b.nodes, "body", inputs, outputs)
        empty = np.zeros((1, self.heads, self.most or 0, self.width // self.heads), np.float32)
        first = b.initializer("empty", empty)
        b.initializer("axis", np.array([0]))
        results = ["last", *(f"cache{i}" for i in range(len(states))), "tokens"]
        loop = helper.make_node("Loop", ["steps", "", "start", *[first] * len(states)], results, "generate", body=body)
        scalars = [helper.make_tensor_value_info("steps", I64, []), _token("start")]
        tokens = helper.make_tensor_value_info("tokens", I64, [None, 1])
        return _model(helper.make_graph([loop], "loop", scalars, [tokens], b.weights))

    def step_inputs(self, position: int) -> dict[str, np.ndarray]:
        """For `step`, after `position` steps whose keys and values were 0."""
        past = np.zeros((1, self.heads, self.most or position, self.width // self.heads), np.float32)
        caches = {f"past{i}": past for i in range(2 * self.layers)}
        return {"token": np.array([5]), "position": np.array([position]), **caches}

    def loop_inputs(self, steps: int) -> dict[str, np.ndarray]:
        """For `loop`."""
        return {"steps": np.array(steps), "start": np.array([5])}

    def _cache(self, name: str, past: str | None) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, F32, [1, self.heads, self.most or past, self.width // self.heads])

    def _step(self, b: Builder, token: str, position: str, pasts: Sequence[str]) -> list[str]:
        """The next token and the new caches."""
        width, per_head = self.width, self.width // self.heads

        def linear(path: str, x: str, inputs: int, outputs: int, gain: float = 1.0) -> str:
            weight = b.weight(f"{path}.weight", "linear", (inputs, outputs), inputs, gain)
            bias = b.weight(f"{path}.bias", "offset", (outputs,))
            return b.node("Gemm", f"{path}/Gemm", x, weight, bias)

        def norm(path: str, x: str) -> str:
            scale, offset = b.weight(f"{path}.weight", "scale", (width,)), b.weight(f"{path}.bias", "offset", (width,))
            return b.node("LayerNormalization", f"{path}/LayerNormalization", x, scale, offset, axis=-1, epsilon=1e-5)

        def split(path: str, x: str) -> str:
            """`[1, heads, 1, width / heads]`."""
            return b.node("Reshape", path, x, b.constant(f"{path}/Shape", [1, self.heads, 1, per_head], np.int64))

        # The factor makes different tokens follow each other.
        words = b.weight("wte", "linear", (self.vocabulary, width), 1)
        places = b.weight("wpe", "linear", (self.positions, width), 4)
        x = b.node("Add", "/Add", b.node("Gather", "/wte", words, token), b.node("Gather", "/wpe", places, position))
        presents: list[str] = []
        hidden = "" if self.most is None else self._hidden(b, position)
        for layer in range(self.layers):
            path = f"/h.{layer}/attn"
            made = linear(f"{path}/c_attn", norm(f"/h.{layer}/ln_1", x), width, 3 * width, 1.5)
            parts = b.node_of("Split", f"{path}/Split", 3, made, axis=1, num_outputs=3)
            query, key, value = (split(f"{path}/Reshape_{i}", part) for i, part in enumerate(parts))
            key, value = (
                self._remember(b, f"{path}/cache_{i}", pasts[2 * layer + i], part, position)
                for i, part in enumerate((key, value))
            )
            presents += [key, value]
            turned = b.node("Transpose", f"{path}/Transpose", key, perm=(0, 1, 3, 2))
            scores = b.node("MatMul", f"{path}/MatMul", query, turned)
            scores = b.node("Div", f"{path}/Div", scores, b.constant(f"{path}/Scale", math.sqrt(per_head), np.float32))
            scores = b.node("Add", f"{path}/Mask", scores, hidden) if hidden else scores
            weights = b.node("Softmax", f"{path}/Softmax", scores, axis=-1)
            mixed = b.node("MatMul", f"{path}/MatMul_1", weights, value)
            mixed = b.node("Reshape", f"{path}/Merge", mixed, b.constant(f"{path}/Whole", [1, width], np.int64))
            x = b.node("Add", f"/h.{layer}/Add", linear(f"{path}/c_proj", mixed, width, width), x)
            path = f"/h.{layer}/mlp"
            inner = linear(f"{path}/c_fc", norm(f"/h.{layer}/ln_2", x), width, 4 * width)
            inner = b.node("Gelu", f"{path}/act", inner, approximate="tanh")
            x = b.node("Add", f"/h.{layer}/Add_1", linear(f"{path}/c_proj", inner, 4 * width, width), x)
        head = b.weight("head", "linear", (width, self.vocabulary), width)
        logits = b.node("MatMul", "/lm_head", norm("/ln_f", x), head)
        return [b.node("ArgMax", "/ArgMax", logits, axis=-1, keepdims=0), *presents]

    def _remember(self, b: Builder, path: str, past: str, new: str, position: str) -> str:
        """The cache with a step's part."""
        if self.most is None:
            return b.node("Concat", f"{path}/Concat", past, new, axis=2)
        shape = b.constant(f"{path}/Part", [1, self.heads, 1, self.width // self.heads], np.int64)
        index = b.node("Expand", f"{path}/Expand", position, shape)
        return b.node("ScatterElements", f"{path}/ScatterElements", past, index, new, axis=2)

    def _hidden(self, b: Builder, position: str) -> str:
        """Minus infinity where no step has been yet."""
        assert self.most is not None
        steps = b.constant("/Steps", np.arange(self.most), np.int64)
        never, zero = b.constant("/Never", -np.inf, np.float32), b.constant("/Zero", 0.0, np.float32)
        return b.node("Where", "/Where", b.node("Greater", "/Greater", steps, position), never, zero)


def _token(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, I64, [1])


def _model(graph: onnx.GraphProto) -> onnx.ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
