"""A few damaged models of fixed seeds; `make fuzz-mutants` tries thousands."""

import pytest

from tests.unit.fuzz.models import warm
from tests.unit.fuzz.mutants import MODELS, fault_of, mutant, outcome_of, sources

SHARES = 4
PER_SHARE = 25


@pytest.fixture(scope="module", autouse=True)
def warmed() -> None:
    """Children find everything imported."""
    warm()


@pytest.mark.parametrize("share", range(SHARES))
def test_mutants_end_in_an_answer_or_one_diagnostic(share: int):
    outcomes = {seed: outcome_of(seed) for seed in range(share * PER_SHARE, (share + 1) * PER_SHARE)}
    faults = {seed: fault_of(outcome) for seed, outcome in outcomes.items()}
    assert {seed: fault for seed, fault in faults.items() if fault is not None} == {}


def test_models_that_are_not_damaged_run():
    data = sources()
    assert len(data) == MODELS
    for seed in range(4):
        assert outcome_of(seed, data[seed]).text == "ran"


def test_reading_outside_of_the_folder_would_be_seen():
    outcome = outcome_of(0, sources()[0], before=lambda: open("/etc/hostname").close())
    assert fault_of(outcome) == "failure: OutsideError: opened /etc/hostname"


def test_a_seed_makes_one_mutant():
    assert mutant(11) == mutant(11) != mutant(31)
