"""Files, bytes and weights: views instead of copies, and nothing read outside the model's folder."""

import os

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from aicc.frontends.onnx.wire import DamagedError, split_model
from tests.unit.frontends.onnx.helper import function, model, run_module

WEIGHT = np.arange(400, dtype=np.float32)


def add_model(weight=WEIGHT, name="w"):
    node = helper.make_node("Add", ["x", name], ["y"], "n")
    return model([node], {"x": (weight.dtype, weight.shape)}, ["y"], weights={name: weight})


def constants(module):
    return [op for op in function(module).body.block.ops if op.name == "graph.constant"]


def check(module, weight=WEIGHT):
    x = np.ones(weight.shape, weight.dtype)
    np.testing.assert_array_equal(run_module(module, {"x": x})[0], weight + x)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(add_model(), path)
    return path


def test_from_a_path_bytes_and_a_proto(saved):
    for source in (saved, str(saved), saved.read_bytes(), add_model()):
        check(import_onnx(source))


def test_weights_of_a_file_are_mapped_and_not_copied(saved):
    (weight,) = constants(import_onnx(saved))
    array = weight.array()
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    assert isinstance(array, memoryview) and not weight.array().flags.writeable


def test_the_file_may_change_hands(saved):
    module = import_onnx(saved)
    os.remove(saved)
    check(module)


