"""What each op of `tensor_ops` computes, from text, against plain numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.tensor_ops import evaluation
from aicc.lowering.parse import parse_module
from tests.unit.tensor_ops.helper import function_of

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)


def run(text: str, *inputs: Array) -> list[Array]:
    """The results of the first function in `text`."""
    module = parse_module(text)
    module.verify()
    return evaluate_function(function_of(module), inputs, module)


def random(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


PRODUCT = """
func.func @main(%x: tensor<?x?xf32, #graph.dims<N, K>>, %w: tensor<?x4xf32, #graph.dims<K>>, %b: tensor<4xf32>)
    -> tensor<4x?xf32, #graph.dims<N>> {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d1, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d0)>)
      over [parallel 4, parallel N, reduction K] init [1.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } finish (%b as affine_map<(d0, d1, d2) -> (d0)>) body (%t: f32, %c: f32) {
    %m = arith.maximumf %t, %c : f32
    tensor_ops.yield %m : f32
  } : (tensor<?x?xf32, #graph.dims<N, K>>, tensor<?x4xf32, #graph.dims<K>>, tensor<4xf32>)
      -> tensor<4x?xf32, #graph.dims<N>>
  func.return %y : tensor<4x?xf32, #graph.dims<N>>
}
"""


@pytest.mark.parametrize("n, k", [(3, 5), (1, 1), (0, 2), (2, 0)])
@pytest.mark.parametrize("limit", [1 << 25, 4])
def test_structured_contraction(n: int, k: int, limit: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluation, "MAX_FACTOR_ELEMENTS", limit)
    x, w, b = random(n, k), random(k, 4), random(4)
    (found,) = run(PRODUCT, x, w, b)
    np.testing.assert_allclose(found, np.maximum((x @ w).T + 1, b[:, None]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("limit", [1 << 22, 3])
def test_structured_windows_and_fills(limit: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluation, "MAX_POINTS", limit)
    text = """
func.func @main(%x: tensor<2x7xf32>) -> tensor<2x8xf32> {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d1 + d2 - 2)> fill 0xff800000 : f32)
      over [parallel 2, parallel 8, reduction 3] init [0xff800000 : f32] body (%a: f32, %acc: f32) {
    %m = arith.maximumf %acc, %a fastmath<reassoc> : f32
    tensor_ops.yield %m : f32
  } : (tensor<2x7xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}
"""
    x = random(2, 7)
    padded = np.pad(x, ((0, 0), (2, 1)), constant_values=-np.inf)
    (found,) = run(text, x)
    np.testing.assert_array_equal(found, np.stack([padded[:, i : i + 3].max(1) for i in range(8)], 1))


def test_structured_in_the_order_of_the_points():
    """`acc' = 2*acc + x` is no sum: the points are taken one after the other, the last dimension fastest."""
    text = """
func.func @main(%x: tensor<3x2x4xi8>) -> (tensor<3xi8>, tensor<3xindex>) {
  %y, %z = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d1, d2)>)
      over [parallel 3, reduction 2, reduction 4] init [0 : i8, 0 : index] body (%a: i8, %acc: i8, %n: index) {
    %two = arith.constant 2 : i8
    %d = arith.muli %acc, %two : i8
    %s = arith.addi %d, %a : i8
    %i = tensor_ops.index 2
    %m = arith.addi %n, %i : index
    tensor_ops.yield %s, %m : i8, index
  } : (tensor<3x2x4xi8>) -> (tensor<3xi8>, tensor<3xindex>)
  func.return %y, %z : tensor<3xi8>, tensor<3xindex>
}
"""
    x = RNG.integers(-128, 128, (3, 2, 4)).astype(np.int8)
    found, places = run(text, x)
    expected = []
    for row in x.reshape(3, 8).tolist():
        total = 0
        for value in row:
            total = 2 * total + value
        expected.append((total + 128) % 256 - 128)
    np.testing.assert_array_equal(found, np.array(expected, np.int8))
    np.testing.assert_array_equal(places, [12, 12, 12])


def test_structured_reads_other_tensors_and_sizes():
    text = """
