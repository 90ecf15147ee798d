"""Schedules of the automatic scheduler keep the meaning of kernels, and use the strategy that fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aicc.dialects.loops.functions import find_function
from aicc.dialects.schedule.ops import (
    CollapseOp,
    FuseOp,
    InterchangeOp,
    PackOp,
    StageOp,
    TileOp,
    UnrollOp,
)
from aicc.dialects.schedule.threads import ParallelizeOp
from aicc.lowering.context import make_context
from aicc.lowering.parse import parse_module
from aicc.transforms.loops_apply_schedules import LoopsApplySchedulesPass
from aicc.transforms.loops_auto_schedule import LoopsAutoSchedulePass, auto_schedule
from aicc.transforms.target_facts import GENERIC, TargetFacts
from tests.unit.schedule.nests import (
    NestCase,
    Operand,
    add,
    column_sum,
    conv,
    depthwise,
    grouped,
    matmul,
    padded_max_pool,
    parsed,
    row_sum,
    run_case,
    transposed,
)

SCALED = NestCase(
    [3, 4, 5, 6],
    [],
    [Operand([3, 4, 5, 6], "d0, d1, d2, d3"), Operand([4], "d1")],
    "%r = arith.mulf %x0, %x1 : f32",
    lambda x, y, **_: x * y[:, None, None],
)

CASES: dict[str, tuple[NestCase, tuple[dict[str, int], ...]]] = {
    "matmul": (matmul(13, 20, 7), ({},)),
    "matmul of constants": (matmul(13, 35, 7, constant=True), ({},)),
    "matmul with transposed constants": (matmul(13, 35, 7, constant=True, transposed=True), ({},)),
    "matmul with transposed operand": (matmul(13, 20, 7, transposed=True), ({},)),
    "matmul of symbolic height": (matmul("M", 20, 7, constant=True), tuple({"M": m} for m in (0, 1, 5, 6, 13))),
    "one row": (matmul(1, 70, 9, constant=True), ({},)),
    "one column": (matmul(9, 1, 30), ({},)),
    "nothing to sum": (matmul(4, 5, 0), ({},)),
    "convolution": (conv(1, 5, 3, 20, 3), ({},)),
    "convolution with stride": (conv(2, 4, 5, 9, 3, 2), ({},)),
    "convolution of symbolic batch": (conv("N", 3, 4, 17, 1), tuple({"N": n} for n in (0, 1, 3))),
    "depthwise convolution": (depthwise(5, 19, 3), ({},)),
    "grouped convolution": (grouped(7, 3, 4, 16), ({},)),
    "grouped convolution, odd groups": (grouped(7, 3, 4, 5), ({},)),
    "pooling with padding": (padded_max_pool(9, 20), ({},)),
    "row sums": (row_sum(5, 37), ({},)),
    "row sums of symbolic rows": (row_sum("M", "N"), tuple({"M": m, "N": n} for m, n in ((0, 3), (1, 0), (3, 70)))),
    "column sums": (column_sum(5, 37), ({},)),
    "addition": (add([3, 4, 5, 6]), ({},)),
    "addition of symbols": (add(["M", "N"]), tuple({"M": m, "N": n} for m, n in ((0, 3), (1, 1), (3, 40)))),
    "addition of a row": (add([5, 37], [37], "d1"), ({},)),
    "addition of a column": (add([5, 37], [5], "d0"), ({},)),
    "scaling by channel": (SCALED, ({},)),
    "rank 0": (add([]), ({},)),
    "transpose": (transposed(19, 21), ({},)),
}


def scheduled(case: NestCase, facts: TargetFacts = GENERIC):
    module = parsed(case)
    LoopsAutoSchedulePass(facts.name).apply(make_context(), module)
    module.verify()
    # A schedule is text that can be edited.
    module = parse_module(str(module))
    LoopsApplySchedulesPass().apply(make_context(), module)
    module.verify()
    return module


@pytest.mark.parametrize("name", CASES)
def test_same_numbers(name: str):
    case, sizes = CASES[name]
    module = scheduled(case)
    for size in sizes:
        run_case(case, module, size)
        run_case(case, module, size, backwards=True)


def steps(case: NestCase, facts: TargetFacts = GENERIC, constants: frozenset[int] = frozenset()):
    kernel = find_function(parsed(case), "k")
    sequence = auto_schedule(kernel, facts, constants)
    return [] if sequence is None else list(sequence.body.block.ops)


def test_a_matrix_product_fills_the_registers():
    def registers(facts: TargetFacts) -> tuple[int, int]:
        tiles = [op.tile_sizes for op in steps(matmul(1024, 1024, 1024), facts) if isinstance(op, TileOp)]
        (lanes,), (_,), (rows, _) = tiles[:3]
        return rows, lanes

    assert registers(GENERIC) == (6, 16)
    rows, lanes = registers(TargetFacts(vector_bits=512, vector_registers=32))
    assert 16 <= rows * lanes // 16 <= 24


def test_rows_that_share_sets_of_the_cache_are_no_more_than_its_ways():
    def rows(steps_of_sum: int, facts: TargetFacts) -> int:
        made = steps(matmul(1008, 16, steps_of_sum), facts, frozenset({1}))
        return next(op.tile_sizes for op in made if isinstance(op, TileOp))[0]

    # The lines of all rows fall into one set, into others than each other, and into one of a cache with more ways.
    few_ways = TargetFacts(vector_bits=256, vector_registers=32, l1_ways=4)
    assert rows(2048, few_ways) <= 4 < rows(2064, few_ways)
    assert rows(2048, replace(few_ways, l1_ways=8)) > 4


def test_blocks_of_a_product_are_no_larger_than_what_can_be_copied():
    # With half of this second-level cache, they would be.
    module = parsed(matmul(1024, 1024, 1024))
    LoopsAutoSchedulePass("x86-64-v4").apply(make_context(), module)
    assert any(isinstance(op, StageOp) for op in module.walk())
    strict = parse_module(str(module).replace("attributes {automatic} ", ""))
    LoopsApplySchedulesPass().apply(make_context(), strict)


def test_few_steps_are_unrolled_where_there_is_little_else_to_do_in_each():
    def unrolled(case: NestCase) -> bool:
        return any(isinstance(op, UnrollOp) for op in steps(case))

    assert unrolled(depthwise(5, 19, 3)) and unrolled(matmul(64, 8, 3))
    assert not unrolled(matmul(64, 64, 3))


def test_rows_are_chosen_to_fill_the_extent():
    tiles = [op for op in steps(conv(1, 56, 64, 64, 3, constant=False)) if isinstance(op, TileOp)]
    rows = tiles[0].tile_sizes[-2]
    assert 56 % rows == 0 or rows == 6


def test_constants_are_packed_whatever_their_reuse():
    case = matmul(2, 64, 32, constant=True, transposed=True)
    packs = [op for op in steps(case, constants=frozenset({1})) if isinstance(op, PackOp)]
    assert [op.argument.value.data for op in packs] == [1]
    assert packs[0].new_order == (0, 1) and packs[0].tile_sizes[0] > 0


def test_operands_with_little_reuse_are_not_packed():
    packs = [op for op in steps(matmul(2, 64, 32, transposed=True)) if isinstance(op, PackOp)]
    assert not any(op.argument.value.data == 1 for op in packs)


def test_weights_are_packed_in_the_order_of_the_reduction():
    packs = [op for op in steps(conv(1, 14, 256, 256, 3, constant=False)) if isinstance(op, PackOp)]
    assert packs[0].new_order == (0, 2, 3, 1)


def test_contiguous_buffers_are_collapsed():
    assert sum(isinstance(op, CollapseOp) for op in steps(add([2, 3, 4, 5]))) == 3
    assert not any(isinstance(op, CollapseOp) for op in steps(add([5, 37], [37], "d1")))


def test_a_row_sum_runs_along_the_row():
    made = steps(row_sum(64, 1000))
    tile = next(op for op in made if isinstance(op, TileOp))
    assert tile.loops[0].owner.label.data == "s0_d1"
    assert any(isinstance(op, InterchangeOp) for op in made)


@pytest.mark.parametrize("shape", [(49, 960), (960, 49), (196, 576), (576, 196)])
def test_transposes_go_by_blocks_whichever_side_does_not_fill_them(shape: tuple[int, int]):
    wide = TargetFacts(vector_bits=512, vector_registers=32)
    (tile,) = [op for op in steps(transposed(*shape), wide) if isinstance(op, TileOp)]
    assert tile.tile_sizes == (16, 16)


@pytest.mark.parametrize(("rows", "part"), [(14, 8), (7, 4)])
def test_transposes_of_short_rows_go_by_parts_of_a_line(rows: int, part: int):
    wide = TargetFacts(vector_bits=512, vector_registers=32)
    (tile,) = [op for op in steps(transposed(rows, 576), wide) if isinstance(op, TileOp)]
    assert tile.tile_sizes == (part, 16)


def test_small_work_stays_on_one_thread():
    assert not any(isinstance(op, ParallelizeOp) for op in steps(add([100])))
    assert any(isinstance(op, ParallelizeOp) for op in steps(add([1000, 1000])))


SOFTMAX = """
func.func private @k(%x: memref<6x37xf32>, %o: memref<6x37xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = loops.alloc : memref<6xf32>
  %s = loops.alloc : memref<6xf32>
  loops.for "s0_d0" %i = 0 to 6 parallel {
    %t = loops.for "s0_d1" %j = 0 to 37 iter_args(%a = %low) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<6x37xf32> to f32
      %r = arith.maximumf %a, %v : f32
      loops.yield %r : f32
    }
    loops.store %t, %m[%i] : f32 to memref<6xf32>
  }
  loops.for "s1_d0" %i = 0 to 6 parallel {
    %t = loops.for "s1_d1" %j = 0 to 37 iter_args(%a = %zero) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<6x37xf32> to f32
      %l = loops.load %m[%i] : memref<6xf32> to f32
      %d = arith.subf %v, %l : f32
      %e = math.exp %d : f32
      %r = arith.addf %a, %e fastmath<reassoc> : f32
      loops.yield %r : f32
    }
    loops.store %t, %s[%i] : f32 to memref<6xf32>
  }
  loops.for "s2_d0" %i = 0 to 6 parallel {
    loops.for "s2_d1" %j = 0 to 37 parallel {
      %v = loops.load %x[%i, %j] : memref<6x37xf32> to f32
      %l = loops.load %m[%i] : memref<6xf32> to f32
      %d = arith.subf %v, %l : f32
      %e = math.exp %d : f32
      %t = loops.load %s[%i] : memref<6xf32> to f32
      %r = arith.divf %e, %t : f32
      loops.store %r, %o[%i, %j] : f32 to memref<6x37xf32>
    }
  }
  func.return
}
"""


def test_softmax_is_fused_over_rows():
    import numpy as np

    from aicc.dialects.loops.interpreter import Interpreter

    module = parse_module(SOFTMAX)
    sequence = auto_schedule(find_function(module, "k"), GENERIC)
    assert sequence is not None
    assert sum(isinstance(op, FuseOp) for op in sequence.body.block.ops) == 2
    LoopsAutoSchedulePass("generic").apply(make_context(), module)
    LoopsApplySchedulesPass().apply(make_context(), module)
    module.verify()
    x = np.random.default_rng(0).standard_normal((6, 37)).astype(np.float32)
    out = np.zeros_like(x)
    Interpreter(module).call("k", x, out)
    expected = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, expected / expected.sum(1, keepdims=True), rtol=1e-5)


def test_a_schedule_that_is_there_is_kept():
    module = parsed(add([64]))
    module = parse_module(
        str(module).replace(
            "func.func @main",
            "transform.named_sequence @k_schedule(%k: !transform.any_op) { transform.yield }\nfunc.func @main",
        )
    )
    LoopsAutoSchedulePass("generic").apply(make_context(), module)
    assert "schedule." not in str(module).replace("transform.named_sequence @k_schedule", "")


def test_a_nest_with_vectors_is_left_alone():
    module = parsed(add([64]))
    LoopsAutoSchedulePass("generic").apply(make_context(), module)
    LoopsApplySchedulesPass().apply(make_context(), module)
    before = str(module)
    assert "vector<" in before
    LoopsAutoSchedulePass("generic").apply(make_context(), module)
    LoopsApplySchedulesPass().apply(make_context(), module)
    assert str(module) == before


def test_a_step_that_cannot_be_done_leaves_the_kernel_as_it_was():
    from aicc.transforms.diagnostics import Message, diagnostic_handler

    case = matmul(6, 16, 7)
    text = str(parsed(case)).replace(
        "func.func @main",
        """transform.named_sequence @k_schedule(%k: !transform.any_op) attributes {automatic} {
          schedule.pack %k {argument = 1 : i64, tiles = array<i64: 0, 16>, order = array<i64: 1, 0>}
          %r = schedule.loop %k {label = "s0_d0"}
          %o, %i, %t = schedule.tile %r {sizes = array<i64: 4>}
          %s = schedule.loop %k {label = "s0_d2"}
          %a, %b = schedule.interchange %o, %s {order = array<i64: 1, 0>}
          transform.yield
        }
        func.func @main""",
    )
    module = parse_module(text)
    said: list[Message] = []
    with diagnostic_handler(said.append):
        LoopsApplySchedulesPass().apply(make_context(), module)
    assert [message.text for message in said] == [
        "not scheduled any further: interchange: loop 's0_d2': is not perfectly nested in loop 's0_d0.o'"
    ]
    module.verify()
    assert "s0_d0.o" not in str(module) and "k_pack1" in str(module)
    run_case(case, module)


def test_the_index_of_a_lane_can_be_computed_with():
    case = NestCase(
        [3, 19],
        [],
        [Operand([3, 19], "d0, d1")],
        "%i = arith.index_cast %d1 : index to i64\n%j = arith.addi %i, %i : i64\n%f = arith.sitofp %j : i64 to f32\n"
        "%r = arith.mulf %x0, %f : f32",
        lambda x, **_: x * (2 * __import__("numpy").arange(19)),
    )
    run_case(case, scheduled(case))
