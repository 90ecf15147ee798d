"""Options of a pass between text and dataclass fields, both ways."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, NoReturn, Union, cast, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from aicc.lowering.parse import nearest
from aicc.tools.pipeline_text import OptionText, PassText, PipelineError

_PLAIN = re.compile(r"[A-Za-z0-9_.+:/@-]+")


class OptionInfo(NamedTuple):
    """One option as `--show-passes` lists it."""

    name: str
    type: str
    default: str | None
    """None for an option that must be given."""

    doc: str


def build_pass(module_pass: type[ModulePass], spelling: PassText, text: str) -> ModulePass:
    """
    An instance of `module_pass` with the options of `spelling`, which stands in `text`.

    Raises:
        PipelineError: for an unknown, missing, repeated or ill-typed option, or one that the pass refuses.
    """
    hints = get_type_hints(module_pass)
    fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(module_pass) if field.init}
    arguments: dict[str, Any] = {}
    for option in spelling.options:
        name = option.name.replace("_", "-")
        if name not in fields:
            _unknown_option(option, spelling, fields, text)
        if fields[name].name in arguments:
            _error(f"option '{name}' of pass '{spelling.name}' is given twice", option, text)
        arguments[fields[name].name] = _convert(option, hints[fields[name].name], spelling, text)
    for name, field in fields.items():
        if field.name not in arguments and not _has_default(field):
            if NoneType not in _members(hints[field.name]):
                message = f"pass '{spelling.name}' needs option '{name}' ({_type_text(hints[field.name])})"
                raise PipelineError(message, text, spelling.start, spelling.end)
            arguments[field.name] = None
    try:
        return module_pass(**arguments)
    except (DiagnosticException, ValueError) as error:
        raise PipelineError(str(error), text, spelling.start, spelling.end) from error


def _unknown_option(option: OptionText, spelling: PassText, known: dict[str, Any], text: str) -> NoReturn:
    hint = nearest(option.name.replace("_", "-"), known)
    if not hint:
        hint = f"; its options are {', '.join(known)}" if known else "; it has none"
    _error(f"pass '{spelling.name}' has no option '{option.name}'{hint}", option, text)


def _error(message: str, option: OptionText, text: str) -> NoReturn:
    raise PipelineError(message, text, option.start, option.end)


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


class _Mismatch(Exception):
    """A value that does not fit a type."""


def _convert(option: OptionText, hint: Any, spelling: PassText, text: str) -> Any:
    members = _members(hint)
    if not option.values:
        if bool in members:
            return True
        if NoneType in members:
            return None
        message = f"option '{option.name}' of pass '{spelling.name}' needs a value ({_type_text(hint)})"
        _error(message, option, text)
    values = [value.text for value in option.values]
    # Scalars before lists, so that one value for `int | tuple[int, ...]` is the number itself.
    for member in sorted(members, key=lambda member: get_origin(member) is tuple):
        try:
            return _convert_to(values, member)
        except _Mismatch:
            continue
    found = ",".join(values)
    message = f"option '{option.name}' of pass '{spelling.name}' is '{found}', expected {_type_text(hint)}"
    if hints := [str(choice) for member in members if get_origin(member) is Literal for choice in get_args(member)]:
        message += nearest(found, hints)
    raise PipelineError(message, text, option.values[0].start, option.values[-1].end)


def _convert_to(values: Sequence[str], member: Any) -> Any:
    if get_origin(member) is tuple:
        element = get_args(member)[0] if get_args(member) else str
        return tuple(_convert_scalar(value, element) for value in values)
    if member is str:
        return ",".join(values)
    if len(values) != 1:
        raise _Mismatch
    return _convert_scalar(values[0], member)


def _convert_scalar(value: str, element: Any) -> Any:
    if get_origin(element) is Literal:
        for choice in get_args(element):
            if str(choice) == value:
                return choice
    elif element is bool and value in ("true", "false", "1", "0"):
        return value in ("true", "1")
    elif element is str:
        return value
    elif element in (int, float):
        try:
            return element(value)
        except ValueError:
            raise _Mismatch from None
    elif get_origin(element) in (Union, UnionType):
        for member in get_args(element):
            try:
                return _convert_scalar(value, member)
            except _Mismatch:
                continue
    raise _Mismatch


def _type_text(hint: Any) -> str:
    texts: list[str] = []
    for member in _members(hint):
        if member is NoneType:
            continue
        if get_origin(member) is Literal:
            texts.append("|".join(str(choice) for choice in get_args(member)))
        elif get_origin(member) is tuple:
            texts.append(f"list of {_type_text(get_args(member)[0])}" if get_args(member) else "list")
        elif get_origin(member) in (Union, UnionType):
            texts.append(_type_text(member))
        else:
            texts.append({str: "string"}.get(member, getattr(member, "__name__", str(member))))
    return " or ".join(texts)


def format_pass(module_pass: ModulePass) -> str:
    """`name` or `name{option=value ...}` with the options that differ from their default, as a pipeline text has it."""
    parts: list[str] = []
    for field in dataclasses.fields(module_pass):
        value = getattr(module_pass, field.name)
        if not field.init or (_has_default(field) and value == _default(field)):
            continue
        if value is None or value == ():
            # An optional field that must be named is None by default; an empty list is written as the bare name.
            if _has_default(field):
                parts.append(field.name.replace("_", "-"))
            continue
        parts.append(f"{field.name.replace('_', '-')}={_format_values(value)}")
    return f"{module_pass.name}{{{' '.join(parts)}}}" if parts else module_pass.name


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def _format_values(value: Any) -> str:
    values = cast(tuple[Any, ...], value) if isinstance(value, tuple) else (value,)
    return ",".join(_format_value(item) for item in values)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return text if _PLAIN.fullmatch(text) else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def option_infos(module_pass: type[ModulePass]) -> tuple[OptionInfo, ...]:
    """The options of a pass in the order of its fields; the help is the first line of the string below the field."""
    hints = get_type_hints(module_pass)
    docs = _field_docs(module_pass)
    found: list[OptionInfo] = []
    for field in dataclasses.fields(module_pass):
        if not field.init:
            continue
        default = None
        if _has_default(field):
            value = _default(field)
            default = "none" if value is None or value == () else _format_values(value)
        elif NoneType in _members(hints[field.name]):
            default = "none"
        name = field.name.replace("_", "-")
        found.append(OptionInfo(name, _type_text(hints[field.name]), default, docs.get(field.name, "")))
    return tuple(found)


def _field_docs(module_pass: type[ModulePass]) -> dict[str, str]:
    """Strings below annotated fields, as Python does not keep them at run time."""
    import ast
    import inspect
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(module_pass)))
    except (OSError, TypeError, SyntaxError):
        return {}
    docs: dict[str, str] = {}
    for node in tree.body:
        body = node.body if isinstance(node, ast.ClassDef) else []
        for field, text in pairwise(body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            ):
                docs[field.target.id] = " ".join(text.value.value.split())
    return docs
