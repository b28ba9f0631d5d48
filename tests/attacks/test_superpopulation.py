"""Models of population uniques: ARX's published numbers, and populations that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom, nbinom

from sudare.attacks.superpopulation import Uniques, _alpha, relied_on, uniques

ADULT = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
Ints = NDArray[np.int64]


def sizes_of(blocks: Ints) -> tuple[Ints, Ints]:
    sizes, counts = np.unique(blocks[blocks > 0], return_counts=True)
    return sizes, counts


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> pl.DataFrame:
    return pl.read_csv(data_folder / "arx_hierarchies" / "adult.csv", separator=";")


def blocks_of(frame: pl.DataFrame, names: list[str]) -> Ints:
    return frame.group_by(names).len()["len"].sort().to_numpy().astype(np.int64)


def estimated(blocks: Ints, fraction: float) -> Uniques:
    return uniques(*sizes_of(blocks), people=blocks.sum() / fraction)


# -- ARX -----------------------------------------------------------------------------------------


def four_digits(share: float) -> int:
    """ARX compares so."""
    return int(share * 10_000)


@pytest.mark.parametrize(
    ("fraction", "model", "share"),
    [
        (0.1, "pitman", 0.27684993883653597),
        (0.1, "zayatz", 0.3207402393466189),
        (0.2, "zayatz", 0.3577099234829125),
        (0.01, "pitman", 0.1446083531167384),
        (1.0, "zayatz", 0.5142895033485844),
    ],
)
def test_arx_test_risk_metrics_of_adult(
    adult: pl.DataFrame, fraction: float, model: str, share: float
) -> None:
    """ARX's TestRiskMetrics.testDecisionRule2, with all nine attributes of adult.csv."""
    blocks = blocks_of(adult, ADULT)
    people = blocks.sum() / fraction
    found = estimated(blocks, fraction)
    assert four_digits(getattr(found, model) / people) == four_digits(share)
    if fraction <= 0.1:
        assert found.rule == "pitman"


def test_arx_relies_on_zayatz_where_snb_has_no_solution() -> None:
    """At a fraction of 0.2, ARX's published number of Adult is Zayatz's.

    Its equation for blocks of two multiplies by (1 - q)^(alpha + 2) where the model divides, and so is never solved. Solved as
    Chen and Keller-McNulty have it, SNB's number is smaller, and nearer to the truth (see below).
    """
    assert relied_on(0.2, pitman=0.3366, zayatz=0.3577, snb=None) == "zayatz"


def test_arx_test_risk_metrics_of_its_small_table() -> None:
    """ARX's TestRiskMetrics.testDecisionRule: seven people who are all different, at a fraction of 0.2."""
    found = uniques(np.array([1]), np.array([7]), people=35)
    assert found.pitman is None
    assert found.estimate / 35 == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("names", "fraction", "pitman", "zayatz"),
    [
        (ADULT[:5], 0.01, 0.009134621678757405, 0.01481625650744893),
        (ADULT[:5], 0.1, 0.03146261308135865, 0.032218000191579055),
        (ADULT[:5], 0.5, 0.0746817577912653, 0.07180555092725055),
        (ADULT[:3], 0.05, 1.540678631018953e-4, 6.913353069510894e-5),
        (ADULT[:3], 0.2, 6.125547041969309e-4, 2.491253185694596e-4),
    ],
)
def test_what_arx_says_of_some_attributes_of_adult(
    adult: pl.DataFrame, names: list[str], fraction: float, pitman: float, zayatz: float
) -> None:
    """By running ARX 3.9.2: RiskModelPopulationUniqueness.getFractionOfUniqueTuplesPitman and ...Zayatz."""
    blocks = blocks_of(adult, names)
    found, people = estimated(blocks, fraction), blocks.sum() / fraction
    assert found.pitman is not None
    assert found.pitman / people == pytest.approx(pitman, rel=1e-5)
    assert found.zayatz / people == pytest.approx(zayatz, rel=1e-5)


# -- populations that are known ------------------------------------------------------------------


def sampled(blocks: Ints, fraction: float, rng: np.random.Generator) -> Ints:
    """Draw a sample without replacement; return the sizes of its blocks."""
    return rng.multivariate_hypergeometric(blocks, round(fraction * blocks.sum()), method="marginals")


def means(blocks: Ints, fraction: float, model: str, draws: int = 10) -> float:
    rng, people = np.random.default_rng(0), int(blocks.sum())
    found = [uniques(*sizes_of(sampled(blocks, fraction, rng)), people=people) for _ in range(draws)]
    return float(np.mean([getattr(one, model) for one in found]))


@pytest.mark.parametrize(
    ("names", "fraction", "model", "off"),
    [
        (ADULT, 0.02, "pitman", 0.2),
        (ADULT, 0.5, "zayatz", 0.04),
        (ADULT, 0.5, "snb", 0.02),
        (ADULT, 0.2, "snb", 0.1),
        (ADULT, 0.2, "estimate", 0.1),
        (ADULT[:5], 0.05, "pitman", 0.3),
        (ADULT[:5], 0.2, "estimate", 0.2),
        (ADULT[:5], 0.5, "estimate", 0.05),
    ],
)
def test_samples_of_adult_tell_how_many_of_all_are_unique(
    adult: pl.DataFrame, names: list[str], fraction: float, model: str, off: float
) -> None:
    blocks = blocks_of(adult, names)
    truth = int((blocks == 1).sum())
    assert means(blocks, fraction, model) == pytest.approx(truth, rel=off)


