"""Names that are given once each."""

from aicc.dialects.graph.free_names import FreeNames


def test_names_get_numbers_that_nothing_has():
    names = FreeNames(["a", "a_2"])
    assert [names.take(wanted) for wanted in ("a", "a", "b", "a_1", "b", "b_1")] == [
        *("a_1", "a_3", "b", "a_1_1", "b_1", "b_1_1")
    ]
    names.update(["c"])
    assert names.take("c") == "c_1"
    assert set(names) == {"a", "a_1", "a_1_1", "a_2", "a_3", "b", "b_1", "b_1_1", "c", "c_1"}


def test_the_separator_is_ones_own():
    names = FreeNames(separator=".")
    assert [names.take("x") for _ in range(3)] == ["x", "x.1", "x.2"]


def test_equal_names_take_no_more_steps_than_there_are():
    # A search from the first number on would take five thousand million steps.
    names = FreeNames()
    for _ in range(100_000):
        names.take("constant")
    assert names.take("constant") == "constant_100000"
