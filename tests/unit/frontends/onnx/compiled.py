"""One node run by the numpy meaning of its ops, and compiled, which must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import helper

import aicc
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import model, run_module


def run_node(
    op: str,
    arrays: Sequence[np.ndarray | None],
    *,
    opset: int = 22,
    outputs: int = 1,
    shapes: Mapping[int, Sequence[Any]] | None = None,
    constant: Sequence[int] = (),
    domain: str = "",
    levels: Sequence[int] = (0, 2),
    tolerance: float = 1e-5,
    **attributes: Any,
) -> list[np.ndarray]:
    """
    The results of one node; `shapes` are those in the model of inputs by position, `constant` names inputs that it
    stores.
    """
    names = ["" if array is None else f"x{i}" for i, array in enumerate(arrays)]
    made = model(
        [helper.make_node(op, names, [f"y{i}" for i in range(outputs)], "n", domain=domain, **attributes)],
        {
            names[i]: (array.dtype, (shapes or {}).get(i, array.shape))
            for i, array in enumerate(arrays)
            if array is not None and i not in constant
        },
        [f"y{i}" for i in range(outputs)],
        opset,
        {names[i]: array for i in constant if (array := arrays[i]) is not None},
        {domain: 1} if domain else None,
    )
    feeds = {names[i]: a for i, a in enumerate(arrays) if a is not None and i not in constant}
    meant = run_module(import_onnx(made), feeds)
    for level in levels:
        found = aicc.compile(made, opt_level=level, cache=False, threads=1).run(feeds)
        for a, b in zip(found.values(), meant, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=tolerance, atol=tolerance)
    return meant
