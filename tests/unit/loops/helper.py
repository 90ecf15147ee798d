"""What the tests of the loops level share: parsing, passes, and running functions on numpy arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from aicc.dialects.graph.dims import evaluate, parse_dim
from aicc.dialects.loops.interpreter import Interpreter
from aicc.lowering.parse import parse_module
from aicc.lowering.signature import main_function
from aicc.transforms.verify import verify

Array = np.ndarray[Any, np.dtype[Any]]


def text_of(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


def parsed(text: str) -> ModuleOp:
    module = parse_module(text)
    verify(module)
    return module


def run_passes(module: ModuleOp, *passes: ModulePass) -> ModuleOp:
    """Runs the passes in place, verifying and re-reading the printed text after each."""
    for module_pass in passes:
        module_pass.apply(Context(), module)
        verify(module)
        text = text_of(module)
        assert text_of(parsed(text)) == text
    return module


def backwards(iterations: range) -> Sequence[int]:
    return iterations[::-1]


def run_main(module: ModuleOp, inputs: Sequence[Array], symbols: Mapping[str, int] | None = None) -> list[Array]:
    """
    The outputs of `@main` for these inputs, run twice: with parallel loops forwards and backwards.

    Runs `@prepare` before, and gives both an arena where they want one.
    """
    forwards = _run_main(module, inputs, symbols or {}, lambda iterations: iterations)
    for first, second in zip(forwards, _run_main(module, inputs, symbols or {}, backwards), strict=True):
        assert first.tobytes() == second.tobytes()
    return forwards


def _run_main(module: ModuleOp, inputs: Sequence[Array], symbols: Mapping[str, int], order: Any) -> list[Array]:
    main = main_function(module)
    signature = json.loads(main.attributes["aicc.signature"].data)
    outputs = [
        np.empty([evaluate(parse_dim(dim), symbols) for dim in info["dims"]], np.dtype(info["dtype"]))
        for info in signature["outputs"]
    ]
    interpreter = Interpreter(module, order)
    if "prepare" in interpreter.functions:
        interpreter.call("prepare", *arena_for(interpreter, "prepare", symbols))
    sizes = [symbols[name] for name in signature["symbols"]]
    interpreter.call("main", *sizes, *inputs, *outputs, *arena_for(interpreter, "main", symbols))
    return outputs


def arena_for(interpreter: Interpreter, name: str, symbols: Mapping[str, int]) -> list[Array]:
    attributes = interpreter.functions[name].arg_attrs
    last = attributes.data[-1].data if attributes is not None and attributes.data else {}
    if "aicc.arena" not in last:
        return []
    return [np.full(evaluate(parse_dim(last["aicc.arena"].data), symbols), 0x77, np.int8)]
