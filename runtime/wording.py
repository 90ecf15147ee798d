"""Words of messages."""


def number_of(count: int, what: str, plural: str = "") -> str:
    """`1 node`, `2 nodes`; `plural` is what several are called, else `what` with an s."""
    return f"{count} {what if count == 1 else plural or what + 's'}"
