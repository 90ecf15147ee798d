"""Symbolic sizes: what a model computes from shapes becomes sizes, not ops."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.symbol_names import UnknownSymbolError
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import function, model, names, run, run_module, run_op

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def constant(name, value, dtype=np.int64):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, dtype)))


def op_names(module):
    return [op.name for op in function(module).body.block.ops]


def input_dims(module):
    return [tuple(map(str, dims_of(type))) for type in function(module).function_type.inputs.data]


def test_sizes_are_symbols_of_the_same_name():
    proto = model(
        [node("Concat", "x y", "z", axis=0)],
        {"x": (np.float32, ["N", 3]), "y": (np.float32, ["batch size", 3])},
        ["z"],
    )
    module = import_onnx(proto)
    assert input_dims(module) == [("N", "3"), ("`batch size`", "3")]
    assert str(dims_of(function(module).function_type.outputs.data[0])[0]) == "N+`batch size`"
    fixed = import_onnx(proto, shapes={"N": 2, "batch size": 5})
    assert input_dims(fixed) == [("2", "3"), ("5", "3")]


def test_sizes_without_a_name_are_called_after_the_input():
    proto = model([node("Relu", "x", "y")], {"x": (np.float32, [None, 3, None])}, ["y"])
    proto.graph.input[0].type.tensor_type.shape.dim[2].dim_value = -1
    assert input_dims(import_onnx(proto)) == [("x_d0", "3", "x_d2")]
    assert input_dims(import_onnx(proto, shapes={"x_d2": 4})) == [("x_d0", "3", "4")]
    taken = model([node("Relu", "x", "y")], {"x": (np.float32, [None, "x_d0"])}, ["y"])
    assert input_dims(import_onnx(taken)) == [("x_d0_", "x_d0")]
    unknown = model([node("Relu", "x", "y")], {"x": (np.float32, ["?", "?"])}, ["y"])
    assert input_dims(import_onnx(unknown)) == [("x_d0", "x_d1")]


def test_sizes_that_the_model_does_not_have():
    proto = model([node("Relu", "x", "y")], {"x": (np.float32, ["batch", 3])}, ["y"])
    with pytest.raises(UnknownSymbolError, match="no symbol 'bacth'; did you mean 'batch'"):
        import_onnx(proto, shapes={"bacth": 2})
    with pytest.raises(ModelError, match="negative"):
        import_onnx(proto, shapes={"batch": -2})


def test_shape_start_and_end():
    assert run_op("Shape", [X], symbolic=True)[0].tolist() == [2, 3, 4]
    assert run_op("Shape", [X], start=1)[0].tolist() == [3, 4]
    assert run_op("Shape", [X], start=-2, end=-1, symbolic=True)[0].tolist() == [3]
    assert run_op("Shape", [X], start=2, end=1)[0].tolist() == []
    size = run_op("Size", [X], symbolic=True)[0]
    assert size == 24 and size.dtype == np.int64 and size.shape == ()


RESHAPE_CHAIN = [
    node("Shape", "x", "s"),
    constant("zero", 0),
    constant("one", 1),
    node("Gather", "s zero", "n"),
    node("Gather", "s one", "m"),
    constant("axis", [0]),
    node("Unsqueeze", "n axis", "n1"),
    node("Mul", "m two", "m2"),
    constant("two", 2),
    node("Div", "m2 two", "back"),
    node("Unsqueeze", "back axis", "m1"),
    constant("parts", [2, -1]),
    node("Concat", "n1 m1 parts", "shape", axis=0),
    node("Reshape", "x shape", "y"),
]


def test_a_chain_of_shape_arithmetic_makes_no_ops():
    proto = model(RESHAPE_CHAIN, {"x": (np.float32, ["N", "M", 4])}, ["y"])
    module = import_onnx(proto)
    assert op_names(module) == ["graph.reshape", "func.return"]
    (result,) = run_module(module, {"x": X})
    np.testing.assert_array_equal(result, X.reshape(2, 3, 2, 2))


def test_expand_as_torch_exports_it():
    """`Where(Equal(shape, -1), ones, shape)`: a size is never -1."""
    nodes = [
        node("Shape", "x", "s"),
        constant("length", [2]),
        node("ConstantOfShape", "length", "ones", value=numpy_helper.from_array(np.array([1], np.int64))),
        constant("minus", -1),
        node("Mul", "ones minus", "marks"),
        node("Equal", "s marks", "is_mark"),
        node("Where", "is_mark ones s", "target"),
        node("Expand", "row target", "y"),
    ]
    proto = model(nodes, {"x": (np.float32, ["N", "M"]), "row": (np.float32, [1, "M"])}, ["y"])
    module = import_onnx(proto)
    assert op_names(module) == ["graph.expand", "func.return"]
    row = np.float32([[1, 2, 3]])
    (result,) = run_module(module, {"x": X[0, :2, :3], "row": row})
    np.testing.assert_array_equal(result, np.broadcast_to(row, (2, 3)))


def test_positions_by_range_and_slice():
    nodes = [
        node("Shape", "x", "s"),
        constant("one", 1),
        node("Gather", "s one", "m"),
        constant("zero", 0),
        node("Range", "zero m one", "positions"),
        node("Unsqueeze", "m axis", "end"),
        constant("axis", [0]),
        constant("start", [0]),
        node("Slice", "table start end axis", "rows"),
        node("Gather", "rows positions", "y"),
    ]
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    proto = model(nodes, {"x": (np.float32, ["N", "M"])}, ["positions", "y"], weights={"table": table})
    positions, rows = run(proto, {"x": X[0, :2]})
    assert positions.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(rows, table[:4])


ARITHMETIC = [
    ("Add", [2, 5]),
    ("Sub", [-2, -1]),
    ("Mul", [0, 6]),
    ("Min", [0, 2]),
    ("Max", [2, 3]),
]


@pytest.mark.parametrize("op, expected", ARITHMETIC)
def test_sizes_that_are_read_as_a_tensor(op, expected):
    nodes = [node("Shape", "x", "s"), constant("other", [0, 2]), node(op, "s other", "t")]
    nodes.append(node("Add", "t data", "y"))
    nodes[2].input[:] = ["other", "s"] if op == "Sub" else ["s", "other"]
    proto = model(nodes, {"x": (np.float32, ["N", "M"]), "data": (np.int64, [2])}, ["y"])
    module = import_onnx(proto)
    assert "graph.sizes" in op_names(module)
    (result,) = run_module(module, {"x": X[0, :2, :3], "data": np.array([100, 0])})
    assert result.tolist() == [100 + expected[0], expected[1]]


def test_a_size_as_i32_scalar():
    nodes = [
        node("Shape", "x", "s"),
        constant("zero", 0),
        node("Gather", "s zero", "n"),
        node("Cast", "n", "n32", to=TensorProto.INT32),
        node("Mul", "n32 data", "y"),
    ]
    proto = model(nodes, {"x": (np.float32, ["N"]), "data": (np.int32, [2])}, ["y", "n"])
    product, size = run(proto, {"x": np.zeros(7, np.float32), "data": np.array([1, 3], np.int32)})
    assert product.tolist() == [7, 21] and product.dtype == np.int32
    assert size == 7 and size.shape == () and size.dtype == np.int64


@pytest.mark.parametrize(
    "op, attributes, expected",
    [
        ("ReduceProd", {"keepdims": 0}, 6),
        ("ReduceSum", {"keepdims": 0}, 5),
        ("ReduceMax", {"keepdims": 0}, 3),
        ("ReduceMin", {"keepdims": 0}, 2),
    ],
)
def test_reductions_of_shapes(op, attributes, expected):
    nodes = [node("Shape", "x", "s"), node(op, "s", "total", **attributes), node("Unsqueeze", "total axis", "n")]
    nodes += [constant("axis", [0]), node("ConstantOfShape", "n", "y")]
    (result,) = run(model(nodes, {"x": (np.float32, ["N", "M"])}, ["y"]), {"x": X[0, :2, :3]})
    np.testing.assert_array_equal(result, np.zeros(expected, np.float32))


def test_a_comparison_of_sizes_that_depends_on_them_is_computed():
    nodes = [node("Shape", "x", "s"), constant("bound", 2), node("Greater", "s bound", "y")]
    proto = model(nodes, {"x": (np.float32, ["N", "M"])}, ["y"])
    assert run(proto, {"x": X[0, :2, :3]})[0].tolist() == [False, True]


def test_division_that_may_be_of_negative_numbers_is_computed():
    nodes = [node("Shape", "x", "s"), constant("five", 5), node("Sub", "s five", "t"), constant("two", 2)]
    nodes.append(node("Div", "t two", "y"))
    proto = model(nodes, {"x": (np.float32, ["N", "M"])}, ["y"])
    # Towards zero, as integers are divided.
    assert run(proto, {"x": np.zeros((2, 9), np.float32)})[0].tolist() == [-1, 2]


def test_small_constants_are_computed():
    nodes = [constant("a", [1.0, 2.0], np.float32), constant("b", 3.0, np.float32), node("Mul", "a b", "c")]
    nodes += [node("Sqrt", "c", "d"), node("Add", "x d", "y")]
    module = import_onnx(model(nodes, {"x": (np.float32, [2])}, ["y"]))
    assert op_names(module) == ["graph.constant", "graph.add", "func.return"]
    (result,) = run_module(module, {"x": np.zeros(2, np.float32)})
    np.testing.assert_allclose(result, np.sqrt([3, 6]), rtol=1e-6)


@pytest.mark.parametrize(
    "attributes, expected",
    [
        ({"value": numpy_helper.from_array(np.array([[1, 2]], np.int8))}, np.array([[1, 2]], np.int8)),
        ({"value_float": 2.5}, np.float32(2.5)),
        ({"value_floats": [1.0, 2.0]}, np.float32([1, 2])),
        ({"value_int": -3}, np.int64(-3)),
        ({"value_ints": [4, 5]}, np.int64([4, 5])),
    ],
)
def test_constant(attributes, expected):
    (result,) = run_op("Constant", [], **attributes)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)


def test_constant_refuses_strings():
    with pytest.raises(ModelError, match="no value of a supported kind"):
        run_op("Constant", [], value_string="a")


def test_constant_of_shape_takes_no_memory():
    fill = numpy_helper.from_array(np.array([0.5], np.float32))
    shape = np.array([1 << 20, 1 << 10], np.int64)
    nodes = [node("ConstantOfShape", "shape", "w", value=fill), constant("i", [7]), node("Gather", "w i", "y")]
    module = import_onnx(model(nodes, {}, ["y"], weights={"shape": shape}))
    (weight,) = [op for op in function(module).body.block.ops if op.name == "graph.constant"]
    assert not any(weight.array().strides)  # pyright: ignore
    (result,) = run_module(module, {})
    np.testing.assert_array_equal(result, np.full((1, 1024), 0.5, np.float32))


@pytest.mark.parametrize(
    "start, limit, delta, dtype",
    [(3, 9, 3, np.int64), (10, 4, -2, np.int32), (0, 0, 1, np.int64), (1.0, 2.2, 0.25, np.float32)],
)
def test_range(start, limit, delta, dtype):
    operands = [np.array(value, dtype) for value in (start, limit, delta)]
    (result,) = run_op("Range", operands, constant=range(3))
    assert result.dtype == dtype
    np.testing.assert_allclose(result, np.arange(start, limit, delta), rtol=1e-6)


def test_names_of_inputs_and_outputs():
    proto = model([node("Relu", "in/put:0", "10")], {"in/put:0": (np.float32, [2])}, ["10"])
    main = function(import_onnx(proto))
    assert names(main.arg_attrs) == ["in/put:0"]
    assert names(main.res_attrs) == ["10"]
