"""From whatever a user calls a model to a module: ONNX as path, bytes or proto; textual IR; a module."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.buffers import search_folder
from aicc.frontends.errors import ModelError
from aicc.lowering.parse import parse_module
from aicc.runtime.image import MAGIC, is_image


def model_folder(model: Any) -> Path | None:
    """The folder in which files that `model` names are found: that of its own file; None for the current one."""
    is_path = isinstance(model, PathLike) or (isinstance(model, str) and "\n" not in model)
    return Path(cast("str | PathLike[str]", model)).parent if is_path else None


def refuse_programs(model: Path | bytes) -> None:
    """
    Says of a compiled program, found where a model is expected, what it is.

    Raises:
        ModelError: the file, or the bytes, are such a program.
    """
    # Of a file that cannot be read, whoever reads the model says what is wrong.
    if model.startswith(MAGIC) if isinstance(model, bytes) else is_image(model):
        name = "the model" if isinstance(model, bytes) else model
        raise ModelError(f"{name}: is a compiled program, expected a model; run it with 'aicc run' or aicc.load")


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DiagnosticException(f"{path}: byte {error.start} is not UTF-8, expected textual IR") from error


def load_module(model: Any, shapes: Mapping[str, int] | None = None) -> ModuleOp:
    """
    A module of its own that the compiler may change.

    `model` is a path to an ONNX or `.mlir` file (`str` or `Path`), the bytes or `ModelProto` of an ONNX model, the text
    of IR at any level (a `str` with a newline), or a `ModuleOp`, which is cloned. `shapes` has numbers for symbols of
    the sizes of its inputs.

    Raises:
        ParseError: for text that is no IR.
        ModelError: for an ONNX model that is broken or holds what is not supported.
        OSError: for a file that cannot be read.
        ValueError: for an empty text.
        TypeError: for anything else.
    """
    if isinstance(model, ModuleOp):
        return _fixed(model.clone(), shapes)
    if isinstance(model, str) and "\n" in model:
        return _fixed(parse_module(model), shapes)
    if model == "":
        raise ValueError("the model is an empty text, expected a path or textual IR")
    if isinstance(model, str | PathLike):
        path = Path(cast("str | PathLike[str]", model))
        if path.suffix == ".mlir":
            with search_folder(path.parent):
                return _fixed(parse_module(_read_text(path), str(path)), shapes)
        model = path
    elif not isinstance(model, bytes) and type(model).__name__ != "ModelProto":
        raise TypeError(
            f"cannot compile a {type(model).__name__}; expected a path, ONNX bytes or ModelProto, IR text or a ModuleOp"
        )
    from aicc.frontends.onnx import import_onnx

    if isinstance(model, Path | bytes):
        refuse_programs(model)
    # The importer can do more with numbers than with symbols that become numbers later.
    return import_onnx(model, shapes=shapes)


def _fixed(module: ModuleOp, shapes: Mapping[str, int] | None) -> ModuleOp:
    if shapes:
        from aicc.transforms.graph_fix_sizes import fix_sizes

        fix_sizes(module, shapes)
    return module
