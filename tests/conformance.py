"""What every method that publishes a table must pass, whatever it does inside.

A method's test module calls `conform(method)` with a function from a table and a requirement to a Release.
Measures are recomputed here with plain Python, from the published frame alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sudare as sd

Method = Callable[[sd.Table, sd.KAnonymity], sd.Release]

SCHEMA = sd.Schema.from_roles(
    identifier=["name"],
    quasi=["age", "town"],
    sensitive=["illness"],
    other=["note"],
    hierarchies={
        "age": sd.Hierarchy.intervals(range(100), width=10, fanout=2),
        "town": sd.Hierarchy.groups({"Ayr": "north", "Bath": "south", "Cork": "west", "Deal": "south"}),
    },
)


def people(n: int = 60, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(0, 100, n),
            "town": rng.choice(["Ayr", "Bath", "Cork", "Deal"], n),
            "illness": rng.choice(["flu", "HIV", "cancer"], n),
            "note": [f"note {i % 7}" for i in range(n)],
        }
    )


def smallest_block(frame: pl.DataFrame) -> int:
    return min(Counter(frame.select("age", "town").rows()).values())


def conform(method: Method) -> None:
    _measure_is_recomputed(method)
    _missing_values_stay_and_are_counted(method)
    _shuffled_index_changes_nothing(method)
    _unseen_value_is_refused_on_reading()
    _single_row(method)
    _all_rows_equal(method)
    _nothing_but_the_asked_columns(method)
    _impossible_is_refused(method)


def _measure_is_recomputed(method: Method) -> None:
    for k in (2, 3, 5, 9):
        release = method(sd.read(people(), SCHEMA), sd.KAnonymity(k))
        assert smallest_block(release.frame()) == release.certificate.measured["k"] >= k


def _missing_values_stay_and_are_counted(method: Method) -> None:
    frame = people().with_columns(
        age=pl.when(pl.int_range(60) % 5 == 0).then(None).otherwise(pl.col("age")),
        illness=pl.when(pl.int_range(60) % 6 == 0).then(None).otherwise(pl.col("illness")),
    )
    published = method(sd.read(frame, SCHEMA), sd.KAnonymity(3)).frame()
    assert published.height == 60
    assert published["illness"].null_count() == 10
    assert smallest_block(published) >= 3


def _shuffled_index_changes_nothing(method: Method) -> None:
    plain = people().to_pandas()
    shuffled = plain.set_index(pd.Index(np.random.default_rng(1).permutation(len(plain))))
    one, other = (method(sd.read(frame, SCHEMA), sd.KAnonymity(3)) for frame in (plain, shuffled))
    assert one.certificate.utility == other.certificate.utility
    assert sorted(one.frame().rows()) == sorted(other.frame().rows())


def _unseen_value_is_refused_on_reading() -> None:
    frame = people().with_columns(town=pl.lit("Hull"))
    with pytest.raises(sd.InputError, match=r"row 1, column 'town': 'Hull' is not in the hierarchy"):
        sd.read(frame, SCHEMA)


def _single_row(method: Method) -> None:
    assert method(sd.read(people(1), SCHEMA), sd.KAnonymity(1)).frame().height == 1


def _all_rows_equal(method: Method) -> None:
    frame = people(1)
    same = pl.concat([frame] * 8)
    release = method(sd.read(same, SCHEMA), sd.KAnonymity(8))
    assert release.certificate.measured["k"] == 8
    assert release.certificate.utility["distortion"] == 0
    assert release.frame()["age"].unique().to_list() == frame["age"].to_list()


def _nothing_but_the_asked_columns(method: Method) -> None:
    published = method(sd.read(people(), SCHEMA), sd.KAnonymity(3)).frame()
    assert published.columns == ["age", "town", "illness", "note"]  # no identifier, no row number


def _impossible_is_refused(method: Method) -> None:
    with pytest.raises(sd.RequirementError, match="61-anonymity is impossible: there are only 60 records"):
        method(sd.read(people(), SCHEMA), sd.KAnonymity(61))
