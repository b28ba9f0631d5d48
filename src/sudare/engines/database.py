"""What a database does for an engine: it holds relations, and answers queries on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import polars as pl

from sudare.errors import InputError
from sudare.tables.text import listed


class Database(Protocol):
    """Who holds relations. Queries are written in DuckDB's SQL; a database that speaks another dialect translates them."""

    def frame(self, query: str) -> pl.DataFrame:
        """Return all rows that a query gives."""

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """Return the rows that a query gives, some at a time, in their order."""

    def store(self, query: str) -> str:
        """Keep the rows that a query gives, and return the name of the relation that has them."""

    def keep(self, frames: Iterable[pl.DataFrame]) -> str:
        """Keep the rows of several frames, one after the other."""

    def types(self, relation: str) -> dict[str, pl.DataType]:
        """Return the columns of a relation, with their types."""

    def keys(self, relation: str) -> dict[str, str]:
        """Return what tells the values of each column apart."""

    def rows_with(self, relation: str, key: str, values: pl.Series) -> list[int]:
        """Return the numbers of the first rows with some values, or with none; nothing where rows have no numbers."""

    def upload(self, frame: pl.DataFrame) -> str:
        """Keep a frame, and return the name of the relation that has its rows."""


def refuse_alike(names: Sequence[str], engine: str) -> None:
    """Refuse columns that a database takes for one another.

    >>> refuse_alike(["age", "Age", "sex"], "duckdb")
    Traceback (most recent call last):
    sudare.errors.InputError: The engine "duckdb" does not tell the columns 'age', 'Age' apart. Rename them, or read them with engine="memory".
    """
    lower = [name.lower() for name in names]
    if alike := [name for name in names if lower.count(name.lower()) > 1]:
        raise InputError(
            f'The engine "{engine}" does not tell the columns {listed(alike)} apart. Rename them, or read them with '
            'engine="memory".'
        )


def total_weight(database: Database, relation: str) -> int:
    """Return how many rows the counted ones of a relation stand for."""
    return int(database.frame(f"SELECT CAST(sum(weight) AS BIGINT) FROM {relation}").item() or 0)


def quoted(name: str) -> str:
    """Write a name as SQL does.

    >>> print(quoted('the "age" group'))
    "the ""age"" group"
    """
    return '"' + name.replace('"', '""') + '"'
