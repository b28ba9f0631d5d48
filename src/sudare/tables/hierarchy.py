"""Hierarchies: the tree of generalized values of an attribute."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sudare.errors import InputError, ParameterError
from sudare.tables import builders, number_builders
from sudare.tables.paths import ROOT, check_paths
from sudare.tables.text import shown, spellings, text_of, texts_of
from sudare.tables.typed import own_words, typed

ROWS = (list, tuple, np.ndarray, pl.Series)


@typed
@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The generalized values of an attribute, from the value itself (level 0) up to one root.

    Every value lies at the same depth. Nodes of a level are numbered from 0; `codes[level, leaf]` is
    the node that the leaf becomes at that level, and `labels[level][node]` what is published for it
    (None for a missing value).

    >>> h = Hierarchy.from_rows([["Paris", "France", "*"], ["Lyon", "France", "*"], ["Oslo", "Norway", "*"]])
    >>> h.height, h.leaves
    (2, ('Paris', 'Lyon', 'Oslo'))
    >>> h.publish([0, 1, 2], level=1)
    ['France', 'France', 'Norway']
    >>> h.meet([0, 0], [1, 2]).tolist()     # Paris and Lyon meet in France, Paris and Oslo at the root
    [1, 2]
    """

    labels: tuple[tuple[str | None, ...], ...]
    codes: NDArray[np.int32]

    # -- making one ------------------------------------------------------------------------------

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], lines: Sequence[str] | None = None) -> Hierarchy:
        """Make a hierarchy from paths, one per value: the value, its parent, ... up to the root.

        `lines` says where each row stands (such as "age.csv, line 7"), for error messages.
        """
        paths = [
            tuple(text_of(label) for label in (row if isinstance(row, ROWS) else _no_row(row)))
            for row in rows
        ]
        check_paths(paths, lines or [f"row {i}" for i in range(1, len(paths) + 1)])
        return cls._from_levels(list(zip(*dict.fromkeys(paths), strict=True)))

    @classmethod
    def _from_levels(cls, levels: Sequence[Sequence[str]]) -> Hierarchy:
        """Make a hierarchy from what each value becomes at every level; it must be a tree."""
        labels = [tuple(dict.fromkeys(level)) for level in levels]
        codes = np.empty((len(levels), len(levels[0])), dtype=np.int32)
        for level, names in enumerate(labels):
            node = {name: i for i, name in enumerate(names)}
            codes[level] = [node[name] for name in levels[level]]
        return cls(tuple(labels), codes)

    @classmethod
    def from_csv(cls, path: str | Path, *, delimiter: str = ";") -> Hierarchy:
        """Load ARX's format: one line per value, level 0 to n, separated by semicolons."""
        return cls.from_rows(*builders.read_csv_paths(Path(path), delimiter))

    @classmethod
    def from_file(cls, path: str | Path) -> Hierarchy:
        """Load ARX's CSV format, or a nested tree from a .json or .toml file."""
        path = Path(path)
        if path.suffix.lower() not in (".json", ".toml"):
            return cls.from_csv(path)
        try:
            return cls.from_tree(builders.read_tree(path))
        except InputError as error:
            raise InputError(f"{path.name}: {error}") from None

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """Make a hierarchy from nested mappings that end in lists of values.

        >>> Hierarchy.from_tree({"Europe": ["France", "Norway"], "Asia": ["Japan"]}).labels[1:]
        (('Europe', 'Asia'), ('*',))
        """
        return cls.from_rows(builders.tree_rows(tree))

    @classmethod
    def groups(cls, mapping: Mapping[Any, str]) -> Hierarchy:
        """Group values by a mapping from each value to its group, and the groups under one root.

        >>> Hierarchy.groups({1: "low", 2: "low", 3: "high"}).publish([0, 2], level=1)
        ['low', 'high']
        """
        return cls.from_rows([(text_of(value), str(group), ROOT) for value, group in mapping.items()])

    @classmethod
    def suppress(cls, values: Iterable[Any]) -> Hierarchy:
        """Publish a value as it is, or not at all.

        >>> Hierarchy.suppress(["Female", "Male"]).labels
        (('Female', 'Male'), ('*',))
        """
        return cls.from_rows([(text, ROOT) for text in texts_of(_series(values))])

    @classmethod
    def mask(cls, values: Iterable[Any], *, pad: str | None = None) -> Hierarchy:
        """Mask strings from the right, the last character first.

        Shorter values are padded on the left to equal width: with zeros if all values are whole
        numbers, else with blanks, or with `pad`.

        >>> Hierarchy.mask(["4056", "4057", "401"]).publish([0, 2], level=1)
        ['405*', '040*']
        """
        texts = list(dict.fromkeys(texts_of(_series(values))))
        levels = builders.masked(texts, pad)
        if len(levels) < 2:
            check_paths(
                [level[:1] for level in levels[:1] if level], ["row 1"]
            )  # no values, or empty ones only
        return cls._from_levels(levels)

    @classmethod
    def intervals(
        cls,
        values: Iterable[Any],
        *,
        width: float | None = None,
        quantiles: int | None = None,
        cuts: Sequence[float] | None = None,
        fanout: int = 2,
        origin: float = 0,
    ) -> Hierarchy:
        """Put numbers into intervals; `fanout` neighbours merge at each level, up to the root.

        Give one of `width` (equal intervals counted from `origin`), `quantiles` (so many intervals
        that hold about equally many of the values given) or `cuts`.

        >>> Hierarchy.intervals([3, 25, 28, 61], width=10, fanout=3).publish([1, 3], level=1)
        ['[20, 30)', '[60, 70)']
        """
        return cls.from_rows(
            number_builders.interval_rows(_series(values), width, quantiles, cuts, fanout, origin)
        )

    @classmethod
    def quantiles(cls, values: Iterable[Any], groups: int, *, fanout: int = 2) -> Hierarchy:
        """Put numbers into intervals that hold about equally many of the values given, as they are wanted where numbers are skewed.

        >>> Hierarchy.quantiles([1, 2, 3, 50, 900, 10_000], 3).publish([0, 3, 5], level=1)
        ['< 3', '[3, 900)', '>= 900']
        """
        return cls.intervals(values, quantiles=groups, fanout=fanout)

    @classmethod
    def top_bottom(
        cls,
        values: Iterable[Any],
        *,
        low: float | None = None,
        high: float | None = None,
        width: float | None = None,
        fanout: int = 2,
    ) -> Hierarchy:
        """Code the ends of numbers: below `low` and from `high` on there is one group each, from the first level on.

        What lies between stays as it is at that level, and then goes into intervals of `width`, or is suppressed.

        >>> Hierarchy.top_bottom([17, 34, 38, 95], low=18, high=90, width=10).rows()[1]
        ('95', '>= 90', '>= 90', '>= 90', '*')
        """
        return cls.from_rows(number_builders.top_bottom_rows(_series(values), low, high, width, fanout))

    @classmethod
    def digits(cls, values: Iterable[Any], *, digits: int = 3, root: float | None = None) -> Hierarchy:
        """Round numbers to so many significant digits, and to one digit less at each level; all labels stay numbers.

        Give the `root` a number, too, where that says more than none: of weights, their mean.

        >>> Hierarchy.digits([504.57, 512, 1032], root=552).rows()[0]
        ('504.57', '505', '500', '500', '5.52e+2')
        """
        return cls.from_rows(number_builders.digit_rows(_series(values), digits, root))

    @classmethod
    @own_words("levels")
    def dates(
        cls, values: Iterable[Any], *, levels: Sequence[str] = ("month", "quarter", "year", "decade")
    ) -> Hierarchy:
        """Truncate dates: to any of day, month, quarter, year, decade, finest first; or of day, week, year, decade.

        >>> Hierarchy.dates([dt.date(2024, 5, 17)]).publish([0], level=2)
        ['2024-Q2']
        """
        return cls.from_rows(builders.date_rows(_series(values), levels))

    @classmethod
    def ages(cls, values: Iterable[Any], *, on: dt.date, width: float = 5, fanout: int = 2) -> Hierarchy:
        """Publish how old people were on a day instead of when they were born: years, and then intervals of `width`.

        >>> born = [dt.date(1990, 5, 17), dt.date(1992, 1, 3)]
        >>> Hierarchy.ages(born, on=dt.date(2024, 1, 1)).rows()[0][:3]
        ('1990-05-17', '33', '[30, 35)')
        """
        return cls.from_rows(builders.age_rows(_series(values), on, width, fanout))

    # -- asking it -------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """The level of the root: how far a value can climb."""
        return len(self.labels) - 1

    @cached_property
    def leaves(self) -> tuple[str | None, ...]:
        """The values at level 0."""
        return tuple(self.labels[0][code] for code in self.codes[0])

    @cached_property
    def _leaf_of(self) -> dict[str | None, int]:
        return {text: leaf for leaf, text in enumerate(self.leaves)}

    def rows(self) -> list[tuple[str | None, ...]]:
        """Return the path of every leaf, as `from_rows` takes them."""
        columns = [[names[c] for c in codes] for names, codes in zip(self.labels, self.codes, strict=True)]
        return list(zip(*columns, strict=True))

    def to_csv(self, *, delimiter: str = ";") -> str:
        """Write ARX's format, which `from_csv` loads: one line per value, level 0 to n.

        >>> Hierarchy.groups({"Oslo": "Norway", "Lyon": "France"}).to_csv().splitlines()
        ['Oslo;Norway;*', 'Lyon;France;*']
        """
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(self.rows())
        return text.getvalue()

    def meet(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.int32]:
        """Return the level of the lowest common ancestor of each pair of leaves."""
        a, b = np.broadcast_arrays(self._leaves(a, "a", "meet"), self._leaves(b, "b", "meet"))
        level = np.zeros(a.shape, dtype=np.int32)
        for codes in self.codes[:-1]:  # two paths never part again once they have met
            level += codes[a] != codes[b]
        return level

    def cost(self, level: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of climbing to a level: the share of the height climbed, from 0 to 1."""
        return np.asarray(level) / self.height

    def publish(self, leaves: ArrayLike, level: int) -> list[str | None]:
        """Return what is published for each of the leaves at a level."""
        if not 0 <= level <= self.height:
            raise ParameterError(
                f"The 'level' parameter of Hierarchy.publish must be from 0 to {self.height}. Got {level} instead."
            )
        names = self.labels[level]
        return [
            names[code]
            for code in self.codes[level][np.atleast_1d(self._leaves(leaves, "leaves", "publish"))]
        ]

    def find(self, values: pl.Series) -> NDArray[np.int32]:
        """Return the leaf of each value, matched by its text; -1 where the hierarchy has none."""
        leaf_of = self._leaf_of
        leaves = (
            next((leaf_of[text] for text in spellings(value) if text in leaf_of), -1)
            for value in values.to_list()
        )
        return np.fromiter(leaves, dtype=np.int32, count=len(values))

    def take(self, leaves: ArrayLike) -> Hierarchy:
        """Keep only these leaves, in this order; the height stays."""
        return Hierarchy(self.labels, self.codes[:, np.atleast_1d(self._leaves(leaves, "leaves", "take"))])

    def _leaves(self, given: ArrayLike, name: str, owner: str) -> NDArray[np.integer[Any]]:
        """Return numbers of leaves as an array, and refuse what are none; -1 is what `find` says of an unknown value."""
        leaves, size = np.asarray(given), self.codes.shape[1]
        if not leaves.size:
            return leaves.astype(np.intp)
        if leaves.dtype.kind not in "iu" or not -size <= leaves.min() <= leaves.max() < size:
            raise ParameterError(
                f"The '{name}' parameter of Hierarchy.{owner} must be numbers of leaves, from 0 to {size - 1:,}."
            )
        return leaves

    def with_missing(self) -> Hierarchy:
        """Add a last leaf for missing values, which meets the others only at the root."""
        top = self.height
        labels = [(*names, None) for names in self.labels[:top]] + [self.labels[top]]
        own = [[len(names)] for names in self.labels[:top]] + [[0]]
        return Hierarchy(tuple(labels), np.hstack([self.codes, np.array(own, dtype=np.int32)]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.rows() == other.rows()

    def __hash__(self) -> int:
        return hash(self.leaves)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves):,} values, height {self.height})"


def _no_row(row: Any) -> NoReturn:
    raise InputError(f"Hierarchy: {shown(row)} is no row. Give the value, its parent, ..., the root.")


def _series(values: Iterable[Any]) -> pl.Series:
    """Return the values as a series without missing ones."""
    if isinstance(values, pl.Series):
        return values.drop_nulls()
    present = [value for value in values if value is not None and value == value]  # NaN is pandas' missing
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return pl.Series(present, strict=False)  # whole numbers and fractions may be mixed
    try:
        return pl.Series(present)
    except TypeError as error:
        raise InputError(f"Hierarchy: the values mix several types: {str(error).splitlines()[0]}.") from None
