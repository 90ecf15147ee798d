"""
LLVM IR text straight from the `llvm` dialect, one pass over the ops.

Constants become operands where they are used. Block arguments become phi nodes; a terminator that reaches one block
over several edges gets a block of its own per further edge, as a phi node needs one predecessor each. Blocks may stand
in any order. Text that LLVM refuses is a fault of the module, found when it is parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block

from aicc.backends.llvm import instructions
from aicc.backends.llvm.state import Text
from aicc.backends.llvm.text import WriterError, constant_text, quoted, symbol

_PARAMETER_FLAGS = {
    "llvm.noalias": "noalias",
    "llvm.nocapture": "captures(none)",
    "llvm.nofree": "nofree",
    "llvm.nonnull": "nonnull",
    "llvm.noundef": "noundef",
    "llvm.readnone": "readnone",
    "llvm.readonly": "readonly",
    "llvm.returned": "returned",
    "llvm.signext": "signext",
    "llvm.writeonly": "writeonly",
    "llvm.zeroext": "zeroext",
}
_PARAMETER_NUMBERS = {
    "llvm.align": "align {}",
    "llvm.dereferenceable": "dereferenceable({})",
    "llvm.dereferenceable_or_null": "dereferenceable_or_null({})",
}
_FUNCTION_FLAGS = {
    "always_inline": "alwaysinline",
    "cold": "cold",
    "convergent": "convergent",
    "hot": "hot",
    "minsize": "minsize",
    "no_inline": "noinline",
    "no_unwind": "nounwind",
    "optimize_none": "optnone",
    "optsize": "optsize",
    "will_return": "willreturn",
}


def parameter_text(attributes: Mapping[str, Attribute]) -> str:
    """Parameter attributes, each with a leading space."""
    words: list[str] = []
    for key, value in attributes.items():
        if key in _PARAMETER_FLAGS:
            words.append(f" {_PARAMETER_FLAGS[key]}")
        elif key in _PARAMETER_NUMBERS and isinstance(value, IntegerAttr):
            words.append(" " + _PARAMETER_NUMBERS[key].format(value.value.data))
        elif key.startswith("llvm."):
            raise WriterError(f"parameter attribute {key} is not known to the LLVM writer")
    return "".join(words)


class _Writer:
    """Writes one module into a `Text`."""

    def __init__(self) -> None:
        self.text = Text()

    def module(self, module: ModuleOp) -> str:
        """The text of `module`."""
        for op in module.body.block.ops:
            if isinstance(op, llvm.FuncOp):
                self._function(op)
            elif isinstance(op, llvm.GlobalOp):
                self._global(op)
            else:
                raise WriterError(f"{op.name} at the top of the module; expected llvm.func or llvm.mlir.global")
        return "\n".join([*self.text.lines, *self.text.declarations.values(), *self.text.metadata.lines(), ""])

    def _global(self, op: llvm.GlobalOp) -> None:
        linkage = op.linkage.linkage.data
        initial = "" if op.value is None else " " + constant_text(op.value, op.global_type)
        if op.body.blocks:
            initial = " " + self._initializer(op.body.blocks[0])
        words = ["" if linkage == "external" and initial else linkage]
        words.append({1: "local_unnamed_addr", 2: "unnamed_addr"}.get(_integer(op.unnamed_addr), ""))
        words.append(f"addrspace({space})" if (space := _integer(op.addr_space)) else "")
        words.append("constant" if op.constant is not None else "global")
        tail = f', section "{op.section.data}"' if op.section is not None else ""
        tail += f", align {align}" if (align := _integer(op.alignment)) else ""
        head = " ".join(word for word in words if word)
        self.text.lines.append(f"{symbol(op.sym_name.data)} = {head} {self.text.type(op.global_type)}{initial}{tail}")

    def _initializer(self, block: Block) -> str:
        """The constant that a global's region returns."""
        for op in block.ops:
            if isinstance(op, llvm.ReturnOp) and op.arg is not None:
                return self.text.names[op.arg]
            if not instructions.write_constant(self.text, op):
                raise WriterError(f"{op.name} in the initial value of a global; expected constants")
        raise WriterError("the initial value of a global is not returned by its region")

    def _function(self, op: llvm.FuncOp) -> None:
        self.text.names, self.text.labels, self.text.edges, self._count = {}, {}, {}, 0
        attributes = op.properties | op.attributes
        inputs = op.function_type.inputs.data
        arguments = op.arg_attrs.data if op.arg_attrs is not None else (DictionaryAttr({}),) * len(inputs)
        blocks = list(op.body.blocks)
        parameters = [
            f"{self.text.type(type_)}{parameter_text(attrs.data)}"
            for type_, attrs in zip(inputs, arguments, strict=True)
        ]
        if blocks:
            for index, argument in enumerate(blocks[0].args):
                self.text.names[argument] = f"%a{index}"
                parameters[index] += f" %a{index}"
        if op.function_type.is_variadic:
            parameters.append("...")
        linkage = op.linkage.linkage.data
        words = ["define" if blocks else "declare", "" if linkage == "external" else linkage]
        words.append({1: "hidden", 2: "protected"}.get(_integer(op.visibility_), ""))
        words.append("" if op.CConv.cconv_name == "ccc" else op.CConv.cconv_name)
        if op.res_attrs is not None and op.res_attrs.data:
            words.append(parameter_text(op.res_attrs.data[0].data).strip())
        words.append(self.text.type(op.function_type.output))
        head = " ".join(word for word in words if word)
        head += f" {symbol(op.sym_name.data)}({', '.join(parameters)}){_function_attributes(attributes)}"
        if not blocks:
            self.text.lines.append(head)
            return
        self.text.lines.append(head + " {")
        self._body(blocks)
        self.text.lines.append("}")

    def _body(self, blocks: list[Block]) -> None:
        names, count = self.text.names, 0
        for index, block in enumerate(blocks):
            self.text.labels[block] = f"b{index}"
            for value in block.args if index else ():
                names[value] = f"%v{count}"
                count += 1
            for op in block.ops:
                # Constants are named first of all: blocks may stand in any order.
                if op.results and not instructions.write_constant(self.text, op):
                    names[op.results[0]] = f"%v{count}"
                    count += 1
        starts: list[tuple[int, Block]] = []
        for block in blocks:
            self.text.label = self.text.labels[block]
            self.text.lines.append(f"{self.text.label}:")
            starts.append((len(self.text.lines), block))
            for op in block.ops:
                handler = instructions.HANDLERS.get(op.name)
                if handler is None:
                    raise WriterError(f"{op.name} is not known to the LLVM writer")
                handler(self.text, op)
            if self.text.splits:
                self.text.lines += self.text.splits
                self.text.splits = []
        # Phi nodes need all edges, so they go in last, from the end so that positions stay right.
        for position, block in reversed(starts):
            if block is not blocks[0] and block.args:
                self.text.lines[position:position] = self._phis(block)

    def _phis(self, block: Block) -> list[str]:
        edges = self.text.edges.get(block, [])
        if not edges:  # unreachable: nothing flows in
            return [f"  {self.text.names[value]} = freeze {self.text.type(value.type)} poison" for value in block.args]
        return [
            f"  {self.text.names[value]} = phi {self.text.type(value.type)} "
            + ", ".join(f"[ {self.text.names[operands[index]]}, %{label} ]" for label, operands in edges)
            for index, value in enumerate(block.args)
        ]


