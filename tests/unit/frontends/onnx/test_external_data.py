"""External data: only from within the model's folder, whoever looks at it first; every kind of wrong place is told."""

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import aicc
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from aicc.model_content import content_of
from tests.unit.frontends.onnx.helper import model, run_module

WEIGHT = np.arange(600, dtype=np.float32)


def write(folder: Path, location: str, **entries: str) -> Path:
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": (np.float32, WEIGHT.shape)}, ["y"])
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=WEIGHT.shape, data_location=1)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    path = folder / "model.onnx"
    onnx.save(proto, path)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder with data in it, and a file and a folder beside it that are none of the model's business."""
    inside = tmp_path / "model"
    (inside / "sub").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    for file in (inside / "w.bin", inside / "sub" / "w.bin", tmp_path / "secret", tmp_path / "outside" / "w.bin"):
        file.write_bytes(bytes(16) + WEIGHT.tobytes())
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "chain").symlink_to(inside / "link")
    (inside / "folder").symlink_to(tmp_path / "outside")
    (inside / "good").symlink_to(inside / "w.bin")
    (inside / "dangling").symlink_to(inside / "nothing")
    (inside / "loop").symlink_to(inside / "loop")
    os.mkfifo(inside / "pipe")
    return inside


@pytest.mark.parametrize("location", ["w.bin", "sub/w.bin", "./w.bin", "good", "sub//w.bin"])
def test_places_inside(folder: Path, location: str):
    path = write(folder, location, offset="16", length=str(WEIGHT.nbytes))
    x = np.ones(600, np.float32)
    np.testing.assert_array_equal(run_module(import_onnx(path), {"x": x})[0], WEIGHT + 1)
    np.testing.assert_array_equal(aicc.compile(path)(x)[0], WEIGHT + 1)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("../secret", "must lie in the model's folder, found '..'"),
        ("sub/../../secret", "must lie in the model's folder, found '..'"),
        ("sub/../w.bin", "must lie in the model's folder, found '..'"),
        ("..\\secret", "must lie in the model's folder, found '..'"),
        ("/etc/hostname", "must lie in the model's folder, found path '/etc/hostname'"),
        ("C:\\secret", "must lie in the model's folder, found path"),
        ("", "must lie in the model's folder, found path ''"),
        ("link", "must lie in the model's folder, found a link 'link' out of it"),
        ("chain", "must lie in the model's folder, found a link 'chain' out of it"),
        ("folder/w.bin", "must lie in the model's folder, found a link 'folder/w.bin' out of it"),
        (".", "external data '.' is not a file"),
        ("sub", "external data 'sub' is not a file"),
        ("pipe", "external data 'pipe' is not a file"),
        ("nothing", "external data 'nothing' cannot be read"),
        ("dangling", "external data 'dangling' cannot be read"),
        ("loop", "external data 'loop' cannot be read"),
        ("w.bin/w.bin", "cannot be read"),
        ("n\0l", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ],
)
def test_other_places_are_refused_and_not_read(folder: Path, location: str, message: str):
    path = write(folder, location)
    with pytest.raises(ModelError, match="tensor 'w'") as caught:
        aicc.compile(path)
    assert message in str(caught.value)
    assert content_of(path) is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"offset": "17"}, "bytes 17 to 2417 of 'w.bin' are wanted, but it has 2416 bytes"),
        ({"offset": "-4"}, "bytes -4 to 2396 of 'w.bin' are wanted"),
        ({"offset": str(1 << 62)}, "are wanted, but it has 2416 bytes"),
        ({"length": "4"}, "4 bytes of external data, expected 2400"),
        ({"length": "-2400"}, "-2400 bytes of external data, expected 2400"),
        ({"offset": "x"}, "offset and length of external data must be numbers"),
        ({"length": "1e3"}, "offset and length of external data must be numbers"),
    ],
)
def test_parts_of_the_file_that_are_not_there(folder: Path, entries: dict[str, str], message: str):
    with pytest.raises(ModelError) as caught:
        aicc.compile(write(folder, "w.bin", **entries))
    assert message in str(caught.value)


def test_tensors_may_share_bytes(folder: Path):
    path = write(folder, "w.bin", offset="16")
    proto = onnx.load(path, load_external_data=False)
    again = proto.graph.initializer.add()
    again.CopyFrom(proto.graph.initializer[0])
    again.name = "v"
    proto.graph.node.append(helper.make_node("Mul", ["y", "v"], ["z"]))
    proto.graph.output[0].name = "z"
    onnx.save(proto, path)
    np.testing.assert_array_equal(aicc.compile(path)(np.ones(600, np.float32))[0], (WEIGHT + 1) * WEIGHT)
