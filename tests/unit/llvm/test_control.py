"""Loops, branches, calls and unstructured control flow; native against the interpreter or plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.llvm.both import check
from tests.unit.native import native

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("lower, upper", [(0, 0), (0, 1), (0, 7), (3, 3), (5, 2), (-3, 4), (2, 9)])
@pytest.mark.parametrize("step", [1, 2, 3, 16])
@pytest.mark.parametrize("kind", ["", "unroll", "simd"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_loop_visits_its_indices(lower: int, upper: int, step: int, kind: str, dynamic: bool):
    bounds = "%a to %b" if dynamic else f"{lower} to {upper}"
    text = f"""
func.func @f(%a: index, %b: index, %o: memref<32xindex>) {{
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c, %last = loops.for "i" %i = {bounds} step {step} iter_args(%n = %z, %p = %z) -> (index, index) {kind} {{
    loops.store %i, %o[%n] : index to memref<32xindex>
    %m = arith.addi %n, %one : index
    loops.yield %m, %i : index, index
  }}
  loops.store %c, %o[30] : index to memref<32xindex>
  loops.store %last, %o[31] : index to memref<32xindex>
  func.return
}}
"""
    [found] = check(text, lower, upper, np.zeros(32, np.int64))
    expected = list(range(lower, upper, step))
    assert found[: len(expected)].tolist() == expected and found[30] == len(expected)


def test_bounds_of_several_expressions():
    text = """
func.func @f(%a: index, %b: index, %o: memref<1xindex>) {
  %z = arith.constant 0 : index
  %s = loops.for "i" %i = max(0, %a - 3, %b) to min(20, %a + %b, 2 * %b) iter_args(%n = %z) -> (index) {
    %m = loops.apply %n + %i
    loops.yield %m : index
  }
  loops.store %s, %o[0] : index to memref<1xindex>
  func.return
}
"""
    for a, b in [(0, 0), (5, 9), (30, 15), (-4, 8), (3, 2)]:
        [found] = check(text, a, b, np.zeros(1, np.int64))
        assert found[0] == sum(range(max(0, a - 3, b), min(20, a + b, 2 * b)))


def test_carried_vectors_and_values_of_inner_loops():
    text = """
func.func @f(%n: index, %m: memref<?x3x8xf32, #loops.dims<n>>, %o: memref<3x8xf32>) attributes {aicc.symbols = ["n"]} {
  %z = arith.constant dense<0.0> : vector<3x8xf32>
  %r = loops.for "i" %i = 0 to %n iter_args(%x = %z) -> (vector<3x8xf32>) {
    %y = loops.for "j" %j = 0 to %i iter_args(%p = %x) -> (vector<3x8xf32>) {
      %v = loops.load %m[%j, l0, l1] : memref<?x3x8xf32, #loops.dims<n>> to vector<3x8xf32>
      %q = arith.addf %p, %v : vector<3x8xf32>
      loops.yield %q : vector<3x8xf32>
    }
    loops.yield %y : vector<3x8xf32>
  }
  loops.store %r, %o[l0, l1] : vector<3x8xf32> to memref<3x8xf32>
  func.return
}
"""
    for n in (0, 1, 5):
        check(text, n, RNG.normal(size=(n, 3, 8)).astype(np.float32), np.zeros((3, 8), np.float32))


BRANCH = """
func.func @f(%c: i1, %n: index, %o: memref<4xindex>) {
  %a, %b = scf.if %c -> (index, f32) {
    %x = loops.apply %n * 3 + 1
    %f = arith.constant 1.0 : f32
    scf.yield %x, %f : index, f32
  } else {
    %f = arith.constant 2.0 : f32
    %x = loops.for "i" %i = 0 to %n iter_args(%s = %n) -> (index) {
      %t = loops.apply %s + %i
      loops.yield %t : index
    }
    scf.yield %x, %f : index, f32
  }
  %k = arith.fptosi %b : f32 to i64
  %l = arith.index_cast %k : i64 to index
  loops.store %a, %o[0] : index to memref<4xindex>
  loops.store %l, %o[1] : index to memref<4xindex>
  scf.if %c {
    loops.store %n, %o[2] : index to memref<4xindex>
  }
  func.return
}
"""


@pytest.mark.parametrize("condition", [False, True])
def test_if(condition: bool):
    found = np.zeros(4, np.int64)
    native(BRANCH, "f")(condition, 5, found)
    assert found.tolist() == ([16, 1, 5, 0] if condition else [15, 2, 0, 0])


def test_while():
    text = """
