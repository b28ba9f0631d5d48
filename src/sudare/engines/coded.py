"""What a database and we both know of a column whose distinct values were looked at, and of rows that are left out by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.engines.database import Database
from sudare.tables.dictionary import Dictionary

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column whose distinct values were looked at."""

    dictionary: Dictionary
    raw: pl.Series
    """The distinct keys of the source."""
    codes: Ints
    """The code of each."""
    map: str
    """The relation that has both."""

    @classmethod
    def of(cls, database: Database, raw: pl.Series, dictionary: Dictionary, codes: Ints) -> Coded:
        """Give the database a map from keys to codes. Missing values need none."""
        frame = pl.DataFrame([raw.alias("key"), pl.Series("code", codes, dtype=pl.Int32)])
        return cls(dictionary, raw, codes, database.upload(frame.filter(pl.col("key").is_not_null())))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that are left out: those with one of some tuples, by the codes that columns had then."""

    columns: Mapping[str, Coded]
    tuples: str
