"""Versions of kernels keep their constants once where they can, and twice only while these are not too large."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import f32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp

from aicc.dialects.graph.dims import Dim, SymExpr, sym, tensor_type
from aicc.dialects.loops.memory import PreparedOp
from aicc.dialects.tensor_ops import CallOp
from aicc.frontends.onnx.importer import import_onnx
from aicc.lowering.context import make_context, registry
from aicc.lowering.pipelines import PipelineOptions, pipeline_steps
from aicc.transforms.kernel_versions import CACHE_SHARE, FREE_WEIGHTS, SpareWeights
from aicc.transforms.symbols import independent_sizes
from aicc.transforms.target_facts import GENERIC

WEIGHTS = tensor_type((FREE_WEIGHTS // 4 + 1,), f32)
BYTES = FREE_WEIGHTS + 4


def kernel_with_calls(arrays: int, calls: int) -> tuple[FuncOp, list[CallOp]]:
    """A kernel of one argument, and calls of it with so many arrays of weights."""
    values = TestOp(result_types=[WEIGHTS] * arrays).results
    return FuncOp("k", ([WEIGHTS], [])), [CallOp("k", [values[i % arrays]], []) for i in range(calls)]


def test_a_part_of_the_cache_is_shared_out() -> None:
    spare = SpareWeights(replace(GENERIC, l3_bytes=CACHE_SHARE * 3 * BYTES))
    assert spare.suffice_for(*kernel_with_calls(2, 4), [0])
    # What did not fit does not count.
    assert not spare.suffice_for(*kernel_with_calls(2, 2), [0])
    assert spare.suffice_for(*kernel_with_calls(1, 5), [0])
    assert not spare.suffice_for(*kernel_with_calls(1, 1), [0])


def test_few_weights_are_free() -> None:
    function, calls = kernel_with_calls(1, 1)
    small = FuncOp("k", ([tensor_type((FREE_WEIGHTS // 4,), f32)], []))
    assert SpareWeights(replace(GENERIC, l3_bytes=0)).suffice_for(small, calls, [0])
    assert not SpareWeights(replace(GENERIC, l3_bytes=0)).suffice_for(function, calls, [0])


def test_versions_share_packed_weights() -> None:
    """All for thin images read the layout that the kernel for any image has, of which they leave out taps."""
    weights = np.ones((16, 16, 3, 3), np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels, "h", "w"])]
        for name, channels in (("x", 16), ("y", 16))
    )
    graph = helper.make_graph([node], "g", inputs, outputs, [numpy_helper.from_array(weights, "w")])
    module = import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    context = make_context()
    for step in pipeline_steps("O2", PipelineOptions(target="generic", winograd=False)):
        registry().passes[step.name]()(**step.options).apply(context, module)
        if step.name == "loops-hoist-constants":
            break
    kernels = [op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)]
    assert sum("_thin" in name and "_pack" not in name for name in kernels) == 3
    prepared = {op.key.data for op in module.walk() if isinstance(op, PreparedOp)}
    assert len(prepared) == 1


def independent(*dims: Dim) -> tuple[Dim, ...]:
    """`independent_sizes` of symbolic sizes."""
    return independent_sizes([dim for dim in dims if isinstance(dim, SymExpr)])


def test_sizes_that_stand_for_themselves() -> None:
    n, m = sym("n"), sym("m")
    # Alone, and of any size; a product has both of its symbols.
    assert independent(n // 2) == (n // 2,)
    assert independent(n * m, n * m) == (n * m,)
    # Never 0, or below 4.
    assert independent(n + 1) == (n,)
    assert independent(n % 4) == (n,)
    # One symbol in two sizes.
    assert independent(n // 2, m, n) == (n, m)
    assert independent(n * m, m) == (m, n)
