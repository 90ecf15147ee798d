"""What is wrong with a random model: compiled code against the numpy meaning, and the meaning against peers."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

import aicc
from aicc.dialects.graph.evaluator import EvaluationError
from aicc.frontends.onnx import import_onnx
from aicc.runtime.errors import InputError
from tests.unit.differential import reference
from tests.unit.frontends.onnx.helper import function, names
from tests.unit.fuzz.builder import BF16
from tests.unit.fuzz.generator import RandomModel, random_model

SETTINGS = ((0, 1), (2, 2), (2, 1), (0, 2))
"""Optimisation levels and numbers of threads."""


class Finding(AssertionError):
    """A fault that a random model has shown."""


def feeds_of(module: ModuleOp, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return [feeds[name] for name in names(function(module).arg_attrs)]


def check_compiled(model: RandomModel, settings: Sequence[tuple[int, int]]) -> str:
    """
    Holds the compiled model against its meaning; why it was refused, or nothing.

    Raises:
        Finding: if they differ.
    """
    data = model.model.SerializeToString()
    try:
        module = import_onnx(data)
    except DiagnosticException as error:
        return f"import: {error}"
    inputs = feeds_of(module, model.feeds)
    try:
        reference.run(module, inputs)
    except EvaluationError as error:
        return f"meaning: {error}"
    given = (model.feeds, *_others(model, module))
    expected = [reference.Expected(module, feeds_of(module, feeds)) for feeds in given]
    for level, threads in settings:
        compiled = aicc.compile(data, opt_level=level, threads=threads, cache=False)
        try:
            for feeds, wanted in zip(given, expected, strict=True):
                wanted.check(list(compiled.run(feeds).values()))
        except InputError as error:
            return f"call: {error}"
        except AssertionError as error:
            raise Finding(f"-O{level}, {threads} threads: {error}") from error
    return ""


MOST_OTHERS = 4


def _others(model: RandomModel, module: ModuleOp) -> list[Mapping[str, np.ndarray]]:
    """Further inputs that the meaning takes: of other sizes, and of other values where these decide the way."""
    found = [{**model.feeds, name: other} for name, others in model.controls.items() for other in others]
    larger = _larger(model)
    tried = [*([larger] if larger is not None else []), *found[:: max(1, len(found) // MOST_OTHERS)]]
    return [feeds for feeds in tried if _has_meaning(module, feeds)]


def _has_meaning(module: ModuleOp, feeds: Mapping[str, np.ndarray]) -> bool:
    try:
        reference.run(module, feeds_of(module, feeds))
    except (EvaluationError, IndexError, ValueError):
        return False
    return True


def _larger(model: RandomModel) -> dict[str, np.ndarray] | None:
    """Inputs of other sizes, if some are symbols: repeated content, so indices hold."""
    symbols = [d.dim_param for v in model.model.graph.input for d in v.type.tensor_type.shape.dim if d.dim_param]
    if not symbols:
        return None
    sizes: dict[str, int] = {}
    for value in model.model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, model.feeds[value.name].shape, strict=True):
            if dim.dim_param:
                sizes[dim.dim_param] = size + (1 if dim.dim_param == "N" else 0)
    larger: dict[str, np.ndarray] = {}
    for value in model.model.graph.input:
        dims = value.type.tensor_type.shape.dim
        shape = [sizes[dim.dim_param] if dim.dim_param else dim.dim_value for dim in dims]
        array = model.feeds[value.name]
        larger[value.name] = np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)
    return larger


Peer = Callable[[onnx.ModelProto, Mapping[str, np.ndarray]], list[Any]]


def onnxruntime_results(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[Any]:
    """What onnxruntime says; it takes and gives no bfloat16 arrays."""
    import onnxruntime

    if any(array.dtype == BF16 for array in feeds.values()):
        raise ValueError("bfloat16")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))


def evaluator_results(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[Any]:
    """What the reference evaluator of the package `onnx` says."""
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, dict(feeds))


PEERS: Mapping[str, Peer] = {"onnxruntime": onnxruntime_results, "onnx.reference": evaluator_results}


def _in_child(run: Peer, model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[Any]:
    """As `run`, in a process that may crash; a RuntimeError then."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        with os.fdopen(writer, "wb") as pipe:
            try:
                pickle.dump(run(model, feeds), pipe)
                pipe.flush()
            finally:
                os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if status or not data:
        raise RuntimeError("the peer has no answer")
    return pickle.loads(data)


