"""What programs are linked by where `aicc.runtime.linker` cannot: LLVM."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from functools import cache

import llvmlite.binding as llvm

from aicc.runtime.errors import ProgramError

_counter = itertools.count()
_lock = threading.Lock()


@cache
def _engine() -> llvm.LLJIT:
    """The process's JIT; libraries are added to it one per program."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    return llvm.create_lljit_compiler(machine, use_jit_link=False)


class Jitted:
    """
    Linked code; memory is given back when the last reference is gone.

    Raises:
        ProgramError: the objects cannot be linked.
    """

    def __init__(self, images: Sequence[bytes], outside: Mapping[str, int], exported: Sequence[str]) -> None:
        builder = llvm.JITLibraryBuilder()
        for name, address in outside.items():
            builder.import_symbol(name, address)
        for image in images:
            builder.add_object_img(image)
        builder.add_current_process()
        for name in exported:
            builder.export_symbol(name)
        with _lock:
            try:
                self._tracker = builder.link(_engine(), f"aicc_{next(_counter)}")
            except RuntimeError as error:
                raise ProgramError(f"the compiled program cannot be linked: {error}") from error

    def address(self, name: str) -> int:
        """The address of an exported symbol."""
        return self._tracker[name]
