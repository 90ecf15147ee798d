"""The files of the repo and what `pyproject.toml` says about them, for the tests of this folder."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
GENERATED = {"__pycache__", "build", "dist", "Output"}


def configuration() -> dict[str, Any]:
    """The parsed `pyproject.toml`."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def files(*folders: str, suffix: str = "") -> Iterator[Path]:
    """Every file below `folders` (the whole repo if none) that is source: no environment, cache or build output."""
    for top in folders or (".",):
        for folder, subfolders, names in os.walk(ROOT / top):
            subfolders[:] = sorted(
                name
                for name in subfolders
                if name not in GENERATED
                and not (name.startswith(".") and name != ".ci")
                and not name.endswith(".egg-info")
                and not (Path(folder) / name / "pyvenv.cfg").exists()
            )
            yield from (Path(folder) / name for name in sorted(names) if name.endswith(suffix))


def package_folders() -> dict[str, Path]:
    """Each listed package and the folder it is, by way of `package-dir`."""
    setuptools = configuration()["tool"]["setuptools"]
    result: dict[str, Path] = {}
    for package in setuptools["packages"]:
        mapped = max((name for name in setuptools["package-dir"] if f"{package}.".startswith(f"{name}.")), key=len)
        tail = package[len(mapped) :].lstrip(".").replace(".", "/")
        result[package] = ROOT / setuptools["package-dir"][mapped] / tail
    return result
