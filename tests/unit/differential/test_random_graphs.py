"""
Random graphs, compiled, against their numpy meaning.

`AICC_FUZZ_GRAPHS` is the number of graphs (default 30); `make fuzz` tries 500.
"""

import os

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import aicc
from tests.unit.differential.graphs import Program, programs
from tests.unit.differential.reference import check

# More than one test, so that several processes share the graphs.
SHARES = 2
COUNT = -(-int(os.environ.get("AICC_FUZZ_GRAPHS", "30")) // SHARES)

FUZZING = "AICC_FUZZ_GRAPHS" in os.environ

SETTINGS = settings(
    max_examples=COUNT,
    deadline=None,
    derandomize=not FUZZING,
    # Making a failing graph smaller takes minutes: on demand only.
    phases=(Phase.generate, Phase.shrink) if FUZZING else (Phase.generate,),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


def compiled_agrees(program: Program, opt_level: int, threads: int) -> None:
    model = aicc.compile(program.module, opt_level=opt_level, threads=threads, cache=False)
    check(program.module, program.inputs, model(*program.inputs))


@SETTINGS
@given(programs(), st.sampled_from((1, 2)))
def test_optimised_code_computes_the_meaning(program: Program, threads: int):
    compiled_agrees(program, 2, threads)


@SETTINGS
@given(programs(max_ops=8))
def test_plain_code_computes_the_meaning(program: Program):
    compiled_agrees(program, 0, 1)
