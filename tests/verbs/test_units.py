"""Persons with several rows, and households, whose rows are not linked: what a block has of them is counted anew here."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare as sd

ROWS = st.lists(
    st.tuples(*map(st.integers, (0, 0, 0, 0), (7, 3, 2, 3))), min_size=6, max_size=30
)  # the unit, two quasi values and a sensitive one


def frame_of(rows: list[tuple[int, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["hid", "age", "sex", "ill"], orient="row").with_columns(
        pl.col("ill").cast(pl.String)
    )


def households(size: int = 400, seed: int = 1) -> pl.DataFrame:
    """People in households, in which ages and regions go together."""
    rng = np.random.default_rng(seed)
    rows = []
    for hid in range(size):
        region = rng.choice(["north", "south", "east"])
        for _ in range(rng.integers(1, 6)):
            rows.append(
                (
                    f"h{hid}",
                    int(rng.integers(0, 90)),
                    region,
                    rng.choice(["f", "m"]),
                    rng.choice(["a", "b", "c", "d"]),
                )
            )
    return pl.DataFrame(rows, schema=["hid", "age", "region", "sex", "ill"], orient="row")


SCHEMA = sd.Schema.from_roles(
    household="hid",
    quasi=["age", "region", "sex"],
    sensitive=["ill"],
    hierarchies={"age": sd.Hierarchy.intervals(range(90), width=10)},
)


def with_units(release: sd.Release, frame: pl.DataFrame) -> dict[tuple[Any, ...], set[Any]]:
    """Return who may be in each published block: by the plan, row by row, without the code that counts units."""
    located = release.plan.locate(sd.read(frame, release.schema)).at_once("a test")
    names = located.counts.names
    labels = located.rewriting.published
    quasi = list(release.schema.names("quasi"))
    place = {tuple(codes): i for i, codes in enumerate(located.rewriting.tuples.tolist())}
    codes = [located.table.rows.column(name).codes for name in names]
    blocks = defaultdict(set)
    for row, key in enumerate(zip(*(own.tolist() for own in codes), strict=True)):
        if key in place:
            label = tuple(
                str(frame[name][row])
                if labels[name] is None
                else labels[name].values[int(labels[name].of_tuple[place[key]])]
                for name in quasi
            )
            blocks[label].add(frame[release.schema.unit][row])
    return dict(blocks)


@settings(max_examples=60)
@given(ROWS, st.sampled_from(["minimal", "mondrian", "full-domain"]), st.integers(2, 4))
def test_every_block_has_rows_of_k_units(rows: list[tuple[int, ...]], method: str, k: int) -> None:
    frame = frame_of(rows)
    schema = sd.Schema.from_roles(household="hid", quasi=["age", "sex"], sensitive=["ill"])
    try:
        release = sd.generalize(sd.read(frame, schema), sd.KAnonymity(k), method)
    except sd.RequirementError as error:
        # Either there are too few, or the sensitive value ties the rows of a household together.
        refused = frame["hid"].n_unique() < k or "belong together" in str(error)
        assert refused
        return
    assert min(map(len, with_units(release, frame).values())) >= k
    assert release.frame().height == frame.height
    assert "hid" not in release.frame().columns


@settings(max_examples=30)
@given(ROWS, st.sampled_from(["distinct", "entropy"]))
def test_what_is_asked_of_values_holds_of_rows_and_of_units(rows: list[tuple[int, ...]], kind: str) -> None:
    frame = frame_of(rows)
    schema = sd.Schema.from_roles(person="hid", quasi=["age", "sex"], sensitive=["ill"])
    try:
        release = sd.generalize(
            sd.read(frame, schema), [sd.KAnonymity(2), sd.LDiversity(2, kind=kind)], "minimal"
        )
    except sd.RequirementError:
        return
    measured = release.holder["unit"]["measured"]
    assert measured["k"] >= 2
    assert measured[f"l_{kind}"] >= 2 - 1e-9
    for _, block in release.frame().group_by("age", "sex"):
        counts = list(Counter(block["ill"].to_list()).values())
        entropy = -sum(n / sum(counts) * math.log(n / sum(counts)) for n in counts)
        assert len(counts) >= 2 if kind == "distinct" else entropy >= math.log(2) - 1e-9


def test_rows_alone_would_let_a_family_be_a_block() -> None:
    frame = households()
    rows = sd.generalize(sd.read(frame.drop("hid"), SCHEMA.model_copy(update={"attributes": {
        name: one for name, one in SCHEMA.attributes.items() if name != "hid"}})), sd.KAnonymity(3))  # fmt: skip
    units = sd.generalize(sd.read(frame, SCHEMA), sd.KAnonymity(3))
    assert min(map(len, with_units(units, frame).values())) >= 3
    assert units.holder["utility"]["distortion"] < 1.5 * rows.holder["utility"]["distortion"]


def test_a_person_whose_rows_are_alike_counts_once() -> None:
    people = pl.DataFrame({"pid": range(40), "age": [20, 30, 40, 50] * 10, "sex": ["f", "m"] * 20})
    visits = pl.concat([people] * 7).with_columns(ill=pl.Series(["a", "b", "c", "d", "e", "f", "g"] * 40))
    schema = sd.Schema.from_roles(person="pid", quasi=["age", "sex"], sensitive=["ill"])
    release = sd.generalize(sd.read(visits, schema), sd.KAnonymity(10))
    unit = release.holder["unit"]
    assert (unit["role"], unit["units"], unit["most_rows"], unit["measured"]) == ("person", 40, 7, {"k": 10})
    with pytest.raises(sd.RequirementError, match="41-anonymity is impossible: there are only 40 persons"):
        sd.generalize(sd.read(visits, schema), sd.KAnonymity(41))


def test_the_certificate_says_what_is_counted_and_not_how_many_there_were(tmp_path: Path) -> None:
    release = sd.generalize(sd.read(households(), SCHEMA), [sd.KAnonymity(3), sd.LDiversity(2)])
    certificate = release.certificate
    assert certificate.unit == "household"
    assert certificate.measured == {"k": 3, "l_distinct": 2}
    assert "hid" not in certificate.attributes
    assert any("households" in one for one in certificate.caveats)
    release.write(tmp_path / "out")
    assert sd.verify(tmp_path / "out" / "hand-over").holds


def test_a_plan_of_rows_is_refused_for_households_it_does_not_protect() -> None:
    frame = households(seed=2)
    plan = sd.generalize(sd.read(frame, SCHEMA), sd.KAnonymity(3)).plan
    again = sd.apply(plan, sd.read(frame.reverse(), SCHEMA))
    assert min(map(len, with_units(again, frame).values())) >= 3
    one_family = frame.with_columns(hid=pl.when(pl.col("age") < 45).then(pl.lit("h0")).otherwise("hid"))
    with pytest.raises(sd.RequirementError, match="k = "):
        sd.apply(plan, sd.read(one_family, SCHEMA))


def test_what_ties_the_rows_of_a_household_together_is_refused() -> None:
    frame = households()
    income = {hid: i for i, hid in enumerate(frame["hid"].unique().sort())}
    tied = frame.with_columns(income=pl.col("hid").replace_strict(income))
    roles = {"household": "hid", "quasi": ["age", "region", "sex"], "sensitive": ["ill"]}
    with pytest.raises(
        sd.RequirementError, match="agree in 'income', and fewer than 3 households are published alike"
    ):
        sd.generalize(sd.read(tied, sd.Schema.from_roles(**roles, other=["income"])), sd.KAnonymity(3))
    gaps = tied.with_columns(income=pl.when(pl.int_range(pl.len()) % 4 == 0).then(None).otherwise("income"))
    with pytest.raises(sd.RequirementError, match="agree in 'income'"):
        sd.generalize(sd.read(gaps, sd.Schema.from_roles(**roles, other=["income"])), sd.KAnonymity(3))


def test_what_members_share_is_published_only_where_k_households_have_it_in_every_block() -> None:
    frame = households().drop("region")
    region = {hid: i % 20 for i, hid in enumerate(frame["hid"].unique().sort())}
    shared = frame.with_columns(region=pl.col("hid").replace_strict(region))
    roles = {"household": "hid", "quasi": ["age", "sex"], "sensitive": ["ill"]}
    with pytest.raises(sd.RequirementError, match="agree in 'region'"):
        sd.generalize(sd.read(shared, sd.Schema.from_roles(**roles, other=["region"])), sd.KAnonymity(3))
    coarse = shared.with_columns(pl.col("region") % 2, age=pl.col("age") // 45)
    release = sd.generalize(
        sd.read(coarse, sd.Schema.from_roles(**roles, other=["region"])), sd.KAnonymity(3)
    )
    assert release.frame().height == coarse.height


def test_a_value_that_is_certain_by_counting_is_not_published() -> None:
    often = pl.DataFrame(
        {"hid": ["a"] * 10 + ["b", "c"], "age": [30] * 12, "ill": ["HIV"] * 9 + ["x", "y", "z"]}
    )
    others = pl.DataFrame(
        {"hid": [f"o{i}" for i in range(40)], "age": [50] * 40, "ill": ["u", "v", "w", "HIV"] * 10}
    )
    schema = sd.Schema.from_roles(person="hid", quasi=["age"], sensitive=["ill"])
    table = sd.read(pl.concat([often, others]), schema)
    release = sd.generalize(table, [sd.KAnonymity(3), sd.LDiversity(3)])
    assert release.frame()["age"].n_unique() == 1  # the ten rows need company
    with pytest.raises(sd.RequirementError):
        sd.generalize(sd.read(often, schema), [sd.KAnonymity(3), sd.LDiversity(3)])


def test_what_ties_rows_together_only_with_other_columns_is_refused() -> None:
    numbers = np.random.default_rng(3)

    def agreed(share: float) -> list[int]:  # of 200 households of two, such a share has one of 15 values
        first, own = numbers.integers(15, size=(2, 200))
        second = np.where(numbers.random(200) < share, first, own)
        return [int(value) for pair in zip(first, second, strict=True) for value in pair]

    def people(share: float) -> sd.Table:
        columns = {"hid": [i // 2 for i in range(400)], "age": [30 + i % 2 for i in range(400)]}
        names = {"doctor": agreed(share), "school": agreed(share)}
        schema = sd.Schema.from_roles(household="hid", quasi=["age"], other=[*names])
        return sd.read(pl.DataFrame(columns | names), schema)

    assert sd.generalize(people(0.0), sd.KAnonymity(3)).holder["unit"]["looked_up"]["by_ties"]
    with pytest.raises(sd.RequirementError, match=r"agree in 'doctor', 'school'"):
        sd.generalize(people(0.7), sd.KAnonymity(3))


@pytest.mark.parametrize("role", ["unit", "quasi", "sensitive", "other"])
@pytest.mark.parametrize(
    "name", ["all", "len", "rows", "units", "unit", "alike", "value", "all rows", "\0all", "0"]
)
def test_columns_may_be_called_anything(role: str, name: str) -> None:
    names = {"unit": "pid", "quasi": "age", "sensitive": "ill", "other": "ward"} | {role: name}
    rows = [(i // 2, 30 + i % 2, "ab"[i // 4], "xy"[i % 2]) for i in range(8)]
    table = pl.DataFrame(rows, schema=list(names.values()), orient="row")
    schema = sd.Schema.from_roles(
        person=names["unit"], quasi=[names["quasi"]], sensitive=[names["sensitive"]], other=[names["other"]]
    )

    release = sd.generalize(sd.read(table, schema), [sd.KAnonymity(2), sd.LDiversity(2)])

    assert release.holder["unit"]["measured"]["k"] >= 2


@pytest.mark.parametrize(
    "ids",
    [
        ["A", "A "],
        ["A", "a"],
        ["A", "\u0410"],
        ["A", "A\u200b"],
        ["\uff21", "A"],
        [0.0, -0.0],
        [1.0, float("nan")],
    ],
)
@pytest.mark.parametrize("linked", [False, True])
def test_one_person_is_not_counted_for_two(ids: list[object], linked: bool) -> None:
    table = pl.DataFrame({"pid": ids, "age": [30, 30]})
    schema = sd.Schema.from_roles(person="pid", quasi=["age"], linked={"pid": linked})
    plan = sd.generalize(
        sd.read(pl.DataFrame({"pid": [1, 2], "age": [30, 30]}), schema), sd.KAnonymity(2)
    ).plan

    with pytest.raises(sd.InputError, match=r"look alike|missing"):
        sd.generalize(sd.read(table, schema), sd.KAnonymity(2))
    with pytest.raises(sd.InputError, match=r"look alike|missing"):
        sd.apply(plan, sd.read(table, schema))


def test_a_ledger_refuses_a_second_release_by_which_values_of_a_person_become_certain(tmp_path: Path) -> None:
    visits = {(30, "N"): [["hiv"] * 10], (30, "S"): [[*"bcdbcdbcda", "hiv"]] * 3}
    visits |= {(60, "N"): [[*"efgefgefga", "hiv"]] * 3, (60, "S"): [[*"abcdefg", "hiv"]] * 4}
    rows = [
        (f"{age}{place}{number}", age, place, ill)
        for (age, place), persons in visits.items()
        for number, ills in enumerate(persons)
        for ill in ills
    ]
    table = pl.DataFrame(rows, schema=["pid", "age", "zip", "ill"], orient="row")

    def release(known: str, dropped: str) -> sd.Release:
        schema = sd.Schema.from_roles(person="pid", quasi=[known], identifier=[dropped], sensitive=["ill"])
        return sd.generalize(sd.read(table, schema), [sd.KAnonymity(4), sd.LDiversity(2)], "mondrian")

    by_age, by_zip = release("age", "zip"), release("zip", "age")
    young, north = (
        Counter(rows.filter(pl.col(name).cast(pl.String) == value)["ill"])
        for rows, name, value in ((by_age.frame(), "age", "30"), (by_zip.frame(), "zip", "N"))
    )
    # The only young one in the north came ten times; for seven of these both blocks have nothing but HIV in common.
    assert (young & north).total() - (young & north)["hiv"] == 3

    ledger = sd.Ledger(tmp_path / "ledger.db")
    by_age.write(tmp_path / "by age", ledger=ledger, receiver="a")
    with pytest.raises(sd.RequirementError, match=r"protects persons .* no rule is known"):
        by_zip.write(tmp_path / "by zip", ledger=ledger, receiver="a")


@pytest.mark.parametrize("method", ["minimal", "full-domain"])
def test_no_more_records_are_left_out_than_are_allowed(method: str) -> None:
    rows = [(0, 99, "m")] * 90 + [(person, 30, "f") for person in range(1, 41)]
    trees = {"age": sd.Hierarchy.suppress([30, 99]), "sex": sd.Hierarchy.suppress(["f", "m"])}
    schema = sd.Schema.from_roles(person="pid", quasi=["age", "sex"], hierarchies=trees)
    table = sd.read(pl.DataFrame(rows, schema=["pid", "age", "sex"], orient="row"), schema)

    with pytest.raises(sd.RequirementError, match=r"90 of 130 records would be left out.*suppress=0\.693"):
        sd.generalize(table, sd.KAnonymity(3), method, suppress=0.1)
    assert sd.generalize(table, sd.KAnonymity(3), method, suppress=0.7).frame().height == 40


def test_a_row_that_is_nobodys_is_refused() -> None:
    frame = households().with_columns(hid=pl.when(pl.col("age") == 40).then(None).otherwise("hid"))
    with pytest.raises(sd.InputError, match="the household 'hid' is missing in some rows"):
        sd.generalize(sd.read(frame, SCHEMA), sd.KAnonymity(3))


def test_a_second_release_that_could_be_joined_with_that_of_households_is_refused(tmp_path: Path) -> None:
    """Whoever joins rows of both by what is passed on knows two blocks of each, and these have fewer households in common."""
    numbers = np.random.default_rng(4)
    frame = households(80).select("hid", "age", "sex")
    frame = frame.with_columns(pay=numbers.random(frame.height), own=numbers.random(frame.height))
    ledger = sd.Ledger(tmp_path / "ledger.db")

    def publish(name: str, quasi: list[str], passed: str, *, called: str = "") -> None:
        rows = frame.select("hid", *quasi, pl.col(passed).alias(called or passed))
        schema = sd.Schema.from_roles(household="hid", quasi=quasi, other=[called or passed], source="homes")
        sd.generalize(sd.read(rows, schema), sd.KAnonymity(3)).write(tmp_path / name, ledger=ledger)

    publish("first", ["age", "sex"], "pay")
    with pytest.raises(
        sd.RequirementError, match=r"Release 1 protects households .* second release of 'pay'"
    ):
        publish("second", ["age"], "pay")
    with pytest.raises(
        sd.RequirementError, match=r"Release 1 protects households .* second release of 'wage'"
    ):
        publish("third", ["age"], "pay", called="wage")
    publish("other", ["age"], "own")  # by which no row is joined


def test_verbs_that_protect_rows_one_by_one_refuse_units() -> None:
    table = sd.read(households(), SCHEMA)
    with pytest.raises(sd.InputError, match="generalize_views protects rows one by one"):
        sd.generalize_views(table, {"one": ["age"]}, sd.MultiViewDiversity(2))


# -- Differential privacy -----------------------------------------------------------------------------------


def of_persons(most: int | None = 3) -> sd.Schema:
    return sd.Schema.from_roles(
        person="pid",
        sensitive=["ill"],
        domains={"ill": ["yes", "no"]},
        missing="refuse",
        most_rows={} if most is None else {"pid": most},
    )


def visits(persons: int = 200, rows: int = 3) -> pl.DataFrame:
    return pl.DataFrame(
        {"pid": np.repeat(np.arange(persons), rows), "ill": ["yes", "no", "no"] * (persons * rows // 3)}
    )


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_noise_covers_all_rows_of_a_person(delta: float) -> None:
    asked = sd.DifferentialPrivacy(1.0, delta)
    several = sd.materialize(sd.read(visits(), of_persons()), asked, "identity", unsafe_seed=1)
    one = sd.materialize(sd.read(visits().select("ill"), sd.Schema.from_roles(
        sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse")), asked, "identity", unsafe_seed=1)  # fmt: skip
    assert several.spending.rows == 3
    assert several.spending.whole * (3 if delta == 0 else 9) == one.spending.whole
    assert several.certificate.unit == "person"
    assert "3 rows" in several.certificate.caveats[0]
    wide, narrow = several.count(ill="yes"), one.count(ill="yes")
    assert 2 < (wide.high - wide.low) / (narrow.high - narrow.low) < 4


def test_noise_for_persons_is_as_wide_as_it_must_be() -> None:
    """Whoever guesses from the answers whether a person with three rows took part wins no more than epsilon allows."""
    absent = visits(3).filter(pl.col("pid") > 0)
    schema = of_persons()
    outcomes = []
    for frame in (visits(3), absent):
        table = sd.read(frame, schema)
        own = [
            sd.materialize(table, sd.DifferentialPrivacy(1.0), "identity", unsafe_seed=seed).total
            for seed in range(400)
        ]
        outcomes.append(np.array(own))
    most = max(np.log((outcomes[0] >= t).mean() / (outcomes[1] >= t).mean()) for t in range(5, 10))
    assert most < 1.0 + 0.35


def test_rows_beyond_the_most_are_left_out() -> None:
    table = sd.read(visits(rows=6), of_persons(2))
    pview = sd.materialize(table, sd.DifferentialPrivacy(1000.0), "identity")
    assert abs(pview.total - 400) < 2
    with pytest.raises(sd.InputError, match="Declare most_rows for it"):
        sd.materialize(sd.read(visits(), of_persons(None)), sd.DifferentialPrivacy(1.0))


def test_a_p_view_of_persons_is_verified_with_its_rows(tmp_path: Path) -> None:
    pview = sd.materialize(sd.read(visits(), of_persons()), sd.DifferentialPrivacy(1.0))
    pview.write(tmp_path / "out")
    folder = tmp_path / "out" / "hand-over"
    assert sd.verify(folder, sd.DifferentialPrivacy(1.0)).holds
    again = sd.PView.open(folder)
    assert again.spending == pview.spending
    combined = sd.combine(
        [pview, sd.materialize(sd.read(visits(), of_persons()), sd.DifferentialPrivacy(1.0))]
    )
    assert combined.certificate.measured["epsilon"] == 2.0
    assert combined.certificate.unit == "person"
    with pytest.raises(sd.InputError, match="protect different numbers of rows"):
        sd.combine([pview, sd.materialize(sd.read(visits(), of_persons(2)), sd.DifferentialPrivacy(1.0))])


def test_a_design_is_for_tables_that_protect_as_many_rows() -> None:
    design = sd.materialize(sd.read(visits(), of_persons()), sd.DifferentialPrivacy(1.0)).design
    assert design.rows == 3
    with pytest.raises(sd.InputError, match="5 rows are protected together at most, and by the design 3"):
        sd.apply(design, sd.read(visits(), of_persons(5)))


def test_a_ledger_does_not_add_epsilons_of_persons_to_epsilons_of_rows(tmp_path: Path) -> None:
    ledger = sd.Ledger(tmp_path / "ledger.jsonl")
    asked = sd.DifferentialPrivacy(0.5)
    rows = sd.Schema.from_roles(
        identifier=["pid"], sensitive=["ill"], domains={"ill": ["yes", "no"]}, missing="refuse"
    )
    sd.materialize(sd.read(visits(), rows), asked, ledger=ledger)
    with pytest.raises(sd.SudareError, match="counts its epsilon in rows, and this one in persons"):
        sd.materialize(sd.read(visits(), of_persons()), asked, ledger=ledger)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_row_number_that_keeps_households_together_is_refused(shuffled: bool) -> None:
    """Members stand next to each other in a survey's file, and so they do in the order of its row numbers."""
    frame = households(300)
    frame = (frame.sample(fraction=1, shuffle=True, seed=1) if shuffled else frame).with_row_index("row")
    own = sd.Schema(attributes={**SCHEMA.attributes, "row": sd.Attribute(role="other")})
    if shuffled:
        assert "row" in sd.generalize(sd.read(frame, own), sd.KAnonymity(3)).frame().columns
        return
    with pytest.raises(sd.RequirementError, match="In the order of 'row'"):
        sd.generalize(sd.read(frame, own), sd.KAnonymity(3))


@pytest.mark.parametrize("twin", ["h1 ", " h1", "ｈ1"])
def test_identifiers_that_only_look_different_are_refused(twin: str) -> None:
    frame = households(60)
    own = frame.with_columns(
        hid=pl.when(pl.int_range(frame.height) == 0).then(pl.lit(twin)).otherwise(pl.col("hid")),
    )
    own = own.with_columns(
        hid=pl.when(pl.int_range(frame.height) == 1).then(pl.lit("h1")).otherwise(pl.col("hid"))
    )
    with pytest.raises(sd.InputError, match="look alike"):
        sd.generalize(sd.read(own, SCHEMA), sd.KAnonymity(3))
