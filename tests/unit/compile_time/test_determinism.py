"""The same model gives the same object code and the same cache entries in every process, whatever the hash seed."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import aicc
from tests.unit.compile_time.test_growth import conv_chain

aicc.compile(conv_chain(3), target="host")
"""


def cache_after_compiling(folder: Path, seed: int) -> dict[str, str]:
    """Name and digest of each entry that compiling leaves in a fresh cache."""
    environment = {**os.environ, "AICC_CACHE_DIR": str(folder), "PYTHONHASHSEED": str(seed)}
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, cwd=root, check=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_objects_do_not_depend_on_the_hash_seed(tmp_path: Path):
    first, second = (cache_after_compiling(tmp_path / str(seed), seed) for seed in (1, 2))
    assert len(first) >= 2
    assert first == second
