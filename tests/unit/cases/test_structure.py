"""Names and shapes of graphs, movement of elements, indices, sizes that only run time knows, loops."""

import numpy as np
from onnx import helper

from tests.unit.cases.case import (
    F32,
    F64,
    I32,
    I64,
    LARGEST,
    SMALLEST,
    U8,
    Case,
    array,
    cases,
    check,
    node,
    one,
)

X34 = np.arange(12, dtype=F32).reshape(3, 4)
V12 = np.arange(12, dtype=F32)

GRAPHS = [
    Case(
        "an initializer as output",
        [node("Relu", "x")],
        {"x": array([-1.0, 2])},
        {"w": array([[1.0, 2], [3, 4]]), "y": array([0.0, 2])},
        weights={"w": array([[1.0, 2], [3, 4]])},
    ),
    Case(
        "a large initializer as output",
        [node("Relu", "x")],
        {"x": array([-1.0, 2])},
        {"w": np.arange(999, dtype=F64), "y": array([0.0, 2])},
        weights={"w": np.arange(999, dtype=F64)},
    ),
    Case(
        "an input as output",
        [node("Constant", "", "k", value_int=3)],
        {"x": array(5.0)},
        {"k": array(3, I64), "x": array(5.0)},
        opset=18,
    ),
    Case(
        "one value twice",
        [node("Neg", "x", "a"), node("Identity", "a", "b"), node("Identity", "a", "c")],
        {"x": X34},
        {"a": -X34, "b": -X34, "c": -X34},
    ),
    Case(
        "an input, changed and not",
        [node("Identity", "x", "a"), node("Neg", "x", "b")],
        {"x": X34},
        {"a": X34, "b": -X34},
        shapes={"x": ["N", 4]},
    ),
    Case(
        "outputs nobody reads",
        [
            node("TopK", "x k", "v i"),
            node("Split", "x s", "a p", axis=0),
            node("Dropout", "a", "d -"),
            node("Sin", "x", "dead"),
        ],
        {"x": array([3.0, 1, 2])},
        {"i": array([0, 2], I64), "d": array([3.0])},
        opset=13,
        weights={"k": array([2], I64), "s": array([1, 2], I64)},
    ),
    Case(
        "outputs without names",
        [node("Split", "x", "- b -", axis=0)],
        {"x": array([3.0, 1, 2])},
        {"b": array([1.0])},
        opset=13,
    ),
    Case(
        "odd names",
        [
            helper.make_node("Add", ["输入/α:0", "layer.1-weight;é"], ["10"]),
            helper.make_node("Neg", ["10"], ['out put"\\']),
        ],
        {"输入/α:0": array([1.0, 2])},
        {'out put"\\': array([-2.0, -4])},
        weights={"layer.1-weight;é": array([1.0, 2])},
    ),
    Case(
        "names that differ in what IR cannot write",
        [helper.make_node("Neg", ["a.b"], ["a:b"]), helper.make_node("Add", ["a:b", "a/b"], ["a b"])],
        {"a.b": array([1.0]), "a/b": array([5.0])},
        {"a b": array([4.0])},
    ),
    Case("odd names of sizes", [node("Neg", "x")], {"x": X34}, {"y": -X34}, shapes={"x": ["größe/0", "unk__1 + 2"]}),
    Case(
        "nodes in any order",
        [node("Neg", "b"), node("Exp", "a", "b"), node("Relu", "x", "a")],
        {"x": array([-1.0, 0.0])},
        {"y": array([-1.0, -1.0])},
    ),
    Case(
        "no inputs at all",
        [node("Constant", "", "a", value_floats=[1.0, 2.0]), node("Neg", "a")],
        {},
        {"y": array([-1.0, -2.0])},
    ),
    Case(
        "a large constant table",
        [node("Gather", "t i")],
        {"i": array([0, 262143, -1], I64)},
        {"y": array([0, 65535.75, 65535.75])},
        weights={"t": (np.arange(262144) / 4).astype(F32)},
    ),
    Case(
        "constant operators only",
        [node("Add", "a b"), node("Neg", "x", "z")],
        {"x": array([1.0])},
        {"y": array([3.0]), "z": array([-1.0])},
        weights={"a": array([1.0]), "b": array([2.0])},
    ),
]


