"""The paper's tables, with the bins of its authors' code: 100 for a number, 10 in Phoneme and Jm1."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import sudare as sd
from sudare.datasets.files import path

BITCOIN_ROWS = 500_000
NUMERIC = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week", "income"]
FOUR = ["age", "workclass", "race", "capital-gain"]


class Data(NamedTuple):
    """A table of the paper; `target` and `positive` where it is one to classify."""

    name: str
    frame: Callable[[], pl.DataFrame]
    bins: int = 100
    target: str | None = None
    positive: Any = None

    @property
    def schema(self) -> sd.Schema:
        """Declare every attribute's values or bounds. The files are public: what is read off them here tells nothing new."""
        return _schema(self)

    def table(self, frame: pl.DataFrame | None = None) -> sd.Table:
        """Return all rows, or those given, over the whole table's domain."""
        return sd.read(self.frame() if frame is None else frame, self.schema)


@cache
def _schema(data: Data) -> sd.Schema:
    frame = data.frame()
    numbers = [name for name in frame.columns if frame[name].dtype.is_numeric() and name != data.target]
    bounds = {name: (frame[name].min(), frame[name].max()) for name in numbers}
    fine = [name for name in numbers if frame[name].dtype.is_float() or bounds[name][1] - bounds[name][0] > data.bins]  # fmt: skip
    return sd.Schema.from_roles(
        quasi=frame.columns,
        bounds=bounds,
        bins=dict.fromkeys(fine, data.bins),
        domains={
            name: frame[name].unique().sort().to_list() for name in frame.columns if name not in numbers
        },
        missing="refuse",
    )


@cache
def adult() -> pl.DataFrame:
    """Return all 48,842 rows; a missing category is a value of its own, as in the paper."""
    return sd.datasets.load("adult").with_columns(pl.col(pl.String).fill_null("?"))


@cache
def traffic() -> pl.DataFrame:
    frame = sd.datasets.load("metro-traffic").drop("weather_description")
    time = frame["date_time"]
    moment = time.str.to_datetime() if time.dtype == pl.String else time
    return frame.with_columns(date_time=moment.dt.epoch("s"), holiday=pl.col("holiday").fill_null("None"))


@cache
def electricity() -> pl.DataFrame:
    frame = sd.datasets.load("electricity").drop("day")
    return frame.with_columns(pl.col("period").rank("dense").cast(pl.Int64) - 1)


@cache
def phoneme() -> pl.DataFrame:
    return sd.datasets.load("phoneme")


@cache
def jm1() -> pl.DataFrame:
    """Return the 10,880 rows without missing values."""
    return sd.datasets.load("jm1").drop_nulls()


@cache
def bitcoin() -> pl.DataFrame:
    """Return 500,000 rows, drawn: as many as the paper has. All kinds of ransom are one class, and addresses are left out."""
    frame = sd.datasets.load("bitcoin-heist").drop("address")
    drawn = frame.sample(min(BITCOIN_ROWS, frame.height), seed=1)
    white = pl.when(pl.col("label") == "white").then(pl.lit("white")).otherwise(pl.lit("ransom"))
    return drawn.with_columns(label=white)


ADULT = Data("Adult", adult, target="income", positive=">50K")
SMALL = Data("Small-adult", lambda: adult().select(FOUR))
NUMERICAL = Data("Numerical-adult", lambda: adult().select(NUMERIC), target="income", positive=">50K")
TRAFFIC = Data("Traffic", traffic)
ELECTRICITY = Data("Electricity", electricity, target="class", positive="UP")
PHONEME = Data("Phoneme", phoneme, bins=10, target="Class", positive=2)
JM1 = Data("Jm1", jm1, bins=10)
BITCOIN = Data("Bitcoin", bitcoin, target="label", positive="white")
DATA = (ADULT, SMALL, NUMERICAL, TRAFFIC, ELECTRICITY, PHONEME, JM1)
"""All but Bitcoin, whose file not everybody has."""


def present() -> tuple[Data, ...]:
    """Return the tables that are there: Bitcoin, too, if its file is in the data folder."""
    try:
        path("bitcoin/BitcoinHeistData.csv")
    except sd.InputError:
        return DATA
    return (*DATA, BITCOIN)


# -- synthetic rows for Fig. 5 ---------------------------------------------------------------------------

SIZE = 100


def uniform(rows: int, attributes: int, cells: int | None = None) -> sd.Table:
    """Draw rows over attributes of 100 cells each: all alike, or from so many cells that were drawn before."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, SIZE, (cells or rows, attributes))
    if cells is not None:
        codes = codes[rng.integers(0, cells, rows)]
    names = [f"a{i}" for i in range(attributes)]
    schema = sd.Schema.from_roles(quasi=names, bounds=dict.fromkeys(names, (0, SIZE - 1)), missing="refuse")
    return sd.read(pl.DataFrame(dict(zip(names, codes.T, strict=True))), schema)