def _integer(attribute: Attribute | None) -> int:
    return attribute.value.data if isinstance(attribute, IntegerAttr) else 0


def _function_attributes(attributes: Mapping[str, Attribute]) -> str:
    """Function attributes, each with a leading space."""
    words = [word for key, word in _FUNCTION_FLAGS.items() if isinstance(attributes.get(key), UnitAttr)]
    for key, name in (("target_cpu", "target-cpu"), ("tune_cpu", "tune-cpu")):
        if isinstance(value := attributes.get(key), StringAttr):
            words.append(f'"{name}"="{quoted(value.data.encode())}"')
    if isinstance(features := attributes.get("target_features"), llvm.TargetFeaturesAttr):
        words.append(f'"target-features"="{",".join(feature.data for feature in features.features)}"')
    if isinstance(passthrough := attributes.get("passthrough"), ArrayAttr):
        for item in cast(ArrayAttr[Attribute], passthrough):
            if isinstance(item, StringAttr):
                words.append(item.data)
            elif isinstance(item, ArrayAttr):
                key, value = (quoted(part.data.encode()) for part in cast(ArrayAttr[StringAttr], item))
                words.append(f'"{key}"="{value}"')
    return "".join(f" {word}" for word in words)


def module_to_llvm_text(module: ModuleOp) -> str:
    """
    The LLVM IR text of a module in the `llvm` dialect.

    Raises:
        WriterError: if an op, type or attribute has no LLVM form.
    """
    return _Writer().module(module)
