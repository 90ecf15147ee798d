"""Dependence, fusion and simplification of loops: the same numbers before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.interpreter import Interpreter
from aicc.transforms.loops_dependence import Dependence
from aicc.transforms.loops_fuse import LoopsFusePass
from aicc.transforms.loops_nest import find_loops
from aicc.transforms.loops_simplify import LoopsSimplifyPass
from tests.unit.loops.helper import Array, backwards, parsed, run_passes, text_of

FUSE = LoopsFusePass(first="a", second="b")
SIMPLIFY = LoopsSimplifyPass()


def kernel(arguments: str, body: str, symbols: Sequence[str] = (), outputs: int = 1) -> str:
    names = ", ".join(f'"{name}"' for name in symbols)
    signature = ", ".join([*(f"%{name}: index" for name in symbols), arguments])
    return f"""
func.func private @k({signature})
    attributes {{aicc.kernel, aicc.symbols = [{names}], aicc.num_outputs = {outputs} : i64}} {{
{body}
  func.return
}}
"""


def outputs_of(module: ModuleOp, arguments: Sequence[int | Array], backward: bool) -> list[Array]:
    copies = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    interpreter = Interpreter(module, backwards) if backward else Interpreter(module)
    interpreter.call("k", *copies)
    return [copy for copy in copies if isinstance(copy, np.ndarray)]


def assert_same(text: str, arguments: Sequence[int | Array], *passes: ModulePass) -> ModuleOp:
    """Runs the kernel before and after the passes, parallel loops both ways round; gives the module after."""
    expected = outputs_of(parsed(text), arguments, backward=False)
    module = run_passes(parsed(text), *passes)
    for backward in (False, True):
        for found, wanted in zip(outputs_of(module, arguments, backward), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    return module


def count(module: ModuleOp, name: str) -> int:
    return text_of(module).count(name)


def stencil(write: str, read: str, *, step: int = 1, inner: int = 1) -> str:
    """`t[write] = x[i]` for all i, then `y[i] = t[read]` for all i, where that is inside of `t`."""
    return kernel(
        "%x: memref<64xf32>, %t: memref<200xf32>, %y: memref<64xf32>",
        f"""
  loops.for "a" %i = 0 to 60 step {step} parallel {{
    loops.for "a_in" %j = 0 to {inner} parallel {{
      %v = loops.load %x[%i] : memref<64xf32> to f32
      loops.store %v, %t[{write}] : f32 to memref<200xf32>
    }}
  }}
  loops.for "b" %i = 0 to 60 step {step} parallel {{
    loops.for "b_in" %j = 0 to {inner} parallel {{
      %v = loops.load %t[{read}] : memref<200xf32> to f32
      loops.store %v, %y[%i] : f32 to memref<64xf32>
    }}
  }}
