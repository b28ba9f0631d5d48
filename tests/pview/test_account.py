"""Budgets: exact shares, and the noise that they buy."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import integrate, stats

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.pview.account import Account, rho_for
from sudare.verification.recount_budget import refuse_overspent

PURE, GAUSSIAN = sd.DifferentialPrivacy(1.0), sd.DifferentialPrivacy(1.0, 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-9), (0.1, 1e-6), (5.0, 1e-5), (0.5, 0.01), (10, 1e-12)]
)
def test_rho_promises_what_it_should_and_hardly_less(epsilon: float, delta: float) -> None:
    """Against the exact delta of a Gaussian of that rho, which is the worst that zCDP allows up to a little."""
    rho = float(rho_for(epsilon, delta))
    sigma = 1 / math.sqrt(2 * rho)
    upper = stats.norm.cdf(1 / (2 * sigma) - epsilon * sigma)
    lower = stats.norm.cdf(-1 / (2 * sigma) - epsilon * sigma)
    assert upper - math.exp(epsilon) * lower <= delta
    simple = (math.sqrt(epsilon + math.log(1 / delta)) - math.sqrt(math.log(1 / delta))) ** 2
    assert rho >= simple, "Bun and Steinke's simple bound is no better"


def test_shares_are_exact_and_never_exceed_the_whole() -> None:
    account = Account(PURE, Keystream())
    for _ in range(3):
        account.spend("cells", Fraction(1, 3))
    assert account.remaining == 0
    with pytest.raises(sd.ParameterError, match="'tree' would take 1e-09 of epsilon, where 0 remains"):
        account.spend("tree", Fraction(1, 10**9))
    with pytest.raises(sd.ParameterError, match="would take 0"):
        account.spend("tree", Fraction(0))


def test_a_budget_as_written_is_taken_exactly() -> None:
    assert Account(sd.DifferentialPrivacy(0.1), Keystream()).whole == Fraction(1, 10)
    with pytest.raises(sd.ParameterError, match="needs an epsilon above 0"):
        Account(sd.DifferentialPrivacy(0), Keystream())


@pytest.mark.parametrize("promise", [PURE, GAUSSIAN])
def test_noise_has_the_deviation_that_is_said(promise: sd.DifferentialPrivacy) -> None:
    account = Account(promise, Keystream.unsafe(3))
    part = account.spend("counts", Fraction(1, 4))
    drawn = account.noise(200_000, part)
    assert abs(drawn.mean()) < 5 * account.deviation(part) / math.sqrt(len(drawn))
    assert drawn.std() == pytest.approx(account.deviation(part), rel=0.02)


def test_noise_of_sums_is_as_wide_as_a_record_may_change_them() -> None:
    for promise, change in ((PURE, 3), (GAUSSIAN, 2**20), (sd.DifferentialPrivacy(0.001, 1e-9), 2**10)):
        account = Account(promise, Keystream.unsafe(3))
        part = account.spend("counts", Fraction(1, 100))
        drawn = account.noise(50_000, part, change)
        assert drawn.std() == pytest.approx(account.deviation(part, change), rel=0.03)
        if promise.delta:  # the noise that Theorem 14 of Canonne, Kamath and Steinke asks for
            assert account.deviation(part, change) ** 2 >= float(change / (2 * part))
        else:
            assert account.deviation(part, change) == pytest.approx(
                change * math.sqrt(2) / float(part), rel=0.01
            )


def law_of_permute_and_flip(losses: np.ndarray) -> np.ndarray:
    """Go through all orders: the first that stays is chosen."""
    law, stays = np.zeros(len(losses)), np.exp(-losses)
    for order in permutations(range(len(losses))):
        left = 1.0
        for i in order:
            law[i] += left * stays[i] / math.factorial(len(losses))
            left *= 1 - stays[i]
    return law


@pytest.mark.parametrize("promise", [PURE, GAUSSIAN])
def test_choices_have_the_probabilities_of_their_mechanism(promise: sd.DifferentialPrivacy) -> None:
    account = Account(promise, Keystream.unsafe(4))
    part = account.spend("choice", Fraction(1, 1))
    scores = np.array([0.0, 3.0, 5.0, 4.5])
    seen = np.bincount([account.choose(scores, 1.0, part) for _ in range(20_000)], minlength=4)
    losses = (5 - scores) * account.strength(part) / 2
    law = law_of_permute_and_flip(losses) if account.pure else np.exp(-losses)
    assert stats.chisquare(seen, 20_000 * law / law.sum()).pvalue > 1e-6


def test_permute_and_flip_keeps_its_epsilon() -> None:
    """Scores that all move by the sensitivity, each up or down: no probability changes by more than e^epsilon."""
    rng, epsilon = np.random.default_rng(0), 0.7
    for _ in range(100):
        scores = rng.normal(size=4) * 3
        moved = scores + rng.choice([-1.0, 1.0], size=4)
        p, q = (law_of_permute_and_flip((s.max() - s) * epsilon / 2) for s in (scores, moved))
        assert np.abs(np.log(p / q)).max() <= epsilon + 1e-9


def test_a_choice_of_epsilon_e_has_rho_e_squared_over_8() -> None:
    """Renyi divergences of two neighbouring choices stay below rho times the order (bounded range)."""
    account = Account(GAUSSIAN, Keystream())
    part = account.spend("choice", Fraction(1, 2))
    e = account.strength(part)
    assert e == pytest.approx(math.sqrt(8 * float(part)))
    rng = np.random.default_rng(0)
    for _ in range(200):
        scores = rng.normal(size=5) * 20
        moved = scores + rng.uniform(-1, 1, size=5)
        p, q = (np.exp(e * s / 2 - np.max(e * s / 2)) for s in (scores, moved))
        p, q = p / p.sum(), q / q.sum()
        for order in (1.5, 2.0, 5.0, 30.0):
            divergence = math.log((p**order * q ** (1 - order)).sum()) / (order - 1)
            assert divergence <= float(part) * order + 1e-12


class TestRecount:
    def test_what_was_spent_is_let_through(self) -> None:
        for promise in (PURE, GAUSSIAN):
            account = Account(promise, Keystream())
            account.spend("cells", Fraction(1))
            refuse_overspent(account.spending.to_json(), promise)

    @pytest.mark.parametrize("promise", [PURE, GAUSSIAN])
    def test_a_little_more_is_refused(self, promise: sd.DifferentialPrivacy) -> None:
        account = Account(promise, Keystream())
        account.spend("cells", Fraction(1))
        budget = account.spending.to_json()
        budget["shares"].append({"kind": "total", "attributes": [], "amount": "1/1000"})
        with pytest.raises(sd.RequirementError, match="more than differential privacy with epsilon = 1"):
            refuse_overspent(budget, promise)

    def test_a_negative_share_hides_nothing(self) -> None:
        budget = {"unit": "epsilon", "shares": [{"amount": "3/2"}, {"amount": "-1"}]}
        with pytest.raises(sd.RequirementError):
            refuse_overspent(budget, PURE)

    def test_its_conversion_is_that_of_the_definition(self) -> None:
        """The delta of rho at an order is the tail of the loss: integrated for a Gaussian, it is never above the bound."""
        from sudare.verification.recount_budget import _log_delta

        rho, epsilon = 0.02, 1.0
        mean, deviation = rho, math.sqrt(2 * rho)  # of the privacy loss of a Gaussian mechanism
        tail, _ = integrate.quad(
            lambda z: (1 - math.exp(epsilon - z)) * stats.norm.pdf(z, mean, deviation), epsilon, epsilon + 5
        )
        assert math.log(tail) <= _log_delta(rho, epsilon)
