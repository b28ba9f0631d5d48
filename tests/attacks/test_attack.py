from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare as sd
from sudare.attacks.attack import KINDS, attack, attack_all
from tests.attacks.inpatients import ORIGINAL, PUBLISHED, SCHEMA

ROLES = sd.Schema.from_roles(quasi=["age", "town"], sensitive=["illness"])
THIRTIES = {"zip": "130**", "age": "3*", "nationality": "*"}
YOUNG = {"zip": "130**", "age": "< 30", "nationality": "*"}

Rows = list[tuple[str | None, str | None, str | None]]
rows = st.lists(
    st.tuples(
        st.sampled_from(["[20, 30)", "*", None]),
        st.sampled_from(["Ayr", None]),
        st.sampled_from(["flu", "HIV", "cancer", "cough", None]),
    ),
    min_size=1,
    max_size=25,
)


def frame_of(records: Rows) -> pl.DataFrame:
    return pl.DataFrame(records, schema=dict.fromkeys(("age", "town", "illness"), pl.String), orient="row")


def blocks_of(records: Rows) -> dict[tuple[Any, ...], Counter[Any]]:
    blocks: dict[tuple[Any, ...], Counter[Any]] = {}
    for age, town, illness in records:
        blocks.setdefault((age, town), Counter())[illness] += 1
    return blocks


# -- the paper's table ---------------------------------------------------------------------------


def test_homogeneity_of_the_inpatients() -> None:
    """Bob, 31, zip 13053: everybody in his block has cancer."""
    learned = attack(PUBLISHED, SCHEMA, kind="homogeneity")
    (worst,) = learned.by_attribute["condition"].worst
    assert (worst.block, worst.value, worst.size) == (THIRTIES, "Cancer", 4)
    assert learned.summary() == {"condition": {"blocks": 1, "records": 4, "share": 1 / 3}}
    assert str(learned) == (
        "condition: 1 block with 4 records (33.3%) shares one value. The largest: zip 130**, age 3*, "
        "nationality *: 4 records with 'Cancer'."
    )


def test_background_knowledge_about_the_inpatients() -> None:
    """Umeko, 21, zip 13068, is Japanese: without heart disease, a viral infection remains."""
    young = PUBLISHED.filter(pl.col("age") == "< 30")
    belief = attack(young, SCHEMA, kind="background", known=1).by_attribute["condition"]
    assert (belief.posterior, belief.count, belief.remaining, belief.block) == (1.0, 2, 2, YOUNG)
    whole = [
        attack(PUBLISHED, SCHEMA, kind="background", known=m).by_attribute["condition"] for m in (0, 1, 2)
    ]
    assert [belief.certain for belief in whole] == [4, 8, 12]
    old = PUBLISHED.filter(pl.col("age") == ">= 40")
    assert [attack(old, SCHEMA, kind="background", known=m).posterior for m in (0, 1, 2)] == [
        1 / 2,
        2 / 3,
        1.0,
    ]


def test_the_inpatients_before_and_after() -> None:
    before, after = (attack(frame, SCHEMA, kind="reidentification") for frame in (ORIGINAL, PUBLISHED))
    assert (before.prosecutor.largest, before.prosecutor.at_risk, before.marketer) == (1.0, 12, 1.0)
    assert (after.prosecutor.largest, after.prosecutor.at_risk, after.marketer) == (0.25, 12, 0.25)
    assert attack(PUBLISHED, SCHEMA, kind="reidentification", threshold=0.25).prosecutor.at_risk == 0
    assert attack(ORIGINAL, SCHEMA).share == 1.0


def test_skewness_of_the_inpatients() -> None:
    learned = attack(PUBLISHED, SCHEMA, kind="skewness").by_attribute["condition"]
    assert (learned.ratio.amount, learned.ratio.value, learned.ratio.block) == (12 / 5, "Cancer", THIRTIES)
    assert (learned.difference.amount, learned.difference.share, learned.difference.overall) == (
        7 / 12,
        1.0,
        5 / 12,
    )


# -- twins ---------------------------------------------------------------------------------------


@given(rows)
def test_homogeneity_by_counting(records: Rows) -> None:
    learned = attack(frame_of(records), ROLES).by_attribute["illness"]
    alone = [block for block in blocks_of(records).values() if len(block) == 1]
    assert learned.blocks == len(alone)
    assert learned.records == sum(block.total() for block in alone)
    assert learned.share == learned.records / len(records)
    assert [worst.size for worst in learned.worst] == sorted((b.total() for b in alone), reverse=True)[:5]
    for worst in learned.worst:
        assert blocks_of(records)[tuple(worst.block.values())] == {worst.value: worst.size}


