"""Vectorised loops compute what the plain ones do."""

from __future__ import annotations

import pytest

from aicc.dialects.loops import BroadcastOp, ForOp, LoadOp
from aicc.dialects.loops.access import lanes_of
from aicc.lowering.parse import parse_module
from aicc.transforms.loops_interchange import interchange_loops
from aicc.transforms.loops_nest import StepError, find_loops
from aicc.transforms.loops_tile import tile_loops
from aicc.transforms.loops_vectorize import vectorize_loops
from tests.unit.schedule.nests import NestCase, Operand, add, matmul, padded_max_pool, parsed, run_case


def first(module, label):
    return find_loops(module, label)[0]


def tiled_and_vectorized(module, labels, sizes, tails):
    tiled = tile_loops([first(module, label) for label in labels], sizes, tails)
    for loops in zip(*(inner for inner in tiled.inners if inner), strict=True):
        vectorize_loops(loops)
    module.verify()
    # What was made can be printed and parsed.
    parse_module(str(module)).verify()


@pytest.mark.parametrize("tail", ("peel", "mask"))
@pytest.mark.parametrize("columns", (1, 16, 20, 35))
def test_matmul_in_a_register_tile(tail: str, columns: int):
    case = matmul("M", columns, 7)
    module = parsed(case)
    tiled_and_vectorized(module, ["s0_d0", "s0_d1"], [6, 16], ["peel", tail])
    for rows in (0, 1, 6, 13):
        run_case(case, module, {"M": rows})


def test_what_does_not_vary_stays_narrow():
    module = parsed(matmul(6, 16, 7))
    vectorize_loops([first(module, "s0_d0"), first(module, "s0_d1")])
    loads = [lanes_of(op.result.type) for op in module.walk() if isinstance(op, LoadOp)]
    assert loads == [(6, 1), (1, 16)]


@pytest.mark.parametrize("tail", ("peel", "mask"))
def test_elementwise_with_masked_tail(tail: str):
    case = add(["M", "N"], ["N"], "d1")
    module = parsed(case)
    tiled_and_vectorized(module, ["s0_d0", "s0_d1"], [1, 8], ["peel", tail])
    for m, n in ((0, 0), (1, 1), (2, 8), (3, 21)):
        run_case(case, module, {"M": m, "N": n})


def test_comparisons_selections_and_indices():
    case = NestCase(
        [5, 19],
        [],
        [Operand([5, 19], "d0, d1")],
        "%i = arith.index_cast %d1 : index to i64\n%f = arith.sitofp %i : i64 to f32\n"
        "%c = arith.cmpf olt, %x0, %f : f32\n%r = arith.select %c, %x0, %f : f32",
        lambda x, **_: __import__("numpy").minimum(x, __import__("numpy").arange(19, dtype="f4")),
    )
    module = parsed(case)
    tiled_and_vectorized(module, ["s0_d0", "s0_d1"], [2, 8], ["peel", "peel"])
    run_case(case, module)


def test_padding_is_filled_per_lane():
    case = padded_max_pool(7, 5)
    module = parsed(case)
    tiled_and_vectorized(module, ["s0_d0", "s0_d1", "s0_d2", "s0_d3"], [1, 1, 3, 4], ["peel", "peel", "peel", "peel"])
    run_case(case, module)


