"""Columns that are passed on as they are and tell what is generalized beside them: a year of birth, and the age."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.tables.attribute import Role
from sudare.tables.table import Table

FEWEST = 20  # records; among fewer, chance does as much
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
    own = set(table.publishable) & set(table.names(Role.other) + table.names(Role.sensitive))
    quasi = [name for name in table.names(Role.quasi) if name in names]
    told = [
        (name, about, share)
        for name in names
        if name in own
        for about in quasi
        if (share := _told(table, name, about))
    ]
    return [
        f"'{name}' is published as it is, and tells '{about}': of the records that share a value of it, {share:.0%} are alike there. "
        f"Make it quasi, or an identifier, or what '{about}' is generalized to hides nothing."
        for name, about, share in told
    ]


def _told(table: Table, name: str, about: str) -> float | None:
    """Return how many of the records that share a value have the most frequent one of another column there, if that tells it."""
    sizes = np.bincount(*_weighed(table, name))
    shared = sizes >= 2
    if table.counts([name]).total < FEWEST or sizes[shared].sum() < SHARED * sizes.sum():
        return None
    counts = table.counts([name, about])
    most = np.zeros(len(sizes))
    np.maximum.at(most, counts.column(name), counts.weights)
    share = float(most[shared].sum() / sizes[shared].sum())
    usual = float(np.bincount(*_weighed(table, about)).max() / sizes.sum())
    return share if share - usual >= TOLD * (1 - usual) > 0 else None


def _weighed(table: Table, name: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    counts = table.counts([name])
    return counts.column(name), counts.weights
