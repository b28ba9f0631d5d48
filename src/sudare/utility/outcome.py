"""What became of a table's records: to which level of its hierarchy each quasi value climbed, and who was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import ParameterError
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table
from sudare.utility.tree import Tree


def in_pieces(outcomes: Outcome | Iterable[Outcome]) -> Iterable[Outcome]:
    """Return the pieces that tuples come in: one, if they come at once."""
    return [outcomes] if isinstance(outcomes, Outcome) else outcomes


@dataclass(frozen=True, eq=False)
class Outcome:
    """Tuples of a table with their weights, a level for each quasi value, and whether the records are published.

    Values of records that are left out count as suppressed.

    >>> import polars as pl, sudare as sd
    >>> table = sd.read(pl.DataFrame({"sex": ["f", "m", "m"]}), sd.Schema.from_roles(quasi=["sex"]))
    >>> outcome = Outcome.of(table, [[0], [1]], kept=[True, False])
    >>> outcome.records, outcome.published
    (3, 1)
    """

    table: Table
    """Its dictionaries say what the codes stand for; its rows are not looked at."""
    counts: Counts
    levels: NDArray[np.integer[Any]]
    """One row per tuple, one column per quasi attribute in the table's order."""
    kept: NDArray[np.bool_]

    @classmethod
    def of(
        cls, table: Table, levels: ArrayLike, kept: ArrayLike | None = None, counts: Counts | None = None
    ) -> Outcome:
        """Check and lay out levels: one row per tuple of the counts, or one level per attribute for all.

        The counts are of all quasi attributes, unless others are given that have them and more.
        """
        names = table.names(Role.quasi)
        counts = table.counts(names) if counts is None else counts
        given = np.asarray(levels)
        if given.dtype.kind not in "iu":
            raise ParameterError(f"The 'levels' parameter must be whole numbers. Got {given.dtype} instead.")
        if given.shape not in ((len(names),), (len(counts), len(names))):
            raise ParameterError(
                f"The 'levels' parameter must have {len(counts):,} tuples x {len(names)} quasi attributes, or one level "
                f"per attribute. Got {' x '.join(map(str, given.shape))} instead."
            )
        chosen = np.ones(len(counts), dtype=bool) if kept is None else np.asarray(kept)
        if chosen.shape != (len(counts),) or chosen.dtype != bool:
            raise ParameterError(
                f"The 'kept' parameter must be {len(counts):,} truth values, one per tuple. "
                f"Got {chosen.dtype} of shape {chosen.shape} instead."
            )
        outcome = cls(table, counts, np.broadcast_to(given, (len(counts), len(names))), chosen)
        for name, tree, climbed in outcome.climbs():
            if climbed.size and (climbed.min() < 0 or climbed.max() > tree.height):
                raise ParameterError(
                    f"The 'levels' parameter must be from 0 to {tree.height} for '{name}'. "
                    f"Got {climbed.min()} to {climbed.max()} instead."
                )
        return outcome

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.counts.total

    @property
    def published(self) -> int:
        """How many records are published."""
        return int(self.counts.weights[self.kept].sum())

    def climbs(self) -> Iterator[tuple[str, Tree, NDArray[Any]]]:
        """Yield every quasi attribute with its tree and the level that each tuple climbed to; the root if not kept."""
        for name, climbed in zip(self.table.names(Role.quasi), self.levels.T, strict=True):
            tree = Tree.of(self.table[name], self.table.schema[name])
            yield name, tree, np.where(self.kept, climbed, tree.height)
