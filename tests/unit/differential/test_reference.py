"""What the judge of random graphs lets pass, and what it does not."""

import numpy as np
import pytest

import aicc
from aicc.lowering.parse import parse_module
from tests.unit.differential.reference import check

GELU = """
func.func @main(%x : tensor<400xf32>) -> tensor<400xf32> {{
  %y = graph.gelu %x {{approximate = "{}"}} : tensor<400xf32> -> tensor<400xf32>
  func.return %y : tensor<400xf32>
}}
"""


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("level", [0, 2])
def test_gelu_far_below_zero_is_a_difference_of_larger_numbers(approximate: str, level: int):
    x = np.concatenate([np.linspace(-8, 3, 396), [-np.inf, np.inf, -100, -1e30]]).astype(np.float32)
    text = GELU.format(approximate)
    module = parse_module(text)
    (y,) = aicc.compile(module, opt_level=level, threads=1, cache=False).run({"input0": x}).values()
    check(module, [x], [y])
    y[100] += 1e-4
    with pytest.raises(AssertionError, match="differs in 1 of 400"):
        check(parse_module(text), [x], [y])
