"""Kernels and main lowered to loops, executed against numpy."""

from __future__ import annotations

import json

import numpy as np
import pytest
from xdsl.utils.exceptions import DiagnosticException

from aicc.lowering.signature import main_function
from aicc.lowering.tensor_ops_to_loops import ConvertTensorOpsToLoopsPass
from aicc.transforms.loops_hoist_allocs import LoopsHoistAllocsPass
from aicc.transforms.loops_plan_memory import LoopsPlanMemoryPass
from tests.unit.loops.helper import Array, parsed, run_main, run_passes, text_of

LOWER = ConvertTensorOpsToLoopsPass()
PLAN = (LoopsHoistAllocsPass(limit=0), LoopsPlanMemoryPass())


def execute(text: str, *inputs: Array, **symbols: int) -> list[Array]:
    """The outputs of main after lowering, which memory planning must not change."""
    plain = run_main(run_passes(parsed(text), LOWER), inputs, symbols)
    planned = run_main(run_passes(parsed(text), LOWER, *PLAN), inputs, symbols)
    for first, second in zip(plain, planned, strict=True):
        np.testing.assert_array_equal(first, second)
    return plain


def kernel_and_main(body: str, inputs: list[str], outputs: list[str], symbols: str = "") -> str:
    """A module with one kernel `@k` of this body, and a main that passes its inputs and returns its outputs."""
    arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(inputs))
    names = ", ".join(f"%x{i}" for i in range(len(inputs)))
    results = ", ".join(f"%r#{i}" if len(outputs) > 1 else "%r" for i in range(len(outputs)))
    types = ", ".join(outputs)
    listed = ", ".join(f'"{s}"' for s in symbols.split(", ") if s)
    values = f" symbols [{symbols}]" if symbols else ""
    count = f":{len(outputs)}" if len(outputs) > 1 else ""
    result_type = f"({types})" if len(outputs) != 1 else types
    return f"""
func.func private @k({arguments}) -> ({types}) attributes {{aicc.kernel, aicc.symbols = [{listed}]}} {{
{body}
}}
func.func @main({arguments}) -> ({types}) {{
  %r{count} = tensor_ops.call @k({names}){values} : ({", ".join(inputs)}) -> {result_type}
  func.return {results} : {types}
}}
"""


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


MATMUL = """
  %y = tensor_ops.structured (%x0 as affine_map<(d0, d1, d2) -> (d0, d2)>, %x1 as affine_map<(d0, d1, d2) -> (d2, d1)>)
      over [parallel N, parallel 8, reduction K] init [0.0 : f32] body (%a : f32, %b : f32, %acc : f32) {
    %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } finish (%x2 as affine_map<(d0, d1, d2) -> (d1)>) body (%acc : f32, %c : f32) {
    %s = arith.addf %acc, %c : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?xf32, #graph.dims<N, K>>, tensor<?x8xf32, #graph.dims<K>>, tensor<8xf32>)
      -> tensor<?x8xf32, #graph.dims<N>>
  func.return %y : tensor<?x8xf32, #graph.dims<N>>
"""
MATMUL_TYPES = ["tensor<?x?xf32, #graph.dims<N, K>>", "tensor<?x8xf32, #graph.dims<K>>", "tensor<8xf32>"]


@pytest.mark.parametrize("n, k", [(3, 5), (1, 1), (0, 4), (4, 0)])
def test_reduction_with_finish_and_symbols(n: int, k: int):
    text = kernel_and_main(MATMUL, MATMUL_TYPES, ["tensor<?x8xf32, #graph.dims<N>>"], "N, K")
    x, w, b = (rng().random(shape).astype(np.float32) for shape in ((n, k), (k, 8), (8,)))
    (out,) = execute(text, x, w, b, N=n, K=k)
    np.testing.assert_allclose(out, x @ w + b, rtol=1e-6)


WINDOW = """
  %y = tensor_ops.structured (%x0 as affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 - 1 + s0)> fill -1.0 : f32)
      over [parallel 6, reduction 3] symbols [N] init [0.0 : f32] body (%a : f32, %acc : f32) {
    %s = arith.addf %acc, %a fastmath<reassoc> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?xf32, #graph.dims<N>>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
"""


