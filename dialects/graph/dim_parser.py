"""
The text of symbolic sizes:

    expression ::= term (("+" | "-") term)*
    term       ::= factor ("*" factor)*
    factor     ::= "-" factor | integer | name | function "(" expression ("," expression)* ")" | "(" expression ")"
    function   ::= "floordiv" | "ceildiv" | "mod" | "min" | "max"

A name is an identifier, or any text between backquotes (in attributes of the IR, where a backquote is no token, between
double quotes).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

from xdsl.parser import AttrParser
from xdsl.utils.mlir_lexer import PunctuationSpelling

from aicc.dialects.graph.symbolic import FUNCTIONS, Dim, apply_function, sym

_MAX_DEPTH = 64
"""Deepest nesting of parentheses that is read, so that hostile text cannot exhaust the stack."""


class TokenSource(Protocol):
    """What the grammar needs of a lexer: each method consumes one token, or nothing."""

    def punctuation(self, text: PunctuationSpelling) -> bool: ...

    def integer(self) -> int | None: ...

    def identifier(self) -> str | None: ...

    def quoted(self) -> str | None: ...

    def fail(self, text: str) -> NoReturn: ...


def parse_expression(source: TokenSource, depth: int = 0) -> Dim:
    """Reads one expression from `source`; calls its `fail` if there is none."""
    if depth > _MAX_DEPTH:
        source.fail(f"expression is nested more than {_MAX_DEPTH} levels deep")
    total = _term(source, depth)
    while True:
        if source.punctuation("+"):
            total = total + _term(source, depth)
        elif source.punctuation("-"):
            total = total - _term(source, depth)
        else:
            return total


def _term(source: TokenSource, depth: int) -> Dim:
    product = _factor(source, depth)
    while source.punctuation("*"):
        product = product * _factor(source, depth)
    return product


def _factor(source: TokenSource, depth: int) -> Dim:
    sign = 1
    while source.punctuation("-"):
        sign = -sign
    if (value := source.integer()) is not None:
        return sign * value
    if (quoted := source.quoted()) is not None:
        if not quoted:
            source.fail("the name of a symbol is empty")
        return sign * sym(quoted)
    if source.punctuation("("):
        inner = parse_expression(source, depth + 1)
        _expect(source, ")")
        return sign * inner
    if (name := source.identifier()) is None:
        source.fail("expected a size: an integer, a name, or an expression of them")
    if name not in FUNCTIONS:
        return sign * sym(name)
    _expect(source, "(")
    args = [parse_expression(source, depth + 1)]
    while source.punctuation(","):
        args.append(parse_expression(source, depth + 1))
    _expect(source, ")")
    return sign * _call(source, name, args)


def _call(source: TokenSource, name: str, args: Sequence[Dim]) -> Dim:
    if (name in ("min", "max") and len(args) < 2) or (name not in ("min", "max") and len(args) != 2):
        source.fail(f"{name} has {len(args)} arguments, expected 2")
    try:
        return apply_function(name, args)
    except ZeroDivisionError as error:
        source.fail(str(error))


def _expect(source: TokenSource, text: PunctuationSpelling) -> None:
    if not source.punctuation(text):
        source.fail(f"expected '{text}'")


_TOKEN = re.compile(r"\s*(?:(?P<integer>\d+)|(?P<name>[A-Za-z_]\w*)|`(?P<quoted>(?:[^`\\]|\\.)*)`|(?P<mark>[-+*(),]))")


class _TextSource:
    """Tokens of a string."""

    def __init__(self, text: str):
        self.text = text.rstrip()
        self.position = 0

    def _next(self, group: str, wanted: Callable[[str], bool]) -> str | None:
        match = _TOKEN.match(self.text, self.position)
        if match is None or (found := match.group(group)) is None or not wanted(found):
            return None
        self.position = match.end()
        return found

    def punctuation(self, text: PunctuationSpelling) -> bool:
        return self._next("mark", lambda found: found == text) is not None

    def integer(self) -> int | None:
        found = self._next("integer", lambda _: True)
        return None if found is None else int(found)

    def identifier(self) -> str | None:
        return self._next("name", lambda _: True)

    def quoted(self) -> str | None:
        found = self._next("quoted", lambda _: True)
        return None if found is None else re.sub(r"\\(.)", r"\1", found)

    def fail(self, text: str) -> NoReturn:
        raise ValueError(f"{text}, found {self.text[self.position :]!r} in {self.text!r}")


def parse_dim(text: str) -> Dim:
    """
    The size that `text` spells; the inverse of `str`.

    Raises:
        ValueError: if the text is no expression.
    """
    source = _TextSource(text)
    dim = parse_expression(source)
    if source.position != len(source.text):
        source.fail("expected the end of the expression")
    return dim


class _AttributeSource:
    """Tokens of an attribute in the IR."""

    def __init__(self, parser: AttrParser):
        self.parser = parser

    def punctuation(self, text: PunctuationSpelling) -> bool:
        return self.parser.parse_optional_punctuation(text) is not None

    def integer(self) -> int | None:
        return self.parser.parse_optional_integer(allow_boolean=False, allow_negative=False)

    def identifier(self) -> str | None:
        return self.parser.parse_optional_identifier()

    def quoted(self) -> str | None:
        return self.parser.parse_optional_str_literal()

    def fail(self, text: str) -> NoReturn:
        self.parser.raise_error(text)


def parse_dim_attribute(parser: AttrParser) -> Dim:
    """Reads one size from the IR."""
    source = _AttributeSource(parser)
    try:
        return parse_expression(source)
    except ValueError as error:
        source.fail(str(error))
