"""Memory that cannot be had is one error, before anything of it is allocated."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import aicc
from aicc.frontends.errors import ModelError
from aicc.runtime import memory
from aicc.runtime.errors import OutOfMemory
from tests.unit.frontends.onnx.helper import model

GIB = 1 << 30


def test_more_than_the_system_has():
    with pytest.raises(OutOfMemory, match=r"the model needs 1048576.0 GiB of memory, but .* GiB are left"):
        memory.aligned_empty([1 << 50], np.dtype(np.uint8))
    with pytest.raises(OutOfMemory, match="the model needs"):
        memory.long_lived_bytes(1 << 50)
    with pytest.raises(MemoryError):
        memory.long_lived_blocks([1 << 62, 1 << 62])


def test_small_sizes_are_not_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    assert memory.aligned_empty([1000], np.dtype(np.uint8)).size == 1000
    with pytest.raises(OutOfMemory, match=r"needs 1.0 GiB of memory, but 0.0 GiB are left"):
        memory.aligned_empty([GIB], np.dtype(np.uint8))


def expanding(dims: list[int], weight: bool) -> onnx.ModelProto:
    shape = np.array(dims)
    source = "w" if weight else "x"
    nodes = [
        helper.make_node("Expand", [source, "s"], ["t"]),
        helper.make_node("Neg", ["t"], ["n"]),
        helper.make_node("Add", ["n", "x"], ["y"]),
    ]
    return model(nodes, {"x": (np.float32, [1])}, ["y"], weights={"s": shape, "w": np.ones(1, np.float32)})


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("level", [0, 2])
def test_absurd_results(weight: bool, level: int):
    compiled = aicc.compile(expanding([1 << 40], weight), opt_level=level, cache=False)
    with pytest.raises(OutOfMemory, match=r"the model needs \d+.\d GiB of memory"):
        compiled.run({"x": np.ones(1, np.float32)})


def test_repeated_elements_that_are_to_be_stored():
    for shape in ((1 << 50,), (1 << 30, 1 << 30)):
        with pytest.raises(OutOfMemory, match=r"the model needs \d+.0 GiB of memory"):
            memory.contiguous(np.broadcast_to(np.float32(1), shape))
    stored = np.ones(3, np.float32)
    assert memory.contiguous(stored) is stored


def test_a_constant_of_one_repeated_element_takes_no_memory_where_it_is_fused():
    fill = numpy_helper.from_array(np.array([-3], np.float32))
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["t"], value=fill),
        helper.make_node("Slice", ["t", "five", "eight"], ["n"]),
        helper.make_node("Sub", ["x", "n"], ["y"]),
    ]
    weights = {"s": np.array([1 << 40]), "five": np.array([5]), "eight": np.array([8])}
    compiled = aicc.compile(model(nodes, {"x": (np.float32, [1])}, ["y"], weights=weights), cache=False)
    (result,) = compiled.run({"x": np.ones(1, np.float32)}).values()
    np.testing.assert_array_equal(result, np.full(3, 4, np.float32))


def test_what_a_small_constant_becomes_is_not_kept():
    """Computing it at each run is what the model says; 400 MB of constants would stay."""
    compiled = aicc.compile(expanding([100 << 20], True), cache=False)
    assert sum(array.nbytes for array in compiled._program.program.prepared.values()) < 1 << 20


@pytest.mark.parametrize("size", [1 << 61, (1 << 63) - 1])
def test_sizes_past_all_bounds_are_refused(size: int):
    with pytest.raises(ModelError, match=r"node 't' \(Expand, opset 17\)"):
        aicc.compile(expanding([size, 4], False), cache=False)


def test_large_ranges_are_computed_when_the_model_runs():
    node = helper.make_node("Range", ["a", "b", "c"], ["r"])
    last = helper.make_node("ReduceMax", ["r"], ["y"], keepdims=0)
    for dtype in (np.int64, np.int32, np.float32, np.float64):
        weights = {"a": np.array(-1, dtype), "b": np.array(2_000_000, dtype), "c": np.array(2, dtype)}
        (found,) = aicc.compile(model([node, last], {}, ["y"], weights=weights), cache=False)()
        assert found == 1_999_999 and found.dtype == dtype
