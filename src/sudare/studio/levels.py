"""A column's values with the coarser ones above them: kept aside when the table is read, so that its page waits for no work."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from sudare.reports.words import shown_value
from sudare.studio.preview import schema_of_columns
from sudare.studio.project import Project, private, written_whole
from sudare.tables.attribute import Attribute
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

MAX_LIVE = 2_000  # values, evenly chosen, of which levels are shown at once
MAX_SHOWN = 120
VALUE, PEOPLE = "value", "people"


class Levels(NamedTuple):
    """What values become: of each a row from itself to the root, how many people have it, and how many names a level has."""

    rows: list[list[str]]
    weights: dict[str, int]
    names: list[int]
    values: int

    @property
    def shown(self) -> list[list[str]]:
        """Rows for people to read: all, or some from everywhere."""
        every = -(-len(self.rows) // MAX_SHOWN)
        return self.rows[:: max(every, 1)]


def write_values(table: Table, folder: Path) -> None:
    """Put the values of each column aside, and how many people have them."""
    private(folder / "values")
    for place, name in enumerate(table.schema.attributes):
        if name not in table.columns:
            continue
        counts = table.counts([name])
        values = table[name].decode(counts.codes[:, 0])
        frame = pl.DataFrame({VALUE: values, PEOPLE: counts.weights})
        with written_whole(_path(folder, place)) as path:
            frame.sort(VALUE, nulls_last=True).write_parquet(path)


def _path(folder: Path, place: int) -> Path:
    return folder / "values" / f"{place}.parquet"


def levels_of(project: Project, place: int, name: str, own: Attribute) -> Levels | None:
    """Say what the values of a column become by its hierarchy, or by one that is only being tried."""
    frame = _kept(project, place)
    if frame is None:
        return None
    some = frame.gather_every(max(1, -(-frame.height // MAX_LIVE)))
    hierarchy = _hierarchy(some, name, own, project)
    weights = {
        shown_value(value): count for value, count in zip(some[VALUE].to_list(), some[PEOPLE], strict=True)
    }
    rows = [] if hierarchy is None else [[shown_value(label) for label in row] for row in hierarchy.rows()]
    names = [] if hierarchy is None else [len(labels) for labels in hierarchy.labels]
    return Levels(rows, weights, names, frame.height)


def hierarchy_of(project: Project, place: int, name: str, own: Attribute) -> Hierarchy | None:
    """Return a column's hierarchy for all of its values; what the values do not agree with is refused."""
    frame = _kept(project, place)
    return None if frame is None else _hierarchy(frame, name, own, project)


def _kept(project: Project, place: int) -> pl.DataFrame | None:
    path = _path(project.folder, place)
    return pl.read_parquet(path) if path.is_file() else None


def _hierarchy(frame: pl.DataFrame, name: str, own: Attribute, project: Project) -> Hierarchy | None:
    from sudare.engines.read import read

    schema = schema_of_columns(project.schema(), {name: own.model_copy(update={"format": None})})
    return read(frame.select(pl.col(VALUE).alias(name)), schema)[name].hierarchy
