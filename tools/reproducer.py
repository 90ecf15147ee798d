"""Reproducers: a `.mlir` file with the pipeline that failed in its first comment, for `aicc-opt --run-reproducer`."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from aicc.tools.options import Options
from aicc.tools.pipeline import Step, format_pipeline


def write_reproducer(steps: Sequence[Step], text: str, options: Options, why: str) -> str:
    """
    Writes `text` with the way to run `steps` on it; returns the file's path.

    The file is the one that `--crash-reproducer` names, else a new one in the folder for temporary files.
    """
    configuration = [f"--pass-pipeline={shlex.quote(format_pipeline(steps, expand=False))}"]
    if options.target != "host":
        configuration.append(f"--target={shlex.quote(options.target)}")
    if options.fast_math:
        configuration.append("--fast-math")
    if not options.winograd:
        configuration.append("--winograd=false")
    if not options.bf16_dots:
        configuration.append("--bf16-dots=false")
    if options.schedules is not None:
        configuration.append(f"--apply-schedules={shlex.quote(str(Path(options.schedules).resolve()))}")
    if options.verify_each:
        configuration.append("--verify-each")
    if options.allow_unregistered_dialect:
        configuration.append("--allow-unregistered-dialect")
    folder = weights_folder(options)
    if "#graph.buffer" in text and folder is not None:
        configuration.append(f"--weights-folder={shlex.quote(str(folder.resolve()))}")
    head = f"// configuration: {' '.join(configuration)}\n// {' '.join(why.split())}\n"
    if options.crash_reproducer is not None:
        path = options.crash_reproducer
        Path(path).write_text(head + text, encoding="utf-8")
        return path
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="aicc-opt-", suffix=".mlir", delete=False) as stream:
        stream.write(head + text)
        return stream.name


def weights_folder(options: Options) -> Path | None:
    """The folder that names of weight files are relative to; None if the input has none."""
    if options.weights_folder is not None:
        return Path(options.weights_folder)
    return None if options.input_file == "-" else Path(options.input_file).parent
