"""Definitions before uses, and verification of large modules in linear time."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from aicc.lowering.parse import parse_module
from aicc.transforms.diagnostics import LocatedVerifyError, describe_location
from aicc.transforms.verify import verify

GOOD = [
    "",
    # The order of blocks is free as long as definitions dominate.
    """func.func @f(%a: i32) -> i32 {
      cf.br ^second
    ^first(%c: i32):
      %d = arith.addi %b, %c : i32
      func.return %d : i32
    ^second:
      %b = arith.addi %a, %a : i32
      cf.br ^first(%b : i32)
    }""",
    # A block that nothing reaches may use what it likes.
    """func.func @f(%a: i32) -> i32 {
      func.return %a : i32
    ^dead:
      func.return %b : i32
    ^other:
      %b = arith.addi %a, %a : i32
      cf.br ^dead
    }""",
    """func.func @f(%n: index) {
      %one = arith.constant 1 : index
      scf.for %i = %one to %n step %one {
        %x = arith.addi %i, %n : index
        scf.for %j = %x to %n step %one {
          %y = arith.addi %i, %x : index
        }
      }
      func.return
    }""",
]

BAD = {
    "own result inside its own region": """func.func @f(%p: i1) -> i32 {
      %r = scf.if %p -> (i32) {
        scf.yield %r : i32
      } else {
        scf.yield %r : i32
      }
      func.return %r : i32
    }""",
    "later block": """func.func @f(%p: i1, %a: i32) -> i32 {
      cf.cond_br %p, ^bb1, ^bb2
    ^bb1:
      cf.br ^bb2
    ^bb2:
      func.return %b : i32
    ^bb3:
      %b = arith.addi %a, %a : i32
      cf.br ^bb2
    }""",
}


@pytest.mark.parametrize("text", GOOD)
def test_good(text: str):
    verify(parse_module(text))


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_use_before_definition(text: str):
    with pytest.raises(LocatedVerifyError, match="does not dominate this use") as caught:
        verify(parse_module(text, "m"))
    assert describe_location(caught.value.location).startswith("m:")


def test_a_long_chain_verifies():
    lines = ["func.func @f(%v0: i32) -> i32 {"]
    lines += [f"%v{i + 1} = arith.addi %v{i}, %v0 : i32" for i in range(3000)]
    module = parse_module("\n".join([*lines, "func.return %v3000 : i32 }"]))
    assert isinstance(module, ModuleOp)
    verify(module)
