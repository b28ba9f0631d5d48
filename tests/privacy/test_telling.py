"""Columns that tell what is generalized beside them are warned of; others are not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sudare as sd
from sudare.privacy.telling import telling_columns
from sudare.privacy.uniqueness import joining_columns
from sudare.studio.translated import translated


def people(seed: int = 1) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    age = numbers.integers(20, 60, 400)
    return pl.DataFrame(
        {"age": age, "sex": numbers.choice(["f", "m"], 400), "ill": numbers.integers(0, 4, 400)}
    )


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (2020 - pl.col("age"), ["age"]),  # the year of birth
        (pl.col("age") // 2, []),  # half of it
        (pl.when(pl.int_range(pl.len()) % 50 == 0).then(None).otherwise("age"), ["age"]),  # with gaps
        (pl.col("sex").str.to_uppercase() + pl.col("ill").cast(pl.String), ["sex"]),
        (pl.col("ill"), []),
        (pl.int_range(pl.len()), []),  # of one record each: other warnings are for these
        (pl.lit("x"), []),
    ],
)
def test_what_follows_from_a_column_is_warned_of(column: pl.Expr, told: list[str]) -> None:
    frame = people().with_columns(own=column)
    schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"], other=["own"])
    warnings = telling_columns(sd.read(frame, schema), frame.columns)
    assert [one.split("'")[3] for one in warnings] == told
    if told:
        assert warnings[0].startswith("'own' is published as it is, and tells")


def test_the_holder_is_warned_when_a_release_is_made() -> None:
    frame = people().with_columns(born=2020 - pl.col("age"))
    schema = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["ill"], other=["born"])
    release = sd.generalize(sd.read(frame, schema), sd.KAnonymity(3))
    assert any("tells 'age'" in one for one in release.holder["warnings"])


def test_a_quasi_attribute_that_nearly_all_have_is_not_told() -> None:
    frame = people().with_columns(here=pl.lit("yes"), own=pl.col("ill"))
    schema = sd.Schema.from_roles(quasi=["here"], other=["own"], identifier=["age", "sex", "ill"])
    assert telling_columns(sd.read(frame, schema), frame.columns) == []


def test_an_id_that_each_two_rows_share_joins_tables_whatever_it_is_called() -> None:
    """And so does one of each three; what many rows share does not."""
    n = 600
    frame = pl.DataFrame(
        {
            "age": [20 + i % 40 for i in range(n)],
            "zq": [f"v{i // 2}" for i in range(n)],
            "wx": [i // 3 for i in range(n)],
            "kind": [i // 4 for i in range(n)],
            "few": [f"v{i}" if i < 0.4 * n else "none" for i in range(n)],
        }
    )
    table = sd.read(frame, sd.Schema.from_roles(quasi=["age"], other=["zq", "wx", "kind", "few"]))
    said = joining_columns(table, list(table.columns))
    assert [text.split("'")[1] for text in said] == ["few", "zq", "wx"]
    assert "240 of 600 records are alone with their value" in said[0]
    for text in said[1:]:
        assert "600 of 600 records share their value with at most 2 others" in text
    assert {text for text in said if translated(text, "ja") == text} == set()
    warned = sd.generalize(table, sd.KAnonymity(3), method="mondrian").holder["warnings"]
    assert set(said) <= set(warned)
