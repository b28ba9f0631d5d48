"""The published table as an outsider sees it: blocks of equal quasi values, and sensitive values in them.

Nothing here comes from the methods or from `privacy`. Blocks are what an outsider can tell apart, exactly, in a frame
as in a CSV or Parquet file; values are named by their texts. A missing value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.read import read
from sudare.engines.sources import Asked, frame_of
from sudare.errors import InputError
from sudare.tables.attribute import Role
from sudare.tables.copies import COPY_ENDINGS
from sudare.tables.counts import Counts
from sudare.tables.csv_rows import CsvRows, as_meant
from sudare.tables.exact import exact, texts
from sudare.tables.file_rows import FileRows, data_in
from sudare.tables.folders import handed_over
from sudare.tables.outputs import is_csv
from sudare.tables.parts import tables_of
from sudare.tables.runs import PublishedRows, Runs
from sudare.tables.schema import Schema
from sudare.tables.table import Table
from sudare.tables.text import listed

Output = pl.DataFrame | PublishedRows | Table | str | Path
Values = dict[str, str | None]


@dataclass(frozen=True, eq=False)
class Published:
    """The blocks of an output, in the order of their values, and for every record its block.

    >>> frame = pl.DataFrame({"age": ["[20, 30)", "*", "*"], "illness": ["flu", "flu", "HIV"]})
    >>> published = Published.open(frame, Schema.from_roles(quasi=["age"], sensitive=["illness"]))
    >>> published.sizes.to_list(), published.values_of(0)
    ([2, 1], {'age': '*'})
    >>> published.counted("illness").rows()      # block, value, count, size of the block
    [(0, 'HIV', 1, 2), (0, 'flu', 1, 2), (1, 'flu', 1, 1)]
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    records: int
    """How many records are published. These blocks may be some of all blocks only."""
    overall: Mapping[str, pl.DataFrame]
    """How many of all records have each value of a sensitive attribute: value, overall, and its rank by that."""
    _blocks: pl.DataFrame  # block, size, q0, q1, ...
    _tuples: pl.DataFrame  # block, weight, s0, s1, ...: how many records have which sensitive values

    @classmethod
    def open(cls, output: Output, schema: Schema) -> Published:
        """Read a published frame, file or release folder, or an original table, and group it by the quasi attributes."""
        source = _source(output, schema)
        return cls._grouped(source, source.counted([*source.quasi, *source.sensitive]))

    @classmethod
    def pieces(cls, output: Output, schema: Schema) -> Iterator[Published]:
        """Read the same some blocks at a time, where they are many."""
        source = _source(output, schema)
        for runs in source.pieces():
            yield cls._grouped(source, runs)

    @classmethod
    def _grouped(cls, source: _Source, runs: Runs) -> Published:
        quasi, sensitive, frame = source.quasi, source.sensitive, runs.rows
        q, s = [f"q{i}" for i in range(len(quasi))], [f"s{i}" for i in range(len(sensitive))]
        keys = [f"k{i}" for i in range(len(quasi))]
        rows = frame.select(
            pl.repeat(0, frame.height, dtype=pl.UInt32).alias(
                "all"
            ),  # one block, if there are no quasi attributes
            pl.int_range(frame.height).alias("row"),
            runs.lengths.alias("weight"),
            *(exact(frame[name]).alias(key) for name, key in zip(quasi, keys, strict=True)),
            *(texts(frame[name]).alias(alias) for name, alias in zip(sensitive, s, strict=True)),
        )
        blocks = rows.group_by("all", *keys).agg(pl.min("row"), size=pl.sum("weight"))
        written = (texts(frame[name].gather(blocks["row"])) for name in quasi)
        blocks = blocks.with_columns(column.alias(alias) for column, alias in zip(written, q, strict=True))
        blocks = blocks.sort(*q, "row", nulls_last=True).with_row_index("block")
        numbered = blocks.select("block", "all", *keys)
        # Equal rows are counted before each is given its block.
        tuples = rows.group_by("all", *keys, *s).agg(pl.sum("weight"))
        tuples = tuples.join(numbered, on=["all", *keys], how="left", nulls_equal=True)
        return cls(
            quasi,
            sensitive,
            source.records,
            source.overall,
            blocks.select("block", "size", *q),
            tuples.select("block", "weight", *s),
        )

    @cached_property
    def sizes(self) -> pl.Series:
        """How many records each block has."""
        return self._blocks["size"]

    def __len__(self) -> int:
        return self._blocks.height

    def values_of(self, block: int) -> Values:
        """Return the quasi values of a block."""
        return dict(zip(self.quasi, self._blocks.row(block)[2:], strict=True))

    def keyed(self) -> pl.DataFrame:
        """Return the blocks with their size and the text of their quasi values (q0, q1, ...)."""
        return self._blocks

    def tuples(self) -> pl.DataFrame:
        """Return how many records of each block (block, weight) have which sensitive values together (s0, s1, ...)."""
        return self._tuples

    def counted(self, sensitive: str) -> pl.DataFrame:
        """Count the values of a sensitive attribute in every block, in the order of blocks and values."""
        return self._counted[sensitive]

    @cached_property
    def _counted(self) -> dict[str, pl.DataFrame]:
        """Several attacks ask for it."""
        counted = {}
        for i, name in enumerate(self.sensitive):
            values = self._tuples.select("block", "weight", value=f"s{i}")
            counts = values.group_by("block", "value").agg(count=pl.sum("weight"))
            counts = counts.join(self._blocks.select("block", "size"), on="block")
            counted[name] = counts.sort("block", "value", nulls_last=True)
        return counted

    def refuse_without_sensitive(self, kind: str) -> None:
        """Raise an InputError where the attack has nothing to learn."""
        if not self.sensitive:
            raise InputError(f"The schema has no sensitive attribute; the {kind} attack needs one.")


