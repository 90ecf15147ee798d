"""Arrays for a model's inputs, as a command line names them: from files, or random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.graph.dims import evaluate_dims, symbols_of
from aicc.dialects.graph.symbol_names import check_symbols
from aicc.runtime.errors import InputError
from aicc.runtime.expressions import linear_form
from aicc.runtime.signature import TensorInfo
from aicc.tools.cli_values import UsageError, named_values


def sizes_given(texts: Sequence[str]) -> dict[str, int]:
    """
    The values of symbols, given as `SYMBOL=N`.

    Raises:
        UsageError: one is of another form, or no size.
    """
    sizes = named_values(texts, "--size")
    for name, value in sizes.items():
        if not value.isdigit():
            raise UsageError(f"--size {name}={value}: expected a size of at least 0")
    return {name: int(value) for name, value in sizes.items()}


def input_arrays(infos: Sequence[TensorInfo], given: Sequence[str], texts: Sequence[str]) -> dict[str, np.ndarray]:
    """
    An array for each of `infos`: from the file that `given` (`NAME=FILE.npy`) names for it, else random, of the sizes
    that the given ones tell; symbols that they do not tell have their values in `texts` (`SYMBOL=N`), 1 by default.

    Raises:
        UsageError: there is no such input, or a file has another size than `texts` say.
        UnknownSymbolError: there is no such symbol.
        InputError: a file holds no array.
        OSError: a file cannot be read.
    """
    files, sizes = named_values(given, "--input"), sizes_given(texts)
    names = [info.name for info in infos]
    symbols = sorted(
        {symbol for info in infos for dim in info.shape if isinstance(dim, str) for symbol in _symbols(dim)}
    )
    for name in files:
        if name not in names:
            known = ", ".join(f"'{other}'" for other in names) or "none"
            raise UsageError(f"the model has no input '{name}' (its inputs: {known})")
    check_symbols(sizes, symbols)
    asked = frozenset(sizes)
    read = {info.name: _read(files[info.name], info) for info in infos if files.get(info.name, "random") != "random"}
    for info in infos:
        if info.name in read:
            _learn(info, read[info.name].shape, symbols, sizes, given=asked)
    generator = np.random.default_rng(0)
    return {info.name: read[info.name] if info.name in read else _random(info, sizes, generator) for info in infos}


def _learn(
    info: TensorInfo, shape: Sequence[int], symbols: Sequence[str], sizes: dict[str, int], *, given: frozenset[str]
) -> None:
    """
    Adds to `sizes` what the shape of an array for `info` tells of `symbols`; the `given` ones must be the same.

    Whether the array fits otherwise is for the model to say.
    """
    if len(shape) != len(info.shape):
        return
    for axis, (found, dim) in enumerate(zip(shape, info.shape, strict=True)):
        form = linear_form(dim, symbols) if isinstance(dim, str) else None
        if form is None:
            continue
        name, factor, offset = form
        value, rest = divmod(found - offset, factor)
        if rest or value < 0:
            continue
        if sizes.setdefault(name, value) != value and name in given:
            raise UsageError(
                f"--size {name}={sizes[name]}: {name} is {value} from the array given for '{info.name}', "
                f"whose dim {axis} is {found}"
            )


def _read(path: str, info: TensorInfo) -> np.ndarray:
    try:
        array = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise InputError(f"--input {info.name}: {path} is no .npy file of numbers") from error
    # The .npy format knows no bfloat16: it is saved as two opaque bytes.
    if array.dtype.kind == "V" and array.dtype.itemsize == info.dtype.itemsize:
        return array.view(info.dtype)
    return array


def _random(info: TensorInfo, sizes: Mapping[str, int], generator: np.random.Generator) -> np.ndarray:
    """Standard normal for floats, small non-negative numbers for integers, either for booleans."""
    shape = [dim if isinstance(dim, int) else _size(dim, sizes) for dim in info.shape]
    kind = info.dtype.kind
    if kind == "b":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if kind in "iu":
        return generator.integers(0, 10, shape).astype(info.dtype)
    return generator.standard_normal(shape).astype(info.dtype)


def _symbols(text: str) -> tuple[str, ...]:
    """The symbols in the expression of a size."""
    return symbols_of([parse_dim(text)])


def _size(text: str, sizes: Mapping[str, int]) -> int:
    dim = parse_dim(text)
    return evaluate_dims([dim], {name: sizes.get(name, 1) for name in symbols_of([dim])})[0]
