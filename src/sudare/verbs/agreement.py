"""Ways in which rows of one unit agree, and how much likelier that makes it that they are of one.

Each is measured on the units themselves: how often their rows agree, beyond what rows do by chance. Those across columns are many, and
count only where they are found more often than chance explains: a partner's income in one column and the own one in another, shares
that two members have of a whole, a column that has another member's age.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = tuple[Ints, Ints]
FAR = 4.0
"""Standard deviations beyond which chance is no explanation, with as many cases more: of few, one more is soon far."""
DIGITS = 6
"""Digits after the point to which sums are compared: shares of a whole are rounded."""
MANY_VALUES = 20
"""Different numbers from which on a column has an order in which rows can be near."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """One row has in a column what the other has in the same or another one."""

    names: tuple[str, ...]
    own: Ints
    other: Ints
    chance: Floats
    """How many of all rows agree with each."""
    shared: float
    """How often two rows of a unit have one value that is the unit's: beyond what they have by chance."""

    @classmethod
    def of(cls, names: tuple[str, ...], own: Ints, other: Ints, pairs: Pairs) -> Self:
        """Measure how often rows of a unit agree so."""
        chance = np.bincount(other, minlength=int(own.max(initial=0)) + 1)[own] / max(len(own), 1)
        agree = float((own[pairs[0]] == other[pairs[1]]).mean()) if len(pairs[0]) else 0.0
        return cls(names, own, other, chance, _beyond(agree, float(chance.mean()) if len(own) else 0.0))

    def ratio(self, rows: Ints, others: Ints) -> Floats:
        """Return how much likelier each pair is if both rows are of one unit."""
        same = self.own[rows][:, np.newaxis] == self.other[others]
        return _likelier(same, self.shared, self.chance[rows][:, np.newaxis])


@dataclass(frozen=True, eq=False)
class Nearness:
    """Rows are near each other in the order of a column, and not alike."""

    names: tuple[str, ...]
    places: Ints
    likelier: Floats
    """By how far they are apart, in powers of two."""
    shared: float

    def ratio(self, rows: Ints, others: Ints) -> Floats:
        """Return how much likelier each pair is if both rows are of one unit."""
        return self.likelier[_apart(self.places[rows][:, np.newaxis], self.places[others])]


@dataclass(frozen=True, eq=False)
class KnownValues:
    """A row has in a column what is known of a member of its unit."""

    names: tuple[str, ...]
    values: Ints
    known: Ints
    """What is known, unit by unit."""
    starts: Ints
    """Where that of each unit begins."""
    chance: Floats
    """How many of all rows have what is known of a unit."""
    shared: float

    @classmethod
    def found(cls, passed: pl.DataFrame, known: pl.DataFrame, unit: Ints, rows: Ints) -> list[Self]:
        """Return the columns that have what is known; the first of `known` has the units' numbers, and `rows` are those of several."""
        ways = []
        of_unit = known.to_series(0).to_numpy().astype(np.int64)
        for column, about in itertools.product(passed.iter_columns(), known.get_columns()[1:]):
            own, other = comparable(column), comparable(about)
            if own is None or other is None or own.dtype != other.dtype:
                continue
            values, known_values = _numbered(own, other)
            told = np.unique(np.stack([of_unit, known_values])[:, ~other.is_null().to_numpy()], axis=1)
            often = np.bincount(values, minlength=int(known_values.max(initial=0)) + 1) / max(len(values), 1)
            chance = np.zeros(int(unit.max()) + 1)
            np.add.at(chance, told[0], often[told[1]])
            width = max(values.max(initial=0), known_values.max(initial=0)) + 1
            hits = int(np.isin(unit[rows] * width + values[rows], told[0] * width + told[1]).sum())
            expected = float(chance[unit[rows]].sum())
            if hits - expected > _chance_explains(expected):
                shared = _beyond(hits / len(rows), expected / len(rows))
                starts = np.searchsorted(told[0], np.arange(len(chance) + 1))
                ways.append(cls((column.name,), values, told[1], starts, chance, shared))
        return ways

    def ratio(self, unit: int, rows: Ints) -> Floats:
        """Return how much likelier each row is if it is of a unit."""
        hit = np.isin(self.values[rows], self.known[self.starts[unit] : self.starts[unit + 1]])
        return _likelier(hit, self.shared, self.chance[unit])


def across(passed: pl.DataFrame, pairs: Pairs) -> list[Agreement]:
    """Return how rows of a unit agree across columns, and which numbers of theirs have one sum, where chance does not explain it."""
    found = []
    columns = [own for own in map(comparable, passed.iter_columns()) if own is not None]
    for dtype in dict.fromkeys(own.dtype for own in columns):
        alike = [own for own in columns if own.dtype == dtype]
        named = zip([own.name for own in alike], _numbered(*alike), strict=True)
        for (one, own), (other, its) in itertools.permutations(named, 2):
            found += _beyond_chance((one, other), own, its, pairs)
    for column in columns:
        if column.dtype == pl.Float64 and (rest := _rest_of_whole(column, pairs)) is not None:
            halves = _numbered(column.round(DIGITS), rest)
            found += _beyond_chance((column.name,), halves[0], halves[1], pairs)
    return found


