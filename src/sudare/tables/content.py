"""What a table holds, whatever the order of its rows and columns and the format it came in.

Every row is hashed by its values alone, and the hashes are added up: so the order of rows does not matter, and parts of
a table can be summed apart and put together. A value is hashed as one text, by what it is and not by how it is stored:

- numbers by their value: 30, 30.0, 3e1 and the text "30" are alike, and so are 0 and -0.0. Whole numbers count exactly,
  others as the nearest double. Texts such as 007, which no number is written as, stay texts;
- truth values as 1 and 0, in which some databases keep them; so do the texts true and false;
- dates, and texts that are dates, by the day; times by the moment, and midnight as the day. A time in a zone is taken in
  UTC, and so is a time without one;
- categories as their texts;
- missing values, NaN and empty texts are alike, as CSV files and pandas cannot tell them apart, and unlike every value.

Columns are named by what their names look like, so that another case or a blank makes no other table.

Two tables with one digest may thus differ in how they are written, but not in what they say about anybody.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.tables.column import Column
from sudare.tables.dictionary import Dictionary
from sudare.tables.lookalikes import skeleton
from sudare.tables.parsing import INTEGER, parse

LANES = 4
CHUNK = 1_000_000  # rows hashed at a time
ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
STARTS_AS_NUMBER = r"^[+-]?\.?[0-9]"
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Content:
    """The content of some rows: sums over their hashes, which add up over parts of a table.

    >>> one, other = (Content.of({"x": Column.encode(pl.Series("x", part))}) for part in ([1, 2], [3]))
    >>> (one + other).digest() == Content.of({"x": Column.encode(pl.Series("x", [3.0, 2.0, 1.0]))}).digest()
    True
    """

    names: frozenset[str]
    rows: int
    sums: tuple[int, ...]

    @classmethod
    def of(cls, columns: Mapping[str, Column]) -> Content:
        """Sum up the rows of some columns."""
        summing = Summing({name: column.dictionary for name, column in columns.items()})
        every = [column.codes for column in columns.values()]
        for start in range(0, len(every[0]), CHUNK):
            summing.add([codes[start : start + CHUNK] for codes in every])
        return summing.content()

    def __add__(self, other: Content) -> Content:
        sums = tuple((a + b) % 2**64 for a, b in zip(self.sums, other.sums, strict=True))
        return Content(self.names | other.names, self.rows + other.rows, sums)

    def digest(self) -> str:
        """Return a SHA-256 over the sums, the number of rows and the names of the columns."""
        text = json.dumps([self.sums, self.rows, sorted(self.names)])
        return hashlib.sha256(text.encode("ascii")).hexdigest()


class Summing:
    """Adds up the hashes of rows, some at a time.

    The hash of a row is that of its values added up, and then mixed: unmixed, values could be exchanged between rows without
    a change of the sums.
    """

    def __init__(self, columns: Mapping[str, Dictionary]) -> None:
        self._names = frozenset(map(skeleton, columns))
        self._hashes = [_value_hashes(name, dictionary) for name, dictionary in columns.items()]
        self._sums, self._rows = np.zeros(LANES, dtype=np.uint64), 0

    def add(self, codes: Sequence[NDArray[Any]], weights: NDArray[np.int64] | None = None) -> None:
        """Add rows, given by the codes of each column; each stands for as many as `weights` says, or for itself."""
        sums = np.zeros((len(codes[0]), LANES), dtype=np.uint64)
        for hashes, own in zip(self._hashes, codes, strict=True):
            sums += hashes[own]
        hashed = _mixed(sums)
        if weights is not None:
            hashed *= weights.astype(np.uint64)[:, None]
        self._sums += hashed.sum(axis=0, dtype=np.uint64)
        self._rows += len(hashed) if weights is None else int(weights.sum())

    def content(self) -> Content:
        """Return what was added up."""
        return Content(self._names, self._rows, tuple(self._sums.tolist()))


def _mixed(x: Words) -> Words:
    """The last step of SplitMix64 (Steele, Lea & Flood 2014), on each word."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _value_hashes(name: str, dictionary: Dictionary) -> Words:
    """Return the hash of each code's value, the one for missing values last."""
    label = skeleton(name).encode("utf-8", "surrogatepass")
    start = hashlib.blake2b(len(label).to_bytes(8, "big") + label, digest_size=8 * LANES)

    def hashed(text: str | None) -> bytes:
        state = start.copy()
        state.update(b"" if text is None else text.encode("utf-8", "surrogatepass"))
        return state.digest()

    digests = b"".join(hashed(text) for text in (*canonical(dictionary.values), None))
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, LANES)


