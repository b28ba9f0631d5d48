"""A law or a design that is applied to other rows promises what it says, or refuses: whatever rows there are."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings

import sudare as sd
from tests.plans.test_apply_properties import EXAMPLES, PHASES, randoms

TOWNS, ILLNESSES = ["Ayr", "Bath", "Cork", "Deal"], ["flu", "HIV", "cancer"]
SCHEMA = sd.Schema.from_roles(
    quasi=["age", "town"], sensitive=["ill"], bounds={"age": (0, 49)}, types={"age": "integer"},
    domains={"town": TOWNS, "ill": ILLNESSES},
)  # fmt: skip
Rows = list[dict[str, Any]]


def drawn(r: Random, n: int) -> Rows:
    """Rows of which some values of the domain never occur."""
    towns = r.sample(TOWNS, r.randint(1, 4))
    return [
        {"age": r.randrange(0, 50, 7), "town": r.choice(towns), "ill": r.choice(ILLNESSES[:2])}
        for _ in range(n)
    ]


def table(rows: Rows) -> sd.Table:
    return sd.read(pl.DataFrame(rows, schema={"age": pl.Int64, "town": pl.String, "ill": pl.String}), SCHEMA)


def others(r: Random, rows: Rows) -> Rows:
    """The same rows in another order, several times, fewer of them, or other ones of the same domain."""
    kinds = [
        r.sample(rows, len(rows)),
        rows * r.randint(2, 3),
        r.sample(rows, r.randint(1, len(rows))),
        [*drawn(r, r.randint(1, 80)), {"age": 49, "town": "Deal", "ill": "cancer"}],
    ]
    return r.choice(kinds)


def spread_of(law: dict[str, Any]) -> float:
    """The largest log-ratio of two inputs and two outputs, computed from what a law says of itself."""
    if law["how"] == "noise":
        return 2 * law["steps"] / float(Fraction(law["scale"]))
    (kept,) = set(law["retention"])
    other = (1 - kept) / (len(law["values"]) - 1)
    return 2 * math.log(kept / other)


def assert_promised(release: sd.Release, rows: Rows) -> None:
    """The promise holds by a plain computation from the law that is handed over, for as many records as there are."""
    (requirement,) = release.requirements
    assert release.handed_over.law is not None
    spread = sum(spread_of(law) for law in release.handed_over.law["attributes"].values())
    if isinstance(requirement, sd.PkAnonymity):
        assert 1 + (len(rows) - 1) * math.exp(-spread) >= requirement.k * (1 - 1e-9)
    else:
        assert spread / 2 <= requirement.epsilon * (1 + 1e-9)
    frame = release.frame()
    assert frame.height == len(rows)
    assert frame["town"].drop_nulls().is_in([*TOWNS, "(missing)"]).all()
    assert frame["ill"].drop_nulls().is_in([*ILLNESSES, "(missing)"]).all()


laws = pytest.mark.parametrize("how", [{}, {"age": "bins"}], ids=["noise", "bins"])


@laws
@given(randoms)
@settings(max_examples=EXAMPLES, phases=PHASES)
def test_a_law_keeps_its_promise_or_is_refused(
    how: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, r: Random
) -> None:
    rows = drawn(r, r.randint(10, 60))
    asked = r.choice(
        [sd.PkAnonymity(r.randint(2, 9)), sd.DifferentialPrivacy(r.uniform(0.2, 4), per="record")]
    )
    release = sd.randomize(table(rows), asked, how=how)
    assert_promised(release, rows)
    plan = sd.Plan.open(release.plan.save(tmp_path_factory.mktemp("law") / "plan"))
    new = others(r, rows)
    try:
        again = sd.apply(plan, table(new))
    except sd.RequirementError:
        assert isinstance(asked, sd.PkAnonymity)
        assert len(new) < len(rows)  # k shrinks with the table, epsilon does not
        return
    assert_promised(again, new)
    if isinstance(asked, sd.DifferentialPrivacy) or len(new) >= len(rows):
        assert again.handed_over.law["attributes"] == release.handed_over.law["attributes"]  # type: ignore[index]


designs = pytest.mark.parametrize(
    "method",
    [
        "pairs",
        "dp-mondrian",
        *(pytest.param(own, marks=pytest.mark.slow) for own in ("independent", "identity")),
    ],
)


@designs
@given(randoms)
@settings(max_examples=3, phases=PHASES)
def test_a_design_spends_what_it_says_whatever_the_rows(
    method: str, tmp_path_factory: pytest.TempPathFactory, r: Random
) -> None:
    folder = tmp_path_factory.mktemp("design")
    asked = sd.DifferentialPrivacy(r.choice([0.5, 1.0, 2.0]), r.choice([0.0, 1e-6]))
    rows = drawn(r, r.randint(10, 60))
    first = sd.materialize(table(rows), asked, method)
    first.design.save(folder / "plan")
    plan = sd.Plan.open(folder / "plan")
    new = others(r, rows)
    again = sd.apply(plan, table(new))
    assert isinstance(again, sd.PView)
    assert again.design.to_json() == first.design.to_json()
    assert again.domain.to_json() == first.domain.to_json()
    assert sum(share.amount for share in again.spending.shares) <= again.spending.whole
    assert again.spending.whole == first.spending.whole
    again.write(folder / "out")
    assert sd.verify(folder / "out", asked).holds


@given(randoms)
@settings(max_examples=EXAMPLES, phases=PHASES)
def test_values_beyond_the_declared_domain_are_refused(r: Random) -> None:
    rows = drawn(r, 40)
    stranger = rows[0] | r.choice([{"age": 50}, {"age": -1}, {"town": "Eton"}, {"ill": "Flu"}])
    plans: list[sd.Plan] = [
        sd.randomize(table(rows), sd.PkAnonymity(3)).plan,
        sd.materialize(table(rows), sd.DifferentialPrivacy(1.0), "independent").design,
    ]
    for plan in plans:
        with pytest.raises(sd.InputError):
            sd.apply(plan, table([*rows, stranger]))


def test_the_checks_can_fail() -> None:
    release = sd.randomize(table(drawn(Random(1), 50)), sd.PkAnonymity(5))
    with pytest.raises(AssertionError):
        assert_promised(release, [{}] * 49)


def test_other_declarations_are_refused(tmp_path: Path) -> None:
    rows = drawn(Random(2), 40)
    wider = SCHEMA.model_copy(
        update={
            "attributes": SCHEMA.attributes | {"age": SCHEMA["age"].model_copy(update={"bounds": (0, 99)})}
        }
    )
    plan = sd.randomize(table(rows), sd.PkAnonymity(3)).plan
    with pytest.raises(sd.InputError, match="does not declare 'age' as it was"):
        sd.apply(plan, sd.read(pl.DataFrame(rows), wider))
