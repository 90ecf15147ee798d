"""The commands and the IR in README.md and docs/ do what the text says; `documents.py` has the rules."""

from pathlib import Path

import pytest

from tests.unit.repo.documents import blocks_of, differences, documents, matches


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_document(document: Path):
    assert differences(document) == []


def test_blocks_know_their_file_and_what_they_follow():
    source = "<!-- file: a.mlir -->\n```mlir\nx\n```\n\ntext\n\n```sh\nrun\n```\n\n```text\nout\n```\n"
    blocks = blocks_of(source)
    assert [(block.file, block.language, block.text, block.follows) for block in blocks] == [
        ("a.mlir", "mlir", "x\n", False),
        (None, "sh", "run\n", False),
        (None, "text", "out\n", True),
    ]


@pytest.mark.parametrize(
    "expected, found, same",
    [
        ("a\nb", "a  \nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a ... c", "a bbb c", True),
        ("a ... c", "a b\nb c", False),
        ("a\n...\nc", "a\nb\nb\nc", True),
        ("a\n...\nc", "a\nc", True),
        ("a.b", "axb", False),
    ],
)
def test_expected_output_with_wildcards(expected: str, found: str, same: bool):
    assert matches(expected, found) is same
