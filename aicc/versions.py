"""
The versions of everything that decides what code a model becomes: aicc's own sources, the libraries, plug-ins.

xDSL and onnx are not imported for it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec

_OWN = ("backends", "dialects", "frontends", "lowering", "runtime", "transforms")
_GROUP = "xdsl.universe"


def _python_files(folder: str, *, inner_folders: bool) -> Iterator[tuple[str, str]]:
    """Relative name and path of each Python file in `folder`, sorted."""
    pending = [""]
    found: list[tuple[str, str]] = []
    while pending:
        inner = pending.pop()
        with os.scandir(os.path.join(folder, inner)) as entries:
            for entry in entries:
                name = f"{inner}{entry.name}"
                if entry.name.endswith(".py"):
                    found.append((name, entry.path))
                elif inner_folders and entry.is_dir() and not entry.name.startswith((".", "__")):
                    pending.append(f"{name}/")
    yield from sorted(found)


def _sources_digest(packages: list[str]) -> str:
    """SHA-256 of the Python files of packages, by name and content; where they lie makes no difference."""
    digest = hashlib.sha256()
    for package in packages:
        spec = find_spec(package)
        if spec is None:
            continue
        files: list[tuple[str, str]] = []
        for folder in spec.submodule_search_locations or ():
            # The other packages lie in aicc's own folder when it is installed, and beside it in a checkout.
            files += _python_files(folder, inner_folders=package != "aicc")
        if spec.submodule_search_locations is None and spec.origin is not None:
            files.append(("", spec.origin))
        for name, path in files:
            with open(path, "rb") as file:
                content = file.read()
            digest.update(f"{package}/{name}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def aicc_version() -> str:
    """A digest of aicc's sources as they are now."""
    return _sources_digest(["aicc", *(f"aicc.{name}" for name in _OWN)])


@cache
def installed_version(package: str) -> str:
    """The version of an installed package, as its name in the folder of packages tells; empty if it is not there."""
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for name in os.listdir(os.path.dirname(folder)):
            if name.startswith(f"{package}-") and name.endswith(".dist-info"):
                return name[len(package) + 1 : -len(".dist-info")]
    if spec is None:
        return ""
    from importlib.metadata import version

    return version(package)


@cache
def library_versions() -> dict[str, str]:
    """Library -> version, of those that take part in every compilation."""
    return {
        "xdsl": installed_version("xdsl"),
        "llvmlite": installed_version("llvmlite"),
        "LLVM": f"{_library_bytes('llvmlite')} bytes",
        "numpy": installed_version("numpy"),
    }


def _library_bytes(package: str) -> int:
    """The size of a package's own shared libraries, by which builds of one version are told apart."""
    spec = find_spec(package)
    return sum(
        os.path.getsize(os.path.join(path, name))
        for folder in (spec and spec.submodule_search_locations) or ()
        for path, _, names in os.walk(folder)
        for name in names
        if name.endswith(".so")
    )


@cache
def plug_in_packages() -> frozenset[str]:
    """The packages of installed plug-ins."""
    from importlib.metadata import entry_points

    return frozenset(entry.module.partition(".")[0] for entry in entry_points(group=_GROUP)) - {"aicc", "xdsl"}


@cache
def plug_in_versions() -> dict[str, str]:
    """Package of a plug-in -> digest of its sources; textual IR may hold ops of any."""
    return {package: _sources_digest([package]) for package in sorted(plug_in_packages())}
