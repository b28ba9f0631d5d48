"""Columns that are passed on as they are and tell what is generalized beside them: a year of birth, and the age."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.privacy.uniqueness import FEWEST, passed_on
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.table import Table

Sizes = NDArray[np.float64]
SHARED = (
    0.5  # of the records, that have a value which others have, too: of values of one record, all would follow
)
TOLD = 0.95  # of what the most frequent value leaves to be told


def telling_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return a warning for each of some columns that is published as it is, and from which a quasi attribute follows.

    >>> import polars as pl, sudare as sd
    >>> people = pl.DataFrame({"age": [20, 30, 40, 50] * 10, "born": [2000, 1990, 1980, 1970] * 10})
    >>> table = sd.read(people, sd.Schema.from_roles(quasi=["age"], other=["born"]))
    >>> print(telling_columns(table, ["age", "born"])[0])
    'born' is published as it is, and tells 'age': of the records that share a value of it, 100% are alike there. Make it quasi, or an identifier, or what 'age' is generalized to hides nothing.
    """
    own = passed_on(table)
    quasi = {name: _sizes(table, name) for name in table.names(Role.quasi) if name in names}
    told = [
        (name, about, share)
        for name in names
        if name in own and _shares(sizes := _sizes(table, name))
        for about, others in quasi.items()
        if (share := _told(table.counts([name, about]), sizes, others))
    ]
    return [
        f"'{name}' is published as it is, and tells '{about}': of the records that share a value of it, {share:.0%} are alike there. "
        f"Make it quasi, or an identifier, or what '{about}' is generalized to hides nothing."
        for name, about, share in told
    ]


def _sizes(table: Table, name: str) -> Sizes:
    """Count the records of each value of a column."""
    counts = table.counts([name])
    return np.bincount(counts.column(name), counts.weights).astype(np.float64)


def _shares(sizes: Sizes) -> bool:
    """Tell whether so many records have a value which others have, too, that it is worth asking what follows from it."""
    records = sizes.sum()
    return bool(records >= FEWEST and sizes[sizes >= 2].sum() >= SHARED * records)


def _told(pairs: Counts, sizes: Sizes, others: Sizes) -> float | None:
    """Return how many of the records that share a value have the most frequent one of another column there, if that tells it."""
    shared = sizes >= 2
    most = np.zeros(len(sizes))
    np.maximum.at(most, pairs.codes[:, 0], pairs.weights)
    share = float(most[shared].sum() / sizes[shared].sum())
    usual = float(others.max() / sizes.sum())
    return share if share - usual >= TOLD * (1 - usual) > 0 else None
