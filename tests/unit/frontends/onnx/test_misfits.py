"""Operands and attributes that do not fit their operator: the reason names them."""

import re
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, helper

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import model, run

F32, I64, U8 = np.float32, np.int64, np.uint8
NAN = float("nan")


def zeros(*shape: int, dtype: Any = F32) -> np.ndarray:
    return np.zeros(shape, dtype)


MISFITS = [
    ("TensorScatter", 24, [zeros(1, 2, 2), zeros(2)], {}, "input 1 ('update') has rank 1, expected 3"),
    (
        "TensorScatter",
        24,
        [zeros(1, 2, 2), zeros(1, 1, 2), zeros(dtype=I64)],
        {},
        "input 2 ('write_indices') has rank 0, expected 1",
    ),
    ("ConvInteger", 14, [zeros(1, 1, 4, dtype=U8), zeros(dtype=U8)], {}, "input 1 ('w') has rank 0"),
    ("MatMulInteger", 14, [zeros(2, dtype=U8), zeros(2, 2, dtype=U8)], {}, "input 0 ('A') has rank 1"),
    ("DeformConv", 19, [zeros(1, 1, 3, 3), zeros(3)], {}, "input 1 ('W') has rank 1, expected 4"),
    ("DFT", 20, [zeros(1, 4, 1), zeros(3, dtype=I64)], {}, "dft_length (input 1) has 3 elements, expected 1"),
    ("Gather", 13, [zeros(4), np.array([NAN], F32)], {}, "indices (input 1) have elements of float32"),
    ("OneHot", 11, [zeros(2, dtype=I64), np.array(NAN, F32), zeros(2)], {}, "depth is nan, expected a finite one"),
    ("Upsample", 9, [zeros(1, 1, 2, 2), np.array([1, 1, NAN, 1], F32)], {}, "scale 2 is nan, expected a finite number"),
    ("Split", 18, [zeros(4)], {"num_outputs": -2}, "num_outputs is -2, but it has 1 outputs"),
    ("Shrink", 9, [zeros(2, dtype=I64)], {"lambd": 1e30}, "1.0000000150474662e+30 does not fit in elements of int64"),
    ("Shrink", 9, [zeros(2, dtype=U8)], {"lambd": 1.0}, "-1.0 does not fit in elements of uint8"),
    ("Swish", 24, [zeros(2, dtype=I64)], {"alpha": NAN}, "a number is nan, expected a finite one"),
    ("Resize", 10, [zeros(1, 1, 2, 2), np.array([NAN, 1, 1, 1], F32)], {}, "scale 0 is nan, expected a finite number"),
    ("RNN", 14, [zeros(1, 1, 1), zeros(1, 1, 1), zeros(1, 1, 1), zeros()], {}, "input 3 ('B') has rank 0, expected 2"),
    (
        "LSTM",
        14,
        [zeros(1, 1, 1), zeros(1, 4, 1), zeros(1, 4, 1), zeros(1, 8), zeros(1, dtype=np.int32), zeros(), zeros()],
        {"layout": 1},
        "input 6 ('initial_c') has rank 0, expected 3",
    ),
    ("BitCast", 26, [zeros(2, 3, 4, dtype=np.float16)], {"to": 7}, "of f16 have 16 bits"),
    (
        "Attention",
        8,
        [zeros(3, 2, 2), zeros(2, 2, 3, 4), zeros(2)],
        {},
        "input 0 has rank 3, expected 4, or 3 with q_num_heads",
    ),
    ("com.microsoft::EmbedLayerNormalization", 1, [zeros(2, dtype=np.int32)], {}, "input 0 has rank 1, expected 2"),
    ("com.microsoft::MatMulIntegerToFloat", 1, [zeros(2, 2, dtype=U8), zeros(2, dtype=U8)], {}, "input 1 has rank 1"),
    (
        "com.microsoft::GroupQueryAttention",
        1,
        [*[zeros(1, 1, 2)] * 3, zeros(2), zeros(1, 1, 0, 2), zeros(1, dtype=np.int32), zeros(dtype=np.int32)],
        {"num_heads": 1, "kv_num_heads": 1},
        "input 3 has rank 1, expected 4",
    ),
    ("com.microsoft::DynamicQuantizeMatMul", 1, [zeros(2, 2), zeros(dtype=U8)], {}, "input 1 has rank 0"),
    ("com.microsoft::BiasSplitGelu", 1, [zeros(), zeros()], {}, "input 0 has rank 0, expected at least 1"),
    ("com.microsoft::QGemm", 1, [zeros(2, dtype=U8), zeros(), zeros(dtype=U8), zeros(2, 2, dtype=U8)], {}, "rank 1"),
    ("com.microsoft::NhwcMaxPool", 1, [zeros(2, dtype=U8)], {"kernel_shape": [1]}, "input 0 has rank 1"),
    ("com.microsoft::Attention", 1, [zeros(1, 2, 4), zeros()], {"num_heads": 1}, "input 1 has rank 0, expected 2"),
    (
        "com.microsoft::RotaryEmbedding",
        1,
        [zeros(1, 2, 4), zeros(1, dtype=I64), zeros(2, 0), zeros(2, 0)],
        {},
        "num_heads is 0 for 0 pairs to turn",
    ),
    (
        "com.microsoft::RotaryEmbedding",
        1,
        [zeros(1, 2, 4), zeros(1, dtype=I64), zeros(2, 1), zeros(2, 1)],
        {"num_heads": 8},
        "num_heads is 8, but the last axis has size 4",
    ),
]


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(
    ("operator", "opset", "inputs", "attributes", "reason"),
    MISFITS,
    ids=[f"{i}-{row[0]}" for i, row in enumerate(MISFITS)],
)
def test_what_does_not_fit_is_named(
    operator: str, opset: int, inputs: list[np.ndarray], attributes: dict[str, Any], reason: str, constant: bool
):
    domain, _, op = operator.rpartition("::")
    names = [f"x{i}" for i in range(len(inputs))]
    # Floats among the other inputs are what the reason is about: known either way.
    known = {name: array for name, array in zip(names, inputs, strict=True) if constant or np.isnan(array).any()}
    given = {name: (a.dtype, a.shape) for name, a in zip(names, inputs, strict=True) if name not in known}
    node = helper.make_node(op, names, ["y"], "n", domain=domain, **attributes)
    proto = model([node], given, ["y"], 17 if domain else opset, known, {domain: 1} if domain else None)
    with pytest.raises(ModelError) as caught:
        import_onnx(proto)
    assert reason in str(caught.value)
    assert "internal fault" not in str(caught.value)


