"""Looking known households up among rows that belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks import _kernels
from sudare.attacks._kernels import Known
from sudare.attacks.lookup import Lookup, records_by_value
from sudare.attacks.published import Published
from sudare.attacks.tied_rows import Grouped
from sudare.tables.attribute import Role
from sudare.tables.counts import Counts
from sudare.tables.exact import texts
from sudare.tables.runs import PublishedRows
from sudare.tables.schema import Schema
from sudare.tables.table import Table

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
MAX_FITS = 2**23  # pairs of a household and a group that are looked at at a time


@dataclass(frozen=True)
class Tied:
    """What is found where rows that belong together are known by something."""

    groups: int
    """How many groups of rows there are."""
    candidates: dict[int, int]
    """How many households have how many groups that may have them. Which have none are not in the output."""
    least: int
    """The fewest groups of any household that has some; 0 where none has."""
    below: int
    """Households with fewer than k groups, but some."""
    learned: int
    """Households with one group, which has them: what its rows share is learned, by who knows that members agree in it."""
    alone: int
    """Those of them whose rows are found, for no more rows of the group could be any member's."""
    share: float
    """The share of all households whose rows are found."""
    named: float
    """The share of households whose group is expected to be guessed rightly."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self) | {"candidates": {str(groups): own for groups, own in self.candidates.items()}}


@dataclass(frozen=True, eq=False)
class LookedUp:
    """Known households, and the blocks that their members may be in."""

    published: Published
    """Its sensitive attributes are all columns that are not quasi."""
    people: Table
    unit: str
    codes: NDArray[np.int32]
    """Which households are looked up."""
    lookup: Lookup
    known: Known
    sizes: Ints
    """How many members each household has."""
    bits: Any
    """Which blocks cover which value."""

    @classmethod
    def of(cls, rows: PublishedRows, schema: Schema, people: Table, unit: str, most: int | None) -> LookedUp:
        """Look up all households of some people, or so many at most."""
        quasi = schema.names(Role.quasi)
        others = [name for name in rows.columns if name not in quasi]
        published = Published.open(rows, Schema.from_roles(quasi=quasi, sensitive=others))
        counts = people.counts([unit, *quasi])
        codes = np.unique(counts.column(unit))
        if most is not None and most < len(codes):
            codes = codes[np.linspace(0, len(codes) - 1, most).astype(np.int64)]
            counts = _of_some(counts, unit, codes)
        lookup = Lookup.of("output", published, people, counts)
        starts, weights = _starts(counts.column(unit)), counts.weights.astype(np.int64)
        return cls(
            published=published,
            people=people,
            unit=unit,
            codes=codes,
            lookup=lookup,
            known=Known(starts, lookup.people, weights),
            sizes=np.add.reduceat(weights, starts[:-1]),
            bits=_kernels.mark_blocks(
                lookup.label_of, lookup.starts, lookup.covered, 0, len(published), lookup.values
            ),
        )

    def tied(self, grouped: Grouped, k: int) -> Tied:
        """Look everybody up in some groups."""
        alike = grouped.arrays.alike
        parts = [
            (np.minimum(fits, 1) @ alike, fits.argmax(axis=1), fits.max(axis=1))
            for fits in self._fits(grouped)
        ]
        left, found, best = (np.concatenate(part) for part in zip(*parts, strict=True))
        learned = (left == 1) & self._theirs(grouped, found)
        alone = learned & (best == 2)
        with_so_many = np.bincount(left)
        return Tied(
            groups=int(alike.sum()),
            candidates={int(n): int(with_so_many[n]) for n in np.flatnonzero(with_so_many)},
            least=int(left[left > 0].min()) if left.any() else 0,
            below=int(((left > 0) & (left < k)).sum()),
            learned=int(learned.sum()),
            alone=int(alone.sum()),
            share=float(alone.mean()),
            named=float((self._agree(grouped)[left > 0] / left[left > 0]).sum() / len(left)),
        )

    def _fits(self, grouped: Grouped) -> Iterator[NDArray[np.uint8]]:
        """Return for some households after others which groups may have them, and which have just their rows."""
        groups = len(grouped.sizes)
        first = np.searchsorted(grouped.sizes, self.sizes)
        last = np.searchsorted(grouped.sizes, self.sizes, side="right")
        stop = last if grouped.exact else np.full_like(first, groups)
        step = max(1, MAX_FITS // groups)
        for at in range(0, len(self.sizes), step):
            some = self.known._replace(starts=self.known.starts[at : at + step + 1])
            fits = np.zeros((len(some.starts) - 1, groups), dtype=np.uint8)
            _kernels.fit(some, self.bits, grouped.arrays, first[at : at + step], stop[at : at + step], fits)
            yield fits

    def _theirs(self, grouped: Grouped, found: Ints) -> Bools:
        """Say of which households the known values are those of the group that was found; what is not known is believed."""
        theirs = np.ones(len(found), dtype=bool)
        for name, of_groups in zip(grouped.ties, grouped.values.iter_columns(), strict=False):
            if name in self.people.columns and name != self.unit:
                pairs = _of_some(self.people.counts([self.unit, name]), self.unit, self.codes)
                starts = _starts(pairs.column(self.unit))
                own = texts(self.people[name].decode(pairs.column(name)[starts[:-1]]))
                theirs &= own.eq_missing(of_groups.gather(found)).to_numpy()
                if not grouped.in_order:
                    theirs &= np.diff(starts) == 1
        return theirs

    def _agree(self, grouped: Grouped) -> Bools:
        """Say which households' rows belong together as those of a group do; what is not known is believed."""
        agree = np.ones(len(self.codes), dtype=bool)
        for name in grouped.ties:
            if name in self.people.columns and name != self.unit:
                pairs = _of_some(self.people.counts([self.unit, name]), self.unit, self.codes)
                starts, own = _starts(pairs.column(self.unit)), pairs.column(name).astype(np.int64)
                first, last = (np.minimum.reduceat(own, starts[:-1]), np.maximum.reduceat(own, starts[:-1]))
                agree &= last - first + 1 == self.sizes if grouped.in_order else first == last
        return agree

    def certain_by_groups(self, grouped: Grouped, sensitive: str) -> int:
        """Count the households of which some value is certain, for every group that may be theirs has it."""
        tie, value = (f"s{self.published.sensitive.index(name)}" for name in (grouped.ties[0], sensitive))
        group_of = grouped.values.select("tied").with_row_index("group").explode("tied")
        pairs = self.published.tuples().select(tie, value).unique()
        pairs = pairs.join(group_of, left_on=tie, right_on="tied", nulls_equal=True)
        held = pairs.group_by("group", value).agg(groups=pl.len())
        held = held.with_columns(alike=pl.Series(grouped.arrays.alike).gather(held["group"]))
        in_all_alike = (
            held.filter(pl.col("groups") == pl.col("alike")).select(value).unique().with_row_index("code")
        )
        held = held.join(in_all_alike, on=value, nulls_equal=True)  # no other value can be certain
        holding = np.zeros((len(grouped.sizes), in_all_alike.height), dtype=np.float32)
        holding[held["group"].to_numpy(), held["code"].to_numpy()] = held["groups"].to_numpy()
        certain = 0
        for fits in self._fits(grouped):
            may = np.minimum(fits, 1).astype(np.float32)
            left = may @ grouped.arrays.alike.astype(np.float32)
            certain += int(((may @ holding == left[:, None]) & (left[:, None] > 0)).any(axis=1).sum())
        return certain

    def certain_by_counting(self, sensitive: str) -> int:
        """Count the households of which some value is certain, for the other rows are too few for all of some alike members."""
        values, (records,) = records_by_value([self.lookup], sensitive)
        step = max(1, MAX_FITS // len(values))
        needs, certain = self.known.weights, np.zeros(len(self.known.weights), dtype=bool)
        for at in range(0, len(needs), step):
            some = slice(at, at + step)
            counts = self.lookup.records_of(some, records)
            certain[some] = (counts.sum(axis=1) - counts.max(axis=1) < needs[some]) & (
                counts.sum(axis=1) >= needs[some]
            )
        return int(np.logical_or.reduceat(certain, self.known.starts[:-1]).sum())


def _of_some(counts: Counts, unit: str, codes: NDArray[np.int32]) -> Counts:
    """Return the tuples of some households."""
    return counts.at(np.flatnonzero(np.isin(counts.column(unit), codes)))


def _starts(codes: NDArray[np.int32]) -> Ints:
    """Return where each household's tuples start, and where all end."""
    return np.append(np.flatnonzero(np.diff(codes, prepend=-1)), len(codes)).astype(np.int64)
