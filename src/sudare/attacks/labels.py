"""Reading published labels: which of the values that an outsider knows a label covers.

Written apart from the code that publishes labels: an outsider has only the output and the schema.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.dictionary import Dictionary
from sudare.tables.hierarchy import Hierarchy
from sudare.tables.paths import ROOT
from sudare.tables.text import spellings

Codes = NDArray[np.int64]
NO_CODES = np.empty(0, dtype=np.int64)
MISSING = "(missing)"  # in a listing
RANGE = re.compile(r"([\[(])(.*), (.*)([\])])", re.DOTALL)
HALF = re.compile(r"(<|>=) (.*)", re.DOTALL)  # the outermost intervals of a hierarchy
PART = r'("(?:[^"\\]|\\.)*"|[^,"{}]*)'
LISTING = re.compile(rf"\{{{PART}(, {PART})*\}}", re.DOTALL)
PARTS = re.compile(rf"{PART}(?:, |\}})", re.DOTALL)


class LabelReader:
    """Reads the labels of one attribute.

    A label may have several readings: a text may be listed as "{a, b}", and also be a value itself. An outsider cannot
    tell which is meant, so that the label covers what any reading covers.

    >>> reader = LabelReader(Dictionary(pl.Series("age", [20, 25, 30]), missing=True))
    >>> [reader.covered(label) for label in ("25", "[20, 30)", '{"[25, 99]", (missing)}', None)]
    [array([1]), array([0, 1]), array([1, 2, 3]), array([3])]
    >>> reader.covered("[20; 30)") is None
    True
    """

    def __init__(self, column: Dictionary) -> None:
        values = column.values.to_list()
        self.missing = len(values)  # the code of a missing value
        self._named = _named(values, column.hierarchy)
        self._parse = _parser(column.values.dtype)
        rising = sorted((_place(value), code) for code, value in enumerate(values)) if self._parse else []
        self._places = [place for place, _ in rising]
        self._codes = np.array([code for _, code in rising], dtype=np.int64)

    def covered(self, label: str | None) -> Codes | None:
        """Return the codes of the values that a label covers; None where the label cannot be read."""
        possible = self.readings(label)
        return np.unique(np.concatenate(possible)) if possible else None

    def readings(self, label: str | None) -> list[Codes]:
        """Return the codes that each reading of a label covers, in any order; none where it cannot be read."""
        if label is None:
            return [np.array([self.missing])]
        readings = [self._by_name(label), self._between(label), self._listed(label)]
        return [codes for codes in readings if codes is not None]

    def _by_name(self, label: str) -> Codes | None:
        if label == ROOT:
            return np.arange(self.missing + 1)
        parts = self._named.get(label)
        return None if parts is None else np.concatenate(parts)

    def _between(self, label: str) -> Codes | None:
        """Read a range, or a single number or date: it need not be one that anybody has."""
        if self._parse is None:
            return None
        try:
            first, stop = self._ends(label)
        except (ValueError, TypeError, InvalidOperation):  # TypeError: a time with a zone, and one without
            return None
        return self._codes[first:stop]

    def _ends(self, label: str) -> tuple[int, int]:
        """Return between which places, in rising order, the values stand."""
        if half := HALF.fullmatch(label):
            limit = bisect_left(self._places, self._end(half[2]))
            return (0, limit) if half[1] == "<" else (limit, len(self._places))
        range_ = RANGE.fullmatch(label)
        opening, low, high, closing = range_.groups() if range_ else ("[", label, label, "]")
        first, last = self._end(low), self._end(high)
        if first > last:
            raise ValueError
        return (
            (bisect_left if opening == "[" else bisect_right)(self._places, first),
            (bisect_right if closing == "]" else bisect_left)(self._places, last),
        )

    def _end(self, text: str) -> tuple[bool, Any]:
        assert self._parse is not None
        return _place(self._parse(text))

    def _listed(self, label: str) -> Codes | None:
        if not LISTING.fullmatch(label):
            return None
        parts = [self._part(text) for text in PARTS.findall(label[1:])]
        readable = [codes for codes in parts if codes is not None]
        return np.concatenate(readable) if len(readable) == len(parts) else None

    def _part(self, text: str) -> Codes | None:
        if text.startswith('"'):
            try:
                return self.covered(json.loads(text))
            except ValueError:
                return None
        codes = self.covered(text)
        if text != MISSING:
            return codes
        return np.append(NO_CODES if codes is None else codes, self.missing)


def _named(values: list[Any], hierarchy: Hierarchy | None) -> dict[str, list[Codes]]:
    """Return what every text covers that is a value's own, or names a node of the hierarchy at any level."""
    named, every = defaultdict(list), np.arange(len(values))
    for code, value in enumerate(values):
        for text in spellings(value):
            named[text].append(every[code : code + 1])
    for label, codes in _nodes(hierarchy) if hierarchy else ():
        named[label].append(codes)
    return dict(named)


def _nodes(hierarchy: Hierarchy) -> Iterator[tuple[str, Codes]]:
    """Return each node's label, and the leaves below it; a node of the whole hierarchy may have none here."""
    for labels, codes in zip(hierarchy.labels, hierarchy.codes, strict=True):
        order = np.argsort(codes, kind="stable").astype(np.int64)
        stops = np.searchsorted(codes[order], np.arange(len(labels) + 1))
        for node, label in enumerate(labels):
            if label is not None:
                yield label, order[stops[node] : stops[node + 1]]


def _parser(dtype: pl.DataType) -> Callable[[str], Any] | None:
    """Return what reads a number or a date of a column, so that it can be compared with the column's values."""
    if dtype.is_float():
        return lambda text: pl.Series([float(text)], dtype=dtype).item()  # 0.1 of 32 bits is another number
    if dtype.is_integer() or dtype.is_decimal():
        return Decimal
    if dtype == pl.Date:
        return dt.date.fromisoformat
    if isinstance(dtype, pl.Datetime):
        return dt.datetime.fromisoformat
    return dt.time.fromisoformat if dtype == pl.Time else None


def _place(value: Any) -> tuple[bool, Any]:
    """Return what values are sorted by: NaN comes after every number."""
    return (True, 0) if value != value else (False, value)
