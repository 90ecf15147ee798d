"""
`tensor-ops-assign-layouts`: stores what convolutions read and write with channels last.

Before: func @main(%x : 1x3x8x8) { %c = call @conv(%x, %w); %r = call @relu(%c); return %r }
After:  func @main(%x : 1x3x8x8) { %t = call @transpose(%x) : 1x8x8x3
                                   %c = call @conv(%t, %w) : 1x6x6x4 ; %r = call @relu(%c) : 1x6x6x4
                                   %u = call @transpose(%r) : 1x4x6x6 ; return %u }

A convolution asks for the layout of its image; everything after it follows the layout of what it reads, so that
transposing copies are at the edges alone: inputs, results, control flow, and views that do not keep the order. One
that keeps channels apart asks only where others follow it, and else works on rows of pixels: no copy pays for it. What
such a view reads is stored in the closest order that it keeps, by the kernel that makes it where no other reads it, so
that enlarged images and channels that become pixels stay with channels last. Where only axes of size 1 change places
the copy is a view. Weights stay as they are; packing them is a matter of schedules.
A kernel that is called with several layouts is cloned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, dims_of, is_tensor, substitute, sym, symbols_of, tensor_type
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of, set_type
from aicc.dialects.tensor_ops import (
    CallOp,
    ConcatOp,
    ExtractOp,
    KernelOp,
    ScanOp,
    ScatterOp,
    StructuredOp,
    ViewOp,
    YieldOp,
)
from aicc.dialects.tensor_ops.ops import KERNEL_ATTRIBUTE, SYMBOLS_ATTRIBUTE
from aicc.dialects.tensor_ops.structured import element_scalar, extracts
from aicc.transforms.tensor_ops_editing import operands_of, permute_parallel, permute_reduction, set_operands
from aicc.transforms.tensor_ops_inline import is_index_map, positions_of
from aicc.transforms.tensor_ops_layout_rules import (
    Layout,
    elementwise_sources,
    is_plain,
    layout_for_view,
    plain,
    read_stored,
    reduction_order,
    result_layout,
    same_memory,
    stored,
    view_layout,
    wanted_layout,
)

Signature = tuple[Layout, ...]

_PLAIN_READERS = (ReturnOp, scf.IfOp, scf.WhileOp, scf.YieldOp, scf.ConditionOp)


@dataclass
class LayoutAssignment:
    """The layouts of one module, given out in the order of the ops."""

    module: ModuleOp
    layouts: dict[SSAValue, Layout] = field(default_factory=dict[SSAValue, Layout])
    """Layout of each value that is not stored plainly."""

    logical: dict[SSAValue, tuple[Dim, ...]] = field(default_factory=dict[SSAValue, tuple[Dim, ...]])
    """Sizes in logical order of the same values."""

    def __post_init__(self) -> None:
        self.functions = {op.sym_name.data: op for op in self.module.ops if isinstance(op, FuncOp)}
        self.originals = {name: op for name, op in self.functions.items() if KERNEL_ATTRIBUTE in op.attributes}
        self.call_counts = Counter(op.callee_name for op in self.module.walk() if isinstance(op, CallOp))
        self.variants: dict[tuple[str, Signature], tuple[FuncOp, Signature]] = {}
        self.wanted: dict[tuple[str, bool], dict[int, Layout]] = {}
        self.followed: set[SSAValue] = set()
        self.calls: list[CallOp] = []
        self.copies: dict[tuple[object, ...], SSAValue] = {}
        self.copy_kernels: dict[tuple[object, ...], str] = {}

    # Values

    def layout(self, value: SSAValue) -> Layout:
        """The layout of a tensor value."""
        return self.layouts.get(value) or plain(len(dims_of(value.type)))

    def dims(self, value: SSAValue) -> tuple[Dim, ...]:
        """The logical sizes of a tensor value."""
        return self.logical.get(value) or dims_of(value.type)

    def set_layout(self, value: SSAValue, layout: Layout, dims: tuple[Dim, ...]) -> None:
        """Notes that `value`, of logical sizes `dims`, is stored as `layout`, and gives it the stored type."""
        set_type(value, tensor_type(stored(dims, layout), element_type_of(value)))
        if is_plain(layout):
            self.layouts.pop(value, None)
            self.logical.pop(value, None)
        else:
            self.layouts[value] = layout
            self.logical[value] = dims

    # Blocks

    def run(self) -> None:
        """Assigns layouts to everything that functions other than kernels compute."""
        self.followed = self._find_followed()
        for function in list(self.functions.values()):
            if KERNEL_ATTRIBUTE not in function.attributes and function.body.blocks:
                self.assign(function.body.blocks[0])
        self._rename_variants()

    def _find_followed(self) -> set[SSAValue]:
        """The values that convolutions which want a layout in any case read, and what these values are made of."""
        pending = [
            op.arguments[position]
            for op in self.module.walk()
            if isinstance(op, CallOp) and (function := self.originals.get(op.callee_name)) is not None
            for position in self._wanted_of(function, False)
        ]
        found: set[SSAValue] = set()
        while pending:
            value = pending.pop()
            if value not in found:
                found.add(value)
                # What comes out of control flow is stored plainly.
                if isinstance(owner := value.owner, Operation) and not owner.regions:
                    pending += owner.operands
        return found

    def _rename_variants(self) -> None:
        """Erases kernels that are not called any more; the first variant of each takes its name."""
        called = {call.callee_name for call in self.calls}
        variants: dict[str, list[FuncOp]] = {name: [] for name, _ in self.variants}
        for (name, _), (function, _) in self.variants.items():
            if function is not self.originals[name]:
                variants[name].append(function)
        renamed: dict[str, str] = {}
        for name, functions in variants.items():
            kept = [function for function in functions if function.sym_name.data in called]
            original = self.originals[name]
            for function in (original, *functions):
                if function.sym_name.data not in called:
                    function.detach()
                    function.erase()
            if name not in called and kept:
                renamed[kept[0].sym_name.data] = name
                kept[0].sym_name = StringAttr(name)
        for call in self.calls:
            if (new := renamed.get(call.callee_name)) is not None:
                call.properties["callee"] = SymbolRefAttr(new)

    def assign(self, block: Block) -> None:
        """Gives layouts to the results of the ops of a block."""
        op = block.first_op
        while op is not None:
            following = op.next_op
            self._assign_op(op)
            op = following

    def _assign_op(self, op: Operation) -> None:
        match op:
            case CallOp():
                self._assign_call(op)
            case StructuredOp():
                self._assign_structured(op)
            case ViewOp():
                self._assign_view(op)
            case ConcatOp():
                self._assign_concat(op)
            case ScanOp():
                self._assign_scan(op)
            case ScatterOp():
                self._assign_scatter(op)
            case ExtractOp():
                self._reorder_extract(op)
            case ReturnOp() if self._is_in_kernel(op):
                pass
            case _:
                # Whatever else reads tensors reads them plainly.
                self._make_plain(op)
                if isinstance(op, scf.IfOp | scf.WhileOp | KernelOp):
                    for region in op.regions:
                        for block in region.blocks:
                            self.assign(block)

    def _is_in_kernel(self, op: Operation) -> bool:
        parent = op.parent_op()
        return isinstance(parent, FuncOp) and KERNEL_ATTRIBUTE in parent.attributes

    def _make_plain(self, op: Operation) -> None:
        for i, operand in enumerate(op.operands):
            if operand in self.layouts:
                op.operands[i] = self.converted(op, operand, plain(len(self.layouts[operand])))

    # Ops

    def _assign_structured(self, op: StructuredOp) -> None:
        for position, value in enumerate(op.inputs):
            layout = wanted_layout(op, position)
            if layout is not None and self.layout(value) != layout and is_tensor(value.type):
                op.operands[position] = self.converted(op, value, layout)
        for extract in extracts(op):
            self._reorder_extract(extract)
        inputs, finish = operands_of(op)
        located = [(operand, self.layout(operand.value)) for operand in (*inputs, *finish)]
        if all(is_plain(layout) for _, layout in located):
            return
        order = result_layout(op, located)
        reduction = reduction_order(op, located[: len(inputs)])
        dims = op.parallel_dims
        symbols = op.symbols.data
        set_operands(
            op,
            [read_stored(operand, layout) for operand, layout in located[: len(inputs)]],
            [read_stored(operand, layout) for operand, layout in located[len(inputs) :]],
            symbols,
        )
        if reduction is not None:
            permute_reduction(op, reduction)
        permute_parallel(op, order)
        for result in op.res:
            self.set_layout(result, order, dims)

    def _assign_view(self, view: ViewOp) -> None:
        layout = self.layout(view.input)
        after = dims_of(view.result.type)
        if is_plain(layout):
            return
        before = self.dims(view.input)
        found = view_layout(before, after, layout)
        if found is None:
            layout = _closest_layout(view, before, layout)
            view.operands[0] = self.converted(view, view.input, layout)
            found = view_layout(before, after, layout)
        assert found is not None
        self.set_layout(view.result, found, after)

    def _assign_concat(self, op: ConcatOp) -> None:
        layouts = [self.layout(value) for value in op.inputs]
        chosen = next((layout for layout in layouts if not is_plain(layout)), None)
        if chosen is None:
            return
        for i, value in enumerate(op.inputs):
            op.operands[i] = self.converted(op, value, chosen)
        dims = dims_of(op.result.type)
        op.properties["axis"] = IntegerAttr(chosen.index(op.position), i64)
        self.set_layout(op.result, chosen, dims)

    def _assign_scan(self, op: ScanOp) -> None:
        layout = self.layout(op.input)
        if not is_plain(layout):
            op.properties["axis"] = IntegerAttr(layout.index(op.position), i64)
            self.set_layout(op.result, layout, dims_of(op.result.type))

    def _assign_scatter(self, op: ScatterOp) -> None:
        for extract in extracts(op):
            self._reorder_extract(extract)
        self._make_plain(op)

    def _reorder_extract(self, op: ExtractOp) -> None:
        layout = self.layout(op.tensor)
        if not is_plain(layout):
            indices = list(op.indices)
            op.operands = [op.tensor, *(indices[axis] for axis in layout)]

    # Calls

    def _assign_call(self, call: CallOp) -> None:
        name = call.callee_name
        function = self.originals.get(name)
        if function is None:
            self._make_plain(call)
            return
        followed = any(result in self.followed for result in call.res)
        for position, layout in self._wanted_of(function, followed).items():
            value = call.arguments[position]
            if self.layout(value) != layout:
                call.operands[position] = self.converted(call, value, layout)
        signature = tuple(self.layout(value) if is_tensor(value.type) else () for value in call.arguments)
        variant, results = self._variant(function, signature)
        dims = [dims_of(result.type) for result in call.res]
        if (wanted := self._wanted_by_view(call, results)) is not None and _may_reorder(variant):
            variant, results = self._reordered(function, signature, variant, results[0], wanted)
        if _is_copy(variant):
            # The layouts did the work of a transpose.
            view = OpBuilder.before(call).add(ViewOp(call.arguments[0], stored(dims[0], results[0])))
            view.name_hint = call.res[0].name_hint
            self.set_layout(view, results[0], dims[0])
            call.res[0].replace_all_uses_with(view)
            call.detach()
            call.erase()
            return
        call.properties["callee"] = SymbolRefAttr(variant.sym_name.data)
        self.calls.append(call)
        for result, layout, logical in zip(call.res, results, dims, strict=True):
            self.set_layout(result, layout, logical)

    def _wanted_by_view(self, call: CallOp, results: Signature) -> Layout | None:
        """The layout in which the view that alone reads the result of a call is no copy, if it would be one."""
        if len(call.res) != 1 or not call.res[0].has_one_use() or is_plain(results[0]):
            return None
        view = next(iter(call.res[0].uses)).operation
        dims = dims_of(call.res[0].type)
        if not isinstance(view, ViewOp) or view_layout(dims, dims_of(view.result.type), results[0]) is not None:
            return None
        return _closest_layout(view, dims, results[0])

    def _reordered(
        self, function: FuncOp, signature: Signature, variant: FuncOp, old: Layout, wanted: Layout
    ) -> tuple[FuncOp, Signature]:
        """`variant`, whose result is stored as `old`, with a result that is stored as `wanted`."""
        key = (function.sym_name.data, (*signature, wanted))
        if key not in self.variants:
            # The other one may be called elsewhere; it is erased if it is not.
            copy = self._clone(variant)
            last = copy.body.blocks[0].last_op
            assert isinstance(last, ReturnOp)
            op = last.arguments[0].owner
            assert isinstance(op, StructuredOp)
            permute_parallel(op, [old.index(axis) for axis in wanted])
            copy.function_type = FunctionType.from_lists(copy.function_type.inputs.data, [op.res[0].type])
            self.variants[key] = (copy, (wanted,))
        return self.variants[key]

    def _wanted_of(self, function: FuncOp, followed: bool) -> dict[int, Layout]:
        """The layouts in which a kernel wants some of its arguments; it may be `followed` by convolutions."""
        key = (function.sym_name.data, followed)
        if key not in self.wanted:
            found: dict[int, Layout] = {}
            for op in function.body.blocks[0].ops:
                if isinstance(op, StructuredOp):
                    for position, value in enumerate(op.inputs):
                        if (layout := wanted_layout(op, position, followed)) is not None:
                            found |= dict.fromkeys(_sources(value, function), layout)
            self.wanted[key] = found
        return self.wanted[key]

    def _variant(self, function: FuncOp, signature: Signature) -> tuple[FuncOp, Signature]:
        """The kernel for arguments of these layouts, and the layouts of its results."""
        name = function.sym_name.data
        key = (name, signature)
        if key not in self.variants:
            if all(is_plain(layout) for layout in signature) and not self._changes_inside(function):
                results = tuple(plain(len(dims_of(type))) for type in function.function_type.outputs.data)
                self.variants[key] = (function, results)
            else:
                self.variants[key] = self._make_variant(function, signature)
        return self.variants[key]

    def _changes_inside(self, function: FuncOp) -> bool:
        """Whether a kernel has a convolution that wants another layout of something the kernel computes."""
        return any(
            wanted_layout(op, position) is not None
            for op in function.body.blocks[0].ops
            if isinstance(op, StructuredOp)
            for position in range(len(op.inputs))
        )

    def _make_variant(self, function: FuncOp, signature: Signature) -> tuple[FuncOp, Signature]:
        variant = function
        if self.call_counts[function.sym_name.data] > 1:
            variant = self._clone(function)
        body = variant.body.blocks[0]
        for arg, layout in zip(body.args, signature, strict=True):
            if layout and not is_plain(layout):
                self.set_layout(arg, layout, dims_of(arg.type))
        self.assign(body)
        last = body.last_op
        assert isinstance(last, ReturnOp)
        results = tuple(self.layout(value) for value in last.arguments)
        variant.function_type = FunctionType.from_lists(
            [arg.type for arg in body.args], [value.type for value in last.arguments]
        )
        return variant, results

    def _clone(self, function: FuncOp) -> FuncOp:
        """A copy of a kernel, under a name of its own."""
        copy = function.clone()
        copy.sym_name = StringAttr(self._fresh_name(function.sym_name.data))
        block = function.parent
        assert block is not None
        block.insert_op_after(copy, function)
        self.functions[copy.sym_name.data] = copy
        return copy

    def _fresh_name(self, name: str) -> str:
        number = 1
        while (candidate := f"{name}_layout{number}") in self.functions:
            number += 1
        return candidate

    # Copies

    def converted(self, user: Operation, value: SSAValue, layout: Layout) -> SSAValue:
        """`value` stored as `layout`, made before `user` if it is not stored so."""
        old = self.layout(value)
        if old == layout:
            return value
        key = (value, layout, user.parent)
        if key not in self.copies:
            self.copies[key] = self._convert(user, value, old, layout)
        return self.copies[key]

    def _convert(self, user: Operation, value: SSAValue, old: Layout, layout: Layout) -> SSAValue:
        dims = self.dims(value)
        target = stored(dims, layout)
        b = OpBuilder(InsertPoint.before(user), _location_of(value, user))
        if same_memory(dims, old, layout):
            result = b.add(ViewOp(value, target))
        else:
            place = [layout.index(axis) for axis in old]
            kernel = user.parent_op()
            while kernel is not None and not isinstance(kernel, FuncOp | KernelOp):
                kernel = kernel.parent_op()
            inside = isinstance(kernel, KernelOp) or (kernel is not None and KERNEL_ATTRIBUTE in kernel.attributes)
            if inside:
                result = b.add(_copy_op(value, target, place))
            else:
                result = b.add(self._copy_call(value, target, place))
        result.name_hint = value.name_hint
        self.set_layout(result, layout, dims)
        return result

    def _copy_call(self, value: SSAValue, target: tuple[Dim, ...], place: list[int]) -> CallOp:
        """A call of the kernel that copies a tensor into another order of its axes."""
        names = symbols_of(dims_of(value.type))
        canonical = {name: sym(f"s{i}") for i, name in enumerate(names)}
        source = tensor_type([substitute(dim, canonical) for dim in dims_of(value.type)], element_type_of(value))
        key = (source, tuple(place))
        if key not in self.copy_kernels:
            self.copy_kernels[key] = self._make_copy_kernel(source, target, place, canonical)
        result_type = tensor_type(target, element_type_of(value))
        return CallOp(self.copy_kernels[key], [value], [result_type], [sym(name) for name in names])

    def _make_copy_kernel(
        self, source: object, target: tuple[Dim, ...], place: list[int], canonical: Mapping[str, Dim]
    ) -> str:
        number = len(self.copy_kernels)
        while (name := f"transpose_{number}") in self.functions:
            number += 1
        block = Block(arg_types=[source])  # pyright: ignore[reportArgumentType]
        copy = _copy_op(block.args[0], tuple(substitute(dim, canonical) for dim in target), place)
        block.add_ops([copy, ReturnOp(copy.res[0])])
        function = FuncOp(name, ([block.args[0].type], [copy.res[0].type]), Region(block), visibility="private")
        function.attributes[KERNEL_ATTRIBUTE] = UnitAttr()
        function.attributes[SYMBOLS_ATTRIBUTE] = ArrayAttr(StringAttr(str(symbol)) for symbol in canonical.values())
        self.module.body.block.add_op(function)
        self.functions[name] = function
        return name


def _copy_op(value: SSAValue, target: tuple[Dim, ...], place: list[int]) -> StructuredOp:
    """Axis `k` of `value` is axis `place[k]` of the result."""
    block = Block(arg_types=[element_scalar(value.type)])
    block.add_op(YieldOp(block.args[0]))
    index = AffineMap(len(target), 0, tuple(AffineDimExpr(axis) for axis in place))
    return StructuredOp([value], target, len(target), [index], Region(block), [element_type_of(value)])


def _closest_layout(view: ViewOp, before: Sequence[Dim], layout: Layout) -> Layout:
    """The layout in which `view` reads its input, of logical sizes `before` and stored as `layout`, without a copy."""
    # Whoever reads a result or controls the flow reads plainly: one copy and not two.
    ends = any(isinstance(use.operation, _PLAIN_READERS) for use in view.result.uses)
    return plain(len(layout)) if ends else layout_for_view(before, dims_of(view.result.type), layout)


def _may_reorder(function: FuncOp) -> bool:
    """Whether a kernel ends with an op that computes its one result element by element, in any order."""
    last = function.body.blocks[0].last_op
    if not isinstance(last, ReturnOp) or len(last.arguments) != 1 or not last.arguments[0].has_one_use():
        return False
    op = last.arguments[0].owner
    return isinstance(op, StructuredOp) and not op.is_reduction and len(op.res) == 1


def _is_copy(function: FuncOp) -> bool:
    """Whether a kernel returns its argument as it is."""
    ops = list(function.body.blocks[0].ops)
    if len(ops) != 2 or not isinstance(op := ops[0], StructuredOp) or not is_index_map(op):
        return False
    inputs, _ = operands_of(op)
    return (
        len(inputs) == len(op.res) == 1
        and dims_of(inputs[0].value.type) == op.parallel_dims
        and positions_of(inputs[0].map, op.dims) == plain(op.parallel_count)
    )


def _location_of(value: SSAValue, user: Operation) -> Operation:
    return value.owner if isinstance(value.owner, Operation) else user


def _sources(value: SSAValue, function: FuncOp) -> list[int]:
    """The arguments of a kernel of which `value` is an elementwise result, or the one that it is."""
    found: list[int] = []
    pending = [value]
    seen: set[SSAValue] = set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        owner = current.owner
        if isinstance(owner, Block):
            found += [arg.index for arg in function.body.blocks[0].args if arg is current]
        elif isinstance(owner, StructuredOp):
            pending += elementwise_sources(owner)
    return found


@dataclass(frozen=True)
class TensorOpsAssignLayoutsPass(ModulePass):
    """Stores what convolutions read and write with channels last."""

    name = "tensor-ops-assign-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        LayoutAssignment(op).run()
