"""From whatever a user calls a model to a module: ONNX as path, bytes or proto; textual IR; a module."""

from os import PathLike
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.buffers import search_folder
from aicc.lowering.parse import parse_module


def model_folder(model: Any) -> Path | None:
    """The folder in which files that `model` names are found: that of its own file; None for the current one."""
    is_path = isinstance(model, PathLike) or (isinstance(model, str) and "\n" not in model)
    return Path(cast("str | PathLike[str]", model)).parent if is_path else None


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DiagnosticException(f"{path}: byte {error.start} is not UTF-8, expected textual IR") from error


def load_module(model: Any) -> ModuleOp:
    """
    A module of its own that the compiler may change.

    `model` is a path to an ONNX or `.mlir` file (`str` or `Path`), the bytes or `ModelProto` of an ONNX model, the text
    of IR at any level (a `str` with a newline), or a `ModuleOp`, which is cloned.

    Raises:
        ParseError: for text that is no IR.
        ModelError: for an ONNX model that is broken or holds what is not supported.
        FileNotFoundError: for a path that does not exist.
        TypeError: for anything else.
    """
    if isinstance(model, ModuleOp):
        return model.clone()
    if isinstance(model, str) and "\n" in model:
        return parse_module(model)
    if isinstance(model, str | PathLike):
        path = Path(cast("str | PathLike[str]", model))
        if path.suffix == ".mlir":
            with search_folder(path.parent):
                return parse_module(_read_text(path), str(path))
        model = path
    elif not isinstance(model, bytes) and type(model).__name__ != "ModelProto":
        raise TypeError(
            f"cannot compile a {type(model).__name__}; expected a path, ONNX bytes or ModelProto, IR text or a ModuleOp"
        )
    from aicc.frontends.onnx import import_onnx

    return import_onnx(model)