@given(rows, st.integers(0, 5))
def test_background_by_trying_every_value(records: Rows, known: int) -> None:
    """Also that the most frequent value is the one believed most: here every value is tried."""
    best, certain = Fraction(0), 0
    for block in blocks_of(records).values():
        certain += block.total() if len(block) <= known + 1 else 0
        for value, count in block.items():
            others = sorted((c for v, c in block.items() if v != value), reverse=True)[:known]
            best = max(best, Fraction(count, block.total() - sum(others)))
    learned = attack(frame_of(records), ROLES, kind="background", known=known).by_attribute["illness"]
    assert Fraction(learned.count, learned.remaining) == best
    assert learned.posterior == float(best)
    assert (learned.certain, learned.share) == (certain, certain / len(records))
    assert blocks_of(records)[tuple(learned.block.values())][learned.value] == learned.count


@given(rows, st.integers(1, 5))
def test_skewness_by_trying_every_pair(records: Rows, floor: int) -> None:
    overall = Counter(illness for _, _, illness in records)
    pairs = {
        (key, value): (Fraction(block[value], block.total()), Fraction(overall[value], len(records)))
        for key, block in blocks_of(records).items()
        if block.total() >= floor
        for value in overall
    }
    learned = attack(frame_of(records), ROLES, kind="skewness", floor=floor).by_attribute["illness"]
    if not pairs:
        assert learned.ratio is learned.difference is None
        return
    assert learned.ratio.amount == float(max(share / whole for share, whole in pairs.values()))
    assert learned.difference.amount == float(max(abs(share - whole) for share, whole in pairs.values()))
    for skew in (learned.ratio, learned.difference):
        share, whole = pairs[tuple(skew.block.values()), skew.value]
        assert (skew.share, skew.overall) == (float(share), float(whole))


@given(rows, rows, st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0]))
def test_reidentification_by_counting(records: Rows, others: Rows, threshold: float) -> None:
    frame, everybody = frame_of(records), frame_of([*records, *others])
    sizes = {key: block.total() for key, block in blocks_of(records).items()}
    people = {key: block.total() for key, block in blocks_of([*records, *others]).items()}
    learned = attack(frame, ROLES, kind="reidentification", threshold=threshold, population=everybody)
    mean = sum(Fraction(size, people[key]) for key, size in sizes.items()) / len(records)
    assert learned.prosecutor.largest == 1 / min(sizes.values())
    assert learned.prosecutor.mean == len(sizes) / len(records)
    assert learned.prosecutor.at_risk == sum(s for s in sizes.values() if 1 / s > threshold)
    assert learned.journalist.largest == 1 / min(people[key] for key in sizes)
    assert learned.journalist.mean == learned.marketer == pytest.approx(float(mean))
    assert learned.population == len(everybody)
    own = attack(frame, ROLES, kind="reidentification", threshold=threshold)
    assert own.journalist == own.prosecutor
    assert own.marketer == len(sizes) / len(records)


# -- the verb ------------------------------------------------------------------------------------


def test_several_sensitive_attributes() -> None:
    schema = sd.Schema.from_roles(quasi=["zip"], sensitive=["illness", "pay"])
    frame = pl.DataFrame({"zip": ["1", "1", "2"], "illness": ["flu", "flu", "HIV"], "pay": [10, 20, 30]})
    learned = attack(frame, schema)
    assert {name: part.records for name, part in learned.by_attribute.items()} == {"illness": 3, "pay": 1}
    assert learned.share == 1.0
    assert str(learned).count("\n") == 1


def test_a_missing_value_is_a_value() -> None:
    frame = frame_of([("*", "Ayr", None), ("*", "Ayr", None), (None, "Ayr", "flu"), ("null", "Ayr", "HIV")])
    learned = attack(frame, ROLES)
    assert learned.by_attribute["illness"].blocks == 3
    assert "2 records with '(missing)'" in str(learned)


def test_without_quasi_attributes_all_records_are_one_block() -> None:
    schema = sd.Schema.from_roles(sensitive=["illness"])
    frame = pl.DataFrame({"illness": ["flu", "flu", "HIV"]})
    assert attack(frame, schema, kind="background", known=0).posterior == 2 / 3
    learned = attack(frame, schema, kind="reidentification", population=frame)
    assert (learned.prosecutor.largest, learned.journalist.largest) == (1 / 3, 1 / 3)


def test_columns_may_have_any_name() -> None:
    schema = sd.Schema.from_roles(quasi=["size", "block"], sensitive=["value"], other=["count"])
    frame = pl.DataFrame({"size": [1, 1], "block": ["a", "a"], "value": [1.5, None], "count": [1, 2]})
    assert attack_all(frame, schema)["homogeneity"]["value"]["blocks"] == 0


def test_files_and_folders_look_like_the_frame(tmp_path: Path) -> None:
    frame = ORIGINAL.with_columns(condition=pl.when(pl.col("age") > 30).then("condition"))
    (tmp_path / "release").mkdir()
    frame.write_csv(tmp_path / "data.csv")
    frame.write_parquet(tmp_path / "release" / "data.parquet")
    expected = attack_all(frame, SCHEMA)
    assert attack_all(tmp_path / "data.csv", SCHEMA) == expected
    assert attack_all(str(tmp_path / "release"), SCHEMA) == expected
    with pytest.raises(sd.InputError, match=r"none.csv: the output cannot be read"):
        attack(tmp_path / "none.csv", SCHEMA)


