"""A saved model runs without the compiler, and damage of its file is found."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aicc
from aicc.runtime import image
from aicc.runtime.compiled import Machine
from aicc.runtime.image import checksum, read_table, write_image
from tests.unit.weighted import INDICES, weighted

ROOT = Path(__file__).parents[3]


def saved(folder: Path) -> tuple[Path, np.ndarray]:
    """A saved model, the file that it was made from gone, and its expected result."""
    expected = weighted(folder / "model.onnx")
    aicc.compile(folder / "model.onnx").save(folder / "model.aicc")
    (folder / "model.onnx").unlink()
    return folder / "model.aicc", expected


def test_a_saved_model_runs_where_neither_xdsl_nor_onnx_can_be_imported(tmp_path: Path):
    path, expected = saved(tmp_path)
    program = f"""
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        assert name.partition(".")[0] not in ("xdsl", "onnx"), name
sys.meta_path.insert(0, Block())
import numpy as np, aicc
from aicc.runtime.program import LoadedProgram
LoadedProgram._prepare = None
print(aicc.load({str(path)!r})(np.array([3, 1], np.int64))[0].tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(json.loads(done.stdout), expected, rtol=1e-5)


def test_a_loaded_model_can_be_saved_again(tmp_path: Path):
    path, expected = saved(tmp_path)
    aicc.load(path).save(tmp_path / "again.aicc")
    assert (tmp_path / "again.aicc").read_bytes() == path.read_bytes()
    np.testing.assert_allclose(aicc.load(tmp_path / "again.aicc", threads=1)(INDICES)[0], expected, rtol=1e-5)


def test_parts_are_aligned_and_what_only_prepare_reads_is_left_out(tmp_path: Path):
    path, _ = saved(tmp_path)
    table = read_table(path)
    places = [entry["place"] for entry in table["arrays"]] + [entry[:2] for entry in table["objects"]]
    assert all(offset % 64 == 0 for offset, _ in places)
    kinds = sorted((entry["kind"], entry["name"]) for entry in table["arrays"])
    packed = [name for kind, name in kinds if kind == "prepared"]
    assert len(packed) == 1
    assert [name for kind, name in kinds if kind == "weight"] == ["table"]


def test_a_new_file_is_as_open_as_others(tmp_path: Path):
    mask = os.umask(0o027)
    try:
        path, _ = saved(tmp_path)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_completed_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, _ = saved(tmp_path)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(image.os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        aicc.load(path).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("place", ["none/x.aicc", "folder", "file/x.aicc", "pipe"])
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path, place: str):
    path, _ = saved(tmp_path)
    model = aicc.load(path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError) as error:
        model.save(tmp_path / place)
    assert error.value.filename == str(tmp_path / place) and error.value.filename2 is None
    assert image.TEMPORARY not in str(error.value)
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "pipe").is_fifo()


def regions(path: Path) -> dict[str, list[int]]:
    """Offsets into the file, of every kind of content in it."""
    table = read_table(path)
    content = path.read_bytes()
    length = int.from_bytes(content[16:24], "little")
    start = -(-(64 + length) // 64) * 64
    found = {
        "magic": [0, 7],
        "format": [8],
        "length": [16, 23],
        "size": [24],
        "digest": [32, 63],
        "table": [64, 64 + length // 2, 63 + length],
    }
    for offset, size, _ in table["objects"]:
        found.setdefault("objects", []).extend((start + offset, start + offset + size - 1))
    for entry in table["arrays"]:
        offset, size = entry["place"]
        found.setdefault("arrays", []).extend((start + offset, start + offset + size // 2, start + offset + size - 1))
    return found


@pytest.mark.parametrize("region", ["magic", "format", "length", "size", "digest", "table", "objects", "arrays"])
def test_a_flipped_bit_is_found(tmp_path: Path, region: str):
    path, _ = saved(tmp_path)
    content = path.read_bytes()
    for position in regions(path)[region]:
        path.write_bytes(content[:position] + bytes([content[position] ^ 4]) + content[position + 1 :])
        with pytest.raises(aicc.ProgramError, match=r"is damaged|is no compiled program|has format"):
            aicc.load(path)


def test_a_cut_off_file_is_found(tmp_path: Path):
    path, _ = saved(tmp_path)
    content = path.read_bytes()
    for size in (0, 1, 63, 64, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(aicc.ProgramError, match=r"is damaged|is no compiled program"):
            aicc.load(path)


def test_other_files_and_other_formats_are_told(tmp_path: Path):
    path, _ = saved(tmp_path)
    content = path.read_bytes()
    (tmp_path / "text.aicc").write_text("module {}\n" * 20)
    with pytest.raises(aicc.ProgramError, match=r"text\.aicc is no compiled program"):
        aicc.load(tmp_path / "text.aicc")
    path.write_bytes(content[:8] + bytes([image.FORMAT + 1]) + content[9:])
    with pytest.raises(aicc.ProgramError, match="this version of aicc reads"):
        aicc.load(path)
    with pytest.raises(FileNotFoundError):
        aicc.load(tmp_path / "nothing.aicc")


@pytest.mark.parametrize(
    ("machine", "lacking"),
    [
        (Machine("sparc-unknown-linux-gnu", ()), "is no sparc"),
        (Machine("{arch}-unknown-linux-gnu", ("antigravity",)), "lacks antigravity"),
    ],
)
def test_code_for_another_machine_is_refused(tmp_path: Path, machine: Machine, lacking: str):
    path, _ = saved(tmp_path)
    here = read_table(path)["machine"][0].partition("-")[0]
    machine = replace(machine, triple=machine.triple.replace("{arch}", here))
    program = image.read_image(path)
    write_image(tmp_path / "other.aicc", replace(program, machine=machine))
    with pytest.raises(aicc.ProgramError, match=f"holds code for another machine: this one {lacking}"):
        aicc.load(tmp_path / "other.aicc")


@pytest.mark.parametrize("size", [0, 1, 8, 65535, 65536, 65537, 200_000])
def test_checksums_find_every_flipped_bit_and_depend_on_the_order(size: int):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    whole = checksum(data)
    for position in {0, size // 2, size - 1} if size else ():
        for bit in (0, 7):
            other = data.copy()
            other[position] ^= 1 << bit
            assert checksum(other) != whole
    if size > 1:
        assert checksum(np.ascontiguousarray(data[::-1])) != whole
