"""Numbers beside ranges: what they must be by the original, that blocks stay what they are, and what is refused."""

from __future__ import annotations

import itertools
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.tables.copies import Format

ENDS, MEANS = {"age": "ends"}, {"age": "means"}
COPIES: tuple[Format, ...] = ("xlsx", "ods", "dta", "sav", "json")


def people(rows: int = 400, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    ages = pl.Series("age", rng.integers(18, 90, rows))
    ages = pl.select(pl.when(pl.Series(rng.random(rows)) < 0.02).then(None).otherwise(ages).alias("age"))
    return ages.with_columns(
        sex=pl.Series(rng.choice(["f", "m"], rows)), ill=pl.Series(rng.choice(["flu", "cold", "gout"], rows))
    )


def schema(numbers: Any, **more: Any) -> sd.Schema:
    ages = sd.Hierarchy.intervals(range(121), width=5)
    return sd.Schema.from_roles(
        quasi=["age", "sex"], sensitive=["ill"], hierarchies={"age": ages}, numbers=numbers, **more
    )


def ends(label: str | None) -> tuple[float | None, float | None]:
    if label is None or label == "*":
        return None, None
    if label.startswith("["):
        low, high = label.strip("[)]").split(", ")
        return float(low), float(high)
    return float(label), float(label)


def width(label: str | None) -> float:
    """Return the width of a range; of a single value one that asks for it exactly."""
    low, high = ends(label)
    return ((high or 0) - (low or 0)) or 1e-9


def of_block(original: pl.DataFrame, age: str | None, sex: str) -> list[int]:
    """Return the ages of everybody whom a block's labels can speak of."""
    low, high = ends(age)
    rows = original.drop_nulls("age").filter(pl.col("sex").is_in([sex] if sex != "*" else ["f", "m"]))
    assert low is not None
    assert high is not None
    return rows.filter((pl.col("age") >= low) & ((pl.col("age") < high) | (pl.col("age") == low)))[
        "age"
    ].to_list()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("method", ["minimal", "mondrian", "full-domain"])
def test_ends_are_those_of_their_labels(method: str, engine: Any) -> None:
    release = sd.generalize(sd.read(people(), schema(ENDS), engine=engine), sd.KAnonymity(5), method)
    frame = release.frame()
    assert frame.columns == ["age", "age_low", "age_high", "sex", "ill"]
    assert [ends(label) for label in frame["age"]] == frame.select("age_low", "age_high").rows()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_means_are_those_of_their_blocks(engine: Any) -> None:
    """By full-domain recoding a block is everybody whom its labels speak of: its mean follows from them."""
    original = people().drop_nulls()
    release = sd.generalize(sd.read(original, schema(MEANS), engine=engine), sd.KAnonymity(5), "full-domain")
    blocks = release.frame().group_by("age", "sex").agg(pl.col("age_mean").unique(), records=pl.len())
    told = 0
    for age, sex, means, records in blocks.rows():
        (mean,) = means
        low, high = ends(age)
        if low is None or high is None:
            assert mean is None
            continue
        ages = of_block(original, age, sex)
        assert len(ages) == records
        grain = 10 ** (math.floor(math.log10(width(age))) - 2)
        assert abs(mean - math.fsum(ages) / records) <= grain / 2 + 1e-9
        told += 1
    assert told > 5


def test_blocks_have_one_mean_which_brute_force_finds_possible() -> None:
    """A mean is that of the original people who have some of its labels, as many as the block has."""
    original = people(40, seed=3)
    release = sd.generalize(sd.read(original, schema(MEANS)), sd.KAnonymity(4))
    frame = release.frame()
    for (age, sex), block in frame.group_by("age", "sex"):
        assert block["age_mean"].n_unique() == 1
        mean = block["age_mean"][0]
        if mean is None:
            continue
        possible = itertools.combinations(of_block(original, str(age), str(sex)), block.height)
        grain = 10 ** (math.floor(math.log10(width(str(age)))) - 2)
        assert any(abs(sum(one) / len(one) - mean) <= grain / 2 + 1e-9 for one in possible)
    counts = frame.group_by("age", "age_mean", "sex").len()["len"]
    assert counts.min() >= 4  # type: ignore[operator]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("method", ["minimal", "mondrian", "mdav"])
def test_means_are_those_of_the_rows_that_are_published(method: str, engine: Any) -> None:
    """Whose row is whose, a column tells that no release should have; equal people may be in several blocks."""
    original = people(300, seed=6).with_columns(pl.col("age") // 8 * 8).with_row_index("row")
    own = schema(MEANS)
    own = sd.Schema(attributes={**own.attributes, "row": sd.Attribute(role="other")})
    release = sd.generalize(
        sd.read(original, own, engine=engine), [sd.KAnonymity(4), sd.LDiversity(2)], method
    )
    frame = release.frame().join(original.select("row", true="age"), on="row")
    told = 0
    for (age, _), block in frame.group_by("age", "sex"):
        mean = block["age_mean"][0]
        if mean is not None:
            grain = 10 ** (math.floor(math.log10(width(str(age)))) - 2)
            assert abs(mean - block["true"].mean()) <= grain / 2 + 1e-9
            told += block.height
    assert told > 100


def test_engines_and_orders_of_rows_give_the_same_means() -> None:
    releases = [
        sd.generalize(sd.read(one, schema(MEANS), engine=engine), sd.KAnonymity(5), "mondrian").frame()
        for one, engine in ((people(), "memory"), (people().reverse(), "memory"), (people(), "duckdb"))
    ]
    assert releases[0].equals(releases[1])
    assert releases[0].equals(releases[2])


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [ENDS, MEANS], ids=["ends", "means"])
@pytest.mark.parametrize("method", ["minimal", "mondrian", "full-domain"])
def test_spark_publishes_the_same_numbers(method: str, numbers: Any, spark: Any) -> None:
    memory, own = (
        sd.generalize(sd.read(people(120), schema(numbers), engine=engine), sd.KAnonymity(4), method).frame()
        for engine in ("memory", spark)
    )
    assert own.schema == memory.schema
    assert own.equals(memory)


@pytest.mark.parametrize("numbers", [ENDS, MEANS])
def test_ranges_of_the_data_have_numbers_too(numbers: Any) -> None:
    """Without a hierarchy numbers are halved again and again, and the ends of a range are both in it."""
    own = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"], numbers=numbers)
    frame = sd.generalize(sd.read(people(), own), sd.KAnonymity(8)).frame()
    assert frame["age"].str.contains(r"\[\d+, \d+\]").any()
    if numbers == ENDS:
        assert [ends(label) for label in frame["age"]] == frame.select("age_low", "age_high").rows()
    else:
        assert frame.filter(pl.col("age").str.starts_with("["))["age_mean"].null_count() == 0


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("numbers", [ENDS, MEANS])
def test_what_is_written_is_verified_in_every_format(tmp_path: Path, numbers: Any) -> None:
    release = sd.generalize(sd.read(people(), schema(numbers)), [sd.KAnonymity(5), sd.LDiversity(2)])
    release.write(tmp_path / "out", formats=COPIES)
    verified = sd.verify(tmp_path / "out")
    assert verified.holds
    assert {*verified.roles} == {*release.frame().columns}
    assert sd.verify(tmp_path / "out/hand-over/data.csv", sd.KAnonymity(5), release.schema).holds
    assert 0 < release.holder["utility"]["numbers"]["age"]["lost"] < 1
    assert "Numbers beside ranges" in release.report
    assert sd.evidence(tmp_path / "out", by="A. Holder")


def test_a_saved_plan_gives_other_rows_their_own_means(tmp_path: Path) -> None:
    release = sd.generalize(sd.read(people(), schema(MEANS)), sd.KAnonymity(5), "mondrian")
    release.plan.save(tmp_path / "plan")
    others = pl.concat([people(), people().sort("age")[:200]])
    frame = sd.apply(sd.Plan.open(tmp_path / "plan"), sd.read(others, schema(MEANS))).frame()
    both = [one.group_by("age", "sex").agg(pl.col("age_mean").unique()) for one in (release.frame(), frame)]
    assert all(one["age_mean"].list.len().max() == 1 for one in both)
    assert both[0]["age"].sort().equals(both[1]["age"].sort())
    assert not both[0].sort("age", "sex").equals(both[1].sort("age", "sex"))


def test_means_lose_less_of_the_variance_than_the_middles_of_ranges() -> None:
    lost = {
        one: sd.generalize(sd.read(people(300), schema({"age": one})), sd.KAnonymity(8)).holder["utility"][
            "numbers"
        ]["age"]["lost"]
        for one in ("ends", "means")
    }
    assert lost["means"] < lost["ends"]


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("age_low", pl.col("age_low") - 1),
        ("age_high", pl.lit(None, dtype=pl.Float64)),
        ("age_mean", pl.col("age_mean") + 0.001),
        ("age_mean", pl.lit(300.0)),
        ("age_mean", pl.Series("age_mean", np.linspace(20, 60, 400).round(1))),
        ("age_mean", pl.col("age_mean").fill_null(50.0)),
    ],
)
def test_other_numbers_are_refused(column: str, change: Any) -> None:
    """A number that its label does not have may be a person's, and one that differs within a block tells people apart."""
    numbers = MEANS if column == "age_mean" else ENDS
    release = sd.generalize(sd.read(people(), schema(numbers)), sd.KAnonymity(5))
    frame = release.frame().with_columns(change.alias(column))
    with pytest.raises(sd.RequirementError, match=r"not its ends|told apart|as the mean of"):
        sd.verify(frame, sd.KAnonymity(5), release.schema)


