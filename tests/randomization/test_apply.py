"""A plan for other rows: the same law, never a weaker promise, and no silence about whose histogram it tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.noise.keystream import Keystream
from sudare.randomization import draw as drawing
from sudare.randomization.draw import draw
from sudare.randomization.methods import Bins, Bits, Matrix, Noise, Optimal, Retain
from sudare.randomization.plan import RandomizationPlan
from sudare.verbs.randomize import apply_law, randomize_by_plan
from tests.randomization.drawing import rows_of
from tests.randomization.test_saved import K5, OPTIONS, people, plan_of, schema, table_of


@pytest.mark.parametrize("name", OPTIONS)
def test_the_same_rows_in_any_order_get_the_same_law(name: str) -> None:
    plan = plan_of(**OPTIONS[name])
    shuffled = sd.read(people().sample(fraction=1.0, shuffle=True, seed=3), schema())
    law = plan.for_table(shuffled).to_json()
    assert law["attributes"] == plan.to_json()["attributes"]
    assert (law["pk"], law["epsilon"]) == (plan.k, plan.epsilon)
    out, published = apply_law(plan, shuffled, Keystream.unsafe(1))
    assert out.height == 300
    assert published == law


@pytest.mark.parametrize("name", OPTIONS)
def test_other_rows_are_certified_and_written(name: str, tmp_path: Path) -> None:
    plan = RandomizationPlan.open(plan_of(**OPTIONS[name]).save(tmp_path / "plan"))
    table = table_of(n=500, seed=9)
    release = randomize_by_plan(table, plan, unsafe_seed=1)
    again, law = apply_law(plan, table, Keystream.unsafe(1))
    assert (release.frame().equals(again), release.plan.to_json()) == (True, law)
    assert release.certificate.measured["pk"] > 5
    folder = release.write(tmp_path / "out")
    assert sd.verify(folder, K5, table.schema).holds
    assert sd.reconstruct(folder, "town").counts.sum() == pytest.approx(500)
    assert release.holder["records"]["published"] == 500


def test_a_plan_applied_to_its_own_table_with_the_same_seed_gives_the_same_output(tmp_path: Path) -> None:
    release = sd.randomize(table_of(), K5, unsafe_seed=4)
    plan = RandomizationPlan.open(release.plan.save(tmp_path / "plan"))
    again = randomize_by_plan(table_of(), plan, unsafe_seed=4)
    assert again.frame().equals(release.frame())
    assert again.plan.to_json() == release.plan.to_json()


def test_k_is_that_of_the_table_and_fewer_records_are_refused() -> None:
    plan = plan_of()
    assert plan.for_table(table_of(n=600)).k == pytest.approx(1 + 599 * np.exp(-plan.spread))
    with pytest.raises(sd.RequirementError, match=r"k = 5: with 299 records, k = 4\.98.*learned for 300"):
        plan.for_table(table_of(n=299))
    asked = sd.DifferentialPrivacy(2.0, per="record")
    assert plan_of(asked=asked).for_table(table_of(n=3)).epsilon <= 2 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"bounds": {"age": (0, 119), "born": (1900.5, 2020.5)}}, "does not declare 'age'"),
        ({"types": {"age": "number", "born": "number"}}, "does not declare 'age'"),
        ({"domains": {"ill": [False, True], "town": ["Ayr", "Bath", "Cork", "Deal"]}}, "declare 'ill'"),
        ({"domains": {"ill": [True, False], "town": ["Ayr", "Bath", "Cork", "Deal", "Ely"]}}, "declare 'town'"),
        ({"missing": "refuse"}, 'missing = "refuse", where the plan was learned with "own value"'),
        ({"quasi": ["age", "born"], "sensitive": ["ill", "town"]}, "does not declare 'town'"),
        ({"quasi": ["age", "born", "town", "name"], "identifier": [], "domains": {
            "ill": [True, False], "town": ["Ayr", "Bath", "Cork", "Deal"], "name": [f"person {i}" for i in range(300)]}},
            "does not declare 'name'"),
    ],
    ids=str,
)  # fmt: skip
def test_a_table_of_another_schema_is_refused(details: dict[str, Any], reason: str) -> None:
    with pytest.raises(sd.InputError, match=reason):
        plan_of().for_table(table_of(schema(**details)))


def test_what_no_law_rests_on_may_differ() -> None:
    details: dict[str, Any] = {"outside": {"age": "clip"}, "weights": {}, "source": "another"}
    assert plan_of().for_table(table_of(schema(**details))).records == 300


def test_hierarchies_of_bins_must_be_the_same() -> None:
    groups = {"Ayr": "north", "Bath": "south", "Cork": "west", "Deal": "south"}
    one, other = (
        schema(hierarchies={"town": sd.Hierarchy.groups(groups | moved)}) for moved in ({}, {"Deal": "west"})
    )
    plan = plan_of(one, how={"town": "bins"})
    assert plan.for_table(table_of(one)).k == plan.k
    with pytest.raises(sd.InputError, match="does not declare 'town'"):
        plan.for_table(table_of(other))
    assert plan_of(one).for_table(table_of(other)).records == 300  # no law rests on it


def test_whose_histogram_is_told_is_said() -> None:
    """An estimate is counted for both tables; a true histogram is named; a law of the schema alone tells neither."""
    table = table_of(n=400, seed=2)
    private, true = (plan_of(**OPTIONS[name]) for name in ("private-estimate", "true-histogram"))
    assert private.caveats == []
    (caveat,) = private.for_table(table).caveats
    assert "'town' was made from a private estimate" in caveat
    assert "budget of the people in that table" in caveat
    assert private.for_table(table).epsilon == private.epsilon
    assert private.for_table(table).to_json()["estimates"] == private.to_json()["estimates"]
    (caveat,) = true.for_table(table).caveats
    assert "'town' was made from the true histogram of the table that it was learned from" in caveat
    assert plan_of().for_table(table).caveats == plan_of(**OPTIONS["prior"]).for_table(table).caveats == []
    release = randomize_by_plan(table, private)
    assert release.certificate.caveats == private.for_table(table).caveats


# -- Drawing ------------------------------------------------------------------------------------------


def test_rows_are_drawn_chunk_by_chunk_with_one_keystream(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, table = plan_of(**OPTIONS["joint"]), table_of(n=1000)
    places, rows = plan.places(table), rows_of(plan, table)
    monkeypatch.setattr(drawing, "CHUNK", 300)
    whole = draw(plan, places, rows, Keystream.unsafe(5))
    source = Keystream.unsafe(5)
    for start in range(0, 1000, 300):
        part = slice(start, start + 300)
        drawn = draw(plan, places, {name: codes[part] for name, codes in rows.items()}, source)
        for law in plan.laws:
            assert np.array_equal(whole[law.name][part], drawn[law.name])
    codes = next(iter(whole.values()))
    assert not np.array_equal(codes[:300], codes[300:600])


def test_a_plan_does_not_depend_on_the_order_of_rows() -> None:
    table = table_of()
    shuffled = sd.read(people().sample(fraction=1.0, shuffle=True, seed=4), schema())
    for options in OPTIONS.values():
        laws = [
            sd.randomize(one, K5, unsafe_seed=3, **options).plan.to_json()["attributes"]
            for one in (table, shuffled)
        ]
        assert laws[0] == laws[1]


# -- Methods as objects ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        ({"how": {"age": Noise("reflect")}}, {"after": "reflect", "how": {"born": Noise()}}),
        (
            {"how": {"age": Bits(), "born": Bins(), "town": Retain()}},
            {"how": {"age": "bits", "born": "bins"}},
        ),
        ({"how": {"town": Optimal()}}, {"how": {"town": "optimal"}}),
        ({"how": {"town": Optimal(histogram="true-histogram")}}, OPTIONS["true-histogram"]),
        ({"how": {"town": Optimal(prior=[5, 4, 3, 2, 1])}}, OPTIONS["prior"]),
        ({"how": {"town": Matrix(OPTIONS["matrix"]["matrices"]["town"])}}, OPTIONS["matrix"]),
    ],
    ids=str,
)
def test_a_word_is_short_for_a_method(objects: dict[str, Any], words: dict[str, Any]) -> None:
    assert plan_of(**objects).to_json() == plan_of(**words).to_json()


def test_methods_that_do_not_fit_are_refused() -> None:
    for options, reason in (
        ({"how": {"town": Noise()}}, "'town' has no numbers or dates"),
        ({"how": {"town": Retain()}, "priors": {"town": [1] * 5}}, "given, but not used"),
        ({"how": {"age": Retain}}, "must be one of 'retain', 'noise'"),
        (
            {"how": {"who": Noise()}, "joint": {"who": ["town", "ill"]}},
            "one of 'retain', 'matrix', 'optimal'",
        ),
    ):
        with pytest.raises(sd.ParameterError, match=reason):
            plan_of(**options)
    with pytest.raises(sd.ParameterError, match="'histogram' parameter of Optimal"):
        Optimal(histogram="true")  # type: ignore[arg-type]


def test_only_what_a_law_can_promise_may_be_asked_for() -> None:
    with pytest.raises(sd.ParameterError, match="must be PkAnonymity or DifferentialPrivacy"):
        sd.randomize(table_of(), sd.KAnonymity(5))  # type: ignore[arg-type]


def test_a_value_beyond_the_declared_ones_is_refused_on_reading() -> None:
    frame = people().with_columns(town=pl.lit("Ely"))
    with pytest.raises(sd.InputError, match="'Ely' is not in the declared domain"):
        sd.read(frame, schema())
