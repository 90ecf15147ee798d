"""The same model gives the same cache entries in every process: whatever the hash seed, in however many processes."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from benchmarks.models import light

ROOT = Path(__file__).parents[3]

PROGRAM = """
import os, sys
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[: int(sys.argv[2])])
if sys.argv[3] == "here":
    import xdsl
import aicc
aicc.compile(sys.argv[1], target="x86-64-v3")
assert ("xdsl" in sys.modules) == (sys.argv[3] == "here")
"""


def cache_after_compiling(model: Path, folder: Path, seed: int, cores: int, place: str) -> dict[str, str]:
    """Name and digest of each entry that compiling leaves in a fresh cache."""
    environment = {**os.environ, "AICC_CACHE_DIR": str(folder), "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", PROGRAM, str(model), str(cores), place]
    subprocess.run(command, env=environment, cwd=ROOT, check=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_entries_depend_on_the_model_alone(tmp_path: Path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    onnx.save(light("squeezenet"), tmp_path / "model.onnx")
    first, *others = (
        cache_after_compiling(tmp_path / "model.onnx", tmp_path / str(seed), seed, cores, place)
        for seed, cores, place in ((1, 2, "outside"), (2, 1, "outside"), (3, 2, "here"))
    )
    assert len(first) > 20
    for other in others:
        assert other == first
