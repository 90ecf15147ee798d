"""The cache of objects and of whole programs: never a wrong entry, never an error, nothing done twice."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aicc
from aicc.model_cache import settle
from aicc.objects import object_key
from aicc.runtime import cache as cache_module
from aicc.runtime.cache import OBJECT, UNIT, Cache
from aicc.runtime.cache_folder import PROGRAM
from aicc.runtime.image import read_table
from tests.unit.weighted import INDICES, weighted

ROOT = Path(__file__).parents[3]

TEXT = """
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = graph.add %x, %x : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  func.return %y : tensor<5xf32>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AICC_CACHE_DIR", str(tmp_path / "cache"))
    # Sources may be edited while the tests run.
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: "0")
    return tmp_path / "cache"


def compiled(model: Any, **options: Any) -> aicc.Model:
    """The model, once the cache has it."""
    made = aicc.compile(model, **options)
    settle()
    return made


def check() -> None:
    x = np.arange(5, dtype=np.float32)
    assert np.array_equal(compiled(TEXT)(x)[0], x + x)


def two_tables(path: Path) -> Callable[[int], np.ndarray]:
    """Writes a model that reads rows of two large weights and a small one; gives what it computes for an index."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal((rows, 8), np.float32) for rows in (4000, 5000, 20))
    nodes = [helper.make_node("Gather", [name, "i"], [f"{name}_row"]) for name in "abc"]
    nodes.append(helper.make_node("Sum", ["a_row", "b_row", "c_row"], ["y"]))
    index = helper.make_tensor_value_info("i", TensorProto.INT64, [1])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])
    weights = [numpy_helper.from_array(array, name) for name, array in (("a", a), ("b", b), ("c", c))]
    graph = helper.make_graph(nodes, "tables", [index], [result], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return lambda i: a[[i]] + b[[i]] + c[[i]]


def entries(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_process(program: str, folder: Path, **environment: str) -> str:
    """What `program` prints in a process of its own."""
    variables = {**os.environ, "AICC_CACHE_DIR": str(folder), **environment}
    done = subprocess.run([sys.executable, "-c", program], env=variables, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_entries_are_made_once_and_used(folder: Path):
    check()
    made = entries(folder)
    assert {Path(name).suffix for name in made} == {OBJECT, PROGRAM, UNIT}
    assert folder.stat().st_mode & 0o777 == 0o700
    check()
    assert entries(folder) == made


@pytest.mark.parametrize("form", ["path", "bytes", "external"])
def test_a_warm_compile_imports_no_compiler_and_prepares_nothing(folder: Path, tmp_path: Path, form: str):
    path = tmp_path / "model.onnx"
    expected = weighted(path, external=form == "external")
    model = path.read_bytes() if form == "bytes" else path
    assert np.allclose(compiled(model)(INDICES)[0], expected, rtol=1e-5)
    given = f"open({str(path)!r}, 'rb').read()" if form == "bytes" else repr(str(path))
    printed = in_process(
        "import sys, numpy as np, aicc, aicc.model_cache\n"
        "aicc.model_cache.aicc_version = lambda: '0'\n"
        "from aicc.runtime.program import LoadedProgram\n"
        "LoadedProgram._prepare = None\n"
        f"y = aicc.compile({given})(np.array([3, 1], np.int64))[0]\n"
        "print(y.tolist())\n"
        "compiler = ('llvmlite', 'xdsl', 'onnx.', 'aicc.dialects.', 'aicc.transforms.l', 'aicc.lowering.l')\n"
        "print([n for n in sys.modules if n.startswith(compiler)])\n",
        folder,
    )
    result, modules = printed.splitlines()
    assert np.allclose(json.loads(result), expected, rtol=1e-5)
    assert modules == "[]"


def test_importing_aicc_is_lazy(folder: Path):
    printed = in_process("import sys, aicc\nprint([n for n in ('numpy', 'xdsl', 'onnx') if n in sys.modules])", folder)
    assert printed == "[]\n"


def test_weights_that_the_model_holds_are_not_stored_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("aicc.runtime.program.CACHED_BYTES", 200_000)
    two_tables(tmp_path / "model.onnx")
    compiled(tmp_path / "model.onnx")
    (program,) = folder.glob(f"*{PROGRAM}")
    arrays = {entry["name"]: entry for entry in read_table(program)["arrays"]}
    assert {name for name, entry in arrays.items() if "source" in entry} == {"a", "b"}
    # A small one is, so that the file need not be read for it.
    assert "source" not in arrays["c"]


def test_weights_that_caches_hold_begin_where_cache_lines_do(folder: Path, tmp_path: Path):
    expected = two_tables(tmp_path / "model.onnx")
    for hit in (0, 1):
        model = compiled(tmp_path / "model.onnx")
        assert model.stats.cache_hits == hit
        weights = model._program.program.weights  # pyright: ignore[reportPrivateUsage]
        assert {name: array.ctypes.data % 64 for name, array in weights.items()} == dict.fromkeys("abc", 0)
        assert np.allclose(model(np.array([3], np.int64))[0], expected(3))


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_a_program_maps_the_model_once_and_copies_small_weights(folder: Path, tmp_path: Path):
    """Each further mapping of a page counts as memory once more."""
    expected = two_tables(tmp_path / "model.onnx")
    show = (
        "import sys, aicc, numpy as np\n"
        "model = aicc.compile('model.onnx')\n"
        "maps = [line for line in open('/proc/self/maps') if line.rstrip().endswith('model.onnx')]\n"
        "small = model._program.program.weights['c']\n"
        "inside = [m for m in maps for low, high in [m.split()[0].split('-')]\n"
        "          if int(low, 16) <= small.ctypes.data < int(high, 16)]\n"
        "print(len(maps), len(inside), model(np.array([3], np.int64))[0].tolist())"
    )
    show = f"import os\nos.chdir({str(tmp_path)!r})\n" + show
    for _ in range(2):
        count, inside, values = in_process(show, folder).strip().split(" ", 2)
        assert int(count) <= 1 and inside == "0"
        assert np.allclose(json.loads(values), expected(3))


@pytest.mark.parametrize("external", [False, True])
def test_another_content_is_another_program(folder: Path, tmp_path: Path, external: bool):
    path = tmp_path / "model.onnx"
    for factor in (1.0, 2.0, 1.0):
        expected = weighted(path, external=external, factor=factor)
        assert np.allclose(compiled(path)(INDICES)[0], expected, rtol=1e-5)
    assert len(list(folder.glob(f"*{PROGRAM}"))) == 2


def test_text_with_weights_in_a_file(folder: Path, tmp_path: Path):
    from aicc.dialects.graph.safetensors_file import write_tensors

    path = tmp_path / "model.mlir"
    path.write_text("""
