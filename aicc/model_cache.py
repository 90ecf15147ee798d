"""The cache's entry for a whole model: what its key is made of, finding it, and keeping a program under it."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aicc.content import digest_of
from aicc.model_content import Content, content_of
from aicc.runtime.cache import Cache, Parts
from aicc.runtime.compiled import CompiledProgram
from aicc.versions import aicc_version, installed_version, library_versions, plug_in_versions

if TYPE_CHECKING:
    from aicc.lowering.pipelines import PipelineOptions


def _versions(kind: str) -> dict[str, str]:
    """Of whatever decides what code a model of this kind becomes."""
    versions = {"aicc": aicc_version(), **library_versions()}
    if kind == "onnx":
        return versions | {"onnx": installed_version("onnx")}
    return versions | {f"plug-in {name}": version for name, version in plug_in_versions().items()}


def _target(name: str) -> dict[str, Any]:
    from aicc.backends.llvm.targets import host_facts, target_by_name

    return host_facts() if name == "host" else json.loads(json.dumps(asdict(target_by_name(name))))


def _content(model: Any) -> Content | None:
    """The content of models that are objects; their classes are loaded, or they could not be there."""
    if type(model).__name__ == "ModelProto":
        try:
            return content_of(model.SerializeToString())
        except Exception:  # Protobuf refuses models over 2 GiB by several errors.
            return None
    if "xdsl.dialects.builtin" in sys.modules:
        from aicc.module_content import content_of_module

        return content_of_module(model)
    return None


@dataclass(frozen=True)
class ModelCache:
    """The place of one model in the cache."""

    cache: Cache
    kind: str
    parts: Parts
    """What the key is made of: the content of the model, options, target and versions."""
    source: Callable[[str], np.ndarray]
    content: Content

    @staticmethod
    def of(model: Any, content: Content | None, pipeline: str, options: PipelineOptions) -> ModelCache | None:
        """
        The place for `model` compiled this way; `content` is what `content_of` says of it.

        None if there is no cache, or the content cannot be told.
        """
        settle()
        cache = Cache.open()
        content = content or _content(model)
        if cache is None or content is None:
            return None
        chosen: dict[str, Any] = {"pipeline": pipeline, **asdict(options)}
        try:
            if options.schedules is not None:
                chosen["schedules"] = digest_of(Path(options.schedules).read_bytes())
            parts = {
                "content": content.digests(),
                "size": {"bytes": content.bytes()},
                "options": chosen,
                "target": _target(options.target),
                "versions": _versions(content.kind),
            }
        except OSError:
            return None
        return ModelCache(cache, content.kind, parts, content.source, content)

    def find(self) -> CompiledProgram | None:
        """The program, if it is there and intact."""
        return self.cache.read_program(self.parts, self.source)

    def keep(self, program: CompiledProgram, version: str | None = None) -> None:
        """
        Adds `program`, whose `prepare` has run, while the caller goes on.

        `version` is that of aicc before it was imported; None: the key is older than that.
        """
        versions: Mapping[str, str] = self.parts["versions"]
        # Modules that were imported after the sources had changed are not those of the key.
        if versions["aicc"] == (version or aicc_version()):
            # The interpreter waits for it when it ends.
            writing = threading.Thread(target=self._write, args=(program,))
            _writing.append(writing)
            writing.start()

    def _write(self, program: CompiledProgram) -> None:
        self.cache.write_program(self.parts, program, self.content.places(program.weights))
        self.cache.prune()


_writing: list[threading.Thread] = []


def settle() -> None:
    """Waits until all programs that are being added are there."""
    while _writing:
        _writing.pop().join()
