"""Real tables: whoever holds the rows, the same is published. Spark's releases are compared in the long run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sudare as sd

ROWS = 600
ATTRIBUTES = {
    "adult": ["age", "sex", "race", "education", "occupation"],
    "coil2000": ["MOSTYPE", "MAANTHUI", "MGEMLEEF", "MGODRK", "CARAVAN"],
    "ipums": ["age", "sex", "raceg", "marst", "occ1950"],
}
"""Some quasi attributes, and the sensitive one."""
FREE: dict[str, Callable[[sd.Table], sd.Release]] = {
    "minimal": lambda table: sd.generalize(table, sd.KAnonymity(4)),
    "mondrian": lambda table: sd.generalize(table, sd.KAnonymity(4), "mondrian"),
    "full-domain": lambda table: sd.generalize(table, sd.KAnonymity(4), "full-domain", suppress=0.1),
    "views": lambda table: sd.generalize_views(
        table, {"one": table.names("quasi")[:1], "two": table.names("quasi")[1:3]}, sd.MultiViewDiversity(2)
    ),
}


@pytest.fixture(
    scope="module",
    params=["adult", *(pytest.param(name, marks=pytest.mark.slow) for name in ("coil2000", "ipums"))],
)
def source(request: pytest.FixtureRequest, data_folder: Path) -> tuple[pl.DataFrame, sd.Schema]:
    names = ATTRIBUTES[request.param]
    frame = sd.datasets.load(request.param).select(names).head(ROWS)
    numbers = [name for name in names if frame[name].dtype.is_numeric()]
    schema = sd.Schema.from_roles(
        quasi=names[:-1],
        sensitive=names[-1:],
        bounds={name: (int(frame[name].min()), int(frame[name].max())) for name in numbers},  # type: ignore[arg-type]
        domains={name: sorted(frame[name].drop_nulls().unique()) for name in names if name not in numbers},
    )
    return frame, schema


@pytest.fixture(scope="module", params=["duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def tables(
    request: pytest.FixtureRequest, source: tuple[pl.DataFrame, sd.Schema]
) -> tuple[sd.Table, sd.Table]:
    engine: Any = request.getfixturevalue("spark") if request.param == "spark" else request.param
    return sd.read(*source), sd.read(*source, engine=engine)


@pytest.mark.parametrize("make", FREE.values(), ids=FREE)
def test_the_same_rows_are_published(
    make: Callable[[sd.Table], sd.Release], tables: tuple[sd.Table, sd.Table]
) -> None:
    memory, own = (make(table) for table in tables)
    assert memory.certificate.measured == own.certificate.measured
    assert memory.frames().keys() == own.frames().keys()
    for name, frame in memory.frames().items():
        assert frame.equals(own.frames()[name], null_equal=True)


def test_the_same_law_and_pview_come_from_a_seed(tables: tuple[sd.Table, sd.Table]) -> None:
    laws = [sd.randomize(table, sd.PkAnonymity(4), unsafe_seed=5).handed_over.law for table in tables]
    assert laws[0] == laws[1]
    pviews = [sd.materialize(table, sd.DifferentialPrivacy(1.0), unsafe_seed=5) for table in tables]
    assert pviews[0].model.frame().equals(pviews[1].model.frame())
