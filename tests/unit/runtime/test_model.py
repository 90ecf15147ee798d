"""A compiled model as its users call it: names, layouts, threads, forks, sizes of 0 and 1."""

import os
import pickle
import threading
from collections.abc import Callable
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import aicc
from aicc.dialects.graph.buffers import Buffer, BufferAttr
from aicc.lowering.parse import parse_module

TEXT = """
func.func @main(%x: tensor<?x64xf32, #graph.dims<N>> {aicc.name = "x"}, %w: tensor<64x32xf32> {aicc.name = "w y"})
    -> (tensor<?x32xf32, #graph.dims<N>> {aicc.name = "out"}, tensor<?xf32, #graph.dims<N>> {aicc.name = "sum"}) {
  %m = graph.matmul %x, %w : tensor<?x64xf32, #graph.dims<N>>, tensor<64x32xf32> -> tensor<?x32xf32, #graph.dims<N>>
  %r = graph.relu %m : tensor<?x32xf32, #graph.dims<N>> -> tensor<?x32xf32, #graph.dims<N>>
  %s = graph.reduce_sum %r {axes = array<i64: 1>} : tensor<?x32xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<N>>
  func.return %r, %s : tensor<?x32xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<N>>
}
"""


@cache
def model(opt_level: int = 2) -> aicc.Model:
    return aicc.compile(TEXT, opt_level=opt_level, threads=2)


def arrays(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 64), dtype=np.float32), rng.standard_normal((64, 32), dtype=np.float32)


def check(results: tuple[np.ndarray, ...], x: np.ndarray, w: np.ndarray) -> None:
    # 64 products and 32 sums of values near 8: errors of a few hundred units of 6e-8.
    expected = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0)
    np.testing.assert_allclose(results[0], expected, atol=2e-5, rtol=1e-5)
    np.testing.assert_allclose(results[1], expected.sum(1), atol=2e-4, rtol=1e-5)


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 16, 33, 1000])
def test_sizes(n: int, opt_level: int):
    x, w = arrays(n)
    check(model(opt_level)(x, w), x, w)


def test_interface():
    m = model()
    assert [(i.name, i.dtype, i.shape) for i in m.inputs] == [
        ("x", np.float32, ("N", 64)),
        ("w y", np.float32, (64, 32)),
    ]
    assert [(o.name, o.shape) for o in m.outputs] == [("out", ("N", 32)), ("sum", ("N",))]
    x, w = arrays(3)
    results = m.run({"w y": w, "x": x})
    assert list(results) == ["out", "sum"]
    check((results["out"], results["sum"]), x, w)


@pytest.mark.parametrize(
    "given, message",
    [
        (("x",), "missing input 'w y'"),
        (("x", "w y", "z"), "unknown input 'z'"),
        (("x", "w"), r"missing input 'w y'; unknown input 'w'; the model has 'x', 'w y'"),
    ],
)
def test_wrong_names(given: tuple[str, ...], message: str):
    x, _ = arrays(1)
    with pytest.raises(aicc.InputError, match=message):
        model().run(dict.fromkeys(given, x))


@pytest.mark.parametrize("given", [None, [], np.zeros(3, np.float32)])
def test_no_mapping(given: object):
    with pytest.raises(aicc.InputError, match="expected a mapping from input names to arrays"):
        model().run(given)  # pyright: ignore[reportArgumentType]


def test_wrong_count():
    with pytest.raises(aicc.InputError, match="got 1 array for 2 inputs: 'x', 'w y'"):
        model()(arrays(1)[0])