""",
        outputs=2,
    )


# Index written, index read, step, inner trips; whether fusion is legal, and whether the result stays parallel.
STENCILS = [
    ("%i", "%i", 1, 1, True, True),
    ("%i + 9", "%i + 9", 3, 1, True, True),
    ("%i + 5", "%i + 4", 1, 1, True, False),
    ("%i + 5", "%i + 6", 1, 1, False, False),
    ("%i + 5", "%i + 6", 4, 1, True, True),  # never the same element
    ("%i + 5", "%i + 9", 4, 1, False, False),
    ("%i * 2", "%i * 2 + 1", 1, 1, True, True),  # even and odd
    ("%i * 2 + 2", "%i * 2", 1, 1, True, False),
    ("%i", "59 - %i", 1, 1, False, False),
    ("%i * 2", "%i", 1, 1, False, False),
    ("%i + %j", "%i + %j", 4, 4, True, True),  # tiles
    ("%i + %j", "%i + %j", 4, 5, False, False),  # tiles that overlap
    ("%i * 3 + %j", "%i * 3 + %j", 1, 3, True, True),
    ("%i floordiv 4", "%i floordiv 4", 1, 1, False, False),
    ("%i + 100", "%i", 1, 1, True, True),
    ("7", "7", 1, 1, False, False),
]


@pytest.mark.parametrize("write, read, step, inner, legal, parallel", STENCILS)
def test_fusion_of_producer_and_consumer(write: str, read: str, step: int, inner: int, legal: bool, parallel: bool):
    text = stencil(write, read, step=step, inner=inner)
    x, t, y = np.arange(64, dtype=np.float32), np.full(200, -1, np.float32), np.zeros(64, np.float32)
    if not legal:
        with pytest.raises(PassFailedException, match="may need what"):
            run_passes(parsed(text), FUSE)
        return
    if write == "%i * 2" and read == "%i * 2 + 1":
        parallel = True
    module = run_passes(parsed(text), FUSE)
    (loop,) = find_loops(module, "a")
    assert loop.is_parallel == parallel
    assert not find_loops(module, "b")
    expected = outputs_of(parsed(text), [x, t, y], backward=False)
    for found, wanted in zip(outputs_of(module, [x, t, y], backward=parallel), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


INDICES = st.tuples(st.integers(0, 2), st.integers(-1, 1), st.integers(0, 6), st.integers(1, 3))


@settings(max_examples=80, deadline=None)
@given(INDICES, INDICES, st.integers(1, 3), st.integers(0, 7), st.integers(1, 3))
def test_fusion_is_never_wrong(
    write: tuple[int, int, int, int], read: tuple[int, int, int, int], step: int, trips: int, inner: int
):
    def index(parts: tuple[int, int, int, int]) -> str:
        scale, slope, offset, divisor = parts
        return f"(%i * {scale} + %j * {slope} + {offset + 3}) floordiv {divisor}"

    text = stencil(index(write), index(read), step=step, inner=inner).replace("to 60", f"to {step * trips}")
    module = parsed(text)
    try:
        run_passes(module, FUSE)
    except PassFailedException:
        return
    (loop,) = find_loops(module, "a")
    x, t, y = np.arange(64, dtype=np.float32), np.full(200, -1, np.float32), np.zeros(64, np.float32)
    # The inner loops write one element several times, which is only fine in the order of iterations.
    expected = outputs_of(parsed(text.replace(" parallel", "")), [x, t, y], backward=False)
    found = outputs_of(parsed(text_of(module).replace(" parallel", "")), [x, t, y], backward=False)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert isinstance(loop, ForOp)


PARALLEL = [
    ("%x[%i]", "%y[%i]", True),
    ("%y[%i]", "%y[%i]", True),
    ("%y[%i + 1]", "%y[%i]", False),
    ("%y[%i + 64]", "%y[%i]", True),
    ("%y[%i * 2 + 1]", "%y[%i * 2]", True),
    ("%y[%i * 3]", "%y[%i * 2]", False),
    ("%x[%i]", "%y[0]", False),
    ("%x[%i]", "%y[%i floordiv 2]", False),
    ("%x[%i]", "%y[%i * 4 + %i mod 4]", True),
]


@pytest.mark.parametrize("read, write, expected", PARALLEL)
def test_independent_iterations(read: str, write: str, expected: bool):
    text = kernel(
        "%x: memref<256xf32>, %y: memref<256xf32>",
        f"""
  loops.for "a" %i = 0 to 60 {{
    %v = loops.load {read} : memref<256xf32> to f32
    loops.store %v, {write} : f32 to memref<256xf32>
  }}
