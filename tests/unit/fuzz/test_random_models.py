"""A few random models of fixed seeds; `make fuzz-models` tries thousands."""

import pytest

from tests.unit.fuzz.generator import random_model
from tests.unit.fuzz.models import fault_of, outcome_of, warm

SHARES = 4
PER_SHARE = 10


@pytest.fixture(scope="module", autouse=True)
def warmed() -> None:
    """Children find everything imported."""
    warm()


@pytest.mark.parametrize("share", range(SHARES))
def test_random_models_compute_their_meaning(share: int):
    seeds = range(share * PER_SHARE, (share + 1) * PER_SHARE)
    outcomes = {seed: outcome_of(seed, peers=True) for seed in seeds}
    faults = {seed: fault_of(outcome) for seed, outcome in outcomes.items()}
    assert {seed: fault for seed, fault in faults.items() if fault is not None} == {}


def test_a_seed_makes_one_model():
    first, second = random_model(5), random_model(5)
    assert first.model == second.model
    assert all((first.feeds[name] == array).all() or (array != array).any() for name, array in second.feeds.items())
