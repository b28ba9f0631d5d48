"""The household attack: against all matchings of small tables, and on releases that Sudare makes of households and persons."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks.attack import attack
from sudare.attacks.households import known_to_belong_together

randoms = st.randoms(use_true_random=False)
AGES, TOWNS = range(6), ["Ayr", "Bath"]
DOMAINS = {"town": TOWNS}
LINKED = sd.Schema.from_roles(household="hid", quasi=["age", "town"], linked={"hid": True}, domains=DOMAINS)
PASSED_ON = sd.Schema.from_roles(quasi=["age", "town"], other=["rent"], domains=DOMAINS)
Row = tuple[str, str]
Person = tuple[int, str]


# -- against all matchings -------------------------------------------------------------------------


def covers(row: Row, person: Person) -> bool:
    age, town = row
    if age.startswith("["):
        low, high = (int(end) for end in age[1:-1].split(", "))
        return low <= person[0] <= high and town in ("*", person[1])
    return age in ("*", str(person[0])) and town in ("*", person[1])


def fits(members: list[Person], rows: list[Row]) -> bool:
    """Try all ways of giving every member a row."""
    return any(
        all(covers(row, person) for row, person in zip(chosen, members, strict=True))
        for chosen in itertools.permutations(rows, len(members))
    )


def drawn(random: Random) -> tuple[dict[int, list[Person]], dict[int, list[Row]]]:
    """Draw some households, and groups of labels that may or may not be theirs."""
    labels = ["*", "[0, 2]", "[2, 4]", "[1, 5]", *map(str, AGES)]
    known = {
        hid: [(random.choice(AGES), random.choice(TOWNS)) for _ in range(random.randint(1, 4))]
        for hid in range(random.randint(1, 5))
    }
    groups = {
        number: [(random.choice(labels), random.choice(["*", *TOWNS])) for _ in range(random.randint(1, 4))]
        for number in range(10, 10 + random.randint(1, 6))
    }
    return known, groups


def people_of(known: dict[int, list[Person]]) -> pl.DataFrame:
    rows = [(hid, *person) for hid, members in known.items() for person in members]
    return pl.DataFrame(rows, schema=["hid", "age", "town"], orient="row")


def output_of(groups: dict[int, list[Row]], tie: str) -> pl.DataFrame:
    rows = [(number, *row) for number, own in groups.items() for row in own]
    return pl.DataFrame(rows, schema=[tie, "age", "town"], orient="row")


@given(randoms)
def test_linked_households_by_all_matchings(random: Random) -> None:
    known, groups = drawn(random)
    left = [
        sum(len(rows) == len(members) and fits(members, rows) for rows in groups.values())
        for members in known.values()
    ]
    learned = attack(output_of(groups, "hid"), LINKED, kind="households", known=people_of(known), k=3)
    ((ties, found),) = learned.by_ties.items()
    assert (ties, found.groups, learned.known) == ("hid", len(groups), len(known))
    assert found.candidates == Counter(left)
    assert found.least == min(filter(None, left), default=0)
    assert (found.alone, found.below) == (left.count(1), left.count(1) + left.count(2))
    assert abs(found.named - sum(1 / n for n in left if n) / len(left)) < 1e-12


@given(randoms)
def test_rows_that_share_a_value_by_all_matchings(random: Random) -> None:
    """A group may be several households, unless it has no more rows that could be any member's of this one."""
    known, groups = drawn(random)
    left, alone = [], 0
    for members in known.values():
        fitting = [rows for rows in groups.values() if fits(members, rows)]
        left.append(len(fitting))
        theirs = (
            [row for row in fitting[0] if any(covers(row, person) for person in members)] if fitting else []
        )
        alone += len(fitting) == 1 and len(theirs) == len(members)
    learned = attack(
        output_of(groups, "rent"),
        PASSED_ON,
        kind="households",
        known=people_of(known),
        unit="hid",
        ties=["rent"],
    )
    ((ties, found),) = learned.by_ties.items()
    assert (ties, found.candidates, found.alone) == ("rent", Counter(left), alone)


@given(randoms)
def test_what_is_certain_of_linked_households(random: Random) -> None:
    known, groups = drawn(random)
    ill = {number: [random.choice(["flu", "HIV", None]) for _ in rows] for number, rows in groups.items()}
    certain = 0
    for members in known.values():
        fitting = [
            set(ill[number])
            for number, rows in groups.items()
            if len(rows) == len(members) and fits(members, rows)
        ]
        certain += bool(fitting and set.intersection(*fitting))
    schema = sd.Schema.from_roles(
        household="hid", quasi=["age", "town"], sensitive=["ill"], linked={"hid": True}, domains=DOMAINS
    )
    output = output_of(groups, "hid").with_columns(
        ill=pl.Series([one for own in ill.values() for one in own], dtype=pl.String)
    )
    assert attack(output, schema, kind="households", known=people_of(known)).certain == {"ill": certain}


