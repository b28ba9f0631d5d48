"""Households and persons that are published as such: k of them have every composition, counted anew here."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd
from sudare.verbs.compositions import numbers

ROWS = st.lists(st.tuples(*map(st.integers, (0, 0, 0, 0), (6, 3, 1, 2))), min_size=4, max_size=24)
QUASI = ["age", "sex"]


def schema(**more: Any) -> sd.Schema:
    return sd.Schema.from_roles(household="hid", quasi=QUASI, sensitive=["ill"], linked={"hid": True}, **more)


def frame_of(rows: list[tuple[int, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["hid", *QUASI, "ill"], orient="row").with_columns(
        pl.col("ill").cast(pl.String), pl.col("hid") * 7 + 100
    )


def compositions(frame: pl.DataFrame) -> dict[Any, tuple[Any, ...]]:
    """Return what is published of each household, of what outsiders may know."""
    members = defaultdict(list)
    for row in frame.iter_rows(named=True):
        members[row["hid"]].append(tuple(str(row[name]) for name in QUASI))
    return {hid: tuple(sorted(own)) for hid, own in members.items()}


def households(size: int = 300, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"h{hid}", int(rng.integers(0, 90)), rng.choice(["f", "m"]), rng.choice(["a", "b", "c", "d"]))
        for hid in range(size)
        for _ in range(rng.integers(1, 5))
    ]
    return pl.DataFrame(rows, schema=["hid", *QUASI, "ill"], orient="row")


@settings(max_examples=60)
@given(ROWS, st.sampled_from(["minimal", "mondrian"]), st.integers(2, 3))
def test_every_composition_is_that_of_k_households(rows: list[tuple[int, ...]], method: str, k: int) -> None:
    frame = frame_of(rows)
    try:
        release = sd.generalize(sd.read(frame, schema()), sd.KAnonymity(k), method, **_some(method))
    except sd.RequirementError:
        return
    out = release.frame()
    assert min(Counter(compositions(out).values()).values()) >= k
    assert set(out["hid"]) == set(range(1, out["hid"].n_unique() + 1))
    sizes = Counter(Counter(frame["hid"].to_list()).values())
    kept = Counter({size: often for size, often in sizes.items() if often >= k})
    assert Counter(Counter(out["hid"].to_list()).values()) == kept


def _some(method: str) -> dict[str, Any]:
    return {"suppress": 0.9} if method == "minimal" else {}


def test_rows_of_one_label_are_diverse_in_every_composition() -> None:
    release = sd.generalize(sd.read(households(), schema()), [sd.KAnonymity(3), sd.LDiversity(2)])
    out = release.frame()
    own = compositions(out)
    values = defaultdict(set)
    for row in out.iter_rows(named=True):
        values[own[row["hid"]], tuple(row[name] for name in QUASI)].add(row["ill"])
    assert min(map(len, values.values())) >= 2
    assert min(Counter(own.values()).values()) >= 3
    assert release.certificate.measured["l_distinct"] >= 2


def test_people_stay_with_their_households() -> None:
    frame = households(seed=3)
    out = sd.generalize(sd.read(frame, schema()), sd.KAnonymity(2)).frame()
    original = Counter(tuple(sorted(own["ill"].to_list())) for _, own in frame.group_by("hid"))
    published = Counter(tuple(sorted(own["ill"].to_list())) for _, own in out.group_by("hid"))
    assert original == published


def test_numbers_tell_nothing_but_what_is_published() -> None:
    frame = households(seed=4)
    release = sd.generalize(sd.read(frame, schema()), sd.KAnonymity(3))
    renamed = frame.sample(fraction=1.0, shuffle=True, seed=1).with_columns(
        hid=pl.lit("x") + pl.col("hid").str.reverse()
    )
    again = sd.generalize(sd.read(renamed, schema()), sd.KAnonymity(3))
    assert again.frame().equals(release.frame())
    assert numbers(release.frame(), "hid").equals(release.frame()["hid"])


def test_a_plan_is_saved_opened_and_applied(tmp_path: Path) -> None:
    frame = households(seed=5)
    release = sd.generalize(sd.read(frame, schema()), [sd.KAnonymity(3), sd.LDiversity(2)])
    plan = sd.Plan.open(release.plan.save(tmp_path / "plan"))
    assert sd.apply(plan, sd.read(frame.reverse(), schema())).frame().equals(release.frame())
    turned = sd.Schema.from_roles(household="hid", quasi=QUASI[::-1], sensitive=["ill"], linked={"hid": True})
    other = frame.select("hid", *QUASI[::-1], "ill")
    assert (
        sd.apply(plan, sd.read(other, turned)).frame().select(release.frame().columns).height == frame.height
    )
    stranger = pl.concat(
        [frame, pl.DataFrame({"hid": ["new"] * 7, "age": range(7), "sex": ["f"] * 7, "ill": ["a"] * 7})]
    )
    with pytest.raises(sd.InputError, match="does not cover 7 of"):
        sd.apply(plan, sd.read(stranger, schema()))
    assert sd.apply(plan, sd.read(stranger, schema()), unseen="suppress").frame().equals(release.frame())
    alone = frame.filter(pl.col("hid").is_in(frame["hid"].unique().sort().head(20)))
    with pytest.raises(sd.RequirementError, match="learn a plan from them"):
        sd.apply(plan, sd.read(alone, schema()))


@pytest.mark.parametrize(
    ("table", "change", "reason"),
    [
        (
            "compositions",
            lambda t: t.with_columns(block=0),
            "different numbers of members|other members than levels",
        ),
        ("compositions", lambda t: t.with_columns(size=pl.col("size") + 1), "other members than it lists"),
        ("levels", lambda t: t * 0, "not alike"),
        ("levels", lambda t: t[:-1], "other members than levels"),
        ("members", lambda t: t.reverse(), "not in order|not alike"),
        (
            "members",
            lambda t: t.with_columns(pl.lit(9999, dtype=pl.Int64).alias("0")),
            "beyond what it counts",
        ),
    ],
)
def test_a_plan_that_was_changed_is_refused(tmp_path: Path, table: str, change: Any, reason: str) -> None:
    plan = sd.generalize(sd.read(households(seed=6), schema()), sd.KAnonymity(3)).plan.save(tmp_path / "plan")
    path = plan / f"{table}.parquet"
    change(pl.read_parquet(path).cast(pl.Int64)).write_parquet(path)
    with pytest.raises(sd.InputError, match=reason):
        sd.Plan.open(plan)


def test_the_output_is_verified_by_its_compositions(tmp_path: Path) -> None:
    release = sd.generalize(sd.read(households(seed=7), schema()), sd.KAnonymity(3))
    release.write(tmp_path / "out")
    certificate = json.loads((tmp_path / "out" / "hand-over" / "certificate.json").read_text())
    assert certificate["unit"] == "household"
    assert certificate["attributes"]["hid"]["role"] == "household"
    assert sd.verify(tmp_path / "out" / "hand-over").value >= 3
    out = release.frame()
    moved = out.with_columns(hid=pl.when(pl.int_range(pl.len()) == 0).then(10**6).otherwise("hid"))
    assert not sd.verify(moved, sd.KAnonymity(3), schema()).holds


def test_sizes_that_are_rare_are_left_out_or_refused() -> None:
    large = pl.DataFrame({"hid": ["big"] * 9, "age": range(9), "sex": ["f"] * 9, "ill": ["a"] * 9})
    frame = pl.concat([households(seed=8), large])
    with pytest.raises(sd.RequirementError, match=r"1 of 9 rows; 3 of each are needed.*suppress=0.0"):
        sd.generalize(sd.read(frame, schema()), sd.KAnonymity(3))
    release = sd.generalize(sd.read(frame, schema()), sd.KAnonymity(3), suppress=0.05)
    assert release.frame().height == frame.height - 9
    assert release.holder["records"]["suppressed"] == 9


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    frame = households(seed=9)
    release = sd.generalize(sd.read(frame, schema()), sd.KAnonymity(3))
    with pytest.raises(sd.ParameterError, match="A ledger compares"):
        release.write(tmp_path / "out", ledger=sd.Ledger(tmp_path / "ledger.jsonl"))
    with pytest.raises(sd.InputError, match="worked on in memory"):
        sd.generalize(sd.read(frame, schema(), engine="duckdb"), sd.KAnonymity(3))
    rows = sd.Schema.from_roles(identifier=["hid"], quasi=QUASI, sensitive=["ill"])
    with pytest.raises(sd.InputError, match="the other way round"):
        sd.apply(release.plan, sd.read(frame, rows))


def test_a_value_that_all_persons_of_a_composition_have_is_not_published() -> None:
    visits = pl.DataFrame(
        {
            "hid": [i // 2 for i in range(48)],
            "age": [30, 40] * 24,
            "ill": ["flu", "HIV"] * 24,
            "sex": ["f"] * 48,
        }
    )
    person = sd.Schema.from_roles(person="hid", quasi=QUASI, sensitive=["ill"], linked={"hid": True})
    with pytest.raises(sd.RequirementError):
        sd.generalize(sd.read(visits, person), [sd.KAnonymity(3), sd.LDiversity(2)])
    assert sd.generalize(sd.read(visits, person), sd.KAnonymity(3)).frame().height == 48


# -- what somebody finds who knows some of a person's visits -------------------------------------------------


VISITS = st.lists(st.tuples(*map(st.integers, (0, 0, 0, 0), (5, 3, 1, 2))), min_size=4, max_size=18)


def may_be(visits: list[tuple[int, int]], rows: list[tuple[Any, Any]], tree: sd.Hierarchy) -> bool:
    """Tell whether somebody's published rows may be these visits, each of them another row; by trying all ways."""
    return any(
        all(
            _says(age, label[0], tree) and str(label[1]) in (str(sex), "*")
            for (age, sex), label in zip(visits, some, strict=True)
        )
        for some in itertools.permutations(rows, len(visits))
    )


