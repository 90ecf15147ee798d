"""IR to text the way the command line asks for."""

from __future__ import annotations

from io import StringIO
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer

from aicc.tools.options import Options


class ElidingPrinter(Printer):
    """Prints constants of more than `limit` elements as `dense_resource<__elided__>`, as MLIR does."""

    def __init__(self, stream: StringIO, limit: int, *, generic: bool, debuginfo: bool):
        super().__init__(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo)
        self._limit = limit

    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, DenseIntOrFPElementsAttr):
            dense = cast(DenseIntOrFPElementsAttr[Any], attribute)
            if len(dense) > self._limit and not dense.is_splat():
                self.print_string("dense_resource<__elided__> : ")
                self.print_attribute(dense.type)
                return
            super().print_attribute(dense)
            return
        super().print_attribute(attribute)


def op_text(op: Operation, options: Options, context: Context | None = None) -> str:
    """The text of `op`, with a final newline; with `context`, resources that its dialects keep are appended."""
    stream = StringIO()
    generic, debuginfo = options.print_op_generic, options.print_debuginfo
    if options.elide_larger_than is None:
        printer = Printer(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo)
    else:
        printer = ElidingPrinter(stream, options.elide_larger_than, generic=generic, debuginfo=debuginfo)
    printer.print_op(op)
    stream.write("\n")
    if context is not None:
        printer.print_metadata(context.loaded_dialects)
    return stream.getvalue()
