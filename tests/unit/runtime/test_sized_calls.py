"""Calls of programs that check sizes which data defines, without any other symbol."""

import numpy as np
import pytest

import aicc

CHECKED = """
func.func @main(%x: tensor<2x2xf64> {aicc.name = "x"}, %a: tensor<i64> {aicc.name = "a"}) -> tensor<2x2xf64> {
  graph.define_size "q" is %a most #graph.shape<2> text "the place" : tensor<i64>
  %y = graph.neg %x : tensor<2x2xf64> -> tensor<2x2xf64>
  func.return %y : tensor<2x2xf64>
}
"""


@pytest.mark.parametrize("opt_level", [0, 2])
def test_a_size_that_nothing_uses_is_checked(opt_level: int):
    model = aicc.compile(CHECKED, opt_level=opt_level, cache=False)
    x = np.arange(4.0).reshape(2, 2)
    for a in (0, 1, 2, 1):
        np.testing.assert_array_equal(model(x, np.array(a))[0], -x)
    for a in (3, -1):
        with pytest.raises(aicc.InputError, match=f"the place is {a}, expected"):
            model(x, np.array(a))