def test_snb_is_nearer_to_the_truth_than_zayatz_where_arx_has_no_solution(adult: pl.DataFrame) -> None:
    blocks = blocks_of(adult, ADULT)
    truth = int((blocks == 1).sum())
    snb, zayatz = (means(blocks, 0.2, model) for model in ("snb", "zayatz"))
    assert truth < snb < zayatz


def test_pitman_finds_the_uniques_of_pitmans_own_population() -> None:
    """Blocks grow as in Pitman's sampling formula (a Chinese restaurant with two parameters)."""
    rng, theta, alpha, people = np.random.default_rng(0), 40.0, 0.5, 20_000
    blocks: list[int] = []
    seats: list[int] = []  # the block of everybody, to draw one in proportion to its size
    for person in range(people):
        if rng.random() * (person + theta) < theta + alpha * len(blocks):
            seats.append(len(blocks))
            blocks.append(1)
            continue
        while True:  # in proportion to size - alpha, by refusing some
            at = seats[rng.integers(person)]
            if rng.random() * blocks[at] < blocks[at] - alpha:
                break
        seats.append(at)
        blocks[at] += 1
    sizes = np.array(blocks, dtype=np.int64)
    assert means(sizes, 0.05, "pitman") == pytest.approx((sizes == 1).sum(), rel=0.15)


def test_snb_finds_the_uniques_of_its_own_population() -> None:
    """The size of a block, less one, is negative binomial. What is off comes from K, which is estimated too."""
    blocks = 1 + np.random.default_rng(0).negative_binomial(0.8, 0.3, 20_000).astype(np.int64)
    for fraction, off in ((0.3, 0.15), (0.6, 0.05)):
        assert means(blocks, fraction, "snb") == pytest.approx((blocks == 1).sum(), rel=off)


@pytest.mark.parametrize(
    ("alpha", "beta", "pi"), [(0.8, 0.3, 0.3), (0.1, 0.05, 0.2), (3.0, 0.9, 0.7), (0.5, 0.5, 0.01)]
)
def test_blocks_of_one_and_two_tell_the_parameters_of_snb(alpha: float, beta: float, pi: float) -> None:
    """Their shares are summed here over all sizes that a block of the population can have."""
    size = np.arange(1, 3000)
    one, two = ((nbinom.pmf(size - 1, alpha, beta) * binom.pmf(seen, size, pi)).sum() for seen in (1, 2))
    assert _alpha(beta, pi, two / one) == pytest.approx(alpha)
    q = (1 - pi) * (1 - beta)
    assert pi * (beta / (1 - q)) ** alpha * (1 + alpha * q / (1 - q)) == pytest.approx(one)


# -- twins, and what cannot be -------------------------------------------------------------------


def likelihood(theta: float, alpha: float, sizes: Ints, counts: Ints) -> float:
    """Pitman's sampling formula, factor by factor."""
    u, n = int(counts.sum()), int(sizes @ counts)
    blocks = np.log(theta + alpha * np.arange(1, u)).sum() - np.log(theta + np.arange(1, n)).sum()
    within = sum(c * np.log(np.arange(1, s) - alpha).sum() for s, c in zip(sizes, counts, strict=True))
    return float(blocks + within)


def test_pitmans_parameters_have_the_largest_likelihood() -> None:
    """On a fine grid, nothing is more likely than what is found; the grid's best point gives nearly the same estimate."""
    sizes, counts, people = np.array([1, 2, 3, 7]), np.array([30, 12, 5, 2]), 2_000.0
    grid = [(t, a) for t in np.linspace(1, 80, 160) for a in np.linspace(0.01, 0.95, 95)]
    theta, alpha = max(grid, key=lambda at: likelihood(*at, sizes, counts))
    by_grid = np.exp(gammaln(theta + 1) - gammaln(theta + alpha)) * people**alpha
    assert uniques(sizes, counts, people).pitman == pytest.approx(by_grid, rel=0.05)


@given(
    st.dictionaries(
        st.integers(1, 50) | st.integers(1, 10**9), st.integers(1, 10**5), min_size=1, max_size=8
    ),
    st.floats(1e-6, 1),
)
def test_estimates_are_numbers_of_people(blocks: dict[int, int], fraction: float) -> None:
    sizes, counts = np.array(list(blocks)), np.array(list(blocks.values()))
    people = float(sizes @ counts / fraction)
    found = uniques(sizes, counts, people)
    for estimate in (found.pitman, found.zayatz, found.snb, found.estimate):
        assert estimate is None or 0 <= estimate <= people * (1 + 1e-9)
    if 1 not in blocks:
        assert found.estimate == 0