WRONG_PEERS = {
    # Sums squares over a window of its own; knows one direction and no sequence lengths; drops axes of size 1,
    # widens integers, and mistakes the shape of slices that a Loop keeps; computes the statistics of narrow floats in
    # narrow floats; sums numbers with their signs for the norm of p = 1; cuts where windows are smaller than strides;
    # mixes up groups; knows no axis from which on axes are one; takes zero points of rows for those of columns;
    # makes a list of an optional tensor; loses an axis where another has one entry that is unique; gives 1-D
    # convolutions another axis where channels have scales of their own.
    # onnxruntime: cuts digits off where it should round.
    "onnx.reference": {"LRN", "RNN", "GRU", "LSTM", "GlobalMaxPool", "ReduceSumSquare", "Loop"}
    | {"LayerNormalization", "LpNormalization", "MaxPool", "AveragePool", "ConvTranspose", "MatMulInteger"}
    | {"Softmax", "LogSoftmax", "Hardmax", "Optional", "QLinearConv", "Unique"},
    "onnxruntime": {"QLinearSoftmax"},
}
"""Operators that a peer gets wrong."""

RECURRENT = {"RNN", "GRU", "LSTM"}

DROP_NAN = {
    "MaxPool",
    "GlobalMaxPool",
    "LpPool",
    "Softmax",
    "LogSoftmax",
    "ReduceMax",
    "ReduceMin",
    "Max",
    "Min",
    "Clip",
    "Resize",
    "Upsample",
    "RoiAlign",
    "LRN",
    "Attention",
    "MultiHeadAttention",
    "LayerNormalization",
    "BatchNormalization",
} | RECURRENT
"""
Operators of which peers lose some NaN and infinities among the operands, or spread them; queries that no key is left
for have the result 0 here, even if it was an infinity that left none.
"""

DIFFERENCES = {"GroupNormalization": 0.05}
"""Operators of which both peers compute a variance in f32 as a difference of squares, and how far off that may be."""

PADS_WITH_ZEROS = {"ConvTranspose"}
"""Operators that multiply zeros beside their input by weights, where peers multiply nothing."""