def test_axes_of_run_time_are_a_list():
    node = helper.make_node("Unsqueeze", ["x", "axes"], ["y"], "n")
    with pytest.raises(ModelError, match=r"input 1 \('axes'\) has rank 2, expected 0 or 1"):
        import_onnx(model([node], {"x": (F32, (2,)), "axes": (I64, (1, 1))}, ["y"], 13))


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf")])
@pytest.mark.parametrize("opset", [7, 9, 10, 11, 18])
def test_scales_are_finite_and_above_0(opset: int, scale: float):
    scales = np.array([1, 1, scale, 1], F32)
    if opset == 7:
        node = helper.make_node("Upsample", ["x"], ["y"], scales=scales.tolist())
    elif opset < 11:
        node = helper.make_node("Upsample" if opset == 9 else "Resize", ["x", "scales"], ["y"])
    else:
        node = helper.make_node("Resize", ["x", "", "scales"], ["y"])
    proto = model([node], {"x": (F32, (1, 1, 2, 2))}, ["y"], opset, {"scales": scales})
    with pytest.raises(ModelError, match=f"scale 2 is {scale}, expected a finite number above 0"):
        import_onnx(proto)


LISTS = [
    (helper.make_node("Expand", ["x", "n"], ["y"]), "shape (input 1)"),
    (helper.make_node("Reshape", ["x", "n"], ["y"]), "shape (input 1)"),
    (helper.make_node("ConstantOfShape", ["n"], ["y"]), "shape (input 0)"),
    (helper.make_node("Slice", ["x", "n", "n"], ["y"]), "starts (input 1)"),
    (helper.make_node("Tile", ["x", "n"], ["y"]), "repeats (input 1)"),
    (helper.make_node("Unsqueeze", ["x", "n"], ["y"]), "axes (input 1)"),
    (helper.make_node("ReduceSum", ["x", "n"], ["y"]), "axes (input 1)"),
    (helper.make_node("Split", ["x", "n"], ["y"]), "split (input 1)"),
    (helper.make_node("Pad", ["x", "n"], ["y"]), "pads (input 1)"),
]


@pytest.mark.parametrize("count", [129, 1 << 40])
@pytest.mark.parametrize(("node", "what"), LISTS, ids=[node.op_type for node, _ in LISTS])
def test_no_list_is_longer_than_tensors_have_axes(node: NodeProto, what: str, count: int):
    """Nor is it taken number by number before that is found out."""
    proto = model([node], {"x": (F32, (2, 3)), "n": (I64, (count,))}, ["y"], 18)
    with pytest.raises(ModelError, match=re.escape(f"{what} has {count} elements, expected at most")):
        import_onnx(proto)


def test_a_repeated_constant_is_not_taken_number_by_number():
    nodes = [helper.make_node("ConstantOfShape", ["count"], ["n"]), helper.make_node("Expand", ["x", "n"], ["y"])]
    proto = model(nodes, {"x": (F32, (2, 3))}, ["y"], 18, {"count": np.array([1 << 50])})
    with pytest.raises(ModelError, match=rf"shape \(input 1\) has {1 << 50} elements, expected at most 64"):
        import_onnx(proto)


def test_the_largest_rank():
    node = helper.make_node("Expand", ["x", "n"], ["y"])
    (result,) = run(model([node], {"x": (F32, (2,))}, ["y"], 18, {"n": np.ones(64, I64)}), {"x": np.ones(2, F32)})
    assert result.shape == (*[1] * 63, 2)
    proto = model([helper.make_node("Neg", ["x"], ["y"])], {"x": (F32, [1] * 65)}, ["y"])
    with pytest.raises(ModelError, match=r"input 'x': a tensor has rank 65, expected at most 64"):
        import_onnx(proto)
    axes = helper.make_node("Unsqueeze", ["x"], ["y"], axes=[0])
    proto = model([axes], {"x": (F32, [1] * 64)}, ["y"], 11)
    with pytest.raises(ModelError, match=r"node 'y' .*: .*a tensor has rank 65, expected at most 64"):
        import_onnx(proto)


def test_an_input_that_cannot_be_addressed_is_named():
    proto = model([helper.make_node("Neg", ["x"], ["y"])], {"x": (F32, (1 << 40, 1 << 40))}, ["y"])
    with pytest.raises(ModelError, match=r"input 'x': shape .* has more than 2\*\*60 elements"):
        import_onnx(proto)
