"""
The `poly` dialect: polynomials with constant coefficients, element by element, at the level of `graph`.

It holds nothing else: sums and products of tensors are `graph` ops. It lowers to `tensor_ops`.
"""

from xdsl.ir import Dialect

from aicc_poly.ops import HornerOp

Poly = Dialect("poly", [HornerOp], [])