func.func @main(%x: tensor<80xf32>) -> tensor<80xf32> {
  %w = graph.constant #graph.buffer<"w", "w.safetensors"> : tensor<80xf32>
  %y = graph.mul %x, %w : tensor<80xf32>, tensor<80xf32> -> tensor<80xf32>
  func.return %y : tensor<80xf32>
}
""")
    x = np.arange(80, dtype=np.float32)
    for factor in (3, 5, 3):
        write_tensors(tmp_path / "w.safetensors", {"w": np.full(80, factor, np.float32)})
        assert np.array_equal(compiled(path)(x)[0], factor * x)
    assert len(list(folder.glob(f"*{PROGRAM}"))) == 2


def test_options_and_versions_are_part_of_the_key(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def programs() -> int:
        return len(list(folder.glob(f"*{PROGRAM}")))

    compiled(TEXT)
    compiled(TEXT, threads=1)
    assert programs() == 1
    compiled(TEXT, opt_level=0)
    compiled(TEXT, fast_math=True)
    compiled(TEXT + "// another text\n")
    assert programs() == 4
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: "1")
    compiled(TEXT)
    assert programs() == 5


def test_sources_that_change_under_way_leave_no_entry(folder: Path, monkeypatch: pytest.MonkeyPatch):
    versions = iter("ab")
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: next(versions))
    check()
    assert not list(folder.glob(f"*{PROGRAM}"))


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "swap", "renamed"])
def test_damaged_entries_are_made_again(folder: Path, damage: str):
    check()
    compiled(TEXT + "\n", opt_level=0)
    made = entries(folder)
    contents = list(made.values())
    for name, content in made.items():
        middle = min(200, len(content) - 1)
        broken = {
            "truncate": content[: len(content) // 2],
            "flip": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            "empty": b"",
            "swap": next(other for other in contents[::-1] if other[:8] == content[:8] and other != content)
            if name.endswith(PROGRAM)
            else b"0" * 64 + b"\n" + contents[0],
            # Another entry of its kind, whole; the only one of its kind belongs to no other name.
            "renamed": next(
                (
                    content
                    for other, content in made.items()
                    if other != name and other.endswith(Path(name).suffix) and not name.endswith(PROGRAM)
                ),
                b"",
            ),
        }[damage]
        (folder / name).write_bytes(broken)
    check()
    compiled(TEXT + "\n", opt_level=0)
    assert entries(folder) == made


def test_any_flipped_bit_of_a_program_is_found_or_without_effect(folder: Path, tmp_path: Path):
    path = tmp_path / "model.onnx"
    expected = weighted(path)
    compiled(path)
    (program,) = folder.glob(f"*{PROGRAM}")
    whole = program.read_bytes()
    for position in [*range(0, 64, 5), *range(64, len(whole), len(whole) // 40)]:
        for broken in (
            whole[:position] + bytes([whole[position] ^ 1 << position % 8]) + whole[position + 1 :],
            whole[:position],
        ):
            program.write_bytes(broken)
            # What is found is compiled again, here without the entry that the last round made good.
            assert np.allclose(compiled(path)(INDICES)[0], expected, rtol=1e-5)


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
    compiled(TEXT, cache=False)
    assert not folder.exists()


def test_processes_that_write_the_same_entries_and_one_that_is_killed(folder: Path):
    program = f"import aicc\nfor _ in range(3):\n  aicc.compile({TEXT!r})\n"
    variables = {**os.environ, "AICC_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", program]
    killed, *others = [subprocess.Popen(command, env=variables, cwd=ROOT, stderr=subprocess.DEVNULL) for _ in range(3)]
    while not folder.exists() or not any(folder.iterdir()):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert [process.wait() for process in others] == [0, 0]
    check()


def test_keys_tell_text_and_target_apart():
    keys = {object_key(text, target) for text in ("a", "b", "a\n") for target in ("host", "x86-64-v3")}
    assert len(keys) == 6


def key(number: int) -> str:
    return hashlib.sha256(bytes([number])).hexdigest()


def test_pruning_removes_what_was_used_longest_ago_and_nothing_else(tmp_path: Path):
    cache = Cache(tmp_path)
    (tmp_path / "thesis.o").write_bytes(bytes(9000))
    for i in range(5):
        cache.write_object(key(i), bytes(1000))
        os.utime(tmp_path / (key(i) + OBJECT), (i, i))
    (tmp_path / (key(3) + OBJECT)).rename(tmp_path / (key(3) + PROGRAM))
    assert cache.read_object(key(0)) == bytes(1000)
    cache.prune(3 * 1065)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [key(0) + OBJECT, key(3) + PROGRAM, key(4) + OBJECT, "thesis.o"]
    )


def test_pruning_removes_what_a_killed_process_left(tmp_path: Path):
    cache = Cache(tmp_path)
    for name, age in (("new-abandoned", 7200), ("new-at_work", 0)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    cache.prune()
    assert [path.name for path in tmp_path.iterdir()] == ["new-at_work"]


def test_a_program_too_large_for_the_cache_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache_module, "LIMIT", 10)
    check()
    assert not list(folder.glob(f"*{PROGRAM}"))
