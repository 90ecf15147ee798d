"""RNN, GRU and LSTM against their formulas in plain numpy, as compiled code and by the meaning of the graph op."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import aicc
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from aicc.lowering.signature import main_function
from tests.unit.frontends.onnx.helper import model

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
INPUTS = ("X", "W", "R", "B", "L", "H0", "C0", "P")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def clipped(x, clip):
    return x if clip is None else np.clip(x, -clip, clip)


def one_direction(op, x, w, r, b, lengths, h, c, p, *, reverse, linear_before_reset=0, input_forget=0, clip=None):
    """One direction, sequence by sequence, in f64."""
    steps, batch, _ = x.shape
    units = r.shape[1]
    y = np.zeros((steps, batch, units))
    bw, br = np.split(b, 2)
    last_h, last_c = h.copy(), c.copy()
    for k in range(batch):
        order = range(lengths[k])
        for t in reversed(order) if reverse else order:
            hk, ck = last_h[k], last_c[k]
            gx = np.split(w @ x[t, k] + bw, GATES[op])
            gh = np.split(r @ hk, GATES[op])
            gb = np.split(br, GATES[op])
            a = [clipped(gx[g] + gh[g] + gb[g], clip) for g in range(GATES[op])]
            if op == "RNN":
                hk = np.tanh(a[0])
            elif op == "GRU":
                z, reset = sigmoid(a[0]), sigmoid(a[1])
                rn = np.split(r, 3)[2]
                n = reset * (gh[2] + gb[2]) if linear_before_reset else rn @ (reset * hk) + gb[2]
                hk = (1 - z) * np.tanh(clipped(gx[2] + n, clip)) + z * hk
            else:
                pi, po, pf = np.split(p, 3)
                g = [gx[g] + gh[g] + gb[g] for g in range(4)]
                i = sigmoid(clipped(g[0] + pi * ck, clip))
                f = 1 - i if input_forget else sigmoid(clipped(g[2] + pf * ck, clip))
                ck = f * ck + i * np.tanh(clipped(g[3], clip))
                hk = sigmoid(clipped(g[1] + po * ck, clip)) * np.tanh(ck)
            y[t, k], last_h[k], last_c[k] = hk, hk, ck
    return y, last_h, last_c


def expected(op, arrays, direction, layout, **attributes):
    x = arrays["X"].astype(np.float64)
    x = x.transpose(1, 0, 2) if layout else x
    steps, batch, _ = x.shape
    count, units = arrays["R"].shape[0], arrays["R"].shape[2]
    states = []
    for name in ("H0", "C0"):
        state = arrays.get(name, np.zeros((count, batch, units)))
        states.append(state.transpose(1, 0, 2) if layout and name in arrays else state)
    results = []
    for k, reverse in enumerate({"forward": [0], "reverse": [1], "bidirectional": [0, 1]}[direction]):
        b = arrays.get("B", np.zeros((count, 2 * GATES[op] * units)))[k]
        p = arrays.get("P", np.zeros((count, 3 * units)))[k]
        lengths = arrays.get("L", np.full(batch, steps))
        w, r = arrays["W"][k].astype(np.float64), arrays["R"][k].astype(np.float64)
        results.append(
            one_direction(
                op, x, w, r, b, lengths, states[0][k] * 1.0, states[1][k] * 1.0, p, reverse=reverse, **attributes
            )
        )
    y, h, c = (np.stack(parts, axis=-3) for parts in zip(*results, strict=True))
    if layout:
        y, h, c = y.transpose(2, 0, 1, 3), h.transpose(1, 0, 2), c.transpose(1, 0, 2)
    return [y, h, c] if op == "LSTM" else [y, h]


def model_of(op, arrays, direction, layout, *, symbolic=False, **attributes):
    present = [name if name in arrays else "" for name in INPUTS]
    while not present[-1]:
        present.pop()
    outputs = ["Y", "Y_h", "Y_c"][: 3 if op == "LSTM" else 2]
    node = helper.make_node(
        op, present, outputs, hidden_size=arrays["R"].shape[2], direction=direction, layout=layout, **attributes
    )
    batch, steps = ("N", "S") if symbolic else ("", "")
    inputs = []
    for name in ("X", "L", "H0", "C0"):
        if name not in arrays:
            continue
        shape = list(arrays[name].shape)
        if symbolic:
            position = {"X": 0 if layout else 1, "L": 0}.get(name, 0 if layout else 1)
            shape[position] = batch
            if name == "X":
                shape[1 if layout else 0] = steps
        kind = TensorProto.INT32 if name == "L" else TensorProto.FLOAT
        inputs.append(helper.make_tensor_value_info(name, kind, shape))
    weights = [numpy_helper.from_array(arrays[name], name) for name in ("W", "R", "B", "P") if name in arrays]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph([node], "g", inputs, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def arrays_of(op, direction, layout, optional, steps=4, batch=3, inputs=2, units=5):
    rng = np.random.default_rng(7)
    count, gates = (2 if direction == "bidirectional" else 1), GATES[op]

    def random(*shape):
        return (rng.standard_normal(shape) * 0.6).astype(np.float32)

    state = (batch, count, units) if layout else (count, batch, units)
    arrays = {
        "X": random(batch, steps, inputs) if layout else random(steps, batch, inputs),
        "W": random(count, gates * units, inputs),
        "R": random(count, gates * units, units),
        "B": random(count, 2 * gates * units),
        "L": np.array([steps, 1, max(steps - 1, 0)][:batch], np.int32),
        "H0": random(*state),
    }
    if op == "LSTM":
        arrays |= {"C0": random(*state), "P": random(count, 3 * units)}
    return {name: array for name, array in arrays.items() if name in "XWR" or name in optional}


CASES = [
    ("RNN", "forward", 0, (), {}),
    ("RNN", "bidirectional", 1, ("B", "L", "H0"), {}),
    ("GRU", "reverse", 0, ("B", "L"), {}),
    ("GRU", "forward", 1, ("B", "H0"), {"linear_before_reset": 1}),
    ("GRU", "bidirectional", 0, ("H0", "L"), {"clip": 0.4}),
    ("LSTM", "forward", 0, (), {}),
    ("LSTM", "reverse", 1, ("B", "L", "H0", "C0", "P"), {"clip": 0.5}),
    ("LSTM", "bidirectional", 0, ("B", "H0", "C0"), {"input_forget": 1}),
]


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize(("op", "direction", "layout", "optional", "attributes"), CASES)
def test_formulas(op, direction, layout, optional, attributes, symbolic):
    arrays = arrays_of(op, direction, layout, optional)
    model = model_of(op, arrays, direction, layout, symbolic=symbolic, **attributes)
    wanted = expected(op, arrays, direction, layout, **attributes)
    inputs = {name: arrays[name] for name in ("X", "L", "H0", "C0") if name in arrays}
    module = import_onnx(model)
    by_meaning = evaluate_function(main_function(module), list(inputs.values()), module)
    compiled = list(aicc.compile(model, opt_level=2 if symbolic else 0, cache=False).run(inputs).values())
    for found in (by_meaning, compiled):
        for array, values in zip(found, wanted, strict=True):
            assert array.shape == values.shape
            np.testing.assert_allclose(array, values, rtol=1e-4, atol=1e-5)


def test_one_compile_for_all_lengths():
    arrays = arrays_of("LSTM", "forward", 0, ("B",))
    model = aicc.compile(model_of("LSTM", arrays, "forward", 0, symbolic=True), cache=False)
    for steps, batch in ((0, 2), (1, 1), (9, 1), (3, 4)):
        x = np.random.default_rng(steps).standard_normal((steps, batch, 2)).astype(np.float32)
        wanted = expected("LSTM", arrays | {"X": x}, "forward", 0)
        for array, values in zip(model.run({"X": x}).values(), wanted, strict=True):
            np.testing.assert_allclose(array, values, rtol=1e-4, atol=1e-5)


def test_activations_with_parameters():
    arrays = arrays_of("RNN", "bidirectional", 0, ())
    model = model_of(
        "RNN",
        arrays,
        "bidirectional",
        0,
        activations=["LeakyRelu", "ScaledTanh"],
        activation_alpha=[0.3, 1.5],
        activation_beta=[0.5],
    )
    text = str(import_onnx(model))
    assert '"leaky_relu(0.30' in text and '"scaled_tanh(1.5,0.5)"' in text
    x, w, r = (arrays[name].astype(np.float64) for name in ("X", "W", "R"))
    forward, backward = np.zeros((3, 5)), np.zeros((3, 5))
    for t in range(4):
        a = x[t] @ w[0].T + forward @ r[0].T
        forward = np.where(a < 0, np.float32(0.3) * a, a)
        backward = 1.5 * np.tanh(0.5 * (x[3 - t] @ w[1].T + backward @ r[1].T))
    found = aicc.compile(model, cache=False).run({"X": arrays["X"]})["Y_h"]
    np.testing.assert_allclose(found, np.stack([forward, backward]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": "sideways"}, "direction is 'sideways', expected forward, reverse or bidirectional"),
        ({"direction": "bidirectional"}, "the weights are for 1 directions, expected 2 for 'bidirectional'"),
        ({"activations": ["Tanh", "Tanh"]}, "there are 2 activations, expected 3"),
        ({"activations": ["Tanh", "Swish", "Tanh"]}, "activation 'Swish' is not supported"),
    ],
)
def test_broken_nodes_are_told(change, message):
    arrays = arrays_of("LSTM", "forward", 0, ())
    direction = change.pop("direction", "forward")
    with pytest.raises(ModelError, match=message):
        import_onnx(model_of("LSTM", arrays, direction, 0, **change))


def test_wrong_weights_are_told():
    arrays = arrays_of("GRU", "forward", 0, ())
    arrays["W"] = arrays["W"][:, :-1]
    with pytest.raises(ModelError, match="size 0 of w is 14, expected 15"):
        import_onnx(model_of("GRU", arrays, "forward", 0))


def test_sizes_that_do_not_match_are_refused_at_run_time():
    arrays = arrays_of("LSTM", "forward", 0, ("H0", "C0"))
    model = model_of("LSTM", arrays, "forward", 0, symbolic=True)
    (cell,) = (value for value in model.graph.input if value.name == "C0")
    cell.type.tensor_type.shape.dim[1].dim_param = "M"
    compiled = aicc.compile(model, cache=False)
    inputs = {name: arrays[name] for name in ("X", "H0", "C0")}
    compiled.run(inputs)
    with pytest.raises(aicc.InputError, match="size 0 of initial_c does not match x and r"):
        compiled.run(inputs | {"C0": arrays["C0"][:, :2]})


def test_an_infinite_cell_without_peepholes_is_no_nan():
    rng = np.random.default_rng(0)
    x, w, r = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 1, 3), (1, 8, 3), (1, 8, 2)))
    h = np.zeros((1, 1, 2), np.float32)
    c = np.array([[[0.5, -np.inf]]], np.float32)
    node = helper.make_node("LSTM", ["x", "w", "r", "", "", "h", "c"], ["", "", "last"], hidden_size=2)
    proto = model(
        [node],
        {"x": (np.float32, x.shape), "h": (np.float32, h.shape), "c": (np.float32, c.shape)},
        ["last"],
        weights={"w": w, "r": r},
    )
    module = import_onnx(proto)
    by_meaning = evaluate_function(main_function(module), [x, h, c], module)
    for (last,) in (by_meaning, *(aicc.compile(proto, opt_level=level)(x, h, c) for level in (0, 2))):
        assert np.isfinite(last[0, 0, 0]) and last[0, 0, 1] == -np.inf
