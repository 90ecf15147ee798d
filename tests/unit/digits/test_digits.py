"""The digits example: accuracy, agreement with onnxruntime, and the program that `make run` starts."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import pytest

import aicc

EXAMPLE = Path(__file__).parents[3] / "examples" / "digits"


@pytest.fixture(scope="module")
def demonstration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits_run", EXAMPLE / "run.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its own module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("opt_level", [0, 2])
def test_accuracy_and_agreement_with_onnxruntime(demonstration: ModuleType, opt_level: int):
    images, labels = demonstration.held_out()
    model = aicc.compile(EXAMPLE / "digits.onnx", threads=1, opt_level=opt_level)
    session = onnxruntime.InferenceSession(EXAMPLE / "digits.onnx", providers=["CPUExecutionProvider"])
    for count in (360, 1, 7):
        found = model.run({"image": images[:count]})["probabilities"]
        expected = session.run(None, {"image": images[:count]})[0]
        # Probabilities: 1e-5 is some hundred roundings of f32 near 1.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
        if count == len(labels):
            assert (found.argmax(1) == labels).mean() >= 0.98


def test_the_demonstration_prints_answers_and_figures(demonstration: ModuleType, capsys: pytest.CaptureFixture[str]):
    demonstration.main()
    printed = capsys.readouterr().out
    assert re.search(r"accuracy +\d+/360 = 9[89]\.\d+% +\d+/360", printed)
    assert "compile time" in printed
    difference = re.search(r"largest difference .*: (\S+)", printed)
    assert difference and float(difference[1]) <= 1e-5


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in EXAMPLE.iterdir() if path.is_file()) < 1_000_000
