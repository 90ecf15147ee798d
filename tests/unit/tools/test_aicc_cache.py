"""`aicc cache info`, `clear` and `why`."""

from pathlib import Path

import pytest

import aicc
from aicc.runtime.cache_folder import PROGRAM
from aicc.tools.aicc_cli import main
from tests.unit.weighted import weighted


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AICC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: "0")
    weighted(tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["cache", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_info_and_clear(model: Path, capsys: pytest.CaptureFixture[str]):
    folder = model.parent / "cache"
    assert printed(capsys, "info") == f"{folder}: 0.0 MB of at most 4295.0 MB\n"
    aicc.compile(model)
    (folder / "mine.txt").write_text("not an entry")
    assert "\n  programs: 1, 0.0 MB\n" in printed(capsys, "info")
    assert printed(capsys, "clear").endswith(f"entries removed from {folder}\n")
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_why(model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    assert "is not in the cache, which holds no programs" in printed(capsys, "why", model)
    aicc.compile(model)
    assert f"{model} is in the cache: " in printed(capsys, "why", model)
    head, *lines = printed(capsys, "why", model, "-O0").splitlines()
    assert head == f"{model} is not in the cache; of the nearest of 1 program differs:"
    assert lines == ["  options: pipeline is O0, there O2"]
    assert "  target: name is x86-64-v3, there host\n" in printed(capsys, "why", model, "--target=x86-64-v3")
    (program,) = (model.parent / "cache").glob(f"*{PROGRAM}")
    whole = program.read_bytes()
    program.write_bytes(whole[:-1])
    assert "is in the cache, but damaged" in printed(capsys, "why", model)
    program.write_bytes(whole)
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: "1")
    assert printed(capsys, "why", model).splitlines()[1:] == ["  versions: aicc is 1, there 0"]
    weighted(model, factor=2)
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: "0")
    (line,) = printed(capsys, "why", model).splitlines()[1:]
    assert line.startswith("  content: the model is ")


def test_errors(model: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["cache", "why", str(model.parent / "nothing.onnx")]) == 1
    assert "No such file or directory" in capsys.readouterr().err
    (model.parent / "cache").mkdir(exist_ok=True)
    (model.parent / "cache").chmod(0o777)
    assert main(["cache", "info"]) == 2
    assert "is not used: others can write to it" in capsys.readouterr().err
