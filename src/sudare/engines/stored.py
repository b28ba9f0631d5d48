"""What is published, where the rows are in a database: it counts them, and hands them over in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import polars as pl

from sudare.engines.database import Database, in_pieces, total_weight
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
        columns = self._columns(names)
        return self._decoded(
            self._database.frame(f"{self._counted(columns)} ORDER BY {', '.join(columns)}"), names
        )

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Runs]:
        """Count rows by some columns in pieces."""
        if not names:
            yield self.counted(names)
            return
        columns, together_columns = self._columns(names), self._columns(together)
        for query in in_pieces(self._database, self._counted(columns), together_columns):
            yield self._decoded(
                self._database.frame(f"SELECT * FROM ({query}) ORDER BY {', '.join(columns)}"), names
            )

    def _columns(self, names: Sequence[str]) -> list[str]:
        return [f"p{self.columns.index(name)}" for name in names]

    def _counted(self, columns: Sequence[str]) -> str:
        listed = ", ".join(columns)
        return (
            f"SELECT {listed}, CAST(sum(weight) AS BIGINT) AS weight FROM {self._relation} GROUP BY {listed}"
        )

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