def test_layouts_are_read_as_they_are_and_inputs_stay_unchanged():
    x, w = arrays(5)
    odd = np.zeros(5 * 64 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(5, 64)
    odd[:] = x
    for given in (np.asfortranarray(x), odd, x[::-1], np.broadcast_to(x[:1], (5, 64)), x.astype(">f4").astype("<f4")):
        before = given.copy()
        check(model()(given, w), np.ascontiguousarray(given), w)
        assert np.array_equal(given, before)
    x.flags.writeable = False
    check(model()(x, w), x, w)


def test_results_are_fresh():
    x, w = arrays(4)
    first = model()(x, w)
    kept = first[0].copy()
    second = model()(-x, w)
    assert np.array_equal(first[0], kept) and not np.shares_memory(first[0], second[0])


def test_calls_from_several_threads():
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for step in range(20):
                x, w = arrays(1 + (seed * 31 + step * 7) % 90, seed)
                check(model()(x, w), x, w)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_results_do_not_depend_on_the_thread_count():
    x, w = arrays(999)
    results = [model().with_threads(n)(x, w)[0] for n in (1, 2, 3, 8)]
    assert all(np.array_equal(r, results[0]) for r in results[1:])


def check_in_a_fork(right: Callable[[], bool]) -> None:
    """`right()` holds in a forked child, which has none of its parent's threads and must not wait for them."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if right() else 2
        finally:
            os._exit(status)
    waiter = threading.Timer(60, os.kill, (child, 9))
    waiter.start()
    _, status = os.waitpid(child, 0)
    waiter.cancel()
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_run_what_its_parent_ran():
    x, w = arrays(700)
    expected = model()(x, w)[0]
    check_in_a_fork(lambda: np.array_equal(model()(x, w)[0], expected))
    assert np.array_equal(model()(x, w)[0], expected)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_prepare_weights():
    """Weights of 4 MB are packed by all cores, of which a child has one."""
    module = parse_module("""
func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %w = graph.constant dense<1.0> : tensor<1024x1024xf32>
  %m = graph.matmul %x, %w : tensor<64x1024xf32>, tensor<1024x1024xf32> -> tensor<64x1024xf32>
  func.return %m : tensor<64x1024xf32>
}""")
    weights = np.random.default_rng(0).random((1024, 1024), np.float32)
    (constant,) = [op for op in module.walk() if op.name == "graph.constant"]
    constant.properties["value"] = BufferAttr(Buffer("w", weights))
    x = np.random.default_rng(1).random((64, 1024), np.float32)
    expected = aicc.compile(module, threads=2, cache=False)(x)[0]
    check_in_a_fork(lambda: np.array_equal(aicc.compile(module, threads=2, cache=False)(x)[0], expected))


def test_every_kind_of_source(tmp_path: Path):
    x, w = arrays(2)
    module = parse_module(TEXT)
    before = str(module)
    check(aicc.compile(module)(x, w), x, w)
    assert isinstance(module, ModuleOp) and str(module) == before, "compiling changed the module it was given"
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    for source in (path, str(path)):
        check(aicc.compile(source)(x, w), x, w)
    with pytest.raises(TypeError, match="cannot compile a int"):
        aicc.compile(3)
    with pytest.raises(ValueError, match="the model is an empty text, expected a path or textual IR"):
        aicc.compile("")
    with pytest.raises(FileNotFoundError):
        aicc.compile(tmp_path / "none.mlir")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threads": 0}, "threads is 0"),
        ({"opt_level": 1}, "opt_level is 1"),
        ({"opt_level": [2]}, r"opt_level is \[2\]"),
        ({"target": "pdp11"}, "pdp11"),
    ],
)
def test_options_out_of_range(options: dict[str, object], message: str):
    with pytest.raises(Exception, match=message):
        aicc.compile(TEXT, **options)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threads": "2"}, "threads is '2', expected an integer or None"),
        ({"threads": 1.5}, "threads is 1.5, expected an integer or None"),
        ({"shapes": [1]}, r"shapes is \[1\], expected a mapping from names of symbols to sizes"),
        ({"shapes": {0: 1}}, "shapes: 0 is no name of a symbol"),
        ({"hints": 8}, "hints is 8, expected a mapping from names of symbols to sizes"),
        ({"target": None}, "target is None, expected the name of a machine"),
        ({"schedules": 1}, "schedules is 1, expected a path or None"),
        ({"fast_math": "no"}, "fast_math is 'no', expected True or False"),
        ({"cache": None}, "cache is None, expected True or False"),
    ],
)
def test_options_of_other_kinds(options: dict[str, object], message: str):
    with pytest.raises(TypeError, match=message):
        aicc.compile(TEXT, **options)  # pyright: ignore[reportArgumentType]


def test_threads_of_other_kinds_for_a_program():
    model = aicc.compile(TEXT)
    with pytest.raises(TypeError, match="threads is '2', expected an integer or None"):
        model.with_threads("2")  # pyright: ignore[reportArgumentType]
    assert model.with_threads(np.int64(2)).threads == 2  # pyright: ignore[reportArgumentType]


def test_fast_math_changes_rounding_only():
    x, w = arrays(9)
    check(aicc.compile(TEXT, fast_math=True)(x, w), x, w)


CHAIN = """
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>) -> tensor<3xf32> {
  %p = graph.mul %x, %y : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  %s = graph.add %p, %z : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  func.return %s : tensor<3xf32>
}
"""


def test_element_by_element_arithmetic_is_contracted_only_on_request():
    """1.0000001 * 0.9999999 - 1 is 0 with each step rounded, and -1.4e-14 when fused."""
    x, y, z = (np.full(3, value, np.float32) for value in (1 + 2**-23, 1 - 2**-23, -1))
    assert np.array_equal(aicc.compile(CHAIN)(x, y, z)[0], x * y + z)
    assert np.array_equal(aicc.compile(CHAIN, fast_math=True)(x, y, z)[0], np.full(3, -(2.0**-46), np.float32))


def test_buffers_of_one_name_stay_apart():
    module = parse_module("""
func.func @main() -> (tensor<100xf32>, tensor<100xf32>) {
  %a = graph.constant #graph.buffer<"w"> : tensor<100xf32>
  %b = graph.constant #graph.buffer<"w"> : tensor<100xf32>
  func.return %a, %b : tensor<100xf32>, tensor<100xf32>
}
""")
    constants = [op for op in module.walk() if op.name == "graph.constant"]
    arrays = [np.full(100, value, np.float32) for value in (1, 2)]
    for op, array in zip(constants, arrays, strict=True):
        op.properties["value"] = BufferAttr(Buffer("w", array))
    for opt_level in (0, 2):
        results = aicc.compile(module, opt_level=opt_level)()
        assert all(np.array_equal(r, a) for r, a in zip(results, arrays, strict=True))


def test_a_model_is_sent_to_another_process_as_what_is_saved():
    x, w = arrays(5)
    sent = pickle.dumps(aicc.compile(TEXT, hints={"N": 5}, threads=1))
    here = pickle.loads(sent)
    check(here(x, w), x, w)
    assert here.threads == 1 and here.stats.variants[0].runs == 1 and here.stats.compiles == 0
    with get_context("spawn").Pool(1) as pool:
        check(pool.apply(here, (x, w)), x, w)
