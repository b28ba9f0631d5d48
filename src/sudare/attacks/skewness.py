"""The skewness attack: a block in which a sensitive value is far more (or less) frequent than elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.harmless import Harmless, is_harmless
from sudare.attacks.published import Published, Values, described, divided, in_order, value_text
from sudare.errors import ParameterError
from sudare.tables.notebook import ShownFigures


@dataclass(frozen=True)
class Skew:
    """A block and a value whose share there differs from the whole table's."""

    amount: float
    share: float
    overall: float
    value: str | None
    block: Values
    size: int


@dataclass(frozen=True)
class Skews:
    """The largest skews of one sensitive attribute; None where no block is large enough to be looked at."""

    ratio: Skew | None
    """Where share / overall share is largest."""
    difference: Skew | None
    """Where the two differ most, either way: a block that lacks a frequent value is skewed, too."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {
            "ratio": self.ratio.amount if self.ratio else None,
            "difference": self.difference.amount if self.difference else None,
        }


@dataclass(frozen=True, repr=False)
class Skewness(ShownFigures):
    """What a skewness attack reveals, by sensitive attribute."""

    floor: int
    by_attribute: dict[str, Skews]

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; no block is named."""
        return {
            "floor": self.floor,
            "by_attribute": {name: skews.summary() for name, skews in self.by_attribute.items()},
        }

    def __str__(self) -> str:
        return "\n".join(_sentence(name, skews, self.floor) for name, skews in self.by_attribute.items())


def skewness(published: Published, *, floor: int = 1, harmless: Harmless = ()) -> Skewness:
    """Find where a block's share of a sensitive value differs most from the whole table's.

    `ratio` is the largest share in a block / share in the table, `difference` the largest distance of the
    two. Only blocks of `floor` records or more are looked at: in small ones a large ratio is chance. How frequent a
    harmless value is does not matter.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 6, "illness": ["HIV"] + ["flu"] * 7})
    >>> published = Published.open(frame, sd.Schema.from_roles(quasi=["zip"], sensitive=["illness"]))
    >>> print(skewness(published))
    illness: 'HIV' is 4.00 times as frequent at zip 130** (50.0%) as in the whole table (12.5%). The share of 'HIV' at zip 130** (50.0%) is farthest from the whole table's (12.5%).
    """
    if floor < 1:
        raise ParameterError(
            f"The 'floor' parameter of the skewness attack must be 1 or more. Got {floor} instead."
        )
    published.refuse_without_sensitive("skewness")
    return Skewness(
        floor,
        {
            name: _largest_skews(published, name, floor, is_harmless(harmless, name))
            for name in published.sensitive
        },
    )


def _largest_skews(published: Published, sensitive: str, floor: int, harmless: pl.Expr) -> Skews:
    large = published.counted(sensitive).filter(pl.col("size") >= floor)
    overall = published.overall[sensitive].filter(~harmless)
    if not large.height or not overall.height:
        return Skews(None, None)
    counted = large.join(overall.select("value").with_row_index("rank"), on="value", nulls_equal=True)
    rows = pl.concat(
        [counted.select("block", "rank", "count", "size"), _lacking(large, counted, overall.height)]
    )
    rows = rows.with_columns(overall[["value", "overall"]][rows["rank"]]).sort(
        "block", "value", nulls_last=True
    )
    share, whole = (
        rows["count"] * published.records,
        rows["overall"] * rows["size"],
    )  # both over size x records
    return Skews(
        _largest(published, rows, divided(share, whole)),
        _largest(published, rows, divided((share - whole).abs(), rows["size"] * published.records)),
    )


def _lacking(large: pl.DataFrame, counted: pl.DataFrame, values: int) -> pl.DataFrame:
    """Return for every large block the most frequent value of the table that it lacks, with count 0."""
    blocks, first = np.unique(large["block"].to_numpy(), return_index=True)
    # A block that has the values of rank 0, 1, ..., r - 1, but not r, has exactly r values at their own place.
    block, rank = counted["block"].to_numpy(), counted["rank"].to_numpy()
    order = np.lexsort((rank, block))
    place = np.arange(len(order)) - np.searchsorted(block[order], block[order])
    own_place = block[order][rank[order] == place]
    ranks = np.bincount(np.searchsorted(blocks, own_place), minlength=len(blocks))
    every = large[["block", "size"]][first].with_columns(
        pl.Series("rank", ranks, counted["rank"].dtype), count=pl.lit(0, counted["count"].dtype)
    )
    return every.filter(pl.col("rank") < values).select("block", "rank", "count", "size")


def _largest(published: Published, rows: pl.DataFrame, amounts: NDArray[np.float64]) -> Skew:
    place = int(amounts.argmax())
    row = rows.row(place, named=True)
    return Skew(
        amount=float(amounts[place]),
        share=row["count"] / row["size"],
        overall=row["overall"] / published.records,
        value=row["value"],
        block=published.values_of(row["block"]),
        size=row["size"],
    )


def joined(pieces: Sequence[Skewness], published: Published) -> Skewness:
    """Put together how skewed some blocks each are."""
    by_attribute = {}
    for name in published.sensitive:
        own = [piece.by_attribute[name] for piece in pieces]
        by_attribute[name] = Skews(
            _worst([skews.ratio for skews in own]), _worst([skews.difference for skews in own])
        )
    return Skewness(pieces[0].floor, by_attribute)


def _worst(skews: Sequence[Skew | None]) -> Skew | None:
    given = [skew for skew in skews if skew is not None]
    return min(given, key=lambda skew: (-skew.amount, in_order(skew.block)), default=None)


def _sentence(name: str, skews: Skews, floor: int) -> str:
    if skews.ratio is None or skews.difference is None:
        return f"{name}: no block has {floor:,} records or more."
    ratio, difference = skews.ratio, skews.difference
    return (
        f"{name}: '{value_text(ratio.value)}' is {ratio.amount:.2f} times as frequent at {described(ratio.block)} "
        f"({ratio.share:.1%}) as in the whole table ({ratio.overall:.1%}). The share of '{value_text(difference.value)}' at "
        f"{described(difference.block)} ({difference.share:.1%}) is farthest from the whole table's "
        f"({difference.overall:.1%})."
    )