def test_a_mean_of_two_is_refused() -> None:
    frame = pl.DataFrame(
        {"age": ["[20, 30)"] * 2, "age_mean": [25.0] * 2, "sex": ["f"] * 2, "ill": ["a", "b"]}
    )
    with pytest.raises(sd.RequirementError, match="as the mean of 2 records"):
        sd.verify(frame, sd.KAnonymity(2), schema(MEANS))
    pair = people(2, seed=5).with_columns(sex=pl.lit("f"), age=pl.Series([21, 23]))
    assert sd.generalize(sd.read(pair, schema(MEANS)), sd.KAnonymity(2)).frame()["age_mean"].to_list() == [
        None,
        None,
    ]


def test_a_folder_without_its_numbers_is_refused(tmp_path: Path) -> None:
    release = sd.generalize(sd.read(people(), schema(ENDS)), sd.KAnonymity(5))
    release.write(tmp_path / "out")
    plain = sd.generalize(sd.read(people(), schema(None)), sd.KAnonymity(5))
    plain.write(tmp_path / "plain")
    shutil.copy(tmp_path / "plain/hand-over/data.parquet", tmp_path / "out/hand-over/data.parquet")
    with pytest.raises(sd.RequirementError):
        sd.verify(tmp_path / "out")


def test_a_ledger_refuses_means_beside_other_blocks_of_the_attribute(tmp_path: Path) -> None:
    """Two blocks that share all but one person tell that person's value by their means."""
    ledger = sd.Ledger(tmp_path / "ledger.db")
    original = people()
    sd.generalize(sd.read(original, schema(MEANS, source="p")), sd.KAnonymity(5)).write(
        tmp_path / "1", ledger=ledger
    )
    again = sd.generalize(sd.read(original, schema(MEANS, source="p")), sd.KAnonymity(5))
    again.write(tmp_path / "same", ledger=ledger)  # the same blocks tell nothing new
    for number, one in enumerate((schema(MEANS, source="p"), schema(None, source="p"))):
        other = sd.generalize(sd.read(original[:-1], one), sd.KAnonymity(7))
        with pytest.raises(sd.RequirementError, match="means of its blocks"):
            other.write(tmp_path / f"other{number}", ledger=ledger)


