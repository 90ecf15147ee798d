"""`shapes=` and `hints=`: programs for known sizes."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import aicc
from aicc.model_cache import settle
from aicc.runtime.model import Model
from aicc.tools.aicc_cli import main

WEIGHT = np.random.default_rng(0).standard_normal((30, 40)).astype(np.float32)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own, in which edits by others make no difference."""
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("AICC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("aicc.model_cache.aicc_version", lambda: "frozen")
    # Another process, which compiles where this one has no compiler yet, would know the real version.
    monkeypatch.setattr("aicc.compiler._start_outside", lambda model: None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """`relu(x @ w) + y` with x [N, S, 30] and y [S, 40]."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="product"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Add", ["b", "y"], ["z"], name="sum"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "S", 30])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["S", 40])
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", "S", 40])
    graph = helper.make_graph(nodes, "g", [x, y], [z], [numpy_helper.from_array(WEIGHT, "w")])
    file = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


def arrays(n: int, s: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n * 100 + s)
    return rng.standard_normal((n, s, 30)).astype(np.float32), rng.standard_normal((s, 40)).astype(np.float32)


def check(model: Model, n: int, s: int) -> None:
    x, y = arrays(n, s)
    np.testing.assert_allclose(model(x, y)[0], np.maximum(x @ WEIGHT, 0) + y, rtol=1e-4, atol=1e-4)


def runs(model: Model) -> list[tuple[dict[str, int], int]]:
    return [(dict(variant.sizes), variant.runs) for variant in model.stats.variants]


def test_a_fixed_size(path: Path):
    model = aicc.compile(path, shapes={"N": 2})
    assert [info.shape for info in model.inputs] == [(2, "S", 30), ("S", 40)]
    assert model.outputs[0].shape == (2, "S", 40)
    check(model, 2, 5)
    with pytest.raises(aicc.InputError, match=r"'x' has shape \[3, 5, 30\], expected \[2, S, 30\]: 'x' dim 0 is 3"):
        model(*arrays(3, 5))
    text = (
        "func.func @main(%x: tensor<?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>> {\n"
        "  func.return %x : tensor<?xf32, #graph.dims<N>>\n}\n"
    )
    assert aicc.compile(text, shapes={"N": np.int64(4)}).inputs[0].shape == (4,)  # pyright: ignore[reportArgumentType]


def test_sizes_are_part_of_the_key(path: Path):
    assert aicc.compile(path).stats.compiles == 1
    settle()
    assert aicc.compile(path).stats.cache_hits == 1
    assert aicc.compile(path, shapes={"N": 2}).stats.compiles == 1
    assert aicc.compile(path, shapes={"N": 3}).stats.compiles == 1
    settle()
    again = aicc.compile(path, shapes={"N": 3})
    assert again.stats.cache_hits == 1 and again.inputs[0].shape[0] == 3


def test_hinted_sizes_run_programs_of_their_own(path: Path):
    model = aicc.compile(path, hints={"N": [1, 8]})
    assert model.stats.compiles == 3 and model.stats.cache_hits == 0
    assert model.inputs[0].shape == ("N", "S", 30)
    for n, s in ((1, 3), (8, 3), (8, 4), (5, 3), (1, 3), (0, 2)):
        check(model, n, s)
    assert runs(model) == [({"N": 1}, 2), ({"N": 8}, 2), ({}, 2)]
    assert str(model.stats).splitlines() == [
        "3 compiled, 0 from the cache",
        "N=1: 2 runs, 1 combination of shapes",
        "N=8: 2 runs, 2 combinations of shapes",
        "any size: 2 runs, 2 combinations of shapes",
    ]
    # Nothing was compiled by the calls.
    assert model.stats.compiles == 3
    settle()
    other = aicc.compile(path, hints={"N": [1, 8]})
    assert (other.stats.compiles, other.stats.cache_hits) == (0, 3)
    check(other.with_threads(1), 8, 9)


def test_several_symbols(path: Path):
    model = aicc.compile(path, hints={"N": 1, "S": [4, 6]})
    for n, s in ((1, 4), (1, 6), (1, 5), (2, 4)):
        check(model, n, s)
    assert runs(model) == [({"N": 1, "S": 4}, 1), ({"N": 1, "S": 6}, 1), ({}, 2)]


def test_arrays_in_other_forms_choose_as_well(path: Path):
    model = aicc.compile(path, hints={"N": [2]})
    x, y = arrays(2, 7)
    wide = np.zeros((2, 7, 60), np.float32)
    wide[:, :, ::2] = x
    out = np.zeros((2, 7, 40), np.float32)
    assert model.run({"x": wide[:, :, ::2], "y": y}, out={"z": out})["z"] is out
    np.testing.assert_allclose(out, np.maximum(x @ WEIGHT, 0) + y, rtol=1e-4, atol=1e-4)
    assert runs(model)[0] == ({"N": 2}, 1)
    with pytest.raises(aicc.InputError, match=r"'y'.*dim 0 is 6, but S is 7"):
        model(x, y[:6])


def test_saved_with_all_programs(path: Path, tmp_path: Path):
    model = aicc.compile(path, hints={"N": [1, 8]})
    plain = aicc.compile(path)
    model.save(tmp_path / "model.aicc")
    plain.save(tmp_path / "plain.aicc")
    loaded = aicc.load(tmp_path / "model.aicc")
    for n in (8, 3):
        check(loaded, n, 2)
    assert runs(loaded) == [({"N": 1}, 0), ({"N": 8}, 1), ({}, 1)]
    assert (loaded.stats.compiles, loaded.stats.cache_hits) == (0, 0)
    # What the programs share, such as weights, is in the file once.
    assert (tmp_path / "model.aicc").stat().st_size < 3 * (tmp_path / "plain.aicc").stat().st_size


def test_constants_are_shared(path: Path):
    model = aicc.compile(path, hints={"N": [1, 8, 9]})
    programs = [program for _, program in vars(model)["_variants"]] + [vars(model)["_program"]]
    arrays_of: list[list[np.ndarray]] = [
        [*program.program.weights.values(), *program.program.prepared.values()] for program in programs
    ]
    large = [array for arrays in arrays_of for array in arrays if array.nbytes >= WEIGHT.nbytes]
    assert len(large) >= 4 and len({array.ctypes.data for array in large}) < len(large)


def test_profiles_are_of_the_program_that_runs(path: Path):
    model = aicc.compile(path, hints={"N": [2]}, profile=True)
    x, y = arrays(2, 5)
    profile = model.profile({"x": x, "y": y}, runs=3)
    assert runs(model) == [({"N": 2}, 4), ({}, 0)]
    assert sum(kernel.calls for kernel in profile.kernels) >= 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"shapes": {"M": 1}}, r"the model has no symbol 'M' \(its symbols: 'N', 'S'\)"),
        ({"shapes": {"N": -1}}, "shapes: 'N' is -1, expected at least 0"),
        ({"shapes": {"N": 1.5}}, "shapes: 'N' is 1.5, expected an integer"),
        ({"hints": {"M": [1]}}, r"the model has no symbol 'M' \(its symbols: 'N', 'S'\)"),
        ({"hints": {"N": ["a"]}}, "hints: 'N' is 'a', expected an integer"),
        ({"shapes": {"N": 1}, "hints": {"N": [2]}}, "hints: 'N' is fixed at 1 by shapes"),
        ({"hints": {"N": range(9), "S": [1, 2]}}, "hints ask for 18 combinations of sizes, expected at most 16"),
    ],
)
def test_what_makes_no_sense(options: Any, message: str, path: Path):
    with pytest.raises(Exception, match=message):
        aicc.compile(path, **options)


def test_sizes_that_contradict_each_other(tmp_path: Path):
    text = (
        "func.func @main(%x: tensor<?xf32, #graph.dims<N>>, %y: tensor<?xf32, #graph.dims<M>>) "
        "-> tensor<?xf32, #graph.dims<N>> {\n"
        "  %r = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>> "
        "-> tensor<?xf32, #graph.dims<N>>\n  func.return %r : tensor<?xf32, #graph.dims<N>>\n}\n"
    )
    with pytest.raises(Exception, match=r"operands of shapes \[2\] and \[3\] do not broadcast"):
        aicc.compile(text, shapes={"N": 2, "M": 3})


def test_flags(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(path), "--shape", "N=2", "--size", "S=3"]) == 0
    assert capsys.readouterr().out.startswith("z: float32[2, 3, 40]")
    saved = tmp_path / "saved.aicc"
    assert main(["compile", str(path), "-o", str(saved), "--hint", "N=1,8"]) == 0
    assert "3 compiled" in capsys.readouterr().out
    assert main(["run", str(saved), "--size", "N=8", "--size", "S=2"]) == 0
    assert capsys.readouterr().out.startswith("z: float32[8, 2, 40]")
    settle()
    assert main(["cache", "why", str(path), "--shape", "N=2"]) == 0
    assert "is in the cache" in capsys.readouterr().out
    assert main(["check", str(path), "--shape", "N=2", "--size", "S=4"]) == 0
    assert "  x: float32[2, S, 30]" in capsys.readouterr().out
    for flags, message in (
        (["--shape", "N"], "--shape N: expected NAME=VALUE"),
        (["--shape", "N=x"], "--shape N=x: expected a size of at least 0"),
        (["--hint", "N=1,,2"], "--hint N=1,,2: expected sizes of at least 0, with commas between them"),
    ):
        assert main(["run", str(path), *flags]) == 2
        assert message in capsys.readouterr().err


def test_a_relation_that_breaks_is_told_with_its_node(tmp_path: Path):
    nodes = [helper.make_node("Add", ["x", "y"], ["z"], name="the sum")]
    x, y, z = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        for name, dims in (("x", ["N", 4]), ("y", ["M", 4]), ("z", None))
    )
    proto = helper.make_model(helper.make_graph(nodes, "g", [x, y], [z]), opset_imports=[helper.make_opsetid("", 17)])
    model = aicc.compile(proto)
    assert model(np.ones((3, 4), np.float32), np.ones((3, 4), np.float32))[0].sum() == 24
    message = (
        "^node 'the sum': graph.add: size [NM] of axis 0 does not match [NM]: "
        "(N is 2 from 'x' dim 0, but M is 3 from 'y' dim 0|M is 3 from 'y' dim 0, but N is 2 from 'x' dim 0)$"
    )
    with pytest.raises(aicc.InputError, match=message):
        model(np.ones((2, 4), np.float32), np.ones((3, 4), np.float32))


def test_a_program_for_a_size_of_one_broadcasts(tmp_path: Path):
    """`x[N] + y[M]` takes equal sizes only, but one in which M is 1 does not ask for N to be 1."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name, size in (("x", "N"), ("y", "M")))
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["z"], name="sum")], "g", [x, y], [z])
    file = tmp_path / "sum.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    model = aicc.compile(file, hints={"M": 1})
    for n, m in ((3, 1), (3, 3), (1, 1)):
        (found,) = model(np.arange(n, dtype=np.float32), np.full(m, 2, np.float32))
        np.testing.assert_array_equal(found, np.arange(n, dtype=np.float32) + 2)
    assert runs(model) == [({"M": 1}, 2), ({}, 1)]
    with pytest.raises(aicc.InputError, match="M is 2 from 'y' dim 0, but N is 3 from 'x' dim 0"):
        model(np.ones(3, np.float32), np.ones(2, np.float32))
