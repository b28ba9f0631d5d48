"""Attacks that look away from harmless values, and the proximity attack, against their definitions record by record."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks.attack import attack, attack_all

SCHEMA = sd.Schema.from_roles(quasi=["block"], sensitive=["illness"])
Rows = list[tuple[str, str | None]]
ILLNESSES = ["flu", "HIV", "well", "gout", None]
rows = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(ILLNESSES)), min_size=1, max_size=20)
harmless = st.lists(st.sampled_from(ILLNESSES), max_size=4)


def frame_of(records: Rows) -> pl.DataFrame:
    return pl.DataFrame(records, schema={"block": pl.String, "illness": pl.String}, orient="row")


def blocks_of(records: Rows) -> dict[str, Counter[str | None]]:
    blocks: dict[str, Counter[str | None]] = {}
    for block, illness in records:
        blocks.setdefault(block, Counter())[illness] += 1
    return blocks


@given(records=rows, known=harmless)
def test_a_block_of_one_harmless_value_gives_nothing_away(records: Rows, known: list[str | None]) -> None:
    alone = [own for own in blocks_of(records).values() if len(own) == 1]
    given_away = [own for own in alone if not set(own) <= set(known)]
    learned = attack(frame_of(records), SCHEMA, harmless=known).by_attribute["illness"]
    assert learned.blocks == len(given_away)
    assert learned.records == sum(own.total() for own in given_away)
    apart = sum(own.total() for own in alone) - learned.records
    assert learned.harmless == (apart if known else None)
    assert learned.summary().get("harmless") == learned.harmless


@given(records=rows, known=harmless, ruled_out=st.integers(0, 3))
def test_only_beliefs_about_other_values_count(
    records: Rows, known: list[str | None], ruled_out: int
) -> None:
    strongest, certain = Fraction(0), 0
    for own in blocks_of(records).values():
        others = {value: count for value, count in own.items() if value not in known}
        for value, count in others.items():
            rest = [other for other in own if other != value]
            for out in itertools.combinations(rest, min(ruled_out, len(rest))):
                left = own.total() - sum(own[other] for other in out)
                strongest = max(strongest, Fraction(count, left))
        certain += sum(others.values()) if len(own) <= ruled_out + 1 else 0
    learned = attack(frame_of(records), SCHEMA, kind="background", known=ruled_out, harmless=known)
    belief = learned.by_attribute["illness"]
    assert belief.posterior == pytest.approx(float(strongest))
    assert belief.certain == certain


@given(records=rows, known=harmless)
def test_how_frequent_harmless_values_are_does_not_matter(records: Rows, known: list[str | None]) -> None:
    whole, n = Counter(illness for _, illness in records), len(records)
    others = [value for value in whole if value not in known]
    skews = [
        (Fraction(own[value], own.total()), Fraction(whole[value], n))
        for own in blocks_of(records).values()
        for value in others
    ]
    learned = attack(frame_of(records), SCHEMA, kind="skewness", harmless=known).by_attribute["illness"]
    if not others:
        assert learned.ratio is learned.difference is None
        return
    assert learned.ratio.amount == pytest.approx(float(max(a / b for a, b in skews)))
    assert learned.difference.amount == pytest.approx(float(max(abs(a - b) for a, b in skews)))


def test_who_is_left_with_a_harmless_value_is_not_given_away() -> None:
    people = pl.DataFrame({"age": [20, 21, 22], "height": [180, 160, 170]})
    by_age = pl.DataFrame({"age": ["[20, 21]", "[20, 21]", "22"], "illness": ["well", "HIV", "well"]})
    by_height = pl.DataFrame(
        {"height": ["180", "[160, 170]", "[160, 170]"], "illness": ["well", "HIV", "well"]}
    )
    schema = sd.Schema.from_roles(quasi=["age", "height"], sensitive=["illness"])
    views = {"age": by_age, "height": by_height}
    every = attack(views, schema, kind="intersection", known=people).by_attribute["illness"]
    left = attack(views, schema, kind="intersection", known=people, harmless=["well"]).by_attribute["illness"]
    assert (every.given_away, left.given_away) == (2, 0)
    assert every.candidates == left.candidates
    assert left.posterior < every.posterior == 1


def test_harmless_values_are_of_an_attribute() -> None:
    frame = frame_of([("a", "well"), ("a", "well")]).with_columns(status="illness")
    schema = sd.Schema.from_roles(quasi=["block"], sensitive=["illness", "status"])
    by_name = attack_all(frame, schema, {"illness": ["well"]})["homogeneity"]
    assert by_name["illness"] == {"blocks": 0, "records": 0, "share": 0, "harmless": 2}
    assert by_name["status"] == {"blocks": 1, "records": 2, "share": 1}
    with pytest.raises(sd.ParameterError, match="must be a list of values"):
        attack(frame, schema, harmless="well")


def test_a_release_says_what_its_harmless_values_leave(tmp_path: Any) -> None:
    frame = frame_of([("a", "well")] * 4 + [("b", "flu"), ("b", "HIV"), ("b", "well")])
    table = sd.read(frame, SCHEMA)
    release = sd.generalize(table, sd.LDiversity(2, harmless=["well"]))
    figures = release.certificate.attacks["output"]["homogeneity"]["illness"]
    assert figures == {"blocks": 0, "records": 0, "share": 0, "harmless": 4}
    assert release.holder["attacks"]["input"]["homogeneity"]["illness"] == figures
    release.write(tmp_path / "out")
    assert sd.verify(tmp_path / "out").holds
    again = sd.Plan.open(tmp_path / "out")
    assert list(again.requirements) == [sd.LDiversity(2, harmless=["well"])]  # type: ignore[attr-defined]


# -- numbers that are close ---------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-9, 12)), min_size=1, max_size=14),
    st.sampled_from([0, 0.05, 0.5, 1]),
    st.booleans(),
    st.lists(st.integers(-9, 12), max_size=3),
)
def test_close_numbers_by_the_definition(
    records: list[tuple[str, int]], within: float, relative: bool, known: list[int]
) -> None:
    frame = pl.DataFrame(records, schema=["block", "illness"], orient="row")
    width = Fraction(str(within))

    def close(x: int, y: int) -> bool:
        if not relative:
            return y - x <= width
        return x == y or (x * y > 0 and y - x <= width * min(abs(x), abs(y)))

    belief, sure = Fraction(0), 0
    for block in sorted({block for block, _ in records}):
        own = [x for b, x in records if b == block and x not in known]
        most = max((sum(x <= y and close(x, y) for y in own) for x in own), default=0)
        belief = max(belief, Fraction(most, len(own)) if own else belief)
        sure += len(own) if own and most == len(own) else 0
    learned = attack(frame, SCHEMA, kind="proximity", within=within, relative=relative, harmless=known)
    if not belief:
        assert learned.by_attribute == {}
        return
    assert learned.belief == pytest.approx(float(belief))
    assert learned.by_attribute["illness"].known == sure


def test_what_is_no_number_is_not_close() -> None:
    words = attack(frame_of([("a", "flu"), ("a", "gout")]), SCHEMA, kind="proximity")
    assert words.summary()["by_attribute"] == {}
    assert str(words) == "No sensitive attribute has numbers."
    with pytest.raises(sd.ParameterError, match="'within' parameter of the proximity attack"):
        attack(frame_of([("a", "flu")]), SCHEMA, kind="proximity", within=-1)


def test_what_proximity_promises_bounds_the_attack() -> None:
    incomes = [1_000 + 31 * i for i in range(120)]
    table = sd.read(pl.DataFrame({"block": [i // 4 for i in range(120)], "illness": incomes}), SCHEMA)
    distinct = sd.generalize(table, sd.LDiversity(3)).frame()
    spread = sd.generalize(table, sd.LDiversity(3, "proximity", within=0.1, relative=True)).frame()
    before = attack(table, SCHEMA, kind="proximity", within=0.1).belief
    reached = [attack(frame, SCHEMA, kind="proximity", within=0.1).belief for frame in (distinct, spread)]
    assert before == 1
    assert reached[1] <= 1 / 3 + 1e-12 < reached[0]