""",
    )
    (loop,) = find_loops(parsed(text), "a")
    if write == "%y[%i * 4 + %i mod 4]":
        expected = Dependence().is_parallel(loop)  # provable or not, both are right
    assert Dependence().is_parallel(loop) == expected


ROWS = kernel(
    "%x: memref<?x5xf32, #loops.dims<s0>>, %y: memref<?x5xf32, #loops.dims<s0>>",
    """
  %zero = arith.constant 0.0 : f32
  %t = loops.alloc : memref<?x5xf32, #loops.dims<s0>>
  %s = loops.alloc : memref<?xf32, #loops.dims<s0>>
  loops.for "a" %i = 0 to %s0 parallel {
    loops.for "a1" %j = 0 to 5 parallel {
      %v = loops.load %x[%i, %j] : memref<?x5xf32, #loops.dims<s0>> to f32
      %w = arith.mulf %v, %v : f32
      loops.store %w, %t[%i, %j] : f32 to memref<?x5xf32, #loops.dims<s0>>
    }
  }
  %n = loops.size #graph.shape<s0>
  loops.for "b" %i = 0 to %n parallel {
    %r = loops.for "b1" %j = 0 to 5 iter_args(%acc = %zero) -> (f32) {
      %v = loops.load %t[%i, %j] : memref<?x5xf32, #loops.dims<s0>> to f32
      %w = arith.addf %acc, %v : f32
      loops.yield %w : f32
    }
    loops.store %r, %s[%i] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  loops.for "c" %i = 0 to %s0 parallel {
    loops.for "c1" %j = 0 to 5 parallel {
      %v = loops.load %t[%i, %j] : memref<?x5xf32, #loops.dims<s0>> to f32
      %u = loops.load %s[%i] : memref<?xf32, #loops.dims<s0>> to f32
      %w = arith.divf %v, %u : f32
      loops.store %w, %y[%i, %j] : f32 to memref<?x5xf32, #loops.dims<s0>>
    }
  }
""",
    ["s0"],
)


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_rows_fuse_and_their_buffers_shrink(rows: int):
    x = np.arange(1, rows * 5 + 1, dtype=np.float32).reshape(rows, 5)
    module = assert_same(ROWS, [rows, x, np.zeros_like(x)], LoopsFusePass(), SIMPLIFY)
    text = text_of(module)
    assert text.count('"a"') == 1 and '"b"' not in text and '"c"' not in text
    assert "loops.alloc : memref<5xf32>" in text  # one row of %t
    assert text.count("loops.alloc") == 1  # the sum is in a register


def test_a_loop_that_depends_on_both_is_in_the_way():
    with pytest.raises(PassFailedException, match=r"'loops\.for' stands between it and loop 'a'"):
        run_passes(parsed(ROWS), LoopsFusePass(first="a", second="c"))


ELEMENTWISE = kernel(
    "%x: memref<6x5xf32>, %y: memref<6x5xf32>",
    """
  %t = loops.alloc : memref<6x5xf32>
  loops.for "a" %i = 0 to 6 parallel threads {
    loops.for "a1" %j = 0 to 5 parallel {
      %v = loops.load %x[%i, %j] : memref<6x5xf32> to f32
      %w = arith.mulf %v, %v : f32
      loops.store %w, %t[%i, %j] : f32 to memref<6x5xf32>
    }
  }
  loops.for "b" %i = 0 to 6 parallel {
    loops.for "b1" %j = 0 to 5 parallel {
      %v = loops.load %t[%i, %j] : memref<6x5xf32> to f32
      %w = arith.addf %v, %v : f32
      loops.store %w, %y[%i, %j] : f32 to memref<6x5xf32>
    }
  }
""",
)


def test_elementwise_chain_becomes_one_nest_without_a_buffer():
    x = np.arange(30, dtype=np.float32).reshape(6, 5)
    depth = LoopsFusePass(first="a", second="b", depth=2)
    module = assert_same(ELEMENTWISE, [x, np.zeros_like(x)], depth, SIMPLIFY)
    assert count(module, "loops.for") == 2
    assert count(module, "loops.alloc") == 0
    assert count(module, "loops.load") == 1
    assert count(module, "threads") == 0  # only one of the two ran on threads


REDUCTIONS = kernel(
    "%x: memref<4x6xf32>, %a: memref<4xf32>, %b: memref<4xf32>",
    """
  %zero = arith.constant 0.0 : f32
  loops.for "o" %i = 0 to 4 parallel {
    %r = loops.for "a" %j = 0 to 6 iter_args(%acc = %zero) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<4x6xf32> to f32
      %w = arith.addf %acc, %v : f32
      loops.yield %w : f32
    }
    %one = arith.constant 1.0 : f32
    %m = arith.addf %r, %one : f32
    loops.store %m, %a[%i] : f32 to memref<4xf32>
    %q = loops.for "b" %j = 0 to 6 iter_args(%acc = %one) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<4x6xf32> to f32
      %w = arith.mulf %acc, %v : f32
      loops.yield %w : f32
    }
    loops.store %q, %b[%i] : f32 to memref<4xf32>
  }
