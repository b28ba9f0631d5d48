"""The Adult table with ARX's hierarchies, and the blocks of what is published of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl

import sudare as sd
from sudare.generalization.recoding import Recoding
from tests.generalization.plain import frame_of

QUASI = "age sex race marital-status education native-country workclass".split()


def adult(data_folder: Path) -> sd.Table:
    folder = data_folder / "arx_hierarchies"
    schema = sd.Schema.from_roles(
        quasi=QUASI,
        sensitive=["occupation"],
        hierarchies={name: sd.Hierarchy.from_csv(folder / f"adult_hierarchy_{name}.csv") for name in QUASI},
    )
    frame = pl.read_csv(folder / "adult.csv", separator=";").select(*QUASI, "occupation")
    return sd.read(frame, schema)


def adult_blocks(recoding: Recoding, table: sd.Table) -> list[Counter[str]]:
    """Group what is published by its quasi columns, and count the occupations."""
    frame = frame_of(table, recoding)
    assert frame.height == len(table)
    assert frame["occupation"].equals(table.frame()["occupation"])
    blocks: dict[tuple[str, ...], Counter[str]] = {}
    for *quasi, occupation in frame.select(*QUASI, "occupation").iter_rows():
        blocks.setdefault(tuple(quasi), Counter())[occupation] += 1
    return list(blocks.values())