func.func @f(%n: i64, %o: memref<2xi64>) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %r, %steps = scf.while (%x = %n, %s = %z) : (i64, i64) -> (i64, i64) {
    %c = arith.cmpi ne, %x, %one : i64
    scf.condition(%c) %x, %s : i64, i64
  } do {
  ^bb0(%y: i64, %t: i64):
    %odd = arith.remsi %y, %two : i64
    %is_odd = arith.cmpi eq, %odd, %one : i64
    %half = arith.divsi %y, %two : i64
    %triple = arith.muli %y, %three : i64
    %up = arith.addi %triple, %one : i64
    %next = arith.select %is_odd, %up, %half : i64
    %u = arith.addi %t, %one : i64
    scf.yield %next, %u : i64, i64
  }
  loops.store %r, %o[0] : i64 to memref<2xi64>
  loops.store %steps, %o[1] : i64 to memref<2xi64>
  func.return
}
"""
    found = np.zeros(2, np.int64)
    native(text, "f")(27, found)
    assert found.tolist() == [1, 111]


def test_scf_for():
    text = """
func.func @f(%a: index, %b: index, %s: index) -> index {
  %z = arith.constant 0 : index
  %r = scf.for %i = %a to %b step %s iter_args(%n = %z) -> (index) {
    %m = arith.addi %n, %i : index
    scf.yield %m : index
  }
  func.return %r : index
}
"""
    run = native(
        text.replace("-> index", "-> i64").replace(
            "func.return %r : index", "%c = arith.index_cast %r : index to i64\n  func.return %c : i64"
        ),
        "f",
    )
    for a, b, s in [(0, 10, 1), (0, 10, 3), (4, 4, 1), (9, 2, 2)]:
        assert run(a, b, s) == sum(range(a, b, s))


def test_blocks_in_any_shape():
    text = """
func.func @f(%a: i64, %b: i64) -> i64 {
  cf.br ^head(%a, %b : i64, i64)
^head(%x: i64, %y: i64):
  %z = arith.constant 0 : i64
  %c = arith.cmpi eq, %y, %z : i64
  cf.cond_br %c, ^done(%x : i64), ^step
^step:
  %r = arith.remsi %x, %y : i64
  cf.br ^head(%y, %r : i64, i64)
^done(%g: i64):
  %n = arith.cmpi slt, %g, %z : i64
  %m = arith.subi %z, %g : i64
  cf.cond_br %n, ^out(%m : i64), ^out(%g : i64)
^out(%q: i64):
  func.return %q : i64
}
"""
    run = native(text, "f")
    for a, b in [(12, 18), (7, 5), (0, 4), (-8, 6)]:
        assert run(a, b) == np.gcd(a, b)


def test_calls():
    text = """
