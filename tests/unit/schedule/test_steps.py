"""Interchange, collapse, unroll, pack and parallelize leave what is computed as it is."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import StringAttr

from aicc.dialects.loops import ForOp, LoadOp
from aicc.dialects.loops.functions import find_function
from aicc.lowering.parse import parse_module
from aicc.transforms.loops_collapse import collapse_loops
from aicc.transforms.loops_interchange import interchange_loops
from aicc.transforms.loops_nest import StepError, find_loops
from aicc.transforms.loops_pack import Packing, pack_argument
from aicc.transforms.loops_parallelize import parallelize_loops
from aicc.transforms.loops_split import split_loop
from aicc.transforms.loops_tile import tile_loops
from aicc.transforms.loops_unroll import unroll_loop
from tests.unit.schedule.nests import NestCase, Operand, add, conv, grouped, matmul, parsed, row_sum, run_case


def first(module, label):
    return find_loops(module, label)[0]


# Interchange


def test_interchange_of_parallel_loops():
    case = add([3, 4, 5])
    module = parsed(case)
    loops = interchange_loops([first(module, f"s0_d{i}") for i in range(3)], [2, 0, 1])
    module.verify()
    assert [loop.label.data for loop in loops] == ["s0_d2", "s0_d0", "s0_d1"]
    run_case(case, module)


def test_interchange_of_a_reduction():
    case = conv(1, 3, 4, 5, 3)
    module = parsed(case)
    interchange_loops([first(module, f"s0_d{i}") for i in (4, 5, 6)], [1, 2, 0])
    module.verify()
    run_case(case, module)


def test_interchange_keeps_bounds_inside_what_they_depend_on():
    module = parsed(add([20]))
    tiled = tile_loops([first(module, "s0_d0")], [8], ["mask"])
    with pytest.raises(StepError, match=r"interchange: loop 's0_d0.i': its bounds depend on loop 's0_d0.o'"):
        interchange_loops([tiled.outers[0][0], tiled.inners[0][0]], [1, 0])


def test_interchange_refuses_an_ordered_sum():
    case = NestCase(
        [2], [3, 4], [Operand([2, 3, 4], "d0, d1, d2")], "%r = arith.addf %acc, %x0 : f32", lambda x, **_: x.sum((1, 2))
    )
    module = parsed(case)
    with pytest.raises(StepError, match="not a free reduction"):
        interchange_loops([first(module, "s0_d1"), first(module, "s0_d2")], [1, 0])


# Collapse


def collapsed(module, *labels):
    outer, inner = (first(module, label) for label in labels)
    loop = collapse_loops(outer, inner)
    module.verify()
    return loop


@pytest.mark.parametrize("dims", ([6, 1], [1, 6], [1, 1]))
def test_collapse_of_a_loop_of_one_iteration(dims: list[int]):
    case = add(dims)
    module = parsed(case)
    loop = collapsed(module, "s0_d0", "s0_d1")
    assert loop.trip_count == dims[0] * dims[1]
    run_case(case, module)


def test_collapse_across_a_dimension_of_one():
    case = add([6, 1, 7])
    module = parsed(case)
    collapsed(module, "s0_d1", "s0_d2")
    loop = collapsed(module, "s0_d0", "s0_d1*s0_d2")
    assert loop.trip_count == 42
    assert "floordiv" not in str(module)
    run_case(case, module)


def test_collapse_merges_buffers_that_are_walked_contiguously():
    case = add([6, 7])
    module = parsed(case)
    loop = collapsed(module, "s0_d0", "s0_d1")
    assert loop.trip_count == 42
    loads = [op for op in module.walk() if isinstance(op, LoadOp)]
    assert all(len(op.map.data.results) == 1 for op in loads)
    run_case(case, module)


def test_collapse_of_symbolic_extents():
    case = add(["M", "N"])
    module = parsed(case)
    collapsed(module, "s0_d0", "s0_d1")
    for m, n in ((0, 3), (3, 0), (2, 5)):
        run_case(case, module, {"M": m, "N": n})


def test_collapse_all_of_four():
    case = add([2, 3, 4, 5])
    module = parsed(case)
    collapsed(module, "s0_d2", "s0_d3")
    collapsed(module, "s0_d1", "s0_d2*s0_d3")
    loop = collapsed(module, "s0_d0", "s0_d1*s0_d2*s0_d3")
    assert loop.trip_count == 120
    run_case(case, module)


def test_collapse_with_an_index_that_is_needed_by_itself():
    case = add([6, 7], [7], "d1")
    module = parsed(case)
    collapsed(module, "s0_d0", "s0_d1")
    run_case(case, module)


def test_collapse_refuses_a_symbolic_extent_where_an_index_is_needed_by_itself():
    module = parsed(add([6, "N"], ["N"], "d1"))
    with pytest.raises(StepError, match="takes a trip count of the inner loop that is a number"):
        collapse_loops(first(module, "s0_d0"), first(module, "s0_d1"))


# Unroll


@pytest.mark.parametrize("extent", (0, 1, 3, 4, 7, 8))
@pytest.mark.parametrize("factor", (1, 3, 4))
def test_unroll_a_reduction(extent: int, factor: int):
    case = row_sum(2, extent)
    module = parsed(case)
    unroll_loop(first(module, "s0_d1"), factor)
    module.verify()
    run_case(case, module)


def test_unroll_makes_short_loops_disappear():
    case = row_sum(2, 3)
    module = parsed(case)
    unroll_loop(first(module, "s0_d1"), 4)
    assert [op.label.data for op in module.walk() if isinstance(op, ForOp)] == ["s0_d0"]
    run_case(case, module)


def test_unroll_of_a_symbolic_extent():
    case = add(["N"])
    module = parsed(case)
    unroll_loop(first(module, "s0_d0"), 4)
    module.verify()
    for extent in (0, 1, 4, 11):
        run_case(case, module, {"N": extent})


# Parallelize


def test_parallelize_marks_the_loop():
    module = parsed(add([8, 3]))
    loop = first(module, "s0_d0")
    parallelize_loops([loop], 4)
    module.verify()
    assert "threads attributes {grain = 4 : i64}" in str(module)


def test_parallelize_refuses_threads_in_threads():
    module = parsed(add([8, 3]))
    parallelize_loops([first(module, "s0_d0")])
    with pytest.raises(StepError, match="loop 's0_d0' around it runs on threads already"):
        parallelize_loops([first(module, "s0_d1")])


def test_parallelize_refuses_a_reduction():
    module = parsed(row_sum(2, 8))
    with pytest.raises(StepError, match="carries a value from one iteration to the next"):
        parallelize_loops([first(module, "s0_d1")])


# Pack


def packed(case, argument, tiles, order):
    module = parsed(case)
    pack_argument(module, find_function(module, "k"), argument, Packing(tiles, order))
    module.verify()
    parse_module(str(module)).verify()
    return module


@pytest.mark.parametrize("n", (3, 16, 20, 32))
@pytest.mark.parametrize("constant", (False, True))
def test_pack_the_columns_of_a_matrix(n: int, constant: bool):
    case = matmul(5, n, 7, constant=constant)
    module = packed(case, 1, (0, 16), (1, 0))
    run_case(case, module)
    run_case(case, module, backwards=True)


def test_pack_weights_of_a_convolution():
    case = conv(1, 3, 4, 20, 3)
    module = packed(case, 1, (16, 0, 0, 0), (0, 2, 3, 1))
    run_case(case, module)


def test_pack_two_dimensions():
    case = matmul(5, 20, 7)
    run_case(case, packed(case, 1, (4, 16), (1, 0)))


def test_pack_an_operand_of_symbolic_size():
    case = matmul("M", 6, 7)
    module = packed(case, 0, (4, 0), (0, 1))
    for rows in (0, 1, 4, 9):
        run_case(case, module, {"M": rows})


def test_tiling_removes_the_divisions_of_packing():
    module = packed(matmul(12, 20, 7), 1, (0, 16), (1, 0))
    tile_loops([first(module, "s0_d0"), first(module, "s0_d1")], [6, 16], ["peel", "peel"])
    kernel = find_function(module, "k")
    assert "floordiv" not in str(kernel) and "mod" not in str(kernel)


def test_pack_refuses_outputs_and_other_ranks():
    module = parsed(matmul(5, 6, 7))
    kernel = find_function(module, "k")
    with pytest.raises(StepError, match="has 2 input buffers, there is no input 2"):
        pack_argument(module, kernel, 2, Packing((0, 16), (1, 0)))
    with pytest.raises(StepError, match="input 1 has 2 dimensions, the packing 1"):
        pack_argument(module, kernel, 1, Packing((16,), (0,)))


# Split


def test_split_removes_quotients():
    case = grouped(5, 3, 4, 6)
    module = parsed(case)
    outer, inner = split_loop(first(module, "s0_d1"), 6)
    module.verify()
    assert (outer.trip_count, inner.trip_count) == (3, 6)
    assert "floordiv" not in str(find_function(module, "k"))
    run_case(case, module)


def test_split_refuses_what_does_not_divide():
    module = parsed(add([20]))
    with pytest.raises(StepError, match="its number of iterations is 20, expected a multiple of 6"):
        split_loop(first(module, "s0_d0"), 6)
    module = parsed(add(["N"]))
    with pytest.raises(StepError, match="its number of iterations is not a known number"):
        split_loop(first(module, "s0_d0"), 6)


def test_pack_what_is_seen_through_a_view():
    case = grouped(5, 3, 4, 6)
    module = parsed(case)
    split_loop(first(module, "s0_d1"), 6)
    pack_argument(module, find_function(module, "k"), 1, Packing((0, 4, 0), (0, 1, 2)))
    module.verify()
    run_case(case, module)


def test_kernels_with_inputs_of_one_size_share_the_packing_kernel():
    module = parsed(matmul(5, 20, 7))
    kernel = find_function(module, "k")
    other = kernel.clone()
    other.sym_name = StringAttr("other")
    module.body.block.insert_op_after(other, kernel)
    first_made = pack_argument(module, kernel, 1, Packing((0, 16), (1, 0)))
    assert pack_argument(module, other, 1, Packing((0, 16), (1, 0))) is first_made
    assert pack_argument(module, other, 0, Packing((4, 0), (0, 1))) is not first_made
    module.verify()