def test_linked_households_have_ends_and_no_means() -> None:
    frame = people(120).with_columns(hid=pl.int_range(120) // 2)
    own = {"household": "hid", "linked": {"hid": True}}
    rows = sd.generalize(sd.read(frame, schema(ENDS, **own)), sd.KAnonymity(3)).frame()
    assert [ends(label) for label in rows["age"].cast(pl.String)] == rows.select("age_low", "age_high").rows()
    for linked in (own, {"household": "hid"}):
        with pytest.raises(sd.InputError, match="means of 'age' would be those of rows"):
            sd.generalize(sd.read(frame, schema(MEANS, **linked)), sd.KAnonymity(3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"quasi": ["age", "age_low"], "numbers": ENDS}, "is called so"),
        ({"quasi": ["age"], "identifier": ["Age_Mean"], "numbers": MEANS}, "is called so"),
        ({"other": ["age"], "numbers": ENDS}, "only ranges of a quasi attribute"),
        ({"quasi": ["age"], "types": {"age": "date"}, "numbers": ENDS}, "is of type 'date'"),
        ({"quasi": ["age"], "numbers": {"age": "median"}}, "must be 'ends' or 'means'"),
    ],
)
def test_what_cannot_have_numbers_is_refused(given: Any, message: str) -> None:
    with pytest.raises(sd.InputError, match=message):
        sd.Schema.from_roles(**given)