def _says(age: int, label: Any, tree: sd.Hierarchy) -> bool:
    path = next(row for row in tree.rows() if row[0] == str(age))
    return str(label) in path


@settings(max_examples=40, deadline=None)
@given(VISITS, st.integers(2, 3))
def test_who_knows_some_visits_of_a_person_finds_k(rows: list[tuple[int, ...]], k: int) -> None:
    """Whatever visits somebody knows of a person, k persons or more may have had them: km-anonymity for every m."""
    tree = sd.Hierarchy.intervals(range(4), width=2)
    own = sd.Schema.from_roles(
        person="pid", quasi=QUASI, sensitive=["ill"], linked={"pid": True}, hierarchies={"age": tree}
    )
    frame = frame_of(rows).rename({"hid": "pid"})
    if frame.group_by("pid").len()["len"].max() > 5:  # type: ignore[operator]
        return
    try:
        release = sd.generalize(sd.read(frame, own), sd.KAnonymity(k), suppress=0.5)
    except sd.RequirementError:
        return
    published = defaultdict(list)
    for row in release.frame().iter_rows(named=True):
        published[row["pid"]].append((row["age"], row["sex"]))
    sizes = {len(own_rows) for own_rows in published.values()}
    for _, person in frame.group_by("pid"):
        visits = person.select(QUASI).rows()
        if len(visits) not in sizes:
            continue  # persons with so many visits were left out
        for m in range(1, len(visits) + 1):
            for known in itertools.combinations(visits, m):
                finds = sum(
                    len(own_rows) >= m and may_be(list(known), own_rows, tree)
                    for own_rows in published.values()
                )
                assert finds == 0 or finds >= k


