"""`aicc run`: compiles a model, or interprets it, on arrays from files or random ones."""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from aicc.runtime.image import is_image
from aicc.runtime.model import Model
from aicc.runtime.signature import TensorInfo
from aicc.tools.cli_inputs import input_arrays
from aicc.tools.cli_values import UsageError, given_model
from aicc.tools.compile_options import compile_options
from aicc.tools.instruments import Timing

_RUNS = 10
"""Timed runs; the median is shown."""


def run_command(options: argparse.Namespace) -> int:
    """Prints each output, or writes it to a file; with `--time` also how long things took."""
    from aicc.dialects.graph.buffers import search_folder
    from aicc.source import load_module, model_folder

    start = time.perf_counter()
    source: Any = given_model(options.model)
    with search_folder(options.weights_folder or model_folder(source) or Path()):
        # `compile` itself finds a program in the cache before it looks at the model, but knows no other folder.
        chosen = compile_options(options)
        model = source
        if options.interpret or options.weights_folder:
            model = load_module(source, chosen["shapes"])
            chosen["shapes"] = None
        return _run(model, options, chosen, start)


def _run(source: Any, options: argparse.Namespace, chosen: Mapping[str, Any], start: float) -> int:
    if options.profile and options.interpret:
        raise UsageError("--profile with --interpret: nothing is compiled that could be timed")
    if options.trace is not None and not options.profile:
        raise UsageError("--trace without --profile")
    if options.timing and options.interpret:
        raise UsageError("--timing with --interpret: nothing is compiled that could be timed")
    timing = Timing() if options.timing else None
    with nullcontext() if timing is None else timing.watching():
        model = None if options.interpret else _compile(source, chosen)
    if timing is not None:
        print(timing.report(), file=sys.stderr)
    if options.profile and _is_saved(source) and model is not None and not model.kernel_calls:
        raise UsageError(f"--profile: {source} notes no times, expected one made by 'aicc compile --profile'")
    inputs, outputs, run = _interpreted(source) if model is None else _compiled(model)
    ready = time.perf_counter()
    arrays = input_arrays(inputs, options.input, options.size)
    results = run(arrays)
    _write(outputs, results, options.output_dir)
    if model is not None and options.profile:
        _profile(model, arrays, options)
    if options.time:
        times: list[float] = []
        for _ in range(_RUNS):
            begin = time.perf_counter()
            run(arrays)
            times.append(time.perf_counter() - begin)
        print(f"ready after {ready - start:.3f} s; median of {_RUNS} runs {statistics.median(times) * 1e3:.3f} ms")
    return 0


_Run = Callable[[Mapping[str, np.ndarray]], Sequence[np.ndarray]]


def _is_saved(source: Any) -> bool:
    return isinstance(source, str) and "\n" not in source and is_image(source)


def _compile(source: Any, chosen: Mapping[str, Any]) -> Model:
    """A saved model as it is; anything else is compiled."""
    if _is_saved(source):
        from aicc.runtime.loading import load

        return load(source, threads=chosen["threads"])
    from aicc.compiler import compile

    return compile(source, **chosen)


def _profile(model: Model, arrays: Mapping[str, np.ndarray], options: argparse.Namespace) -> None:
    from aicc.machine_peaks import measured_peaks

    profile = model.profile(arrays, runs=_RUNS)
    if options.trace is not None:
        profile.save_trace(options.trace)
    print(profile.table(measured_peaks(model.threads)))


def _compiled(model: Model) -> tuple[Sequence[TensorInfo], Sequence[TensorInfo], _Run]:
    return model.inputs, model.outputs, lambda arrays: list(model.run(arrays).values())


def _interpreted(module: ModuleOp) -> tuple[Sequence[TensorInfo], Sequence[TensorInfo], _Run]:
    from aicc.dialects.graph.evaluator import evaluate_function
    from aicc.lowering.levels import level_of
    from aicc.lowering.signature import main_function, tensor_infos
    from aicc.transforms.verify import verify

    verify(module)
    level = level_of(module)
    main = None if level == "llvm" else main_function(module)
    if main is None or level == "loops":
        raise UsageError(f"--interpret: IR of the level {level}, expected graph or tensor_ops")
    inputs, outputs = ([TensorInfo(i.name, i.dtype, i.shape) for i in infos] for infos in tensor_infos(main))

    def run(arrays: Mapping[str, np.ndarray]) -> Sequence[np.ndarray]:
        return evaluate_function(main, [arrays[info.name] for info in inputs], module)

    return inputs, outputs, run


def _write(outputs: Sequence[TensorInfo], results: Sequence[np.ndarray], folder: str | None) -> None:
    if folder is None:
        for info, array in zip(outputs, results, strict=True):
            print(f"{info.name}: {array.dtype.name}{list(array.shape)}")
            print(np.array2string(array, threshold=64, precision=6))
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for info, array in zip(outputs, results, strict=True):
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", info.name)
        np.save(Path(folder) / f"{name}.npy", array)
