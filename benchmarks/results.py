"""Figures on disk: one JSON file per kind, into which later runs of some cases are merged."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.cases import Work
from benchmarks.report import Row
from benchmarks.rounds import Measured


def _row(data: dict[str, Any]) -> Row:
    engines = {name: Measured(**measured) for name, measured in data["engines"].items()}
    return Row(data["case"], data["threads"], engines, Work(**data["work"]), data["bound"])


def read_rows(path: Path) -> list[Row]:
    """The rows of a file; none if there is no such file."""
    if not path.exists():
        return []
    return [_row(data) for data in json.loads(path.read_text())["rows"]]


def write_json(path: Path, data: object) -> None:
    """Writes the file at once: whoever reads it meanwhile finds the old one whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps(data, indent=1))
    fresh.replace(path)


def merge_rows(path: Path, rows: Iterable[Row], about: dict[str, Any]) -> None:
    """Writes `rows` into the file, in place of what it has for the same cases and threads; `about` replaces the old."""
    kept = {(row.case, row.threads): row for row in read_rows(path)}
    kept |= {(row.case, row.threads): row for row in rows}
    write_json(path, {"about": about, "rows": [asdict(row) for row in kept.values()]})
