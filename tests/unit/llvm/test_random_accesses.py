"""Random loop nests with random affine accesses: native against the interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.unit.llvm.both import check


def expression(rng: random.Random, names: list[str], depth: int = 2) -> str:
    """A random affine expression over index names, possibly negative."""
    match rng.randrange(6 if depth else 2):
        case 0:
            return rng.choice(names)
        case 1:
            return f"{rng.choice(names)} * {rng.choice([1, 2, 3, 8, -1])} + {rng.randrange(9)}"
        case 2 | 3:
            left, right = expression(rng, names, depth - 1), expression(rng, names, depth - 1)
            return f"({left}) {rng.choice(['+', '-'])} ({right})"
        case 4:
            return (
                f"({expression(rng, names, depth - 1)}) {rng.choice(['floordiv', 'ceildiv'])} {rng.choice([2, 3, 8])}"
            )
        case _:
            return f"({expression(rng, names, depth - 1)}) mod {rng.choice([2, 5, 8, 16])}"


def nest(rng: random.Random) -> str:
    """
    A nest that stores what it loads by random indices, brought into range by `mod`.

    Every iteration stores to its own place of the result, so that the order does not matter.
    """
    lanes = rng.choice([4, 8])
    names = ["%i", "%j", "%n"]
    loads: list[str] = []
    for number in range(3):
        row, column = (expression(rng, [*names, "l0", "l1"]) for _ in range(2))
        fill = rng.random() < 0.4
        if not fill:
            row, column = f"({row}) mod 7", f"({column}) mod 9"
        mask = " lanes %k" if rng.random() < 0.4 else ""
        loads.append(
            f"%v{number} = loops.load %m[{row}, {column}]{mask}{' fill -7 : i32' if fill else ''}"
            f" : memref<7x9xi32> to vector<2x{lanes}xi32>"
        )
    step = rng.choice([1, 2, 4])
    body = "\n      ".join(loads)
    return f"""
func.func @f(%n: index, %k: index, %m: memref<7x9xi32>, %o: memref<12x5x2x{lanes}xi32>) {{
  loops.for "i" %i = {rng.randrange(3)} to 12 step {step} {{
    loops.for "j" %j = 0 to min(5, %i + {rng.randrange(1, 4)}) {{
      {body}
      %a = arith.addi %v0, %v1 : vector<2x{lanes}xi32>
      %b = arith.muli %a, %v2 : vector<2x{lanes}xi32>
      loops.store %b, %o[%i, %j, l0, l1] : vector<2x{lanes}xi32> to memref<12x5x2x{lanes}xi32>
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize("seed", range(40))
def test_random_nest(seed: int):
    rng = random.Random(seed)
    text = nest(rng)
    lanes = 8 if "2x8xi32" in text else 4
    data = np.arange(1, 64, dtype=np.int32).reshape(7, 9)
    check(text, rng.randrange(-9, 10), rng.randrange(lanes + 1), data, np.zeros((12, 5, 2, lanes), np.int32))
