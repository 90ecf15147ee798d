"""
aicc compiles models to native code.

    import aicc
    model = aicc.compile("model.onnx")
    outputs = model.run({"input": array})

    model.save("model.aicc")
    model = aicc.load("model.aicc")

Importing the package is cheap: the compiler loads when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aicc.compiler import compile
    from aicc.errors import CompileError
    from aicc.runtime.errors import InputError, ProgramError
    from aicc.runtime.loading import load
    from aicc.runtime.model import Model

    __version__: str

__all__ = ["CompileError", "InputError", "Model", "ProgramError", "compile", "load"]

_HOMES = {
    "compile": "aicc.compiler",
    "load": "aicc.runtime.loading",
    "CompileError": "aicc.errors",
    "Model": "aicc.runtime.model",
    "InputError": "aicc.runtime.errors",
    "ProgramError": "aicc.runtime.errors",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("aicc")
    if name not in _HOMES:
        raise AttributeError(f"module 'aicc' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