""",
    outputs=2,
)


def test_two_reductions_are_carried_side_by_side():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    module = assert_same(REDUCTIONS, [x, np.zeros(4, np.float32), np.zeros(4, np.float32)], FUSE, SIMPLIFY)
    assert count(module, "iter_args") == 1
    assert count(module, "loops.load") == 1


def test_refusals_name_the_reason():
    different = stencil("%i", "%i").replace('"b" %i = 0 to 60', '"b" %i = 1 to 60')
    with pytest.raises(PassFailedException, match="does not run over the same indices as loop 'a'"):
        run_passes(parsed(different), FUSE)
    swapped = LoopsFusePass(first="b", second="a")
    with pytest.raises(PassFailedException, match="does not stand after loop 'b'"):
        run_passes(parsed(stencil("%i", "%i")), swapped)
    needed = REDUCTIONS.replace("iter_args(%acc = %one)", "iter_args(%acc = %m)")
    with pytest.raises(PassFailedException, match="needs results of loop 'a'"):
        run_passes(parsed(needed), FUSE)
    between = stencil("%i", "%i").replace(
        '  loops.for "b"', '  loops.copy %t to %t : memref<200xf32> to memref<200xf32>\n  loops.for "b"'
    )
    with pytest.raises(PassFailedException, match=r"'loops\.copy' stands between"):
        run_passes(parsed(between), FUSE)
    with pytest.raises(PassFailedException, match="no loop is labelled 'zz'"):
        run_passes(parsed(stencil("%i", "%i")), LoopsFusePass(first="zz", second="a"))
    with pytest.raises(PassFailedException, match="depth must be at least 1"):
        LoopsFusePass(depth=0)


def trips(lower: str, upper: str, step: int) -> str:
    """Counts the iterations of a loop inside of a loop into `y`."""
    return kernel(
        "%y: memref<8xi64>",
        f"""
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %three = arith.constant 3 : index
  loops.for "o" %o = 0 to 8 parallel {{
    %r = loops.for "i" %i = {lower} to {upper} step {step} iter_args(%c = %zero) -> (i64) {{
      %at = arith.index_cast %i : index to i64
      %d = arith.addi %c, %at : i64
      %e = arith.addi %d, %one : i64
      loops.yield %e : i64
    }}
    loops.store %r, %y[%o] : i64 to memref<8xi64>
  }}