KINDS = {
    "add": ("arith.addf", "fastmath<reassoc>", "0.0", lambda x, **_: x.sum(1)),
    "mul": ("arith.mulf", "fastmath<reassoc>", "1.0", lambda x, **_: x.prod(1)),
    "max": ("arith.maximumf", "", "0xFF800000", lambda x, **_: x.max(1, initial=-float("inf"))),
    "min": ("arith.minimumf", "", "0x7F800000", lambda x, **_: x.min(1, initial=float("inf"))),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tail", ("peel", "mask"))
def test_reduction_in_lanes(kind: str, tail: str):
    op, flags, init, reference = KINDS[kind]
    case = NestCase(
        [3], ["N"], [Operand([3, "N"], "d0, d1")], f"%r = {op} %acc, %x0 {flags} : f32", reference, init=init
    )
    module = parsed(case)
    tiled = tile_loops([first(module, "s0_d1")], [8], [tail])
    for outer, inner in zip(tiled.outers[0], tiled.inners[0], strict=True):
        if tail == "peel":
            inner = interchange_loops([outer, inner], [1, 0])[0] if inner.trip_count else inner
        vectorize_loops([inner])
    module.verify()
    for n in (0, 1, 7, 8, 30):
        run_case(case, module, {"N": n})


def test_a_reduction_over_two_loops_is_combined_once():
    case = NestCase(
        [3],
        [5, 16],
        [Operand([3, 5, 16], "d0, d1, d2")],
        "%r = arith.addf %acc, %x0 fastmath<reassoc> : f32",
        lambda x, **_: x.sum((1, 2)),
    )
    module = parsed(case)
    lanes, _ = interchange_loops([first(module, "s0_d1"), first(module, "s0_d2")], [1, 0])
    vectorize_loops([lanes])
    module.verify()
    assert [op.name for op in module.walk()].count("loops.reduce") == 1
    run_case(case, module)


@pytest.mark.parametrize("columns", (8, 16, 21))
def test_sums_of_several_rows_at_once(columns: int):
    case = NestCase(
        [3, 12],
        [columns],
        [Operand([3, 12, columns], "d0, d1, d2"), Operand([3, columns], "d0, d2")],
        "%p = arith.mulf %x0, %x1 fastmath<reassoc> : f32\n%r = arith.addf %acc, %p fastmath<reassoc> : f32",
        lambda x, y, **_: ((x * y[:, None]).sum(2) + 1) * 3,
        init="1.0",
        finish="%two = arith.addf %total, %total : f32\n%out = arith.addf %two, %total : f32",
    )
    module = parsed(case)
    rows = tile_loops([first(module, "s0_d1")], [4], ["peel"]).inners[0][0]
    lanes = first(module, "s0_d2")
    if columns == 16:
        tiled = tile_loops([lanes], [8], ["peel"])
        lanes = interchange_loops([tiled.outers[0][0], tiled.inners[0][0]], [1, 0])[0]
    vectorize_loops([rows, lanes])
    module.verify()
    parse_module(str(module)).verify()
    width = 32 if columns == 21 else 8
    assert any(lanes_of(op.result.type) == (4, width) for op in module.walk() if isinstance(op, LoadOp))
    run_case(case, module)


def test_integer_reductions_have_their_own_identities():
    for op, init, reference in (
        ("arith.minsi", "2147483647", lambda x, **_: x.min(1)),
        ("arith.maxsi", "-2147483648", lambda x, **_: x.max(1)),
        ("arith.addi", "0", lambda x, **_: x.sum(1)),
        ("arith.andi", "-1", lambda x, **_: __import__("numpy").bitwise_and.reduce(x, 1)),
    ):
        case = NestCase(
            [3],
            [13],
            [Operand([3, 13], "d0, d1", element="i32")],
            f"%r = {op} %acc, %x0 : i32",
            reference,
            init=init,
            element="i32",
        )
        module = parsed(case)
        tiled = tile_loops([first(module, "s0_d1")], [8], ["mask"])
        vectorize_loops([tiled.inners[0][0]])
        run_case(case, module)


def test_refuses_an_ordered_sum():
    module = parsed(
        NestCase([3], [8], [Operand([3, 8], "d0, d1")], "%r = arith.addf %acc, %x0 : f32", lambda x, **_: x.sum(1))
    )
    with pytest.raises(StepError, match="not a free reduction"):
        vectorize_loops([first(module, "s0_d1")])


def test_refuses_a_loop_without_limit():
    module = parsed(add(["N"]))
    with pytest.raises(StepError, match="has no limit on its number of iterations; tile it first"):
        vectorize_loops([first(module, "s0_d0")])


def test_refuses_indices_read_from_memory():
    text = """
    func.func private @k(%x: memref<8xf32>, %p: memref<8xindex>, %o: memref<8xf32>) attributes {aicc.kernel} {
      loops.for "i" %i = 0 to 8 parallel {
        %j = loops.load %p[%i] : memref<8xindex> to index
        %v = loops.load %x[%j] : memref<8xf32> to f32
        loops.store %v, %o[%i] : f32 to memref<8xf32>
      }
      func.return
    }"""
    module = parse_module(text)
    with pytest.raises(StepError, match=r"loops\.load inside has an index that is not affine"):
        vectorize_loops([first(module, "i")])


def test_refuses_iterations_that_store_to_one_place():
    text = """
    func.func private @k(%x: memref<8xf32>, %o: memref<1xf32>) attributes {aicc.kernel} {
      loops.for "i" %i = 0 to 8 parallel {
        %v = loops.load %x[%i] : memref<8xf32> to f32
        loops.store %v, %o[0] : f32 to memref<1xf32>
      }
      func.return
    }"""
    module = parse_module(text)
    with pytest.raises(StepError, match="all its iterations store to the same element"):
        vectorize_loops([first(module, "i")])


def test_refuses_iterations_that_depend_on_each_other():
    text = """
    func.func private @k(%o: memref<9xf32>) attributes {aicc.kernel} {
      loops.for "i" %i = 0 to 8 {
        %v = loops.load %o[%i] : memref<9xf32> to f32
        loops.store %v, %o[%i + 1] : f32 to memref<9xf32>
      }
      func.return
    }"""
    module = parse_module(text)
    with pytest.raises(StepError, match="its iterations depend on each other"):
        vectorize_loops([first(module, "i")])


def test_a_sequential_loop_that_is_provably_parallel():
    text = """
    func.func private @k(%x: memref<8xf32>, %o: memref<8xf32>) attributes {aicc.kernel} {
      loops.for "i" %i = 0 to 8 {
        %v = loops.load %x[%i] : memref<8xf32> to f32
        loops.store %v, %o[%i] : f32 to memref<8xf32>
      }
      func.return
    }"""
    module = parse_module(text)
    vectorize_loops([first(module, "i")])
    assert not any(isinstance(op, ForOp | BroadcastOp) for op in module.walk())
