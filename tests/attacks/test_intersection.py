"""The intersection attack: on the paper's tables, against a slow twin, and on views that Sudare makes."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks import intersection, lookup
from sudare.attacks.attack import attack
from sudare.generalization.views import ViewsProblem, learn_views
from sudare.privacy.multi_view import MultiViewDiversity
from sudare.tables.text import text_of
from tests.generalization.adult import adult
from tests.generalization.cases import random_table
from tests.generalization.plain_views import frames_of

randoms = st.randoms(use_true_random=False)

# Takenouchi, Furukawa & Miyakawa: seven users, and views of them.
AGES, HEIGHTS = list(range(20, 27)), [180, 180, 175, 160, 185, 170, 165]
ILLNESSES = ["かぜ", "肺炎", "かぜ", "HIV", "肺炎", "HIV", "かぜ"]
USERS = pl.DataFrame({"age": AGES, "height": HEIGHTS})
SCHEMA = sd.Schema.from_roles(quasi=["age", "height"], sensitive=["illness"])


def view(name: str, values: list[int], *ranges: tuple[int, int]) -> pl.DataFrame:
    labels = [next(f"[{low}, {high}]" for low, high in ranges if low <= value <= high) for value in values]
    return pl.DataFrame({name: labels, "illness": ILLNESSES})


TABLE_2 = view("age", AGES, (20, 22), (23, 24), (25, 26))
TABLE_3 = view("height", HEIGHTS, (160, 169), (170, 179), (180, 189)).reverse()
TABLE_4 = view("age", AGES, (20, 21), (22, 23), (24, 26))


def test_the_papers_views_give_user_4_away() -> None:
    learned = attack({"T1": TABLE_2, "T2": TABLE_3}, SCHEMA, kind="intersection", known=USERS)
    illness = learned.by_attribute["illness"]
    user3, user4, user5 = illness.victims  # the paper speaks of user4
    assert user4 == intersection.Victim({"age": "23", "height": "160"}, "HIV")
    assert user3 == intersection.Victim({"age": "22", "height": "175"}, "かぜ")
    assert user5 == intersection.Victim({"age": "24", "height": "185"}, "肺炎")
    assert (illness.candidates, illness.given_away, illness.share) == ({1: 3, 2: 4}, 3, 3 / 7)
    assert (learned.least, learned.posterior, learned.unmatched, learned.known) == (1, 1.0, 0, 7)


def test_the_papers_safe_views_give_nobody_away() -> None:
    learned = attack({"T1": TABLE_4, "T2": TABLE_3}, SCHEMA, kind="intersection", known=USERS)
    illness = learned.by_attribute["illness"]
    assert (illness.candidates, illness.least, illness.given_away, illness.victims) == ({2: 7}, 2, 0, ())
    assert illness.posterior == 3 / 4  # user5: かぜ 3 x 1/3 x 1/3, 肺炎 2 x 1/2 x 2/2


# -- a slow twin ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Label:
    """A label, with what it covers known by how it was made."""

    text: str | None
    covers: Callable[[Any], bool]


DAY = dt.date(2024, 1, 1)
TREE = sd.Hierarchy.from_rows([[f"v{i}", f"g{i // 2}", f"h{i // 4}", "*"] for i in range(8)])
VALUES: dict[str, list[Any]] = {
    "number": [*range(6), None],
    "fraction": [i / 4 for i in range(6)],
    "date": [*(DAY + dt.timedelta(days=3 * i) for i in range(6)), None],
    "tree": [*(f"v{i}" for i in range(8)), None],
    "text": ["plain", "a, b", '"', "{", "", None],
}
MIXED = sd.Schema.from_roles(quasi=list(VALUES), sensitive=["illness"], hierarchies={"tree": TREE})
TYPES = {"number": pl.Int64, "fraction": pl.Float64, "date": pl.Date, "tree": pl.String, "text": pl.String}


def random_label(r: Random, kind: str, deep: bool = False) -> Label:
    value = r.choice(VALUES[kind])
    ways = ["value", "value", "star", *(["listing"] if not deep else [])]
    ways += {"tree": ["node"] * 3, "text": []}.get(kind, ["range"] * 4)
    way = r.choice(ways)
    if way == "star":
        return Label("*", lambda other: True)
    if way == "listing":
        parts = [random_label(r, kind, deep=True) for _ in range(r.randint(1, 3))]
        texts = [
            "(missing)"
            if part.text is None
            else json.dumps(part.text)
            if set(part.text) & set('{},"')
            else part.text
            for part in parts
        ]
        return Label("{" + ", ".join(texts) + "}", lambda other: any(part.covers(other) for part in parts))
    if value is None or way == "value":
        return Label(None if value is None else str(value), lambda other: bool(other == value))
    if way == "node":
        level, i = r.choice([(1, 2), (2, 4)]), int(value[1:])
        size = level[1]
        return Label(
            f"{' gh'[level[0]]}{i // size}",
            lambda other: other is not None and int(other[1:]) // size == i // size,
        )
    low, high = sorted(r.choice([v for v in VALUES[kind] if v is not None]) for _ in range(2))
    opening, closing = r.choice("[("), r.choice("])")
    return Label(
        f"{opening}{low}, {high}{closing}",
        lambda other: (
            other is not None
            and low <= other <= high
            and not (opening == "(" and other == low)
            and not (closing == ")" and other == high)
        ),
    )


Record = tuple[dict[str, Label], str | None]


def random_views(r: Random) -> list[list[Record]]:
    """Blocks with labels that overlap as they like; now and then a view leaves records out."""
    illnesses = [r.choice(["flu", "HIV", "cough", "cancer", None]) for _ in range(r.randint(1, 30))]
    views = []
    for _ in range(r.randint(1, 3)):
        names = r.sample(list(VALUES), r.randint(0, 3))
        blocks = [{name: random_label(r, name) for name in names} for _ in range(r.randint(1, 8))]
        kept = illnesses if r.random() < 0.7 else r.sample(illnesses, r.randint(1, len(illnesses)))
        views.append([(r.choice(blocks), illness) for illness in kept])
    views[0] = [
        ({**labels, "number": labels.get("number", Label("*", lambda v: True))}, s) for labels, s in views[0]
    ]
    return views


def frame_of(records: list[Record]) -> pl.DataFrame:
    rows = [{**{name: label.text for name, label in labels.items()}, "illness": s} for labels, s in records]
    return pl.DataFrame(rows, schema=dict.fromkeys([*records[0][0], "illness"], pl.String))


def left_to(person: dict[str, Any], views: list[list[Record]]) -> tuple[bool, set[Any], Fraction]:
    """Whether every view has a record like the person; the values that are left; and how likely the likeliest is."""
    totals = [Counter(s for _, s in records) for records in views]
    counts = [
        Counter(
            s for labels, s in records if all(label.covers(person[name]) for name, label in labels.items())
        )
        for records in views
    ]
    told = [i for i in range(len(views)) if counts[i]]
    everybody = totals[told[0]] if told else totals[0]
    left = {s for total in totals for s in total if all(counts[i][s] for i in told)}
    weighed = {s: Fraction(everybody[s]) for s in left}
    for i in told:
        weighed = {s: weight * Fraction(counts[i][s], totals[i][s]) for s, weight in weighed.items()}
    likeliest = max(weighed.values()) / sum(weighed.values()) if left else Fraction(0)
    return len(told) == len(views), left, likeliest


@given(randoms)
def test_random_labels_against_the_twin(r: Random) -> None:
    views = random_views(r)
    people = [{kind: r.choice(values) for kind, values in VALUES.items()} for _ in range(r.randint(1, 20))]
    people.append({kind: values[0] for kind, values in VALUES.items()})  # no column is all missing
    everything = [{kind: values[i % len(values)] for kind, values in VALUES.items()} for i in range(8)]
    frame = pl.DataFrame([*people, *everything], schema=TYPES)  # so that every label names a value
    frames = {f"view {i}": frame_of(records) for i, records in enumerate(views)}
    learned = attack(frames, MIXED, kind="intersection", known=frame)
    each = [left_to(person, views) for person in [*people, *everything]]
    illness = learned.by_attribute["illness"]
    assert illness.candidates == Counter(len(left) for _, left, _ in each)
    assert illness.least == min((len(left) for _, left, _ in each if left), default=0)
    assert illness.posterior == pytest.approx(float(max(likeliest for *_, likeliest in each)))
    assert learned.unmatched == sum(not everywhere for everywhere, *_ in each)
    alone = [(row, left) for row, (_, left, _) in enumerate(each) if len(left) == 1]
    assert (illness.given_away, illness.share) == (len(alone), len(alone) / len(each))
    looked_up = {name for view in frames.values() for name in view.columns} & set(MIXED.names("quasi"))
    given_away = {}
    for row, (value,) in alone:
        own = ((name, frame[name][row]) for name in looked_up)
        given_away[frozenset((n, None if x is None else text_of(x)) for n, x in own)] = value
    named = {frozenset(victim.values.items()): victim.learned for victim in illness.victims}
    assert len(named) == len(illness.victims) == min(5, len(given_away))  # who look the same are one example
    assert named.items() <= given_away.items()


@given(randoms)
def test_a_few_at_a_time_is_the_same(r: Random) -> None:
    views = {f"view {i}": frame_of(records) for i, records in enumerate(random_views(r))}
    people = pl.DataFrame({kind: [*values, *values][:9] for kind, values in VALUES.items()}, schema=TYPES)
    whole = attack(views, MIXED, kind="intersection", known=people)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intersection, "MAX_CELLS", 10)
        patch.setattr(lookup, "MAX_BITS", 1)
        assert attack(views, MIXED, kind="intersection", known=people) == whole


def test_more_blocks_than_bits_in_a_word() -> None:
    ages = list(range(300))
    frame = pl.DataFrame({"age": ages, "illness": [f"i{age}" for age in ages]})
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["illness"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "MAX_BITS", 300 * 128)
        learned = attack(frame, schema, kind="intersection", known=frame).by_attribute["illness"]
    assert learned.candidates == {1: 300}
    assert [victim.learned for victim in learned.victims] == ["i0", "i1", "i2", "i3", "i4"]


def test_many_views_do_not_make_likelihoods_vanish() -> None:
    frame = pl.DataFrame({"age": [str(i) for i in range(100)], "illness": ["flu"] * 100})
    schema = sd.Schema.from_roles(quasi=["age"], sensitive=["illness"])
    people = pl.DataFrame({"age": range(100)})
    assert (
        attack({str(i): frame for i in range(200)}, schema, kind="intersection", known=people).posterior
        == 1.0
    )


# -- views that Sudare makes ---------------------------------------------------------------------


def random_problem(r: Random, method: str) -> tuple[sd.Table, Any, int]:
    table = random_table(r, r.randint(2, 40))
    quasi = table.names("quasi")
    views = {f"view {i}": r.sample(quasi, r.randint(1, len(quasi))) for i in range(r.randint(1, 3))}
    l = r.randint(1, min(3, table["illness"].size))
    problem = ViewsProblem.of(table, views, "illness")
    return table, learn_views(problem, MultiViewDiversity(l), method), l  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["simultaneous", "sequential", "all-attributes"])
@given(r=randoms)
def test_views_leave_everybody_enough(method: str, r: Random) -> None:
    table, plan, l = random_problem(r, method)
    learned = attack(frames_of(table, plan), table.schema, kind="intersection", known=table)
    assert learned.unmatched == 0
    assert 0 not in learned.by_attribute["illness"].candidates
    assert learned.least >= l
    if method == "sequential":
        assert learned.by_attribute["illness"].candidates == plan.seen().distribution()
        assert learned.posterior == pytest.approx(plan.seen().posterior.max())


def test_adult(data_folder: Path, tmp_path: Path) -> None:
    table = adult(data_folder)
    views = {
        "T1": ["age", "sex", "workclass", "education"],
        "T2": ["age", "sex", "marital-status", "race", "native-country"],
    }
    plan = learn_views(ViewsProblem.of(table, views, "occupation"), MultiViewDiversity(5), "sequential")
    frames = frames_of(table, plan)
    learned = attack(frames, table.schema, kind="intersection", known=table)
    assert learned.by_attribute["occupation"].candidates == plan.seen().distribution()
    assert learned.least >= 5
    for name, frame in frames.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    assert attack(tmp_path, table.schema, kind="intersection", known=table) == learned
    raw = {name: table.frame().select(*names, "occupation") for name, names in views.items()}
    assert attack(raw, table.schema, kind="intersection", known=table).least == 1


# -- what is given and said ----------------------------------------------------------------------


def test_frames_files_and_folders_are_the_same(tmp_path: Path) -> None:
    views = {"T1": TABLE_2, "T2": TABLE_3}
    expected = attack(
        views, SCHEMA, kind="intersection", known=sd.read(USERS, sd.Schema.from_roles(quasi=USERS.columns))
    )
    TABLE_2.write_parquet(tmp_path / "T1.parquet")
    TABLE_3.write_parquet(tmp_path / "T2.parquet")
    TABLE_3.write_csv(tmp_path / "T2.csv")
    USERS.write_csv(tmp_path / "users.csv")
    files = {"T1": str(tmp_path / "T1.parquet"), "T2": tmp_path / "T2.csv"}
    assert attack(tmp_path, SCHEMA, kind="intersection", known=USERS) == expected
    assert attack(files, SCHEMA, kind="intersection", known=tmp_path / "users.csv") == expected
    with_more = USERS.with_columns(illness=pl.Series(ILLNESSES))
    assert attack(views, SCHEMA, kind="intersection", known=with_more) == expected


def test_several_sensitive_attributes_that_all_views_have() -> None:
    schema = sd.Schema.from_roles(quasi=["age", "height"], sensitive=["pay", "illness", "party"])
    views = {
        "T1": TABLE_4.with_columns(pay=pl.Series(AGES), party=pl.lit("x")),
        "T2": TABLE_3.with_columns(pay=pl.Series(AGES[::-1])),
    }
    learned = attack(views, schema, kind="intersection", known=USERS)
    assert list(learned.by_attribute) == ["pay", "illness"]
    assert learned.least == learned.by_attribute["pay"].least == 1
    assert learned.by_attribute["illness"].least == 2


def test_who_is_in_no_view_learns_nothing() -> None:
    strangers = pl.DataFrame({"age": [20, 99, 99], "height": [165, 999, 165]})
    learned = attack({"T1": TABLE_4, "T2": TABLE_3}, SCHEMA, kind="intersection", known=strangers)
    assert learned.unmatched == 2
    assert learned.by_attribute["illness"].candidates == {1: 1, 2: 1, 3: 1}
    apart = {"T1": TABLE_4, "T2": TABLE_3.filter(pl.col("illness") == "HIV")}
    learned = attack(apart, SCHEMA, kind="intersection", known=strangers)
    assert learned.by_attribute["illness"].candidates == {0: 1, 1: 1, 3: 1}
    assert learned.least == 1
    assert "To 1 no value is left: they are not in these views." in str(learned)
    none = attack(apart, SCHEMA, kind="intersection", known=strangers[:1])
    assert (none.least, none.posterior) == (0, 0.0)


def test_it_is_told_in_words_and_in_plain_data() -> None:
    learned = attack({"T1": TABLE_2, "T2": TABLE_3}, SCHEMA, kind="intersection", known=USERS[3:4])
    assert str(learned) == (
        "People looked up in 'T1', 'T2': 1.\n"
        "illness: to 1 of them (100.0%) one value is left. The first: age 23, height 160: "
        "'HIV'. Somebody's value is believed up to 100.0%."
    )
    assert learned.summary() == {
        "views": ["T1", "T2"],
        "known": 1,
        "unmatched": 0,
        "by_attribute": {
            "illness": {"candidates": {"1": 1}, "least": 1, "given_away": 1, "share": 1.0, "posterior": 1.0}
        },
    }
    assert json.loads(json.dumps(learned.summary())) == learned.summary()
    safe = attack({"T1": TABLE_4, "T2": TABLE_3}, SCHEMA, kind="intersection", known=USERS)
    assert "nobody is given away; 2 values or more are left to everybody" in str(safe)
    strange = attack({"T1": TABLE_4}, SCHEMA, kind="intersection", known=pl.DataFrame({"age": [99]}))
    assert "For 1 of them some view has no block" in str(strange)


def test_what_cannot_be_attacked(tmp_path: Path) -> None:
    def refused(message: str, views: Any, schema: sd.Schema = SCHEMA, **options: Any) -> None:
        with pytest.raises(sd.SudareError, match=message):
            attack(views, schema, kind="intersection", **{"known": USERS, **options})

    bad = TABLE_2.with_columns(age=pl.lit("20 to 22"))
    refused("View 'T1', column 'age': the label '20 to 22' cannot be read", {"T1": bad, "T2": TABLE_3})
    refused("View 'T1': The output is empty", {"T1": TABLE_2.clear()})
    refused("No view has a column that the schema calls quasi", {"T1": TABLE_2.drop("age")})
    refused(
        "The views have no sensitive attribute in common; the schema has 'illness'",
        {"T1": TABLE_2.drop("illness")},
    )
    refused(
        "no sensitive attribute; the intersection attack",
        {"T1": TABLE_2},
        sd.Schema.from_roles(quasi=["age"]),
    )
    refused("There is no view", {})
    refused("has no Parquet file, and so no view", tmp_path)
    refused("none.csv: the output cannot be read", {"T1": tmp_path / "none.csv"})
    refused("there is no column 'height'", {"T2": TABLE_3}, known=USERS.select("age"))
    refused("no option 'floor'. Its options: known", {"T1": TABLE_2}, floor=1)
    with pytest.raises(sd.ParameterError, match="needs the option 'known'"):
        attack({"T1": TABLE_2}, SCHEMA, kind="intersection")


def test_other_attacks_say_how_several_views_are_attacked(tmp_path: Path) -> None:
    with pytest.raises(sd.InputError, match=r'The homogeneity attack takes one output.*kind="intersection"'):
        attack({"T1": TABLE_2}, SCHEMA)
    TABLE_2.write_parquet(tmp_path / "T1.parquet")
    TABLE_3.write_parquet(tmp_path / "T2.parquet")
    with pytest.raises(
        sd.InputError, match=r"this folder has views, 'T1.parquet', 'T2.parquet'.*--known PEOPLE"
    ):
        attack(tmp_path, SCHEMA)
