"""
The file form of a compiled program: `aicc.load` and the cache read it and link it; nothing is compiled.

Layout, little endian:

    0   8 bytes    MAGIC
    8   u32, u32   FORMAT, 0
    16  u64, u64   bytes of the table, bytes of the file
    32  32 bytes   SHA-256 of the 32 bytes before and the table
    64  table      JSON: signature, machine, key, and of each part its place and checksum; the same of each variant
    ..  parts      object code and arrays, each at a multiple of 64 bytes

Objects are checked by their SHA-256. Arrays are checked by `checksum`, at the speed of memory: it finds every damage
that changes one bit, or all data from some place on, and other damage but with a chance of 2^-64. It is no protection
against someone who forges a file: a program is code, and must come from where one would run code from.

A weight that another file holds as it is, such as that of the model, may be named by its place there.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from aicc.runtime.compiled import CompiledProgram, Machine, Variant
from aicc.runtime.errors import ProgramError
from aicc.runtime.memory import ALIGNMENT, long_lived_bytes
from aicc.runtime.signature import parse_signature

MAGIC = b"AICCPROG"
FORMAT = 6
"""Goes up with every change of the layout, the table or the calling convention of programs."""

TEMPORARY = "new-"
"""What the names of files begin with that are still being written."""

_HEAD = struct.Struct("<8sIIQQ")
_HEAD_BYTES = 64

_BLOCK = 8192
_FACTORS = (np.arange(_BLOCK, dtype=np.uint64) * np.uint64(2) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that a change of one bit in a word never disappears in the product modulo 2^64."""


@dataclass(frozen=True)
class Place:
    """Bytes of another file, which the reader of the image knows by the name `source`."""

    source: str
    offset: int
    size: int


