"""One model taken to each level with aicc-opt, written to a file, and run from there by aicc: the same numbers."""

from pathlib import Path

import numpy as np
import pytest

from aicc.lowering.pipelines import LEVELS, PIPELINES, PipelineOptions
from aicc.tools.aicc_cli import main as aicc_main
from aicc.tools.aicc_opt import main as aicc_opt_main

DIGITS = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"


def probabilities(source: Path, folder: Path, *flags: str) -> np.ndarray:
    inputs = folder / "image.npy"
    np.save(inputs, np.random.default_rng(0).random((3, 1, 8, 8), np.float32))
    outputs = folder / "outputs"
    command = ["run", str(source), "--input", f"image={inputs}", "--output-dir", str(outputs), "--no-cache", *flags]
    assert aicc_main(command) == 0
    return np.load(outputs / "probabilities.npy")


@pytest.mark.parametrize("pipeline", ["O0", "O2"])
@pytest.mark.parametrize("level", LEVELS)
def test_written_read_and_run(level: str, pipeline: str, tmp_path: Path):
    start = tmp_path / "digits.mlir"
    assert aicc_main(["import", str(DIGITS), "-o", str(start)]) == 0
    expected = probabilities(start, tmp_path, "--interpret")
    stages = PIPELINES[pipeline](PipelineOptions())
    steps = [step for stage in stages[: LEVELS.index(level)] for step in stage.steps]
    options = [" ".join(f"{k}={str(v).lower()}" for k, v in step.options.items()) for step in steps]
    text = ",".join(
        f"{step.name}{{{given}}}" if given else step.name for step, given in zip(steps, options, strict=True)
    )
    written = tmp_path / "elsewhere" / "lowered.mlir"
    written.parent.mkdir()
    assert aicc_opt_main([str(start), "-o", str(written), *([f"--pass-pipeline={text}"] if steps else [])]) == 0
    # Probabilities of f32 sums in another order.
    np.testing.assert_allclose(probabilities(written, tmp_path, f"-O{pipeline[1]}"), expected, atol=1e-6)
