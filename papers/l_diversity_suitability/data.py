"""The six tables. Every attribute climbs by losing its characters from the end, as in the paper's Fig. 1.

data3, data4 (CoIL 2000), data5 (Japanese Vowels) and data6 (IPUMS) are the paper's own; data1 and data2 are ours,
drawn with a fixed seed, because the paper's random tables are not available.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

import sudare as sd

QUICK = 100  # rows of each table in a quick run


class Source(NamedTuple):
    """A table of the paper: its rows, its sensitive attribute, and the l that the paper asks of it."""

    name: str
    words: str
    frame: pl.DataFrame
    sensitive: str
    ls: tuple[int, ...]
    tight: bool = True
    """Whether to try bounds that take long; on data2 prices take ten minutes for each."""

    def table(self, quick: bool = False) -> sd.Table:
        """Return the table to publish; for a quick run some of its rows, evenly spread."""
        return masked(self.frame[:: -(-self.frame.height // QUICK)] if quick else self.frame, self.sensitive)


def masked(frame: pl.DataFrame, sensitive: str) -> sd.Table:
    """Give all attributes but the sensitive one a hierarchy that masks their last characters first."""
    quasi = [name for name in frame.columns if name != sensitive]
    masks = {name: sd.Hierarchy.mask(frame[name].unique().sort()) for name in quasi}
    return sd.read(frame, sd.Schema.from_roles(quasi=quasi, sensitive=[sensitive], hierarchies=masks))


def sources() -> list[Source]:
    """Return the paper's six tables, in its order."""
    coil, vowels = sd.datasets.load("coil2000"), sd.datasets.load("japanese-vowels")
    return [
        Source("data1", "synthetic medical data, ours", _data1(), "condition", (2, 4, 8)),
        Source("data2", "synthetic medical data, ours", _data2(), "condition", (4, 8, 10), tight=False),
        Source("data3", "CoIL 2000, sensitive MOSTYPE", coil, "MOSTYPE", (2, 4, 8)),
        Source("data4", "CoIL 2000, sensitive MINKGEM", coil, "MINKGEM", (2, 4, 8)),
        Source("data5", "Japanese Vowels, sensitive column 12", vowels, "c12", (2, 4, 8)),
        Source("data6", "IPUMS, sensitive value", ipums(), "value", (2, 4, 8)),
    ]


def ipums() -> pl.DataFrame:
    """Return the first 10,000 rows and the first 11 columns of ipums.la.97: with these the paper's bounds come out."""
    return sd.datasets.load("ipums").head(10_000)[:, :11]


# -- the two synthetic tables --------------------------------------------------------------------------


def _data1() -> pl.DataFrame:
    """Return 1,000 records with few values, so that many have copies. These counts have the paper's MaxNB and BS_e."""
    counts = [240, 108, 108, 100, 100, 95, 80, 70, 60, 39]
    return _medical(counts, races=3, years=5, zips=4, integers=(2, 3), skew=1.0, seed=1)


def _data2() -> pl.DataFrame:
    """Return 10,000 records, of which hardly two are alike, with 100 conditions that are equally frequent."""
    return _medical([100] * 100, races=5, years=100, zips=300, integers=(10, 1000), skew=0.0, seed=2)


def _medical(
    counts: Sequence[int],
    *,
    races: int,
    years: int,
    zips: int,
    integers: tuple[int, int],
    skew: float,
    seed: int,
) -> pl.DataFrame:
    """Draw a table like the paper's example (race, year of birth, gender, ZIP code) with two integers more.

    All attributes are independent. The i-th value of an attribute has a share in proportion to 1 / i^skew; the genders
    are even. `counts` says how many records have each condition.
    """
    rng = np.random.default_rng(seed)
    rows = sum(counts)

    def drawn(values: Sequence[str], skew: float = skew) -> list[str]:
        share = 1 / np.arange(1, len(values) + 1) ** skew
        return [values[i] for i in rng.choice(len(values), size=rows, p=share / share.sum())]

    visits, cost = ([f"{i:0{len(str(most - 1))}}" for i in range(most)] for most in integers)
    return pl.DataFrame(
        {
            "race": drawn("AEHNP"[:races]),
            "birth": drawn([str(1999 - i) for i in range(years)]),
            "gender": drawn("FM", skew=0),
            "zip": drawn([f"{2138 + i:05}" for i in range(zips)]),
            "visits": drawn(visits),
            "cost": drawn(cost),
            "condition": rng.permutation(np.repeat([f"C{i:02}" for i in range(len(counts))], counts)),
        }
    )
