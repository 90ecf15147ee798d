"""Where the parser says that ops stand, and that nothing but a located error comes out of broken text."""

import contextlib
import random

import pytest
from xdsl.utils.exceptions import DiagnosticException, ParseError

from aicc.lowering.parse import parse_module
from aicc.transforms.diagnostics import describe_location
from aicc.transforms.verify import verify

TEXT = """\
#a = 3 : i32
func.func @f(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> attributes {k = #a} {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %r = scf.if %p -> (tensor<4xf32>) {
    %s = "arith.addf"(%x, %c) <{fastmath = #arith.fastmath<none>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32> loc("here":1:2)
  } else {
    scf.yield %x : tensor<4xf32> loc(unknown)
  }
  func.return %r : tensor<4xf32>
}
"""


def test_places_of_ops():
    found = {op.name: describe_location(op.location) for op in parse_module(TEXT, "m").walk()}
    assert found == {
        "builtin.module": "m:1:1",
        "func.func": "m:2:1",
        "arith.constant": "m:3:8",
        "scf.if": "m:4:8",
        "arith.addf": "m:5:10",
        "scf.yield": "<unknown>",
        "func.return": "m:10:3",
    }


def test_places_count_from_the_first_line_given():
    module = parse_module("func.func @f() { func.return }", "m", first_line=7)
    assert describe_location(next(iter(module.ops)).location) == "m:7:1"
    with pytest.raises(ParseError) as caught:
        parse_module("\nmystery.op", "m", first_line=7)
    assert caught.value.span.get_location().line == 8


def test_mutated_text_ends_in_a_located_error():
    generator = random.Random(0)
    for _ in range(300):
        text = list(TEXT)
        for _ in range(generator.randint(1, 3)):
            position = generator.randrange(len(text))
            text[position : position + generator.randint(0, 6)] = generator.choice(
                ["", "%", "{", ")", "<", "9", '"', "x"]
            )
        with contextlib.suppress(ParseError, DiagnosticException):
            verify(parse_module("".join(text), "m"))


def test_deep_nesting_is_an_error_and_no_crash():
    depth = 20_000
    with pytest.raises(ParseError):
        parse_module("module {" * depth + "}" * depth)
