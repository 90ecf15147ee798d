"""Resize in all its modes, against the formulas of the standard for one element after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aicc
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from aicc.runtime.errors import OutOfMemory
from tests.unit.frontends.onnx.helper import run
from tests.unit.operators.helper import check, one_node

RNG = np.random.default_rng(5)


def place(mode: str, i: int, size: int, count: int, scale: float, crop: tuple[float, float]) -> float:
    match mode:
        case "asymmetric":
            return i / scale
        case "align_corners":
            return i * (size - 1) / (size * scale - 1) if count > 1 else 0.0
        case "tf_half_pixel_for_nn":
            return (i + 0.5) / scale
        case "pytorch_half_pixel":
            return (i + 0.5) / scale - 0.5 if count > 1 else 0.0
        case "half_pixel_symmetric":
            return size / 2 * (1 - count / (size * scale)) + (i + 0.5) / scale - 0.5
        case "tf_crop_and_resize":
            if count > 1:
                return crop[0] * (size - 1) + i * (crop[1] - crop[0]) * (size - 1) / (count - 1)
            return 0.5 * (crop[0] + crop[1]) * (size - 1)
    return (i + 0.5) / scale - 0.5


def kernel(mode: str, x: float, a: float) -> float:
    x = abs(x)
    if mode == "linear":
        return max(0.0, 1 - x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


ROUND = {
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


def resized(x, axis, count, scale, **how):
    """One axis of f64 numbers."""
    size, mode = x.shape[axis], how.get("mode", "nearest")
    coordinates, a = how.get("coordinate_transformation_mode", "half_pixel"), how.get("cubic_coeff_a", -0.75)
    crop = how.get("crop", {}).get(axis, (0.0, 1.0))
    rows = []
    for i in range(count):
        p = place(coordinates, i, size, count, scale, crop)
        if coordinates == "tf_crop_and_resize" and not 0 <= p <= size - 1:
            rows.append(np.full_like(x.take(0, axis), np.nan))
            continue
        if mode == "nearest":
            j = ROUND[how.get("nearest_mode", "round_prefer_floor")](p)
            rows.append(x.take(min(max(j, 0), size - 1), axis))
            continue
        stretch = min(scale, 1.0) if how.get("antialias") else 1.0
        reach = math.ceil((1 if mode == "linear" else 2) / stretch)
        taps = range(math.floor(p) - reach, math.floor(p) + reach + 2)
        weights = {j: kernel(mode, (j - p) * stretch, a) for j in taps}
        if how.get("exclude_outside"):
            weights = {j: w for j, w in weights.items() if 0 <= j < size}
        total = sum(weights.values())
        rows.append(sum(w / total * x.take(min(max(j, 0), size - 1), axis) for j, w in weights.items()))
    return np.stack(rows, axis)


WHERE = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")

CASES = [
    *({"coordinate_transformation_mode": where, "nearest_mode": how} for where in WHERE[:4] for how in ROUND),
    *({"mode": mode, "coordinate_transformation_mode": where} for mode in ("linear", "cubic") for where in WHERE),
    {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
    {"mode": "linear", "antialias": 1},
    {"mode": "linear", "antialias": 1, "exclude_outside": 1},
    {"mode": "cubic", "antialias": 1},
]


def expected(x, scales, attributes):
    result = x.astype(np.float64)
    for axis, scale in enumerate(scales):
        if scale != 1:
            count = math.floor(np.float32(x.shape[axis]) * np.float32(scale))
            result = resized(result, axis, count, float(np.float32(scale)), **attributes)
    return result.astype(x.dtype)


@pytest.mark.parametrize("attributes", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_meaning(attributes):
    x = RNG.standard_normal((1, 2, 5, 7)).astype(np.float32)
    for scales in ([1, 1, 2, 3], [1, 1, 0.6, 0.7], [1, 1, 1.7, 0.2]):
        wanted = expected(x, scales, attributes)
        for constant, symbolic in (([2], []), ([2], [0]), ([], [])):
            proto, feeds = one_node(
                "Resize", [x, None, np.float32(scales)], opset=19, constant=constant, symbolic=symbolic, **attributes
            )
            np.testing.assert_allclose(run(proto, feeds)[0], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("attributes", [CASES[0], CASES[17], CASES[-1]], ids=["nearest", "linear", "antialias"])
def test_compiled(attributes):
    x = RNG.standard_normal((1, 2, 9, 7)).astype(np.float32)
    scales = np.float32([1, 1, 0.6, 1.7])
    for constant, symbolic in (([2], []), ([], [0])):
        case = one_node("Resize", [x, None, scales], opset=19, constant=constant, symbolic=symbolic, **attributes)
        check(*case, [expected(x, scales, attributes)], rtol=1e-5, atol=1e-6, levels=[2])


def test_crop_with_places_outside():
    x = RNG.standard_normal((1, 1, 4, 5)).astype(np.float32)
    crop = {2: (0.4, 1.2), 3: (-0.1, 0.7)}
    roi = np.float32([0, 0, 0.4, -0.1, 1, 1, 1.2, 0.7])
    how = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
    wanted = x.astype(np.float64)
    for axis in (2, 3):
        wanted = resized(wanted, axis, 3, 3 / x.shape[axis], crop=crop, **how)
    wanted = np.where(np.isnan(wanted), 10.0, wanted).astype(np.float32)
    sizes = np.int64([1, 1, 3, 3])
    for constant in ([1, 3], []):
        case = one_node("Resize", [x, roi, None, sizes], opset=19, constant=constant, extrapolation_value=10.0, **how)
        check(*case, [wanted], rtol=1e-5, atol=1e-6, levels=[2] if constant else [])


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_aspect_ratio(policy):
    x = RNG.standard_normal((4, 3, 3)).astype(np.float32)
    sizes = np.int64([8, 5]) if policy == "not_larger" else np.int64([6, 7])
    scale = (min if policy == "not_larger" else max)(sizes[0] / 4, sizes[1] / 3)
    counts = [int(scale * 4 + 0.5), int(scale * 3 + 0.5)]
    wanted = resized(resized(x.astype(np.float64), 0, counts[0], scale), 1, counts[1], scale).astype(np.float32)
    for constant in ([3], []):
        case = one_node(
            "Resize", [x, None, None, sizes], opset=19, constant=constant, axes=[0, 1], keep_aspect_ratio_policy=policy
        )
        check(*case, [wanted], levels=[])


def test_other_element_types():
    x = RNG.integers(0, 255, (1, 1, 4, 4)).astype(np.uint8)
    scales = np.float32([1, 1, 2, 1.5])
    wanted = expected(x.astype(np.float64), scales, {"mode": "cubic"})
    wanted = np.clip(np.round(wanted), 0, 255).astype(np.uint8)
    check(*one_node("Resize", [x, None, scales], opset=19, constant=[2], mode="cubic"), [wanted], levels=[2])
    half = (x / 7).astype(np.float16)
    wanted = expected(half.astype(np.float64), scales, {"mode": "linear"}).astype(np.float16)
    case = one_node("Resize", [half, None, scales], opset=19, constant=[2], mode="linear")
    check(*case, [wanted], rtol=1e-3, levels=[2])


def test_first_versions():
    x = RNG.standard_normal((1, 1, 2, 3)).astype(np.float32)
    scales = np.float32([1, 1, 2, 2])
    how = {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}
    wanted = expected(x, scales, how)
    case = one_node("Upsample", [x], opset=7, mode="linear", scales=[1.0, 1.0, 2.0, 2.0])
    check(*case, [wanted], rtol=1e-6, levels=[])
    for op, opset in (("Upsample", 9), ("Resize", 10)):
        for constant in ([1], []):
            case = one_node(op, [x, scales], opset=opset, constant=constant, mode="linear")
            check(*case, [wanted], rtol=1e-6, levels=[])


def test_sizes_that_do_not_fit():
    x = np.zeros((1, 0, 2), np.float32)
    proto, _ = one_node("Resize", [x, None, None, np.int64([1, 3, 2])], opset=19, constant=[3])
    with pytest.raises(ModelError, match="axis 1 of size 0 is resized to 3"):
        import_onnx(proto)
    proto, _ = one_node("Resize", [x, None, np.float32([1, 1])], opset=19, constant=[2])
    with pytest.raises(ModelError, match=r"scales \(input 2\) has shape \[2\], expected \[3\]"):
        import_onnx(proto)


def test_long_axes_have_no_tables():
    count = (1 << 16) + 3
    x = RNG.standard_normal((1, count)).astype(np.float32)
    places = np.clip((np.arange(2 * count) + 0.5) / 2 - 0.5, 0, count - 1)
    wanted = np.interp(places, np.arange(count), x[0].astype(np.float64)).astype(np.float32)[None]
    check(
        *one_node("Resize", [x, None, np.float32([1, 2])], opset=19, constant=[2], mode="linear"), [wanted], atol=1e-6
    )


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_sizes_past_all_memory_are_one_error(mode: str):
    x = np.zeros((1, 2), np.float32)
    for scale in (3e8, 3.3e17, 3e30):
        with pytest.raises((ModelError, OutOfMemory)):
            proto, feeds = one_node("Resize", [x, None, np.float32([1e5, scale])], opset=19, constant=[2], mode=mode)
            aicc.compile(proto, opt_level=0).run(feeds)
