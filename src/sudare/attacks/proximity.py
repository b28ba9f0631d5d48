"""The proximity attack: in a block of different but close numbers, everybody's is nearly known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sudare.attacks.harmless import Harmless, is_harmless
from sudare.attacks.published import Published, Values, described, in_order
from sudare.errors import ParameterError
from sudare.tables.notebook import ShownFigures

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CloseValues:
    """What is nearly known of one sensitive attribute."""

    belief: float
    """The largest share of a block's records that lie in one interval of the width."""
    low: float
    high: float
    """The least and the largest number in that interval."""
    block: Values
    known: int
    """The records of blocks in which all numbers lie in one such interval."""
    share: float
    """Their share of all records."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"belief": self.belief, "known": self.known, "share": self.share}


@dataclass(frozen=True, repr=False)
class Proximity(ShownFigures):
    """What a proximity attack reveals, by sensitive attribute; those that are no numbers are not looked at."""

    within: float
    relative: bool
    by_attribute: dict[str, CloseValues]

    @property
    def belief(self) -> float:
        """The strongest belief about any attribute."""
        return max((close.belief for close in self.by_attribute.values()), default=0.0)

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; no block is named."""
        return {
            "within": self.within,
            "relative": self.relative,
            "by_attribute": {name: close.summary() for name, close in self.by_attribute.items()},
        }

    def __str__(self) -> str:
        width = f"{100 * self.within:g}%" if self.relative else f"{self.within:g}"
        sentences = [
            f"{name}: somebody's value is believed up to {close.belief:.1%} {_where(close.low, close.high)} "
            f"({described(close.block)}). Of {close.known:,} records ({close.share:.1%}) it is known to within {width}."
            for name, close in self.by_attribute.items()
        ]
        return "\n".join(sentences) or "No sensitive attribute has numbers."


def _where(low: float, high: float) -> str:
    return f"to be {low:g}" if low == high else f"to lie from {low:g} to {high:g}"


def proximity(
    published: Published, *, within: float = 0.05, relative: bool = True, harmless: Harmless = ()
) -> Proximity:
    """Find the blocks in which most numbers lie close together: in one interval of a width, or of a share of its least number.

    Harmless values are looked away from: the belief is about somebody who has another one.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"zip": ["130**"] * 3, "income": [1_000, 1_010, 1_020]})
    >>> published = Published.open(frame, sd.Schema.from_roles(quasi=["zip"], sensitive=["income"]))
    >>> print(proximity(published))
    income: somebody's value is believed up to 100.0% to lie from 1000 to 1020 (zip 130**). Of 3 records (100.0%) it is known to within 5%.
    """
    if not isinstance(within, int | float) or isinstance(within, bool) or not 0 <= within < np.inf:
        raise ParameterError(
            f"The 'within' parameter of the proximity attack must be a number of 0 or more. Got {within!r} instead."
        )
    published.refuse_without_sensitive("proximity")
    close = {
        name: _closest(published, name, within, relative, is_harmless(harmless, name))
        for name in published.sensitive
        if _is_numeric(published.overall[name]["value"])
    }
    return Proximity(within, relative, {name: own for name, own in close.items() if own is not None})


def _is_numeric(texts: pl.Series) -> bool:
    given = texts.drop_nulls()
    return len(given) > 0 and given.cast(pl.Float64, strict=False).is_finite().fill_null(False).all()


def _closest(
    published: Published, sensitive: str, within: float, relative: bool, harmless: pl.Expr
) -> CloseValues | None:
    counted = published.counted(sensitive).filter(~harmless)
    sizes = counted.group_by("block").agg(left=pl.sum("count"))
    rows = (
        counted.drop_nulls("value")
        .with_columns(number=pl.col("value").cast(pl.Float64))
        .join(sizes, on="block")
        .sort("block", "number")
    )
    if not rows.height:
        return None
    block, number, count = (rows[name].to_numpy() for name in ("block", "number", "count"))
    end = _ends(block.astype(np.int64), number, within, relative)
    running = np.append(0, np.cumsum(count))
    inside = running[end] - running[:-1]
    shares = inside / rows["left"].to_numpy()
    worst = int(shares.argmax())
    known = rows.filter(pl.Series(inside) == rows["left"]).unique("block")["left"].sum()
    return CloseValues(
        belief=float(shares[worst]),
        low=float(number[worst]),
        high=float(number[end[worst] - 1]),
        block=published.values_of(int(block[worst])),
        known=int(known),
        share=int(known) / published.records,
    )


def _ends(block: NDArray[np.int64], number: Floats, within: float, relative: bool) -> NDArray[np.int64]:
    """Return for each row the first after it that is in another block, or too far above it."""
    limit = (
        np.where(number > 0, number * (1 + within), number / (1 + within)) if relative else number + within
    )
    limit = limit + 1e-12 * np.abs(limit)  # 0.6 + 0.2 reaches 0.8
    rising = np.unique(np.concatenate([number, limit]))
    wide = len(rising)
    place = block * wide + np.searchsorted(rising, number)
    reach = block * wide + np.searchsorted(rising, limit)
    return np.asarray(np.searchsorted(place, reach, side="right"))


def joined(pieces: Sequence[Proximity], published: Published) -> Proximity:
    """Put together what is nearly known in some blocks each."""
    by_attribute = {}
    for name in published.sensitive:
        own = [piece.by_attribute[name] for piece in pieces if name in piece.by_attribute]
        if own:
            worst = min(own, key=lambda close: (-close.belief, in_order(close.block)))
            known = sum(close.known for close in own)
            by_attribute[name] = CloseValues(
                worst.belief, worst.low, worst.high, worst.block, known, known / published.records
            )
    return Proximity(pieces[0].within, pieces[0].relative, by_attribute)
