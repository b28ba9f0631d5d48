"""Published tables in a warehouse: each is there whole and recounted, or not at all.

A table is filled under another name, in a transaction that nobody else sees. There it is counted by all its columns, and
compared with the files that were verified; only then does it get its name, when the release's folder has got its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import polars as pl

from sudare.errors import InputError, RequirementError
from sudare.release.to_duckdb import duckdb_tables
from sudare.release.to_postgres import postgres_tables
from sudare.release.to_spark import spark_tables
from sudare.tables.databases import DatabaseUrl, is_url, refuse_taken
from sudare.tables.file_rows import FileRows
from sudare.tables.parts import tables_of
from sudare.tables.runs import PublishedRows, Runs
from sudare.verification.multiset import multiset_of

MARK = "Published by Sudare."
"""The comment on every table that was written here. Only such a table may be replaced."""


class Tables(Protocol):
    """The tables of a warehouse, within one transaction."""

    def marks(self, names: Sequence[str]) -> Mapping[str, str | None]:
        """Return which of these names are taken, each with the comment on what has it."""

    def fill(self, rows: PublishedRows, schema: pl.Schema, mark: str) -> str:
        """Write rows, in their order, to a new table that nobody else sees, and return its name."""

    def counted(self, name: str, schema: pl.Schema) -> Iterator[pl.DataFrame]:
        """Return the distinct rows of a table, some at a time, with how often each is there in the last column."""

    def publish(self, names: Mapping[str, str], replaced: Collection[str]) -> None:
        """Give tables that were filled their names, in place of those that are `replaced`, and end the transaction."""


OPENERS: dict[str, Callable[[DatabaseUrl], AbstractContextManager[Tables]]] = {
    "duckdb": duckdb_tables,
    "postgresql": postgres_tables,
    "postgres": postgres_tables,
    "spark": spark_tables,
    "sc": spark_tables,
}
"""Who opens a warehouse, by the scheme of its URL."""


@dataclass(frozen=True)
class Target:
    """Where the tables of a release are written to: `duckdb:///people.duckdb?table=people_k5`."""

    url: DatabaseUrl
    table: str

    @classmethod
    def parse(cls, to: str) -> Target:
        """Read a URL, or say what it must be.

        >>> Target.parse("postgresql://ann:geheim@host/clinic?table=beds").url.name
        'postgresql://host/clinic?table=beds'
        """
        if not isinstance(to, str) or not is_url(to):
            raise InputError(
                f"--to must be a URL such as duckdb:///people.duckdb?table=people. Got '{to}' instead."
            )
        url = DatabaseUrl.parse(to)
        options = dict(url.options)
        table = options.pop("table", "")
        if url.scheme not in OPENERS:
            raise InputError(
                f"{url.name}: tables cannot be written to '{url.scheme}'. Give a duckdb://, postgresql://, spark:// or sc:// URL."
            )
        if not table or "query" in options:
            raise InputError(f"{url.name}: say which table to write: add ?table=NAME.")
        return cls(replace(url, options=options), table)

    def name_of(self, frame: str) -> str:
        """Return the name of the table that a published frame is written to: the only one, or one for each view."""
        return self.table if frame == "data" else f"{self.table}_{frame}"

    def refuse_taken(self, frames: Iterable[str], *, force: bool) -> None:
        """Refuse names that are taken, before the work; with `force` only what was not published from here."""
        with OPENERS[self.url.scheme](self.url) as tables:
            self.taken(tables, frames, force=force)

    def taken(self, tables: Tables, frames: Iterable[str], *, force: bool) -> list[str]:
        """Return the names that are taken and may be replaced; refuse others."""
        taken = tables.marks([self.name_of(frame) for frame in frames])
        refuse_taken(taken, self.url.name, MARK, force=force)
        return list(taken)

    @contextmanager
    def staging(self, *, force: bool) -> Iterator[Staging]:
        """Make room for the tables of a release. What is not published when this ends is gone."""
        with ExitStack() as stack:
            yield Staging(self, force, stack)


class Staging:
    """Tables that are filled, and then published."""

    def __init__(self, target: Target, force: bool, stack: ExitStack) -> None:
        self._target, self._force, self._stack = target, force, stack
        self._publish: Callable[[], None] = lambda: None

    def stage(self, folder: Path) -> None:
        """Write the tables of a folder whose files were verified, and count them again where they are."""
        url = self._target.url
        tables = self._stack.enter_context(OPENERS[url.scheme](url))
        files = tables_of(folder.glob("*.parquet"))
        replaced = self._target.taken(tables, files, force=self._force)
        filled = {}
        for frame, paths in files.items():
            rows = FileRows(paths)
            name = tables.fill(rows, rows.schema, MARK)
            if multiset_of(map(_runs_of, tables.counted(name, rows.schema))) != multiset_of(rows.parts()):
                raise RequirementError(
                    f"{url.name}: the table does not have the rows that were verified. Nothing was written there."
                )
            filled[name] = self._target.name_of(frame)
        self._publish = partial(tables.publish, filled, replaced)

    def publish(self) -> None:
        """Give the tables their names."""
        try:
            self._publish()
        except Exception as error:
            refused = self._target.url.refusal("the warehouse", error, None)
            raise InputError(f"{refused} The release's folder was written, and no table.") from None


def _runs_of(counted: pl.DataFrame) -> Runs:
    return Runs(counted[:, :-1], counted[:, -1])