@cases(*GRAPHS)
def test_graphs(case: Case, level: int):
    check(case, level)


def slicing(
    name: str, x: np.ndarray, start: int, end: int, step: int, expected: np.ndarray, run_time: bool = False
) -> Case:
    inputs = [x, array([start], I64), array([end], I64), array([0], I64), array([step], I64)]
    return one("Slice", inputs, expected, name=f"slice {name}", opset=13, constant=(3, 4) if run_time else (1, 2, 3, 4))


MOVEMENT = [
    slicing(
        "backwards to the very start",
        array([[1, 2], [3, 4], [5, 6]], I64),
        -1,
        SMALLEST,
        -1,
        array([[5, 6], [3, 4], [1, 2]], I64),
    ),
    slicing("backwards without elements", V12, 2, 7, -2, V12[:0]),
    slicing("past both ends", V12, -100, 100, 5, V12[::5]),
    slicing("beyond the end", V12, 12, LARGEST, 1, V12[:0]),
    slicing("backwards from beyond", V12, LARGEST, -13, -3, V12[::-3]),
    slicing("step of the largest number", V12, 0, LARGEST, LARGEST, V12[:1]),
    slicing("step of the smallest number", V12, -1, SMALLEST, SMALLEST, V12[-1:]),
    slicing("of nothing", V12[:0], 0, LARGEST, 1, V12[:0]),
    *(
        slicing(f"by a run-time start {start}", V12, start, LARGEST, 1, V12[start:], run_time=True)
        for start in (-3, 2, 12, -100)
    ),
    *(slicing(f"by a run-time end {end}", V12, 1, end, 1, V12[1:end], run_time=True) for end in (-3, 1, 100)),
    Case(
        "slice by a run-time start of open sizes",
        [node("Slice", "x st en ax")],
        {"x": np.arange(15, dtype=F32).reshape(5, 3), "st": array([-2], I64)},
        {"y": np.arange(9, 15, dtype=F32).reshape(2, 3)},
        weights={"en": array([LARGEST], I64), "ax": array([0], I64)},
        shapes={"x": ["N", 3]},
    ),
    Case(
        "reshape chain that keeps zeros",
        [node("Reshape", "x a", "t"), node("Reshape", "t b", allowzero=1)],
        {"x": np.zeros((0, 9, 2), F32)},
        {"y": np.zeros((0, 0, 5), F32)},
        opset=18,
        weights={"a": array([3, 6, -1], I64), "b": array([0, 0, 5], I64)},
    ),
    one(
        "Reshape",
        [np.zeros((0, 3), F32), array([0, -1], I64)],
        np.zeros((0, 3), F32),
        name="0 stands for the size",
        constant=(1,),
    ),
    one("Reshape", [X34, array([0, 2, -1], I64)], X34.reshape(3, 2, 2), name="0 and -1", constant=(1,)),
    Case(
        "reshape by a shape",
        [node("Shape", "s", "t"), node("Reshape", "x t")],
        {"x": X34, "s": np.zeros((2, 6), F32)},
        {"y": X34.reshape(2, 6)},
        shapes={"s": ["A", "B"]},
    ),
    one("Shape", [np.zeros((2, 3, 4), F32)], array([3, 4], I64), name="Shape from", opset=15, start=1),
    one("Shape", [np.zeros((2, 3, 4), F32)], array([3], I64), name="Shape negative", opset=15, start=-2, end=-1),
    one("Shape", [np.zeros((2, 3, 4), F32)], array([], I64), name="Shape without elements", opset=15, start=2, end=1),
    one(
        "Shape",
        [np.zeros((2, 3, 4), F32)],
        array([2, 3, 4], I64),
        name="Shape past both ends",
        opset=15,
        start=-9,
        end=9,
        open_sizes=True,
    ),
    Case(
        "gather by a shape",
        [node("Shape", "s", "i"), node("Gather", "d i")],
        {"d": array([10.0, 11, 12, 13]), "s": np.zeros((2, 3), F32)},
        {"y": array([12.0, 13])},
    ),
    one("Gather", [X34, array([-1, 0, -3], I64)], X34[[2, 0, 0]], name="Gather negative", axis=0),
    one("Gather", [X34, array([-1, 0], I32)], X34[:, [3, 0]], name="Gather negative i32", axis=-1, open_sizes=True),
    one("Gather", [X34, array(-2, I64)], X34[1], name="Gather scalar", axis=0),
    one("Gather", [X34, np.zeros((0, 2), I64)], np.zeros((0, 2, 4), F32), name="Gather nothing", axis=0),
    one(
        "GatherElements",
        [X34, array([[-1, 0, -4, 2]] * 3, I64)],
        X34[:, [3, 0, 0, 2]],
        name="GatherElements negative",
        axis=1,
    ),
    one("GatherND", [X34, array([[-1, -1], [0, -4]], I64)], array([11.0, 0]), name="GatherND negative"),
    one("GatherND", [X34, array([[-1], [1]], I64)], X34[[2, 1]], name="GatherND rows"),
    one(
        "ScatterElements",
        [X34, array([[-1, -4]], I64), array([[50.0, 60]])],
        np.array([[60, 1, 2, 50], *X34[1:]], F32),
        name="ScatterElements negative",
        axis=1,
    ),
    one(
        "ScatterND",
        [V12, array([[-1], [1]], I64), array([50.0, 60])],
        np.r_[0, 60, V12[2:11], 50].astype(F32),
        name="ScatterND negative",
    ),
    one(
        "ScatterElements",
        [array([0.0, 0]), array([1, 1, 1], I64), array([1.0, 2, 4])],
        array([0.0, 7]),
        name="ScatterElements adds duplicates",
        opset=18,
        axis=0,
        reduction="add",
    ),
    one(
        "ScatterND",
        [array([1.0, 1]), array([[0], [0]], I64), array([3.0, 4])],
        array([12.0, 1]),
        name="ScatterND multiplies duplicates",
        opset=18,
        reduction="mul",
    ),
    one(
        "DepthToSpace",
        [np.arange(72, dtype=F32).reshape(1, 18, 2, 2)],
        np.arange(72, dtype=F32).reshape(1, 2, 3, 3, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 6, 6),
        name="DepthToSpace CRD 3",
        blocksize=3,
        mode="CRD",
    ),
    one(
        "DepthToSpace",
        [np.arange(72, dtype=F32).reshape(1, 18, 2, 2)],
        np.arange(72, dtype=F32).reshape(1, 3, 3, 2, 2, 2).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 6, 6),
        name="DepthToSpace DCR 3",
        blocksize=3,
    ),
    one("Transpose", [X34], X34, name="identity transpose", perm=[0, 1]),
    one("Transpose", [X34], X34.T, name="default transpose", open_sizes=True),
    one("Concat", [X34, X34[:0], X34[:1]], np.concatenate([X34, X34[:1]]), name="Concat with nothing", axis=0),
    one("Concat", [X34, X34], np.concatenate([X34, X34], 1), name="Concat negative", axis=-1, open_sizes=False),
    one(
        "Split",
        [array([1.0, 2, 3]), array([0, 3, 0], I64)],
        array([]),
        array([1.0, 2, 3]),
        array([]),
        name="Split with nothing",
        opset=13,
        constant=(1,),
        axis=0,
    ),
    one("Tile", [array([[1.0, 2]]), array([2, 0], I64)], np.zeros((2, 0), F32), name="Tile by 0", constant=(1,)),
    one(
        "Expand",
        [array([[1.0], [2]]), array([3, 1, 2], I64)],
        np.broadcast_to(array([[1.0], [2]]), (3, 2, 2)).copy(),
        name="Expand both ways",
        constant=(1,),
    ),
    one(
        "Pad",
        [X34, array([0, -1, 0, 1], I64), array(9.0)],
        np.pad(X34[:, 1:], ((0, 0), (0, 1)), constant_values=9),
        name="Pad that cuts",
        constant=(1, 2),
    ),
    one(
        "Pad",
        [array([1.0, 2, 3]), array([2, 2], I64)],
        array([3.0, 2, 1, 2, 3, 2, 1]),
        name="Pad reflected",
        constant=(1,),
        mode="reflect",
    ),
    one("CumSum", [X34, array(1, I32)], X34.cumsum(1, dtype=F32), name="CumSum by a run-time axis", opset=14),
    one("CumSum", [X34, array(-2, I32)], X34.cumsum(0, dtype=F32), name="CumSum by a negative run-time axis", opset=14),
    one(
        "TopK",
        [array([[1.0, 3, 3, 2], [5, 5, 5, 5]]), array([2], I64)],
        array([[3.0, 3], [5, 5]]),
        array([[1, 2], [0, 1]], I64),
        name="TopK ties",
        constant=(1,),
        axis=1,
    ),
    one(
        "TopK",
        [array([[1.0, 3, 1, 2]]), array([3], I64)],
        array([[1.0, 1, 2]]),
        array([[0, 2, 3]], I64),
        name="TopK smallest",
        constant=(1,),
        axis=1,
        largest=0,
    ),
    one(
        "TopK",
        [array([[1, 3, 1], [2, 3, 9]], I64), array([1], I64)],
        array([[2, 3, 9]], I64),
        array([[1, 0, 1]], I64),
        name="TopK of another axis",
        constant=(1,),
        axis=0,
    ),
    one("NonZero", [array([[1.0, 0], [0, 2]])], array([[0, 1], [0, 1]], I64)),
    one("NonZero", [np.zeros((2, 2), U8)], np.zeros((2, 0), I64), name="NonZero of nothing"),
    one("Compress", [X34, array([False, True, True], bool)], X34[1:], axis=0),
    one(
        "OneHot",
        [array([0, -1, 5], I64), array(3, I64), array([2.0, 7.0])],
        array([[7.0, 2, 2], [2, 2, 7], [2, 2, 2]]),
        constant=(1,),
    ),
    one(
        "Einsum",
        [array([[[1.0, 2, 3], [4, 5, 6]]] * 2), array([[[1.0, 0], [0, 1], [1, 1]]])],
        array([[[4.0, 5], [10, 11]]] * 2),
        name="Einsum ellipsis",
        opset=12,
        equation="...ij,...jk->...ik",
    ),
    one(
        "Einsum",
        [array([[1.0, 2]]), array([[3.0], [4]])],
        array([[11.0]]),
        name="Einsum implicit",
        opset=12,
        equation="ij,jk",
    ),
    one(
        "Einsum",
        [array([[1.0, 2], [3, 4]])],
        array([[1.0, 3], [2, 4]]),
        name="Einsum implicit sorts",
        opset=12,
        equation="ba",
    ),
    one(
        "Einsum",
        [array([[1.0, 2], [3, 4]]), array([[1.0, 1]])],
        array([[3.0, 3], [7, 7]]),
        name="Einsum sums what one operand has alone",
        opset=12,
        equation="ij,kl->il",
    ),
]