@pytest.mark.parametrize("n", [0, 1, 9])
def test_fill_where_a_map_leaves_its_tensor(n: int):
    text = kernel_and_main(WINDOW.replace(" + s0", " - s0"), ["tensor<?xf32, #graph.dims<N>>"], ["tensor<6xf32>"], "N")
    x = rng().random(n).astype(np.float32)
    (out,) = execute(text, x, N=n)
    padded = {i: float(x[i]) for i in range(n)}
    expected = [sum(padded.get(2 * i + j - 1 - n, -1.0) for j in range(3)) for i in range(6)]
    np.testing.assert_allclose(out, np.array(expected, np.float32), rtol=1e-6)


SOFTMAX = """
  %m = tensor_ops.structured (%x0 as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 3, reduction 5]
      init [0xFF800000 : f32] body (%a : f32, %acc : f32) {
    %s = arith.maximumf %acc, %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<3x5xf32>) -> tensor<3xf32>
  %s = tensor_ops.structured (%x0 as affine_map<(d0, d1) -> (d0, d1)>, %m as affine_map<(d0, d1) -> (d0)>)
      over [parallel 3, reduction 5] init [0.0 : f32] body (%a : f32, %b : f32, %acc : f32) {
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    %t = arith.addf %acc, %e fastmath<reassoc> : f32
    tensor_ops.yield %t : f32
  } : (tensor<3x5xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = tensor_ops.structured (%x0 as affine_map<(d0, d1) -> (d0, d1)>, %m as affine_map<(d0, d1) -> (d0)>,
      %s as affine_map<(d0, d1) -> (d0)>) over [parallel 3, parallel 5] body (%a : f32, %b : f32, %c : f32) {
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    %t = arith.divf %e, %c : f32
    tensor_ops.yield %t : f32
  } : (tensor<3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x5xf32>
  func.return %y, %m : tensor<3x5xf32>, tensor<3xf32>
"""


def test_kernel_of_several_ops_and_results():
    text = kernel_and_main(SOFTMAX, ["tensor<3x5xf32>"], ["tensor<3x5xf32>", "tensor<3xf32>"])
    x = rng().random((3, 5)).astype(np.float32)
    out, largest = execute(text, x)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=1e-6)
    np.testing.assert_array_equal(largest, x.max(axis=1))


GATHER = """
  %y = tensor_ops.structured (%x1 as affine_map<(d0, d1) -> (d0)>) over [parallel N, parallel 4] body (%i : i64) {
    %j = arith.index_cast %i : i64 to index
    %k = tensor_ops.index 1
    %v = tensor_ops.extract %x0[%j, %k] : tensor<6x4xui8>
    %n = tensor_ops.size #graph.shape<2*N>
    %m = arith.index_cast %n : index to i8
    %w = arith.addi %v, %m : i8
    tensor_ops.yield %w : i8
  } : (tensor<?xi64, #graph.dims<N>>) -> tensor<?x4xui8, #graph.dims<N>>
  func.return %y : tensor<?x4xui8, #graph.dims<N>>
"""


def test_indirect_reads_are_clamped_and_unsigned_bytes_wrap():
    types = ["tensor<6x4xui8>", "tensor<?xi64, #graph.dims<N>>"]
    text = kernel_and_main(GATHER, types, ["tensor<?x4xui8, #graph.dims<N>>"], "N")
    x = rng().integers(0, 256, (6, 4), np.uint8)
    index = np.array([5, 0, 9, -3, 2], np.int64)
    (out,) = execute(text, x, index, N=5)
    np.testing.assert_array_equal(out, x[np.clip(index, 0, 5)] + np.uint8(10))


def test_concatenation_with_a_symbolic_part():
    body = """
  %y = tensor_ops.concat %x0, %x1, %x0 axis 1
      : (tensor<2x?xf32, #graph.dims<N>>, tensor<2x3xf32>, tensor<2x?xf32, #graph.dims<N>>)
      -> tensor<2x?xf32, #graph.dims<2*N+3>>
  func.return %y : tensor<2x?xf32, #graph.dims<2*N+3>>
"""
    types = ["tensor<2x?xf32, #graph.dims<N>>", "tensor<2x3xf32>"]
    text = kernel_and_main(body, types, ["tensor<2x?xf32, #graph.dims<2*N+3>>"], "N")
    x, y = rng().random((2, 4)).astype(np.float32), rng().random((2, 3)).astype(np.float32)
    (out,) = execute(text, x, y, N=4)
    np.testing.assert_array_equal(out, np.concatenate([x, y, x], axis=1))


