"""What becomes of rows, as plain data that any engine can carry out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

ALL = 2**62
"""More rows than any tuple has."""


@dataclass(frozen=True, eq=False)
class Labels:
    """What is published of an attribute: some values, and for every tuple which of them."""

    values: pl.Series
    of_tuple: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rewriting:
    """A row is looked up by its tuple of key columns, and published with the labels of that tuple.

    Rows whose tuple is not listed are left out.
    """

    keys: tuple[str, ...]
    tuples: NDArray[np.int32]
    """Tuples of the keys, by the codes of their dictionaries; in rising order."""
    published: Mapping[str, Labels | None]
    """What is published of each column, in this order; None: what the row has."""
    until: NDArray[np.int64] | None = None
    """If a tuple is listed several times, its rows are dealt, in the order of what else is published of them: each place gets
    those up to this number, and the last place all that are left. None: every tuple is listed once."""

    def pieces(self) -> Iterator[Rewriting]:
        """Return itself: all tuples at once."""
        yield self

    def joined(self) -> Rewriting:
        """Return itself."""
        return self

    @property
    def dealt(self) -> bool:
        """Whether a tuple is listed several times."""
        return self.until is not None

    def untils(self) -> NDArray[np.int64]:
        """Return up to which row of its tuple each place gets rows."""
        return np.full(len(self.tuples), ALL, dtype=np.int64) if self.until is None else self.until

    def blocks_by(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Number the tuples by what is published of some columns, all of them keys: these are the blocks that are seen."""
        columns = [
            self.tuples[:, self.keys.index(name)] if labels is None else labels.of_tuple
            for name, labels in self.published.items()
            if name in names
        ]
        if not columns:
            return np.zeros(len(self.tuples), dtype=np.int64)
        _, blocks = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        return np.asarray(blocks.reshape(-1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PiecewiseRewriting:
    """A rewriting of more tuples than are held at once. All pieces have the same keys, and publish the same values."""

    make: Callable[[], Iterator[Rewriting]]
    dealt: bool
    """Whether a piece may list a tuple several times."""

    def pieces(self) -> Iterator[Rewriting]:
        """Return the pieces, one after the other."""
        return self.make()

    def joined(self) -> Rewriting:
        """Return all tuples at once."""
        pieces = list(self.pieces())
        published = {
            name: labels
            and Labels(labels.values, np.concatenate([_labels_of(piece, name).of_tuple for piece in pieces]))
            for name, labels in pieces[0].published.items()
        }
        tuples = np.concatenate([piece.tuples for piece in pieces])
        until = np.concatenate([piece.untils() for piece in pieces]) if self.dealt else None
        return Rewriting(pieces[0].keys, tuples, published, until)


def _labels_of(piece: Rewriting, name: str) -> Labels:
    labels = piece.published[name]
    assert labels is not None  # all pieces publish alike
    return labels


AnyRewriting = Rewriting | PiecewiseRewriting