@cases(*MOVEMENT)
def test_movement(case: Case, level: int):
    check(case, level)


SIZES_FROM_DATA = [
    one("ConstantOfShape", [array([2, 3], I64)], np.zeros((2, 3), F32), name="ConstantOfShape by default", opset=9),
    one(
        "ConstantOfShape", [array([0, 3], I64)], np.zeros((0, 3), F32), name="ConstantOfShape without elements", opset=9
    ),
    one(
        "Range",
        [array(1, I64), array(8, I64), array(3, I64)],
        array([1, 4, 7], I64),
        name="Range of constants",
        opset=11,
        constant=(0, 1, 2),
    ),
    one("Tile", [array([[1.0, 2]]), array([2, 2], I64)], array([[1.0, 2, 1, 2]] * 2), name="Tile by run-time repeats"),
    one(
        "Expand",
        [array([[1.0], [2]]), array([2, 3], I64)],
        array([[1.0] * 3, [2.0] * 3]),
        name="Expand by run-time sizes",
    ),
]


@cases(*SIZES_FROM_DATA)
def test_sizes_that_data_tells(case: Case, level: int):
    check(case, level)


RUN_TIME_STEPS = [
    *(
        one(
            "Range",
            [array(a, I64), array(b, I64), array(c, I64)],
            np.arange(a, b, c, dtype=I64),
            name=f"Range {a} {b} {c}",
            opset=11,
        )
        for a, b, c in (
            ((1 << 53) + 1, (1 << 53) + 7, 2),
            (5, 0, -2),
            (3, 3, 1),
            (3, 0, 1),
            (-(1 << 62), -(1 << 62) + 3, 1),
        )
    ),
]