@given(randoms)
def test_what_is_certain_of_households_by_counting(random: Random) -> None:
    """All ways of choosing the rows of alike members have the value."""
    known, groups = drawn(random)
    rows = [row for own in groups.values() for row in own]
    ill = [random.choice(["flu", "HIV", None]) for _ in rows]
    certain = 0
    for members in known.values():
        alike = []
        for person, count in Counter(members).items():
            theirs = [value for row, value in zip(rows, ill, strict=True) if covers(row, person)]
            ways = [set(own) for own in itertools.combinations(theirs, count)]
            alike.append(bool(ways and set.intersection(*ways)))
        certain += any(alike)
    schema = sd.Schema.from_roles(household="hid", quasi=["age", "town"], sensitive=["ill"], domains=DOMAINS)
    output = output_of(groups, "hid").drop("hid").with_columns(ill=pl.Series(ill, dtype=pl.String))
    assert attack(output, schema, kind="households", known=people_of(known)).certain == {"ill": certain}


@given(randoms)
def test_rows_next_to_each_other_by_all_windows(random: Random) -> None:
    known, groups = drawn(random)
    rows = [row for own in groups.values() for row in own]
    left = [
        sum(fits(members, rows[at : at + len(members)]) for at in range(len(rows) - len(members) + 1))
        for members in known.values()
    ]
    output = output_of(groups, "hid").drop("hid").with_columns(number=pl.int_range(pl.len()) + 7)
    schema = sd.Schema.from_roles(quasi=["age", "town"], other=["number"], domains=DOMAINS)
    shuffled = output.sample(fraction=1, shuffle=True, seed=random.randint(0, 99))
    learned = attack(shuffled, schema, kind="households", known=people_of(known), unit="hid")
    if any(len(members) <= len(rows) for members in known.values()):
        assert learned.by_ties["the order of number"].candidates == Counter(left)
    assert len(learned.by_ties) <= 1


# -- what ties rows together -----------------------------------------------------------------------


def families(towns: int = 20, each: int = 10, members: int = 4) -> pl.DataFrame:
    """Households that live in towns, which nobody is said to know."""
    random = Random(0)
    rows = [
        (hid, hid % towns, random.randrange(80), random.choice("fm"), random.choice(["flu", "HIV", "gout"]))
        for hid in range(towns * each)
        for _ in range(members)
    ]
    return pl.DataFrame(rows, schema=["hid", "town", "age", "sex", "ill"], orient="row")


def test_what_members_share_finds_households_though_many_share_it() -> None:
    """Rows of ten households in each town, and three rows in each block: few blocks have rows of another one there."""
    people, schema = families(), sd.Schema.from_roles(quasi=["age", "sex"], other=["town"], sensitive=["ill"])
    published = sd.generalize(
        sd.read(people.drop("hid"), schema), sd.KAnonymity(3), method="mondrian"
    ).frame()
    learned = attack(published, schema, kind="households", known=people, unit="hid")
    by_town = learned.by_ties["town"]
    assert (by_town.groups, learned.known, learned.worst) == (20, 200, by_town)
    assert by_town.learned > 150
    assert by_town.alone > 50
    unscored = attack(published, schema, kind="households", known=people.drop("town", "ill"), unit="hid")
    assert unscored.by_ties["town"] == by_town  # where one town is left, it is theirs
    assert str(learned).startswith(
        "Households looked up with all their rows: 200.\nTied by town, 20 groups: all rows of "
    )


def test_found_are_only_households_whose_values_these_are() -> None:
    people = pl.DataFrame({"hid": [1, 1], "age": [30, 5], "town": ["Ayr", "Ayr"]})
    output = pl.DataFrame({"age": ["30", "5", "9"], "town": ["Bath", "Bath", "Ayr"]})
    schema = sd.Schema.from_roles(quasi=["age"], other=["town"])
    elsewhere = attack(output, schema, kind="households", known=people, unit="hid").worst
    assert (elsewhere.candidates, elsewhere.alone) == ({1: 1}, 0)
    believed = attack(output, schema, kind="households", known=people.drop("town"), unit="hid").worst
    assert (believed.candidates, believed.alone) == ({1: 1}, 1)


