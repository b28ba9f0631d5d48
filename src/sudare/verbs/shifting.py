"""Calendar shifts: all dates of a person are moved by as many days, which are drawn for that person alone, and forgotten.

Dates are then off by up to so many days, and what lies between two dates of a person is what it was. As the days are
drawn anew for every release, dates of two releases cannot be joined.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.rewriting import Labels, Rewriting
from sudare.errors import InputError
from sudare.noise.keystream import Keystream
from sudare.noise.sampling import sample_below
from sudare.tables.column import Codes
from sudare.tables.counts import Counts, places_of
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed

Ints = NDArray[np.int64]
MOVED = (
    "The dates in {0} are off by up to {1} days, by as many for all dates of a {2}: who knows a date of somebody finds it among those of so "
    "many days, and who knows two of them knows how far apart they are, which is published as it was."
)
ALONE = (
    "{0:,} of {1:,} {2}s have dates with intervals between them that no other {2} has: whoever knows two or more dates of one of them finds "
    "these again, whatever they were moved by. Keep one date, or make the intervals quasi attributes."
)


def shifted(schema: Schema) -> list[str]:
    """Return the columns whose dates are moved."""
    return [name for name, own in schema.attributes.items() if own.shift is not None]


def refuse_shifts(table: Table) -> None:
    """Refuse dates that are to be moved where nobody knows whose they are, or where there are none."""
    names = shifted(table.schema)
    for name in names:
        if not isinstance(table[name].values.dtype, pl.Date | pl.Datetime):
            raise InputError(
                f"{table.source.name}: '{name}' has no dates, which could be moved. Give it type 'date' or 'datetime', or take 'shift' out of "
                "the schema."
            )
    if names and table.schema.unit is None:
        raise InputError(
            f"{table.source.name}: the dates in {listed(names)} are moved person by person, and the schema does not say which rows are of one. "
            "Give a column the role person."
        )


class Shifts:
    """By how many days the dates of each unit of a table are moved; drawn once, so that all that is published agrees."""

    def __init__(self, table: Table) -> None:
        self.table, self.names = table, shifted(table.schema)
        most = max((table.schema[name].shift or 0 for name in self.names), default=0)
        source = Keystream()
        units = table[table.schema.unit or ""].size if self.names else 0
        self.days: Ints = sample_below(units, 2 * most + 1, source) - most
        """By the code of the unit."""
        self.randomness = f"dates were moved by days from {source.description}"

    def moved(self, name: str, codes: Codes, unit: Codes) -> pl.Series:
        """Return dates of a column, by their codes, each moved as those of its unit are."""
        dates = self.table[name].decode(codes)
        days = pl.DataFrame([dates, pl.Series("days", self.days[unit])])
        return days.select(pl.nth(0) + pl.duration(days=pl.nth(1))).to_series().cast(dates.dtype)

    def of(self, rewriting: Rewriting) -> Rewriting:
        """Return a rewriting that publishes moved dates: rows are looked up by their unit and their dates, too."""
        if not self.names:
            return rewriting
        unit = self.table.schema.unit or ""
        more = [name for name in (unit, *self.names) if name not in rewriting.keys]
        counts = self.table.counts([*rewriting.keys, *more])
        tuples = Counts(
            rewriting.keys,
            rewriting.tuples,
            np.ones(len(rewriting.tuples), dtype=np.int64),
            counts.sizes[: len(rewriting.keys)],
        )
        at = places_of(counts.codes[:, : len(rewriting.keys)], tuples)
        counts, at = counts.at(np.flatnonzero(at >= 0)), at[at >= 0]
        published: dict[str, Labels | None] = {}
        for name, labels in rewriting.published.items():
            published[name] = labels and Labels(labels.values, labels.of_tuple[at])
            if name in self.names:
                moved = self.moved(name, counts.column(name), counts.column(unit))
                values = moved.unique().sort()
                codes = moved.rank("dense").fill_null(0).cast(pl.Int64).to_numpy() - 1
                published[name] = Labels(values, np.where(codes < 0, 0, codes + values.null_count()))
        return Rewriting(counts.names, counts.codes, published)

    def caveats(self) -> list[str]:
        """Say what the moved dates tell nevertheless; what they were moved by has no part in it."""
        schema = self.table.schema
        if not self.names:
            return []
        most = max(schema[name].shift or 0 for name in self.names)
        return [MOVED.format(listed(self.names), most, schema[schema.unit or ""].role)]


def alone_with_intervals(table: Table) -> list[str]:
    """Say how many units are alone with the intervals between their dates that are moved."""
    schema, unit, names = table.schema, table.schema.unit or "", shifted(table.schema)
    if not names:
        return []
    counts = table.counts([unit, *names])
    own = [
        table[name].decode(counts.column(name)).dt.epoch("d").alias(str(at)) for at, name in enumerate(names)
    ]
    rows = pl.DataFrame([pl.Series("unit", counts.column(unit)), *own])
    dates = [column.name for column in own]
    apart = rows.with_columns(pl.col(dates) - pl.min_horizontal(dates).min().over("unit")).sort(
        "unit", *dates
    )
    each = pl.concat_str(pl.col(dates).cast(pl.String).fill_null("?"), separator=" ")
    patterns = apart.group_by("unit").agg(
        each.str.join(", ").alias("apart"), known=pl.sum_horizontal(pl.col(dates).count())
    )
    alone = patterns.filter((pl.col("known") > 1) & pl.col("apart").is_unique()).height
    return [ALONE.format(alone, patterns.height, schema[unit].role)] if alone else []
