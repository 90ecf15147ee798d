"""
Evaluates the text form of symbolic dimensions, such as `2*N + 1` or `ceildiv(N, 2)`.

The grammar is that of `#graph.dims`: integers, names (identifiers, or any text in backquotes, where a backslash quotes
the next character), `+ - *`, the functions `floordiv`, `ceildiv` and `mod` of two arguments, `min` and `max` of two or
more, and parentheses. Expressions are compiled once to Python code over a tuple of symbol values, since a model
evaluates them on every call.
"""

import re
from collections.abc import Callable, Sequence

Evaluator = Callable[[Sequence[int]], int]

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_.$]*)|`((?:[^`\\]|\\.)*)`|([-+*(),]))")
_FUNCTIONS = {
    "floordiv": "(({0})//({1}))",
    "ceildiv": "(-((-({0}))//({1})))",
    "mod": "(({0})%({1}))",
}
_EXTREMA = ("min", "max")


class ExpressionError(ValueError):
    """The text is no dimension expression, or names an unknown symbol."""


class _Parser:
    """Recursive descent over the grammar; yields Python source in terms of `s[i]`."""

    def __init__(self, text: str, symbols: Sequence[str]) -> None:
        self.text = text
        self.positions = {name: i for i, name in enumerate(symbols)}
        self.tokens: list[tuple[str, str]] = []
        end = 0
        while end < len(text.rstrip()):
            match = _TOKEN.match(text, end)
            if match is None:
                raise ExpressionError(f"unexpected character '{text[end]}' in dimension '{text}'")
            number, name, quoted, sign = match.groups()
            if number is not None:
                self.tokens.append(("number", number))
            elif name is not None or quoted is not None:
                self.tokens.append(("name", name if name is not None else re.sub(r"\\(.)", r"\1", quoted)))
            else:
                self.tokens.append(("sign", sign))
            end = match.end()
        self.tokens.append(("end", ""))
        self.next = 0

    def accept(self, sign: str) -> bool:
        if self.tokens[self.next] == ("sign", sign):
            self.next += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise ExpressionError(f"expected '{sign}' in dimension '{self.text}'")

    def sum(self) -> str:
        result = self.product()
        while True:
            if self.accept("+"):
                result = f"({result}+{self.product()})"
            elif self.accept("-"):
                result = f"({result}-{self.product()})"
            else:
                return result

    def product(self) -> str:
        result = self.factor()
        while self.accept("*"):
            result = f"({result}*{self.factor()})"
        return result

    def factor(self) -> str:
        if self.accept("-"):
            return f"(-{self.factor()})"
        if self.accept("("):
            result = self.sum()
            self.expect(")")
            return result
        kind, text = self.tokens[self.next]
        self.next += 1
        if kind == "number":
            return text
        if kind != "name":
            raise ExpressionError(f"expected a number or a name in dimension '{self.text}'")
        if text in (*_FUNCTIONS, *_EXTREMA) and self.accept("("):
            arguments = [self.sum()]
            self.expect(",")
            arguments.append(self.sum())
            while text in _EXTREMA and self.accept(","):
                arguments.append(self.sum())
            self.expect(")")
            return _FUNCTIONS[text].format(*arguments) if text in _FUNCTIONS else f"{text}({','.join(arguments)})"
        if text not in self.positions:
            raise ExpressionError(f"unknown symbol '{text}' in dimension '{self.text}'")
        return f"s[{self.positions[text]}]"

    def parse(self) -> str:
        result = self.sum()
        if self.tokens[self.next][0] != "end":
            raise ExpressionError(f"trailing text in dimension '{self.text}'")
        return result


def compile_expressions(texts: Sequence[str], symbols: Sequence[str]) -> Callable[[Sequence[int]], tuple[int, ...]]:
    """
    One function from symbol values (in the order of `symbols`) to the values of all `texts`.

    Raises:
        ExpressionError: malformed text or a name that is not in `symbols`.
    """
    parts = [_Parser(text, symbols).parse() for text in texts]
    source = f"lambda s: ({''.join(part + ',' for part in parts)})"
    # The source holds only digits, `s[i]`, operators and the five known functions: see _Parser.
    return eval(source, {"__builtins__": {"min": min, "max": max}})


def compile_expression(text: str, symbols: Sequence[str]) -> Evaluator:
    """As `compile_expressions`, for a single expression."""
    function = compile_expressions([text], symbols)
    return lambda values: function(values)[0]


def symbols_in(text: str, symbols: Sequence[str]) -> list[str]:
    """Those of `symbols` that the expression `text` names."""
    used = {name for kind, name in _Parser(text, symbols).tokens if kind == "name"}
    return [name for name in symbols if name in used]


def linear_form(text: str, symbols: Sequence[str]) -> tuple[str, int, int] | None:
    """
    `(name, a, b)` if the expression equals `a*name + b` with `a != 0`, else None.

    Found by evaluation at a few points. That proves sums and products of one symbol linear, but not `min` or `mod`:
    callers verify the dimension itself against the symbol they derived.
    """
    used = symbols_in(text, symbols)
    if len(used) != 1:
        return None
    evaluate = compile_expression(text, used)
    try:
        points = [evaluate([x]) for x in (0, 1, 2, 3, 7, 64, 1000)]
    except ZeroDivisionError:
        return None
    a, b = points[1] - points[0], points[0]
    if a == 0 or any(p != a * x + b for p, x in zip(points, (0, 1, 2, 3, 7, 64, 1000), strict=True)):
        return None
    return used[0], a, b
