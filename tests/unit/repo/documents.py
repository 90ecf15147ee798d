"""
Runs the code in README.md and docs/*.md; `python -m tests.unit.repo.documents --update` writes the real outputs back.

What a fenced block means is told by its language and by what stands before it:

- `sh` runs with bash in an empty folder that holds a copy of `examples/`. A block of `make` commands is only checked to
  name targets that exist, and one that begins with `git clone` or `pip install` is left alone.
- `python` runs as a program in the same folder.
- `text` or `mlir` right after one of these is its expected output: there `...` stands for any text in a line, and a
  line of only `...` for any lines.
- `mlir` that is no expected output must parse and verify.
- `<!-- file: name -->` right before a block writes the block to a file first, for the commands that follow.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass
class Block:
    """One fenced block; `follows` is true when only blank lines part it from the block before."""

    file: str | None
    language: str
    text: str
    start: int
    """Where the text begins in the document, in characters."""
    line: int
    follows: bool


def documents() -> list[Path]:
    """The documents whose blocks are run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks_of(source: str) -> list[Block]:
    """The fenced blocks of a document in order."""
    found: list[Block] = []
    end = -1
    for match in BLOCK.finditer(source):
        follows = end >= 0 and not source[end : match.start()].strip()
        line = source.count("\n", 0, match.start("text"))
        found.append(Block(match["file"], match["language"], match["text"], match.start("text"), line, follows))
        end = match.end()
    return found


def matches(expected: str, found: str) -> bool:
    """Whether `found` is `expected`, blanks at the ends of lines aside, with `...` as a wildcard."""
    parts: list[str] = []
    for line in expected.strip("\n").split("\n"):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append("[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n")
    found = "".join(f"{line.rstrip()}\n" for line in found.strip("\n").split("\n"))
    return re.fullmatch("".join(parts), found) is not None


def run(block: Block, folder: Path) -> str | None:
    """
    Output of an `sh` or `python` block, standard error included; None for a block that is not run.

    Raises:
        AssertionError: if a target of `make` does not exist, or the last command of the block does not succeed.
    """
    lines = [line for line in block.text.splitlines() if line.strip() and not line.startswith("#")]
    if block.language == "sh" and lines[0].startswith(("git clone", "pip install")):
        return None
    if block.language == "sh" and all(line.startswith("make") for line in lines):
        for line in lines:
            target = line.split("#")[0].split()[1]
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), f"no make target {target}"
        return None
    command = ["bash", "-o", "pipefail", "-c"] if block.language == "sh" else [sys.executable, "-c"]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [*command, block.text], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    # A document may show a diagnostic on purpose; then the output, which follows, says `error:`.
    assert done.returncode == 0 or "error:" in done.stdout, f"exit status {done.returncode}:\n{done.stdout}"
    return done.stdout


def verify(block: Block, folder: Path) -> None:
    """
    Parses and verifies an `mlir` block.

    Raises:
        AssertionError: with the diagnostics, if that fails.
    """
    command = [str(Path(sys.executable).parent / "aicc-opt"), "-", "-o", os.devnull]
    done = subprocess.run(command, input=block.text, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def differences(document: Path, *, update: bool = False) -> list[str]:
    """Everything in `document` that is not as it says, by line; `update` writes real outputs over wrong ones."""
    source = document.read_text()
    wrong: list[str] = []
    replaced: list[tuple[Block, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.egg-info", "build"))
        output: str | None = None
        for block in blocks_of(source):
            expected_from, output = output if block.follows else None, None
            if expected_from is not None and block.file is None and block.language in ("text", "mlir"):
                if not matches(block.text, expected_from):
                    wrong.append(f"{document.name}:{block.line}: expected\n{block.text}\nfound\n{expected_from}")
                    replaced.append((block, expected_from.strip("\n") + "\n"))
                continue
            if block.file is not None:
                (folder / block.file).write_text(block.text)
            try:
                if block.language in ("sh", "python"):
                    output = run(block, folder)
                elif block.language == "mlir":
                    verify(block, folder)
            except AssertionError as error:
                wrong.append(f"{document.name}:{block.line}: {error}")
    if update:
        for block, text in reversed(replaced):
            source = source[: block.start] + text + source[block.start + len(block.text) :]
        document.write_text(source)
    return wrong


if __name__ == "__main__":
    for path in documents():
        print(*differences(path, update="--update" in sys.argv), sep="\n")
