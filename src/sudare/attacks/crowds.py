"""Who is in which block: what an outsider has who knows everybody's quasi values, beside a release.

Attacks that know the method reason about people inside a block: who of them has which of the block's sensitive values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.lookup import Lookup
from sudare.attacks.published import Published
from sudare.errors import InputError
from sudare.plans.generalization import Located
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.exact import texts
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_PAIRS = 2**26  # of a tuple and a block that are looked at at a time
MAX_CELLS = 2**22  # pairs of a kind of people and a sensitive value that are held
MAX_COVERS = 2**31  # pairs of a known value and a block
_ANY: list[str | None] = ["*"]


@dataclass(frozen=True, eq=False)
class Crowd:
    """People by block: `weights[i]` of those with the quasi values `tuples[i]` are in block `block[i]`, which rises.

    Only blocks of which everybody is known are here, numbered from 0; there may be fewer than the release has.
    """

    people: Table
    """Whose dictionaries say what the values and their hierarchies are."""
    names: tuple[str, ...]
    """The quasi attributes."""
    sensitive: str | None
    values: list[str | None]
    """The published values of the sensitive attribute; one that stands for any, without such an attribute."""
    tuples: NDArray[np.int32]
    block: Ints
    weights: Ints
    histograms: Ints
    """How many records of each block have each sensitive value."""
    truth: Floats | None
    """Which share of the people of each row really has each sensitive value, where that is known: it is for scoring alone."""
    numbers: Ints
    """Which block of the release each of these is."""
    blocks: int
    """How many blocks the release has."""
    overall: Ints
    """How many records of all its blocks have each sensitive value."""
    widths: Floats
    """How wide the labels of these blocks are."""
    levels: Ints | None = None
    """To which level each of them climbs, where the plan told."""

    @property
    def sizes(self) -> Ints:
        """How many records each block has."""
        return np.asarray(self.histograms.sum(axis=1))

    @property
    def starts(self) -> Ints:
        """Where the rows of each block begin, and where the last ones end."""
        return np.searchsorted(self.block, np.arange(len(self.histograms) + 1))

    @classmethod
    def placed(cls, published: Published, sensitive: str | None, known: Table) -> Crowd:
        """Put known people into the blocks whose labels cover them.

        Where several do, a person is taken to be in the narrowest one that has room, and who has the fewest choices chooses
        first. Of a release by Mondrian that is where they are; of one by local recoding it is a good guess.
        """
        if not published.quasi:
            raise InputError("The output has no quasi attribute; there is nobody to look up.")
        counts = known.counts(list(published.quasi))
        lookup = Lookup.of("output", published, known, counts)
        covered = np.diff(lookup.starts)[
            lookup.label_of
        ]  # attributes x blocks: how many known values a label covers
        widths = np.log(np.maximum(covered, 1)).sum(axis=0)
        tuple_of, block_of, weights = _greedily(lookup, counts.weights, published.sizes.to_numpy(), widths)
        values, histograms = _histograms(published, sensitive, known)
        placed = np.bincount(block_of, weights, minlength=len(published)).astype(np.int64)
        filled = placed == histograms.sum(axis=1)
        kept = filled[block_of]
        tuple_of, block_of, weights = tuple_of[kept], block_of[kept], weights[kept]
        order = np.lexsort((tuple_of, block_of))
        truth = _truth(known, counts, sensitive, values)
        return cls(
            known,
            published.quasi,
            sensitive,
            values,
            counts.codes[tuple_of[order]],
            (np.cumsum(filled) - 1)[block_of[order]],
            weights[order],
            histograms[filled],
            None if truth is None else truth[tuple_of[order]],
            np.flatnonzero(filled),
            len(published),
            histograms.sum(axis=0),
            widths[filled],
        )

    @classmethod
    def located(cls, whole: Located, sensitive: str | None, blocks: int) -> Crowd:
        """Take everybody's block from the plan, or of some blocks at random where there are more.

        An outsider can hardly know more, so that no attack is underrated.
        """
        whole = whole if sensitive is None else whole.with_column(sensitive)
        table, quasi = whole.table, whole.table.names(Role.quasi)
        seen, levels = _seen(whole)
        values, value = _ANY, np.zeros(len(seen), dtype=np.int64)
        if sensitive is not None:
            values, value = texts_of(table, sensitive), whole.counts.column(sensitive).astype(np.int64)
        numbers = np.arange(len(levels))
        room = max(1, MAX_CELLS * len(levels) // (len(seen) * len(values)))
        if len(numbers) > min(blocks, room):
            numbers = np.sort(np.random.default_rng(0).choice(numbers, size=min(blocks, room), replace=False))
        place = np.full(len(levels) + 1, -1)  # the last is that of those who are left out
        place[numbers] = np.arange(len(numbers))
        block = place[seen]
        overall = np.bincount(
            value[seen >= 0], whole.counts.weights[seen >= 0], minlength=len(values)
        ).astype(np.int64)
        chosen = np.flatnonzero(block >= 0)
        counts, block, value = whole.counts.at(chosen), block[chosen], value[chosen]
        histograms = np.zeros((len(numbers), len(values)), dtype=np.int64)
        np.add.at(histograms, (block, value), counts.weights)
        codes = np.column_stack([counts.column(name) for name in quasi])
        rows, row_of = np.unique(np.column_stack([block, codes]), axis=0, return_inverse=True)
        truth = np.zeros((len(rows), len(values)))
        np.add.at(truth, (row_of.reshape(-1), value), counts.weights)
        weights = truth.sum(axis=1)
        return cls(
            table,
            tuple(quasi),
            sensitive,
            values,
            rows[:, 1:].astype(np.int32),
            rows[:, 0].astype(np.int64),
            weights.astype(np.int64),
            histograms,
            truth / weights[:, None],
            numbers,
            len(levels),
            overall,
            levels[numbers] @ [1 / tree_of(table, name).height for name in quasi],
            levels[numbers],
        )

    def sampled(self, blocks: int, rng: np.random.Generator) -> Crowd:
        """Keep some blocks at random, where there are more."""
        if len(self.histograms) <= blocks:
            return self
        chosen = np.sort(rng.choice(len(self.histograms), size=blocks, replace=False))
        number = np.full(len(self.histograms), -1)
        number[chosen] = np.arange(blocks)
        kept = number[self.block] >= 0
        return replace(
            self,
            tuples=self.tuples[kept],
            block=number[self.block[kept]],
            weights=self.weights[kept],
            histograms=self.histograms[chosen],
            truth=None if self.truth is None else self.truth[kept],
            numbers=self.numbers[chosen],
            widths=self.widths[chosen],
            levels=None if self.levels is None else self.levels[chosen],
        )

    def without_absent_values(self) -> Crowd:
        """Leave out the sensitive values that none of these blocks has."""
        present = np.flatnonzero(self.histograms.any(axis=0))
        return replace(
            self,
            values=[self.values[code] for code in present],
            histograms=self.histograms[:, present],
            truth=None if self.truth is None else self.truth[:, present],
            overall=self.overall[present],
        )

    def children(self, tuples: NDArray[np.int32]) -> Iterator[Ints]:
        """Return for every attribute in which some people differ the nodes, a level below where they meet, that they are in."""
        for a, name in enumerate(self.names):
            codes = tuples[:, a]
            if (codes == codes[0]).all():
                continue
            nodes = tree_of(self.people, name).codes[:, codes]
            apart = (nodes != nodes[:, :1]).any(axis=1)
            yield np.unique(nodes[np.flatnonzero(apart)[-1]], return_inverse=True)[1].reshape(-1)


def _seen(whole: Located) -> tuple[Ints, Ints]:
    """Return for every tuple the block that receivers see, -1 if it is left out, and the levels of these blocks.

    Blocks with the same labels are one.
    """
    covered = np.flatnonzero(whole.covered)
    own, first, block_of = np.unique(whole.block_of[covered], return_index=True, return_inverse=True)
    labels = []
    for a, name in enumerate(whole.table.names(Role.quasi)):
        tree = tree_of(whole.table, name)
        corners, levels = whole.counts.column(name)[covered[first]], whole.levels[own, a]
        own_labels = [
            tree.labels[level][tree.codes[level, leaf]] for level, leaf in zip(levels, corners, strict=True)
        ]
        number = {text: i for i, text in enumerate(dict.fromkeys(own_labels))}
        labels.append([number[text] for text in own_labels])
    _, kept, alike = np.unique(np.array(labels).T, axis=0, return_index=True, return_inverse=True)
    seen = np.full(len(whole.block_of), -1, dtype=np.int64)
    seen[covered] = alike.reshape(-1)[block_of]
    return seen, whole.levels[own[kept]].astype(np.int64)


def tree_of(table: Table, name: str) -> Hierarchy:
    """Return the hierarchy of an attribute; without one, values are published or left open."""
    column = table[name]
    if column.hierarchy is not None:
        return column.hierarchy
    codes = np.zeros((2, column.size), dtype=np.int32)
    codes[0] = np.arange(column.size)
    return Hierarchy((tuple(map(str, range(column.size))), ("*",)), codes)


def _greedily(lookup: Lookup, people: Ints, sizes: Ints, widths: Floats) -> tuple[Ints, Ints, Ints]:
    """Return which tuple's people are in which block, and how many."""
    order = np.argsort(widths, kind="stable")  # the narrowest block first
    choices = list(_choices(lookup, order))
    left, room = people.tolist(), sizes[order].tolist()
    found: list[tuple[int, int, int]] = []
    for i in sorted(range(len(choices)), key=lambda i: len(choices[i])):
        for b in choices[i]:
            if number := min(left[i], room[b]):
                left[i] -= number
                room[b] -= number
                found.append((i, b, number))
                if not left[i]:
                    break
    rows = np.array(found, dtype=np.int64).reshape(-1, 3)
    return rows[:, 0], order[rows[:, 1]], rows[:, 2]


