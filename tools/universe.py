"""
The `xdsl.universe` entry point: our dialects and passes for plain `xdsl-opt`.

Only names that xDSL does not have itself: the extended `llvm`, `transform` and `vector` dialects belong to `aicc-opt`.
Nothing is imported until a dialect or pass is used.
"""

from functools import partial

from xdsl.universe import Universe

from aicc.dialects.table import DIALECTS, load_dialect
from aicc.lowering.table import PASSES as LOWERING_PASSES
from aicc.transforms.registry import load_pass
from aicc.transforms.table import PASSES as TRANSFORM_PASSES

AICC_UNIVERSE = Universe(
    all_dialects={name: partial(load_dialect, target) for name, target in DIALECTS.items()},
    all_passes={name: partial(load_pass, entry) for name, entry in (TRANSFORM_PASSES | LOWERING_PASSES).items()},
)
