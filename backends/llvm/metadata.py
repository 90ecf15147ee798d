"""Metadata nodes of an LLVM module: loops, alias scopes, branch weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute

from aicc.dialects.llvm.attrs import AliasScopeAttr, LoopAnnotationAttr, LoopUnrollAttr, LoopVectorizeAttr, flag


class Metadata:
    """Numbered metadata nodes; equal content shares a node, except that each loop has one of its own."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self._known: dict[object, int] = {}

    def lines(self) -> list[str]:
        """The definitions of all nodes."""
        return [f"!{index} = {text}" for index, text in enumerate(self._nodes)]

    def _node(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self._nodes)
            self._nodes.append(text)
        return self._known[text]

    def _named(self, key: object, rest: str) -> int:
        """A node whose first operand is itself, one for each `key`."""
        if key not in self._known:
            number = self._known[key] = len(self._nodes)
            self._nodes.append(f"distinct !{{!{number}{rest}}}")
        return self._known[key]

    def loop(self, annotation: LoopAnnotationAttr) -> str:
        """The attachment for a loop's back edge."""
        entries = annotation.entries.data
        texts: list[str] = []
        if flag(entries.get("mustProgress")):
            texts.append('!{!"llvm.loop.mustprogress"}')
        if flag(entries.get("disableNonforced")):
            texts.append('!{!"llvm.loop.disable_nonforced"}')
        if isinstance(vectorize := entries.get("vectorize"), LoopVectorizeAttr):
            enabled = "false" if flag(vectorize.entries.data.get("disable")) else "true"
            texts.append(f'!{{!"llvm.loop.vectorize.enable", i1 {enabled}}}')
        if isinstance(unroll := entries.get("unroll"), LoopUnrollAttr):
            if flag(unroll.entries.data.get("disable")):
                texts.append('!{!"llvm.loop.unroll.disable"}')
            elif isinstance(count := unroll.entries.data.get("count"), IntegerAttr):
                texts.append(f'!{{!"llvm.loop.unroll.count", i32 {count.value.data}}}')
        rest = "".join(f", !{self._node(text)}" for text in texts)
        return f", !llvm.loop !{self._named(object(), rest)}"

    def weights(self, weights: Sequence[int]) -> str:
        """The attachment for a branch taken with these weights."""
        text = ", ".join(f"i32 {weight}" for weight in weights)
        return f", !prof !{self._node(f'!{{!{chr(34)}branch_weights{chr(34)}, {text}}}')}"

    def _scope(self, scope: AliasScopeAttr) -> int:
        domain = cast(AliasScopeAttr, scope.entries.data["domain"])
        return self._named(scope, f", !{self._named(domain, '')}")

    def _scopes(self, scopes: Attribute) -> int:
        numbers = [self._scope(scope) for scope in cast(ArrayAttr[AliasScopeAttr], scopes)]
        return self._node(f"!{{{', '.join(f'!{number}' for number in numbers)}}}")

    def access(self, properties: dict[str, Attribute]) -> str:
        """The attachments of a load or store with these properties."""
        text = ""
        if "alias_scopes" in properties:
            text += f", !alias.scope !{self._scopes(properties['alias_scopes'])}"
        if "noalias_scopes" in properties:
            text += f", !noalias !{self._scopes(properties['noalias_scopes'])}"
        if "invariant" in properties:
            text += f", !invariant.load !{self._node('!{}')}"
        if "nontemporal" in properties:
            text += f", !nontemporal !{self._node('!{i32 1}')}"
        return text
