"""The passes that stay within a level: name -> where the pass is. Sorted by name; one line each."""

from aicc.transforms.registry import PassEntry

PASSES: dict[str, PassEntry] = {}
