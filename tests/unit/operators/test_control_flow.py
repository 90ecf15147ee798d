"""`Loop` and `Scan` as compiled code, one compilation for all ways that a run may take."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import aicc
from aicc.runtime.errors import InputError, OutOfMemory
from aicc.tools.aicc_opt import main as aicc_opt
from tests.unit.frontends.onnx.helper import model
from tests.unit.operators.helper import check

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def graph(nodes, inputs, outputs):
    """A body; `inputs` and `outputs` are names with types and ranks."""
    infos = [
        [helper.make_tensor_value_info(name, kind, [None] * rank) for name, kind, rank in group]
        for group in (inputs, outputs)
    ]
    return helper.make_graph(nodes, "body", *infos)


def running_sums(**attributes):
    """A scan of two states (a sum and the slice before) over slices of `x` and `y`; gives sums and differences."""
    nodes = [
        node("Add", "s a", "t"),
        node("Sub", "a b", "d"),
        node("Identity", "t", "sums"),
        node("Identity", "a", "last"),
    ]
    names = [("s", F32, 2), ("p", F32, 2), ("a", F32, 2), ("b", F32, 2)]
    body = graph(nodes, names, [(name, F32, 2) for name in ("t", "last", "sums", "d")])
    scan = node("Scan", "s0 p0 x y", "end before sums differences", body=body, num_scan_inputs=2, **attributes)
    types = {"s0": (np.float32, ["A", "B"]), "p0": (np.float32, ["A", "B"])}
    types |= {"x": (np.float32, ["P", "Q", "R"]), "y": (np.float32, ["U", "V", "W"])}
    return model([scan], types, ["end", "before", "sums", "differences"])


@pytest.mark.parametrize("length", [4, 1, 0])
def test_scans_with_states_axes_and_directions(length):
    x = np.arange(2 * 3 * length, dtype=np.float32).reshape(2, 3, length)
    y = x.transpose(2, 0, 1)[::-1] * np.float32(0.5)
    s = np.ones((2, 3), np.float32)
    proto = running_sums(
        scan_input_axes=[2, 0],
        scan_input_directions=[1, 0],
        scan_output_axes=[1, -1],
        scan_output_directions=[0, 1],
    )
    slices = [x[:, :, i] for i in reversed(range(length))]
    sums, differences, total = [], [], s
    for i, part in enumerate(slices):
        total = total + part
        sums.append(total)
        differences.insert(0, part - y[i])
    empty = np.zeros((2, 3, 0), np.float32)
    expected = [
        total,
        slices[-1] if slices else s,
        np.stack(sums, 1) if sums else empty.reshape(2, 0, 3),
        np.stack(differences, 2) if sums else empty,
    ]
    check(proto, {"s0": s, "p0": s, "x": x, "y": np.ascontiguousarray(y)}, expected)


def test_a_scan_over_no_slices_of_known_number():
    body = graph([node("Neg", "a", "b")], [("a", F32, 1)], [("b", F32, 1)])
    scan = node("Scan", "x", "y", body=body, num_scan_inputs=1)
    proto = model([scan], {"x": (np.float32, [0, 3])}, ["y"])
    check(proto, {"x": np.zeros((0, 3), np.float32)}, [np.zeros((0, 3), np.float32)])


def test_slices_of_sizes_that_the_body_tells_from_the_last_to_the_first():
    nodes = [node("Range", "zero n one", "r"), node("Mul", "r a", "b")]
    body = graph(nodes, [("a", I64, 0)], [("b", I64, 1)])
    scan = node("Scan", "x", "y", body=body, num_scan_inputs=1, scan_output_directions=[1])
    weights = {"zero": np.array(0), "one": np.array(1)}
    proto = model([scan], {"x": (np.int64, ["N"]), "n": (np.int64, [])}, ["y"], weights=weights)
    x = np.array([3, 5, 7])
    for n in (4, 0):
        check(proto, {"x": x, "n": np.array(n)}, [np.outer(x[::-1], np.arange(n))])


def counting(nodes, carried, results, outputs, types, weights=None):
    """A loop of at most `trips` iterations while the body's `again` holds."""
    inputs = [("i", I64, 0), ("c", BOOL, 0), *carried]
    body = graph(nodes, inputs, [("again", BOOL, 0), *results])
    given = " ".join(f"{name}0" for name, _, _ in carried)
    names = helper.make_node("Loop", ["trips", "go", *given.split()], outputs.split(), body=body)
    scalars = {"trips": (np.int64, []), "go": (np.bool_, []), **types}
    return model([names], scalars, outputs.split(), weights=weights)


def test_numbers_of_iterations_and_conditions():
    """No iteration, one that ends at once, and slices whose number is known at the end only."""
    nodes = [node("Add", "s i", "t"), node("Less", "t limit", "again"), node("Identity", "t", "part")]
    types = {"s0": (np.int64, []), "limit": (np.int64, [])}
    proto = counting(nodes, [("s", I64, 0)], [("t", I64, 0), ("part", I64, 0)], "end parts", types)
    for trips, go, limit in ((5, True, 99), (9, True, 4), (0, True, 9), (3, False, 9), (-2, True, 9), (7, True, -1)):
        total, parts, again = 1, [], go
        for i in range(trips):
            if not again:
                break
            total += i
            parts.append(total)
            again = total < limit
        feeds = {"trips": np.array(trips), "go": np.array(go), "limit": np.array(limit), "s0": np.array(1)}
        check(proto, feeds, [np.array(total), np.array(parts, np.int64)])


