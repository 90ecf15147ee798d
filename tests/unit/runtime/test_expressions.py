"""Dimension expressions against plain Python."""

import pytest

from aicc.runtime.expressions import ExpressionError, compile_expression, compile_expressions, linear_form

CASES = [
    ("7", 7),
    ("2*N + 1", 11),
    ("N*M - 3", 12),
    ("floordiv(N, 2)", 2),
    ("ceildiv(N, 2)", 3),
    ("mod(0 - N, 3)", 1),
    ("min(N, M) + max(N, M)", 8),
    ("max(1, N, 2*M) + min(7, N, M)", 9),
    ("`batch size`*2", 22),
    ("-N + 2*(M + 1)", 3),
    (r"`\`\\ \``+1", 8),
    ("N - M - 1", 1),
]


@pytest.mark.parametrize("text, expected", CASES)
def test_values(text: str, expected: int):
    assert compile_expression(text, ["N", "M", "batch size", "`\\ `"])([5, 3, 11, 7]) == expected


@pytest.mark.parametrize(
    "text", ["N +", "N)", "(N", "Q", "N ? 2", "min(N)", "", "2 3", "mod(1, 2, 3)", "__import__('os')"]
)
def test_malformed_text_is_refused(text: str):
    with pytest.raises(ExpressionError):
        compile_expression(text, ["N"])


def test_many_at_once():
    assert compile_expressions(["N", "1", "M*N"], ["N", "M"])([2, 9]) == (2, 1, 18)
    assert compile_expressions([], ["N"])([2]) == ()


@pytest.mark.parametrize(
    "text, form", [("N", ("N", 1, 0)), ("2*N + 1", ("N", 2, 1)), ("N*N", None), ("N + M", None), ("4", None)]
)
def test_linear_form(text: str, form: tuple[str, int, int] | None):
    assert linear_form(text, ["N", "M"]) == form