@pytest.mark.parametrize(
    "combine", ["", " combine (%a : f32, %b : f32) {\n %s = arith.addf %a, %b : f32\n tensor_ops.yield %s : f32 }"]
)
def test_scatter_keeps_the_order_of_duplicates(combine: str):
    body = f"""
  %y = tensor_ops.scatter into %x0 (%x1 as affine_map<(d0) -> (d0)>, %x2 as affine_map<(d0) -> (d0)>) over [6]
      body (%i : i64, %u : f32) {{
    %at = arith.index_cast %i : i64 to index
    tensor_ops.yield %at, %u : index, f32
  }}{combine} : (tensor<4xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
"""
    text = kernel_and_main(body, ["tensor<4xf32>", "tensor<6xi64>", "tensor<6xf32>"], ["tensor<4xf32>"])
    base, updates = rng().random(4).astype(np.float32), rng().random(6).astype(np.float32)
    places = np.array([0, 2, 2, 0, 3, 2], np.int64)
    expected = base.copy()
    for place, update in zip(places, updates, strict=True):
        expected[place] = expected[place] + update if combine else update
    (out,) = execute(text, base, places, updates)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_running_totals(axis: int, reverse: bool, exclusive: bool):
    flags = (" exclusive" if exclusive else "") + (" reverse" if reverse else "")
    type = "tensor<3x?xi32, #graph.dims<N>>"
    body = f"""
  %y = tensor_ops.scan %x0 axis {axis}{flags} init 0 : i32 body (%v : i32, %acc : i32) {{
    %s = arith.addi %acc, %v : i32
    tensor_ops.yield %s : i32
  }} : {type} -> {type}
  func.return %y : {type}
"""
    x = rng().integers(-9, 9, (3, 4), np.int32)
    (out,) = execute(kernel_and_main(body, [type], [type], "N"), x, N=4)
    turned = np.flip(x, axis) if reverse else x
    total = np.cumsum(turned, axis, dtype=np.int32) - (turned if exclusive else 0)
    np.testing.assert_array_equal(out, np.flip(total, axis) if reverse else total)


def test_rank_zero():
    body = """
  %y = tensor_ops.structured (%x0 as affine_map<() -> ()>) over [] body (%a : f64) {
    %s = arith.addf %a, %a : f64
    tensor_ops.yield %s : f64
  } : (tensor<f64>) -> tensor<f64>
  func.return %y : tensor<f64>
"""
    (out,) = execute(kernel_and_main(body, ["tensor<f64>"], ["tensor<f64>"]), np.array(1.5))
    assert out == 3.0


