"""
The ONNX importer: `import_onnx` makes a module of `graph` ops from a model.

One file per family of operators (`ops_*.py`) holds a table from operator name to the function that makes its ops;
`table.py` joins them. The package `onnx` is imported only when a model is.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aicc.frontends.onnx.importer import import_onnx

__all__ = ["import_onnx"]


def __getattr__(name: str) -> Any:
    # The files of a model are found by `wire.py`, which needs neither xDSL nor the importer.
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from aicc.frontends.onnx.importer import import_onnx

    return import_onnx
