"""
`tensor-ops-winograd`: 3x3 convolutions with constant weights by Winograd's minimal filtering, where that is cheaper.

Before: @k(%x, %w, %bias):  %y = structured (%x as (.., d1 + d4 - 1, d2 + d5 - 1, d6) fill 0, %w as (d3, d6, d4, d5))
                                 over [n, oh, ow, oc, reduction 3, 3, c] .. sum of products .. finish (%bias) ..
After:  @k(%x, %u, %bias):  %t = blocks (%x block [6]) over [tiles, 6, c] .. B^T d of columns ..
                            %v = blocks (%t block [6]) over [tiles, 6, c] .. of rows ..    : tensor<36 x tiles x c>
                            %m = structured (%v, %u) over [36, tiles, oc, reduction c] .. sum of products
                            %s = blocks (%m block [6]) over [tiles, 6, oc] .. A^T m of columns ..
                            %y = blocks (%s block [6], %bias) over [tiles, 4, oc] .. of rows, finish ..
        @k_weights(%w):     .. G g G^T, in two ops ..                                      : tensor<36 x c x oc>
        main:               %u = call @k_weights(%w)

shown for F(4x4, 3x3), of 4x4 results per tile; F(3x3, 3x3) has 25 products in the place of 36, F(2x2, 3x3) 16. See
`winograd_matrices` for the algorithm, `winograd_ops` for the ops. The weights' transform reads constants alone, so that
it moves to `@prepare`; it is computed in f64 and rounded once. Padding is the fill of the input's transform; tiles that
hang over the border read zeros and drop what is outside. The tiles of an image of known size are one dimension;
otherwise batch, rows and columns of tiles are three, and small images have kernels of their own (`winograd_versions`).

Applies to sums of products in f32 of an image, read at `row + dilation * tap - pad` and as much for columns with 3x3
taps and at the summed channel, and of weights read at (result channel, channel, taps) in any order of axes, where the
cost model (`winograd_cost`) finds a gain, and while the weights of the whole module stay below what they may take in
memory (`choose_for_all`); image and weights may be stored as f16 or bf16. With a dilation of d, every d-th row and
column is an image of its own. That leaves alone: strides, groups, other kernel sizes and types, weights that are not
constant in each call, sums that may not be reordered.

Accuracy, for finite input: with u = 2^-24, C channels, X the largest |input| and W the largest sum of |weights| of a
result channel, the error of a result is at most `f * (C + 32) * u * X * W`, f = 64 for F(2x2), 241 for F(3x3) and 564
for F(4x4) (`Winograd.error_factor`). In practice it is that of direct summation in one chain: below `8 * u * X * W` for
F(4x4), as tests check. A NaN or an infinity in the input makes all results of the tiles that read it NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Region
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, SUM_LENGTH_ATTRIBUTE, SYMBOLS_ATTRIBUTE, CallOp
from aicc.transforms.target_facts import TargetFacts, facts_of
from aicc.transforms.tensor_ops_convolution import Convolution
from aicc.transforms.winograd_candidates import IMAGE_ATTRIBUTE, find_candidates
from aicc.transforms.winograd_cost import SUM_LENGTHS, choose_for_all, sum_length
from aicc.transforms.winograd_matrices import POINTS, Winograd, winograd
from aicc.transforms.winograd_ops import Builder, tiles_of, weight_transform
from aicc.transforms.winograd_versions import add_versions


@dataclass
class Rewriting:
    """The rewriting of one module."""

    module: ModuleOp
    facts: TargetFacts
    outputs: int = 0
    """Outputs per tile and dimension; 0 to decide by cost."""

    makers: dict[str, FuncOp] = field(default_factory=dict[str, FuncOp])
    """Kernels that transform weights, by their text: what versions of a convolution share is made once."""

    def run(self) -> None:
        """Rewrites the convolutions for which it pays."""
        found, sizes = find_candidates(self.module, self.facts)
        if not self.outputs and add_versions(self.module, found, sizes, self.facts):
            found, sizes = find_candidates(self.module, self.facts)
        chosen = (
            [self.outputs] * len(found)
            if self.outputs
            else choose_for_all(sizes, [one.weights for one in found], self.facts)
        )
        for one, outputs in zip(found, chosen, strict=True):
            one.function.attributes.pop(IMAGE_ATTRIBUTE, None)
            if outputs is not None:
                self._rewrite(one.function, one.calls, one.convolution, one.weight, winograd(outputs))

    def _rewrite(
        self,
        function: FuncOp,
        calls: Sequence[CallOp],
        convolution: Convolution,
        weight: BlockArgument,
        algorithm: Winograd,
    ) -> None:
        position = weight.index
        name = f"{function.sym_name.data}_weights{position}"
        maker = self._weights_kernel(name, convolution, weight, algorithm)
        block, op = function.body.block, convolution.op
        transformed = maker.function_type.outputs.data[0]
        argument = block.insert_arg(transformed, position)
        argument.name_hint = weight.name_hint
        build = Builder(convolution, algorithm, tiles_of(convolution, algorithm.outputs))
        columns, tiles = build.input()
        products = build.products(tiles.result, argument)
        rows, result = build.output(products.res[0])
        for new, hint in (
            (columns, "columns"),
            (tiles, "tiles"),
            (products, "products"),
            (rows, "rows"),
            (result, op.res[0].name_hint),
        ):
            new.location = op.location
            new.results[0].name_hint = hint
            block.insert_op_before(new, op)
        op.res[0].replace_all_uses_with(result.result)
        op.detach()
        op.erase()
        block.erase_arg(weight)
        channels = op.dims[convolution.channel]
        assert isinstance(channels, int)
        length = sum_length(algorithm.outputs, channels) or SUM_LENGTHS[-1]
        function.attributes[SUM_LENGTH_ATTRIBUTE] = IntegerAttr(length, i64)
        function.function_type = FunctionType.from_lists(
            [arg.type for arg in block.args], function.function_type.outputs.data
        )
        for call in calls:
            make = CallOp(maker.sym_name.data, [call.arguments[position]], [transformed])
            make.location = call.location
            parent = call.parent
            assert parent is not None
            parent.insert_op_before(make, call)
            call.operands[position] = make.res[0]

    def _weights_kernel(
        self, name: str, convolution: Convolution, weight: BlockArgument, algorithm: Winograd
    ) -> FuncOp:
        """The kernel that transforms the weights, next to the kernel that uses them."""
        body = Block(arg_types=[weight.type])
        columns, result = weight_transform(convolution, algorithm, body.args[0])
        body.add_ops([columns, result, ReturnOp(result.result)])
        for transform in (columns, result):
            transform.location = convolution.op.location
        made = FuncOp("", ([weight.type], [result.result.type]), Region(body), visibility="private")
        made.attributes.update({KERNEL_ATTRIBUTE: UnitAttr(), SYMBOLS_ATTRIBUTE: ArrayAttr([])})
        made.location = convolution.op.location
        kept = self.makers.setdefault(str(made), made)
        if kept is made:
            made.properties["sym_name"] = StringAttr(name)
            self.module.body.block.add_op(made)
        return kept


@dataclass(frozen=True)
class TensorOpsWinogradPass(ModulePass):
    """Convolves by Winograd's algorithm where that is cheaper."""

    name = "tensor-ops-winograd"

    target: str = "host"
    """Machine to decide for: `host`, `generic`, or a name that the back end knows."""

    outputs: int = 0
    """Outputs per tile and dimension, 2 to 4, wherever the algorithm applies; 0: decided by cost."""

    bf16: bool = True
    """Without this pass, products of bf16 may be summed two at a time (`tensor-ops-dot-products`)."""

    def __post_init__(self) -> None:
        if self.outputs not in (0, *POINTS):
            known = ", ".join(map(str, (0, *sorted(POINTS))))
            raise PassFailedException(f"{self.name}: outputs must be one of {known}, got {self.outputs}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = facts_of(self.target) if self.bf16 else facts_of(self.target).without_bf16_dots()
        Rewriting(op, facts, self.outputs).run()