def test_what_a_loop_appends_to_may_be_read_before_and_after():
    """The state is read by a view, appended to with parts of itself, and carried on twice."""
    nodes = [
        node("Reshape", "s row", "before"),
        node("Slice", "s zero two", "head"),
        node("Concat", "s head", "t", axis=0),
        node("ReduceSum", "before", "sum", keepdims=0),
        node("ReduceSum", "t", "after", keepdims=0),
        node("Add", "sum after", "part"),
        node("Identity", "s", "old"),
        node("Identity", "c", "again"),
    ]
    weights = {"row": np.array([1, -1]), "zero": np.array([0]), "two": np.array([2])}
    types = {"s0": (np.int64, ["N"]), "o0": (np.int64, ["N"])}
    carried, results = [("s", I64, 1), ("o", I64, 1)], [("t", I64, 1), ("old", I64, 1), ("part", I64, 0)]
    proto = counting(nodes, carried, results, "end old parts", types, weights)
    for trips in (0, 1, 40):
        state = old = np.array([3, -1, 4])
        parts = []
        for _ in range(trips):
            following = np.concatenate([state, state[:2]])
            parts.append(state.sum() + following.sum())
            state, old = following, state
        feeds = {"trips": np.array(trips), "go": np.array(True), "s0": np.array([3, -1, 4]), "o0": np.array([3, -1, 4])}
        check(proto, feeds, [state, old, np.array(parts, np.int64)])


@pytest.mark.parametrize("level", [0, 2])
def test_more_slices_than_memory_holds(level):
    """One error, and the next call is as any other."""
    nodes = [node("Identity", "c", "again"), node("Cast", "i", "part", to=F32)]
    body = graph(nodes, [("i", I64, 0), ("c", BOOL, 0)], [("again", BOOL, 0), ("part", F32, 0)])
    proto = model([helper.make_node("Loop", ["n", ""], ["y"], body=body)], {"n": (np.int64, [])}, ["y"])
    compiled = aicc.compile(proto, opt_level=level, threads=1)
    with pytest.raises(OutOfMemory, match=r"the model needs 131072.0 GiB of memory for a tensor whose size data tells"):
        compiled(np.array(1 << 45))
    with pytest.raises(InputError, match=r"trip count of node 'y' is \d+, expected at most"):
        compiled(np.array(1 << 62))
    for trips in (3, 0, -(1 << 63)):
        np.testing.assert_array_equal(compiled(np.array(trips))[0], np.arange(max(trips, 0), dtype=np.float32))


def test_a_size_of_a_loop_whose_result_is_not_read():
    """The loop runs for the size alone."""
    nodes = [node("Concat", "s s", "t", axis=0), node("Identity", "c", "again")]
    types = {"s0": (np.float32, ["N"])}
    proto = counting(nodes, [("s", F32, 1)], [("t", F32, 1)], "end", types)
    proto.graph.node.extend([node("Shape", "end", "size"), node("ConstantOfShape", "size", "zeros")])
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_value_info("zeros", onnx.TypeProto()))
    for trips in (0, 1, 3):
        feeds = {"trips": np.array(trips), "go": np.array(True), "s0": np.ones(3, np.float32)}
        check(proto, feeds, [np.zeros(3 * 2**trips, np.float32)])


def test_slices_that_nothing_reads():
    """A check of sizes goes with the loop that it is about."""
    nodes = [node("Range", "zero n one", "r"), node("Identity", "c", "again")]
    types = {"n": (np.int64, [])}
    proto = counting(nodes, [], [("r", I64, 1)], "parts", types, {"zero": np.array(0), "one": np.array(1)})
    proto.graph.node.append(node("Neg", "n", "y"))
    proto.graph.output[0].name = "y"
    feeds = {"trips": np.array(3), "go": np.array(True), "n": np.array(2)}
    check(proto, feeds, [np.array(-2)])


def test_known_sizes_of_slices_where_there_is_none():
    nodes = [node("Range", "zero i one", "r"), node("Unsqueeze", "r axis", "u"), node("Expand", "u shape", "e")]
    nodes.append(node("Identity", "c", "again"))
    weights = {"zero": np.array(0), "one": np.array(1), "axis": np.array([1]), "shape": np.array([1, 5])}
    proto = counting(nodes, [], [("e", I64, 2)], "parts", {}, weights)
    check(proto, {"trips": np.array(0), "go": np.array(True)}, [np.zeros((0, 0, 5), np.int64)])


ONE_MORE = """
func.func @main(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<?xf32, #graph.dims<s>> {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %i, %y = graph.while %zero, %x {symbols = ["s"], initial = #graph.shape<1>, following = #graph.shape<s+1>} while {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf32, #graph.dims<s>>):
    %more = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf32, #graph.dims<s>>):
    %next = graph.add %i, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    %z = graph.concat %y, %x {axis = 0}
      : tensor<?xf32, #graph.dims<s>>, tensor<1xf32> -> tensor<?xf32, #graph.dims<s+1>>
    graph.yield %next, %z : tensor<i64>, tensor<?xf32, #graph.dims<s+1>>
  } : tensor<i64>, tensor<1xf32>
  func.return %y : tensor<?xf32, #graph.dims<s>>
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_every_level_is_valid_where_a_size_is_one_more_each_time(level, tmp_path):
    path = tmp_path / "more.mlir"
    path.write_text(ONE_MORE)
    assert aicc_opt([str(path), level, "--verify-each", "-o", str(tmp_path / "out.mlir")]) == 0
