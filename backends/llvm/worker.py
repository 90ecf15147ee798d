"""
Emits objects for another process: `python -m aicc.backends.llvm.worker TARGET`.

Reads frames of LLVM text on standard input and answers each with a frame of object code on standard output, in order;
a frame is its length as 8 bytes, little endian, and the content. The end of the input ends the worker. LLVM is called
through one global lock within a process, which is why compiling on several cores takes several processes.
"""

import sys
from typing import IO

_LENGTH = 8


def write_frame(stream: IO[bytes], content: bytes) -> None:
    """Writes one frame and hands it on at once."""
    stream.write(len(content).to_bytes(_LENGTH, "little"))
    stream.write(content)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame's content; None at the end of the stream, also in the middle of a frame."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "little")
    content = stream.read(size)
    return content if len(content) == size else None


def main() -> None:
    """Serves until the input ends."""
    from aicc.backends.llvm.objects import emit_object
    from aicc.backends.llvm.targets import target_by_name

    target = target_by_name(sys.argv[1])
    while (content := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, emit_object(content.decode(), target))


if __name__ == "__main__":
    main()
