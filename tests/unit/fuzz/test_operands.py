"""A few operators with operands that do not fit; `python -m tests.unit.fuzz.operands` tries thousands."""

from tests.unit.fuzz.operands import faults, import_fault, random_node

SEEDS = range(15)


def test_operands_that_do_not_fit_are_refused_as_such():
    assert faults(SEEDS) == {}


def test_a_seed_makes_one_node():
    assert random_node("", "Add", 3) == random_node("", "Add", 3)


def test_some_nodes_are_imported_and_some_refused():
    ends = {import_fault(random_node("", op, seed)) for op in ("Add", "Concat", "Relu") for seed in SEEDS}
    assert ends == {None, ""}
