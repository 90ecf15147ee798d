"""
The `packed` dialect: arithmetic on integers that hold several narrower numbers, as dot-product instructions take them.

Its ops stand beside those of `arith` in the bodies of `tensor_ops` and in `loops`, on scalars and n-D vectors. Part `p`
of a packed integer of `n` parts of `w` bits is bits `p*w` to `p*w + w - 1`. What the parts are (which products of a
sum) is the matter of whoever packs; nothing here depends on a machine. Lowers to `llvm`.
"""

from xdsl.ir import Dialect

from aicc.dialects.packed.ops import DotOp

Packed = Dialect("packed", [DotOp])

__all__ = ["DotOp", "Packed"]