@cases(*RUN_TIME_STEPS)
def test_steps_that_data_tells(case: Case, level: int):
    check(case, level)


RUN_TIME_SHAPES = [
    one("Reshape", [X34, array([6, -1], I64)], X34.reshape(6, 2), name="Reshape by run-time sizes"),
]


@cases(*RUN_TIME_SHAPES)
def test_shapes_that_data_tells(case: Case, level: int):
    check(case, level)


def loop(stop: int | None) -> list:
    """`v = v + outer * i`, kept in each iteration; stops after iteration `stop`."""
    nodes = [
        node("Cast", "i", "f", to=1),
        node("Mul", "outer f", "p"),
        node("Add", "v_in p", "v_out"),
        node("Identity", "v_out", "kept"),
        node("Identity", "i", "number"),
    ]
    if stop is None:
        nodes.append(node("Identity", "c_in", "c_out"))
    else:
        nodes += [node("Constant", "", "last", value_int=stop), node("Less", "i last", "c_out")]
    infos = [("i", 7, []), ("c_in", 9, []), ("v_in", 1, [2])]
    body = helper.make_graph(
        nodes,
        "body",
        [helper.make_tensor_value_info(*info) for info in infos],
        [helper.make_empty_tensor_value_info(name) for name in ("c_out", "v_out", "kept", "number")],
    )
    return [node("Loop", "M - v", "f_last s k", body=body)]