def test_who_names_a_group_for_a_household_that_agrees_in_nothing_is_wrong() -> None:
    """Two of three households have members of one town: by it, one group is left to each, and to the third one, too, which has none."""
    people = pl.DataFrame(
        {
            "hid": [1, 1, 2, 2, 3, 3],
            "age": [1, 2, 1, 2, 1, 2],
            "town": ["Ayr", "Ayr", "Bath", "Bath", "Cork", "Deal"],
            "number": [1, 2, 3, 4, 5, 9],
        }
    )
    schema = sd.Schema.from_roles(household="hid", quasi=["age"], other=["town", "number"])
    found = attack(people.drop("hid"), schema, kind="households", known=people).by_ties
    assert found["town"].candidates == {2: 3}  # the towns that have both ages
    assert found["town"].named == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert found["the order of number"].named == pytest.approx(3 / 3 / 5)


def test_persons_are_looked_up_with_all_their_rows() -> None:
    """Everybody of one age had both illnesses: no row says whose it is, and what they had is certain."""
    visits = [(person, 30, ill) for person in range(4) for ill in ("flu", "HIV")]
    people = pl.DataFrame(visits, schema=["pid", "age", "ill"], orient="row")
    schema = sd.Schema.from_roles(person="pid", quasi=["age"], sensitive=["ill"], linked={"pid": True})
    learned = attack(people, schema, kind="households", known=people, k=5)
    assert (learned.unit, learned.worst.least, learned.worst.below) == ("person", 4, 4)
    assert learned.certain == {"ill": 4}
    assert str(learned).endswith("is right for 25.00%.\nill: of 4 (100.0%) some value is certain.")


def test_nothing_ties_rows_together() -> None:
    schema = sd.Schema.from_roles(household="hid", quasi=["age"])
    learned = attack(
        pl.DataFrame({"age": ["*"] * 3}),
        schema,
        kind="households",
        known=pl.DataFrame({"hid": [1], "age": [3]}),
    )
    assert (learned.worst, learned.alone, learned.by_ties) == (None, 0, {})
    assert str(learned).endswith("No column is published that could tie rows together.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs to know who belongs together"),
        ({"unit": "hid", "ties": ["rent"]}, "no column 'rent', which is said to tie rows together"),
        ({"unit": "family"}, "the schema does not mention 'hid'"),
        ({"unit": "hid", "k": 0}, "must be a whole number of 1 or more"),
        ({"unit": ["hid"]}, "must be the name of a column. Got list"),
        ({"unit": "hid", "ties": "rent"}, "no column 'rent', which is said to tie rows together"),
        *(
            ({"unit": "hid", "ties": wrong}, "'ties' .* must be the names of columns")
            for wrong in (5, [], [None], {})
        ),
    ],
)
def test_what_it_cannot_do(options: dict[str, Any], message: str) -> None:
    people = pl.DataFrame({"hid": [1], "age": [3]})
    with pytest.raises(sd.SudareError, match=message):
        attack(
            pl.DataFrame({"age": ["*"]}),
            sd.Schema.from_roles(quasi=["age"]),
            kind="households",
            known=people,
            **options,
        )


# -- releases of a survey of households ------------------------------------------------------------

QUASI = ["age", "rb090", "db040", "pb220a", "pl030"]


def survey(data_folder: Path, members: int) -> pl.DataFrame:
    """Return the first thousand households of so many members or more."""
    people = pl.read_csv(data_folder / "eusilc" / "eusilc.csv", infer_schema_length=None)
    large = pl.len().over("db030") >= members
    return people.filter(large).filter(pl.col("db030").rank("dense") <= 1000)


@pytest.mark.parametrize("method", ["minimal", "mondrian"])
def test_rows_alone_do_not_hide_households(data_folder: Path, method: str) -> None:
    """Three rows are in every block, and with the number of their household 95 of 100 households of three or more stand alone."""
    people = survey(data_folder, members=3).select("db030", *QUASI)
    schema = sd.Schema.from_roles(quasi=QUASI, other=["db030"])
    published = sd.generalize(sd.read(people, schema), sd.KAnonymity(3), method=method).frame()
    learned = attack(published, schema, kind="households", known=people, unit="db030", k=3)
    assert (learned.known, learned.linked) == (1000, True)
    assert learned.alone > 900


