"""GroupQueryAttention of `com.microsoft` against its text, query by query in float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import aicc
from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.helper import run
from tests.unit.operators.helper import one_node

F32 = np.float32


@dataclass(frozen=True)
class Sizes:
    """Sizes of one case; `counts` are the keys of each batch."""

    length: int
    past: int
    counts: tuple[int, ...]
    heads: int = 4
    groups: int = 2
    size: int = 6
    rotary: bool = False
    window: int = -1
    cap: float = 0.0
    packed: bool = False


def turned(x: np.ndarray, place: int, cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    a, b = np.split(x, 2, -1)
    c, s = cosine[place], sine[place]
    return np.concatenate([a * c - b * s, a * s + b * c], -1)


def inputs_of(z: Sizes) -> list[np.ndarray | None]:
    rng = np.random.default_rng(z.length + 10 * z.past)
    batch, width = len(z.counts), z.size * z.groups

    def floats(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(F32)

    new = [floats(batch, z.length, z.size * z.heads), floats(batch, z.length, width), floats(batch, z.length, width)]
    given: list[np.ndarray | None] = [np.concatenate(new, 2), None, None] if z.packed else [*new]
    given += [floats(batch, z.groups, z.past, z.size) for _ in range(2)] if z.past else [None, None]
    given += [np.array(z.counts, np.int32) - 1, np.array(max(z.counts), np.int32)]
    if z.rotary:
        given += [floats(32, z.size // 2), floats(32, z.size // 2)]
    return given


def expected(z: Sizes, given: list[np.ndarray | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The result and both caches; what is behind the keys of a batch is NaN."""
    batch, total = len(z.counts), max(*z.counts, z.past)
    width = z.size * z.groups
    first = given[0]
    assert first is not None
    parts = np.split(first, [z.size * z.heads, z.size * z.heads + width], 2) if z.packed else given[:3]
    q, k, v = (np.asarray(p, np.float64).reshape(batch, z.length, -1, z.size).transpose(0, 2, 1, 3) for p in parts)
    keys, values = (np.full((batch, z.groups, total, z.size), np.nan) for _ in range(2))
    result = np.full((batch, z.length, z.heads, z.size), np.nan)
    for b, count in enumerate(z.counts):
        start = 0 if max(z.counts) == z.length else count - z.length
        for cache, past, new in ((keys, given[3], k), (values, given[4], v)):
            if past is not None:
                cache[b, :, :start] = past[b, :, :start]
            for i in range(count - start):
                is_turned = z.rotary and cache is keys
                row = new[b, :, i]
                cache[b, :, start + i] = turned(row, start + i, *given[7:9]) if is_turned else row  # type: ignore[arg-type]
        for i in range(count - start):
            place = start + i
            low = 0 if z.window < 0 else max(0, place - z.window + 1)
            for h in range(z.heads):
                group = h // (z.heads // z.groups)
                row = turned(q[b, h, i], place, *given[7:9]) if z.rotary else q[b, h, i]  # type: ignore[arg-type]
                scores = keys[b, group, low : place + 1] @ row / np.sqrt(z.size)
                if z.cap:
                    scores = z.cap * np.tanh(scores / z.cap)
                weights = np.exp(scores - scores.max())
                result[b, i, h] = weights / weights.sum() @ values[b, group, low : place + 1]
    return result.reshape(batch, z.length, -1), keys, values


CASES = [
    Sizes(4, 0, (4,)),
    Sizes(4, 0, (4, 2)),
    Sizes(1, 5, (6, 4)),
    Sizes(3, 5, (8,), rotary=True),
    Sizes(1, 9, (5,), groups=1, rotary=True),
    Sizes(4, 0, (4, 1), rotary=True, packed=True),
    Sizes(4, 0, (4,), window=2),
    Sizes(1, 5, (6,), window=3, cap=0.7),
]


@pytest.mark.parametrize("z", CASES)
def test_against_the_text(z: Sizes):
    given = inputs_of(z)
    attributes: dict[str, object] = {"num_heads": z.heads, "kv_num_heads": z.groups, "do_rotary": int(z.rotary)}
    attributes |= {"local_window_size": z.window, "softcap": z.cap}
    proto, feeds = one_node("GroupQueryAttention", given, outputs=3, domain="com.microsoft", **attributes)
    for found in (run(proto, feeds), list(aicc.compile(proto, threads=1).run(feeds).values())):
        for array, wanted in zip(found, expected(z, given), strict=True):
            assert array.shape == wanted.shape
            there = ~np.isnan(wanted)
            np.testing.assert_allclose(array[there], wanted[there], rtol=1e-4, atol=1e-5)


def test_what_is_not_supported():
    given = inputs_of(Sizes(4, 0, (4,)))

    def fails(text: str, **attributes: object) -> None:
        with pytest.raises(ModelError, match=text):
            run(*one_node("GroupQueryAttention", given, domain="com.microsoft", **attributes))

    fails("num_heads is 4, expected a multiple of kv_num_heads, which is 3", num_heads=4, kv_num_heads=3)
    fails("smooth_softmax is 1, which is not supported", num_heads=4, kv_num_heads=2, smooth_softmax=1)
