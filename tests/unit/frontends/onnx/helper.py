"""Small ONNX models for the importer's tests, run by the numpy meaning of the graph ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from aicc.dialects.graph.evaluator import evaluate_function
from aicc.frontends.onnx import import_onnx

Shape = Sequence[int | str | None]


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[np.dtype | type | int, Shape]],
    outputs: Sequence[str],
    opset: int = 17,
    weights: Mapping[str, np.ndarray] | None = None,
    domains: Mapping[str, int] | None = None,
) -> onnx.ModelProto:
    """A model; inputs are given as (dtype, shape), outputs by name."""
    infos = [
        helper.make_tensor_value_info(
            name, dtype if isinstance(dtype, int) else helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
        )
        for name, (dtype, shape) in inputs.items()
    ]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    tensors = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "g", infos, results, tensors)
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain, version) for domain, version in (domains or {}).items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def function(module: ModuleOp) -> FuncOp:
    """`@main` of an imported module."""
    (main,) = module.body.block.ops
    assert isinstance(main, FuncOp)
    return main


def names(attrs: object) -> list[str]:
    """The `aicc.name` of each argument or result."""
    return [attr.data["aicc.name"].data for attr in attrs.data]  # pyright: ignore


def run_module(module: ModuleOp, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The results of an imported module for inputs by name."""
    module.verify()
    main = function(module)
    return evaluate_function(main, [feeds[name] for name in names(main.arg_attrs)], module)


def run(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray], **options: object) -> list[np.ndarray]:
    """Imports and evaluates a model."""
    return run_module(import_onnx(proto, **options), feeds)  # pyright: ignore


def run_op(
    op: str,
    inputs: Sequence[np.ndarray | None],
    opset: int = 17,
    outputs: int = 1,
    constant: Sequence[int] = (),
    symbolic: bool = False,
    **attributes: object,
) -> list[np.ndarray]:
    """
    The results of a single node; inputs at the positions in `constant` are initializers.

    With `symbolic`, every size of the other inputs is a symbol of its own.
    """
    operand_names = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    result_names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, operand_names, result_names, "n", **attributes)
    given = {i: array for i, array in enumerate(inputs) if array is not None}
    types: dict[str, tuple[np.dtype, Shape]] = {}
    for i, array in given.items():
        if i not in constant:
            shape: Shape = [f"d{i}_{axis}" for axis in range(array.ndim)] if symbolic else array.shape
            types[f"x{i}"] = (array.dtype, shape)
    weights = {f"x{i}": array for i, array in given.items() if i in constant}
    proto = model([node], types, result_names, opset, weights)
    return run(proto, {f"x{i}": array for i, array in given.items()})


def onnxruntime_results(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What onnxruntime says; skips the test where it is not installed."""
    import pytest

    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))