DOUBLE = """
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel 4] body (%a : f32) {
    %s = arith.addf %a, %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""
X = np.array([1, 2, 3, 4], np.float32)


def test_outputs_that_are_inputs_constants_views_and_repeated():
    text = (
        DOUBLE
        + """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = tensor_ops.constant dense<[5.0, 6.0]> : tensor<2xf32> : tensor<2xf32>
  %y = tensor_ops.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = tensor_ops.view %y : tensor<4xf32> to tensor<2x2xf32>
  %z = tensor_ops.call @double(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x, %c, %v, %y, %z : tensor<4xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>
}
"""
    )
    module = run_passes(parsed(text), LOWER)
    outputs = execute(text, X)
    for found, expected in zip(outputs, [X, [5, 6], 2 * X.reshape(2, 2), 2 * X, 4 * X], strict=True):
        np.testing.assert_array_equal(found, expected)
    # The input, the constant and the repeated result are copied; the others are written in place.
    assert text_of(module).count("loops.copy") == 3
    assert "loops.alloc" not in text_of(module)


CONDITION = """
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %cond = tensor_ops.extract %c[] : tensor<i1>
  %r:2 = scf.if %cond -> (tensor<4xf32>, tensor<4xf32>) {
    %y = tensor_ops.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = tensor_ops.call @double(%y) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %z, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    %y = tensor_ops.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x, %y : tensor<4xf32>, tensor<4xf32>
  }
  %s = tensor_ops.call @double(%r#1) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r#0, %s : tensor<4xf32>, tensor<4xf32>
}
"""


@pytest.mark.parametrize("condition", [False, True])
def test_branches(condition: bool):
    first, second = execute(DOUBLE + CONDITION, np.array(condition), X)
    np.testing.assert_array_equal(first, 4 * X if condition else X)
    np.testing.assert_array_equal(second, 2 * X if condition else 4 * X)


# Carries (a, b) -> (b, 2 * a) while a[0] < limit, and counts.
LOOP = """
func.func private @count(%x: tensor<i64>) -> tensor<i64> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<() -> ()>) over [] body (%a : i64) {
    %one = arith.constant 1 : i64
    %s = arith.addi %a, %one : i64
    tensor_ops.yield %s : i64
  } : (tensor<i64>) -> tensor<i64>
  func.return %y : tensor<i64>
}
func.func @main(%limit: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>, %n: tensor<i64>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %r:4 = scf.while (%a = %x, %b = %y, %i = %n) : (tensor<4xf32>, tensor<4xf32>, tensor<i64>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<4xf32>) {
    %first = tensor_ops.extract %a[%zero] : tensor<4xf32>
    %most = tensor_ops.extract %limit[] : tensor<f32>
    %go = arith.cmpf olt, %first, %most : f32
    %double = tensor_ops.call @double(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.condition(%go) %a, %b, %i, %double : tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: tensor<i64>, %double: tensor<4xf32>):
    %next = tensor_ops.call @count(%i) : (tensor<i64>) -> tensor<i64>
    scf.yield %b, %double, %next : tensor<4xf32>, tensor<4xf32>, tensor<i64>
  }
  func.return %r#0, %r#1, %r#2, %r#3 : tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<4xf32>
}
"""


@pytest.mark.parametrize("limit", [0.0, 1.5, 20.0])
def test_loop_that_swaps_carried_values(limit: float):
    outputs = execute(DOUBLE + LOOP, np.array(limit, np.float32), X, X + 1, np.array(3, np.int64))
    a, b, i = X, X + 1, 3
    while a[0] < limit:
        a, b, i = b, 2 * a, i + 1
    for found, expected in zip(outputs, [a, b, i, 2 * a], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_signature():
    text = """
func.func @main(%x: tensor<?x3xbf16, #graph.dims<N+1>> {aicc.name = "weird \\22name\\22"}, %c: tensor<ui8>)
    -> (tensor<?x3xbf16, #graph.dims<N+1>> {aicc.name = "y"}) attributes {aicc.checks = [["N", "3", "batch"]]} {
  func.return %x : tensor<?x3xbf16, #graph.dims<N+1>>
}
"""
    module = run_passes(parsed(text), LOWER)
    assert json.loads(main_function(module).attributes["aicc.signature"].data) == {
        "version": 1,
        "symbols": ["N"],
        "inputs": [
            {"name": 'weird "name"', "dtype": "bfloat16", "dims": ["N+1", "3"]},
            {"name": "input1", "dtype": "uint8", "dims": []},
        ],
        "outputs": [{"name": "y", "dtype": "bfloat16", "dims": ["N+1", "3"]}],
        "checks": [{"lhs": "N", "rhs": "3", "text": "batch"}],
    }


def test_leftovers_are_listed():
    text = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tensor_ops.kernel (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    tensor_ops.yield %a : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
"""
    with pytest.raises(DiagnosticException, match=r"not lowered: tensor_ops.kernel \(x1\)"):
        run_passes(parsed(text), LOWER)


def test_zero_and_minus_zero_are_different_constants():
    body = """
  %y = tensor_ops.structured (%x0 as affine_map<(d0) -> (d0 - 1)> fill -0.0 : f32,
      %x0 as affine_map<(d0) -> (d0)>) over [parallel 4] body (%a : f32, %b : f32) {
    %zero = arith.constant 0.0 : f32
    %minus = arith.constant -0.0 : f32
    %c = arith.mulf %b, %zero : f32
    %d = arith.addf %c, %minus : f32
    %e = arith.addf %minus, %minus : f32
    %at = tensor_ops.index 0
    %one = arith.constant 1 : index
    %first = arith.cmpi ult, %at, %one : index
    %r = arith.select %first, %e, %d : f32
    tensor_ops.yield %r : f32
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
"""
    (out,) = execute(kernel_and_main(body, ["tensor<4xf32>"], ["tensor<4xf32>"]), X)
    np.testing.assert_array_equal(np.signbit(out), [True, False, False, False])