def check_node(
    model: onnx.ModelProto, feeds: Mapping[str, np.ndarray], expected: Sequence[np.ndarray], exact: bool
) -> None:
    """
    Holds the meaning of a model of one node against peers; it is enough that one of them agrees.

    Raises:
        Finding: if none that can run the node does.
    """
    faults: list[str] = []
    operator = model.graph.node[0].op_type
    inside = _operators(model.graph)
    known = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
    arrays = [a for a in (*feeds.values(), *known) if reference.is_float(a)]
    nan = any(not np.isfinite(a.astype(np.float32)).all() for a in arrays)
    if nan and not inside.isdisjoint(DROP_NAN | PADS_WITH_ZEROS):
        return
    arrays = [*feeds.values(), *known]
    if not inside.isdisjoint(RECURRENT) and any(a.dtype == np.int32 and not a.all() for a in arrays):
        return  # After no steps the last state is the first one; onnxruntime says 0.
    roots = {np.dtype(np.int64): 2**26, np.dtype(np.int32): 2**15}
    wide = any(a.dtype in roots and (abs(a.astype(float)) > roots[a.dtype]).any() for a in arrays)
    if wide and not inside.isdisjoint({"ReduceMean", "ReduceSumSquare"}):
        return  # Sums and squares wrap; peers compute in f64.
    if operator == "Unsqueeze" and _in_any_order(model.graph.node[0]):
        return  # The reference inserts one axis after the other.
    if "ReduceMean" in inside and any(a.dtype.kind in "iu" and not a.size for a in arrays):
        return  # There is no integer for the mean of nothing.
    if operator == "Shrink" and any(a.dtype in (np.float16, BF16) for a in arrays):
        return  # Peers compare with the bound in f32, the operator's function with what it is in the input's type.
    if "AffineGrid" in inside and any(a.dtype == np.int64 and a.shape in ((4,), (5,)) and 1 in a[2:] for a in arrays):
        return  # Where a single pixel is that is to be at both ends, the standard does not say.
    if operator == "DynamicQuantizeLinear" and not any(a.any() for a in arrays):
        return  # Of nothing but zeros the scale is 0 by the formula; peers have numbers of their own.
    if operator == "QGemm" and not all(a.size for a in arrays):
        return  # onnxruntime leaves out the zero point of a result that is made of no products.
    if operator == "Loop" and _gives_its_number(model.graph.node[0]):
        return  # onnxruntime counts on in the number's own place.
    if _steps_over_its_window(model.graph, feeds):
        return  # Peers begin within the input, one here, another there, where the formula for padding is negative.
    for name, run in PEERS.items():
        if not inside.isdisjoint(WRONG_PEERS[name]) or (operator == "Split" and "" in model.graph.node[0].output):
            continue  # onnxruntime crashes when a piece of a split has no name.
        if name == "onnx.reference" and (_is_mistaken(model.graph.node[0]) or _turns_before_its_axis(model, feeds)):
            continue
        try:
            # onnxruntime divides by zero in places where tensors have no elements, and ends the process.
            found = _in_child(run, model, feeds)
        except Exception:
            # A peer that cannot run the node has nothing to say about it.
            continue
        if "Loop" in inside:
            # The sizes of slices of which there are none are nobody's business.
            found = [
                b if a.size or np.size(b) or a.ndim != np.ndim(b) else a for a, b in zip(expected, found, strict=True)
            ]
        if _fits_nowhere(expected, found):
            continue
        least = max((DIFFERENCES.get(name, 0) for name in inside), default=0)
        fault = next((f for f in map(partial(_fault, exact, least), expected, found) if f), None)
        if fault is None:
            return
        faults.append(f"{name}: {fault}")
    if faults:
        raise Finding(f"node {operator}, opset {model.opset_import[0].version}: " + "; ".join(faults))


def _is_mistaken(node: onnx.NodeProto) -> bool:
    """Whether the reference evaluator may get a node wrong for its attributes."""
    given = _attributes(node)
    match node.op_type:
        case "Resize":  # A single pixel is at -0.5 there, at 0 in the standard.
            return given.get("coordinate_transformation_mode") == b"pytorch_half_pixel"
        case "Attention":  # A mask of one row makes all queries the first one.
            return len(node.input) > 3 and node.input[3] != "" and given.get("is_causal", 0) == 1
        case "GridSample":  # What lies around the border is found before the cubic's neighbours are.
            return given.get("mode", b"") in (b"cubic", b"bicubic") and given.get("padding_mode") == b"border"
        case "Conv":  # Elements between taps are multiplied by 0, which NaN and infinities tell.
            return any(dilation != 1 for dilation in given.get("dilations", ()))
        case "LpPool":  # Taps apart are not.
            return any(dilation != 1 for dilation in given.get("dilations", ()))
        case "Scan":  # Axes from the end are those of another tensor.
            return any(axis < 0 for axis in given.get("scan_input_axes", ()))
        case _:
            return False


