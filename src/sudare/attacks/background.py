"""The background knowledge attack: an outsider who can rule some sensitive values out learns the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from sudare.attacks.harmless import Harmless, is_harmless
from sudare.attacks.published import Published, Values, described, divided, in_order, value_text
from sudare.privacy.requirement import whole_number
from sudare.tables.notebook import ShownFigures


@dataclass(frozen=True)
class RemainingBelief:
    """The strongest belief that remains possible about one sensitive attribute."""

    posterior: float
    """`count` / `remaining`."""
    count: int
    """The records with `value` in the worst block."""
    remaining: int
    """The records of that block that are left when the other values are ruled out."""
    value: str | None
    block: Values
    certain: int
    """The records whose value becomes certain."""
    share: float
    """Their share of all records."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"posterior": self.posterior, "certain": self.certain, "share": self.share}


@dataclass(frozen=True, repr=False)
class Background(ShownFigures):
    """What an outsider with background knowledge learns, by sensitive attribute."""

    known: int
    by_attribute: dict[str, RemainingBelief]

    @property
    def posterior(self) -> float:
        """The strongest belief about any attribute."""
        return max(belief.posterior for belief in self.by_attribute.values())

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; no block is named."""
        return {
            "known": self.known,
            "by_attribute": {name: belief.summary() for name, belief in self.by_attribute.items()},
        }

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: who can rule {self.known} of a person's values out believes a value up to {belief.posterior:.1%} "
            f"('{value_text(belief.value)}' at {described(belief.block)}); for {belief.certain:,} records ({belief.share:.1%}) "
            "it becomes certain."
            for name, belief in self.by_attribute.items()
        )


def background(published: Published, *, known: int = 1, harmless: Harmless = ()) -> Background:
    """Find the strongest belief of an outsider who can rule `known` sensitive values out for each person.

    In a block where value v has n(v) records, ruling out the `known` largest others leaves the belief
    n(v) / (size - their records); it is largest for the most frequent v. A value becomes certain where a
    block has at most `known` other values: there an outsider who knows the right ones is sure of any person. Harmless
    values can be ruled out like others, but only beliefs about the others count, and only records that have one.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"zip": ["130**"] * 4, "illness": ["flu", "flu", "HIV", "cancer"]})
    >>> published = Published.open(frame, sd.Schema.from_roles(quasi=["zip"], sensitive=["illness"]))
    >>> [background(published, known=m).by_attribute["illness"].posterior for m in (0, 1, 2)]
    [0.5, 0.6666666666666666, 1.0]
    """
    whole_number(known, "known", "the background attack", least=0)
    published.refuse_without_sensitive("background")
    return Background(
        known,
        {
            name: _strongest_belief(published, name, known, is_harmless(harmless, name))
            for name in published.sensitive
        },
    )


def _strongest_belief(published: Published, sensitive: str, known: int, harmless: pl.Expr) -> RemainingBelief:
    falling = published.counted(sensitive).sort("block", "count", "value", descending=[False, True, False])
    believed = ~harmless
    blocks = falling.group_by("block", maintain_order=True).agg(
        pl.col("value", "count").filter(believed).first(),
        pl.col("size").first(),
        place=believed.arg_max(),
        most=pl.col("count").slice(0, known + 1).sum(),
        others=pl.col("count").slice(0, known).sum(),
        values=pl.len(),
        own=pl.col("count").filter(believed).sum(),
    )
    blocks = blocks.filter(pl.col("own") > 0)
    if not blocks.height:
        return RemainingBelief(0.0, 0, 0, None, published.values_of(0), 0, 0.0)
    # Of the most frequent values, the believed one is not ruled out.
    ruled_out = (
        pl.when(pl.col("place") <= known).then(pl.col("most") - pl.col("count")).otherwise(pl.col("others"))
    )
    blocks = blocks.with_columns(remaining=pl.col("size") - ruled_out)
    beliefs = divided(blocks["count"], blocks["remaining"])
    worst = blocks.row(int(beliefs.argmax()), named=True)
    certain = int(blocks.filter(pl.col("values") <= known + 1)["own"].sum())
    return RemainingBelief(
        posterior=worst["count"] / worst["remaining"],
        count=worst["count"],
        remaining=worst["remaining"],
        value=worst["value"],
        block=published.values_of(worst["block"]),
        certain=certain,
        share=certain / published.records,
    )


def joined(pieces: Sequence[Background], published: Published) -> Background:
    """Put together what can be believed of some blocks each."""
    return Background(
        pieces[0].known,
        {
            name: _joined([piece.by_attribute[name] for piece in pieces], published.records)
            for name in published.sensitive
        },
    )


def _joined(pieces: Sequence[RemainingBelief], of: int) -> RemainingBelief:
    certain = sum(piece.certain for piece in pieces)
    strongest = min(pieces, key=lambda piece: (-piece.posterior, in_order(piece.block)))
    return replace(strongest, certain=certain, share=certain / of)