@pytest.mark.parametrize(
    ("quasi", "k"),
    [
        (["age", "rb090"], 3),
        *(
            pytest.param(quasi, k, marks=pytest.mark.slow)
            for quasi in (["age", "rb090", "db040", "hsize"], QUASI)
            for k in (2, 3, 5)
        ),
    ],
)
def test_linked_households_are_hidden(data_folder: Path, quasi: list[str], k: int) -> None:
    people = survey(data_folder, members=1).select("db030", *quasi)
    schema = sd.Schema.from_roles(household="db030", quasi=quasi, linked={"db030": True})
    release = sd.generalize(sd.read(people, schema), sd.KAnonymity(k), suppress=0.02)
    worst = attack(release.frame(), schema, kind="households", known=people, k=k).worst
    assert (worst.below, worst.alone) == (0, 0)
    assert worst.least >= k
    assert worst.candidates.get(0, 0) == 1000 - release.frame()["db030"].n_unique()


@pytest.mark.parametrize("method", ["minimal", "mondrian"])
def test_households_whose_rows_are_not_linked_are_hidden(data_folder: Path, method: str) -> None:
    quasi = ["age", "rb090", "db040", "hsize"]
    people = survey(data_folder, members=1).select("db030", *quasi, "pl030")
    schema = sd.Schema.from_roles(household="db030", quasi=quasi, sensitive=["pl030"])
    release = sd.generalize(sd.read(people, schema), sd.KAnonymity(3), method=method)
    assert attack(release.frame(), schema, kind="households", known=people).alone == 0


def test_a_record_has_some_households(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people = survey(data_folder, members=1).select("db030", "age", "rb090", "pl030")
    schema = sd.Schema.from_roles(household="db030", quasi=["age", "rb090"], other=["pl030"])
    table = sd.read(people, schema)
    published = sd.generalize(table, sd.KAnonymity(3), method="mondrian").frame()
    whole = known_to_belong_together(published, table, 3)
    assert whole == attack(published, schema, kind="households", known=table, k=3).summary()
    monkeypatch.setattr("sudare.attacks.households.RECORDED", 100)
    some = known_to_belong_together(published, table, 3)
    assert some is not None
    assert some["known"] == 100
    assert known_to_belong_together(published, sd.read(people), 3) is None


# -- Looking for persons and households by all their rows -----------------------------------------------------


def composition_risks(frame: pl.DataFrame, unit: str, quasi: list[str]) -> list[float]:
    """Count by hand: of each unit, one in how many it is who have the same rows."""
    of = {
        own[0]: sorted(map(repr, rows.select(quasi).rows()))
        for own, rows in frame.group_by(unit)
    }  # fmt: skip
    return [1 / sum(other == rows for other in of.values()) for rows in of.values()]


@pytest.mark.parametrize("seed", range(5))
def test_reidentification_is_counted_in_what_is_protected(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    frame = pl.DataFrame({"home": numbers.integers(25, size=60), "age": numbers.integers(2, size=60), "sex": numbers.integers(2, size=60)})  # fmt: skip
    schema = sd.Schema.from_roles(household="home", quasi=["age", "sex"])
    risks = composition_risks(frame, "home", ["age", "sex"])
    for output in (frame, sd.read(frame, schema), sd.read(frame, schema, engine="duckdb")):
        found = sd.attack(output, schema, kind="reidentification", threshold=0.3)
        assert (found.unit, found.records) == ("household", len(risks))
        assert found.prosecutor.largest == max(risks)
        assert found.prosecutor.mean == pytest.approx(np.mean(risks))
        assert found.prosecutor.at_risk == sum(risk > 0.3 for risk in risks)
        assert "a household with all its rows" in str(found)
    everybody = pl.concat([frame, frame.with_columns(pl.col("home") + 100)])
    found = sd.attack(frame, schema, kind="reidentification", population=everybody)
    assert found.journalist.largest == max(risks) / 2
    assert found.population == 2 * len(risks)
    with pytest.raises(sd.InputError, match="households the population has fewer"):
        sd.attack(frame, schema, kind="reidentification", population=frame.head(30))


def test_reidentification_says_that_it_counts_records_where_whose_they_are_is_not_published() -> None:
    frame = pl.DataFrame({"home": [1, 1, 2, 2] * 5, "age": [30, 40] * 10})
    schema = sd.Schema.from_roles(household="home", quasi=["age"])
    found = sd.attack(frame.drop("home"), schema, kind="reidentification")
    assert (found.unit, found.uncounted, found.records) == (None, "household", 20)
    assert "does not say which of them are of one household" in str(found)
    alone = sd.attack(frame.drop("home"), sd.Schema.from_roles(quasi=["age"]), kind="reidentification")
    assert alone.summary().keys() == found.summary().keys() - {"uncounted"}