def test_labels_that_are_no_ranges_are_refused() -> None:
    texts = sd.Schema.from_roles(quasi=["sex"], numbers={"sex": "ends"})
    with pytest.raises(sd.InputError, match="'sex' has no numbers"):
        sd.generalize(sd.read(people().select("sex"), texts), sd.KAnonymity(2))
    groups = {"age": sd.Hierarchy.groups({age: "young" if age < 50 else "old" for age in range(121)})}
    own = sd.Schema.from_roles(quasi=["age"], hierarchies=groups, numbers=ENDS)
    with pytest.raises(sd.InputError, match=r"'(young|old)' is no range"):
        sd.generalize(sd.read(people().select("age"), own), sd.KAnonymity(20))
    with pytest.raises(sd.InputError, match="views list values"):
        sd.generalize_views(
            sd.read(people(), schema(ENDS)), {"a": ["age"], "b": ["sex"]}, sd.MultiViewDiversity(2)
        )


def test_numbers_say_nothing_to_other_verbs(tmp_path: Path) -> None:
    own = sd.Schema.from_roles(quasi=["age"], sensitive=["ill"], bounds={"age": (0, 120)}, numbers=ENDS)
    frame = people().drop("sex").drop_nulls()
    domain = own.model_copy(
        update={
            "attributes": {
                **own.attributes,
                "ill": sd.Attribute(role="sensitive", domain=("flu", "cold", "gout")),
            }
        }
    )
    release = sd.randomize(sd.read(frame, domain), sd.PkAnonymity(5))
    release.write(tmp_path / "out")
    assert sd.verify(tmp_path / "out").holds


def test_the_schema_reads_what_it_writes(tmp_path: Path) -> None:
    own = schema(MEANS)
    (tmp_path / "sudare.toml").write_text(own.to_toml())
    assert sd.Schema.from_toml(tmp_path / "sudare.toml") == own
    assert own.beside() == {"age_mean": "age"}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_column_of_the_source_that_is_called_like_them_is_not_mentioned(engine: Any) -> None:
    """Else it would be published as it is, and its values be taken for ends."""
    with pytest.raises(sd.InputError, match="does not mention 'age_low'"):
        sd.read(people().with_columns(age_low=pl.col("age")), schema(ENDS), engine=engine)