def _rest_of_whole(column: pl.Series, pairs: Pairs) -> pl.Series | None:
    """Return what each number lacks of the sum that unlike rows of units have most often."""
    one, other = column.gather(pairs[0]), column.gather(pairs[1])
    sums = (one + other).filter(one != other).round(DIGITS).drop_nulls()
    if not len(sums):
        return None
    whole: float = sums.mode().sort()[0]
    rest: pl.Series = (whole - column).round(DIGITS)
    return rest.set(rest == column.round(DIGITS), None)  # both halves are alike, which is told already


def _beyond_chance(names: tuple[str, ...], own: Ints, other: Ints, pairs: Pairs) -> list[Agreement]:
    agree = int((own[pairs[0]] == other[pairs[1]]).sum())
    if agree <= _chance_explains(0):  # before anything is counted: pairs of columns are many
        return []
    way = Agreement.of(names, own, other, pairs)
    expected = float(way.chance[pairs[0]].sum())
    return [way] if agree - expected > _chance_explains(expected) else []


def near(passed: pl.DataFrame, pairs: Pairs) -> list[Nearness]:
    """Return the columns in whose order unlike rows of a unit are nearer than others."""
    found = []
    for column in passed.iter_columns():
        values = comparable(column)
        if values is None or values.dtype == pl.String or values.n_unique() < MANY_VALUES:
            continue
        places = _numbered(values)[0]
        apart = _apart(places[pairs[0]], places[pairs[1]])
        apart = apart[apart > 0]  # alike ones are told by the agreement
        expected = _unlike_apart(places) * len(apart)
        seen = np.bincount(apart, minlength=len(expected))
        far = np.abs(seen - expected) > _chance_explains(expected)
        if far.any():
            likelier = np.where(far, (seen + 1) / (expected + 1), 1.0)
            more = float(np.maximum(seen - expected, 0)[far].sum()) / len(apart)
            found.append(Nearness((column.name,), places, likelier, more))
    return found


def comparable(series: pl.Series) -> pl.Series | None:
    """Return values as those of other columns can be compared with them: as numbers, times or texts; nothing of other types.

    >>> comparable(pl.Series([1, 2])).dtype == comparable(pl.Series([1.0])).dtype
    True
    """
    dtype = series.dtype
    if dtype.is_numeric():
        return series.cast(pl.Float64)
    if dtype in (pl.Date, pl.Datetime):
        return series.cast(pl.Datetime("us"), strict=False)
    return series.cast(pl.String) if dtype in (pl.String, pl.Categorical, pl.Enum) else None


def _numbered(*columns: pl.Series) -> list[Ints]:
    """Number the values of columns together, in their order; a missing one is another in each of them."""
    every = pl.concat([own.alias("value") for own in columns]).rank("dense").cast(pl.Int64)
    most = int(every.max() or 0)  # type: ignore[arg-type]
    codes, start = [], 0
    for at, own in enumerate(columns):
        codes.append(every.slice(start, len(own)).fill_null(most + 1 + at).to_numpy())
        start += len(own)
    return codes


def _apart(one: Ints, other: Ints) -> Ints:
    """Say how far places are apart: 0 alike, 1 up to two places, 2 up to six, and so on."""
    apart: Ints = np.log2(np.abs(one - other) + 1.0).astype(np.int64)
    return apart


def _unlike_apart(places: Ints) -> Floats:
    """Return which share of all pairs of unlike rows is how far apart, counted exactly."""
    order = np.sort(places)
    alike = np.searchsorted(order, order, side="right")
    farthest = 2 ** np.arange(1, int(_apart(order[-1], order[0])) + 2) - 2
    within = np.array(
        [(np.searchsorted(order, order + far, side="right") - alike).sum() for far in farthest], dtype=float
    )
    shares: Floats = np.diff(within, prepend=0.0) / max(within[-1], 1.0)
    return shares


def _likelier(agree: NDArray[np.bool_], shared: float, chance: Floats) -> Floats:
    """Return how much likelier agreeing, or not, is within a unit, where a value is shared so often, than by chance."""
    chance = np.maximum(chance, 1e-12)  # of what no row has, none agrees
    return np.where(agree, 1 - shared + shared / chance, 1 - shared)


def _beyond(agree: float, chance: float) -> float:
    return min(max((agree - chance) / max(1 - chance, 1e-12), 0.0), 0.999)


def _chance_explains(expected: Floats | float) -> Floats:
    """Return how many cases more than expected chance explains."""
    return np.asarray(FAR * np.sqrt(expected) + FAR)