def test_split_model_cuts_out_large_weights_only():
    data = add_model().SerializeToString()
    small = helper.make_tensor("s", TensorProto.FLOAT, [2], [1.0, 2.0])
    proto = add_model()
    proto.graph.initializer.append(small)
    split = split_model(memoryview(proto.SerializeToString()))
    assert set(split.weights) == {"w"} and bytes(split.weights["w"]) == WEIGHT.tobytes()
    assert len(split.skeleton) < 400
    rest = onnx.ModelProto.FromString(split.skeleton)
    assert [tensor.name for tensor in rest.graph.initializer] == ["w", "s"]
    for cut in (1, 10, len(data) // 2, len(data) - 1):
        with pytest.raises(DamagedError):
            split_model(memoryview(data)[:cut])


@pytest.mark.parametrize(
    "data, message",
    [
        (b"not a model", "not an ONNX model"),
        (b"", "holds no graph"),
        (b"\xff" * 40, "not an ONNX model"),
        (onnx.ModelProto(ir_version=8).SerializeToString(), "holds no graph"),
    ],
)
def test_bytes_that_are_no_model(data, message):
    with pytest.raises(ModelError, match=message):
        import_onnx(data)


def test_damaged_models_end_in_one_error():
    data = bytearray(add_model().SerializeToString())
    rng = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(data)
        if rng.random() < 0.3:
            damaged = damaged[: rng.integers(len(damaged))]
        for _ in range(rng.integers(1, 5)):
            if damaged:
                # The end of the model, where names and types are, and the start of it.
                place = (
                    int(rng.integers(len(damaged))) if rng.random() < 0.5 else -1 - int(rng.integers(40)) % len(damaged)
                )
                damaged[place] = rng.integers(256)
        try:
            import_onnx(bytes(damaged))
        except ModelError as error:
            assert "internal fault" not in str(error)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.onnx"):
        import_onnx(tmp_path / "nothing.onnx")
    with pytest.raises(IsADirectoryError):
        import_onnx(tmp_path)
    (tmp_path / "empty.onnx").touch()
    with pytest.raises(ModelError, match="the file is empty"):
        import_onnx(tmp_path / "empty.onnx")


DTYPES = [
    np.float16,
    np.float32,
    np.float64,
    ml_dtypes.bfloat16,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.bool_,
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("raw", [True, False])
def test_every_element_type_in_both_encodings(dtype, raw):
    values = np.array([[0, 1, 3], [7, 100, 2]]).astype(dtype)
    tensor = numpy_helper.from_array(values, "w")
    if not raw:
        kind = helper.np_dtype_to_tensor_dtype(values.dtype)
        tensor = helper.make_tensor("w", kind, values.shape, values.ravel().tolist())
    proto = model([], {}, ["w"])
    proto.graph.initializer.append(tensor)
    (result,) = run_module(import_onnx(proto), {})
    assert result.dtype == values.dtype
    np.testing.assert_array_equal(result, values)


@pytest.mark.parametrize(
    "tensor, message",
    [
        (TensorProto(name="w", data_type=1, dims=[4], raw_data=b"1234567"), "7 bytes of data, expected 16"),
        (TensorProto(name="w", data_type=1, dims=[4], float_data=[1.0]), "1 elements, expected 4"),
        (TensorProto(name="w", data_type=1, dims=[-4], raw_data=b""), "negative"),
        (TensorProto(name="w", data_type=8, dims=[1], string_data=[b"a"]), "element type string is not supported"),
        (TensorProto(name="w", data_type=1, dims=[1 << 40, 1 << 40], raw_data=b"1"), "1 bytes of data, expected"),
    ],
)
def test_tensors_that_are_wrong(tensor, message):
    proto = model([], {}, ["w"])
    proto.graph.initializer.append(tensor)
    with pytest.raises(ModelError, match=f"tensor 'w': .*{message}"):
        import_onnx(proto)


def external(location, offset=None, length=None, shape=(400,)):
    """`add_model` with its weight in another file."""
    proto = add_model()
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.dims[:] = shape
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return proto


def test_external_data(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "weights.bin").write_bytes(b"\0" * 4096 + WEIGHT.tobytes())
    path = tmp_path / "model.onnx"
    onnx.save(external("data/weights.bin", 4096, WEIGHT.nbytes), path)
    module = import_onnx(path)
    check(module)
    array = constants(module)[0].array()
    while array.base is not None and not isinstance(array, np.memmap):
        array = array.base
    assert isinstance(array, np.memmap)


def test_external_data_outside_the_folder(tmp_path):
    outside = tmp_path / "weights.bin"
    outside.write_bytes(WEIGHT.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path)
    (folder / "short.bin").write_bytes(b"1234")
    path = folder / "model.onnx"
    for proto, message in (
        (external(str(outside)), "must lie in the model's folder, found path"),
        (external("../weights.bin"), r"found '\.\.'"),
        (external("up/../../weights.bin"), r"found '\.\.'"),
        (external("..\\weights.bin"), r"found '\.\.'"),
        (external("C:\\weights.bin"), "found path"),
        (external("link.bin"), "found a link"),
        (external("up/weights.bin"), "found a link"),
        (external("missing.bin"), "cannot be read"),
        (external("."), "is not a file"),
        (external(""), "must lie in the model's folder"),
        (external("short.bin"), "bytes 0 to 1600 of 'short.bin' are wanted, but it has 4"),
        (external("short.bin", -4), "bytes -4 to"),
        (external("short.bin", length=4), "4 bytes of external data, expected 1600"),
        (external("short.bin", "zero"), "must be numbers"),
    ):
        onnx.save(proto, path)
        with pytest.raises(ModelError, match=message):
            import_onnx(path)
    with pytest.raises(ModelError, match="only be found for a model that is loaded from a file"):
        import_onnx(external("short.bin"))


PACKED = [
    (TensorProto.UINT4, ml_dtypes.uint4, 4),
    (TensorProto.INT4, ml_dtypes.int4, 4),
    (TensorProto.FLOAT4E2M1, ml_dtypes.float4_e2m1fn, 4),
    (TensorProto.UINT2, ml_dtypes.uint2, 2),
    (TensorProto.INT2, ml_dtypes.int2, 2),
]


@pytest.mark.parametrize("place", ["raw", "typed", "external"])
@pytest.mark.parametrize("data_type, dtype, bits", PACKED, ids=lambda value: getattr(value, "__name__", str(value)))
def test_several_elements_in_a_byte(data_type, dtype, bits, place, tmp_path):
    """Lowest bits first; 7 elements, so that the last byte is not full."""
    codes = np.array([1, 3, 0, 2, 3, 1, 2], np.uint8)
    packed = np.zeros(-(-7 * bits // 8), np.uint8)
    for i, code in enumerate(codes):
        packed[i * bits // 8] |= code << (i * bits % 8)
    tensor = TensorProto(name="w", data_type=data_type, dims=[7])
    match place:
        case "raw":
            tensor.raw_data = packed.tobytes()
        case "typed":
            tensor.int32_data.extend(packed.tolist())
        case "external":
            (tmp_path / "w.bin").write_bytes(b"12345678" + packed.tobytes())
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "w.bin"), ("offset", "8"), ("length", str(len(packed)))):
                tensor.external_data.add(key=key, value=value)
    made = model([helper.make_node("Cast", ["w"], ["y"], "n", to=TensorProto.FLOAT)], {}, ["y"])
    made.graph.initializer.append(tensor)
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    (found,) = run_module(import_onnx(tmp_path / "model.onnx"), {})
    np.testing.assert_array_equal(found, codes.view(dtype).astype(np.float32))


def test_floats_of_8_bits_in_typed_fields():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT8E5M2, dims=[2], int32_data=[0x3C, 0xC0])
    made = model([helper.make_node("Cast", ["w"], ["y"], "n", to=TensorProto.FLOAT)], {}, ["y"])
    made.graph.initializer.append(tensor)
    np.testing.assert_array_equal(run_module(import_onnx(made), {})[0], [1, -2])
