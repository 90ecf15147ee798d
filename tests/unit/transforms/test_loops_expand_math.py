"""Errors of the expanded functions over the whole range of f32, in units of the last place, and special values."""

from __future__ import annotations

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from aicc.lowering.parse import parse_module
from aicc.transforms.loops_expand_math import EXPANSIONS, expand_all
from aicc.transforms.loops_expand_math_trigonometric import REDUCED
from aicc.transforms.verify import verify
from tests.unit.native import element_dtype, native

LANES = 32


def module_of(op: str, inputs: int, element: str, flags: str = "") -> ModuleOp:
    """A function that applies `op` to rows of `LANES` elements, expanded."""
    names = [f"%x{k}" for k in range(inputs)]
    type_ = f"vector<4x8x{element}>"
    memref = f"memref<?x{LANES}x{element}, #loops.dims<n>>"
    loads = "\n    ".join(f"%x{k} = loops.load %m{k}[%i, 8 * l0 + l1] : {memref} to {type_}" for k in range(inputs))
    arguments = ", ".join(f"%m{k}: {memref}" for k in range(inputs))
    module = parse_module(f"""
func.func @f(%n: index, {arguments}, %o: {memref}) attributes {{aicc.symbols = ["n"]}} {{
  loops.for "i" %i = 0 to %n {{
    {loads}
    %r = {op} {", ".join(names)} {flags} : {type_}
    loops.store %r, %o[%i, 8 * l0 + l1] : {type_} to {memref}
  }}
  func.return
}}
""")
    expand_all(module)
    verify(module)
    return module


def apply(op: str, *arrays: np.ndarray, element: str = "f32", flags: str = "") -> np.ndarray:
    count = -(-len(arrays[0]) // LANES)
    rows = [np.resize(array, (count, LANES)) for array in arrays]
    result = np.empty_like(rows[0])
    module = module_of(op, len(arrays), element, flags)
    assert element_dtype(module.body.block.first_op.function_type.inputs.data[1].element_type) == result.dtype
    native(module, "f")(count, *rows, result)
    return result.ravel()[: len(arrays[0])]


def errors(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance from the exact result in units of the last place of f32; infinite where the kinds differ."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        unit = np.maximum(np.abs(np.spacing(np.minimum(np.abs(exact), 3.4e38).astype(np.float32))), 2.0**-149)
        distance = np.abs(found.astype(np.float64) - exact) / unit
        same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
        # The largest number where the rounded result overflows by less than the error allowed, and the reverse.
        near_limit = np.isinf(rounded) != np.isinf(found)
        limit = float(np.finfo(np.float32).max)
        distance = np.where(near_limit & (np.abs(exact) < limit * (1 + 2e-7)), 1.0, distance)
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def bit_patterns(step: int) -> np.ndarray:
    """Every `step`-th f32, from all kinds of numbers."""
    return np.arange(0, 1 << 32, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38],
    np.float32,
)

SCALAR: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]] = {
    "math.atan": (np.arctan, 1.6),
    "math.cos": (np.cos, 1.5),
    "math.cosh": (np.cosh, 2.5),
    "math.erf": (np.vectorize(math.erf), 6.6),
    "math.exp": (np.exp, 1.1),
    "math.exp2": (np.exp2, 1.1),
    "math.expm1": (np.expm1, 1.6),
    "math.log": (np.log, 1.6),
    "math.log10": (np.log10, 1.6),
    "math.log1p": (np.log1p, 2.0),
    "math.log2": (np.log2, 1.6),
    "math.sin": (np.sin, 1.5),
    "math.sinh": (np.sinh, 2.5),
    "math.tan": (np.tan, 3.5),
    "math.tanh": (np.tanh, 5.3),
}
"""Op -> its meaning in f64, and the error that its module states."""

DENSE = {
    "math.exp": (-104, 89),
    "math.exp2": (-150, 128),
    "math.expm1": (-18, 89),
    "math.log": (0, 4),
    "math.log10": (0, 4),
    "math.log1p": (-1, 2),
    "math.log2": (0, 4),
    "math.cosh": (-90, 90),
    "math.sinh": (-90, 90),
    "math.sin": (-72000, 72000),
    "math.cos": (-72000, 72000),
    "math.tan": (-72000, 72000),
}
"""Ranges in which a function does more than its bit patterns show; -8 to 8 for the others."""


@pytest.mark.parametrize("op", SCALAR)
def test_error_over_the_whole_range(op: str):
    function, bound = SCALAR[op]
    low, high = DENSE.get(op, (-8, 8))
    inside = np.linspace(low, high, 100_003).astype(np.float32)
    near_zero = np.linspace(-1, 1, 50_001).astype(np.float32)
    x = np.concatenate([SPECIAL, bit_patterns(43_003), inside, near_zero])
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.float64))
    error = errors(apply(op, x), exact)
    worst = int(np.argmax(error))
    assert error[worst] <= bound, f"{op}({x[worst]!r}): error {error[worst]}, expected {exact[worst]}"


@pytest.mark.parametrize(
    "op", ["math.expm1", "math.log1p", "math.sin", "math.tan", "math.tanh", "math.erf", "math.sinh", "math.atan"]
)
def test_sign_of_zero_is_kept(op: str):
    assert np.signbit(apply(op, np.array([-0.0], np.float32)))[0]
    assert not np.signbit(apply(op, np.array([0.0], np.float32)))[0]


