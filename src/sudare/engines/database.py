"""What a database does for an engine: it holds relations, and answers queries on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import polars as pl

from sudare.errors import InputError
from sudare.tables.runs import MAX_COUNTED
from sudare.tables.text import listed

Files = Mapping[str, bytes]
"""What is in some files, by their names."""
Work = Callable[[pl.DataFrame], Files]


class Database(Protocol):
    """Who holds relations. Queries are written in DuckDB's SQL; a database that speaks another dialect translates them."""

    name: str
    """What the engine is called."""
    sees_local_files: bool
    """Whether a path means a file of this machine."""
    remote_files: str
    """What it needs to read files from elsewhere."""

    @property
    def memory(self) -> int:
        """How many bytes may be held here of what it answers."""

    @property
    def work_memory(self) -> int:
        """How many bytes work on one part of a relation may take, where it is done."""

    @property
    def works_here(self) -> str:
        """Why work is done here that could be done elsewhere; nothing, if there is nothing to be said."""

    def each_part(self, relation: str, parts: int, work: Work) -> Iterator[Files]:
        """Do the work for each part of a relation, whose column `part` says which it is; return the files in their order."""

    def frame(self, query: str) -> pl.DataFrame:
        """Return all rows that a query gives."""

    def batches(self, query: str) -> Iterator[pl.DataFrame]:
        """Return the rows that a query gives, some at a time, in their order."""

    def store(self, query: str) -> str:
        """Keep the rows that a query gives, and return the name of the relation that has them."""

    def keep(self, frames: Iterable[pl.DataFrame]) -> str:
        """Keep the rows of several frames, one after the other."""

    def parquet(self, pattern: str) -> str:
        """Return the relation of one or several Parquet files."""

    def rows(self, relation: str) -> int:
        """Return how many rows a relation has."""

    def types(self, relation: str) -> dict[str, pl.DataType]:
        """Return the columns of a relation, with their types."""

    def keys(self, relation: str) -> dict[str, str]:
        """Return what tells the values of each column apart."""

    def rows_with(self, relation: str, key: str, values: pl.Series) -> list[int]:
        """Return the numbers of the first rows with some values, or with none; nothing where rows have no numbers."""

    def drop(self, relation: str) -> None:
        """Forget the rows of a relation that was kept."""

    def upload(self, frame: pl.DataFrame) -> str:
        """Keep a frame, and return the name of the relation that has its rows."""


def one_after_the_other(database: Database, relation: str, parts: int, work: Work) -> Iterator[Files]:
    """Do the work for each part of a relation here."""
    for part in range(parts):
        yield work(database.frame(f"SELECT * FROM {relation} WHERE part = {part}").drop("part"))


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


def in_pieces(database: Database, counted: str, together: Sequence[str]) -> Iterator[str]:
    """Split a query that counts distinct rows, where they are too many to be held at once.

    Rows that are alike in the columns `together`, which hold small whole numbers, are in one piece.
    """
    rows = int(database.frame(f"SELECT count(*) FROM ({counted})").item()) if together else 0
    pieces = -(-rows // MAX_COUNTED)
    if pieces <= 1:
        yield counted
        return
    kept = database.store(counted)
    # Factors without a pattern, small enough for the sum to fit into 64 bits.
    mixed = " + ".join(
        f"CAST({column} AS BIGINT) * {pow(31, i + 5, 1_000_003)}" for i, column in enumerate(together)
    )
    try:
        # Only those that have rows: few blocks may leave some of many pieces empty.
        numbers = database.frame(f"SELECT DISTINCT ({mixed}) % {pieces} AS piece FROM {kept} ORDER BY piece")
        for piece in numbers["piece"]:
            yield f"SELECT * FROM {kept} WHERE ({mixed}) % {pieces} = {piece}"
    finally:
        database.drop(kept)


def quoted(name: str) -> str:
    """Write a name as SQL does.

    >>> print(quoted('the "age" group'))
    "the ""age"" group"
    """
    return '"' + name.replace('"', '""') + '"'


def numbered(names: Sequence[str] | Mapping[str, object], letter: str = "c") -> str:
    """The columns of some names, as queries call them.

    >>> numbered(["age", "sex"])
    'c0, c1'
    """
    return ", ".join(f"{letter}{i}" for i in range(len(names)))
