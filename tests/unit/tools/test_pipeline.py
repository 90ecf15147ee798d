"""Pipelines from text to passes and back, and option values of every type."""

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.lowering.context import registry
from aicc.tools.pass_options import build_pass, format_pass, option_infos
from aicc.tools.pipeline import build_pipeline, format_pipeline
from aicc.tools.pipeline_text import NestText, PassText, PipelineError, parse_pipeline_text


@dataclass(frozen=True)
class SamplePass(ModulePass):
    """Every kind of option."""

    name = "sample-pass"
    count: int
    """How many, in pieces; at least 1."""
    ratio: float = 0.5
    label: str = "none"
    deep: bool = False
    sizes: tuple[int, ...] = ()
    names: tuple[str, ...] | None = None
    mode: Literal["fast", "exact"] = "exact"
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.count < 1:
            raise PassFailedException(f"count is {self.count}, expected at least 1")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


def sample(text: str) -> SamplePass:
    (element,) = parse_pipeline_text(text)
    assert isinstance(element, PassText)
    built = build_pass(SamplePass, element, text)
    assert isinstance(built, SamplePass)
    return built


@pytest.mark.parametrize(
    "options, expected",
    [
        ("count=3", SamplePass(3)),
        (" count = 3  ratio = 2 ", SamplePass(3, 2.0)),
        ("count=3 ratio=1e-3", SamplePass(3, 0.001)),
        ("count=3 deep", SamplePass(3, deep=True)),
        ("count=3 deep=false", SamplePass(3)),
        ("count=3 sizes=4", SamplePass(3, sizes=(4,))),
        ("count=3 sizes=4,-5 , 6", SamplePass(3, sizes=(4, -5, 6))),
        ('count=3 names=a,"b c"', SamplePass(3, names=("a", "b c"))),
        ("count=3 mode=fast limit=7", SamplePass(3, mode="fast", limit=7)),
        ("count=3 limit", SamplePass(3)),
        ("count=3 label=builtin.module(x{y=1,2})", SamplePass(3, label="builtin.module(x{y=1,2})")),
        ('count=3 label="a \\"quoted\\" one"', SamplePass(3, label='a "quoted" one')),
        ("count=3 label=12", SamplePass(3, label="12")),
    ],
)
def test_option_values(options: str, expected: SamplePass):
    assert sample(f"sample-pass{{{options}}}") == expected


@pytest.mark.parametrize(
    "options, message, column",
    [
        ("", "needs option 'count' (int)", 1),
        ("count=x", "option 'count' of pass 'sample-pass' is 'x', expected int", 19),
        ("count=3 cuont=4", "has no option 'cuont'; did you mean 'count'?", 21),
        ("count=1,2", "is '1,2', expected int", 19),
        ("count", "option 'count' of pass 'sample-pass' needs a value (int)", 13),
        ("count=3 mode=fats", "expected fast|exact; did you mean 'fast'?", 26),
        ("count=3 sizes=1,b", "is '1,b', expected list of int", 27),
        ("count=0", "count is 0, expected at least 1", 1),
    ],
)
def test_wrong_options_name_the_place(options: str, message: str, column: int):
    with pytest.raises(PipelineError) as caught:
        sample(f"sample-pass{{{options}}}")
    assert message in caught.value.message
    assert caught.value.start + 1 == column


SAMPLES = st.builds(
    SamplePass,
    count=st.integers(1, 1 << 40),
    ratio=st.floats(allow_nan=False),
    label=st.text(max_size=8),
    deep=st.booleans(),
    sizes=st.lists(st.integers(), max_size=3).map(tuple),
    names=st.none() | st.lists(st.text(max_size=5), min_size=1, max_size=3).map(tuple),
    mode=st.sampled_from(["fast", "exact"]),
    limit=st.none() | st.integers(),
)


@given(SAMPLES)
def test_text_of_a_pass_reads_back_to_an_equal_pass(module_pass: SamplePass):
    assert sample(format_pass(module_pass)) == module_pass


def test_option_infos():
    infos = {info.name: info for info in option_infos(SamplePass)}
    assert infos["count"] == ("count", "int", None, "How many, in pieces; at least 1.")
    assert infos["sizes"].type == "list of int"
    assert infos["sizes"].default == "none"
    assert infos["mode"] == ("mode", "fast|exact", "exact", "")


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("", "builtin.module()"),
        ("builtin.module()", "builtin.module()"),
        ("cse,dce", "builtin.module(cse,dce)"),
        (" builtin.module ( func.func( cse , dce ) , cse ) ", "builtin.module(func.func(cse,dce),cse)"),
        ("any(cse),func.func()", "builtin.module(any(cse),func.func())"),
        ("builtin.module(cse),builtin.module(dce)", "builtin.module(builtin.module(cse),builtin.module(dce))"),
    ],
)
def test_canonical_text(text: str, canonical: str):
    steps = build_pipeline(text)
    assert format_pipeline(steps) == canonical
    assert build_pipeline(canonical) == steps


def test_nesting_does_not_use_the_python_stack():
    depth = 5000
    (element,) = parse_pipeline_text("builtin.module(" * depth + ")" * depth)
    for _ in range(depth - 1):
        assert isinstance(element, NestText)
        (element,) = element.elements


@given(st.text(alphabet='ab{}(),=" -.1\\<', max_size=20))
def test_any_text_is_a_pipeline_or_a_located_error(text: str):
    try:
        parse_pipeline_text(text)
    except PipelineError as error:
        assert 0 <= error.start <= len(text)
        assert error.start < error.end


def test_passes_of_the_registry_print_by_name():
    assert "canonicalize" in registry().passes
