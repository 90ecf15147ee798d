"""What is wrong with a model, as a symptom that smaller versions of it are held against."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from aicc.dialects.graph.evaluator import evaluate_function
from aicc.faults import CompilerFault
from aicc.lowering.levels import level_of
from aicc.lowering.signature import main_function, tensor_infos
from aicc.runtime.errors import InputError, ProgramError
from aicc.runtime.signature import TensorInfo
from aicc.source import load_module
from aicc.tools.cli_inputs import input_arrays
from aicc.tools.debug_compare import difference
from aicc.tools.diagnostics import from_exception
from aicc.tools.limited import ANSWER, Limits, Outcome, run_limited
from aicc.tools.runner import BrokenIR, InternalFault

CRASH, DIAGNOSTIC, DIFFERENCE, NOTHING = "crash", "diagnostic", "difference", "nothing"


@dataclass(frozen=True)
class Symptom:
    """What goes wrong: `crash` (also a fault in aicc, or past a limit), `diagnostic`, `difference`, or `nothing`."""

    kind: str
    text: str = ""

    def same_as(self, other: Symptom) -> bool:
        """Whether two are the same fault: names, numbers and places in the text do not count."""
        return self.kind == other.kind and _gist(self.text) == _gist(other.text)


def _gist(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.endswith("nodes cannot be imported:")]
    return re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\S*/\S+|-?\d+|%\w+|\[[^\]]*\]", "_", lines[0].strip() if lines else "")


@dataclass(frozen=True)
class Trial:
    """How a version is tried."""

    options: Mapping[str, Any]
    """Of `aicc.compile`."""
    pipeline: str | None
    """What is run instead, on IR."""
    inputs: Sequence[str]
    sizes: Sequence[str]
    """As `aicc run` takes them."""
    bound: float
    limits: Limits

    def symptom(self, model: bytes | str) -> Symptom:
        """What goes wrong with the bytes of an ONNX model or the text of IR, found in a child process."""
        outcome = run_limited(lambda: self._work(model), self.limits)
        return _symptom(outcome)

    def _work(self, model: bytes | str) -> str:
        try:
            return self._run(model)
        except (CompilerFault, InternalFault, BrokenIR) as error:
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            return f"{CRASH}\n{_place(error)}{type(cause).__name__}: {cause}"
        except (DiagnosticException, ParseError) as error:
            text = from_exception(error).text
        except (InputError, ProgramError) as error:
            text = str(error)
        return f"{CRASH if 'internal fault' in text else DIAGNOSTIC}\n{text}"

    def _run(self, model: bytes | str) -> str:
        from aicc.compiler import compile

        module = load_module(model)
        expected = inputs = None
        if level_of(module) in ("graph", "tensor_ops"):
            inputs = self._inputs(module)
            with suppress(IndexError, ValueError):  # Inputs that make no sense, such as indices out of range.
                expected = self._meaning(module, inputs)
        if self.pipeline is not None:
            from aicc.tools.driver_api import run_pipeline

            run_pipeline(module, self.pipeline, target=self.options["target"])
            if expected is None or inputs is None or level_of(module) not in ("graph", "tensor_ops"):
                return NOTHING
            found = self._meaning(module, inputs)
        else:
            options: dict[str, Any] = {**self.options, "cache": False}
            compiled = compile(model, **options)
            if inputs is None or expected is None:
                return NOTHING
            found = list(compiled.run(inputs).values())
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            if one.dtype != other.dtype or one.shape != other.shape:
                return f"{DIFFERENCE}\noutput {i} is {one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
            apart = difference(one, other)
            if apart.error > self.bound:
                return f"{DIFFERENCE}\noutput {i} differs {apart}"
        return NOTHING

    def _inputs(self, module: ModuleOp) -> dict[str, np.ndarray]:
        infos = [TensorInfo(i.name, i.dtype, i.shape) for i in tensor_infos(main_function(module))[0]]
        names = {info.name for info in infos}
        symbols = " ".join(str(dim) for info in infos for dim in info.shape)
        # Smaller versions have fewer inputs and symbols.
        given = [text for text in self.inputs if text.rpartition("=")[0] in names]
        sizes = [text for text in self.sizes if text.rpartition("=")[0] in symbols]
        return input_arrays(infos, given, sizes)

    @staticmethod
    def _meaning(module: ModuleOp, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        main = main_function(module)
        infos, _ = tensor_infos(main)
        with np.errstate(all="ignore"):
            return evaluate_function(main, [inputs[info.name] for info in infos], module)


def _place(error: Exception) -> str:
    """The pass that a fault is in."""
    found = re.search(r"pass '[^']*'", str(error))
    return f"{found[0].replace(chr(39), '')}: " if found else ""


def _symptom(outcome: Outcome) -> Symptom:
    if outcome.kind != ANSWER:
        return Symptom(CRASH, f"{outcome.kind}: {outcome.text}")
    kind, _, text = outcome.text.partition("\n")
    return Symptom(kind, text)


def command_check(command: str, path: Path) -> Callable[[], bool]:
    """
    Whether a command, with `{}` or else its end replaced by the path of a version, ends with status 0: it still shows
    what is wanted.
    """
    words = shlex.split(command)
    words = [word.replace("{}", str(path)) for word in words] if "{}" in command else [*words, str(path)]

    def check() -> bool:
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0

    return check
