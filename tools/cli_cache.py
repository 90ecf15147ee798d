"""`aicc cache`: what the cache of compiled code holds, emptying it, and why a model was not found in it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from aicc.runtime.cache import LIMIT, OBJECT, UNIT, Cache, Parts
from aicc.runtime.cache_folder import PROGRAM, cache_folder, refusal
from aicc.runtime.wording import number_of
from aicc.tools.cli_values import UsageError
from aicc.tools.compile_options import pipeline_options

_KINDS = {PROGRAM: "programs", OBJECT: "objects of kernels", UNIT: "kernels, by their loops", "": "files being written"}
_DIGEST_SHOWN = 12


def cache_command(options: argparse.Namespace) -> int:
    """Runs `aicc cache info`, `clear` or `why`."""
    cache = _open()
    if options.action == "info":
        lines = _info(cache)
    elif options.action == "clear":
        lines = iter([f"{cache.clear()} entries removed from {cache.folder}"])
    else:
        lines = _why(cache, options)
    for line in lines:
        print(line)
    return 0


def _open() -> Cache:
    """
    The cache.

    Raises:
        UsageError: if it cannot be used; says why.
    """
    from aicc.model_cache import settle

    settle()
    cache = Cache.open()
    if cache is not None:
        return cache
    folder = cache_folder()
    reason = refusal(folder) if folder.is_dir() else "it is no folder and cannot be made"
    raise UsageError(f"the cache folder {folder} is not used: {reason}; AICC_CACHE_DIR names another one")


def _info(cache: Cache) -> Iterator[str]:
    entries = cache.entries()
    total = sum(entry.size for entry in entries)
    yield f"{cache.folder}: {_megabytes(total)} of at most {_megabytes(LIMIT)}"
    for suffix, kind in _KINDS.items():
        sizes = [entry.size for entry in entries if entry.path.suffix == suffix]
        if sizes:
            yield f"  {kind}: {len(sizes)}, {_megabytes(sum(sizes))}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _why(cache: Cache, options: argparse.Namespace) -> Iterator[str]:
    from aicc.compiler import OPT_LEVELS
    from aicc.model_cache import ModelCache
    from aicc.model_content import content_of

    place = ModelCache.of(
        options.model,
        content_of(options.model),
        OPT_LEVELS[options.opt_level],
        pipeline_options(options),
    )
    if place is None:
        with open(options.model, "rb"):  # says why, if it cannot be read
            yield f"{options.model} cannot be looked up: it is no model, or names files that are not there"
        return
    path = cache.program_path(place.parts)
    if place.find() is not None:
        yield f"{options.model} is in the cache: {path.name}, {_megabytes(path.stat().st_size)}"
        return
    if path.exists():
        yield f"{options.model} is in the cache, but damaged: {path.name}; it will be compiled again"
        return
    others = [parts for _, parts in cache.programs()]
    if not others:
        yield f"{options.model} is not in the cache, which holds no programs"
        return
    nearest = min(others, key=lambda parts: _distance(place.parts, parts))
    yield f"{options.model} is not in the cache; of the nearest of {number_of(len(others), 'program')} differs:"
    yield from _differences(place.parts, nearest)


def _flat(parts: Parts) -> dict[tuple[str, str], Any]:
    return {(group, name): value for group, values in parts.items() for name, value in values.items()}


def _distance(one: Parts, other: Parts) -> tuple[bool, int]:
    """Other content is further away than anything else."""
    a, b = _flat(one), _flat(other)
    changed = sum(a.get(key) != b.get(key) for key in {*a, *b})
    return one["content"] != other["content"], changed


def _differences(wanted: Parts, found: Parts) -> Iterator[str]:
    for group in sorted({*wanted, *found}):
        here: Mapping[str, Any] = wanted.get(group, {})
        there: Mapping[str, Any] = found.get(group, {})
        for name in sorted({*here, *there}):
            if here.get(name) != there.get(name):
                yield f"  {_spelling(group, name)} is {_shown(here.get(name))}, there {_shown(there.get(name))}"


def _spelling(group: str, name: str) -> str:
    if group == "content":
        return f"content: '{name}'" if name else "content: the model"
    return f"{group}: {name}"


def _shown(value: Any) -> str:
    """The value as JSON; of digests and long lists the beginning."""
    text = value if isinstance(value, str) else "missing" if value is None else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:_DIGEST_SHOWN]}..."
