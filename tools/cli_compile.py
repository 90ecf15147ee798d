"""`aicc compile`: a model as one file that `aicc.load` and `aicc run` take; nothing is compiled again."""

from __future__ import annotations

import argparse

from aicc.compiler import compile
from aicc.tools.cli_values import given_model
from aicc.tools.compile_options import compile_options


def compile_command(options: argparse.Namespace) -> int:
    """Writes `options.output`, and prints what was compiled."""
    model = compile(given_model(options.model), **compile_options(options))
    model.save(options.output)
    print(f"{options.output}: {model.stats.compiles} compiled, {model.stats.cache_hits} from the cache")
    print(*(f"  takes {info}" for info in model.inputs), *(f"  gives {info}" for info in model.outputs), sep="\n")
    return 0
