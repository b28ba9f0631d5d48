"""A table: dictionaries, what the schema says of them, where it came from, and rows that an engine holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from sudare.errors import InputError, ParameterError
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.labels import Labels
from sudare.tables.lookalikes import skeleton
from sudare.tables.notebook import Listing, Shown
from sudare.tables.schema import CsvFormat, Schema
from sudare.tables.text import listed, shown
from sudare.tables.typed import typed

if TYPE_CHECKING:
    from sudare.engines.engine import Engine


Notes = tuple[str, ...]
"""What is to be said to who reads a table."""


def _by_number(row: int) -> str:
    return f"row {row + 1}"


@dataclass(frozen=True)
class Source:
    """Where a table came from, and how to point at one of its rows."""

    name: str
    place: Callable[[int], str] = field(default=_by_number, repr=False)
    unit: str = "rows"
    """What faults are counted in."""
    csv: CsvFormat | None = None
    """How the file was written, if it is a CSV file."""
    notes: Notes = ()
    labels: Labels = field(default_factory=Labels, repr=False)
    """Of its columns, and of codes that are its values."""
    by_cell: bool = False
    """Whether every cell has a type of its own, as in a workbook: days are days if no cell has a time beside."""
    mixed: tuple[str, ...] = ()
    """Columns of several types, that are read as texts."""

    def where(self, row: int) -> str:
        """Say where a row (counting from 0) stands, such as "people.csv, line 17"."""
        return f"{self.name}, {self.place(row)}"


@typed
@dataclass(frozen=True, eq=False, repr=False)
class Table(Shown):
    """The values of a source's columns, and its rows, which stay with the engine that counts and rewrites them.

    >>> import sudare as sd
    >>> table = sd.read(pl.DataFrame({"age": [30, 40, 30], "sex": ["f", "m", "f"]}))
    >>> counts = table.counts(["age", "sex"])
    >>> counts.weights.tolist(), counts.total
    ([2, 1], 3)
    """

    rows: Engine
    schema: Schema
    source: Source
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    """In place of those that the engine knows of."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns, in the source's order."""
        return self.rows.names

    def __getitem__(self, name: str) -> Dictionary:
        if name not in self.rows.names:
            raise InputError(
                f"{self.source.name}: there is no column '{name}'. There are {listed(list(self.columns))}."
            )
        dictionary = self.rows.dictionary(name)
        return (
            replace(dictionary, hierarchy=self.hierarchies[name]) if name in self.hierarchies else dictionary
        )

    def names(self, role: Role | str) -> list[str]:
        """List the columns that have a role, or are treated as if they had, in the table's order."""
        chosen = set(self.schema.names(role))
        return [name for name in self.columns if name in chosen]

    def counts(self, names: str | Sequence[str]) -> Counts:
        """Count the distinct tuples of some columns."""
        chosen = [names] if isinstance(names, str) else list(names)
        if not chosen:
            raise InputError(f"{self.source.name}: name at least one column to count.")
        if len(set(chosen)) < len(chosen):
            raise InputError(f"{self.source.name}: a column is named twice among {listed(chosen)}.")
        for name in chosen:
            self[name]  # refused if there is none
        return self.rows.counts(chosen)

    def describe(self, counts: Counts, place: int, names: Sequence[str] | None = None) -> str:
        """Write one of the tuples that were counted for an error message, with all its columns or only some.

        >>> import sudare as sd
        >>> table = sd.read(pl.DataFrame({"age": [30, None], "sex": ["f", "m"]}))
        >>> table.describe(table.counts(["age", "sex"]), 1)
        "age (missing), sex 'm'"
        """
        if not 0 <= place < len(counts):
            raise InputError(f"There is no tuple {place}: {len(counts):,} were counted, the first is 0.")
        values = {name: self[name].decode(counts.column(name)[[place]])[0] for name in names or counts.names}
        return ", ".join(
            f"{name} {'(missing)' if value is None else shown(value)}" for name, value in values.items()
        )

    def frame(self) -> pl.DataFrame:
        """Return the rows as they were read."""
        return self.rows.frame()

    @property
    def name(self) -> str:
        """What it is called in certificates and ledgers: as the schema says, or else as its source is."""
        return self.schema.source or self.source.name

    @property
    def publishable(self) -> list[str]:
        """The columns that a release may have: all but identifiers."""
        return [name for name in self.columns if self.schema[name].treated_as != Role.identifier]

    def digest(self) -> str:
        """Return a SHA-256 over what can be published, whatever the order of rows and columns, and the source's format.

        Identifiers, which no release has, are left out; columns are named by what their names look like.

        >>> import sudare as sd
        >>> one = sd.read(pl.DataFrame({"age": [30, 40], "sex": ["f", "m"]}))
        >>> one.digest() == sd.read(pl.DataFrame({"Sex": ["m", "f"], "age": [40.0, 30.0]})).digest()
        True
        """
        # Where there are only identifiers, nothing can be published; they still are a table of their own.
        return self.digest_of({name: name for name in self.publishable or self.columns})

    def whole_digest(self) -> str:
        """Return a SHA-256 as `digest` does, over all columns, whatever their roles."""
        return self.digest_of({name: name for name in self.columns})

    def values_digest(self, name: str) -> str:
        """Return a SHA-256 over a column's values and how often each occurs, whatever its name.

        >>> import sudare as sd
        >>> table = sd.read(pl.DataFrame({"ill": ["flu", "cold", "flu"], "why": ["cold", "flu", "flu"]}))
        >>> table.values_digest("ill") == table.values_digest("why")
        True
        """
        return self.digest_of({"": name})

    def digest_of(self, columns: Mapping[str, str]) -> str:
        """Return a SHA-256 over some columns under other names: `columns` says which of its own each stands for."""
        if not columns:
            raise InputError(f"{self.source.name}: name at least one column to digest.")
        for name in columns.values():
            self[name]  # refused if there is none
        key = tuple(sorted(columns.items()))
        if key not in self._digests:
            self._digests[key] = self.rows.content(columns).digest()
        return self._digests[key]

    @cached_property
    def _digests(self) -> dict[tuple[tuple[str, str], ...], str]:
        return {}

    def like(self, name: str) -> str | None:
        """Return the column of this name, or else one that looks like it; None if there is none."""
        if name in self.columns:
            return name
        return next((own for own in self.columns if skeleton(own) == skeleton(name)), None)

    def _line(self) -> str:
        return f"{self.source.name}: {len(self):,} rows x {len(self.columns)} columns"

    def _listings(self) -> Iterable[Listing]:
        """Return what there is of every column, but none of its values."""
        rows = []
        for name in self.columns:
            own = self[name]
            height = "" if own.hierarchy is None else own.hierarchy.height
            rows.append(
                (name, self.schema[name].role, own.values.dtype, len(own.values), own.missing, height)
            )
        yield Listing(
            "", ("column", "role", "type", "different values", "some missing", "hierarchy's levels"), rows
        )


def table_given(table: object, verb: str) -> None:
    """Refuse what is no table.

    >>> table_given([1, 2], "generalize")
    Traceback (most recent call last):
    sudare.errors.ParameterError: generalize needs a table that was read: sd.read(...). Got list instead.
    """
    if not isinstance(table, Table):
        raise ParameterError(
            f"{verb} needs a table that was read: sd.read(...). Got {type(table).__name__} instead."
        )
