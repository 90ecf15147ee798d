"""pyright, as this repo configures it, reports a type error planted in any of the packages."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.unit.repo.tree import ROOT, configuration


def test_planted_type_errors_are_reported(tmp_path: Path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / ".typing", tmp_path / ".typing", symlinks=True)
    folders: list[str] = configuration()["tool"]["pyright"]["include"]
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / "planted.py").write_text("def length(text: str) -> int:\n    return text\n")
    # Seen through the map of names: the argument's type is known only if `aicc.dialects` is found.
    (tmp_path / "transforms" / "caller.py").write_text("from aicc.dialects.planted import length\n\nlength(1)\n")

    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    reported = {
        (str(Path(item["file"]).relative_to(tmp_path.resolve())), item["rule"])
        for item in json.loads(done.stdout)["generalDiagnostics"]
    }
    expected = {(f"{folder}/planted.py", "reportReturnType") for folder in folders}
    assert reported == expected | {("transforms/caller.py", "reportArgumentType")}
