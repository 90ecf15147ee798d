"""The wheel holds every module and works outside the repo."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.unit.repo.tree import ROOT, package_folders

COMPILE_AND_RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import aicc, aicc.dialects.graph, aicc.tools.aicc_opt
model = aicc.compile(sys.argv[2], cache=False)
result = model.run({"image": np.zeros((2, 1, 8, 8), np.float32)})["probabilities"]
print(all(module.__file__.startswith(sys.argv[1]) for name, module in sys.modules.items()
          if name.split(".")[0] == "aicc"), result.shape, round(float(result.sum()), 3))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of a wheel built from a copy of the packages, so that nothing is written into the repo."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    for top in {path.relative_to(ROOT).parts[0] for path in package_folders().values()}:
        shutil.copytree(ROOT / top, source / top, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_the_wheel_holds_every_module(unpacked: Path):
    expected = {
        f"{package.replace('.', '/')}/{path.name}"
        for package, folder in package_folders().items()
        for path in folder.glob("*.py")
    }
    assert {str(path.relative_to(unpacked)) for path in unpacked.rglob("*.py")} == expected


def test_the_wheel_compiles_a_model_outside_the_repo(unpacked: Path, tmp_path: Path):
    model = shutil.copy(ROOT / "examples" / "digits" / "digits.onnx", tmp_path)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILE_AND_RUN, str(unpacked), str(model)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True (2, 10) 2.0\n", "", 0)
