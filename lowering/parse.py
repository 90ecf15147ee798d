"""
Textual IR to a module whose ops all have a location.

xDSL's parser gives an op a location only where the text has one; ours gives it the place of its name in the file, and
a misspelt op name the nearest known one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    ComplexType,
    FileLineColLoc,
    IndexType,
    IntAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import AttributeInvT, Block, BlockArgument, Dialect, Operation, Region, SSAValue
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from aicc.lowering.context import make_context


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the known name closest to `name`, or nothing if none is close."""
    # Of names as short as `O2`, half the letters are close enough.
    matches = get_close_matches(name, known, n=1, cutoff=0.6 if len(name) > 3 else 0.5)
    return f"; did you mean '{matches[0]}'?" if matches else ""


_UNREGISTERED = re.compile(r"'(\S+)' is not registered")


class _Lexer(MLIRLexer):
    """xDSL's lexer, whose own pattern takes exponential time on a quote that is not closed."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class _BitsElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """A hexadecimal element of a dense literal: the bits of a float, which xDSL's parser takes for its value."""

    def to_float_of(self, parser: AttrParser, type: AnyFloat) -> float:
        """The float of type `type` that has these bits."""
        assert isinstance(self.value, int)
        if self.value.bit_length() > type.bitwidth:
            parser.raise_error("hexadecimal float constant out of range for type", self.span)
        return next(type.iter_unpack(self.value.to_bytes(type.compile_time_size, "little")))

    def to_type(self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType):
        if isinstance(type, AnyFloat):
            return self.to_float_of(parser, type)
        return super().to_type(parser, type)


class LocatedParser(Parser):
    """xDSL's parser, with a location on every op and better words for an unknown op."""

    def __init__(self, ctx: Context, text: str, name: str, *, first_line: int = 1):
        """`first_line` is the number of the line in file `name` at which `text` starts."""
        # Not `Parser.__init__`, which would read the first token with a lexer of its own.
        AttrParser.__init__(self, ParserState(_Lexer(Input(text, name))), ctx)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self._file = StringAttr(name)
        self._first_line = first_line
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._name_positions: list[int] = []
        self._first_uses: dict[str, Span] = {}
        """Where a value that was not defined by then is first used."""
        self._written_location: LocationAttr | None = None

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """All ops of the text; anything but a single `builtin.module` is wrapped in one. Empty text is empty."""
        ops: list[Operation] = []
        while (kind := self._current_token.kind) != MLIRTokenKind.EOF:
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (op := self.parse_optional_operation()) is not None:
                ops.append(op)
            else:
                self.raise_error(f"expected an operation, found '{self._current_token.text}'")
        if self.forward_ssa_references:
            self._raise_undefined(next(iter(self.forward_ssa_references)))
        if len(ops) == 1 and isinstance(module := ops[0], ModuleOp):
            return module
        module = ModuleOp(ops)
        module.location = self._location(0)
        return module

    def _parse_tensor_literal_element(self):
        hexadecimal = self._current_token.text[:2] in ("0x", "0X")
        element = super()._parse_tensor_literal_element()
        return _BitsElement(element.is_negative, element.value, element.span) if hexadecimal else element

    def _raise_undefined(self, name: str) -> NoReturn:
        self.raise_error(f"value %{name} is used but not defined", self._first_uses.get(name))

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        if (name := operand.operand_name) not in self.ssa_values:
            self._first_uses.setdefault(name, operand.span)
        return super().resolve_operand(operand, type)

    @property
    def current_span(self) -> Span:
        """The name of the op that is being read, else the next token: the place of an error that knows none."""
        if not self._name_positions:
            return self._current_token.span
        start = self._name_positions[-1]
        return Span(start, start + 1, self.lexer.input)

    def parse_operation(self) -> Operation:
        depth = len(self._name_positions)
        op = super().parse_operation()
        # An op's own location is the last thing written in it, so the last one asked for is the op's.
        if self._written_location is None:
            op.location = self._location(self._name_positions[depth])
        self._written_location = None
        del self._name_positions[depth:]
        return op

    def parse_optional_location(self) -> LocationAttr | None:
        self._written_location = super().parse_optional_location()
        return self._written_location

    def parse_optional_region(self, arguments: Sequence[Parser.Argument] | None = None) -> Region | None:
        try:
            return super().parse_optional_region(arguments)
        except MultipleSpansParseError as error:
            if not error.refs:
                raise
            # A block that is missing is reported where it is used, not at the end of the region.
            span = cast(Span, error.refs[0][0])
            raise ParseError(span, f"block {span.text} is not defined") from error

    def _parse_block(self) -> Block:
        token = self._current_token
        if token.kind is not MLIRTokenKind.CARET_IDENT:
            found = "the end of the text" if token.kind is MLIRTokenKind.EOF else f"'{token.text}'"
            self.raise_error(f"expected an operation, a block or '}}', found {found}")
        name = token.text[1:]
        # Only a block that was mentioned but not defined may be known already.
        if name in self.blocks and name not in self.forward_block_references:
            self.raise_error(f"block ^{name} is already defined", token.span)
        return super()._parse_block()

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if isinstance(value, BlockArgument) and value.location == UNKNOWN_LOC:
                value.location = self._location(span.start)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        # The name has just been read, so the text before the current token ends in it.
        text = self.lexer.input.content
        end = self._current_token.span.start
        start = text.rfind(name, 0, end)
        if start < 0:
            start = end
        elif start > 0 and text[start - 1] == '"':
            start -= 1
        self._name_positions.append(start)
        try:
            found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        except Exception as error:
            self._raise_at(f"the dialect of '{name}' cannot be loaded: {type(error).__name__}: {error}", start, name)
        if found is None:
            self._raise_at(f"unknown op '{name}'{self._nearest_op(name)}", start, name)
        return found

    def _raise_at(self, text: str, start: int, name: str) -> NoReturn:
        quoted = 2 if self.lexer.input.content[start : start + 1] == '"' else 0
        raise ParseError(Span(start, start + len(name) + quoted, self.lexer.input), text)

    def _nearest_op(self, name: str) -> str:
        dialect_name, _, op_name = name.partition(".")
        known = set(self.ctx.registered_dialect_names)
        if dialect_name in known:
            # Without the dialect, which all names have in common and which would make any two of them look close.
            close = get_close_matches(
                op_name, [other.partition(".")[2] for other in _op_names(self.ctx, dialect_name)], 1
            )
            return f"; did you mean '{dialect_name}.{close[0]}'?" if close else ""
        candidates: list[str] = []
        for dialect in get_close_matches(dialect_name, known, n=3):
            candidates += _op_names(self.ctx, dialect)
        if hint := nearest(name, candidates):
            return hint
        return f": no dialect '{dialect_name}'{nearest(dialect_name, known)}"

    def unknown_type_or_attribute(self, name: str) -> ParseError:
        """The error for a type or attribute `name` that has just been read and is not known."""
        text = self.lexer.input.content
        start = max(text.rfind(name, 0, self._current_token.span.start), 0)
        dialect_name = name.partition(".")[0]
        known = set(self.ctx.registered_dialect_names)
        if dialect_name not in known:
            hint = f": no dialect '{dialect_name}'{nearest(dialect_name, known)}"
        else:
            hint = nearest(name, [attribute.name for attribute in self.ctx.get_dialect(dialect_name).attributes])
        what = {"!": "type", "#": "attribute"}.get(text[start - 1 : start], "type or attribute")
        return ParseError(Span(start, start + len(name), self.lexer.input), f"unknown {what} '{name}'{hint}")

    def _location(self, position: int) -> FileLineColLoc:
        line = bisect_right(self._line_starts, position) - 1
        column = position - self._line_starts[line] + 1
        return FileLineColLoc(self._file, IntAttr(line + self._first_line), IntAttr(column))