""",
        ["s0"],
    )


TRIPS = [
    ("0", "0", 1, 0),
    ("5", "2", 1, 0),
    ("5", "6", 1, 0),
    ("2", "6", 4, 0),
    ("2", "7", 4, 1),
    ("%o", "%o + 1", 1, 0),
    ("%o", "%o + 3", 3, 0),
    ("%o", "%o", 1, 0),
    ("%o + 8", "%o * 1 + %three", 1, 0),
    ("0", "%s0", 1, 1),
    ("0", "min(%s0, 1)", 1, 1),
    ("max(%o, 3)", "4", 1, 1),
    ("%o * 2", "min(%o * 2 + 2, 15)", 2, 0),
    ("%o * 2", "min(%o * 2 + 2, 14)", 2, 1),
]


@pytest.mark.parametrize("lower, upper, step, left", TRIPS)
@pytest.mark.parametrize("size", [0, 1, 3])
def test_short_loops(lower: str, upper: str, step: int, left: int, size: int):
    module = assert_same(trips(lower, upper, step), [size, np.zeros(8, np.int64)], SIMPLIFY)
    assert len(find_loops(module, "i")) == left


FORWARD = [
    # Body on %m: memref<8xf32>, %n: memref<8xf32>, %v, %w: f32, %i, %j: index (i, j < 4); loads that are left.
    ("%a = loops.load %m[%i]; %b = loops.load %m[%i]; store %a, %n[0]; store %b, %n[1]", 1),
    ("store %v, %m[%i]; %a = loops.load %m[%i]; store %a, %n[0]", 0),
    ("store %v, %m[%i]; store %w, %m[%j]; %a = loops.load %m[%i]; store %a, %n[0]", 1),
    ("store %v, %m[%i]; store %w, %m[%i + 1]; %a = loops.load %m[%i]; store %a, %n[0]", 0),
    ("store %v, %m[%i]; store %w, %m[%j + 4]; %a = loops.load %m[%i]; store %a, %n[0]", 0),
    ("store %v, %m[%i]; store %w, %n[%i]; %a = loops.load %m[%i]; store %a, %n[0]", 0),
    ("%a = loops.load %m[%i]; store %v, %m[%i]; %b = loops.load %m[%i]; store %a, %n[0]; store %b, %n[1]", 1),
    ("store %v, %m[%i]; copy %n to %m; %a = loops.load %m[%i]; store %a, %n[0]", 1),
    ("store %v, %m[%i]; copy %m to %n; %a = loops.load %m[%i]; store %a, %n[0]", 0),
    ("store %v, %m[%i]; for %k { %a = loops.load %m[%i]; store %a, %n[%k] }", 0),
    ("store %v, %m[%i]; for %k { %a = loops.load %m[%i]; store %w, %m[%k] ; store %a, %n[%k] }", 1),
    ("store %v, %m[%i]; for %k { store %w, %m[%k] }; %a = loops.load %m[%i]; store %a, %n[0]", 1),
    ("store %v, %m[%i]; for %k { store %w, %m[%k + 4] }; %a = loops.load %m[%i]; store %a, %n[0]", 0),
]


def spelt_out(body: str) -> str:
    text = body.replace("; ", "\n").replace("{ ", "{\n").replace(" }", "\n}")
    lines: list[str] = []
    for number, line in enumerate(text.splitlines()):
        line = line.strip()
        if "loops.load" in line:
            line += " : memref<8xf32> to f32"
        elif line.startswith("store"):
            line = f"loops.{line} : f32 to memref<8xf32>"
        elif line.startswith("copy"):
            line = f"loops.{line} : memref<8xf32> to memref<8xf32>"
        elif line.startswith("for"):
            line = f'loops.for "k{number}" %k = 0 to 4 {{'
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("body, loads", FORWARD)
def test_values_at_hand(body: str, loads: int):
    text = kernel(
        "%m: memref<8xf32>, %n: memref<8xf32>",
        f"""
  %v = arith.constant 1.5 : f32
  %w = arith.constant 2.5 : f32
  loops.for "i" %i = 0 to 4 {{
    loops.for "j" %j = 0 to 4 {{
      {spelt_out(body)}
    }}
  }}
""",
        outputs=2,
    )
    arguments = [np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32) + 10]
    assert count(assert_same(text, arguments, SIMPLIFY), "loops.load") == loads


def test_masked_and_filled_accesses_are_not_mixed_up():
    text = kernel(
        "%m: memref<8xf32>, %n: memref<8xf32>, %o: memref<8xf32>",
        """
  %three = arith.constant 3 : index
  %v = loops.load %n[l0] : memref<8xf32> to vector<8xf32>
  loops.store %v, %m[l0] lanes %three : vector<8xf32> to memref<8xf32>
  %a = loops.load %m[l0] : memref<8xf32> to vector<8xf32>
  %b = loops.load %m[l0] lanes %three : memref<8xf32> to vector<8xf32>
  %c = loops.load %m[l0 - 1] fill 9.0 : f32 : memref<8xf32> to vector<8xf32>
  %d = arith.addf %a, %b : vector<8xf32>
  %e = arith.addf %c, %d : vector<8xf32>
  loops.store %e, %o[l0] : vector<8xf32> to memref<8xf32>
""",
        outputs=2,
    )
    arguments = [np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32) + 10, np.zeros(8, np.float32)]
    assert_same(text, arguments, SIMPLIFY)


def test_unread_buffers_and_unused_ops_disappear():
    text = kernel(
        "%x: memref<8xf32>, %y: memref<8xf32>",
        """
  %t = loops.alloc : memref<8xf32>
  %u = loops.view %t : memref<8xf32> to memref<2x4xf32>
  loops.copy %x to %t : memref<8xf32> to memref<8xf32>
  loops.for "i" %i = 0 to 8 {
    %v = loops.load %x[%i] : memref<8xf32> to f32
    loops.store %v, %u[%i floordiv 4, %i mod 4] : f32 to memref<2x4xf32>
    %w = arith.addf %v, %v : f32
  }
  loops.copy %x to %y : memref<8xf32> to memref<8xf32>