def test_visits_that_are_not_linked_carry_nothing_by_which_they_could_be() -> None:
    """Rows of a person with several visits are among those of k persons each, and no column says which belong together."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "pid": np.repeat(np.arange(60), 3),
            "age": rng.integers(20, 60, 180),
            "sex": rng.choice(["f", "m"], 180),
        }
    ).with_columns(ill=pl.Series(rng.choice(["a", "b", "c"], 180)))
    own = sd.Schema.from_roles(person="pid", quasi=QUASI, sensitive=["ill"])
    release = sd.generalize(sd.read(frame, own), sd.KAnonymity(4))
    assert release.frame().columns == [*QUASI, "ill"]
    located = release.plan.locate(sd.read(frame, own))
    blocks = dict(zip(map(tuple, located.counts.codes.tolist()), located.block_of.tolist(), strict=True))
    codes = [located.table.rows.column(name).codes.tolist() for name in located.counts.names]
    persons = defaultdict(set)
    for pid, *key in zip(frame["pid"].to_list(), *codes, strict=True):
        persons[blocks[tuple(key)]].add(pid)
    assert min(map(len, persons.values())) >= 4


def test_somebody_with_more_rows_than_can_be_made_alike_is_refused_in_words() -> None:
    visits = pl.DataFrame({"pid": [0, 1] * 5_001, "age": [30] * 10_002, "sex": ["f"] * 10_002})
    schema = sd.Schema.from_roles(person="pid", quasi=["age", "sex"], linked={"pid": True})

    with pytest.raises(sd.RequirementError, match=r"some persons have 5,001 rows, and 5,000 are the most"):
        sd.generalize(sd.read(visits, schema), sd.KAnonymity(2))


def test_a_certificate_counts_what_is_certain_of_compositions() -> None:
    """In two compositions, who is alike as a single person is not as a member: there all of them have one value."""
    rows = []
    for hid in range(6):
        for member in range(1 + hid // 3):
            rows.append((hid, 30, "f", "a" if hid < 3 or member == 0 else "b"))
    frame = pl.DataFrame(rows, schema=["hid", *QUASI, "ill"], orient="row")
    release = sd.generalize(sd.read(frame, schema()), sd.KAnonymity(3))
    out = release.frame()
    of_size = out.with_columns(size=pl.len().over("hid"))
    certain = (
        of_size.group_by("size", *QUASI)
        .agg(pl.n_unique("ill"), pl.len())
        .filter(pl.col("ill") == 1)["len"]
        .sum()
    )
    assert certain == 3
    found = release.certificate.attacks["output"]["homogeneity"]["ill"]
    assert found["records"] == certain
    assert sd.attack(out, release.schema, kind="homogeneity").by_attribute["ill"].records == 0
