"""What an engine can do. Rows are needed twice: to be counted and to be rewritten; both happen where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.rewriting import AnyRewriting
from sudare.tables.column import Codes
from sudare.tables.content import Content
from sudare.tables.counts import Counts
from sudare.tables.dictionary import Dictionary
from sudare.tables.runs import PublishedRows

Change = Callable[[Mapping[str, Codes]], pl.DataFrame]


class Engine(Protocol):
    """Who holds the rows of a table."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the source's order."""

    def __len__(self) -> int: ...

    def dictionary(self, name: str) -> Dictionary:
        """Return the values of a column; they are looked up when somebody first asks."""

    def counts(self, names: Sequence[str]) -> Counts:
        """Count the distinct tuples of some columns, by the codes of their dictionaries."""

    def pieces(self, names: Sequence[str], together: Sequence[str]) -> Iterator[Counts]:
        """Count tuples in pieces, where they are too many to be held at once.

        Tuples that are alike in the columns `together`, which are among the names, are in one piece.
        """

    def content(self, columns: Mapping[str, str]) -> Content:
        """Sum up what some columns hold, whatever the order of rows: `columns` gives new names to the engine's own."""

    def sample(self, names: Sequence[str], rows: int, seed: int) -> NDArray[np.int32]:
        """Return the codes of some columns in so many different rows, drawn at random (all, if there are no more).

        One row each, in the order of the codes: where in the table they stood is not told. Equal seeds draw alike.
        """

    def rows_with(self, name: str, codes: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows that hold any of these codes of a column, as far as rows have numbers."""

    def without(self, names: Sequence[str], tuples: NDArray[np.int32]) -> Engine:
        """Leave out all rows with one of these tuples of some columns; dictionaries stay as they are."""

    def retyped(self, types: Mapping[str, Callable[[pl.Series], pl.Series]]) -> Engine:
        """Return the same rows, with the distinct values that some columns still have in other types."""

    def changed(self, names: Sequence[str], change: Change) -> PublishedRows:
        """Return what a law makes of every row, in the order of what is published.

        `change` gets the codes that some rows have in these columns, and returns as many rows of their new values.
        """

    def rewrite(self, rewriting: AnyRewriting) -> PublishedRows:
        """Return what is published instead of the rows, in the order of what is published."""

    def frame(self) -> pl.DataFrame:
        """Return all rows as they were read."""
