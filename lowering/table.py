"""The passes that go from one level to the next: name -> where the pass is. Sorted by name; one line each."""

from aicc.transforms.registry import PassEntry

PASSES: dict[str, PassEntry] = {}
