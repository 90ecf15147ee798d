"""
Links ELF objects into memory, without LLVM: what a program needs that was compiled before.

Takes relocatable objects of x86-64 as code generators make them for position-independent code of one piece. Sections
that are loaded are laid out one after the other, code and constants first, then on pages of their own what is written
to. Calls of functions outside go through stubs, since libraries may be further away than a call reaches. For anything
else, other machines and other kinds of relocations, `UnsupportedObject` says that LLVM has to do it.

ELF: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html, relocations: System V ABI, AMD64 supplement, 4.4.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

_FILE = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")

_PROGBITS, _SYMTAB, _RELA, _NOBITS = 1, 2, 4, 8
_WRITE, _ALLOC, _TLS = 1, 2, 0x400
_UNDEFINED, _RESERVED = 0, 0xFF00
_GLOBAL, _WEAK = 1, 2
_ABS64, _PC32, _PLT32, _GOTPCREL, _PC64, _GOTPCRELX, _REX_GOTPCRELX = 1, 2, 4, 9, 24, 41, 42
_MAGIC = b"\x7fELF\x02\x01\x01"
_X86_64 = 62

_JUMP = b"\xff\x25"
"""`jmp *offset(%rip)`, without the offset."""
_STUB = 8


class UnsupportedObject(Exception):
    """An object that this linker does not know how to link."""


class LinkError(Exception):
    """A symbol that is nowhere defined, or defined twice."""


@dataclass(frozen=True)
class _Section:
    name: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int

    @property
    def is_loaded(self) -> bool:
        return bool(self.flags & _ALLOC) and self.kind in (_PROGBITS, _NOBITS)


class _Object:
    """One object file and where its sections go."""

    def __init__(self, image: bytes) -> None:
        if len(image) < _FILE.size or image[: len(_MAGIC)] != _MAGIC:
            raise UnsupportedObject("no little-endian ELF object of 64 bits")
        header = cast("tuple[int, ...]", _FILE.unpack_from(image))
        if header[1] != 1 or header[2] != _X86_64:
            raise UnsupportedObject("no relocatable object of x86-64")
        start, entry, count, names = header[6], header[11], header[12], header[13]
        if entry != _SECTION.size or start + count * entry > len(image):
            raise UnsupportedObject("sections of an unknown form")
        fields: list[tuple[int, ...]] = [_SECTION.unpack_from(image, start + i * entry) for i in range(count)]
        self.image = image
        self.sections = [_Section(f[0], f[1], f[2], f[4], f[5], f[6], f[7], f[8]) for f in fields]
        self.names = self.sections[names].offset if names < count else 0
        self.places: dict[int, int] = {}
        """Section -> offset in memory."""
        tables = [section for section in self.sections if section.kind == _SYMTAB]
        if len(tables) != 1:
            raise UnsupportedObject("more or less than one table of symbols")
        (table,) = tables
        self.strings = self.sections[table.link].offset
        end = table.offset + table.size
        places = range(table.offset, end, _SYMBOL.size)
        self.symbols = [cast("tuple[int, int, int, int, int, int]", _SYMBOL.unpack_from(image, at)) for at in places]

    def text(self, offset: int) -> str:
        """The string that starts at a place of the file."""
        return self.image[offset : self.image.index(b"\0", offset)].decode()

    def loaded(self, *, writable: bool) -> list[int]:
        """Sections that take memory, by number; tables for unwinding the stack are left out."""
        found: list[int] = []
        for number, section in enumerate(self.sections):
            if not section.is_loaded or bool(section.flags & _WRITE) is not writable:
                continue
            if section.flags & _TLS:
                raise UnsupportedObject("memory of threads")
            if self.text(self.names + section.name) != ".eh_frame":
                found.append(number)
        return found


class Linked:
    """
    Linked code; it and its constants cannot be written to. Memory is given back when the last reference is gone.

    `outside` has addresses of functions that are no part of the objects; others are looked up in the process.

    Raises:
        UnsupportedObject: LLVM has to link the objects.
        LinkError: a symbol is missing or defined twice.
    """

    def __init__(self, images: Sequence[bytes], outside: Mapping[str, int]) -> None:
        if platform.machine() != "x86_64":
            raise UnsupportedObject(f"machine {platform.machine()}")
        try:
            objects = [_Object(image) for image in images]
        except (IndexError, ValueError, struct.error) as error:
            raise UnsupportedObject("a damaged object") from error
        self._outside = outside
        self._defined: dict[str, int] = {}
        self._slots: dict[str, int] = {}
        self._stubs: dict[str, int] = {}
        end = self._place(objects, 0, writable=False)
        undefined = _undefined(objects)
        # Each symbol that is not of the objects can get an address and a stub; so can their own, an address.
        symbols = len(undefined) + sum(len(one.symbols) for one in objects)
        self._next_slot = _round_up(end, 8)
        self._next_stub = self._next_slot + 8 * symbols
        code_end = _round_up(self._next_stub + _STUB * len(undefined), mmap.PAGESIZE)
        size = _round_up(self._place(objects, code_end, writable=True), mmap.PAGESIZE)
        self._memory = mmap.mmap(-1, max(size, mmap.PAGESIZE), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for one in objects:
            self._define(one)
        for one in objects:
            for number, place in one.places.items():
                section = one.sections[number]
                if section.kind == _PROGBITS:
                    self._memory[place : place + section.size] = one.image[
                        section.offset : section.offset + section.size
                    ]
        for one in objects:
            for section in one.sections:
                if section.kind == _RELA and section.info in one.places:
                    self._relocate(one, section)
        _protect(self._start, code_end)

    def address(self, name: str) -> int:
        """
        The address of a symbol of the objects.

        Raises:
            LinkError: there is no such.
        """
        if name not in self._defined:
            raise LinkError(f"'{name}' is not defined")
        return self._start + self._defined[name]

    @staticmethod
    def _place(objects: Sequence[_Object], end: int, *, writable: bool) -> int:
        for one in objects:
            for number in one.loaded(writable=writable):
                section = one.sections[number]
                one.places[number] = _round_up(end, max(section.align, 1))
                end = one.places[number] + section.size
        return end

    def _define(self, one: _Object) -> None:
        for name, info, _, section, value, _ in one.symbols:
            if info >> 4 in (_GLOBAL, _WEAK) and section in one.places:
                text = one.text(one.strings + name)
                if text in self._defined:
                    if info >> 4 == _WEAK:
                        continue
                    raise LinkError(f"'{text}' is defined twice")
                self._defined[text] = one.places[section] + value
            elif section >= _RESERVED and info & 15 != 4:
                raise UnsupportedObject("a symbol without a section")

    def _relocate(self, one: _Object, table: _Section) -> None:
        start = one.places[table.info]
        memory, image = self._memory, one.image
        for at in range(table.offset, table.offset + table.size, _RELOCATION.size):
            offset, kind, symbol, addend = cast("tuple[int, int, int, int]", _RELOCATION.unpack_from(image, at))
            name, _, _, section, value, _ = one.symbols[symbol]
            place = start + offset
            inside = one.places.get(section)
            text = "" if inside is not None else one.text(one.strings + name)
            target = self._defined.get(text) if inside is None else inside + value
            if kind in (_PC32, _PLT32):
                if target is None:
                    if kind != _PLT32:
                        raise UnsupportedObject(f"the address of '{text}' relative to code")
                    target = self._stub(text)
                _pack(memory, "<i", place, target + addend - place)
            elif kind in (_GOTPCREL, _GOTPCRELX, _REX_GOTPCRELX):
                key = text or f"{id(one)} {symbol}"
                slot = self._slot(key, self._outer(text) if target is None else self._start + target)
                _pack(memory, "<i", place, slot + addend - place)
            elif kind == _ABS64:
                known = self._outer(text) if target is None else self._start + target
                _pack(memory, "<q", place, known + addend)
            elif kind == _PC64 and target is not None:
                _pack(memory, "<q", place, target + addend - place)
            else:
                raise UnsupportedObject(f"relocation {kind}")

    def _slot(self, key: str, address: int) -> int:
        """Where the address of a symbol is kept."""
        if key not in self._slots:
            self._slots[key] = self._next_slot
            _pack(self._memory, "<Q", self._next_slot, address)
            self._next_slot += 8
        return self._slots[key]

    def _stub(self, name: str) -> int:
        """Code that goes on at a function outside."""
        if name not in self._stubs:
            slot = self._slot(name, self._outer(name))
            stub = self._stubs[name] = self._next_stub
            self._memory[stub : stub + 2] = _JUMP
            _pack(self._memory, "<i", stub + 2, slot - (stub + 6))
            self._next_stub += _STUB
        return self._stubs[name]

    def _outer(self, name: str) -> int:
        if name in self._outside:
            return self._outside[name]
        for library in _libraries():
            try:
                return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            except AttributeError:
                continue
        raise LinkError(f"'{name}' is not defined")


def _undefined(objects: Sequence[_Object]) -> set[str]:
    return {
        one.text(one.strings + name)
        for one in objects
        for name, _, _, section, _, _ in one.symbols[1:]
        if section == _UNDEFINED
    }


def _pack(memory: mmap.mmap, form: str, place: int, value: int) -> None:
    try:
        struct.pack_into(form, memory, place, value)
    except struct.error as error:
        raise UnsupportedObject("an address out of reach") from error


def _round_up(size: int, to: int) -> int:
    return -(-size // to) * to


def _protect(start: int, size: int) -> None:
    """Makes memory code, which may be run and read."""
    protect = _libraries()[0].mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if protect(start, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise UnsupportedObject("the system lets nobody make code")


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    libraries = [ctypes.CDLL(None)]
    with contextlib.suppress(OSError):
        libraries.append(ctypes.CDLL("libm.so.6"))
    return tuple(libraries)
