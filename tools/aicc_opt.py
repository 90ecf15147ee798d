"""
`aicc-opt`: the developer driver.

Kept light: `--help`, `--version` and wrong flags are answered from here without importing xDSL or numpy.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from aicc.tools.options import UsageError, parse_arguments

USAGE_STATUS = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Runs the tool on `arguments` (by default the process's own).

    Returns the exit status: 0, 1 for a diagnostic, 2 for wrong usage.
    """
    try:
        options = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    except UsageError as error:
        print(f"aicc-opt: {error} (see aicc-opt --help)", file=sys.stderr)
        return USAGE_STATUS
    if options.version:
        print(version_text())
        return 0

    from aicc.tools.driver import run

    try:
        return run(options)
    except BrokenPipeError:
        # The reader (head, a pager) has gone; what is left in the buffer has nowhere to go either.
        sys.stdout = None
        return 1


def version_text() -> str:
    """Versions of aicc and of what shapes its output."""
    from importlib.metadata import version

    return f"aicc {version('aicc')} (xdsl {version('xdsl')}, llvmlite {version('llvmlite')}, numpy {version('numpy')})"


if __name__ == "__main__":
    sys.exit(main())
