"""
Pipelines as text, in MLIR's nested form and xDSL's flat form, read into a tree with the place of every part.

    pipeline ::= element (`,` element)*
    element  ::= anchor `(` pipeline? `)` | name (`{` option* `}`)?
    option   ::= key (`=` value (`,` value)*)?
    value    ::= `"` text `"` | balanced text without blanks, commas or unbalanced braces

Blanks between parts do not matter. Which names are known is not decided here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_BLANK = re.compile(r"\s*")
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
_OPEN, _CLOSE = "{[(<", "}])>"


class PipelineError(Exception):
    """A pipeline text that cannot be used: what is wrong, and which stretch of the text."""

    def __init__(self, message: str, text: str, start: int, end: int):
        super().__init__(message)
        self.message = message
        self.text = text
        self.start = start
        self.end = end


@dataclass(frozen=True)
class ValueText:
    """One value of an option."""

    text: str
    quoted: bool
    start: int
    end: int


@dataclass(frozen=True)
class OptionText:
    """An option; without values it was given by name alone."""

    name: str
    values: tuple[ValueText, ...]
    start: int
    end: int


@dataclass(frozen=True)
class PassText:
    """A pass by name, with options."""

    name: str
    options: tuple[OptionText, ...]
    start: int
    end: int


@dataclass(frozen=True)
class NestText:
    """A pipeline that runs on each op of the name `anchor`."""

    anchor: str
    elements: tuple[PassText | NestText, ...]
    start: int
    end: int


def parse_pipeline_text(text: str) -> tuple[PassText | NestText, ...]:
    """
    The elements of `text`; none for blank text.

    Raises:
        PipelineError: for text that is not a pipeline.
    """
    reader = _Reader(text)
    reader.skip()
    elements = () if reader.at_end() else reader.elements()
    if not reader.at_end():
        reader.error("expected ',' or the end of the pipeline" if reader.peek() != ")" else "unmatched ')'")
    return elements


def parse_options_text(name: str, text: str, offset: int) -> PassText:
    """The pass `name` with options written without braces, as in `--name="a=1 b=2"`; they start at `text[offset]`."""
    reader = _Reader(text)
    reader.position = offset
    found: list[OptionText] = []
    reader.skip()
    while not reader.at_end():
        found.append(reader.option())
        reader.skip()
    start = max(text.find(name), 0)
    return PassText(name, tuple(found), start, start + len(name))


class _Reader:
    """A cursor over the text. Nesting is kept on a list, not on Python's stack."""

    def __init__(self, text: str):
        self.text = text
        self.position = 0

    def error(self, message: str, start: int | None = None, end: int | None = None) -> NoReturn:
        start = self.position if start is None else start
        raise PipelineError(message, self.text, start, start + 1 if end is None else end)

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def skip(self) -> None:
        found = _BLANK.match(self.text, self.position)
        if found is not None:
            self.position = found.end()

    def take(self, character: str) -> bool:
        self.skip()
        if self.peek() != character:
            return False
        self.position += 1
        self.skip()
        return True

    def name(self, what: str) -> tuple[str, int]:
        start = self.position
        found = _NAME.match(self.text, start)
        if found is None:
            self.error(f"expected {what}" + (f", found '{self.peek()}'" if self.peek() else " at the end"))
        self.position = found.end()
        return found.group(), start

    def elements(self) -> tuple[PassText | NestText, ...]:
        """All elements up to the end of the text or an unmatched `)`."""
        open_nests: list[tuple[str, int, list[PassText | NestText]]] = []
        current: list[PassText | NestText] = []
        while True:
            self.skip()
            name, start = self.name("a pass name")
            end = self.position
            if self.take("("):
                open_nests.append((name, start, current))
                current = []
                if self.peek() != ")":
                    continue
            else:
                options = self.options() if self.take("{") else ()
                if self.peek() == "[" and name == "mlir-opt":
                    options = self.upstream_pipeline()
                current.append(PassText(name, options, start, end))
            while open_nests and self.take(")"):
                anchor, start, outer = open_nests.pop()
                outer.append(NestText(anchor, tuple(current), start, self.position))
                current = outer
            if not self.take(","):
                break
        if open_nests:
            anchor, start, _ = open_nests[-1]
            if self.at_end():
                self.error(f"'{anchor}(' is not closed, expected ')'", start, start + len(anchor) + 1)
            self.error(f"expected ',' or ')', found '{self.peek()}'")
        return tuple(current)

    def options(self) -> tuple[OptionText, ...]:
        opened = self.position - 1
        found: list[OptionText] = []
        while not self.take("}"):
            if self.at_end():
                self.error("'{' is not closed, expected '}'", opened)
            found.append(self.option())
        return tuple(found)

    def option(self) -> OptionText:
        name, start = self.name("an option name")
        end = self.position
        values: list[ValueText] = []
        if self.take("="):
            values.append(self.value())
            while self.take(","):
                values.append(self.value())
        return OptionText(name, tuple(values), start, end)

    def value(self) -> ValueText:
        start = self.position
        if (found := _STRING.match(self.text, start)) is not None:
            self.position = found.end()
            return ValueText(re.sub(r"\\(.)", r"\1", found.group(1)), True, start, self.position)
        depth = 0
        while not self.at_end():
            character = self.peek()
            if character in _OPEN:
                depth += 1
            elif depth and character in _CLOSE:
                depth -= 1
            elif not depth and (character in "},=" or character.isspace()):
                break
            self.position += 1
        if depth:
            self.error("unbalanced brackets in an option value", start, self.position)
        if self.position == start:
            self.error("expected an option value")
        if self.peek() == "=":
            self.error("'=' in an option value; put the value in double quotes")
        return ValueText(self.text[start : self.position], False, start, self.position)

    def upstream_pipeline(self) -> tuple[OptionText, ...]:
        """`[...]` after `mlir-opt`, xDSL's way to hand a pipeline to the upstream tool of that name."""
        start = self.position
        end = self.text.find("]", start)
        if end < 0:
            self.error("'[' is not closed, expected ']'")
        arguments = (
            "--mlir-print-op-generic",
            "--allow-unregistered-dialect",
            "-p",
            f"builtin.module({self.text[start + 1 : end]})",
        )
        self.position = end + 1
        self.skip()
        values = tuple(ValueText(argument, True, start, end + 1) for argument in arguments)
        return (OptionText("arguments", values, start, end + 1),)