def _turns_before_its_axis(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> bool:
    """Whether a slice may turn back before an axis: it has the first element, of which the reference knows nothing."""
    node = model.graph.node[0]
    given = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer} | dict(feeds)
    if node.op_type != "Slice" or len(node.input) < 5 or not {node.input[1], node.input[4]} <= given.keys():
        return False
    return bool((given[node.input[1]] < 0).any() and (given[node.input[4]] < 0).any())


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def _operators(graph: onnx.GraphProto) -> set[str]:
    """The operators of a graph and of those inside."""
    found: set[str] = set()
    for node in graph.node:
        found.add(node.op_type)
        found.update(*(_operators(attribute.g) for attribute in node.attribute if attribute.HasField("g")))
    return found


def _fits_nowhere(expected: Sequence[np.ndarray], found: Sequence[Any]) -> bool:
    """Whether a window larger than its input has no place, but one for onnxruntime, which divides towards zero."""
    pairs = [(a, np.shape(b)) for a, b in zip(expected, found, strict=True) if a.shape != np.shape(b)]
    return bool(pairs) and all(
        a.size == 0 and a.ndim == len(b) and all(m in (n, 0) and n in (m, 1) for m, n in zip(a.shape, b, strict=True))
        for a, b in pairs
    )


def _gives_its_number(loop: onnx.NodeProto) -> bool:
    """Whether the body, or that of a loop in it, has the number of the iteration among its results, as it is."""
    (body,) = (attribute.g for attribute in loop.attribute if attribute.name == "body")
    same = {body.input[0].name}
    same |= {node.output[0] for node in body.node if node.op_type == "Identity" and node.input[0] in same}
    if not same.isdisjoint(value.name for value in body.output):
        return True
    return any(node.op_type == "Loop" and _gives_its_number(node) for node in body.node)


def _in_any_order(node: onnx.NodeProto) -> bool:
    """Whether axes are not in ascending order."""
    axes = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "axes"), [])
    return axes != sorted(axes)


def _steps_over_its_window(graph: onnx.GraphProto, feeds: Mapping[str, np.ndarray]) -> bool:
    """Whether strides are larger than the window, which may be that of the weights, and the padding is to be found."""
    node = graph.node[0]
    given = _attributes(node)
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    shapes |= {name: array.shape for name, array in feeds.items()}
    weights = shapes.get(node.input[1], ())[2:] if len(node.input) > 1 else ()
    window, strides = given.get("kernel_shape", weights), given.get("strides", ())
    return given.get("auto_pad", b"").startswith(b"SAME") and any(k < s for k, s in zip(window, strides, strict=False))


def _fault(exact: bool, least: float, mine: np.ndarray, theirs: Any) -> str | None:
    theirs = np.asarray(theirs)
    if theirs.dtype != mine.dtype and reference.is_float(mine) and theirs.dtype in (np.float64, np.float32, BF16):
        theirs = theirs.astype(mine.dtype)  # The reference computes in another precision than the standard says.
    if theirs.dtype != mine.dtype:
        return f"dtype {mine.dtype}, theirs {theirs.dtype}"
    if theirs.shape != mine.shape:
        return f"shape {mine.shape}, theirs {theirs.shape}"
    if not reference.is_float(mine):
        wrong = mine != theirs
    else:
        # Peers compute f64 with constants in f32, and f16 with roundings in between.
        tolerance = max(64 * reference.epsilon(mine), 1e-4, least)
        a, b = mine.astype(np.float64), theirs.astype(np.float64)
        with np.errstate(all="ignore"):
            largest = np.max(np.abs(a), initial=0, where=np.isfinite(a))
            wrong = ~(np.isclose(a, b, tolerance, tolerance * max(1, largest), equal_nan=True) | (a == b))
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {mine.size} elements, first at {place}: {mine[place]}, theirs {theirs[place]}"


def examine(seed: int, peers: bool) -> str:
    """Everything about the model of a seed; why it was refused, or nothing."""
    watch = check_node if peers else None
    model = random_model(seed, watch=watch)
    return check_compiled(model, (SETTINGS[2 * (seed % 2)], SETTINGS[2 * (seed % 2) + 1])[:: -1 if seed % 2 else 1])