def _choices(lookup: Lookup, order: Ints) -> Iterator[list[int]]:
    """Return for every tuple the blocks whose labels cover it, by their place in an order."""
    if lookup.values * len(order) > MAX_COVERS:
        raise InputError(
            "The output has too many blocks, and people too many values, to be looked up. Attack a part of it."
        )
    covers = []
    for labels in lookup.label_of[:, order]:
        cover = np.zeros((lookup.values, len(order)), dtype=bool)
        for b, label in enumerate(labels):
            cover[lookup.covered[lookup.starts[label] : lookup.starts[label + 1]], b] = True
        covers.append(np.packbits(cover, axis=1))
    step = max(1, MAX_PAIRS // len(order))
    for at in range(0, len(lookup.people), step):
        some = lookup.people[at : at + step]
        both = covers[0][some[:, 0]]
        for a in range(1, some.shape[1]):
            both &= covers[a][some[:, a]]
        who, block = np.nonzero(np.unpackbits(both, axis=1, count=len(order)))
        yield from (part.tolist() for part in np.split(block, np.searchsorted(who, np.arange(1, len(some)))))


def _histograms(published: Published, sensitive: str | None, known: Table) -> tuple[list[str | None], Ints]:
    """Count the values of every block; in the order of the known people's dictionary, if that has all of them."""
    if sensitive is None:
        return _ANY, published.sizes.to_numpy().astype(np.int64)[:, None]
    counted = published.counted(sensitive)
    values: list[str | None] = counted["value"].unique().sort(nulls_last=True).to_list()
    if sensitive in known.columns and set(values) <= set(own := texts_of(known, sensitive)):
        values = own
    numbered = pl.DataFrame({"value": pl.Series(values, dtype=pl.String)}).with_row_index("code")
    codes = counted.join(numbered, on="value", how="left", nulls_equal=True, maintain_order="left")["code"]
    histograms = np.zeros((len(published), len(values)), dtype=np.int64)
    histograms[counted["block"].to_numpy(), codes.to_numpy()] = counted["count"].to_numpy()
    return values, histograms


def texts_of(table: Table, name: str) -> list[str | None]:
    """Return the text of every code of a column."""
    column = table[name]
    return [*texts(column.values).to_list(), *([None] if column.missing else [])]


def _truth(known: Table, counts: Counts, sensitive: str | None, values: list[str | None]) -> Floats | None:
    """Return how the people of each tuple are spread over the published values, if the known table tells."""
    if sensitive is None or sensitive not in known.columns:
        return None
    if len(counts) * len(values) > 32 * MAX_CELLS:
        raise InputError(
            f"The known people, and the values of '{sensitive}', are too many to be held together. Attack a part of the output."
        )
    both = known.counts([*counts.names, sensitive])
    first = np.append(True, (both.codes[1:, :-1] != both.codes[:-1, :-1]).any(axis=1))
    code_of = {value: code for code, value in enumerate(values)}
    of_value = np.array([code_of.get(text, len(values)) for text in texts_of(known, sensitive)])
    truth = np.zeros((len(counts), len(values) + 1))
    np.add.at(truth, (np.cumsum(first) - 1, of_value[both.codes[:, -1]]), both.weights)
    return truth[:, :-1] / counts.weights[:, None]