def _op_names(ctx: Context, dialect_name: str) -> list[str]:
    try:
        dialect: Dialect | None = ctx.get_optional_dialect(dialect_name)
    except Exception:
        # A broken dialect offers no names; using it is what reports the fault.
        return []
    return [] if dialect is None else [op.name for op in dialect.operations]


def parse_module(
    text: str, filename: str = "<string>", *, context: Context | None = None, first_line: int = 1
) -> ModuleOp:
    """
    The module that `text` spells, not yet verified. `first_line` is the line of the file at which `text` starts.

    Raises:
        ParseError: for all that cannot be read, with the place in the text (counted from its own first line).
    """
    # The parser starts by reading a token, so a text that starts with a wrong one has no parser to ask for the place.
    parser: LocatedParser | None = None
    try:
        parser = LocatedParser(make_context() if context is None else context, text, filename, first_line=first_line)
        return parser.parse_module()
    except ParseError as error:
        if parser is not None and (match := _UNREGISTERED.fullmatch(error.msg)) is not None:
            error = parser.unknown_type_or_attribute(match.group(1))
        error.span = replace(error.span, line_offset=first_line - 1)
        raise error
    except Exception as error:
        span = Span(0, 1, Input(text, filename)) if parser is None else parser.current_span
        raise ParseError(replace(span, line_offset=first_line - 1), _reason(error)) from error


def _reason(error: Exception) -> str:
    """What to tell the user about an exception that xDSL's parser let through."""
    if isinstance(error, (VerifyException, UnregisteredConstructException)):
        return str(error)
    if isinstance(error, RecursionError):
        return "the text is nested too deeply to be read"
    return f"the text before this cannot be read ({type(error).__name__}: {error})"
