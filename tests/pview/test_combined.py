"""P-views that were combined: nearer to the truth, honest about how near, and with the budget of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.pview.combined import Combined
from sudare.pview.errors import truth_of
from sudare.pview.files import PLAIN
from sudare.pview.spending import Share, Spending
from sudare.utility.intervals import REACH
from sudare.utility.workloads import Workload, marginals, random_ranges, rmse
from sudare.verbs.combine import weights_of
from tests.pview.forged import forge
from tests.pview.test_hostile_pviews import KINDS, SIZES, model

SCHEMA = sd.Schema.from_roles(
    quasi=["a", "b"], sensitive=["c"], bounds={"a": (0, 19), "b": (0, 7)}, domains={"c": ["x", "y", "z"]},
    missing="refuse",
)  # fmt: skip


def people(rows: int, seed: int = 0) -> sd.Table:
    """Attributes that depend on each other."""
    rng = np.random.default_rng(seed)
    a = np.minimum(rng.geometric(0.15, rows) - 1, 19)
    b = np.clip(a // 3 + rng.integers(-1, 3, rows), 0, 7)
    c = np.array(["x", "y", "z"])[(b // 3 + (rng.random(rows) < 0.2)) % 3]
    return sd.read(pl.DataFrame({"a": a, "b": b, "c": c}), SCHEMA)


def made(
    table: sd.Table, method: str, epsilons: list[float], seed: int = 0, delta: float = 0
) -> list[sd.PView]:
    return [
        sd.materialize(table, sd.DifferentialPrivacy(epsilon, delta), method, unsafe_seed=100 * seed + i)
        for i, epsilon in enumerate(epsilons)
    ]


def workloads(sizes: tuple[int, ...]) -> list[Workload]:
    ranges = [random_ranges(sizes, ways, 150, seed=3) for ways in range(1, len(sizes) + 1)]
    return [*ranges, marginals(sizes, 2, most=150)]


@pytest.mark.parametrize("kind", KINDS)
def test_one_alone_gives_its_own_answers(kind: str) -> None:
    own = model(kind)
    if kind == "combined":
        return
    alone = Combined.mean_of([own], np.ones(1), "same rows", SIZES)
    asked = random_ranges(SIZES, 2, 50)
    assert (alone.counts(asked.low, asked.high) == own.counts(asked.low, asked.high)).all()
    assert alone.errors(asked.low, asked.high) == pytest.approx(own.errors(asked.low, asked.high))
    assert (
        alone.table([1, 0], {2: np.array([0.5, 1.0])}) == own.table([1, 0], {2: np.array([0.5, 1.0])})
    ).all()
    assert alone.sample(40, np.random.default_rng(1)).shape == (40, 3)


@pytest.mark.parametrize("of", ["same rows", "mean"])
def test_a_pview_alone_promises_and_says_the_same(of: Any) -> None:
    (pview,) = made(people(500), "pairs", [0.3])
    alone = sd.combine([pview], of)
    assert alone.certificate.promises == pview.certificate.promises
    assert alone.spending == pview.spending
    for query in (
        "SELECT COUNT(*) FROM view",
        "SELECT c, COUNT(*) FROM view WHERE a BETWEEN 2 AND 9 GROUP BY c",
    ):
        ours, theirs = (one.sql(query).select(pl.col(pl.Float64)).to_numpy() for one in (alone, pview))
        assert ours == pytest.approx(theirs)


class Measured:
    """How far a p-view is off, and which share of its intervals hold the truth, by kind of question."""

    def __init__(self, pview: sd.PView, table: sd.Table) -> None:
        truth = truth_of(table, pview)
        self.rmse, self.covered = [], []
        for asked in workloads(pview.domain.sizes):
            true = truth.counts(asked.low, asked.high)
            counts, errors = pview.counts(asked.low, asked.high), pview.errors(asked.low, asked.high)
            self.rmse.append(rmse(true, counts))
            self.covered.append((np.abs(counts - true) <= REACH * errors + 1e-9).mean())


def measured(method: str, epsilons: list[float], delta: float, tables: list[sd.Table], seeds: int) -> Any:
    """Squared errors and covered shares, of the parts and combined: tables and seeds x parts x kinds of questions."""
    alone, together = [], []
    for table in tables:
        for seed in range(seeds):
            parts = made(table, method, epsilons, seed, delta)
            alone.append([Measured(part, table) for part in parts])
            together.append([Measured(sd.combine(parts), table)])
    return [
        np.array([[getattr(own, what) for own in several] for several in who])
        for who in (alone, together)
        for what in ("rmse", "covered")
    ]


@pytest.mark.parametrize("seeds", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_intervals_of_noise_alone_cover_and_errors_shrink_with_the_root(seeds: int) -> None:
    one, _, both, covered = measured("identity", [0.5] * 3, 0, [people(5_000)], seeds)
    assert 0.93 <= covered.mean() <= 0.99
    assert covered.mean(axis=(0, 1)).min() >= 0.93
    ratios = np.sqrt((both**2).mean(axis=(0, 1)) / (one**2).mean(axis=(0, 1)))
    assert ratios == pytest.approx(3**-0.5, rel=0.3)
    assert (np.sqrt((one**2).mean(axis=0)) > np.sqrt((both**2).mean(axis=(0, 1)))).all(), "of each part"


@pytest.mark.parametrize(
    ("delta", "rows", "seeds"),
    [
        (0, [900, 20_000], 2),
        *(pytest.param(d, [900, 5_000, 20_000, 90_000], 6, marks=pytest.mark.slow) for d in (0, 1e-6)),
    ],
)
def test_intervals_of_pairs_cover_as_those_of_the_parts_do(delta: float, rows: list[int], seeds: int) -> None:
    """What a method misses, all of its p-views miss."""
    tables = [people(n, seed=n) for n in rows]
    one, before, both, covered = measured("pairs", [0.5] * 3, delta, tables, seeds)
    assert 0.93 <= covered.mean() <= 0.995
    assert (covered.mean(axis=(0, 1)) >= before.mean(axis=(0, 1)) - 0.02).all()
    assert (both.mean(axis=(0, 1)) < one.mean(axis=(0, 1))).all()


def test_errors_that_are_taken_for_independent_would_not_cover() -> None:
    table = people(5_000, seed=5_000)
    combined = sd.combine(made(table, "pairs", [0.5] * 8))
    assert isinstance(combined.model, Combined)
    naive = replace(combined.model, spread=np.ones_like(combined.model.spread))
    honest, wrong = (Measured(replace(combined, model=own), table).covered for own in (combined.model, naive))
    assert max(wrong[1:3]) < 0.9 < min(honest[1:3])


def test_what_all_get_wrong_alike_is_not_averaged_away() -> None:
    """Histograms know nothing of how attributes depend on each other, however many there are."""
    table = people(30_000)
    parts = made(table, "independent", [0.5] * 6)
    combined = sd.combine(parts)
    asked = random_ranges(combined.domain.sizes, 2, 100)
    one, all_of_them = (own.errors(asked.low, asked.high) for own in (parts[0], combined))
    assert np.median(all_of_them / one) > 0.9
    assert min(Measured(combined, table).covered) > 0.93


def test_pviews_that_are_farther_apart_than_they_claim_get_wider_intervals() -> None:
    others = [*made(people(4_000), "identity", [1.0]), *made(people(9_000), "identity", [1.0])]
    combined = sd.combine(others)
    assert isinstance(combined.model, Combined)
    assert combined.model.spread.min() > 10
    assert combined.count(a=(0, 3)).high - combined.count(a=(0, 3)).low > 1_000


def test_the_mean_of_tables_that_differ_is_covered() -> None:
    tables = [people(rows, seed=1) for rows in (2_000, 3_000, 7_000)]
    parts = [made(table, "pairs", [0.5], seed)[0] for seed, table in enumerate(tables)]
    mean = sd.combine(parts, "mean")
    inside = []
    for asked in workloads(mean.domain.sizes):
        true = np.mean([truth_of(table, mean).counts(asked.low, asked.high) for table in tables], axis=0)
        reach = REACH * mean.errors(asked.low, asked.high)
        inside.append((np.abs(mean.counts(asked.low, asked.high) - true) <= reach + 1e-9).mean())
    before = [Measured(part, table).covered for part, table in zip(parts, tables, strict=True)]
    assert (np.array(inside) >= np.mean(before, axis=0) - 0.02).all()
    assert mean.total == pytest.approx(4_000, abs=200)


def test_the_larger_budget_weighs_more() -> None:
    def spent(unit: Any, whole: str) -> Spending:
        return Spending(unit, Fraction(whole), (Share("total", Fraction(whole)),))

    assert weights_of([spent("epsilon", "1"), spent("epsilon", "2")], "same rows").tolist() == [0.2, 0.8]
    assert weights_of([spent("rho", "1"), spent("rho", "3")], "same rows").tolist() == [0.25, 0.75]
    assert weights_of([spent("rho", "1"), spent("rho", "3")], "mean").tolist() == [0.5, 0.5]


@pytest.mark.parametrize("method", ["pairs", "dp-mondrian", "identity", "independent"])
def test_counts_add_up_and_a_saved_one_says_the_same(method: str, tmp_path: Path) -> None:
    combined = sd.combine(made(people(2_000), method, [0.5, 1.0]))
    assert combined.marginal(["a", "c"])["count"].sum() == pytest.approx(combined.total)
    asked = random_ranges(combined.domain.sizes, 3, 20)
    for low, high in zip(asked.low, asked.high, strict=True):
        box = {
            axis: np.eye(size)[low[axis] : high[axis] + 1].sum(axis=0)
            for axis, size in enumerate(combined.domain.sizes)
        }
        assert combined.model.table([], box) == pytest.approx(combined.counts(low, high)[0])
    drawn = combined.sample(20_000, seed=1)["c"].value_counts().sort("c")["count"].to_numpy()
    expected = np.maximum(combined.marginal("c")["count"].to_numpy(), 0)
    assert drawn / 20_000 == pytest.approx(expected / expected.sum(), abs=0.05)
    opened = sd.PView.open(combined.save(tmp_path / "combined"))
    assert (opened.counts(asked.low, asked.high) == combined.counts(asked.low, asked.high)).all()
    assert (opened.errors(asked.low, asked.high) == combined.errors(asked.low, asked.high)).all()
    assert sd.verify(tmp_path / "combined").holds
    if combined.model.boxes is not None:
        sd.publish_pview(combined, f"duckdb:{tmp_path / 'db'}", "people")
        with duckdb.connect(str(tmp_path / "db")) as connection:
            ((count,),) = connection.execute("SELECT people_count(a_low := 3, c := 'y')").fetchall()
        assert count == pytest.approx(combined.count(a=(3, 19), c="y").value)


class TestBudgets:
    def test_epsilons_add_up_exactly(self) -> None:
        combined = sd.combine(made(people(300), "identity", [0.1, 0.2]))
        assert combined.certificate.measured == {"epsilon": 0.3}
        assert combined.spending.whole == Fraction(3, 10)
        thirds = sd.combine(made(people(300), "identity", [0.1234567890123456, 1e-5, 0.7]))
        assert Fraction(str(thirds.certificate.measured["epsilon"])) >= thirds.spending.whole

    def test_rhos_add_up_and_cost_less_than_their_epsilons(self) -> None:
        parts = made(people(300), "identity", [1.0, 1.0], delta=1e-9)
        combined = sd.combine(parts)
        assert combined.spending.whole == 2 * parts[0].spending.whole
        assert 1.4 < combined.certificate.measured["epsilon"] < 1.45
        assert combined.certificate.measured["delta"] == 1e-9

    def test_one_that_was_combined_is_combined_again(self, tmp_path: Path) -> None:
        parts = made(people(300), "identity", [0.5, 0.25, 0.25])
        opened = sd.PView.open(sd.combine(parts[:2]).save(tmp_path / "two"))
        again, at_once = sd.combine([opened, parts[2]]), sd.combine(parts)
        assert again.model.frame().equals(at_once.model.frame())
        assert again.model.extras() == at_once.model.extras()
        with pytest.raises(
            sd.InputError, match="combined of='same rows', and is to be combined again of='mean'"
        ):
            sd.combine([opened, parts[2]], "mean")

    def test_the_certificate_says_what_it_was_combined_of(self) -> None:
        parts = made(people(300), "identity", [0.5, 0.25])
        combined = sd.combine(parts, "mean")
        assert [own["certificate"] for own in combined.facts["parts"]] == [
            p.facts["certificate"] for p in parts
        ]
        assert any("counts are the mean over the tables" in text for text in combined.certificate.caveats)
        assert combined.certificate.randomness.startswith("UNSAFE")
        assert combined.certificate.method == "combine"


def test_what_cannot_be_combined() -> None:
    one, other = made(people(300), "identity", [0.5, 0.5])
    wider = sd.Schema.from_roles(quasi=["a"], bounds={"a": (0, 20)}, missing="refuse")
    narrow = sd.Schema.from_roles(quasi=["a"], bounds={"a": (0, 19)}, missing="refuse")
    frame = people(300).frame().select("a")
    unlike = [made(sd.read(frame, schema), "identity", [0.5])[0] for schema in (wider, narrow)]
    renamed = sd.Schema.from_roles(sensitive=["a"], bounds={"a": (0, 19)}, missing="refuse")
    roles = made(sd.read(frame, renamed), "identity", [0.5])
    cases: list[tuple[Any, str]] = [
        (unlike, "different domains"),
        ([unlike[1], *roles], "different roles"),
        ([one, *made(people(300), "independent", [0.5])], "Combine those of one method"),
        ([one, *made(people(300), "identity", [0.5], delta=1e-6)], "Some of the p-views have a delta"),
        ([one, other, one], "given twice"),
        ([sd.combine([one, other]), one], "given twice"),
        ([sd.PView(one.domain, one.model)], "has no certificate"),
    ]
    for pviews, message in cases:
        with pytest.raises(sd.InputError, match=message):
            sd.combine(pviews)
    for wrong in ([], one, ["people.pview"], None):
        with pytest.raises(sd.ParameterError, match="needs a list of p-views"):
            sd.combine(wrong)  # type: ignore[arg-type]
    with pytest.raises(sd.ParameterError, match="'of' parameter of combine"):
        sd.combine([one], of="latest")  # type: ignore[arg-type]
    with pytest.raises(sd.InputError, match="has only what is handed over"):
        sd.combine([one]).write("nowhere")


@pytest.mark.parametrize(
    "change",
    [
        {"promises": []},
        {"promises": [{"requirement": "KAnonymity", "k": 3}], "requirements": ["3-anonymity"]},
        {"promises": [{"requirement": "DifferentialPrivacy", "epsilon": "x", "delta": 0, "per": "table"}]},
        {"measured": {"delta": "x"}, "requirements": []},
        {"attributes": 3},
        {"input": None},
    ],
)
def test_certificates_that_somebody_forged_are_refused_in_words(change: dict[str, Any]) -> None:
    (pview,) = made(people(300), "identity", [0.5], delta=1e-6)
    forged = sd.PView(
        pview.domain, pview.model, pview.facts | {"certificate": pview.facts["certificate"] | change}
    )
    with pytest.raises(sd.SudareError):
        sd.combine([forged])


def test_rhos_without_a_delta_are_refused() -> None:
    (pview,) = made(people(300), "identity", [0.5], delta=1e-6)
    promise = {"requirement": "DifferentialPrivacy", "epsilon": 1.0, "delta": 0.0, "per": "table"}
    words = {"promises": [promise], "requirements": ["differential privacy with epsilon = 1"]}
    forged = replace(pview, facts=pview.facts | {"certificate": pview.facts["certificate"] | words})
    with pytest.raises(sd.InputError, match="promise no delta"):
        sd.combine([forged])


FORGED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a smaller promise": (
        lambda about: (
            about["facts"]["certificate"]["promises"][0].update(epsilon=0.5),
            about["facts"]["certificate"].update(
                requirements=["differential privacy with epsilon = 0.5"], measured={"epsilon": 0.5}
            ),
        ),
        "claims epsilon = 0.5, but the output has 0.75",
    ),
    "fewer shares": (lambda about: about["facts"]["budget"]["shares"].pop(), "is not what was spent"),
    "a part that spent less": (
        lambda about: about["facts"]["parts"][0]["budget"]["shares"][0].update(amount="1/4"),
        "is not what was spent and what remains",
    ),
    "a part less": (lambda about: about["facts"]["parts"].pop(), "what each of its parts promises"),
    "no parts": (lambda about: about["facts"].pop("parts"), "what each of its parts promises"),
    "parts that say more": (lambda about: about["facts"]["parts"][0].update(name="Alice"), "says more"),
    "parts in another order": (
        lambda about: about["facts"]["parts"].reverse(),
        "sum of what its parts spent",
    ),
    "other inputs": (
        lambda about: about["facts"]["certificate"]["input"].update(sha256_salted="0" * 64),
        "tied to other inputs",
    ),
    "other weights": (
        lambda about: about["extras"].update(weights=[0.5, 0.5]),
        "do not weigh what they spent",
    ),
}


@pytest.mark.parametrize("change", FORGED)
def test_a_forged_sum_is_not_verified(change: str, tmp_path: Path) -> None:
    folder = sd.combine(made(people(300), "identity", [0.5, 0.25])).save(tmp_path / "combined")
    how, message = FORGED[change]
    with pytest.raises(sd.SudareError, match=message):
        sd.verify(forge(folder, how))


def test_every_plain_kind_can_be_combined() -> None:
    assert set(PLAIN) == {*KINDS} - {"combined", "buckets"}