def test_power_over_the_whole_range():
    rng = np.random.default_rng(0)
    grid = np.concatenate([SPECIAL, np.array([0.5, 2, -2, 3, -3, 1.5, -1.5, 1e10, 16777216, -16777215], np.float32)])
    a, b = np.repeat(grid, len(grid)), np.tile(grid, len(grid))
    sizes = np.exp(rng.normal(size=100_000) * 3)
    with np.errstate(all="ignore"):
        x = np.concatenate([a, bit_patterns(43_003), sizes, 1 + rng.normal(size=50_000) * 1e-3]).astype(np.float32)
    y = np.concatenate([b, np.resize(bit_patterns(7_919_999), len(bit_patterns(43_003)))])
    y = np.concatenate([y, rng.normal(size=100_000) * 20, rng.normal(size=50_000) * 1e4]).astype(np.float32)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    error = errors(apply("math.powf", x, y), exact)
    worst = int(np.argmax(error))
    assert error[worst] <= 0.6, f"pow({x[worst]!r}, {y[worst]!r}): error {error[worst]}, expected {exact[worst]}"


@pytest.mark.parametrize("element, dtype", [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_short_floats_go_through_f32(element: str, dtype: type):
    x = np.arange(0, 1 << 16, 7, dtype=np.uint16).view(dtype)
    with np.errstate(all="ignore"):
        expected = np.exp(x.astype(np.float64)).astype(dtype)
        found = apply("math.exp", x, element=element)
    distance = np.abs(found.view(np.int16).astype(int) - expected.view(np.int16).astype(int))
    distance[np.isnan(x.astype(np.float32))] = 0
    assert distance.max() <= 1 and np.isnan(found.astype(np.float32))[np.isnan(x.astype(np.float32))].all()


@pytest.mark.parametrize(
    "op", [*SCALAR, "math.acos", "math.acosh", "math.asin", "math.asinh", "math.atanh", "math.cbrt"]
)
@pytest.mark.parametrize("element", ["f64", "f32"])
def test_the_library_does_the_rest(op: str, element: str):
    name = op.removeprefix("math.")
    names = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atanh": "arctanh"}
    function = SCALAR[op][0] if op in SCALAR else getattr(np, names.get(name, name))
    x = np.linspace(-0.99, 3, 301).astype(element.replace("f", "float"))
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64))
    np.testing.assert_allclose(apply(op, x, element=element), expected, rtol=1e-15 if element == "f64" else 1e-6)


def test_all_expansions_are_tested():
    assert {*EXPANSIONS, *REDUCED} == {*SCALAR, "math.powf"}


def test_approximate_exponentials():
    x = np.concatenate([np.linspace(-87.0, 88.3, 200_003), np.linspace(-1, 1, 50_001)]).astype(np.float32)
    assert errors(apply("math.exp", x, flags="fastmath<afn>"), np.exp(x.astype(np.float64))).max() <= 1.1
    outside = np.array([-np.inf, -3.4e38, -88.0, 89.0, 3.4e38, np.inf, np.nan, 0.0, -0.0], np.float32)
    found = apply("math.exp", outside, flags="fastmath<afn>")
    np.testing.assert_array_equal(found, np.array([0, 0, 0, np.inf, np.inf, np.inf, np.nan, 1, 1], np.float32))


def test_approximate_exponentials_of_at_most_zero():
    flags = "fastmath<afn> {aicc.at_most_zero}"
    x = np.concatenate([np.linspace(-87.0, 0.0, 200_003), np.linspace(-1, 0, 50_001)]).astype(np.float32)
    assert errors(apply("math.exp", x, flags=flags), np.exp(x.astype(np.float64))).max() <= 1.1
    outside = np.array([-np.inf, -3.4e38, -88.0, np.nan, 0.0, -0.0], np.float32)
    found = apply("math.exp", outside, flags=flags)
    np.testing.assert_array_equal(found, np.array([0, 0, 0, np.nan, 1, 1], np.float32))


@pytest.mark.parametrize("op", ["math.tanh", "math.erf"])
def test_large_arguments_of_what_ends_at_one(op: str):
    x = np.concatenate([np.linspace(9.0, 20.0, 5_000), np.geomspace(20, 3e38, 5_000)]).astype(np.float32)
    np.testing.assert_array_equal(apply(op, np.concatenate([x, -x])), np.repeat(np.array([1, -1], np.float32), len(x)))


SIGMOID = """
func.func @f(
  %n: index, %m: memref<?x32xf32, #loops.dims<n>>, %o: memref<?x32xf32, #loops.dims<n>>
) attributes {aicc.symbols = ["n"]} {
  %one = arith.constant dense<1.0> : vector<32xf32>
  loops.for "i" %i = 0 to %n {
    %x = loops.load %m[%i, l0] : memref<?x32xf32, #loops.dims<n>> to vector<32xf32>
    %y = arith.negf %x : vector<32xf32>
    %e = math.exp %y fastmath<afn> : vector<32xf32>
    %s = arith.addf %one, %e : vector<32xf32>
    %r = arith.divf %one, %s : vector<32xf32>
    loops.store %r, %o[%i, l0] : vector<32xf32> to memref<?x32xf32, #loops.dims<n>>
  }
  func.return
}
"""


def test_sigmoid():
    module = parse_module(SIGMOID)
    expand_all(module)
    verify(module)
    run = native(module, "f")
    for values, bound in [
        (np.concatenate([np.linspace(-87.0, 105.0, 200_000), np.linspace(-1, 1, 50_016)]), 2.2),
        # Too small for a normal number: anything down to 0.
        (np.linspace(-110.0, -87.5, 3_200), 2.0**24),
        (np.resize([-np.inf, np.inf, np.nan, 0.0, -0.0, 3e38, -3e38], LANES), 0.0),
    ]:
        x = values.astype(np.float32).reshape(-1, LANES)
        found = np.empty_like(x)
        run(len(x), x, found)
        with np.errstate(all="ignore"):
            exact = 1 / (1 + np.exp(-x.astype(np.float64)))
        assert errors(found, exact).max() <= bound
