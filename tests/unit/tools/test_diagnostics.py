"""Diagnostics as text."""

import pytest
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, LocationAttr, NameLoc, NoneAttr, StringAttr
from xdsl.utils.exceptions import ParseError, VerifyException

from aicc.lowering.parse import parse_module
from aicc.tools.diagnostics import Diagnostic, from_exception, from_message, render
from aicc.transforms.diagnostics import LocatedPassError, Message, diagnostic_handler, fail, note, remark, warn

SOURCE = "first\n\tsecond line\n" + "x" * 300 + "HERE" + "y" * 300 + "\n"


def at(line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("m"), IntAttr(line), IntAttr(column))


def shown(location: LocationAttr, *notes: Message) -> str:
    return render(from_message(Message("error", "wrong", location, notes)), {"m": SOURCE})


def test_source_line_and_caret():
    assert shown(at(1, 3)) == "m:1:3: error: wrong\nfirst\n  ^"


def test_tabs_line_up():
    assert shown(at(2, 9)).splitlines()[1:] == ["\tsecond line", "\t       ^"]


def test_long_lines_are_cut_around_the_place():
    line, caret = shown(at(3, 301)).splitlines()[1:]
    assert len(line) <= 160
    assert line[caret.index("^") :].startswith("HERE")


@pytest.mark.parametrize("line, column", [(9, 1), (1, 99)])
def test_places_outside_the_text(line: int, column: int):
    assert shown(at(line, column)).startswith(f"m:{line}:{column}: error: wrong")


def test_files_that_are_not_at_hand():
    assert render(Diagnostic("error", "wrong", "other", 3, 4), {}) == "other:3:4: error: wrong"


def test_names_of_source_nodes():
    node = NameLoc(StringAttr("conv1"), NoneAttr())
    assert shown(node) == '"conv1": error: wrong'
    named = NameLoc(StringAttr("relu"), at(1, 1))
    assert shown(FusedLoc([node, named], NoneAttr())).splitlines()[-1] == "note: source name: conv1, relu"


def test_no_place_at_all():
    assert render(from_exception(VerifyException("wrong")), {}) == "aicc-opt: error: wrong"
    assert render(from_exception(VerifyException("wrong")), {}, tool="aicc") == "aicc: error: wrong"


def test_notes_follow():
    lines = shown(at(1, 1), Message("note", "because", at(2, 2)), Message("note", "so")).splitlines()
    assert [line for line in lines if "note" in line] == ["m:2:2: note: because", "note: so"]


def test_parse_errors_underline_their_span():
    with pytest.raises(ParseError) as caught:
        parse_module("arith.adi", "m")
    assert render(from_exception(caught.value), {"m": "arith.adi"}).splitlines()[-1] == "^~~~~~~~~"


def test_messages_of_several_lines_become_one():
    assert from_exception(VerifyException("Operand 0 does not verify:\nUnexpected i32.")).text == (
        "operand 0 does not verify: Unexpected i32"
    )


def test_fail_warn_and_remark_carry_the_place():
    op = next(iter(parse_module("func.func @f() { func.return }", "m").ops))
    with pytest.raises(LocatedPassError) as caught:
        fail(op, "cannot", note("as here", op))
    assert render(from_exception(caught.value), {}) == "m:1:1: error: cannot\nm:1:1: note: as here"
    seen: list[Message] = []
    with diagnostic_handler(seen.append):
        warn(op, "slow")
        remark(op, "not fused")
    assert [(message.severity, message.text, message.location) for message in seen] == [
        ("warning", "slow", op.location),
        ("remark", "not fused", op.location),
    ]


def test_without_a_handler_messages_go_to_standard_error(capsys: pytest.CaptureFixture[str]):
    warn(next(iter(parse_module("func.func @f() { func.return }", "m").ops)), "slow")
    assert capsys.readouterr().err == "m:1:1: warning: slow\n"
