"""What is published, where the rows are in a database: it counts them, and hands them over in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import polars as pl

from sudare.engines.database import Database, total_weight
from sudare.tables.runs import PublishedRows, Runs


class StoredRows(PublishedRows):
    """Distinct rows in a database, by the ranks of their values, with how often each is published."""

    def __init__(self, database: Database, relation: str, values: Mapping[str, pl.Series]) -> None:
        self._database, self._relation, self._values = database, relation, dict(values)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._values)

    @cached_property
    def height(self) -> int:
        """How many rows there are."""
        return total_weight(self._database, self._relation)

    def counted(self, names: Sequence[str]) -> Runs:
        """Count the rows by some columns."""
        if not names:
            return Runs(pl.DataFrame(height=1), pl.Series([self.height]))
        places = [self.columns.index(name) for name in names]
        columns = ", ".join(f"p{place}" for place in places)
        query = f"SELECT {columns}, CAST(sum(weight) AS BIGINT) AS weight FROM {self._relation} GROUP BY {columns} ORDER BY {columns}"
        frame = self._database.frame(query)
        return self._decoded(frame, names)

    def parts(self) -> Iterator[Runs]:
        """Return the rows in their order, some at a time."""
        columns = ", ".join(f"p{i}" for i in range(len(self._values)))
        for frame in self._database.batches(
            f"SELECT {columns}, weight FROM {self._relation} ORDER BY {columns}"
        ):
            yield self._decoded(frame, self.columns)

    def _decoded(self, frame: pl.DataFrame, names: Sequence[str]) -> Runs:
        columns = [self._values[name].gather(frame[:, i]).alias(name) for i, name in enumerate(names)]
        return Runs(pl.DataFrame(columns), frame["weight"])
