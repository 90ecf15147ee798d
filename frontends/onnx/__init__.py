"""
The ONNX importer: `import_onnx` makes a module of `graph` ops from a model.

One file per family of operators (`ops_*.py`) holds a table from operator name to the function that makes its ops;
`table.py` joins them. The package `onnx` is imported only when a model is.
"""

from aicc.frontends.onnx.importer import import_onnx

__all__ = ["import_onnx"]