def is_image(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a saved program does; False for one that cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def checksum(data: np.ndarray) -> str:
    """
    SHA-256 of the sums `sum(word[i] * factor[i])` modulo 2^64 over blocks of 8192 words, and of the bytes left over.

    `data` is one-dimensional, of bytes.
    """
    count = data.size // (8 * _BLOCK)
    words = data[: count * 8 * _BLOCK].view("<u8").reshape(count, _BLOCK)
    sums: np.ndarray = np.einsum("ij,j->i", words, _FACTORS)
    digest = hashlib.sha256(sums.astype("<u8", copy=False).tobytes())
    digest.update(data[count * 8 * _BLOCK :].tobytes())
    return digest.hexdigest()


def _bytes_of(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def image_bytes(program: CompiledProgram, outside: Mapping[str, Place]) -> int:
    """About the size of the file that `write_image` makes."""
    total = 0
    for one in (program, *(variant.program for variant in program.variants)):
        total += sum(array.nbytes for name, array in one.weights.items() if name not in outside)
        total += sum(array.nbytes for array in (one.prepared or {}).values()) + sum(map(len, one.objects))
    return total


def write_image(
    path: Path,
    program: CompiledProgram,
    *,
    key: Mapping[str, Any] | None = None,
    outside: Mapping[str, Place] | None = None,
) -> None:
    """
    Writes `program`, whose `prepare` has run, so that `path` is either as before or complete.

    `key` is stored for `read_table`. Weights named in `outside` are not written.

    Raises:
        OSError: the file cannot be written.
    """
    outside = outside or {}
    parts: list[memoryview] = []
    places: dict[tuple[str, int], int] = {}
    end = 0

    def place(data: memoryview, digest: str) -> tuple[int, int]:
        """Where the part lies; what variants share is there once."""
        nonlocal end
        start = places.setdefault((digest, len(data)), end)
        if start == end:
            end += _round_up(len(data))
            parts.append(data)
        return start, len(data)

    def entries(one: CompiledProgram) -> dict[str, Any]:
        """The part of the table that is about one program."""
        assert one.prepared is not None or not one.has_prepare
        objects: list[list[Any]] = []
        for image in one.objects:
            digest = hashlib.sha256(image).hexdigest()
            objects.append([*place(memoryview(image), digest), digest])
        arrays: list[dict[str, Any]] = []
        for kind, group in (("weight", one.weights), ("prepared", one.prepared or {})):
            for name, array in group.items():
                entry: dict[str, Any] = {"kind": kind, "name": name}
                if kind == "weight" and name in outside:
                    found = outside[name]
                    entry |= {"source": found.source, "place": [found.offset, found.size]}
                else:
                    data = _bytes_of(array)
                    digest = checksum(data)
                    entry |= {"place": place(data.data, digest), "checksum": digest}
                arrays.append(entry)
        return {
            "signature": one.signature.text,
            "has_prepare": one.has_prepare,
            "objects": objects,
            "arrays": arrays,
        }

    machine = None if program.machine is None else [program.machine.triple, *program.machine.features]
    variants = [{"sizes": dict(one.sizes), **entries(one.program)} for one in program.variants]
    table = json.dumps({**entries(program), "machine": machine, "key": key, "variants": variants}).encode()
    head = _HEAD.pack(MAGIC, FORMAT, 0, len(table), _round_up(_HEAD_BYTES + len(table)) + end)
    with replacing(path) as file:
        file.write(head + hashlib.sha256(head + table).digest() + table)
        file.write(bytes(_round_up(_HEAD_BYTES + len(table)) - _HEAD_BYTES - len(table)))
        for data in parts:
            file.write(data)
            file.write(bytes(_round_up(len(data)) - len(data)))


@contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """
    A new file that takes the place of `path` when the context is left without an exception.

    Raises:
        OSError: that cannot be; `path` is the file it names.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if path.exists() and not path.is_file():  # A device such as /dev/null must not give way to a file.
            raise OSError(errno.EINVAL, "is no regular file and cannot be replaced", str(path))
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=TEMPORARY, delete=False) as file:
            try:
                yield file
                file.flush()
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        if error.errno is None:
            raise
        # The name of the temporary file says nothing to whoever asked for `path`.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _read(path: Path) -> np.ndarray:
    """
    The bytes of the file, read-only.

    Read and not mapped: kernels that stream weights wait for the translation of addresses where these lie in small
    pages, as those of files do.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        data = long_lived_bytes(size)[:size]
        done = 0
        while done < size and (count := file.readinto(data[done:].data)):
            done += count
    data.flags.writeable = False
    return data[:done]


def _table_bytes(head: bytes, size: int, path: Path) -> int:
    """The length of the table, by the first bytes of a file that has `size` bytes."""
    if len(head) < _HEAD_BYTES or head[: len(MAGIC)] != MAGIC:
        raise ProgramError(f"{path} is no compiled program")
    _, version, _, length, total = _HEAD.unpack_from(head)
    if version != FORMAT:
        raise ProgramError(f"{path} has format {version}, this version of aicc reads {FORMAT}; compile the model again")
    if total != size or length > size - _HEAD_BYTES:
        raise ProgramError(f"{path} is damaged: it has {size} bytes, expected {total}")
    return length


def _parse_table(head: bytes, table: bytes, path: Path) -> dict[str, Any]:
    if hashlib.sha256(head[: _HEAD.size] + table).digest() != head[_HEAD.size : _HEAD_BYTES]:
        raise ProgramError(f"{path} is damaged: its table does not match its checksum")
    return cast("dict[str, Any]", json.loads(table))


def read_table(path: Path) -> dict[str, Any]:
    """
    The table alone; the parts are not read.

    Raises:
        ProgramError: the file is no intact image of this format.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        head = file.read(_HEAD_BYTES)
        length = _table_bytes(head, os.fstat(file.fileno()).st_size, path)
        return _parse_table(head, file.read(length), path)


def read_image(
    path: Path, sources: Callable[[str], np.ndarray] | None = None, key: Mapping[str, Any] | None = None
) -> CompiledProgram:
    """
    The program. `sources` gives the bytes of the other files that weights may lie in; with `key`, an image that was
    written with another one is refused.

    Raises:
        ProgramError: the file is no image of this format, or is damaged, or is of another key.
        OSError: it cannot be read.
    """
    data = _read(path)
    head = data[:_HEAD_BYTES].tobytes()
    length = _table_bytes(head, data.size, path)
    table = _parse_table(head, data[_HEAD_BYTES : _HEAD_BYTES + length].tobytes(), path)
    if key is not None and table["key"] != key:
        raise ProgramError(f"{path} is not the program that it is said to be")
    parts = data[_round_up(_HEAD_BYTES + length) :]
    machine = table["machine"]
    program = _program(table, parts, path, sources)
    variants = tuple(
        Variant(one["sizes"], _program(one, parts, path, sources)) for one in cast("list[Any]", table["variants"])
    )
    known = None if machine is None else Machine(machine[0], tuple(machine[1:]))
    return replace(program, machine=known, variants=variants)


def _program(
    table: Mapping[str, Any], parts: np.ndarray, path: Path, sources: Callable[[str], np.ndarray] | None
) -> CompiledProgram:
    """The program that a part of the table is about."""
    objects: list[bytes] = []
    for offset, size, digest in table["objects"]:
        image = parts[offset : offset + size].tobytes()
        if hashlib.sha256(image).hexdigest() != digest:
            raise ProgramError(f"{path} is damaged: object code does not match its checksum")
        objects.append(image)
    arrays: dict[str, dict[str, np.ndarray]] = {"weight": {}, "prepared": {}}
    for entry in table["arrays"]:
        offset, size = entry["place"]
        if "source" in entry:
            if sources is None:
                raise ProgramError(f"{path}: the weight '{entry['name']}' lies in another file: this is no saved model")
            array = sources(entry["source"])[offset : offset + size]
            if array.size != size:
                raise ProgramError(f"{path}: the weight '{entry['name']}' is not where it was in {entry['source']}")
        else:
            array = parts[offset : offset + size]
            if checksum(array) != entry["checksum"]:
                raise ProgramError(f"{path} is damaged: the data of '{entry['name']}' do not match their checksum")
        arrays[entry["kind"]][entry["name"]] = array
    return CompiledProgram(
        parse_signature(table["signature"]),
        objects,
        arrays["weight"],
        table["has_prepare"],
        prepared=arrays["prepared"],
    )
