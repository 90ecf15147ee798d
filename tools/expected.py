"""
`--verify-diagnostics`: the diagnostics of a run against the `expected-` comments of the source, as MLIR matches them.

    // expected-error {{part of the message}}          on this line
    // expected-warning@+1 {{...}}  @-2  @above  @below     on a line counted from this one
    // expected-note@unknown {{...}}                   for a diagnostic without a place
    // expected-error-re {{op needs {{[0-9]+}} inputs}}   regular expressions in inner double braces

Each comment is used once; a diagnostic matches the first unused comment of its kind and line whose text it contains.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aicc.tools.diagnostics import Diagnostic

_COMMENT = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<offset>[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)
_MENTION = re.compile(r"//.*\bexpected-(error|note|remark|warning)\b")


@dataclass(eq=False)
class Expectation:
    """One `expected-` comment; `line` is 0 for a diagnostic without a place."""

    severity: str
    line: int
    text: str
    pattern: re.Pattern[str]
    comment_line: int
    column: int
    used: bool = False


def find_expectations(source: str, file: str, first_line: int) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations in `source`, whose first line has number `first_line`, and errors for malformed comments."""
    found: list[Expectation] = []
    errors: list[Diagnostic] = []
    lines = source.split("\n")
    is_code = [bool(line.strip()) and not line.strip().startswith("//") for line in lines]
    for index, line in enumerate(lines):
        if (mention := _MENTION.search(line)) is None:
            continue
        number = first_line + index
        if (match := _COMMENT.search(line)) is None:
            column = line.index("expected-", mention.start()) + 1
            text = "malformed expectation; write e.g. // expected-error@+1 {{text}}"
            errors.append(Diagnostic("error", text, file, number, column, len("expected-")))
            continue
        offset = match["offset"]
        try:
            pattern = _pattern(match["text"], match["regex"] is not None)
        except re.error as error:
            text = f"malformed regular expression: {error}"
            errors.append(Diagnostic("error", text, file, number, match.start("text") + 1, len(match["text"])))
            continue
        target = _target(index, offset, is_code)
        line_number = 0 if target is None else first_line + target
        found.append(Expectation(match["severity"], line_number, match["text"], pattern, number, match.start() + 1))
    return found, errors


def _target(index: int, offset: str | None, is_code: list[bool]) -> int | None:
    """The line (from 0) that a comment on line `index` speaks of; None for no place."""
    match offset:
        case None:
            return index
        case "unknown":
            return None
        case "above" | "below":
            # The nearest line of code, so that several comments can be stacked.
            step = 1 if offset == "below" else -1
            target = index + step
            while 0 <= target < len(is_code) and not is_code[target]:
                target += step
            return target
        case _:
            return index + int(offset)


def _pattern(text: str, regex: bool) -> re.Pattern[str]:
    if not regex:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts)))


def check_expectations(expectations: list[Expectation], diagnostics: list[Diagnostic], file: str) -> list[Diagnostic]:
    """Errors for diagnostics that nothing expected, then for expectations that nothing fulfilled."""
    failures: list[Diagnostic] = []
    for diagnostic in diagnostics:
        for message in (diagnostic, *diagnostic.notes):
            if not _use(expectations, message) and not (message.severity == "note" and message is not diagnostic):
                text = f"unexpected {message.severity}: {message.text}"
                failures.append(
                    Diagnostic("error", text, message.file, message.line, message.column, message.width, message.place)
                )
    for expectation in expectations:
        if not expectation.used:
            text = f'expected {expectation.severity} "{expectation.text}" was not produced'
            failures.append(Diagnostic("error", text, file, expectation.comment_line, expectation.column))
    return failures


def _use(expectations: list[Expectation], message: Diagnostic) -> bool:
    for expectation in expectations:
        if (
            not expectation.used
            and expectation.severity == message.severity
            and expectation.line == message.line
            and expectation.pattern.search(message.text)
        ):
            expectation.used = True
            return True
    return False