@dataclass(frozen=True, eq=False)
class _Source:
    """Rows that are attacked."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    counted: Callable[[Sequence[str]], Runs]
    """Counts them by some columns."""
    pieces: Callable[[], Iterator[Runs]]
    """Counts them by all of these, some blocks at a time."""

    @cached_property
    def records(self) -> int:
        """How many there are."""
        return self.counted([*self.quasi, *self.sensitive][:1]).height

    @cached_property
    def overall(self) -> dict[str, pl.DataFrame]:
        """How many have each value of a sensitive attribute, the most frequent first."""
        overall = {}
        for name in self.sensitive:
            runs = self.counted([name])
            values = pl.DataFrame([texts(runs.rows[name]).alias("value"), runs.lengths.alias("count")])
            overall[name] = (
                values.group_by("value")
                .agg(overall=pl.sum("count"))
                .sort("overall", "value", descending=[True, False], nulls_last=True)
                .with_row_index("rank")
            )
        return overall


def _source(output: Output, schema: Schema) -> _Source:
    """Open rows, and refuse them if there is nothing to attack."""
    quasi, sensitive = tuple(schema.names(Role.quasi)), tuple(schema.names(Role.sensitive))
    names = [*quasi, *sensitive]
    if isinstance(output, Table):
        return _of_table(output, quasi, sensitive)
    rows = rows_of(output)
    if absent := [name for name in names if name not in rows.columns]:
        raise InputError(
            f"The output has no column '{absent[0]}', which the schema calls {schema[absent[0]].role}."
        )
    if rows.height == 0:
        raise InputError("The output is empty; there is nothing to attack.")
    own = names or rows.columns[:1]  # without any, all records are one block
    return _Source(
        quasi, sensitive, lambda some: rows.counted(list(some) or own), lambda: rows.pieces(own, quasi)
    )


def _of_table(table: Table, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> _Source:
    names = [*quasi, *sensitive]
    return _Source(
        quasi,
        sensitive,
        lambda some: counted(table, some),
        lambda: (_decoded(table, piece) for piece in table.rows.pieces(names, quasi)),
    )


def counted(table: Table, names: Sequence[str]) -> Runs:
    """Count the rows of a table by some columns, with their values."""
    return _decoded(table, table.counts(list(names)))


def _decoded(table: Table, counts: Counts) -> Runs:
    columns = [table[name].decode(counts.column(name)) for name in counts.names]
    return Runs(pl.DataFrame(columns), pl.Series(counts.weights))


def described(values: Values) -> str:
    """Write the quasi values of a block for people.

    >>> described({"age": "[20, 30)", "town": None})
    'age [20, 30), town (missing)'
    """
    return ", ".join(f"{name} {value_text(value)}" for name, value in values.items()) or "all records"


def in_order(values: Values) -> list[tuple[bool, str]]:
    """Return what puts blocks into the order in which they stand."""
    return [(value is None, value or "") for value in values.values()]


def value_text(value: str | None) -> str:
    """Write a value for people."""
    return "(missing)" if value is None else value


def divided(numerator: pl.Series, denominator: pl.Series) -> NDArray[np.float64]:
    """Divide whole numbers, each quotient rounded once, so that the largest one is exact.

    (Polars divides by a single number by multiplying with its inverse: 6 / 10 = 0.6000000000000001.)

    >>> divided(pl.Series([6]), pl.Series([10])).tolist()
    [0.6]
    """
    quotient: NDArray[np.float64] = numerator.to_numpy() / denominator.to_numpy()
    return quotient


def rows_of(output: Output) -> PublishedRows:
    """Return published rows, or open their file or release folder."""
    if isinstance(output, PublishedRows):
        return output
    if isinstance(output, pl.DataFrame | Table):
        return Runs.of(output if isinstance(output, pl.DataFrame) else output.frame())
    path = handed_over(output)
    if path.is_dir():
        _refuse_views(path)
        return data_in(path)
    if path.suffix in COPY_ENDINGS:
        return Runs.of(frame_of(path, Asked())[0])
    if not is_csv(path):
        return FileRows([path])
    return as_meant(CsvRows(path))


def people_of(known: Any, schema: Schema, *, engine: str | None = None, memory: str | None = None) -> Table:
    """Return known people as a table; of a frame or file of them not every column need be there."""
    if isinstance(known, Table):
        return known
    columns = read(known, csv=schema.csv, sheet=schema.sheet, engine=engine, memory=memory).columns
    attributes = {name: attribute for name, attribute in schema.attributes.items() if name in columns}
    own = schema.model_copy(update={"attributes": attributes})
    return read(known, own, engine=engine, memory=memory)


def _refuse_views(folder: Path) -> None:
    tables = tables_of(folder.glob("*.parquet"))
    if list(tables) == ["pview"]:
        raise InputError(
            f"{folder}: this is a p-view, a differentially private stand-in of a table. It has no records to attack; what it promises is verified by "
            f"sudare verify {folder} --epsilon EPSILON."
        )
    if list(tables) not in ([], ["data"]):
        names = [path.name for parts in tables.values() for path in parts]
        raise InputError(
            f"{folder}: this folder has views, {listed(names)}, which are attacked together. Say whose values an outsider "
            'knows: kind="intersection" with known=people, or --known PEOPLE on the command line.'
        )