""",
    )
    module = assert_same(text, [np.arange(8, dtype=np.float32), np.zeros(8, np.float32)], SIMPLIFY)
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    assert [op.name for op in function.body.block.ops] == ["loops.copy", "func.return"]


@st.composite
def nests(draw: st.DrawFn) -> str:
    """A kernel of sequential nests over `%m` and scratch `%t`, with bounds and indices of all kinds."""
    lines: list[str] = []
    number = 0

    def index(names: list[str]) -> str:
        terms = [f"{name} * {draw(st.integers(-2, 3))}" for name in names]
        inner = " + ".join([*terms, str(draw(st.integers(0, 9)))])
        if draw(st.booleans()):
            inner = f"({inner}) floordiv {draw(st.integers(1, 4))}"
        return f"({inner}) mod 12"

    def bound(names: list[str], upper: bool) -> str:
        # Outer indices stay small, so that inner bounds do.
        choices = [str(draw(st.integers(-1, 4)))]
        if upper:
            choices.append("%s0")
        choices += [f"{name} + {draw(st.integers(0, 3))}" for name in names]
        first, second = draw(st.sampled_from(choices)), draw(st.sampled_from(choices))
        return draw(st.sampled_from([first, f"{'min' if upper else 'max'}({first}, {second})"]))

    def statements(depth: int, names: list[str]) -> None:
        nonlocal number
        for _ in range(draw(st.integers(1, 3))):
            number += 1
            source, target = draw(st.sampled_from(["%m", "%t", "%x"])), draw(st.sampled_from(["%m", "%t"]))
            if depth and draw(st.booleans()):
                name = f"%i{number}"
                lower, upper = bound(names, upper=False), bound(names, upper=True)
                step = draw(st.integers(1, 3))
                lines.append(f'loops.for "l{number}" {name} = {lower} to {upper} step {step} {{')
                statements(depth - 1, [*names, name])
                lines.append("}")
            elif draw(st.booleans()):
                lines.append(f"%v{number} = loops.load {source}[{index(names)}] : memref<12xi32> to i32")
                lines.append(f"%w{number} = arith.addi %v{number}, %one : i32")
                lines.append(f"loops.store %w{number}, {target}[{index(names)}] : i32 to memref<12xi32>")
            else:
                fill = f"(({index(names)}) - 3)"
                lines.append(f"%v{number} = loops.load {source}[{fill}] fill 7 : i32 : memref<12xi32> to i32")
                lines.append(f"loops.store %v{number}, {target}[{index(names)}] : i32 to memref<12xi32>")

    statements(3, [])
    body = "\n".join(["%one = arith.constant 1 : i32", *lines])
    return kernel("%x: memref<12xi32>, %t: memref<12xi32>, %m: memref<12xi32>", body, ["s0"], outputs=2)


@settings(max_examples=40, deadline=None)
@given(nests(), st.integers(0, 3))
def test_simplified_nests_compute_the_same(text: str, size: int):
    arrays = [np.arange(12, dtype=np.int32) * factor for factor in (1, 10, 100)]
    assert_same(text, [size, *arrays], SIMPLIFY)


@settings(max_examples=25, deadline=None)
@given(nests(), st.integers(0, 3))
def test_simplified_nests_with_scratch_compute_the_same(text: str, size: int):
    # Scratch of defined content: copied in at the start.
    start = "%t = loops.alloc : memref<12xi32>\nloops.copy %x to %t : memref<12xi32> to memref<12xi32>\n%one = arith"
    text = text.replace("%t: memref<12xi32>, ", "").replace("%one = arith", start)
    arrays = [np.arange(12, dtype=np.int32) * factor for factor in (1, 100)]
    assert_same(text.replace("aicc.num_outputs = 2", "aicc.num_outputs = 1"), [size, *arrays], SIMPLIFY)
