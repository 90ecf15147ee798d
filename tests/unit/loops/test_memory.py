"""Constants, scratch and the arena: main gives the same results after each pass, and the plan is sound."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.buffers import Buffer, BufferAttr
from aicc.dialects.graph.dims import evaluate, parse_dim, sym
from aicc.dialects.loops.memory import AllocOp, PreparedOp, ViewOp
from aicc.lowering.signature import main_function
from aicc.lowering.tensor_ops_to_loops import ConvertTensorOpsToLoopsPass
from aicc.transforms.loops_hoist_allocs import LoopsHoistAllocsPass
from aicc.transforms.loops_hoist_constants import LoopsHoistConstantsPass
from aicc.transforms.loops_plan_memory import LoopsPlanMemoryPass, needs, plan, primitive_part
from tests.unit.loops.helper import parsed, run_main, run_passes, text_of

KERNELS = """
func.func private @add(%x: tensor<?xf32, #graph.dims<s0>>, %y: tensor<?xf32, #graph.dims<s0>>)
    -> tensor<?xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %t = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel s0] body (%a : f32) {
    %s = arith.addf %a, %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>>
  %z = tensor_ops.structured (%t as affine_map<(d0) -> (d0)>, %y as affine_map<(d0) -> (d0)>) over [parallel s0]
      body (%a : f32, %b : f32) {
    %s = arith.addf %a, %b : f32
    tensor_ops.yield %s : f32
  } : (tensor<?xf32, #graph.dims<s0>>, tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>>
  func.return %z : tensor<?xf32, #graph.dims<s0>>
}
"""


def call(result: str, x: str, y: str, size: int | str) -> str:
    """`result = 2 * x + y`."""
    type = f"tensor<{size}xf32>" if isinstance(size, int) else f"tensor<?xf32, #graph.dims<{size}>>"
    return f"  {result} = tensor_ops.call @add({x}, {y}) symbols [{size}] : ({type}, {type}) -> {type}\n"


def chain(length: int, size: int | str) -> ModuleOp:
    """`x_(i+1) = 2 * x_i + x_(i-1)` from `x_0 = x`, `x_(-1) = x`."""
    type = f"tensor<{size}xf32>" if isinstance(size, int) else f"tensor<?xf32, #graph.dims<{size}>>"
    body = "".join(call(f"%v{i + 1}", f"%v{i}", f"%v{max(i - 1, 0)}", size) for i in range(length))
    return parsed(f"{KERNELS}func.func @main(%v0: {type}) -> {type} {{\n{body}  func.return %v{length} : {type}\n}}")


LOWER = ConvertTensorOpsToLoopsPass()
ALL = (LOWER, LoopsHoistConstantsPass(), LoopsHoistAllocsPass(limit=0), LoopsPlanMemoryPass())


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("size", [0, 1, 33])
def test_chain_reuses_memory(length: int, size: int):
    module = run_passes(chain(length, size), *ALL)
    assert not [op for op in module.walk() if isinstance(op, AllocOp)]
    x = np.arange(size, dtype=np.float32)
    last, before = x, x
    for _ in range(length):
        last, before = 2 * last + before, last
    np.testing.assert_array_equal(run_main(module, [x])[0], last)
    # At most three values and one scratch buffer are alive at one time.
    arena = main_function(module).arg_attrs.data[-1].data["aicc.arena"].data
    assert int(arena) <= 4 * -(-4 * size // 64) * 64


def test_symbolic_sizes_share_the_arena():
    module = run_passes(chain(6, "N"), *ALL)
    arena = parse_dim(main_function(module).arg_attrs.data[-1].data["aicc.arena"].data)
    assert arena == 4 * 64 * sym("N")
    for size in (0, 1, 5):
        x = np.arange(size, dtype=np.float32)
        last, before = x, x
        for _ in range(6):
            last, before = 2 * last + before, last
        np.testing.assert_array_equal(run_main(module, [x], {"N": size})[0], last)


@pytest.mark.parametrize(
    "text, factor, rest",
    [("4*N", 4, "N"), ("4*N*S+6*N", 2, "2*N*S+3*N"), ("8", 8, "1"), ("12*floordiv(N,2)", 12, "floordiv(N,2)")],
)
def test_sizes_split_into_number_and_expression(text: str, factor: int, rest: str):
    assert primitive_part(parse_dim(text)) == (factor, parse_dim(rest))


MIXED = """
func.func @main(%N: index, %S: index, %c: memref<i1>, %x: memref<16xf32>, %out: memref<16xf32>)
    attributes {aicc.symbols = ["N", "S"], aicc.num_outputs = 1 : i64} {
  %a = loops.alloc : memref<16xf32>
  %b = loops.alloc : memref<?xf32, #loops.dims<N>>
  %d = loops.alloc : memref<?x3xi8, #loops.dims<N*S>>
  %unused = loops.alloc : memref<1000xf32>
  loops.copy %x to %a : memref<16xf32> to memref<16xf32>
  %go = loops.load %c[] : memref<i1> to i1
  scf.if %go {
    %e = loops.alloc : memref<16xf32>
    %f = loops.alloc : memref<16xf32>
    loops.copy %a to %e : memref<16xf32> to memref<16xf32>
    loops.copy %e to %f : memref<16xf32> to memref<16xf32>
    loops.copy %f to %out : memref<16xf32> to memref<16xf32>
  } else {
    %e = loops.alloc : memref<64xi8>
    %v = loops.view %e : memref<64xi8> to memref<16xf32>
    loops.copy %a to %v : memref<16xf32> to memref<16xf32>
    loops.copy %v to %out : memref<16xf32> to memref<16xf32>
  }
  %g = loops.alloc : memref<?xf32, #loops.dims<N>>
  loops.for "i" %i = 0 to %N parallel {
    %small = loops.alloc : memref<1xf32>
    %z = arith.constant 1.0 : f32
    loops.store %z, %small[0] : f32 to memref<1xf32>
    loops.store %z, %b[%i] : f32 to memref<?xf32, #loops.dims<N>>
  }
  loops.copy %b to %g : memref<?xf32, #loops.dims<N>> to memref<?xf32, #loops.dims<N>>
  loops.for "j" %i = 0 to %N * 2 parallel {
    loops.for "k" %j = 0 to 3 {
      %z = arith.constant 1 : i8
      loops.store %z, %d[%i, %j] : i8 to memref<?x3xi8, #loops.dims<N*S>>
    }
  }
  func.return
}
"""


def test_plan_of_regions_and_mixed_sizes():
    module = parsed(MIXED)
    main = main_function(module)
    buffers = needs(main)
    result = plan(buffers)
    assert len(buffers) == 7  # all but the unused one and the one inside of the loop
    for symbols in ({"N": 5, "S": 2}, {"N": 1, "S": 2}):
        total = evaluate(result.bytes, symbols)
        places = [
            (need, evaluate(result.offsets[need.alloc], symbols), evaluate(need.bytes, symbols)) for need in buffers
        ]
        for i, (a, start, size) in enumerate(places):
            assert start % 64 == 0
            assert start + size <= total
            for b, other, length in places[:i]:
                if a.first <= b.last and b.first <= a.last:
                    assert start + size <= other or other + length <= start
    LoopsPlanMemoryPass().apply(None, module)
    parsed(text_of(module))


def test_buffers_of_two_branches_share_memory():
    module = run_passes(parsed(MIXED), LoopsPlanMemoryPass())
    branches = next(op for op in module.walk() if op.name == "scf.if").regions
    offsets = [[op.offset for op in region.walk() if isinstance(op, ViewOp) and op.offset] for region in branches]
    assert offsets[1][0] in offsets[0]


def test_a_buffer_that_is_carried_is_refused():
    text = """
func.func @main(%c: memref<i1>) {
  %a = loops.alloc : memref<4xf32>
  %go = loops.load %c[] : memref<i1> to i1
  %r = scf.if %go -> (memref<4xf32>) {
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %a : memref<4xf32>
  }
  func.return
}
"""
    with pytest.raises(DiagnosticException, match=r"'scf\.yield' passes on a buffer"):
        run_passes(parsed(text), LoopsPlanMemoryPass())


SCRATCH_IN_LOOPS = """
func.func private @k(%s0: index, %x: memref<?x8xf32, #loops.dims<s0>>, %out: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to %s0 step 2 parallel {
    loops.for "j" %j = %i to min(%i + 2, %s0) parallel {
      %t = loops.alloc : memref<8xf32>
      loops.for "k" %k = 0 to 8 {
        %v = loops.load %x[%j, %k] : memref<?x8xf32, #loops.dims<s0>> to f32
        %w = arith.mulf %v, %v : f32
        loops.store %w, %t[%k] : f32 to memref<8xf32>
      }
      %r = loops.for "l" %k = 0 to 8 iter_args(%acc = %zero) -> (f32) {
        %v = loops.load %t[%k] : memref<8xf32> to f32
        %s = arith.addf %acc, %v : f32
        loops.yield %s : f32
      }
      loops.store %r, %out[%j] : f32 to memref<?xf32, #loops.dims<s0>>
    }
  }
  func.return
}
func.func @main(%N: index, %x: memref<?x8xf32, #loops.dims<N>>, %out: memref<?xf32, #loops.dims<N>>)
    attributes {aicc.symbols = ["N"], aicc.num_outputs = 1 : i64, aicc.signature = "{\\22symbols\\22: [\\22N\\22],
     \\22outputs\\22: [{\\22dtype\\22: \\22float32\\22, \\22dims\\22: [\\22N\\22]}]}"} {
  loops.call @k(%N, %x, %out) : index, memref<?x8xf32, #loops.dims<N>>, memref<?xf32, #loops.dims<N>>
  func.return
}
""".replace("\n     \\22outputs", " \\22outputs")


@pytest.mark.parametrize("size", [0, 1, 2, 7])
@pytest.mark.parametrize("limit", [0, 100])
def test_scratch_inside_of_parallel_loops(size: int, limit: int):
    module = run_passes(parsed(SCRATCH_IN_LOOPS), LoopsHoistAllocsPass(limit=limit), LoopsPlanMemoryPass())
    assert bool([op for op in module.walk() if isinstance(op, AllocOp)]) == (limit == 100)
    x = np.arange(size * 8, dtype=np.float32).reshape(size, 8)
    (out,) = run_main(module, [x], {"N": size})
    np.testing.assert_array_equal(out, (x * x).sum(axis=1))


CONSTANTS = (
    KERNELS
    + """
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = tensor_ops.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : tensor<4xf32>
  %v = tensor_ops.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<2x2xf32> : tensor<2x2xf32>
  %u = tensor_ops.view %v : tensor<2x2xf32> to tensor<4xf32>
