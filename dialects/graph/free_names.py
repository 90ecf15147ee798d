"""Names that are given once each: of buffers, of symbols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class FreeNames:
    """
    The names that are taken. One that is asked for again gets a number behind it.

    The numbers of a name go on from the last one, so that ten thousand equal names take ten thousand steps.
    """

    def __init__(self, taken: Iterable[str] = (), separator: str = "_"):
        self._taken = set(taken)
        self._separator = separator
        self._last: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._taken)

    def update(self, names: Iterable[str]) -> None:
        """Marks names as taken."""
        self._taken.update(names)

    def take(self, wanted: str) -> str:
        """`wanted`, or that with a number where it is taken; it is from then on."""
        name, number = wanted, self._last.get(wanted, 0)
        while name in self._taken:
            number += 1
            name = f"{wanted}{self._separator}{number}"
        if number:
            self._last[wanted] = number
        self._taken.add(name)
        return name
