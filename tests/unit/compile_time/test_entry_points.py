"""Long entry points are compiled with little effort, which makes the same numbers."""

import numpy as np
import pytest
from onnx import helper

import aicc
from aicc import objects
from aicc.objects import LONG_TEXT, effort_for, object_key
from tests.unit.frontends.onnx.helper import model


def test_long_entry_points_take_little_effort():
    long = "x" * (LONG_TEXT + 1)
    assert [effort_for(name, long) for name in ("main", "prepare", "conv_0")] == [0, 0, 2]
    assert [effort_for(name, "x") for name in ("main", "prepare", "conv_0")] == [2, 2, 2]
    assert object_key("a", "host", 0) != object_key("a", "host")


def test_no_effort_makes_the_same_numbers(monkeypatch: pytest.MonkeyPatch):
    w = np.arange(16, dtype=np.float32).reshape(4, 4) / 16
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Softmax", ["p"], ["s"]),
        helper.make_node("MatMul", ["s", "w"], ["y"]),
    ]
    proto = model(nodes, {"x": (np.float32, ["N", 4])}, ["y"], weights={"w": w})
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    wanted = aicc.compile(proto, cache=False).run({"x": x})["y"]
    asked: list[str] = []

    def little(name: str, text: str) -> int:
        asked.append(name)
        return 0 if name in objects.ENTRY_POINTS else 2

    monkeypatch.setattr(objects, "effort_for", little)
    found = aicc.compile(proto, cache=False).run({"x": x})["y"]
    assert "main" in asked
    np.testing.assert_array_equal(found, wanted)
