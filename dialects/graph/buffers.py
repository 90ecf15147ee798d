"""
Weights: arrays that the IR refers to by name and never prints.

`#graph.buffer<"name">` is an array in memory, `#graph.buffer<"name", "weights.safetensors">` one in a file beside the
IR, mapped into memory when first read. `constant_array` reads the value of any constant op.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.graph.dims import tensor_of, tensor_type
from aicc.dialects.graph.dtypes import bit_width, element_type, is_narrow, is_narrow_float, numpy_dtype
from aicc.dialects.graph.safetensors_file import read_tensor, write_tensors

DENSE_LIMIT = 64
"""Arrays of more elements than this become buffers."""

_folder: ContextVar[Path | None] = ContextVar("buffer_search_folder", default=None)


@contextmanager
def search_folder(path: str | Path) -> Generator[None, None, None]:
    """Buffers parsed in this context find their files in folder `path`."""
    token = _folder.set(Path(path))
    try:
        yield
    finally:
        _folder.reset(token)


def current_folder() -> Path | None:
    """The folder of the enclosing `search_folder`."""
    return _folder.get()


class Buffer:
    """An array with a name: in memory, or in a safetensors file under the same name."""

    __slots__ = ("_array", "_folder", "file", "name")

    def __init__(
        self, name: str, array: np.ndarray | None = None, *, file: str | None = None, folder: Path | None = None
    ):
        """`file` is relative to `folder`; a buffer with neither an array nor a file can be printed but not read."""
        self.name = name
        self.file = file
        self._folder = folder
        self._array = None if array is None else _read_only(array)

    @property
    def folder(self) -> Path | None:
        """Where `file` is found."""
        return self._folder

    @property
    def is_loaded(self) -> bool:
        """Whether the array is in memory (or mapped)."""
        return self._array is not None

    def array(self) -> np.ndarray:
        """
        The array, read-only.

        Raises:
            DiagnosticException: if there is no data, or the file is missing, damaged or outside the folder.
        """
        if self._array is None:
            if self.file is None:
                raise DiagnosticException(
                    f'buffer "{self.name}" has no data; write the weights to a file beside the IR, or inline them'
                )
            self._array = _read_only(read_tensor(resolve_beside(self._folder, self.file), self.name))
        return self._array

    def same_as(self, other: Buffer) -> bool:
        """Whether both are the same name in the same file, or the same array in memory."""
        if self is other:
            return True
        if self.name != other.name or self.file != other.file:
            return False
        return self._folder == other._folder if self.file is not None else self._array is other._array


def make_buffer(name: str, file: str | None) -> Buffer:
    """A buffer that finds its file in the folder of the enclosing `search_folder`, as one that was parsed does."""
    return Buffer(name, file=file, folder=_folder.get())


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def resolve_beside(folder: Path | None, file: str) -> Path:
    """
    The path of `file` in `folder` (the current one if None).

    Raises:
        DiagnosticException: if `file` is absolute or leads out of the folder, also through a symbolic link.
    """
    base = (folder or Path()).resolve()
    path = (base / file).resolve()
    if Path(file).is_absolute() or not path.is_relative_to(base):
        raise DiagnosticException(f"file '{file}' lies outside the folder {base}, expected a relative path within it")
    return path


@irdl_attr_definition
class BufferAttr(Data[Buffer]):
    """
    A reference to an array by name.

    ```mlir
    #graph.buffer<"conv1.weight", "weights.safetensors">
    ```
    """

    name = "graph.buffer"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Buffer:
        with parser.in_angle_brackets():
            name = parser.parse_str_literal()
            file = parser.parse_str_literal() if parser.parse_optional_punctuation(",") else None
        return make_buffer(name, file)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.name)
            if self.data.file is not None:
                printer.print_string(", ")
                printer.print_string_literal(self.data.file)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BufferAttr) and self.data.same_as(other.data)

    def __hash__(self) -> int:
        return hash((self.data.name, self.data.file))


def dense_attr(array: np.ndarray, element: Attribute | None = None) -> DenseIntOrFPElementsAttr[Any]:
    """The elements of `array`, spelt out; of element type `element` if given (which must have the array's dtype)."""
    type = tensor_type(array.shape, element_type(array.dtype) if element is None else element)
    little_endian = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return DenseIntOrFPElementsAttr(type, BytesAttr(little_endian.tobytes()))


def array_to_constant_attr(array: np.ndarray, name: str, element: Attribute | None = None) -> Attribute:
    """The value of a constant op: dense for at most `DENSE_LIMIT` elements, else a buffer called `name`."""
    return dense_attr(array, element) if array.size <= DENSE_LIMIT else BufferAttr(Buffer(name, array))


def attribute_array(value: Attribute, type: Attribute) -> np.ndarray:
    """
    The array that a constant's `value` stands for, where the constant is of tensor type `type`.

    Raises:
        DiagnosticException: if it cannot be read, or has another shape or dtype than `type`.
    """
    tensor = tensor_of(type)
    dtype = numpy_dtype(tensor.element_type)
    shape = tensor.get_shape()
    match value:
        case DenseIntOrFPElementsAttr():
            raw = np.frombuffer(value.data.data, dtype=np.uint8 if dtype == np.bool_ else dtype.newbyteorder("<"))
            if is_narrow(tensor.element_type) and not is_narrow_float(tensor.element_type):
                # Integers are spelt out with their sign in a whole byte.
                mask = np.uint8((1 << bit_width(tensor.element_type)) - 1)
                return (raw.view(np.uint8) & mask).view(dtype).reshape(shape)
            return (raw != 0 if dtype == np.bool_ else raw.astype(dtype, copy=False)).reshape(shape)
        case BufferAttr():
            array = value.data.array()
            if array.dtype == np.uint8 and is_narrow(tensor.element_type):
                array = array.view(dtype)  # Files have no name for some of them.
            if array.shape != shape or array.dtype != dtype:
                raise DiagnosticException(
                    f'buffer "{value.data.name}" holds {array.dtype}{list(array.shape)}, expected {dtype}{list(shape)}'
                )
            return array
        case _:
            raise DiagnosticException(f"found constant value {value}, expected dense elements or a #graph.buffer")


def constant_array(op: Operation) -> np.ndarray:
    """The value of a constant op of any level (one with a `value` property and one tensor or memref result)."""
    return attribute_array(op.properties["value"], op.results[0].type)


def _constants(root: Operation) -> Generator[tuple[Operation, Buffer], None, None]:
    for op in root.walk():
        value = op.properties.get("value")
        if isinstance(value, BufferAttr):
            yield op, value.data


def has_buffers(root: Operation) -> bool:
    """Whether some constant in `root` has its data outside the IR."""
    return any(True for _ in _constants(root))


def settle_names(root: Operation) -> dict[str, Buffer]:
    """
    The buffers that constants in `root` name, by name, each name standing for one array.

    Of buffers that share a name but not their data, all but the first are given a name of their own in the IR.
    """
    found: dict[str, Buffer] = {}
    renamed: dict[int, BufferAttr] = {}
    for op, buffer in _constants(root):
        if found.setdefault(buffer.name, buffer).same_as(buffer):
            continue
        if id(buffer) not in renamed:
            number = 1
            while (name := f"{buffer.name}_{number}") in found:
                number += 1
            # Under its new name it is in no file.
            found[name] = Buffer(name, buffer.array())
            renamed[id(buffer)] = BufferAttr(found[name])
        op.properties["value"] = renamed[id(buffer)]
    return found


def inline_constants(module: Operation) -> None:
    """Spells out every buffer in `module` as dense elements."""
    for op, _ in _constants(module):
        op.properties["value"] = dense_attr(constant_array(op), tensor_of(op.results[0].type).element_type)


def save_buffers(module: Operation, path: str | Path) -> None:
    """
    Writes the arrays of all buffers in `module` to one safetensors file and points the IR to it, by its file name.

    Two buffers of one name that hold different arrays get different names in the file.
    """
    path = Path(path)
    saved: dict[str, Buffer] = {}
    replacement: dict[int, BufferAttr] = {}
    kept: list[Buffer] = []
    for op, buffer in _constants(module):
        if id(buffer) not in replacement:
            kept.append(buffer)  # keeps its id from being reused
            name, number = buffer.name, 0
            while name in saved and not saved[name].same_as(buffer):
                number += 1
                name = f"{buffer.name}_{number}"
            saved.setdefault(name, buffer)
            replacement[id(buffer)] = BufferAttr(Buffer(name, buffer.array(), file=path.name, folder=path.parent))
        op.properties["value"] = replacement[id(buffer)]
    write_tensors(path, {name: buffer.array() for name, buffer in saved.items()})
