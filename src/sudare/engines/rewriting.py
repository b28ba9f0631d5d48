"""What becomes of rows, as plain data that any engine can carry out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray


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
    """Distinct tuples of the keys, by the codes of their dictionaries; in rising order."""
    published: Mapping[str, Labels | None]
    """What is published of each column, in this order; None: what the row has."""

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
