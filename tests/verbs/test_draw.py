"""Some of a table's people: as many as were asked for, each as likely, whole, and as if the others had never been there."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

import sudare as sd
from sudare.verbs.draw import draw, write_drawn

PEOPLE = pl.DataFrame({"age": range(40), "sex": ["f", "m"] * 20, "ill": list("abcd") * 10})
SCHEMA = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"])
VISITS = pl.DataFrame({"pid": [1, 1, 1, 2, 3, 3, 4], "age": [30, 30, 30, 40, 50, 51, 60]})
ASKED = [sd.KAnonymity(4), sd.LDiversity(2)]
BY_PERSON = sd.Schema.from_roles(person="pid", quasi=["age"])


def test_rows_of_the_table_are_drawn() -> None:
    drawn = draw(sd.read(PEOPLE, SCHEMA), people=15)
    assert len(drawn) == 15
    assert drawn.frame().join(PEOPLE, on=PEOPLE.columns, how="inner", nulls_equal=True).height == 15
    assert drawn.frame().is_unique().all()
    assert drawn.schema.sampling_fraction == 15 / 40
    assert drawn.name == drawn.schema.source == "DataFrame"
    assert drawn.source.notes[-1] == "15 of 40 people were drawn at random"


def test_every_set_of_people_is_as_likely() -> None:
    """Of five people two are drawn, again and again; that a chi-square is above its limit by chance happens once in 10^9 times."""
    table, tries = sd.read(pl.DataFrame({"age": range(5)}), sd.Schema.from_roles(quasi=["age"])), 3000
    found = Counter(tuple(sorted(draw(table, people=2).frame()["age"].to_list())) for _ in range(tries))
    assert set(found) <= set(combinations(range(5), 2))
    expected = tries / math.comb(5, 2)
    assert sum((found[pair] - expected) ** 2 / expected for pair in combinations(range(5), 2)) < 62


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_persons_are_drawn_with_all_their_rows(engine: str) -> None:
    table = sd.read(VISITS, BY_PERSON, engine=engine)  # type: ignore[arg-type]
    seen: set[int] = set()
    for _ in range(30):
        drawn = draw(table, share=0.5)
        persons = set(drawn.frame()["pid"].to_list())
        assert len(persons) == 2
        assert len(drawn) == VISITS.filter(pl.col("pid").is_in(list(persons))).height
        assert drawn.schema.sampling_fraction == 0.5
        assert drawn.source.notes[-1] == "2 of 4 persons were drawn at random"
        seen |= persons
    assert seen == {1, 2, 3, 4}


def test_who_is_not_drawn_leaves_no_trace(tmp_path: Path) -> None:
    """Types, values and hierarchies are those of the people who were drawn alone."""
    path = tmp_path / "people.csv"
    pl.DataFrame(
        {"size": [*(str(i) for i in range(30)), "tall"], "town": [*("ab" * 15), "secret"]}
    ).write_csv(path)
    table = sd.read(path, sd.Schema.from_roles(quasi=["size", "town"]))
    while "tall" in (drawn := draw(table, people=20)).frame()["size"].cast(pl.String):
        pass
    alone = tmp_path / "alone.csv"
    drawn.frame().write_csv(alone)
    other = sd.read(alone, table.schema)
    assert drawn["size"].values.dtype == other["size"].values.dtype == pl.Int64
    for name in ("size", "town"):
        assert set(drawn[name].values) == set(other[name].values)
    assert drawn.digest() == other.digest()


def test_all_may_be_drawn_and_some_of_some() -> None:
    table = sd.read(PEOPLE, SCHEMA)
    everybody = draw(table, share=1.0)
    assert everybody.frame().equals(table.frame())
    assert everybody.schema.sampling_fraction == 1
    assert draw(draw(table, share=0.5), share=0.1).schema.sampling_fraction == pytest.approx(0.05)


def test_the_record_and_the_risk_in_the_population_know_the_share() -> None:
    drawn = draw(sd.read(PEOPLE, SCHEMA), share=0.5)
    release = sd.generalize(drawn, sd.KAnonymity(4), "mondrian")
    assert release.holder["sampling_fraction"] == 0.5
    assert release.holder["population"]["input"]["people"] == pytest.approx(40)
    given = sd.attack(release.frame(), SCHEMA, kind="population", sampling_fraction=0.5)
    assert sd.attack(release.frame(), drawn.schema, kind="population").summary() == given.summary()
    assert "sampling" not in release.certificate.model_dump_json()  # a receiver is not told


def test_a_ledger_knows_two_draws_as_of_the_same_people(tmp_path: Path) -> None:
    table, ledger = sd.read(PEOPLE, SCHEMA), sd.Ledger(tmp_path / "releases.db")
    one = draw(table, share=0.5)
    sd.generalize(one, ASKED, "mondrian").write(tmp_path / "one", ledger=ledger)
    sd.generalize(one, ASKED, "mondrian").write(tmp_path / "again", ledger=ledger)
    while (other := draw(table, share=0.5)).digest() == one.digest():
        pass
    with pytest.raises(sd.RequirementError, match="another state"):
        sd.generalize(other, ASKED, "mondrian").write(tmp_path / "two", ledger=ledger)


def test_what_was_drawn_is_read_again_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    PEOPLE.with_columns(day=pl.lit("03.02.2020")).write_csv(path, separator=";")
    schema = sd.Schema.from_dict(
        SCHEMA.model_dump(exclude_defaults=True)
        | {"csv": {"delimiter": ";"}}
        | {
            "attributes": {name: {"role": SCHEMA[name].role} for name in SCHEMA.attributes}
            | {"day": {"role": "other", "type": "date", "format": "%d.%m.%Y"}}
        }
    )
    drawn = draw(sd.read(path, schema), people=7)
    beside = write_drawn(drawn, tmp_path / "drawn.parquet")
    again = sd.read(tmp_path / "drawn.parquet", beside)
    assert again.digest() == drawn.digest()
    assert again.frame().equals(drawn.frame())
    assert (again.name, again.schema.sampling_fraction) == ("people.csv", 7 / 40)
    assert {file.stat().st_mode & 0o777 for file in (beside, tmp_path / "drawn.parquet")} == {0o600}
    with pytest.raises(sd.InputError, match=r"ends with \.parquet"):
        write_drawn(drawn, tmp_path / "drawn.csv")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "either 'share'"),
        ({"share": 0.5, "people": 3}, "either 'share'"),
        ({"share": 0}, "a share above 0"),
        ({"share": 1.5}, "a share above 0"),
        ({"people": 41}, "There are 40 people in DataFrame to draw from"),
        ({"people": 0}, "Draw at least 1"),
        ({"share": 0.001}, "Draw at least 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(asked: dict[str, float], words: str) -> None:
    with pytest.raises(sd.ParameterError, match=words):
        draw(sd.read(PEOPLE, SCHEMA), **asked)  # type: ignore[arg-type]


def test_rows_of_a_database_need_a_person() -> None:
    with pytest.raises(sd.InputError, match="a column of the role person"):
        draw(sd.read(PEOPLE, SCHEMA, engine="duckdb"), share=0.5)


def test_rows_of_nobody_are_refused() -> None:
    gaps = VISITS.with_columns(pid=pl.Series([1, 1, 1, 2, None, 3, 4]))
    with pytest.raises(sd.InputError, match="is missing in some rows"):
        draw(sd.read(gaps, BY_PERSON), share=0.5)