def loop_case(name: str, trips: int, ran: int, constant: bool = False, stop: int | None = None) -> Case:
    v, outer = array([1.0, 2]), array([0.5, -1])
    kept = [v]
    for i in range(ran):
        kept.append((kept[-1] + outer * F32(i)).astype(F32))
    rows = np.stack(kept[1:]) if ran else np.zeros((0, 2), F32)
    feeds = {"v": v, "outer": outer}
    weights = {}
    (weights if constant else feeds)["M"] = array(trips, I64)
    expected = {"f_last": kept[-1], "s": rows, "k": np.arange(ran, dtype=I64)}
    return Case(name, loop(stop), feeds, expected, opset=16, weights=weights)


RUN_TIME_LOOPS = [
    loop_case("captures and the iteration number", 3, 3),
    loop_case("no iterations", 0, 0),
    loop_case("a negative number of iterations", -2, 0),
    loop_case("one iteration", 1, 1),
    loop_case("stopped by its condition", 9, 3, stop=2),
    loop_case("stopped by its condition at once", 9, 1, stop=0),
]


@cases(*RUN_TIME_LOOPS)
def test_loops_of_run_time_length(case: Case, level: int):
    check(case, level)


LOOPS = [
    loop_case("a constant number of iterations", 3, 3, constant=True),
    loop_case("a constant number of no iterations", 0, 0, constant=True),
]


@cases(*LOOPS)
def test_loops(case: Case, level: int):
    check(case, level)
