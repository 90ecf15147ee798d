"""Weights: not copied, not printed, saved and read; files that are damaged or elsewhere are refused."""

import json
import struct

import numpy as np
import pytest
from safetensors import safe_open
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.buffers import (
    DENSE_LIMIT,
    Buffer,
    BufferAttr,
    array_to_constant_attr,
    attribute_array,
    dense_attr,
    inline_constants,
    save_buffers,
    search_folder,
)
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import tensor_type
from aicc.dialects.graph.dtypes import element_type, numpy_dtype
from aicc.dialects.graph.safetensors_file import read_tensor, write_tensors
from aicc.lowering.parse import parse_module
from tests.unit.graph.helpers import BF16, FLOATS, INTEGERS, assert_same, specials

DTYPES = [*FLOATS, *INTEGERS, np.dtype(np.bool_)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_and_element_types_go_both_ways(dtype):
    assert numpy_dtype(element_type(dtype)) == dtype
    values = specials(dtype)
    attr = dense_attr(values)
    assert_same(attribute_array(attr, attr.type), values)


def test_complex_numbers_have_no_element_type():
    with pytest.raises(TypeError, match="complex64"):
        element_type(np.dtype(np.complex64))


def test_small_arrays_are_spelt_out_and_large_ones_are_not():
    assert not isinstance(array_to_constant_attr(np.zeros(DENSE_LIMIT), "w"), BufferAttr)
    assert isinstance(array_to_constant_attr(np.zeros(DENSE_LIMIT + 1), "w"), BufferAttr)


def test_a_buffer_is_a_read_only_view():
    array = np.zeros(100, np.float32)
    buffer = Buffer("w", array)
    assert buffer.array().base is array
    with pytest.raises(ValueError, match="read-only"):
        buffer.array()[0] = 1


def test_buffers_are_equal_by_name_and_data():
    array = np.zeros(100)
    buffer = Buffer("w", array)
    assert BufferAttr(buffer) == BufferAttr(buffer)
    assert BufferAttr(buffer) != BufferAttr(Buffer("w", np.zeros(100)))
    assert BufferAttr(Buffer("w", file="a")) == BufferAttr(Buffer("w", file="a"))
    assert BufferAttr(Buffer("w", file="a")) != BufferAttr(Buffer("w", file="b"))


def module_with(*arrays: np.ndarray, name: str = "w") -> ModuleOp:
    return ModuleOp(
        [ConstantOp(BufferAttr(Buffer(name, a)), tensor_type(a.shape, element_type(a.dtype))) for a in arrays]
    )


def constants(module: ModuleOp) -> list[np.ndarray]:
    return [op.array() for op in module.walk() if isinstance(op, ConstantOp)]


def test_saved_weights_are_found_beside_the_text(tmp_path):
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(3, BF16), np.zeros((0, 2), np.uint16)]
    module = module_with(*arrays)
    save_buffers(module, tmp_path / "weights.safetensors")
    text = str(module)
    # One name, three different arrays: three names in the file.
    for name in ("w", "w_1", "w_2"):
        assert f'#graph.buffer<"{name}", "weights.safetensors">' in text
    with search_folder(tmp_path):
        again = parse_module(text)
    for found, expected in zip(constants(again), arrays, strict=True):
        assert_same(np.asarray(found), expected)
    with safe_open(str(tmp_path / "weights.safetensors"), "np") as file:
        np.testing.assert_array_equal(file.get_tensor("w"), arrays[0])
    inline_constants(again)
    assert "buffer" not in str(again)
    assert_same(constants(again)[1], arrays[1])


def test_a_buffer_without_data_says_so():
    module = parse_module('%0 = graph.constant #graph.buffer<"conv.weight"> : tensor<2xf32>')
    with pytest.raises(DiagnosticException, match=r'"conv\.weight" has no data'):
        constants(module)


def test_data_of_another_type_is_an_error(tmp_path):
    write_tensors(tmp_path / "w.safetensors", {"w": np.zeros(3, np.float32)})
    with search_folder(tmp_path):
        module = parse_module('%0 = graph.constant #graph.buffer<"w", "w.safetensors"> : tensor<2xf32>')
    with pytest.raises(DiagnosticException, match=r"holds float32\[3\], expected float32\[2\]"):
        constants(module)


@pytest.mark.parametrize("file", ["../w.safetensors", "/etc/passwd", "link/w.safetensors"])
def test_nothing_outside_the_folder_is_read(tmp_path, file):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir(), inside.mkdir()
    write_tensors(outside / "w.safetensors", {"w": np.zeros(2, np.float32)})
    write_tensors(tmp_path / "w.safetensors", {"w": np.zeros(2, np.float32)})
    (inside / "link").symlink_to(outside)
    with pytest.raises(DiagnosticException, match="outside the folder"):
        Buffer("w", file=file, folder=inside).array()


def file_with(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


DAMAGED = {
    "empty": (b"", "header does not fit"),
    "short": (b"\x01\x02", "header does not fit"),
    "huge header": (struct.pack("<Q", 2**60) + b"{}", "header does not fit"),
    "no JSON": (file_with(b"{]"), "not JSON"),
    "no table": (file_with([1]), "not a table"),
    "missing": (file_with({}), 'no array "w"'),
    "no dtype": (file_with({"w": {"shape": [1], "data_offsets": [0, 4]}}, b"1234"), "no known dtype"),
    "odd dtype": (file_with({"w": {"dtype": "F8", "shape": [1], "data_offsets": [0, 1]}}, b"1"), "no known dtype"),
    "odd entry": (file_with({"w": 3}), "no known dtype"),
    "too long": (file_with({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"1234"), "does not match"),
    "odd size": (file_with({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, b"1234"), "does not match"),
    "negative": (file_with({"w": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, b"1234"), "does not match"),
    "backwards": (file_with({"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, b"1234"), "does not match"),
    "before": (file_with({"w": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}, b"1234"), "does not match"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_end_in_one_message(tmp_path, name):
    data, message = DAMAGED[name]
    path = tmp_path / "w.safetensors"
    path.write_bytes(data)
    with pytest.raises(DiagnosticException, match=message):
        read_tensor(path, "w")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DiagnosticException, match=r"cannot read .*nowhere.*: No such file"):
        read_tensor(tmp_path / "nowhere", "w")


def test_a_rewritten_file_is_read_again(tmp_path):
    path = tmp_path / "w.safetensors"
    write_tensors(path, {"w": np.zeros(2)})
    assert read_tensor(path, "w").shape == (2,)
    write_tensors(path, {"w": np.zeros(3)})
    assert read_tensor(path, "w").shape == (3,)
