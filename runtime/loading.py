"""`aicc.load`: a saved model, ready to run; nothing is compiled."""

from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from aicc.runtime.errors import ProgramError
from aicc.runtime.image import read_image
from aicc.runtime.machine import lacking
from aicc.runtime.model import Model


def load(path: str | PathLike[str], *, threads: int | None = None) -> Model:
    """
    The model that `Model.save` wrote to `path`; `threads` as for `aicc.compile`.

    The file is read, weights in huge pages where the system has them. It holds machine code: load only what you would
    run.

    Raises:
        ProgramError: the file is no saved model, damaged, of another version, or for another machine.
        OSError: it cannot be read.
    """
    path = Path(path)
    program = read_image(path)
    if program.machine is not None and (missing := lacking(program.machine)) is not None:
        raise ProgramError(f"{path} holds code for another machine: this one {missing}")
    return Model(program, threads=threads)


def load_bytes(data: bytes, threads: int | None = None) -> Model:
    """As `load`, for the content of such a file."""
    with TemporaryDirectory(prefix="aicc-") as folder:
        path = Path(folder) / "model.aicc"
        path.write_bytes(data)
        return load(path, threads=threads)
