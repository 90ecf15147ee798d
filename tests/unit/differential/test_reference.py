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


COUNTS = """
func.func @main(%x : tensor<3xf32>) -> (tensor<?xi64, #graph.dims<n>>) {
  %c = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %e = graph.exp %x : tensor<3xf32> -> tensor<3xf32>
  %d = graph.sub %e, %c : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  %ne = graph.ne %d, %zero : tensor<3xf32>, tensor<f32> -> tensor<3xi1>
  %places, %count = graph.find %ne : tensor<3xi1> -> tensor<3xi64>, tensor<i64>
  graph.define_size "n" is %count most #graph.shape<3> text "the count" : tensor<i64>
  %y = graph.slice %places {starts = [0], sizes = [n], steps = [1]} : tensor<3xi64> -> tensor<?xi64, #graph.dims<n>>
  func.return %y : tensor<?xi64, #graph.dims<n>>
}
"""


def test_rounding_may_decide_how_many_elements_there_are():
    x = np.array([0.0, np.log(2.0), 0.5], np.float32)  # exp(x) - c is 0, next to 0, and far from it.
    for found in (np.array([2]), np.array([1, 2]), np.array([0, 2])):
        check(parse_module(COUNTS), [x], [found])
    with pytest.raises(AssertionError, match=r"output 0: int32 \(1,\)"):
        check(parse_module(COUNTS), [x], [np.array([2], np.int32)])
    with pytest.raises(AssertionError, match=r"output 0: int64 \(4,\)"):
        check(parse_module(COUNTS), [x], [np.array([0, 1, 2, 2])])
    x = np.ones(3, np.float32)  # Nothing is near 0: three elements whatever the rounding.
    with pytest.raises(AssertionError, match=r"output 0: int64 \(2,\)"):
        check(parse_module(COUNTS), [x], [np.array([0, 1])])
