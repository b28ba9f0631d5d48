"""The household attack: against all matchings of small tables, and on releases that Sudare makes of households and persons."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from random import Random

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks.attack import attack
from sudare.attacks.households import households

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
