"""Who may import whom: the table below is the architecture, and every import statement is held against it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.unit.repo.tree import ROOT, files, package_folders

EVERYTHING = "*"
# xDSL brings typing_extensions, the standard library's `typing` of later versions.
COMPILER = {"xdsl", "numpy", "ml_dtypes", "typing_extensions"}

# Package -> what its files may import besides the standard library and itself; the longest matching name counts.
MAY_IMPORT: dict[str, set[str]] = {
    "aicc": {EVERYTHING},
    "aicc.tools": {EVERYTHING},
    "aicc.dialects": {"xdsl"},
    "aicc.dialects.graph": {*COMPILER, "safetensors"},
    "aicc.dialects.packed": COMPILER,
    "aicc.dialects.tensor_ops": {*COMPILER, "aicc.dialects.graph", "aicc.dialects.packed"},
    "aicc.dialects.loops": {*COMPILER, "aicc.dialects.graph", "aicc.dialects.packed", "aicc.dialects.tensor_ops"},
    "aicc.dialects.schedule": {"xdsl"},
    "aicc.dialects.llvm": {"xdsl"},
    "aicc.frontends": {*COMPILER, "aicc.dialects"},
    "aicc.frontends.onnx": {*COMPILER, "onnx", "google.protobuf", "aicc.dialects", "aicc.frontends.errors"},
    "aicc.transforms": {*COMPILER, "aicc.dialects"},
    "aicc.lowering": {*COMPILER, "aicc.dialects", "aicc.transforms"},
    # Back ends fill in the facts about machines that schedules ask for.
    "aicc.backends": {*COMPILER, "llvmlite", "aicc.dialects", "aicc.lowering", "aicc.transforms.target_facts"},
    "aicc.runtime": {"numpy", "ml_dtypes", "llvmlite"},
}


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def modules() -> dict[str, Path]:
    """Import name -> file of every module of the packages."""
    found: dict[str, Path] = {}
    for package, folder in package_folders().items():
        for path in folder.glob("*.py"):
            found[package if path.stem == "__init__" else f"{package}.{path.stem}"] = path
    return found


MODULES = modules()


def imports(statements: Iterator[ast.AST]) -> Iterator[tuple[str, int]]:
    """The modules that import statements name, with their line; `from p import m` is `p.m` where that is a module."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            for alias in node.names:
                full = f"{prefix}.{alias.name}"
                yield (full if full in MODULES else prefix), node.lineno


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@pytest.mark.parametrize("package", sorted(package_folders()))
def test_packages_import_only_what_the_table_allows(package: str):
    rule = max((name for name in MAY_IMPORT if within(package, name)), key=len)
    allowed = MAY_IMPORT[rule] | {rule}
    if EVERYTHING in allowed:
        return
    wrong: list[str] = []
    for path in package_folders()[package].glob("*.py"):
        for name, line in imports(ast.walk(tree_of(path))):
            if name.split(".")[0] in sys.stdlib_module_names or any(within(name, other) for other in allowed):
                continue
            wrong.append(f"{path.relative_to(ROOT)}:{line}: {package} may not import {name}")
    assert wrong == []


def test_imports_are_absolute_and_by_the_installed_name():
    # `import dialects` would load a second copy of every class.
    folders = {folder.relative_to(ROOT).parts[0] for folder in package_folders().values()} - {"aicc"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in files(suffix=".py")
        for name, line in imports(ast.walk(tree_of(path)))
        if name.startswith(".") or name.split(".")[0] in folders
    ]
    assert wrong == []


def test_modules_do_not_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        # Only statements that run on import: those in functions and under TYPE_CHECKING may close a circle.
        graph[module] = {name for name, _ in imports(iter(tree_of(path).body)) if name in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_the_runtime_runs_without_the_compiler():
    code = (
        "import importlib, sys\n"
        f"for name in {sorted(name for name in MODULES if within(name, 'aicc.runtime'))!r}:\n"
        "    importlib.import_module(name)\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules} & {'xdsl', 'onnx'}))\n"
        "print(*sorted(n for n in sys.modules if n.startswith('aicc.') and not n.startswith('aicc.runtime')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
