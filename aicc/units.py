"""
Kernels to object code, one by one: found in the cache by what they were made from, or scheduled, lowered and emitted.

The work on one kernel is a task in bytes, so that it can be done in another process; see `Forks`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UNKNOWN_LOC

from aicc.backends.llvm.targets import Target
from aicc.backends.llvm.writer import module_to_llvm_text
from aicc.content import digest_of
from aicc.lowering.loops_to_llvm import ConvertLoopsToLLVMPass, lower_kernel
from aicc.objects import Made, make_object
from aicc.runtime.cache import Cache
from aicc.tools.runner import internal_faults
from aicc.transforms.kernel_clock import kernel_time, listening
from aicc.transforms.kernel_unit import Demands, KernelUnit, PackerUnit, TextOfUnits, UnitPass
from aicc.transforms.loops_pack import build_packer


@dataclass
class UnitWork:
    """Makes kernels of one module; `passes` are those that work on single kernels, in order."""

    units: Sequence[KernelUnit]
    passes: Sequence[UnitPass]
    target: Target
    cache: Cache | None
    version: str
    """Of everything that decides what becomes of a kernel, but for `passes` and `target`."""

    def __post_init__(self) -> None:
        self._texts = TextOfUnits()
        self._setting = f"{self.version}\0{self.target!r}\0{self.passes!r}\0"

    @staticmethod
    def kernel_task(index: int) -> bytes:
        """The task to make the unit at `index`."""
        return json.dumps(index).encode()

    @staticmethod
    def packer_task(unit: PackerUnit) -> bytes:
        """The task to make a packing kernel."""
        return json.dumps([unit.name, unit.symbols, Demands([unit.packed]).to_json()]).encode()

    def __call__(self, task: bytes) -> bytes:
        """The bytes of `Made` for a task."""
        what = json.loads(task)
        times: list[tuple[str, str, float]] = []
        with listening(lambda work, name, seconds: times.append((work, name, seconds))):
            if isinstance(what, int):
                made = self._kernel(self.units[what])
            else:
                name, symbols, packed = what
                (source,) = Demands.from_json(packed).packs
                made = self._lowered(KernelUnit(build_packer(name, symbols, source, UNKNOWN_LOC)))
        made.times = times
        return made.to_bytes()

    def _kernel(self, unit: KernelUnit) -> Made:
        key = ""
        if self.cache is not None:
            key = digest_of((self._setting + self._texts.text(unit)).encode())
            if (found := self._find(key)) is not None:
                return found
        for kernel_pass in self.passes:
            with internal_faults(f"pass '{getattr(kernel_pass, 'name', '')}'", unit.kernel):
                kernel_pass.apply_to_unit(unit)
        made = self._lowered(unit)
        made.unit_key, made.demands = key, unit.demands
        return made

    def _find(self, key: str) -> Made | None:
        """The kernel with this key, if the cache has all of it."""
        assert self.cache is not None
        entry = self.cache.read_unit(key)
        if entry is None:
            return None
        object_key, demands = json.loads(entry)
        image = self.cache.read_object(object_key)
        if image is None:
            return None
        return Made(image, Demands.from_json(demands), object_key, key, new=False, new_unit=False)

    def _lowered(self, unit: KernelUnit) -> Made:
        with kernel_time("lower", unit.name):
            with internal_faults(f"pass '{ConvertLoopsToLLVMPass.name}'", unit.kernel):
                module = lower_kernel(unit.kernel, self.target.facts().masked_bytes)
            text = module_to_llvm_text(module)
        return make_object(text, unit.name, self.target, self.cache)
