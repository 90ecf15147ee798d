"""Attributes that xDSL's `llvm` dialect lacks: loop annotations and alias scopes, in upstream MLIR's spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


def _print_entries(printer: Printer, entries: Mapping[str, Attribute]) -> None:
    """`<key = value, ...>`."""
    with printer.in_angle_brackets():
        for index, (key, value) in enumerate(entries.items()):
            printer.print_string(f"{', ' if index else ''}{key} = ")
            printer.print_attribute(value)


def _parse_entries(parser: AttrParser) -> dict[str, Attribute]:
    def entry() -> tuple[str, Attribute]:
        key = parser.parse_identifier()
        parser.parse_punctuation("=")
        return key, parser.parse_attribute()

    return dict(parser.parse_comma_separated_list(AttrParser.Delimiter.ANGLE, entry))


class _Entries(ParametrizedAttribute):
    """An attribute written as `<key = value, ...>`, every entry optional."""

    entries: DictionaryAttr

    def __init__(self, entries: DictionaryAttr):
        super().__init__(entries)

    def print_parameters(self, printer: Printer) -> None:
        _print_entries(printer, self.entries.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return [DictionaryAttr(_parse_entries(parser))]


@irdl_attr_definition(init=False)
class LoopVectorizeAttr(_Entries):
    """`#llvm.loop_vectorize<disable = true>`: hints for LLVM's loop vectoriser."""

    name = "llvm.loop_vectorize"


@irdl_attr_definition(init=False)
class LoopUnrollAttr(_Entries):
    """`#llvm.loop_unroll<disable = true>`, or `count = 4 : i32`: hints for LLVM's unroller."""

    name = "llvm.loop_unroll"


@irdl_attr_definition(init=False)
class LoopAnnotationAttr(_Entries):
    """
    `#llvm.loop_annotation<vectorize = ..., unroll = ..., mustProgress = true>` on a loop's back edge.

    Entries that the LLVM writer understands: `disableNonforced`, `mustProgress`, `vectorize`, `unroll`.
    """

    name = "llvm.loop_annotation"


def loop_annotation(*, vectorize: bool = True, unroll: bool = True) -> LoopAnnotationAttr:
    """The annotation of a loop that always ends; False forbids LLVM the transformation."""
    no: dict[str, Attribute] = {"disable": IntegerAttr.from_bool(True)}
    entries: dict[str, Attribute] = {}
    if not vectorize:
        entries["vectorize"] = LoopVectorizeAttr(DictionaryAttr(no))
    if not unroll:
        entries["unroll"] = LoopUnrollAttr(DictionaryAttr(no))
    entries["mustProgress"] = IntegerAttr.from_bool(True)
    return LoopAnnotationAttr(DictionaryAttr(entries))


@irdl_attr_definition(init=False)
class AliasScopeDomainAttr(_Entries):
    """`#llvm.alias_scope_domain<id = "name", description = "text">`: a set of alias scopes, one per function."""

    name = "llvm.alias_scope_domain"


@irdl_attr_definition(init=False)
class AliasScopeAttr(_Entries):
    """`#llvm.alias_scope<id = "name", domain = #llvm.alias_scope_domain<...>>`: one memory region of a domain."""

    name = "llvm.alias_scope"


def alias_scope(name: str, domain: str) -> AliasScopeAttr:
    """The scope `name` of the domain `domain`; accesses of one scope never alias those that list it as noalias."""
    domain_attr = AliasScopeDomainAttr(DictionaryAttr({"id": StringAttr(domain)}))
    return AliasScopeAttr(DictionaryAttr({"id": StringAttr(name), "domain": domain_attr}))


def flag(value: Attribute | None) -> bool:
    """Whether a boolean entry is present and true."""
    return isinstance(value, IntegerAttr) and bool(value.value.data)
