"""Models of single operators, run by their numpy meaning and as compiled code, against expected arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

import aicc
from tests.unit.frontends.onnx.helper import model, run

__all__ = ["check", "model", "one_node"]


def one_node(
    op: str,
    inputs: Sequence[np.ndarray | None],
    *,
    opset: int = 24,
    outputs: int = 1,
    constant: Sequence[int] = (),
    symbolic: bool | Sequence[int] = False,
    domain: str = "",
    **attributes: object,
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """
    A model of one node and its inputs by name; those at the positions in `constant` are initializers.

    With `symbolic`, every size of the other inputs (or of those at these positions) is a symbol; equal sizes share one.
    """
    names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = onnx.helper.make_node(op, names, results, "n", domain=domain, **attributes)
    given = {f"x{i}": np.asarray(array) for i, array in enumerate(inputs) if array is not None}
    weights = {f"x{i}": given[f"x{i}"] for i in constant}
    free = range(len(inputs)) if symbolic is True else symbolic or ()
    types = {
        name: (array.dtype, [f"s{size}" for size in array.shape] if int(name[1:]) in free else array.shape)
        for name, array in given.items()
        if name not in weights
    }
    domains = {domain: 1} if domain else None
    proto = model([node], types, results, opset, weights, domains)
    return proto, {name: array for name, array in given.items() if name not in weights}


def check(
    proto: onnx.ModelProto,
    feeds: Mapping[str, np.ndarray],
    expected: Sequence[np.ndarray | None],
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    levels: Sequence[int] = (0, 2),
) -> None:
    """
    Compares the numpy meaning and compiled code at `levels` with what is expected (None: any value).

    Without tolerances, they must be equal.
    """
    results = {"meaning": run(proto, feeds)}
    for level in levels:
        compiled = aicc.compile(proto, opt_level=level, threads=1)
        results[f"O{level}"] = list(compiled.run(feeds).values())
    for how, found in results.items():
        assert len(found) == len(expected)
        for i, (array, wanted) in enumerate(zip(found, expected, strict=True)):
            if wanted is None:
                continue
            assert array.dtype == wanted.dtype, f"{how}: output {i} has {array.dtype}, expected {wanted.dtype}"
            assert array.shape == wanted.shape, f"{how}: output {i} has shape {array.shape}, expected {wanted.shape}"
            if wanted.dtype.kind in "biu":
                np.testing.assert_array_equal(array, wanted, err_msg=f"{how}, output {i}")
            else:
                a, b = array.astype(np.float64), wanted.astype(np.float64)
                np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=f"{how}, output {i}")
