"""The cache of object code: never a wrong entry, never an error."""

import os
from pathlib import Path

import numpy as np
import pytest

import aicc
from aicc.object_cache import SUFFIX, ObjectCache, object_key

TEXT = """
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = graph.add %x, %x : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AICC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def check() -> None:
    x = np.arange(5, dtype=np.float32)
    assert np.array_equal(aicc.compile(TEXT)(x)[0], x + x)


def entries(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_entries_are_made_once_and_used(folder: Path):
    check()
    made = entries(folder)
    assert made and all(name.endswith(SUFFIX) for name in made)
    assert folder.stat().st_mode & 0o777 == 0o700
    check()
    assert entries(folder) == made


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "swap"])
def test_damaged_entries_are_made_again(folder: Path, damage: str):
    check()
    made = entries(folder)
    contents = list(made.values())
    for name, content in made.items():
        broken = {
            "truncate": content[: len(content) // 2],
            "flip": content[:200] + bytes([content[200] ^ 1]) + content[201:],
            "empty": b"",
            "swap": b"0" * 64 + b"\n" + contents[0],
        }[damage]
        (folder / name).write_bytes(broken)
    check()
    assert entries(folder) == made


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_folder_that_others_can_write_to_is_not_used(folder: Path, mode: int):
    folder.mkdir()
    folder.chmod(mode)
    check()
    assert not entries(folder)


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AICC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    check()


def test_off(folder: Path):
    aicc.compile(TEXT, cache=False)
    assert not folder.exists()


def test_keys_tell_text_and_target_apart():
    keys = {object_key(text, target) for text in ("a", "b", "a\n") for target in ("host", "x86-64-v3")}
    assert len(keys) == 6


def test_pruning_removes_what_was_used_longest_ago_and_nothing_else(tmp_path: Path):
    cache = ObjectCache(tmp_path)
    (tmp_path / "thesis.o").write_bytes(bytes(9000))
    keys = [object_key(str(i), "host") for i in range(5)]
    for i, key in enumerate(keys):
        cache.write(key, bytes(1000))
        os.utime(tmp_path / (key + SUFFIX), (i, i))
    assert cache.read(keys[0]) == bytes(1000)
    cache.prune(3 * 1065)
    assert [cache.read(key) is not None for key in keys] == [True, False, False, True, True]
    assert (tmp_path / "thesis.o").exists()
