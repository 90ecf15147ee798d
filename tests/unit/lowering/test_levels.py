"""The level that a module stands at."""

import pytest

from aicc.lowering.levels import level_of
from aicc.lowering.parse import parse_module

MODULES = [
    ("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  func.return %x : tensor<2xf32>\n}", "graph"),
    ("func.func @main(%x: memref<2xf32>) {\n  func.return\n}", "loops"),
    ("llvm.func @main() {\n  llvm.return\n}", "llvm"),
]


@pytest.mark.parametrize("text, level", MODULES)
def test_modules_of_upstream_ops_alone(text, level):
    assert level_of(parse_module(text)) == level
