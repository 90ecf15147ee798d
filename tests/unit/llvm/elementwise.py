"""Runs one scalar op over arrays, natively: element by element and as rows of n-D vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aicc.lowering.parse import parse_module
from tests.unit.native import element_dtype, native

ROWS, LANES = 3, 4
"""The vector form computes `ROWS` rows of `LANES` lanes at once."""


def _text(body: str, inputs: Sequence[str], output: str, vector: bool) -> str:
    """`body` computes `%r` from `%x0, %x1, ...`; `{0}, {1}, ...` in it are the types of inputs, `{r}` of the result."""

    def value(type_: str) -> str:
        return f"vector<{ROWS}x{LANES}x{type_}>" if vector else type_

    arguments = [f"%m{k}: memref<?x{type_}, #loops.dims<n>>" for k, type_ in enumerate([*inputs, output])]
    index = f"%i + {LANES} * l0 + l1" if vector else "%i"
    loads = [
        f"%x{k} = loops.load %m{k}[{index}] : memref<?x{type_}, #loops.dims<n>> to {value(type_)}"
        for k, type_ in enumerate(inputs)
    ]
    body = body.format(*map(value, inputs), r=value(output))
    store = f"loops.store %r, %m{len(inputs)}[{index}] : {value(output)} to memref<?x{output}, #loops.dims<n>>"
    newline = "\n    "
    return f"""
func.func @f(%n: index, {", ".join(arguments)}) attributes {{aicc.symbols = ["n"]}} {{
  loops.for "i" %i = 0 to %n step {ROWS * LANES if vector else 1} {{
    {newline.join(loads)}
    {body}
    {store}
  }}
  func.return
}}
"""


def run(body: str, inputs: Sequence[str], output: str, arrays: Sequence[np.ndarray], vector: bool) -> np.ndarray:
    """The results for arrays of equal length; short ones are repeated up to a multiple of a vector."""
    count = -(-max(map(len, arrays)) // (ROWS * LANES)) * ROWS * LANES
    module = parse_module(_text(body, inputs, output, vector))
    types = list(module.body.block.first_op.function_type.inputs.data)[1:]
    dtypes = [element_dtype(type_.element_type) for type_ in types]
    given = [np.resize(array, count).view(dtype) for array, dtype in zip(arrays, dtypes, strict=False)]
    result = np.empty(count, dtypes[-1])
    native(module, "f")(count, *given, result)
    return result[: max(map(len, arrays))]