def test_all_is_plain_data_and_names_nobody() -> None:
    figures = attack_all(PUBLISHED, SCHEMA)
    assert list(figures) == [kind for kind in KINDS if kind != "proximity"]  # it needs a width
    text = json.dumps(figures)
    assert json.loads(text) == figures
    assert "130**" not in text
    assert "Cancer" not in text
    quasi_only = sd.Schema.from_roles(quasi=["zip", "age"])
    assert list(attack_all(PUBLISHED, quasi_only)) == ["reidentification"]


def test_results_are_told_in_words() -> None:
    told = {kind: str(attack(PUBLISHED, SCHEMA, kind=kind)) for kind in KINDS}
    assert "for 8 records (66.7%) it becomes certain" in told["background"]
    assert "12 of 12 records (100.0%) are above 20%" in told["reidentification"]
    assert "'Cancer' is 2.40 times as frequent at zip 130**, age 3*, nationality *" in told["skewness"]
    assert (
        str(attack(PUBLISHED, SCHEMA, kind="skewness", floor=5))
        == "condition: no block has 5 records or more."
    )
    varied = PUBLISHED.with_columns(condition=pl.Series(["Flu", "Cough"] * 6))
    assert str(attack(varied, SCHEMA)) == "condition: no block shares one value."
    apart = attack(PUBLISHED, SCHEMA, kind="reidentification", population=pl.concat([PUBLISHED] * 2))
    assert "12.5% at most, 12.50% on average, in a population of 24 people" in str(apart)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kind": "guess"},
            "must be one of homogeneity, background, reidentification, skewness, proximity, population, k_map, presence, intersection, composition, minimality, "
            "downcoding, definetti, households, law, pk_game. Got 'guess'",
        ),
        (
            {"kind": "homogeneity", "known": 2},
            "The homogeneity attack has no option 'known'. Its options: harmless",
        ),
        ({"kind": "skewness", "flor": 2}, "The skewness attack has no option 'flor'. Its options: floor"),
        ({"kind": "skewness", "floor": 0}, "'floor' parameter of the skewness attack must be 1 or more"),
        (
            {"kind": "background", "known": -1},
            "'known' parameter of the background attack must be a whole number of 0 or more",
        ),
        (
            {"kind": "reidentification", "threshold": 2},
            "'threshold' parameter of the reidentification attack",
        ),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sd.ParameterError, match=message):
        attack(PUBLISHED, SCHEMA, **options)


def test_wrong_outputs_are_refused() -> None:
    with pytest.raises(sd.InputError, match="no column 'age', which the schema calls quasi"):
        attack(PUBLISHED.drop("age"), SCHEMA)
    with pytest.raises(sd.InputError, match="no column 'condition', which the schema calls sensitive"):
        attack(PUBLISHED.drop("condition"), SCHEMA)
    with pytest.raises(sd.InputError, match="empty; there is nothing to attack"):
        attack(PUBLISHED.clear(), SCHEMA)
    with pytest.raises(sd.InputError, match="no sensitive attribute; the homogeneity attack needs one"):
        attack(PUBLISHED, sd.Schema.from_roles(quasi=["zip"]))
    small = PUBLISHED.filter(pl.col("age") != "3*")
    with pytest.raises(
        sd.InputError, match=r"population has 0 people at zip 130\*\*, age 3\*, .* the output 4"
    ):
        attack(PUBLISHED, SCHEMA, kind="reidentification", population=small)


def test_adult_before_and_after(data_folder: Path) -> None:
    names = ["age", "sex", "race", "marital-status"]
    files = data_folder / "arx_hierarchies"
    hierarchies = {n: sd.Hierarchy.from_csv(files / f"adult_hierarchy_{n}.csv") for n in names}
    schema = sd.Schema.from_roles(quasi=names, sensitive=["occupation"], hierarchies=hierarchies)
    table = sd.read(pl.read_csv(files / "adult.csv", separator=";").select(*names, "occupation"), schema)
    release = sd.generalize(table, sd.KAnonymity(10))
    before, after = attack_all(table.frame(), schema), attack_all(release.frame(), schema)
    assert before["reidentification"]["prosecutor"]["largest"] == 1.0
    assert after["reidentification"]["prosecutor"]["largest"] == 1 / release.certificate.measured["k"]
    assert after["reidentification"]["blocks"] == release.certificate.utility["blocks"]
    assert after["homogeneity"]["occupation"]["share"] < before["homogeneity"]["occupation"]["share"]
    assert after["background"]["by_attribute"]["occupation"]["posterior"] <= 1
    assert (
        after["skewness"]["by_attribute"]["occupation"]["ratio"]
        <= before["skewness"]["by_attribute"]["occupation"]["ratio"]
    )
