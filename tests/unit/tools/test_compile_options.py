"""One table of flags for `aicc.compile`'s options: complete, and understood by each command alike."""

import inspect
from pathlib import Path

import pytest

import aicc
from aicc.model_cache import settle
from aicc.tools.aicc_cli import main
from aicc.tools.compile_options import OPTIONS

MODEL = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = graph.relu %x : tensor<8xf32> -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
"""


def test_every_option_of_compile_has_a_flag_with_its_default():
    parameters = dict(inspect.signature(aicc.compile).parameters)
    del parameters["model"]
    assert set(OPTIONS) == set(parameters)
    for name, (_, settings) in OPTIONS.items():
        implied = {"store_true": False, "store_false": True}.get(settings.get("action", ""))
        assert settings.get("default", implied) == parameters[name].default, name


@pytest.mark.parametrize("flags", [[], ["-O0"], ["--fast-math"], ["--no-winograd"], ["--no-bf16-dots"], ["--profile"]])
def test_cache_why_knows_what_run_has_compiled(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("AICC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: "frozen")
    # Another process, which compiles where this one has no compiler yet, would know the real version.
    monkeypatch.setattr("aicc.compiler._start_outside", lambda model: None)
    (tmp_path / "cache").mkdir(mode=0o700)
    model = tmp_path / "model.mlir"
    model.write_text(MODEL)
    assert main(["run", str(model), *flags]) == 0
    settle()
    capsys.readouterr()
    assert main(["cache", "why", str(model), *flags]) == 0
    assert f"{model} is in the cache" in capsys.readouterr().out
    other = ["--fast-math"] if flags != ["--fast-math"] else []
    assert main(["cache", "why", str(model), *other]) == 0
    assert "options: fast_math is" in capsys.readouterr().out