func.func private @square(%x: f64) -> f64 {
  %r = arith.mulf %x, %x : f64
  func.return %r : f64
}
func.func private @store(%n: index, %x: f64, %o: memref<4xf64>) attributes {aicc.kernel} {
  loops.store %x, %o[%n] : f64 to memref<4xf64>
  func.return
}
func.func @f(%x: f64, %o: memref<4xf64>) {
  %y = func.call @square(%x) : (f64) -> f64
  %n = arith.constant 2 : index
  func.call @store(%n, %y, %o) : (index, f64, memref<4xf64>) -> ()
  func.return
}
"""
    found = np.zeros(4)
    native(text, "f")(1.5, found)
    assert found.tolist() == [0, 0, 2.25, 0]


PARALLEL = """
func.func @f(%n: index, %k: f32, %a: memref<?x16xf32, #loops.dims<n>>, %o: memref<?xf32, #loops.dims<n>>)
    attributes {{aicc.symbols = ["n"]}} {{
  %z = arith.constant 0.0 : f32
  %base = loops.apply %n * 0 + {lower}
  loops.for "i" %i = %base to %n step {step} parallel threads {grain} {{
    %s = loops.for "j" %j = 0 to 16 iter_args(%x = %z) -> (f32) {{
      %v = loops.load %a[%i, %j] : memref<?x16xf32, #loops.dims<n>> to f32
      %w = arith.mulf %v, %k : f32
      %y = arith.addf %x, %w : f32
      loops.yield %y : f32
    }}
    %m = loops.size #graph.shape<n>
    %b = arith.index_cast %m : index to i64
    %c = arith.sitofp %b : i64 to f32
    %t = arith.addf %s, %c : f32
    loops.store %t, %o[%i] : f32 to memref<?xf32, #loops.dims<n>>
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    "grain", ["", "attributes {grain = 7 : i64}", "attributes {part = 100 : i64, work = #graph.shape<16*n>}"]
)
@pytest.mark.parametrize("lower, step", [(0, 1), (3, 1), (0, 4), (1, 3)])
def test_threads_change_nothing(lower: int, step: int, grain: str):
    text = PARALLEL.format(lower=lower, step=step, grain=grain)
    serial, parallel = native(text, "f"), native(text, "f", threads=4)
    for n in (0, 1, 3, 17, 2500):
        data = RNG.normal(size=(n, 16)).astype(np.float32)
        one, many = np.zeros(n, np.float32), np.zeros(n, np.float32)
        serial(n, 0.5, data, one)
        parallel(n, 0.5, data, many)
        np.testing.assert_array_equal(one, many)
        expected = (data.astype(np.float64) * 0.5).sum(1) + n
        expected[[i for i in range(n) if i < lower or (i - lower) % step]] = 0
        np.testing.assert_allclose(one, expected, rtol=1e-4)


COUNTED_TOGETHER = """
func.func @f(%n: index, %m: index, %o: memref<?x?x5xi32, #loops.dims<n, m>>) attributes {{aicc.symbols = ["n", "m"]}} {{
  %one = arith.constant 1 : i32
  loops.for "i" %i = 1 to %n step 2 parallel threads attributes {{grain = {grain} : i64, nested = {nested} : i64}} {{
    %k = loops.apply %i + 0
    loops.for "j" %j = 0 to %m step 3 parallel {{
      loops.for "l" %l = 1 to 5 parallel {{
        %x = loops.load %o[%k, %j, %l] : memref<?x?x5xi32, #loops.dims<n, m>> to i32
        %y = arith.addi %x, %one : i32
        loops.store %y, %o[%k, %j, %l] : i32 to memref<?x?x5xi32, #loops.dims<n, m>>
      }}
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize("grain", [1, 3, 50])
@pytest.mark.parametrize("nested", [1, 2, 3, 4])
def test_iterations_of_nested_loops_run_once(nested: int, grain: int):
    text = COUNTED_TOGETHER.format(nested=nested, grain=grain)
    functions = [native(text, "f", threads=threads) for threads in (1, 2, 3, 4)]
    for n, m in [(0, 5), (5, 0), (1, 1), (2, 1), (2, 40), (31, 7), (300, 2)]:
        expected = np.zeros((n, m, 5), np.int32)
        expected[1::2, ::3, 1:] = 1
        for function in functions:
            out = np.zeros((n, m, 5), np.int32)
            function(n, m, out)
            np.testing.assert_array_equal(out, expected)


def test_loops_in_loops_that_may_stay_on_one_thread():
    text = """
func.func @f(%n: index, %m: index, %o: memref<?x?xi32, #loops.dims<n, m>>, %p: memref<?xi32, #loops.dims<n>>)
    attributes {aicc.symbols = ["n", "m"]} {
  %one = arith.constant 1 : i32
  loops.for "i" %i = 0 to %n parallel threads attributes {least = 2 : i64} {
    loops.for "j" %j = 0 to %m parallel threads {
      %x = loops.load %o[%i, %j] : memref<?x?xi32, #loops.dims<n, m>> to i32
      %y = arith.addi %x, %one : i32
      loops.store %y, %o[%i, %j] : i32 to memref<?x?xi32, #loops.dims<n, m>>
    }
    %last = loops.load %o[%i, %m - 1] : memref<?x?xi32, #loops.dims<n, m>> to i32
    loops.store %last, %p[%i] : i32 to memref<?xi32, #loops.dims<n>>
  }
  func.return
}
"""
    for threads in (1, 2, 3):
        function = native(text, "f", threads=threads)
        for n, m in [(0, 5), (1, 100), (3, 70), (4, 70), (64, 3)]:
            out, last = np.zeros((n, m), np.int32), np.zeros(n, np.int32)
            function(n, m, out, last)
            np.testing.assert_array_equal(out, 1)
            np.testing.assert_array_equal(last, 1)


def test_several_and_nested_parallel_loops():
    text = """
func.func @f(%a: memref<32x24xf32>, %o: memref<32x24xf32>, %p: memref<24xf32>) {
  %v = loops.load %a[0, l0] : memref<32x24xf32> to vector<24xf32>
  loops.for "i" %i = 0 to 32 parallel threads {
    loops.for "j" %j = 0 to 24 parallel threads {
      %x = loops.load %a[%i, %j] : memref<32x24xf32> to f32
      loops.store %x, %o[%i, %j] : f32 to memref<32x24xf32>
    }
  }
  loops.for "k" %k = 0 to 1 parallel threads {
    loops.store %v, %p[l0] : vector<24xf32> to memref<24xf32>
  }
  func.return
}
"""
    data = RNG.normal(size=(32, 24)).astype(np.float32)
    for threads in (1, 2):
        out, row = np.zeros_like(data), np.zeros(24, np.float32)
        native(text, "f", threads=threads)(data, out, row)
        np.testing.assert_array_equal(out, data)
        np.testing.assert_array_equal(row, data[0])


def test_each_thread_has_its_own_scratch():
    text = """
func.func @f(%a: memref<64x16xi32>, %o: memref<64x16xi32>) {
  loops.for "i" %i = 0 to 64 parallel threads {
    %s = loops.alloc : memref<16xi32>
    loops.for "j" %j = 0 to 16 {
      %x = loops.load %a[%i, %j] : memref<64x16xi32> to i32
      loops.store %x, %s[15 - %j] : i32 to memref<16xi32>
    }
    loops.for "k" %k = 0 to 16 {
      %x = loops.load %s[%k] : memref<16xi32> to i32
      loops.store %x, %o[%i, %k] : i32 to memref<64x16xi32>
    }
  }
  func.return
}
"""
    data = np.arange(1024, dtype=np.int32).reshape(64, 16)
    out = np.zeros_like(data)
    native(text, "f", threads=4)(data, out)
    np.testing.assert_array_equal(out, data[:, ::-1])