""".replace("dense<[5.0, 6.0, 7.0, 8.0]>", "dense<[[5.0, 6.0], [7.0, 8.0]]>")
    + (
        call("%a", "%w", "%u", 4)
        + call("%b", "%a", "%w", 4)
        + call("%y", "%x", "%b", 4)
        + """
  %cond = tensor_ops.extract %c[] : tensor<i1>
  %r = scf.if %cond -> (tensor<4xf32>) {
"""
        + call("%b2", "%a", "%w", 4)
        + call("%z", "%b2", "%y", 4)
        + """
    scf.yield %z : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
"""
        + call("%k", "%w", "%w", 4)
        + "  func.return %r, %k : tensor<4xf32>, tensor<4xf32>\n}"
    )
)


@pytest.mark.parametrize("condition", [False, True])
def test_constant_work_moves_to_prepare(condition: bool):
    module = run_passes(parsed(CONSTANTS), *ALL)
    x = np.array([0.5, 0.25, 2, 1], np.float32)
    w, u = np.array([1, 2, 3, 4], np.float32), np.array([5, 6, 7, 8], np.float32)
    b = 2 * (2 * w + u) + w
    y = 2 * x + b
    found = run_main(module, [np.array(condition), x])
    np.testing.assert_array_equal(found[0], 2 * b + y if condition else y)
    np.testing.assert_array_equal(found[1], 3 * w)  # An output is written by main each time.


def test_what_moves_to_prepare():
    module = run_passes(parsed(CONSTANTS), LOWER, LoopsHoistConstantsPass())
    prepare, main = text_of(module).split("func.func @prepare")[1].split("func.func @main")
    assert prepare.count("loops.call @add") == 2  # The two equal calls became one.
    assert main.count("loops.call @add") == 3
    assert prepare.count("loops.alloc") == 1  # Only prepare reads the first result.
    assert [op.key.data for op in module.walk() if isinstance(op, PreparedOp)] == ["add.0", "add.0"]


def test_nothing_constant_makes_no_prepare():
    module = run_passes(chain(2, 4), LOWER, LoopsHoistConstantsPass())
    assert "@prepare" not in text_of(module)


def test_scratch_without_elements_and_symbolic_dimensions_becomes_an_argument():
    text = """
func.func private @k(%s0: index) attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 0 : i64} {
  %a = loops.alloc : memref<0x?xf32, #loops.dims<s0>>
  loops.copy %a to %a : memref<0x?xf32, #loops.dims<s0>> to memref<0x?xf32, #loops.dims<s0>>
  func.return
}
func.func @main(%N: index) attributes {aicc.symbols = ["N"], aicc.num_outputs = 0 : i64} {
  loops.call @k(%N) : index
  func.return
}
"""
    module = run_passes(parsed(text), LoopsHoistAllocsPass(), LoopsPlanMemoryPass())
    assert not [op for op in module.walk() if isinstance(op, AllocOp)]
    arena = main_function(module).arg_attrs.data[-1].data["aicc.arena"].data
    assert arena == "0"


def test_buffers_of_one_name_with_different_data_are_not_merged():
    first, second = np.array([1, 2, 3, 4], np.float32), np.array([5, 6, 7, 8], np.float32)
    text = (
        KERNELS
        + """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %v = tensor_ops.constant #graph.buffer<"same"> : tensor<4xf32>
  %w = tensor_ops.constant #graph.buffer<"same"> : tensor<4xf32>
"""
        + (
            call("%a", "%v", "%v", 4)
            + call("%b", "%w", "%w", 4)
            + call("%c", "%x", "%a", 4)
            + call("%d", "%x", "%b", 4)
            + "  func.return %c, %d : tensor<4xf32>, tensor<4xf32>\n}"
        )
    )
    module = parsed(text)
    constants = [op for op in module.walk() if op.name == "tensor_ops.constant"]
    for op, array in zip(constants, (first, second), strict=True):
        op.properties["value"] = BufferAttr(Buffer("same", array))
    for module_pass in ALL:
        module_pass.apply(None, module)
    x = np.zeros(4, np.float32)
    for found, expected in zip(run_main(module, [x]), (3 * first, 3 * second), strict=True):
        np.testing.assert_array_equal(found, expected)
