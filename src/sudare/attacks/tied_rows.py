"""Which rows of an output belong together, as far as an outsider can tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sudare.attacks._kernels import Groups
from sudare.attacks.published import Published
from sudare.tables.table import Table

Ints = NDArray[np.int64]
MAX_ORDERED = 2**15  # rows that are put in order
MAX_NEIGHBOURS = 12  # members of a household whose rows are looked for next to each other


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups of rows, as arrays for the kernel, the smallest first; groups with rows of the same blocks stand once."""

    name: str
    ties: tuple[str, ...]
    arrays: Groups
    sizes: Ints
    """How many rows each group has."""
    values: pl.DataFrame
    """What the first of alike groups has in the columns that tie it; and, of the first of these, all that alike ones have."""
    exact: bool
    """Whether a group is one household; others may be several."""
    in_order: bool
    """Whether its rows stand next to each other; otherwise they agree."""

    @classmethod
    def agreeing(cls, published: Published, ties: Sequence[str], *, exact: bool = False) -> Grouped:
        """Group rows that have the same values."""
        own = [f"s{published.sensitive.index(name)}" for name in ties]
        rows = published.tuples().group_by(*own, "block").agg(pl.sum("weight")).sort("block")
        groups = rows.group_by(own, maintain_order=True).agg("block", "weight")
        alike = groups.group_by("block", "weight", maintain_order=True).agg(
            pl.first(*own), alike=pl.len(), tied=pl.col(own[0])
        )
        alike = alike.with_columns(size=pl.col("weight").list.sum()).sort("size", maintain_order=True)
        arrays = Groups(
            np.cumsum([0, *alike["block"].list.len()], dtype=np.int64),
            alike["block"].explode().to_numpy().astype(np.int64),
            alike["weight"].explode().to_numpy().astype(np.int64),
            alike["alike"].to_numpy().astype(np.int64),
        )
        sizes = alike["size"].to_numpy().astype(np.int64)
        return cls(
            ", ".join(ties), tuple(ties), arrays, sizes, alike.select(*own, "tied"), exact, in_order=False
        )

    @classmethod
    def neighbours(cls, published: Published, name: str, sizes: Sequence[int]) -> Grouped:
        """Take any rows as a group that stand next to each other by a column of which each row has its own value."""
        tie = f"s{published.sensitive.index(name)}"
        rows = published.tuples().select("block", tie)
        numbers = rows[tie].cast(pl.Float64, strict=False)
        rows = rows.with_columns(place=rows[tie] if numbers.null_count() else numbers).sort("place")
        blocks = rows["block"].to_numpy().astype(np.int64)
        windows = {size: np.sort(sliding_window_view(blocks, size), axis=1) for size in sizes}
        unique = [np.unique(own, axis=0, return_index=True, return_counts=True) for own in windows.values()]
        every = np.repeat(list(windows), [len(own) for own, _, _ in unique])
        members = np.concatenate([own.ravel() for own, _, _ in unique])
        arrays = Groups(
            np.append(0, np.cumsum(every)).astype(np.int64),
            members,
            np.ones(len(members), dtype=np.int64),
            np.concatenate([alike for _, _, alike in unique]).astype(np.int64),
        )
        firsts = rows[np.concatenate([first for _, first, _ in unique])].select(tie)
        return cls(
            f"the order of {name}",
            (name,),
            arrays,
            every.astype(np.int64),
            firsts,
            exact=True,
            in_order=True,
        )


def guessed(published: Published, people: Table, unit: str, sizes: Ints) -> Iterator[Grouped]:
    """Tie rows by every column that is passed on, by all of them that households of people may agree in, and by neighbours.

    `sizes` are those of the households that are looked for.
    """
    different = {name: published.tuples()[f"s{i}"].n_unique() for i, name in enumerate(published.sensitive)}
    passed_on = [name for name in published.sensitive if different[name] < published.records]
    shared = tuple(name for name in passed_on if name not in people.columns or _is_shared(people, unit, name))
    for ties in dict.fromkeys([*((name,) for name in passed_on), *([shared] if shared else [])]):
        yield Grouped.agreeing(published, ties)
    few = [size for size in np.unique(sizes).tolist() if size <= min(MAX_NEIGHBOURS, published.records)]
    for name in published.sensitive if few and published.records <= MAX_ORDERED else ():
        if name not in passed_on:  # each row has its own
            yield Grouped.neighbours(published, name, few)


def _is_shared(people: Table, unit: str, name: str) -> bool:
    """Say whether most households of several people have one value."""
    _, values = np.unique(people.counts([unit, name]).column(unit), return_counts=True)
    several = people.counts([unit]).weights > 1
    return bool((values[several] == 1).mean() > 0.5) if several.any() else True