def canonical(values: pl.Series) -> list[str | None]:
    """Write each value as the one text that it has in all formats; None if it is missing.

    >>> canonical(pl.Series([30.0, 0.5, -0.0])), canonical(pl.Series(["30", "5e-1", "x", "", "2024-01-31 00:00"]))
    (['n30', 'n0.5', 'n0'], ['n30', 'n0.5', 'tx', None, 'd2024-01-31'])
    """
    dtype = values.dtype
    if dtype == pl.Boolean or dtype.is_integer():
        whole = values.cast(pl.UInt8) if dtype == pl.Boolean else values
        return [None if text is None else f"n{text}" for text in whole.cast(pl.String).to_list()]
    if dtype.is_float():
        # Float32 as it is written: 0.1, and not the double nearest to it, 0.10000000149.
        exact = dtype == pl.Float64
        return [_float(x if exact else float(str(np.float32(x)))) for x in values.to_list()]
    if dtype.is_decimal():
        return [f"n{int(x)}" if x == x.to_integral_value() else _float(float(x)) for x in values.to_list()]
    if isinstance(dtype, pl.Date | pl.Datetime):
        return _moments(values)
    if isinstance(dtype, pl.Duration):
        ticks = {"ns": 1, "us": 1_000, "ms": 1_000_000}[dtype.time_unit]
        return [f"i{number * ticks}" for number in values.to_physical().to_list()]
    if dtype == pl.Time:
        return [f"t{text}" for text in _shortest(values.dt.to_string("%H:%M:%S%.9f")).to_list()]
    return _texts(values.cast(pl.String))


def _float(x: float) -> str | None:
    if x != x:
        return None
    return f"n{int(x)}" if x.is_integer() else f"n{x!r}"


def _moments(values: pl.Series) -> list[str | None]:
    if isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone:
        values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if values.dtype == pl.Date:
        texts = values.dt.to_string("%Y-%m-%d")
    else:
        texts = _shortest(values.dt.to_string("%Y-%m-%dT%H:%M:%S%.9f")).str.replace("T00:00:00$", "")
    return [None if text is None else f"d{text}" for text in texts.to_list()]


def _shortest(times: pl.Series) -> pl.Series:
    """Take the zeros at the end off the nanoseconds of times."""
    return times.str.replace(r"\.0+$", "").str.replace(r"(\.[0-9]*[1-9])0+$", "$1")


def _texts(texts: pl.Series) -> list[str | None]:
    """Read texts as what they say, one by one: a column may hold numbers and words."""
    meanings: list[Any] = [f"t{text}" if text else None for text in texts.to_list()]
    truth = texts.str.to_lowercase().replace_strict({"true": "n1", "false": "n0"}, default=None)
    readings = [truth.to_list()]
    if texts.str.contains(STARTS_AS_NUMBER).any():  # else none of them is a number, a date or a time
        readings += [
            _moments(parse(texts, "date")),
            _moments(parse(texts, "datetime")),
            _moments(_zoned(texts)),
            _numbers(texts),
        ]
    for reading in readings:
        meanings = [own if other is None else other for own, other in zip(meanings, reading, strict=True)]
    return meanings


def _numbers(texts: pl.Series) -> list[str | None]:
    whole = texts.str.contains(INTEGER)
    numbers = parse(texts, "number")
    numbers = numbers.set(~numbers.is_finite(), None)
    return [
        f"n{text}" if is_whole else None if x is None else _float(x)
        for text, is_whole, x in zip(texts.to_list(), whole.to_list(), numbers.to_list(), strict=True)
    ]


def _zoned(texts: pl.Series) -> pl.Series:
    zoned = texts.set(~texts.str.contains(ZONED), None)
    plain = zoned.str.replace(" ", "T", literal=True).str.replace("Z$", "+00:00")
    full = plain.str.replace(r"([+-][0-9]{2})$", "$1:00")
    return full.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", strict=False)