func.func @main(%i: tensor<?xi64, #graph.dims<N>>, %t: tensor<4x3xui8>) -> tensor<?x3xui8, #graph.dims<N>> {
  %y = tensor_ops.structured (%i as affine_map<(d0, d1) -> (d0)>) over [parallel N, parallel 3] body (%a: i64) {
    %p = arith.index_cast %a : i64 to index
    %d = tensor_ops.index 1
    %v = tensor_ops.extract %t[%p, %d] : tensor<4x3xui8>
    %n = tensor_ops.size #graph.shape<N+1>
    %m = arith.index_cast %n : index to i8
    %s = arith.addi %v, %m : i8
    tensor_ops.yield %s : i8
  } : (tensor<?xi64, #graph.dims<N>>) -> tensor<?x3xui8, #graph.dims<N>>
  func.return %y : tensor<?x3xui8, #graph.dims<N>>
}
"""
    table = RNG.integers(0, 256, (4, 3)).astype(np.uint8)
    places = np.array([3, 0, 2, 2, 1])
    (found,) = run(text, places, table)
    np.testing.assert_array_equal(found, table[places] + np.uint8(6))


def test_a_view_of_bytes_as_packed_integers():
    text = """
func.func @main(%x: tensor<?x8xui8, #graph.dims<N>>) -> tensor<?x2xi32, #graph.dims<N>> {
  %v = tensor_ops.view %x : tensor<?x8xui8, #graph.dims<N>> to tensor<?x2xi32, #graph.dims<N>>
  func.return %v : tensor<?x2xi32, #graph.dims<N>>
}
"""
    x = RNG.integers(0, 256, (3, 8)).astype(np.uint8)
    parts = x.astype(np.int64).reshape(3, 2, 4) << np.arange(0, 32, 8)
    (found,) = run(text, x)
    np.testing.assert_array_equal(found, parts.sum(-1).astype(np.int32))


def test_kernel_call_view_constant_and_concat():
    text = """
func.func @main(%x: tensor<?x6xf32, #graph.dims<N>>) -> tensor<?x4xf32, #graph.dims<3*N>> {
  %c = tensor_ops.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> : tensor<2x2xf32>
  %v = tensor_ops.view %x : tensor<?x6xf32, #graph.dims<N>> to tensor<?x2xf32, #graph.dims<3*N>>
  %k = tensor_ops.kernel (%a = %v : tensor<?x2xf32, #graph.dims<3*N>>, %b = %c : tensor<2x2xf32>)
      -> (tensor<?x2xf32, #graph.dims<3*N>>) {
    %r = tensor_ops.call @add(%a, %b) symbols [3*N]
        : (tensor<?x2xf32, #graph.dims<3*N>>, tensor<2x2xf32>) -> tensor<?x2xf32, #graph.dims<3*N>>
    tensor_ops.yield %r : tensor<?x2xf32, #graph.dims<3*N>>
  }
  %j = tensor_ops.concat %v, %k axis 1
      : (tensor<?x2xf32, #graph.dims<3*N>>, tensor<?x2xf32, #graph.dims<3*N>>) -> tensor<?x4xf32, #graph.dims<3*N>>
  func.return %j : tensor<?x4xf32, #graph.dims<3*N>>
}
func.func private @add(%x: tensor<?x2xf32, #graph.dims<s0>>, %y: tensor<2x2xf32>) -> tensor<?x2xf32, #graph.dims<s0>>
    attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>, %y as affine_map<(d0, d1) -> (1, d1)>)
      over [parallel s0, parallel 2] body (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x2xf32, #graph.dims<s0>>, tensor<2x2xf32>) -> tensor<?x2xf32, #graph.dims<s0>>
  func.return %r : tensor<?x2xf32, #graph.dims<s0>>
}
"""
    x = random(2, 6)
    flat = x.reshape(6, 2)
    (found,) = run(text, x)
    np.testing.assert_array_equal(found, np.concatenate([flat, flat + np.array([3, 4], np.float32)], 1))


def test_scatter_writes_in_order():
    text = """
func.func @main(%b: tensor<3x4xbf16>, %i: tensor<5xi32>, %u: tensor<5xbf16>) -> (tensor<3x4xbf16>, tensor<3x4xbf16>) {
  %r = tensor_ops.scatter into %b (%i as affine_map<(d0) -> (d0)>, %u as affine_map<(d0) -> (d0)>) over [5]
      body (%p: i32, %v: bf16) {
    %j = arith.index_cast %p : i32 to index
    %k = arith.constant 1 : index
    tensor_ops.yield %k, %j, %v : index, index, bf16
  } : (tensor<3x4xbf16>, tensor<5xi32>, tensor<5xbf16>) -> tensor<3x4xbf16>
  %s = tensor_ops.scatter into %b (%i as affine_map<(d0) -> (d0)>, %u as affine_map<(d0) -> (d0)>) over [5]
      body (%p: i32, %v: bf16) {
    %j = arith.index_cast %p : i32 to index
    %k = arith.constant 2 : index
    tensor_ops.yield %k, %j, %v : index, index, bf16
  } combine (%old: bf16, %new: bf16) {
    %m = arith.maximumf %old, %new : bf16
    tensor_ops.yield %m : bf16
  } : (tensor<3x4xbf16>, tensor<5xi32>, tensor<5xbf16>) -> tensor<3x4xbf16>
  func.return %r, %s : tensor<3x4xbf16>, tensor<3x4xbf16>
}
"""
    base, update = random(3, 4).astype(ml_dtypes.bfloat16), random(5).astype(ml_dtypes.bfloat16)
    places = np.array([3, 0, 3, 1, 0], np.int32)
    written, combined = base.copy(), base.copy()
    for place, value in zip(places, update, strict=True):
        written[1, place] = value
        combined[2, place] = max(combined[2, place], value)
    found = run(text, base, places, update)
    np.testing.assert_array_equal(found[0], written)
    np.testing.assert_array_equal(found[1], combined)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_scan(n: int):
    text = """
func.func @main(%x: tensor<2x?xf16, #graph.dims<N>>) -> tensor<2x?xf16, #graph.dims<N>> {
  %r = tensor_ops.scan %x axis 1 exclusive reverse init 1.0 : f32 body (%v: f16, %acc: f32) {
    %w = arith.extf %v : f16 to f32
    %s = arith.mulf %acc, %w : f32
    tensor_ops.yield %s : f32
  } finish (%t: f32) {
    %h = arith.truncf %t : f32 to f16
    tensor_ops.yield %h : f16
  } : tensor<2x?xf16, #graph.dims<N>> -> tensor<2x?xf16, #graph.dims<N>>
  func.return %r : tensor<2x?xf16, #graph.dims<N>>
}
"""
    x = random(2, n).astype(np.float16)
    (found,) = run(text, x)
    expected = [[np.prod(row[k + 1 :].astype(np.float32)[::-1]) for k in range(n)] for row in x]
    np.testing.assert_allclose(found, np.array(expected).reshape(2, n).astype(np.float16), rtol=1e-3)


def test_condition_read_from_a_tensor():
    text = """
func.func @main(%c: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %b = tensor_ops.extract %c[] : tensor<i1>
  %r = scf.if %b -> (tensor<3xf32>) {
    %y = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel 3] body (%a: f32) {
      %s = arith.negf %a : f32
      tensor_ops.yield %s : f32
    } : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %y : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  func.return %r : tensor<3xf32>
}
"""
    x = random(3)
    np.testing.assert_array_equal(run(text, np.array(True), x)[0], -x)
    np.testing.assert_array_equal(run(text, np.array(False), x)[0], x)
